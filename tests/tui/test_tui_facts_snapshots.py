"""The Facts screen as pictures at four sizes: full, empty, filtered to nothing, wide, read-only, its dialog."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import ExitStack
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import TextArea

from tests.tui.facts_probe import (
    START,
    FactsApp,
    app_on,
    chain_of,
    full,
    make_workspace,
    rows_shown,
    settled,
    wide,
)
from tests.tui.shell_probe import until
from workbench.tui.facts.supersede_dialog import SupersedeDialog
from workbench.tui.moments import AsOf
from workbench.tui.screens.facts import FactsPage
from workbench.workspace.fact_rows import FactFilter

SIZES = [(60, 15), (80, 24), (120, 40), (200, 60)]

SnapCompare = Callable[..., bool]
Steps = Callable[[Pilot[None], FactsApp, FactsPage], Awaitable[None]]


def picture(
    snap_compare: SnapCompare,
    root: Path,
    size: tuple[int, int],
    steps: Steps | None = None,
    *,
    slot: str = "",
    enter: bool = False,
    read_only: bool = False,
) -> bool:
    app = app_on(root, read_only=read_only)

    async def settle(pilot: Pilot[None]) -> None:
        page = await rows_shown(pilot, app)
        if slot:
            page.goto(slot)
            await until(
                pilot, lambda: page.cursor_fact is not None and page.cursor_fact.slot.startswith(slot[:8])
            )
            await rows_shown(pilot, app)
        if steps is not None:
            await steps(pilot, app, page)
        if enter:
            page.facts.action_open()
            await until(pilot, lambda: page.focused_in_detail())
        await settled(pilot, app)
        await pilot.pause()
        await pilot.pause()

    return snap_compare(app, terminal_size=size, run_before=settle)


async def most_replaced(pilot: Pilot[None], app: FactsApp, page: FactsPage) -> None:
    """The slot with the most values on top."""
    page.apply(FactFilter(), "replaced")
    await until(pilot, lambda: page.facts.status.total is not None and not page.facts.status.loading)
    await pilot.press("g")
    await until(pilot, lambda: page.cursor_fact is not None and page.cursor_fact.links > 1)
    await rows_shown(pilot, app)


@pytest.mark.parametrize("size", SIZES)
def test_full(snap_compare: SnapCompare, tmp_path: Path, size: tuple[int, int]) -> None:
    assert picture(snap_compare, full(tmp_path / "w"), size)


@pytest.mark.parametrize("size", SIZES)
def test_chain(snap_compare: SnapCompare, tmp_path: Path, size: tuple[int, int]) -> None:
    assert picture(snap_compare, full(tmp_path / "w"), size, most_replaced, enter=True)


@pytest.mark.parametrize("size", SIZES)
def test_disputed(snap_compare: SnapCompare, tmp_path: Path, size: tuple[int, int]) -> None:
    async def narrow(pilot: Pilot[None], app: FactsApp, page: FactsPage) -> None:
        page.apply(FactFilter(only="disputed"))
        await until(pilot, lambda: page.facts.status.total == 1)
        await rows_shown(pilot, app)

    assert picture(snap_compare, full(tmp_path / "w"), size, narrow, enter=size[0] < 80)


@pytest.mark.parametrize("size", SIZES)
def test_several_values(snap_compare: SnapCompare, tmp_path: Path, size: tuple[int, int]) -> None:
    assert picture(snap_compare, full(tmp_path / "w"), size, slot="release.day", enter=size[0] < 80)


@pytest.mark.parametrize("size", SIZES)
def test_empty(snap_compare: SnapCompare, tmp_path: Path, size: tuple[int, int]) -> None:
    assert picture(snap_compare, make_workspace(tmp_path / "w"), size)


@pytest.mark.parametrize("size", SIZES)
def test_filtered_to_nothing(snap_compare: SnapCompare, tmp_path: Path, size: tuple[int, int]) -> None:
    async def narrow(pilot: Pilot[None], app: FactsApp, page: FactsPage) -> None:
        page.apply(FactFilter("nothing at all", ("assumption",)))
        await until(pilot, lambda: page.facts.status.total == 0)

    assert picture(snap_compare, full(tmp_path / "w"), size, narrow)


@pytest.mark.parametrize("size", SIZES)
def test_wide_characters(snap_compare: SnapCompare, tmp_path: Path, size: tuple[int, int]) -> None:
    assert picture(snap_compare, wide(tmp_path / "w"), size)


@pytest.mark.parametrize("size", SIZES)
def test_long_words(snap_compare: SnapCompare, tmp_path: Path, size: tuple[int, int]) -> None:
    assert picture(snap_compare, wide(tmp_path / "w"), size, slot="x" * 200, enter=size[0] < 80)


def test_right_to_left(snap_compare: SnapCompare, tmp_path: Path) -> None:
    assert picture(snap_compare, wide(tmp_path / "w"), (120, 40), slot="مكان.النشر")


@pytest.mark.parametrize("size", SIZES)
def test_the_end_of_a_long_chain(snap_compare: SnapCompare, tmp_path: Path, size: tuple[int, int]) -> None:
    async def end(pilot: Pilot[None], app: FactsApp, page: FactsPage) -> None:
        page.facts.action_open()
        await until(pilot, lambda: page.focused_in_detail())
        page.pane.chain.action_last()

    assert picture(snap_compare, chain_of(tmp_path / "w", 20), size, end)


@pytest.mark.parametrize("size", SIZES)
def test_deciding(snap_compare: SnapCompare, tmp_path: Path, size: tuple[int, int]) -> None:
    async def ask(pilot: Pilot[None], app: FactsApp, page: FactsPage) -> None:
        await pilot.press("S")
        await until(
            pilot,
            lambda: isinstance(app.screen, SupersedeDialog) and isinstance(app.screen.focused, TextArea),
        )
        for area in app.screen.query(TextArea):
            area.cursor_blink = False
        await pilot.pause()

    assert picture(snap_compare, full(tmp_path / "w"), size, ask)


def test_read_only(snap_compare: SnapCompare, tmp_path: Path) -> None:
    assert picture(snap_compare, full(tmp_path / "w"), (120, 40), read_only=True)


@pytest.mark.parametrize("size", SIZES)
def test_work_runs(snap_compare: SnapCompare, tmp_path: Path, size: tuple[int, int]) -> None:
    async def work(pilot: Pilot[None], app: FactsApp, page: FactsPage) -> None:
        running.enter_context(app.job("Importing 3 transcripts"))

    with ExitStack() as running:
        assert picture(snap_compare, full(tmp_path / "w"), size, work)
        # The program has ended with its job: there is no footer any more to say that it did.
        running.pop_all()


@pytest.mark.parametrize("size", SIZES)
def test_the_database_is_lost(snap_compare: SnapCompare, tmp_path: Path, size: tuple[int, int]) -> None:
    root = full(tmp_path / "w")

    async def lose(pilot: Pilot[None], app: FactsApp, page: FactsPage) -> None:
        (root / "chronicle.db").rename(root / "elsewhere.db")
        await until(pilot, lambda: app.access.live == "lost" and app.screen is not page)
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is page)

    assert picture(snap_compare, root, size, lose)


@pytest.mark.parametrize("size", SIZES)
def test_as_of(snap_compare: SnapCompare, tmp_path: Path, size: tuple[int, int]) -> None:
    async def back(pilot: Pilot[None], app: FactsApp, page: FactsPage) -> None:
        app.travel(AsOf(6, START))
        await until(pilot, lambda: page.facts.status.total == 2)
        await rows_shown(pilot, app)

    assert picture(snap_compare, full(tmp_path / "w"), size, back, enter=size[0] < 80)
