"""The program writes up what lags by itself: where it is to, and not in a workspace that is only looked at."""

from __future__ import annotations

from pathlib import Path

from tests.tui.chronicle_probe import SESSION, app_on, full, go, rows
from tests.tui.shell_probe import until
from workbench.workspace import Workspace


async def test_what_was_closed_is_written_up_by_itself_and_shows(tmp_path: Path) -> None:
    app = app_on(full(tmp_path / "w"))
    app.chronicler.after = 0.05
    async with app.run_test(size=(120, 40)) as pilot:
        page = await go(pilot, app, SESSION, 12)
        await until(pilot, lambda: rows(page)[-2:] == ["14-15", "open 16-16"])
        assert app.workspace is not None
        await until(pilot, lambda: app.workspace is not None and not app.workspace.jobs.live())
        assert {row.kind for row in app.workspace.jobs.page(10)} == {"chronicle"}


async def test_nothing_is_written_by_itself_where_the_program_only_looks(tmp_path: Path) -> None:
    root = full(tmp_path / "w")
    app = app_on(root, read_only=True)
    app.chronicler.after = 0.0
    async with app.run_test(size=(120, 40)) as pilot:
        page = await go(pilot, app, SESSION, 12)
        assert rows(page)[-1] == "open 14-16"
    with Workspace.open(root, read_only=True) as workspace:
        assert workspace.chronicle(SESSION).lag().due
