"""Rescan, scrub and the look into the backups from the Redactions screen, on real workspaces."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import Input

from tests.tui.redactions_probe import (
    RedactionsApp,
    Secrets,
    app_on,
    copy_database,
    holds,
    let_in,
    make_workspace,
    pane_text,
    rows_shown,
    settled,
    talk,
)
from tests.tui.shell_probe import until, whole_screen
from workbench.tui.dialogs.message import MessageDialog
from workbench.tui.dialogs.typed_confirm import TypedConfirmDialog
from workbench.tui.document import Document
from workbench.tui.jobs.words import found_something
from workbench.tui.redactions.look_dialog import LookDialog
from workbench.tui.screens.redactions import RedactionsPage
from workbench.tui.screens.sessions import SessionsPage
from workbench.tui.widgets.text_pane import TextPane
from workbench.workspace import Workspace
from workbench.workspace.redactions import LEASE
from workbench.workspace.redactions import backups as backups_module


@pytest.fixture
def secrets() -> Secrets:
    return Secrets(31)


@pytest.fixture
def dirty(tmp_path: Path, secrets: Secrets) -> Path:
    """Nine secrets in seven places that no filter has seen, and a backup that holds them."""
    root = make_workspace(tmp_path / "w", talk(Secrets(5)))
    let_in(root, talk(secrets))
    copy_database(root, "old.db")
    return root


def report_text(dialog: LookDialog) -> str:
    return Document(dialog._pane.blocks).plain(100_000)[0]


async def look_open(pilot: Pilot[None], app: RedactionsApp) -> LookDialog:
    await until(pilot, lambda: isinstance(app.screen, LookDialog) and app.screen.is_mounted)
    assert isinstance(app.screen, LookDialog)
    return app.screen


async def rescanned(pilot: Pilot[None], app: RedactionsApp) -> LookDialog:
    await app.action_perform("redactions.rescan")
    dialog = await look_open(pilot, app)
    await until(pilot, lambda: not dialog.job.running and bool(dialog._pane.blocks))
    return dialog


async def confirm_scrub(pilot: Pilot[None], app: RedactionsApp) -> LookDialog:
    await until(
        pilot, lambda: isinstance(app.screen, TypedConfirmDialog) and isinstance(app.screen.focused, Input)
    )
    await pilot.press(*"scrub", "enter")
    dialog = await look_open(pilot, app)
    await until(pilot, lambda: not dialog.job.running and bool(dialog._pane.blocks))
    return dialog


async def test_a_rescan_names_kinds_places_and_backups_and_changes_nothing(
    dirty: Path, secrets: Secrets
) -> None:
    before = holds(dirty, secrets)
    assert any(name.startswith("chronicle.db") for name in before)
    app = app_on(dirty)
    async with app.run_test(size=(120, 40)) as pilot:
        page = await rows_shown(pilot, app)
        dialog = await rescanned(pilot, app)
        said = report_text(dialog)
        assert said.startswith("! 9 secrets would be removed from 7 places.")
        assert "X takes them out." in said
        assert "4  aws_access_key" in said and "event 13  content" in said
        assert "backups/old.db" in said and "still holds some" in said
        assert not any(secret in said for secret in secrets.made)
        await pilot.press("enter")
        await until(pilot, lambda: page.hint.text.startswith("The last rescan found 9 secrets"))
        assert page.redactions.status.total == 7
        # The report can be read again.
        await app.action_perform("redactions.report")
        again = await look_open(pilot, app)
        await until(pilot, lambda: bool(again._pane.blocks))
        assert report_text(again) == said
        assert app.workspace is not None
        job = app.workspace.jobs.page(1)[0]
        assert (job.kind, job.status) == ("rescan", "done")
        assert job.outcome.startswith("9 secrets would be removed from 7 places\naws_access_key: 4")
    assert any(name.startswith("chronicle.db") for name in holds(dirty, secrets))


async def test_a_scrub_is_done_once_its_name_was_typed(dirty: Path, secrets: Secrets) -> None:
    app = app_on(dirty)
    async with app.run_test(size=(120, 40)) as pilot:
        page = await rows_shown(pilot, app)
        dialog = await rescanned(pilot, app)
        await pilot.press("X")
        await until(
            pilot,
            lambda: isinstance(app.screen, TypedConfirmDialog) and isinstance(app.screen.focused, Input),
        )
        assert dialog not in app.screen_stack
        await until(pilot, lambda: "One backup stays as it is" in whole_screen(app))
        assert "backups/old.db" in whole_screen(app)
        await pilot.press(*"nope", "enter")
        await until(pilot, lambda: "That is another word." in whole_screen(app))
        assert isinstance(app.screen, TypedConfirmDialog)
        app.screen.query_one(Input).value = ""
        done = await confirm_scrub(pilot, app)
        said = report_text(done)
        assert said.startswith("✓ 9 secrets removed from 7 places.")
        assert "Written anew: 6 events." in said
        assert "backups/old.db" in said and "still holds some" in said
        assert "could not be emptied" not in said
        await pilot.press("enter")
        await until(pilot, lambda: page.redactions.status.total == 14)
        await rows_shown(pilot, app)
        # What was found later is marked, and what it stood in is shown.
        row = page.cursor_redaction
        assert row is not None and row.scrubbed
        assert "found later; event" in pane_text(page) and "[REDACTED:" in pane_text(page)
        assert page.hint.text == ""
        assert app.access.live == "live"
        page.pane.show_side("backups")
        await until(pilot, lambda: "1 of 1 holds some" in pane_text(page))
        assert holds(dirty, secrets) == ["backups/old.db"]
        await settled(pilot, app)
        # A scrub makes the file smaller; the watch does not take that for a loss.
        assert not isinstance(app.screen, MessageDialog)


async def scrub_offered(pilot: Pilot[None], app: RedactionsApp) -> str:
    """What the dialog shows without being scrolled, once its text is laid out."""
    await app.action_perform("redactions.scrub")
    await until(
        pilot, lambda: isinstance(app.screen, TypedConfirmDialog) and isinstance(app.screen.focused, Input)
    )
    await until(
        pilot,
        lambda: "Type scrub to do it" in whole_screen(app) and app.screen.query_one(TextPane).size.height > 2,
    )
    await pilot.pause()
    return whole_screen(app)


async def test_on_the_smallest_screen_the_backups_are_named_at_once(dirty: Path) -> None:
    app = app_on(dirty)
    async with app.run_test(size=(60, 15)) as pilot:
        await rows_shown(pilot, app)
        shown = await scrub_offered(pilot, app)
        assert "One backup stays as it is and may keep" in shown
        assert "backups/old.db" in shown and "cancel" in shown
        assert app.screen.query_one(TextPane).size.height >= 7


async def test_a_backup_that_is_known_to_hold_nothing_is_not_named(dirty: Path) -> None:
    (dirty / "backups" / "notes.txt").write_text("what is kept here\n")
    app = app_on(dirty)
    async with app.run_test(size=(80, 24)) as pilot:
        page = await rows_shown(pilot, app)
        assert "2 backups stay as they are and may keep" in await scrub_offered(pilot, app)
        await pilot.press("escape")
        await app.action_perform("redactions.backups")
        await until(pilot, lambda: page.job is not None and not page.job.running and page._looked is not None)
        shown = await scrub_offered(pilot, app)
        assert "One backup stays as it is and keeps the old text:" in shown
        assert "backups/old.db" in shown and "notes.txt" not in shown
        await pilot.press("escape")
        (dirty / "backups" / "old.db").unlink()
        assert "The backup stays as it is: it holds nothing" in await scrub_offered(pilot, app)


async def test_how_long_ago_the_backups_were_looked_into_goes_on(
    dirty: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("workbench.tui.redactions.redaction_pane.AGE_SECONDS", 0.02)
    app = app_on(dirty)
    moment = [app.clock()]
    app.clock = lambda: moment[0]
    async with app.run_test(size=(120, 40)) as pilot:
        page = await rows_shown(pilot, app)
        await app.action_perform("redactions.backups")
        await until(pilot, lambda: "Looked into just now" in pane_text(page))
        for seconds, said in ((13, "13 s ago"), (1, "14 s ago"), (120, "2 min ago")):
            moment[0] += timedelta(seconds=seconds)
            wanted = f"Looked into {said}"
            await until(pilot, partial(lambda wanted: wanted in pane_text(page), wanted))


async def test_a_rescan_that_found_something_is_marked_so_in_the_list_of_jobs(dirty: Path) -> None:
    app = app_on(dirty)
    async with app.run_test(size=(120, 40)) as pilot:
        await rows_shown(pilot, app)
        await rescanned(pilot, app)
        assert app.workspace is not None
        (job,) = app.workspace.jobs.page(1)
        assert job.kind == "rescan" and found_something(job)


async def test_esc_scrubs_nothing(dirty: Path, secrets: Secrets) -> None:
    app = app_on(dirty)
    async with app.run_test(size=(80, 24)) as pilot:
        page = await rows_shown(pilot, app)
        await app.action_perform("redactions.scrub")
        await until(
            pilot,
            lambda: isinstance(app.screen, TypedConfirmDialog) and isinstance(app.screen.focused, Input),
        )
        await pilot.press(*"scrub", "escape")
        await until(pilot, lambda: app.screen is page)
        assert page.job is None
    assert len(holds(dirty, secrets)) > 1


async def test_other_screens_keep_nothing_that_was_taken_out(dirty: Path, secrets: Secrets) -> None:
    app = app_on(dirty)
    async with app.run_test(size=(120, 40)) as pilot:
        await rows_shown(pilot, app)
        await app.action_open_screen("sessions")
        sessions = app.page
        assert isinstance(sessions, SessionsPage)
        await until(pilot, lambda: sessions.sessions.cursor_row is not None)
        await app.action_open_screen("redactions")
        await rows_shown(pilot, app)
        await app.action_perform("redactions.scrub")
        await confirm_scrub(pilot, app)
        await pilot.press("enter")
        await app.action_open_screen("sessions")
        assert app.page is not sessions


async def test_nothing_to_scrub_is_said(tmp_path: Path) -> None:
    app = app_on(make_workspace(tmp_path / "w", talk(Secrets())))
    async with app.run_test(size=(80, 24)) as pilot:
        await rows_shown(pilot, app)
        dialog = await rescanned(pilot, app)
        said = report_text(dialog)
        assert said.startswith("✓ Today's filter would remove nothing.")
        assert "X takes it out" not in said
        # There is nothing to answer the report with.
        await pilot.press("X")
        assert app.screen is dialog
        await pilot.press("enter")
        await app.action_perform("redactions.scrub")
        done = await confirm_scrub(pilot, app)
        assert report_text(done).startswith("✓ There was nothing to remove.")


async def test_read_only_looks_and_does_not_scrub(dirty: Path) -> None:
    app = app_on(dirty, read_only=True)
    async with app.run_test(size=(80, 24)) as pilot:
        page = await rows_shown(pilot, app)
        assert app.reason_of("redactions.scrub") == "the workspace was opened read-only"
        assert app.reason_of("redactions.rescan") == ""
        dialog = await rescanned(pilot, app)
        assert "A scrub is not possible now: the workspace was opened read-only." in report_text(dialog)
        await pilot.press("X")
        assert app.screen is dialog
        assert page.job is not None and page.job.report is not None and page.job.report.found == 9


class Gate:
    """Holds a rescan at its first word until it is let go."""

    def __init__(self) -> None:
        self.reached = threading.Event()
        self.open = threading.Event()

    def hold(self, workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
        real = workspace.rescan

        def held(*, progress: Callable[..., object], cancelled: Callable[[], bool]) -> Any:
            def tell(done: int, total: int | None, note: str) -> None:
                progress(done, total, note)
                if note == "events":
                    self.reached.set()
                    assert self.open.wait(20)

            return real(progress=tell, cancelled=cancelled)

        monkeypatch.setattr(workspace, "rescan", held)


async def held_rescan(
    pilot: Pilot[None], app: RedactionsApp, monkeypatch: pytest.MonkeyPatch
) -> tuple[RedactionsPage, LookDialog, Gate]:
    page = await rows_shown(pilot, app)
    assert app.workspace is not None
    gate = Gate()
    gate.hold(app.workspace, monkeypatch)
    await app.action_perform("redactions.rescan")
    dialog = await look_open(pilot, app)
    await asyncio.to_thread(gate.reached.wait, 10)
    return page, dialog, gate


async def test_a_rescan_shows_how_far_it_is_and_is_stopped(
    dirty: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = app_on(dirty)
    async with app.run_test(size=(80, 24)) as pilot:
        _, dialog, gate = await held_rescan(pilot, app, monkeypatch)
        await until(pilot, lambda: "looking at" in whole_screen(app) and " %" in whole_screen(app))
        assert "x stop" in whole_screen(app)
        # Enter does not close what runs.
        await pilot.press("enter")
        assert app.screen is dialog
        await pilot.press("x")
        await until(pilot, lambda: "stopping …" in whole_screen(app))
        gate.open.set()
        await until(pilot, lambda: not dialog.job.running and bool(dialog._pane.blocks))
        assert "The rescan was stopped; nothing was changed." in report_text(dialog)
        await pilot.press("y", "enter")
        assert app.workspace is not None
        assert app.workspace.jobs.page(1)[0].status == "stopped"


async def test_a_closed_dialog_lets_the_rescan_go_on(dirty: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    app = app_on(dirty)
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        page, dialog, gate = await held_rescan(pilot, app, monkeypatch)
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is page)
        assert "rescan" in app.status_text()
        assert app.reason_of("redactions.scrub").startswith("a job is running")
        assert app.reason_of("redactions.backups") == "a job is running: rescan"
        # Its key shows it again.
        await app.action_perform("redactions.rescan")
        again = await look_open(pilot, app)
        assert again is not dialog and again.job is dialog.job
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is page)
        gate.open.set()
        await until(pilot, lambda: page.reported is not None)
        await until(
            pilot, lambda: any("9 secrets would be removed" in toast.message for toast in app._notifications)
        )
        assert app.reason_of("redactions.report") == ""


async def test_stopping_from_the_screen(dirty: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    app = app_on(dirty)
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        page, _, gate = await held_rescan(pilot, app, monkeypatch)
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is page)
        await app.action_perform("redactions.stop")
        assert app.reason_of("redactions.stop") == "it is stopping"
        gate.open.set()
        await until(pilot, lambda: page.job is not None and not page.job.running)
        await until(
            pilot, lambda: any("nothing was changed" in toast.message for toast in app._notifications)
        )
        assert app.reason_of("redactions.stop") == "nothing of this screen is running"


async def test_a_failure_is_shown_with_its_hint(dirty: Path) -> None:
    app = app_on(dirty)
    async with app.run_test(size=(80, 24)) as pilot:
        await rows_shown(pilot, app)
        with Workspace.open(dirty) as other, other.jobs.run("scrub", "another scrub", lease=LEASE):
            await app.action_perform("redactions.scrub")
            done = await confirm_scrub(pilot, app)
            said = report_text(done)
            assert said.startswith("The scrub ended early")
            assert "stop it on the Jobs screen" in said and "workbench" not in said


async def test_the_backups_are_looked_into(dirty: Path) -> None:
    (dirty / "backups" / "notes.txt").write_text("nothing secret\n")
    app = app_on(dirty)
    async with app.run_test(size=(120, 40)) as pilot:
        page = await rows_shown(pilot, app)
        page.pane.show_side("backups")
        await until(pilot, lambda: "? backups/old.db" in pane_text(page))
        assert "b looks whether they hold" in pane_text(page)
        await app.action_perform("redactions.backups")
        await until(pilot, lambda: page.job is not None and not page.job.running)
        await until(pilot, lambda: "1 of 2 holds some" in pane_text(page))
        said = pane_text(page)
        assert "! backups/old.db\n  still holds some · up to event 19" in said
        assert "· backups/notes.txt\n  holds none" in said
        assert "b looks again" in said
        # A file that comes later was not looked into.
        (dirty / "backups" / "later.db").write_bytes((dirty / "backups" / "old.db").read_bytes())
        page.pane.show_side("backups")
        await until(pilot, lambda: "? backups/later.db" in pane_text(page))
        assert app.workspace is not None
        outcome = "of the backups, 1 of 2 holds some\nwarning: backups/old.db still holds some"
        assert app.workspace.jobs.page(1)[0].outcome == outcome
        assert found_something(app.workspace.jobs.page(1)[0])


async def test_a_look_into_the_backups_is_stopped(dirty: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    app = app_on(dirty)
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        page = await rows_shown(pilot, app)
        reached, go_on = threading.Event(), threading.Event()
        real = backups_module.backup_state

        def held(path: Path, *others: Any) -> Any:
            reached.set()
            assert go_on.wait(20)
            return real(path, *others)

        monkeypatch.setattr(backups_module, "backup_state", held)
        (dirty / "backups" / "second.db").write_bytes((dirty / "backups" / "old.db").read_bytes())
        await app.action_perform("redactions.backups")
        await asyncio.to_thread(reached.wait, 10)
        await until(pilot, lambda: "looking … 0 %" in pane_text(page))
        assert app.reason_of("redactions.rescan") == "the backups are being looked into"
        await app.action_perform("redactions.stop")
        go_on.set()
        await until(pilot, lambda: page.job is not None and not page.job.running)
        await until(pilot, lambda: any("was stopped" in toast.message for toast in app._notifications))
        assert "? backups/old.db" in pane_text(page)


async def test_no_backups(tmp_path: Path) -> None:
    app = app_on(make_workspace(tmp_path / "w"))
    async with app.run_test(size=(120, 40)) as pilot:
        page = await rows_shown(pilot, app)
        page.pane.show_side("backups")
        await until(pilot, lambda: "No copy of the database lies in the workspace" in pane_text(page))
        await app.action_perform("redactions.scrub")
        await until(pilot, lambda: isinstance(app.screen, TypedConfirmDialog))
        await until(pilot, lambda: "There are no backups in the workspace." in whole_screen(app))
