"""The Sessions screen as pictures at four sizes: full, empty, filtered to nothing, wide characters."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from textual.pilot import Pilot

from tests.tui.pictures import sizes
from tests.tui.sessions_probe import (
    DESCRIBED,
    TALK,
    WIDE,
    act,
    app_on,
    entries_shown,
    make_workspace,
    rows_shown,
    still,
)
from tests.tui.shell_probe import until, work_done
from workbench.log import PendingEvent
from workbench.log.registry import Payload
from workbench.tui.screens.sessions import SessionsPage
from workbench.tui.widgets.text_pane import TextPane

Sessions = dict[str, Sequence[PendingEvent | Payload]]

FULL: Sessions = {
    **{f"s{number}": (act(f"Question number {number}"),) for number in range(1, 6)},
    "claude-code/5d0c1c1e": (DESCRIBED, *TALK),
}
WIDE_ONES: Sessions = {"s1": WIDE, "日本": (act("長い題名です。" * 20),)}

SnapCompare = Callable[..., bool]
Step = Callable[[Pilot[None], SessionsPage], None]


def picture(
    snap_compare: SnapCompare,
    root: Path,
    sessions: Sessions,
    size: tuple[int, int],
    *,
    filter_text: str = "",
    down: int = 0,
    detail: bool = False,
    then: Callable[[SessionsPage], str] | None = None,
) -> bool:
    """`then` does something and names the text pane that it fills."""
    app = app_on(make_workspace(root, sessions))

    async def settle(pilot: Pilot[None]) -> None:
        page = await rows_shown(pilot, app)
        for _ in range(down):
            page.sessions.action_cursor_down()
        if filter_text:
            page.set_filter(filter_text)
            page.on_filter(filter_text)
        await rows_shown(pilot, app)
        if detail:
            page.show_detail()
            await until(pilot, lambda: page.focused is page.detail.entries)
        if then is not None:
            css_id = then(page)
            await until(pilot, lambda: len(page.query_one(css_id, TextPane).blocks) > 1)
        await entries_shown(pilot, page)
        await work_done(pilot)
        await still(pilot)

    return snap_compare(app, terminal_size=size, run_before=settle)


@pytest.mark.parametrize("size", sizes())
def test_full(snap_compare: SnapCompare, tmp_path: Path, size: tuple[int, int]) -> None:
    assert picture(snap_compare, tmp_path / "w", FULL, size)


@pytest.mark.parametrize("size", sizes(0, 3))
def test_acta(snap_compare: SnapCompare, tmp_path: Path, size: tuple[int, int]) -> None:
    assert picture(snap_compare, tmp_path / "w", FULL, size, detail=True)


@pytest.mark.parametrize("size", sizes(1, 3))
def test_empty(snap_compare: SnapCompare, tmp_path: Path, size: tuple[int, int]) -> None:
    assert picture(snap_compare, tmp_path / "w", {}, size)


@pytest.mark.parametrize("size", sizes(0, 2))
def test_filtered_to_nothing(snap_compare: SnapCompare, tmp_path: Path, size: tuple[int, int]) -> None:
    assert picture(snap_compare, tmp_path / "w", FULL, size, filter_text="comet")


@pytest.mark.parametrize("size", sizes(0, 1))
def test_wide_characters(snap_compare: SnapCompare, tmp_path: Path, size: tuple[int, int]) -> None:
    assert picture(snap_compare, tmp_path / "w", WIDE_ONES, size, down=1, detail=size[0] < 80)


@pytest.mark.parametrize("size", sizes())
def test_context_window(snap_compare: SnapCompare, tmp_path: Path, size: tuple[int, int]) -> None:
    def window(page: SessionsPage) -> str:
        page.action_next_tab()
        return "#window"

    assert picture(snap_compare, tmp_path / "w", FULL, size, detail=True, then=window)


def test_an_open_act(snap_compare: SnapCompare, tmp_path: Path) -> None:
    def opened(page: SessionsPage) -> str:
        page.detail.go_to(7)
        page.detail.open_actum()
        return "#reader"

    assert picture(snap_compare, tmp_path / "w", FULL, (120, 40), detail=True, then=opened)


@pytest.mark.parametrize("size", sizes(0, 2))
def test_found_in_the_session(snap_compare: SnapCompare, tmp_path: Path, size: tuple[int, int]) -> None:
    app = app_on(make_workspace(tmp_path / "w", FULL))

    async def settle(pilot: Pilot[None]) -> None:
        page = await rows_shown(pilot, app)
        page.show_detail()
        await until(pilot, lambda: page.focused is page.detail.entries)
        page.action_switch("thought")
        await entries_shown(pilot, page)
        page.detail.offer_find("the")
        await until(pilot, lambda: page.detail.finder.said == "2 hits · 1 hidden")
        page.action_next_hit()
        await until(pilot, lambda: page.detail.finder.said == "2 of 2 · 1 hidden")
        hit = page.detail.finder.hit
        await until(pilot, lambda: page.detail.entries.cursor_key == hit)
        await entries_shown(pilot, page)
        await work_done(pilot)
        await still(pilot)

    assert snap_compare(app, terminal_size=size, run_before=settle)
