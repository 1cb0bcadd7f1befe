"""The program with the Chronicle screen, and workspaces whose chronicles have all that a person may meet."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import ClassVar

from textual.pilot import Pilot

from tests.laid_out import laid_out_once
from tests.tui.shell_probe import until
from tests.tui.timeline_probe import START, TALK, Steps, entry
from workbench.chronicle.sections import Anchor, Section, Written
from workbench.log.registry import Payload
from workbench.log.streams import session_stream
from workbench.log.times import to_micros
from workbench.sessions.events import ChronicumCreated, ChronicumDescribed, UnitClosed
from workbench.tui.app import WorkbenchApp
from workbench.tui.chronicle.nodes import Node, OlderNode, OpenNode, RangeNode, StreamNode
from workbench.tui.document import Document
from workbench.tui.page import Page
from workbench.tui.screens.chronicle import ChroniclePage
from workbench.tui.screens.sessions import SessionsPage
from workbench.tui.screens.timeline import TimelinePage
from workbench.tui.widgets.frame import HeaderState
from workbench.workspace import Workspace

NOW = datetime(2026, 3, 4, 12, 0, tzinfo=UTC)
SESSION = "session/s1"
REWRITTEN = """### The plan

The importer goes behind a flag, in three steps.

- one library for both sides
- **the way back** is tried before anything is switched on

