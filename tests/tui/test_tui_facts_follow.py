"""The cursor of the Facts screen goes with its slot when another process replaces the fact under it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tui.facts_probe import NOW, app_on, full, put, rows_shown
from tests.tui.shell_probe import until
from workbench.tui.dialogs.verdict import VerdictDialog
from workbench.workspace import Workspace


@pytest.mark.parametrize("dialog", [False, True], ids=["list", "behind a dialog"])
async def test_the_cursor_goes_with_its_slot(tmp_path: Path, dialog: bool) -> None:
    root = full(tmp_path / "w")
    app = app_on(root)
    async with app.run_test(size=(120, 40)) as pilot:
        page = await rows_shown(pilot, app)
        await pilot.press("j", "j", "j")
        await rows_shown(pilot, app)
        held = page.cursor_fact
        assert held is not None
        if dialog:
            await pilot.press("r")
            await until(pilot, lambda: isinstance(app.screen, VerdictDialog))
        seen: list[str] = []
        with Workspace.open(root, clock=lambda: NOW) as other:
            put(
                other,
                held.slot,
                "another value",
                supersedes=held.id,
                project=held.project or None,
                task_id=held.task_id or None,
                domain=held.domain,
            )

        def replaced() -> bool:
            row = page.cursor_fact
            if row is not None:
                seen.append(row.slot)
            return row is not None and row.value == "another value"

        await until(pilot, replaced)
        assert set(seen) == {held.slot}
        if dialog:
            await pilot.press("escape")
        await rows_shown(pilot, app)
        await pilot.press("S")
        await until(pilot, lambda: app.screen is not page and bool(app.screen.query("#why")))
        assert page.shown_fact is not None
        assert (page.shown_fact.slot, page.shown_fact.value) == (held.slot, "another value")
