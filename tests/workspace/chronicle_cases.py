"""A workspace whose chronicle is written by a program that counts how often it is run."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.workspace.workspace_cases import actum, unit
from workbench.log.registry import PendingEvent
from workbench.log.streams import session_stream
from workbench.sessions.events import ChronicumCreated
from workbench.workspace import Workspace

WRITER = """\
import pathlib, sys, time
calls, mode, version = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3]
told = sys.stdin.read()
with calls.open("a") as file:
    file.write(version + "\\n")
while mode == "waits" and not calls.with_name("go").exists():
    time.sleep(0.01)
if calls.with_name("fail-at").exists():
    if int(calls.with_name("fail-at").read_text()) == len(calls.read_text().split()):
        sys.exit("not now")
if mode == "fails" and not calls.with_name("mended").exists():
    sys.exit("no luck")
print("Draw", len(calls.read_text().split()), "told of", len(told), "characters.")
"""
"""Writes another prose each time; in a file beside, it notes each run."""


def writer(tmp_path: Path, mode: str = "writes", version: str = "1") -> list[str]:
    """The words of the program."""
    program = tmp_path / "writer.py"
    program.write_text(WRITER)
    return [sys.executable, str(program), str(tmp_path / "calls"), mode, version]


def drawn(tmp_path: Path) -> int:
    """How often it was run."""
    calls = tmp_path / "calls"
    return len(calls.read_text().split()) if calls.exists() else 0


def use(root: Path, command: list[str], **more: object) -> None:
    """Have the manifest name the program."""
    manifest = root / "SSOT_MANIFEST.toml"
    text = manifest.read_text().split("\n[chronicle]\n")[0]
    lines = ['summarizer = "command"', f"command = {command!r}"]
    lines += [f"{key} = {str(value).lower()}" for key, value in more.items()]
    manifest.write_text("\n".join((text, "[chronicle]", *lines, "")))


@contextmanager
def drawing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: str = "writes", *, trust: bool = True
) -> Iterator[Workspace]:
    """A workspace with a session of which two rounds are closed, and a third is open."""
    monkeypatch.setenv("WORKBENCH_STATE_DIR", str(tmp_path / "state"))
    with Workspace.create(tmp_path / "ws", title="ws", owner="me", timezone="UTC") as workspace:
        begin(workspace)
        use(workspace.root, writer(tmp_path, mode))
        if trust:
            workspace.chronicles.trust()
        yield workspace


def begin(workspace: Workspace, session: str = "s1", rounds: int = 2) -> None:
    """A session with closed rounds, each of three acts, and one act after them."""
    stream = session_stream(session)
    workspace.log.append(stream, [ChronicumCreated(chronicum_id=session, owner_id="me")])
    for number in range(rounds):
        round_of(workspace, session, number)
    workspace.log.append(stream, [said(session, "open", 900)])


def round_of(workspace: Workspace, session: str, number: int) -> None:
    """Three acts and what closes them."""
    acts = [said(session, f"round {number} act {act}", 10 * number + act) for act in range(3)]
    workspace.log.append(session_stream(session), [*acts, unit(session, f"round-{number}")])


def said(session: str, text: str, number: int) -> PendingEvent:
    """One act of the session; `number` is its own."""
    return actum(session, content=text, number=number)