> Nothing is switched on by a flag alone.
"""


class ChronicleApp(WorkbenchApp):
    """The program with three screens; the path in the header is the same wherever the tests run."""

    PAGES: ClassVar[tuple[type[Page], ...]] = (SessionsPage, TimelinePage, ChroniclePage)

    def workspace_opener(self) -> Callable[[], Workspace]:
        return lambda: Workspace.open(self.root, read_only=self.wants_read_only, clock=self.clock)

    def header_state(self) -> HeaderState:
        return replace(super().header_state(), path="~/chronicle")


def app_on(root: Path, *, read_only: bool = False) -> ChronicleApp:
    """The program on a workspace, its clock stopped."""
    return ChronicleApp(root, read_only=read_only, clock=lambda: NOW, screen="chronicle")


def chronicle_page(app: WorkbenchApp) -> ChroniclePage:
    """The screen that is shown."""
    page = app.page
    assert isinstance(page, ChroniclePage)
    return page


async def rows_shown(pilot: Pilot[None], app: WorkbenchApp) -> ChroniclePage:
    """Let the program run until the list was read and the row under its cursor is shown."""
    await until(pilot, lambda: app.workspace is not None and app.page is not None)
    page = chronicle_page(app)
    await until(pilot, lambda: page.tree_list.source is not None and not page.tree_list.status.loading)
    await until(pilot, lambda: page.pane.node == page.cursor_node and page.pane.ready)
    await pilot.pause()
    return page


async def settled(pilot: Pilot[None], app: WorkbenchApp) -> None:
    """Let the program run until nothing goes on beside the screen; what was overtaken counts as ended."""
    await until(pilot, lambda: all(worker.is_finished for worker in app.workers))
    await pilot.pause()


async def go(pilot: Pilot[None], app: WorkbenchApp, stream: str, first: int | None = None) -> ChroniclePage:
    """Open a stream, and put the cursor on its range that begins with an event."""
    page = await rows_shown(pilot, app)
    page.open_stream(stream, opened=True)
    key = ("stream", stream) if first is None else ("range", stream, first)
    page.tree_list.go_to(key)
    await until(pilot, lambda: page.cursor_node is not None and page.cursor_node.key == key)
    await rows_shown(pilot, app)
    return page


def named(node: Node) -> str:
    """A row of the tree in short."""
    match node:
        case StreamNode():
            return f"{node.stream}{' -' if node.opened else ''}"
        case RangeNode():
            return node.row.anchor.section_id
        case OlderNode():
            return f"old {node.section.anchor.section_id}"
        case OpenNode():
            return f"{'hole' if node.hole else 'open'} {node.first}-{node.last}"


def rows(page: ChroniclePage) -> list[str]:
    """The rows on the screen, in short."""
    return [named(row) for row in page.tree_list.visible_rows]


def detail_text(page: ChroniclePage) -> str:
    """The text of the detail, line by line."""
    return Document(page.pane.text.blocks).plain(1_000_000)[0]


# Workspaces


def make_workspace(root: Path, fill: Callable[[Workspace], object] = lambda workspace: None) -> Path:
    """A workspace with what `fill` records; times are the same in every run."""
    clock = Steps(START, timedelta(minutes=7))
    with Workspace.create(root, title="Probe", timezone="UTC", owner="maya", clock=clock) as workspace:
        fill(workspace)
    return root


def say(workspace: Workspace, *payloads: Payload, session: str = "s1") -> None:
    """What happened in a session."""
    workspace.log.append(session_stream(session), list(payloads))


def close(unit: str, note: str, session: str = "s1") -> UnitClosed:
    """The end of a stretch."""
    return UnitClosed(chronicum_id=session, unit=unit, note=note)


def again(workspace: Workspace, old: str, prose: str, stream: str = SESSION, **written: object) -> None:
    """Another prose for a range, as a model would have written it."""
    chronicle = workspace.chronicle(stream)
    section = chronicle.store.section(old)
    assert section is not None
    anchor = section.anchor
    generation = int(old.partition("#")[2] or 1) + 1
    name = f"{anchor.from_seq}-{anchor.to_seq}#{generation}"
    note = Written(
        workspace.log.last_position(),
        int(written.get("at", 0)),  # type: ignore[call-overload]
        str(written.get("by", "teller")),
        "3",
    )
    made = Section(Anchor(name, *anchor[1:4], old), prose, ("p1:model_call:5f3a1c0bdeadbeef",), note)
    with workspace.log.transaction():
        chronicle.store.append_new(made)


@laid_out_once
def full(root: Path) -> Path:
    """A session of four closed stretches, of which three are told, one of them twice; a task that lags."""

    def fill(workspace: Workspace) -> None:
        say(workspace, *TALK)
        say(workspace, entry("The flag is in.", "coder"), entry("Tested.", "coder"), close("flag", "Done."))
        say(workspace, entry("Both use it.", "coder"), close("library", "One library is left."))
        workspace.chronicle(SESSION).consolidate()
        say(workspace, entry("The way back works.", "coder"), close("back", "Tried."))
        again(workspace, "1-8", REWRITTEN, at=to_micros(START + timedelta(hours=30)))
        say(workspace, entry("And now?", "maya"))
        for text in ("First look", "Second look"):
            workspace.memory.record_event(
                text, project="atlas", task_id="importer", agent="coder", checkpoint=checkpoint(text)
            )

    return make_workspace(root, fill)


def checkpoint(goal: str) -> dict[str, object]:
    """What a task stands at."""
    return {
        "goal": goal,
        "completed": [f"{goal}: done"],
        "verification": [],
        "open_questions": [],
        "next_steps": ["go on"],
    }


@laid_out_once
def long(root: Path, ranges: int) -> Path:
    """A session of so many closed stretches of two events each, all told."""

    def fill(workspace: Workspace) -> None:
        say(workspace, ChronicumCreated(chronicum_id="s1", owner_id="maya"), close("u0", "begun"))
        for number in range(1, ranges):
            say(
                workspace, entry(f"entry {number}", "planner"), close(f"u{number}", f"round {number} is over")
            )
        workspace.chronicle(SESSION).consolidate()

    return make_workspace(root, fill)


@laid_out_once
def wide(root: Path) -> Path:
    """Wide characters, right-to-left text, emoji, control characters, markup, and words without an end."""
    prose = (
        "# 日本語の長い見出しがここに続きます。とても長いので切られます\n\n"
        "👩\u200d🔬 looks at 🇺🇦 and ⚠\ufe0f, then العربية and עברית\n\n"
        "- [bold]not bold[/bold] [@click=app.quit]quit[/] \x1b[31mred\x1b[0m \u202eevil\u202c\n"
        f"- {'x' * 300}\n\n"
        "```\ncode 値\twith a tab\n```\n\n[a link](javascript:alert) <script>no</script>"
    )

    def fill(workspace: Workspace) -> None:
        title = "設定.とても長い名前のセッション、さらに長い名前が続きます"
        say(
            workspace,
            ChronicumCreated(chronicum_id="s1", owner_id="maya"),
            ChronicumDescribed(title=title),
            entry("日本語の長い文がここに続きます。とても長いので切られます。", "計画者とても長い名前"),
            close("計画", "終わり"),
        )
        workspace.chronicle(SESSION).consolidate()
        again(workspace, "1-4", prose, by="語り手" * 30)

    return make_workspace(root, fill)
