"""The database file moved away and put back under the open program: it says so until R has opened it again."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tui.shell_probe import ProbeApp, RowsPage, make_workspace, opened, screen_lines, until
from tests.tui.trouble_probe import fill
from workbench.storage.errors import DatabaseReplaced, StorageError
from workbench.tui.dialogs.message import MessageDialog


async def test_a_file_that_was_away_is_lost_until_r_opens_it_again(tmp_path: Path) -> None:
    root = make_workspace(tmp_path / "w")
    fill(root, 5)
    app = ProbeApp(root)
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        await opened(pilot, app)
        before, page = app.workspace, app.page
        assert before is not None
        file, away = root / "chronicle.db", root / "away.db"
        file.rename(away)
        with pytest.raises(DatabaseReplaced):
            before.status()
        away.rename(file)
        with pytest.raises(DatabaseReplaced):
            before.status()
        await until(pilot, lambda: app.header_state().reason == "file was away")
        await until(pilot, lambda: isinstance(app.screen, MessageDialog))
        await pilot.press("enter")
        await until(pilot, lambda: not isinstance(app.screen, MessageDialog))
        assert "live" not in screen_lines(app)[0]
        assert "file was away: R opens it again" in screen_lines(app)[-1]
        for _ in range(3):
            app.show_failure(StorageError("it could not be read"))
        await pilot.pause()
        assert not [toast for toast in app._notifications if "opens it again" in toast.message]
        await pilot.press("R")
        await opened(pilot, app)
        fresh = app.page
        assert isinstance(fresh, RowsPage) and fresh is not page
        assert app.workspace is not None and app.workspace is not before
        assert app.workspace.status()
        assert "● live" in screen_lines(app)[0]
        fill(root, 1)
        await until(pilot, lambda: fresh.commits > 0)
