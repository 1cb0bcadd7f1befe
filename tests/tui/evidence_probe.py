"""A workspace with evidence of every kind, and the program with the viewer open on one piece."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from uuid import UUID

from textual.pilot import Pilot

from tests.tui.shell_probe import until, work_done
from tests.tui.timeline_probe import Steps, TimelineApp, rows_shown
from tests.workspace.evidence_cases import observation
from workbench.evidence import EvidencePolicy
from workbench.log.registry import PendingEvent
from workbench.tui.document import Document
from workbench.tui.evidence_viewer import EvidenceViewer, open_evidence
from workbench.workspace import Workspace
from workbench.workspace.evidence import stager

TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8"
"""Looks like a token and is none."""
KINDS = ("md", "py", "txt", "png", "bin", "json", "log")

PYTHON = '''"""The ledger's rows."""

from pathlib import Path

LIMIT = 40  # rows of a page


def rows(path: Path, limit: int = LIMIT) -> list[str]:
    """The first rows; a file that is gone has none."""
    if not path.is_file():
        return []
    return path.read_text("utf-8").splitlines()[:limit]
'''
MARKDOWN = """# The way back

The flag is **off** until somebody turns it on.

1. Stop the worker.
2. Turn `flags.toml` back.

> Nothing is lost on the way.
"""
WIDE = (
    "日本語の長い文がここに続きます。とても長いので切られます。とても長いので切られます。とても長いので。\n"
    "👩\u200d🔬 looks at 🇺🇦 and ⚠\ufe0f, then العربية and עברית\n"
    "[bold]not bold[/bold] [@click=app.quit]quit[/] \x1b[31mred\x1b[0m \u202eevil\u202c\n"
    "tab\there, zero\u200bwidth, bell\x07 and a very " + "long " * 40 + "line\n"
)


def png(width: int = 64, height: int = 40) -> bytes:
    """An image of that size: colours that run."""
    rows = b"".join(
        b"\0" + b"".join(bytes((x * 255 // width, y * 255 // height, 128)) for x in range(width))
        for y in range(height)
    )

    def part(name: bytes, data: bytes) -> bytes:
        check = zlib.crc32(name + data)
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", check)

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    body = zlib.compress(rows, 9)
    return b"\x89PNG\r\n\x1a\n" + part(b"IHDR", head) + part(b"IDAT", body) + part(b"IEND", b"")


def make_files(folder: Path) -> Path:
    """A file of each kind."""
    folder.mkdir()
    (folder / "rows.py").write_text(PYTHON)
    (folder / "way-back.md").write_text(MARKDOWN + f"\ntoken: {TOKEN}\n")
    (folder / "wide.txt").write_text(WIDE)
    (folder / "empty.txt").write_bytes(b"")
    (folder / "data.bin").write_bytes(bytes((7 * at + at // 256) % 256 for at in range(6000)))
    (folder / "picture.png").write_bytes(png())
    return folder


NAMES = ("wide.txt", "empty.txt", "data.bin", "picture.png", "way-back.md", "rows.py")


def new_ids() -> Iterator[UUID]:
    """The same ids in every run."""
    return (UUID(int=0x019CAD9A << 96 | number) for number in count(1))


def record(workspace: Workspace, folder: Path, ids: Iterator[UUID], *names: str) -> None:
    """One observation that names these files."""
    taking = stager(workspace.log, workspace.evidence, EvidencePolicy.of(KINDS), folder)
    with taking.stage(names) as staging, workspace.log.transaction() as transaction:
        event = observation(staging.evidence, f"looked at {names[0]}")
        fixed = PendingEvent(payload=event.payload, event_id=next(ids))
        staging.keep()
        transaction.append(event.payload.stream, [fixed])  # type: ignore[attr-defined]


def make_workspace(root: Path, folder: Path) -> Path:
    """A record of each file; the newest names two, of which one never was."""
    with Workspace.create(root, title="Evidence", timezone="UTC", owner="maya", clock=Steps()) as workspace:
        ids = new_ids()
        for name in NAMES:
            record(workspace, folder, ids, name)
        record(workspace, folder, ids, "rows.py", "never.md")
    return root


def shown(viewer: EvidenceViewer) -> str:
    """The text of the side that is shown, as it would be copied."""
    return viewer.pane._document.plain(1_000_000)[0]


def whole(text: str) -> str:
    """A text as a document without wrapping shows it."""
    from workbench.tui.document import Verbatim

    return Document([Verbatim(text)]).plain(1_000_000)[0]


async def viewer_on(
    pilot: Pilot[None],
    app: TimelineApp,
    *,
    path: str = "",
    sha256: str = "",
    position: int | None = None,
) -> EvidenceViewer:
    """Open one piece and wait until it was read."""
    await rows_shown(pilot, app)
    open_evidence(app, path=path, sha256=sha256, position=position)
    return await viewer_open(pilot, app)


async def viewer_open(pilot: Pilot[None], app: TimelineApp) -> EvidenceViewer:
    """Wait until the viewer that was asked for has read its item."""
    await until(pilot, lambda: isinstance(app.screen, EvidenceViewer) and app.screen.item is not None)
    await work_done(pilot)
    await pilot.pause()
    viewer = app.screen
    assert isinstance(viewer, EvidenceViewer)
    return viewer
