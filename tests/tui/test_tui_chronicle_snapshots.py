"""The Chronicle screen as pictures: full at four sizes; its other states at the two that differ most."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import ExitStack
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import Input

from tests.tui.chronicle_probe import (
    SESSION,
    ChronicleApp,
    app_on,
    full,
    go,
    make_workspace,
    rows_shown,
    settled,
    wide,
)
from tests.tui.shell_probe import until
from tests.tui.timeline_probe import START
from workbench.tui.chronicle import copies, writing_page
from workbench.tui.chronicle.chronicle_pane import EVENTS, GENERATIONS, LAG
from workbench.tui.dialogs.confirm import ConfirmDialog
from workbench.tui.dialogs.typed_confirm import TypedConfirmDialog
from workbench.tui.moments import AsOf
from workbench.tui.screens.chronicle import ChroniclePage

SIZES = [(60, 15), (80, 24), (120, 40), (200, 60)]
TWO = [(80, 24), (120, 40)]

SnapCompare = Callable[..., bool]
Steps = Callable[[Pilot[None], ChronicleApp, ChroniclePage], Awaitable[None]]


def picture(
    snap_compare: SnapCompare,
    root: Path,
    size: tuple[int, int],
    steps: Steps | None = None,
    *,
    first: int | None = None,
    enter: bool = False,
    read_only: bool = False,
) -> bool:
    app = app_on(root, read_only=read_only)

    async def settle(pilot: Pilot[None]) -> None:
        page = await rows_shown(pilot, app)
        if first is not None:
            page = await go(pilot, app, SESSION, first)
        if steps is not None:
            await steps(pilot, app, page)
        if enter:
            page.show_detail()
            await until(pilot, lambda: page.focused_in_detail())
        await settled(pilot, app)
        await pilot.pause()
        await pilot.pause()

    return snap_compare(app, terminal_size=size, run_before=settle)


def side(name: str) -> Steps:
    async def show(pilot: Pilot[None], app: ChronicleApp, page: ChroniclePage) -> None:
        page.pane.show_side(name)
        await settled(pilot, app)

    return show


@pytest.mark.parametrize("size", SIZES)
def test_full(snap_compare: SnapCompare, tmp_path: Path, size: tuple[int, int]) -> None:
    assert picture(snap_compare, full(tmp_path / "w"), size, first=1)


@pytest.mark.parametrize("size", SIZES)
def test_prose(snap_compare: SnapCompare, tmp_path: Path, size: tuple[int, int]) -> None:
    assert picture(snap_compare, full(tmp_path / "w"), size, first=1, enter=True)


@pytest.mark.parametrize("size", TWO)
@pytest.mark.parametrize("name", [EVENTS, GENERATIONS, LAG])
def test_sides(snap_compare: SnapCompare, tmp_path: Path, size: tuple[int, int], name: str) -> None:
    assert picture(snap_compare, full(tmp_path / "w"), size, side(name), first=1, enter=True)


@pytest.mark.parametrize("size", TWO)
def test_empty(snap_compare: SnapCompare, tmp_path: Path, size: tuple[int, int]) -> None:
    assert picture(snap_compare, make_workspace(tmp_path / "w"), size)


@pytest.mark.parametrize("size", TWO)
def test_found(snap_compare: SnapCompare, tmp_path: Path, size: tuple[int, int]) -> None:
    async def search(pilot: Pilot[None], app: ChronicleApp, page: ChroniclePage) -> None:
        page.apply("librar")
        await until(pilot, lambda: page.tree_list.status.total == 2)
        await rows_shown(pilot, app)

    assert picture(snap_compare, full(tmp_path / "w"), size, search)


@pytest.mark.parametrize("size", TWO)
def test_filtered_to_nothing(snap_compare: SnapCompare, tmp_path: Path, size: tuple[int, int]) -> None:
    async def search(pilot: Pilot[None], app: ChronicleApp, page: ChroniclePage) -> None:
        page.apply("nothing at all")
        await until(pilot, lambda: page.tree_list.status.total == 0)

    assert picture(snap_compare, full(tmp_path / "w"), size, search)


@pytest.mark.parametrize("size", TWO)
def test_wide_characters(snap_compare: SnapCompare, tmp_path: Path, size: tuple[int, int]) -> None:
    assert picture(snap_compare, wide(tmp_path / "w"), size, first=1)


@pytest.mark.parametrize("size", TWO)
def test_read_only(snap_compare: SnapCompare, tmp_path: Path, size: tuple[int, int]) -> None:
    assert picture(snap_compare, full(tmp_path / "w"), size, first=1, read_only=True)


@pytest.mark.parametrize("size", TWO)
def test_as_of(snap_compare: SnapCompare, tmp_path: Path, size: tuple[int, int]) -> None:
    async def back(pilot: Pilot[None], app: ChronicleApp, page: ChroniclePage) -> None:
        app.travel(AsOf(13, START))
        await until(pilot, lambda: len(page.tree_list.visible_rows) == 4)
        await rows_shown(pilot, app)

    assert picture(snap_compare, full(tmp_path / "w"), size, back, first=1)


@pytest.mark.parametrize("size", TWO)
def test_work_runs(snap_compare: SnapCompare, tmp_path: Path, size: tuple[int, int]) -> None:
    async def work(pilot: Pilot[None], app: ChronicleApp, page: ChroniclePage) -> None:
        running.enter_context(app.job("Consolidating session/s1"))

    with ExitStack() as running:
        assert picture(snap_compare, full(tmp_path / "w"), size, work)
        # The program has ended with its job: there is no footer any more to say that it did.
        running.pop_all()


@pytest.mark.parametrize("size", TWO)
def test_the_database_is_lost(snap_compare: SnapCompare, tmp_path: Path, size: tuple[int, int]) -> None:
    root = full(tmp_path / "w")

    async def lose(pilot: Pilot[None], app: ChronicleApp, page: ChroniclePage) -> None:
        (root / "chronicle.db").rename(root / "elsewhere.db")
        await until(pilot, lambda: app.access.live == "lost" and app.screen is not page)
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is page)

    assert picture(snap_compare, root, size, lose)


@pytest.mark.parametrize("size", TWO)
def test_writing_again_asks(snap_compare: SnapCompare, tmp_path: Path, size: tuple[int, int]) -> None:
    async def ask(pilot: Pilot[None], app: ChronicleApp, page: ChroniclePage) -> None:
        await pilot.press("W")
        await until(pilot, lambda: isinstance(app.screen, ConfirmDialog))

    assert picture(snap_compare, full(tmp_path / "w"), size, ask, first=1)


@pytest.mark.parametrize("size", TWO)
def test_a_rebuild_asks(
    snap_compare: SnapCompare, tmp_path: Path, size: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    # The path in the command, as that in the header, is the same wherever the tests run.
    monkeypatch.setattr(
        writing_page,
        "replay_command",
        lambda node, root: copies.replay_command(node, Path("/home/maya/chronicle")),
    )

    async def ask(pilot: Pilot[None], app: ChronicleApp, page: ChroniclePage) -> None:
        await pilot.press("X")
        await until(pilot, lambda: isinstance(app.screen, TypedConfirmDialog))
        app.screen.query_one(Input).cursor_blink = False
        await pilot.pause()

    assert picture(snap_compare, full(tmp_path / "w"), size, ask, first=1)
