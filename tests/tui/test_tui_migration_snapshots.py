"""The page of a workspace to be migrated as pictures at four sizes: the plan, the work, a failure, read-only."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest
from textual.pilot import Pilot

from tests.tui.pictures import sizes
from tests.tui.shell_probe import ProbeApp, make_workspace, until, whole_screen, work_done
from tests.tui.trouble_probe import fill, make_older
from workbench.tui.failures import Failure
from workbench.tui.migration_page import MigrationPage
from workbench.tui.widgets.frame import HeaderState
from workbench.workspace.migration import MigrationPlan

SnapCompare = Callable[..., bool]
Arrange = Callable[[MigrationPage], None]


class Named(ProbeApp):
    """The path in the header is the same wherever the tests run."""

    def header_state(self) -> HeaderState:
        return replace(super().header_state(), path="~/chronicle")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    made = make_workspace(tmp_path / "w")
    fill(made, 12)
    make_older(made)
    return made


def picture(
    snap_compare: SnapCompare, root: Path, size: tuple[int, int], arrange: Arrange, *, read_only: bool = False
) -> bool:
    app = Named(root, read_only=read_only)

    async def settle(pilot: Pilot[None]) -> None:
        page: MigrationPage | None = None

        def ready() -> bool:
            nonlocal page
            screen = app.screen_stack[0]
            page = screen if isinstance(screen, MigrationPage) and screen.is_mounted else None
            return page is not None and page.state == "ready"

        await until(pilot, ready)
        assert page is not None
        assert page.plan is not None
        page.plan = _named(page.plan)
        arrange(page)
        page._draw()
        await work_done(pilot)
        failed = page.failure is not None
        await until(pilot, lambda: ("ended early" in whole_screen(app)) is failed)
        # What scrolls is measured once its text stands, and its bar is drawn behind that.
        page.refresh(layout=True)
        await pilot.pause()
        before = ""
        while (now := whole_screen(app)) != before:
            before = now
            await pilot.pause(0.05)

    return snap_compare(app, terminal_size=size, run_before=settle)


def _named(plan: MigrationPlan) -> MigrationPlan:
    return msgspec.structs.replace(
        plan,
        backup_dir="/home/ada/chronicle/backups/migrations",
        events=1_234_567,
        database_bytes=158_000_000,
    )


def _as_it_is(page: MigrationPage) -> None:
    """Nothing happened yet."""


def _running(page: MigrationPage) -> None:
    page.state = "running"
    page.progress.step(412_000, 1_234_567, "projections")
    # What is left is guessed from the time that passed, which a busy machine makes longer.
    page.progress._phase_began = math.inf


def _failed(page: MigrationPage) -> None:
    page.failure = Failure(
        "The migration ended early; the file is as it was",
        "No room left to write /home/ada/chronicle/backups/migrations.",
        "Free some space and try again",
        "disk_full",
    )


@pytest.mark.parametrize("size", sizes())
def test_the_plan(snap_compare: SnapCompare, root: Path, size: tuple[int, int]) -> None:
    assert picture(snap_compare, root, size, _as_it_is)


@pytest.mark.parametrize("size", sizes(0, 3))
def test_while_it_runs(snap_compare: SnapCompare, root: Path, size: tuple[int, int]) -> None:
    assert picture(snap_compare, root, size, _running)


@pytest.mark.parametrize("size", sizes(0, 1))
def test_after_a_failure(snap_compare: SnapCompare, root: Path, size: tuple[int, int]) -> None:
    assert picture(snap_compare, root, size, _failed)


@pytest.mark.parametrize("size", sizes(1, 3))
def test_read_only(snap_compare: SnapCompare, root: Path, size: tuple[int, int]) -> None:
    assert picture(snap_compare, root, size, _as_it_is, read_only=True)
