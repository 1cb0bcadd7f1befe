"""The Handoffs screen as pictures at four sizes: its sides, its dialogs, and when there is nothing or trouble."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path

import apsw
import pytest
from textual.pilot import Pilot
from textual.widgets import TextArea

from tests.tui.handoffs_probe import HandoffsApp, app_on, settled, shown
from tests.tui.pictures import sizes
from tests.tui.shell_probe import make_workspace, until, whole_screen
from tests.workspace.handoff_cases import make_desk, make_hostile_desk
from workbench.tui.dialogs.confirm import ConfirmDialog
from workbench.tui.dialogs.verdict import VerdictDialog
from workbench.tui.screens.handoffs import HandoffsPage
from workbench.workspace import Workspace
from workbench.workspace.rows import HandoffFilter

SNAPSHOT_SIDES = ["since", "evidence", "history"]

SnapCompare = Callable[..., bool]
Steps = Callable[[Pilot[None], HandoffsApp, HandoffsPage], Awaitable[None]]


def picture(
    snap_compare: SnapCompare,
    root: Path,
    size: tuple[int, int],
    steps: Steps | None = None,
    *,
    last: bool = False,
    enter: bool = False,
    read_only: bool = False,
) -> bool:
    app = app_on(root, read_only=read_only)

    async def settle(pilot: Pilot[None]) -> None:
        page = await shown(pilot, app)
        if last:
            page.handoffs.action_last()
            await shown(pilot, app)
        if enter:
            page.handoffs.action_open()
        if steps is not None:
            await steps(pilot, app, page)
        await settled(pilot, app)
        await pilot.pause()
        await pilot.pause()

    return snap_compare(app, terminal_size=size, run_before=settle)


@pytest.mark.parametrize("size", sizes())
def test_full(snap_compare: SnapCompare, tmp_path: Path, size: tuple[int, int]) -> None:
    assert picture(snap_compare, make_desk(tmp_path / "w"), size, last=True)


async def laid_out(pilot: Pilot[None], app: HandoffsApp, page: HandoffsPage) -> None:
    """Wait for the detail: its cursor moves by lines that are on the screen, those of the pane's own width."""
    await until(pilot, lambda: page.pane.lines.has_focus and page.pane.ready)
    await until(pilot, lambda: "Goal" in whole_screen(app))
    await pilot.pause()


@pytest.mark.parametrize("size", sizes(0, 1))
def test_in_the_detail(snap_compare: SnapCompare, tmp_path: Path, size: tuple[int, int]) -> None:
    async def down(pilot: Pilot[None], app: HandoffsApp, page: HandoffsPage) -> None:
        await laid_out(pilot, app, page)
        for _ in range(4):
            page.pane.lines.action_scroll_down()

    assert picture(snap_compare, make_desk(tmp_path / "w"), size, down, last=True, enter=True)


@pytest.mark.parametrize("size", sizes(0, 2))
@pytest.mark.parametrize("side", SNAPSHOT_SIDES)
def test_sides(snap_compare: SnapCompare, tmp_path: Path, side: str, size: tuple[int, int]) -> None:
    async def turn(pilot: Pilot[None], app: HandoffsApp, page: HandoffsPage) -> None:
        page.pane.show_side(side)
        await until(pilot, lambda: page.pane.ready)

    assert picture(snap_compare, make_desk(tmp_path / "w"), size, turn, last=True, enter=size[0] < 80)


@pytest.mark.parametrize("size", sizes(0, 3))
def test_two_compared(snap_compare: SnapCompare, tmp_path: Path, size: tuple[int, int]) -> None:
    async def compare(pilot: Pilot[None], app: HandoffsApp, page: HandoffsPage) -> None:
        page.pane.show_side("history")
        await until(pilot, lambda: page.pane.ready)
        assert page.pane.compare() == ""
        await until(pilot, lambda: page.pane.comparing)

    assert picture(snap_compare, make_desk(tmp_path / "w"), size, compare, last=True, enter=True)


@pytest.mark.parametrize("size", sizes(0, 1))
def test_closed_ones_too(snap_compare: SnapCompare, tmp_path: Path, size: tuple[int, int]) -> None:
    async def widen(pilot: Pilot[None], app: HandoffsApp, page: HandoffsPage) -> None:
        await app.action_perform("handoffs.closed")
        await shown(pilot, app)

    assert picture(snap_compare, make_desk(tmp_path / "w"), size, widen)


@pytest.mark.parametrize("size", sizes(0, 2))
def test_empty(snap_compare: SnapCompare, tmp_path: Path, size: tuple[int, int]) -> None:
    assert picture(snap_compare, make_workspace(tmp_path / "w"), size)


