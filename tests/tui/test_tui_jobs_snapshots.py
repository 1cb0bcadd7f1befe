"""The Jobs screen as pictures at four sizes: full, empty, a failed job, an examination, four themes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from textual.pilot import Pilot

from tests.tui.jobs_probe import app_on, fill, jobs_shown, make_workspace
from tests.tui.pictures import sizes
from tests.tui.shell_probe import work_done

SnapCompare = Callable[..., bool]


def picture(
    snap_compare: SnapCompare,
    root: Path,
    size: tuple[int, int],
    *,
    at: int | None = None,
    enter: bool = False,
    theme: str = "",
    read_only: bool = False,
) -> bool:
    app = app_on(root, read_only=read_only)

    async def settle(pilot: Pilot[None]) -> None:
        page = await jobs_shown(pilot, app)
        if theme:
            app.use_theme(theme)
        if at is not None:
            page.jobs.go_to(at)
            await work_done(pilot)
            await jobs_shown(pilot, app)
        if enter:
            page.jobs.action_open()
        await work_done(pilot)
        await pilot.pause()
        await pilot.pause()

    return snap_compare(app, terminal_size=size, run_before=settle)


@pytest.mark.parametrize("size", sizes())
def test_full(snap_compare: SnapCompare, tmp_path: Path, size: tuple[int, int]) -> None:
    assert picture(snap_compare, fill(tmp_path / "w"), size, at=8)


@pytest.mark.parametrize("size", sizes(0, 2))
def test_empty(snap_compare: SnapCompare, tmp_path: Path, size: tuple[int, int]) -> None:
    assert picture(snap_compare, make_workspace(tmp_path / "w"), size)


@pytest.mark.parametrize("size", sizes(0, 3))
def test_failed(snap_compare: SnapCompare, tmp_path: Path, size: tuple[int, int]) -> None:
    assert picture(snap_compare, fill(tmp_path / "w"), size, at=5, enter=size[0] < 80)


@pytest.mark.parametrize("size", sizes(0, 1))
def test_findings(snap_compare: SnapCompare, tmp_path: Path, size: tuple[int, int]) -> None:
    assert picture(snap_compare, fill(tmp_path / "w"), size, at=3, enter=size[0] < 80)


@pytest.mark.parametrize("size", sizes(0, 2))
def test_hostile_title(snap_compare: SnapCompare, tmp_path: Path, size: tuple[int, int]) -> None:
    assert picture(snap_compare, fill(tmp_path / "w"), size, at=4, enter=size[0] < 80)


@pytest.mark.parametrize("theme", ["light", "high-contrast", "ansi-dark"])
def test_themes(snap_compare: SnapCompare, tmp_path: Path, theme: str) -> None:
    assert picture(snap_compare, fill(tmp_path / "w"), (120, 40), at=3, theme=theme)


def test_read_only(snap_compare: SnapCompare, tmp_path: Path) -> None:
    assert picture(snap_compare, fill(tmp_path / "w"), (120, 40), at=7, read_only=True)
