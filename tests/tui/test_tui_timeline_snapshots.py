"""The Timeline as pictures at four sizes: full, empty, filtered to nothing, wide characters."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from textual.pilot import Pilot

from tests.tui.pictures import sizes
from tests.tui.shell_probe import until, work_done
from tests.tui.timeline_probe import TALK, WIDE, TimelineApp, app_on, make_spread, make_workspace, rows_shown
from workbench.log.registry import Payload
from workbench.tui.widgets.frame import HeaderState
from workbench.workspace.rows import TimelineFilter

FULL = (*TALK, *(payload for _ in range(6) for payload in TALK[2:]))

SnapCompare = Callable[..., bool]


class Named(TimelineApp):
    """The path in the header is the same wherever the tests run."""

    def header_state(self) -> HeaderState:
        return replace(super().header_state(), path="~/chronicle")


def picture(
    snap_compare: SnapCompare,
    root: Path,
    payloads: Sequence[Payload],
    size: tuple[int, int],
    *,
    wanted: TimelineFilter | None = None,
    down: int = 0,
    enter: bool = False,
) -> bool:
    return pictured(snap_compare, make_workspace(root, payloads), size, wanted=wanted, down=down, enter=enter)


def pictured(
    snap_compare: SnapCompare,
    root: Path,
    size: tuple[int, int],
    *,
    wanted: TimelineFilter | None = None,
    order: str = "recorded",
    down: int = 0,
    enter: bool = False,
) -> bool:
    app = app_on(root)
    app.__class__ = Named

    async def settle(pilot: Pilot[None]) -> None:
        page = await rows_shown(pilot, app)
        if wanted is not None:
            page.set_filter(wanted.text)
            page.apply(wanted)
            await rows_shown(pilot, app)
        if order != page.order:
            await app.action_perform("page.sort")
            await rows_shown(pilot, app)
        for _ in range(down):
            page.events.action_cursor_down()
        await rows_shown(pilot, app)
        if enter:
            page.events.action_open()
        await work_done(pilot)
        if page.strip.display and page.events.status.total:
            await until(pilot, lambda: page.strip.scale is not None and not page.strip.counting)
        await work_done(pilot)
        await pilot.pause()
        await pilot.pause()

    return snap_compare(app, terminal_size=size, run_before=settle)


@pytest.mark.parametrize("size", sizes())
def test_full(snap_compare: SnapCompare, tmp_path: Path, size: tuple[int, int]) -> None:
    assert picture(snap_compare, tmp_path / "w", FULL, size, down=3)


@pytest.mark.parametrize("size", sizes(0, 2))
def test_empty(snap_compare: SnapCompare, tmp_path: Path, size: tuple[int, int]) -> None:
    assert picture(snap_compare, tmp_path / "w", (), size)


@pytest.mark.parametrize("size", sizes(1, 3))
def test_filtered_to_nothing(snap_compare: SnapCompare, tmp_path: Path, size: tuple[int, int]) -> None:
    wanted = TimelineFilter(text="comet", actors=("planner", "maya"), types=("actum.recorded",))
    assert picture(snap_compare, tmp_path / "w", TALK, size, wanted=wanted)


@pytest.mark.parametrize("size", sizes(0, 2))
def test_wide_characters(snap_compare: SnapCompare, tmp_path: Path, size: tuple[int, int]) -> None:
    assert picture(snap_compare, tmp_path / "w", WIDE, size, down=2, enter=size[0] < 80)


@pytest.mark.parametrize("size", sizes(0, 3))
def test_as_it_happened_with_a_filter(
    snap_compare: SnapCompare, tmp_path: Path, size: tuple[int, int]
) -> None:
    """Bars over two months, some with no hit; the cursor is not on the newest event."""
    wanted = TimelineFilter(
        text="comet", actors=("maya", "planner"), streams=("session/s1",), visibility="public"
    )
    assert pictured(snap_compare, make_spread(tmp_path / "w"), size, wanted=wanted, order="happened", down=2)