@pytest.mark.parametrize("size", sizes(1, 3))
def test_filtered_to_nothing(snap_compare: SnapCompare, tmp_path: Path, size: tuple[int, int]) -> None:
    async def narrow(pilot: Pilot[None], app: HandoffsApp, page: HandoffsPage) -> None:
        page._apply(HandoffFilter("nobody said this", True, True))
        await shown(pilot, app)

    assert picture(snap_compare, make_desk(tmp_path / "w"), size, narrow)


@pytest.mark.parametrize("size", sizes(0, 2))
def test_nothing_waits(snap_compare: SnapCompare, tmp_path: Path, size: tuple[int, int]) -> None:
    root = make_desk(tmp_path / "w")
    with Workspace.open(root) as workspace:
        for row in workspace.readers.handoffs.page(HandoffFilter(waiting=True), 9).rows:
            workspace.review("checkpoint", row.checkpoint_id, "accepted")

    async def narrow(pilot: Pilot[None], app: HandoffsApp, page: HandoffsPage) -> None:
        await app.action_perform("handoffs.waiting")
        await shown(pilot, app)

    assert picture(snap_compare, root, size, narrow)


@pytest.mark.parametrize("size", sizes(0, 2))
@pytest.mark.parametrize("enter", [False, True], ids=["list", "detail"])
def test_wide_characters(
    snap_compare: SnapCompare, tmp_path: Path, enter: bool, size: tuple[int, int]
) -> None:
    assert picture(snap_compare, make_hostile_desk(tmp_path / "w"), size, last=not enter, enter=enter)


@pytest.mark.parametrize("size", sizes())
def test_a_verdict_on_a_line(snap_compare: SnapCompare, tmp_path: Path, size: tuple[int, int]) -> None:
    async def ask(pilot: Pilot[None], app: HandoffsApp, page: HandoffsPage) -> None:
        await laid_out(pilot, app, page)
        page.pane.lines.action_scroll_down()
        await app.action_perform("handoffs.review")
        await until(pilot, lambda: isinstance(app.screen, VerdictDialog) and bool(app.screen.query(".keys")))
        await pilot.press("q", "tab", *"Which")
        app.screen.query_one(TextArea).cursor_blink = False

    assert picture(snap_compare, make_desk(tmp_path / "w"), size, ask, last=True, enter=True)


@pytest.mark.parametrize("size", sizes())
def test_accepting_together(snap_compare: SnapCompare, tmp_path: Path, size: tuple[int, int]) -> None:
    async def ask(pilot: Pilot[None], app: HandoffsApp, page: HandoffsPage) -> None:
        await pilot.press("v", "j", "j", "A")
        await until(pilot, lambda: isinstance(app.screen, ConfirmDialog))

    assert picture(snap_compare, make_desk(tmp_path / "w"), size, ask)


@pytest.mark.parametrize("size", sizes(0, 3))
def test_a_damaged_checkpoint(snap_compare: SnapCompare, tmp_path: Path, size: tuple[int, int]) -> None:
    root = make_desk(tmp_path / "w")
    with Workspace.open(root) as workspace:
        row = workspace.readers.handoffs.page(HandoffFilter(), 9).rows[0]
    connection = apsw.Connection(str(root / "chronicle.db"))
    connection.execute("UPDATE events SET payload = '{\"goal' WHERE position = ?", (row.position,))
    connection.close()
    assert picture(snap_compare, root, size, enter=size[0] < 80)


@pytest.mark.parametrize("size", sizes(0, 1))
def test_the_database_is_lost(snap_compare: SnapCompare, tmp_path: Path, size: tuple[int, int]) -> None:
    root = make_desk(tmp_path / "w")

    async def lose(pilot: Pilot[None], app: HandoffsApp, page: HandoffsPage) -> None:
        (root / "chronicle.db").rename(root / "elsewhere.db")
        await until(pilot, lambda: app.access.live == "lost" and app.screen is not page)
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is page)

    assert picture(snap_compare, root, size, lose)


@pytest.mark.parametrize("size", sizes(0, 1))
def test_as_of(snap_compare: SnapCompare, tmp_path: Path, size: tuple[int, int]) -> None:
    root = make_desk(tmp_path / "w")
    with Workspace.open(root) as workspace:
        position = workspace.readers.handoffs.page(HandoffFilter("rate"), 1).rows[0].position

    async def travel(pilot: Pilot[None], app: HandoffsApp, page: HandoffsPage) -> None:
        await pilot.press("t", *str(position), "enter")
        await until(pilot, lambda: app.as_of is not None and len(page.handoffs.visible_rows) == 2)
        await shown(pilot, app)

    assert picture(snap_compare, root, size, travel)


def test_read_only(snap_compare: SnapCompare, tmp_path: Path) -> None:
    assert picture(snap_compare, make_desk(tmp_path / "w"), (120, 40), last=True, read_only=True)
