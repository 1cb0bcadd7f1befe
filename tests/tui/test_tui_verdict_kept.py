"""A verdict's words outlive a lock, a refusal and esc, on each screen that takes verdicts."""

from __future__ import annotations

from pathlib import Path

from textual.pilot import Pilot
from textual.widgets import TextArea

from tests.tui import facts_probe, handoffs_probe
from tests.tui.shell_probe import until, whole_screen
from tests.tui.test_tui_leading import on_event
from tests.tui.travel_probe import make_story, story_app
from tests.tui.trouble_probe import locked
from tests.workspace.handoff_cases import Desk, make_desk
from workbench.memory.reviews_written import ReviewReceipt
from workbench.tui.app import WorkbenchApp
from workbench.tui.dialogs.verdict import Choices, Judged, VerdictDialog
from workbench.tui.drafts import Verdict
from workbench.tui.verdicts import write_verdicts
from workbench.workspace import Workspace


async def judging(pilot: Pilot[None], app: WorkbenchApp) -> VerdictDialog:
    """Press the key and wait for the dialog."""
    await pilot.press("r")
    await until(pilot, lambda: isinstance(app.screen, VerdictDialog) and bool(app.screen.query(".keys")))
    await pilot.pause()
    dialog = app.screen
    assert isinstance(dialog, VerdictDialog)
    return dialog


def notices(app: WorkbenchApp) -> str:
    return " ".join(str(each.message) for each in app._notifications)


def last_review(root: Path) -> tuple[str, str]:
    with Workspace.open(root, read_only=True) as workspace:
        review = workspace.memory.reviews(limit=1, raw=True).reviews[0]
        return review.verdict, review.comment


async def test_a_lock_that_outlasts_the_patience_costs_no_word(tmp_path: Path) -> None:
    root = make_desk(tmp_path / "w")
    app = handoffs_probe.app_on(root)
    async with app.run_test(size=(120, 40)) as pilot:
        page = await handoffs_probe.shown(pilot, app)
        with locked(root):
            dialog = await judging(pilot, app)
            await pilot.press("q", "tab", *"Who owns it?", "ctrl+s")
            await until(pilot, lambda: "Not recorded." in whole_screen(app))
        assert app.screen is dialog
        assert dialog.comment == "Who owns it?"
        await pilot.press("ctrl+s")
        await until(pilot, lambda: app.screen is page)
        await until(pilot, lambda: page.waiting == 2)
    assert last_review(root) == ("questioned", "Who owns it?")


async def refused_and_given_again(pilot: Pilot[None], app: WorkbenchApp, root: Path) -> None:
    """The memory refuses the reviewer's name; once that is mended the same words are taken."""
    assert app.workspace is not None
    owner, manifest = app.workspace.owner, app.workspace.layout.manifest
    page, kept = app.screen, manifest.read_text()
    dialog = await judging(pilot, app)
    manifest.write_text(kept.replace(f'"{owner}"', f'"{"a" * 300}"'))
    await pilot.press("r", "tab", *"Not so.", "ctrl+s")
    await until(pilot, lambda: "Not recorded." in whole_screen(app))
    assert app.screen is dialog and dialog.comment == "Not so."
    manifest.write_text(kept)
    await pilot.press("ctrl+s")
    await until(pilot, lambda: app.screen is page)
    assert last_review(root) == ("rejected", "Not so.")


async def test_a_refused_verdict_on_a_fact_stays_to_be_given_again(tmp_path: Path) -> None:
    root = facts_probe.full(tmp_path / "w")
    app = facts_probe.app_on(root)
    async with app.run_test(size=(120, 40)) as pilot:
        await facts_probe.rows_shown(pilot, app)
        await refused_and_given_again(pilot, app, root)


async def test_a_refused_verdict_on_the_timeline_stays_to_be_given_again(tmp_path: Path) -> None:
    root = make_story(tmp_path / "w")
    app = story_app(root)
    async with app.run_test(size=(120, 40)) as pilot:
        await on_event(pilot, app, 8)
        await refused_and_given_again(pilot, app, root)


async def test_a_checkpoint_that_comes_behind_the_dialog_is_told_before_and_after_and_stays_new(
    tmp_path: Path,
) -> None:
    root = make_desk(tmp_path / "w")
    app = handoffs_probe.app_on(root)
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        page = await handoffs_probe.shown(pilot, app)
        row = page.cursor_handoff
        assert row is not None
        await judging(pilot, app)
        with Desk(root, new=False) as desk:
            desk.hand_off(f"{row.project}/{row.task_id}", "A newer goal", agent="glm")
        told = "a newer checkpoint came meanwhile: enter gives your verdict on the older one"
        await until(pilot, lambda: told in whole_screen(app))
        await pilot.press("tab")
        await until(pilot, lambda: "meanwhile: ctrl-s gives" in whole_screen(app))
        await pilot.press("shift+tab", "a")
        await until(pilot, lambda: told in whole_screen(app))
        await pilot.press("enter")
        await until(pilot, lambda: app.screen is page)
        said = "You accepted an older checkpoint: the next agent starts from a newer one."
        await until(pilot, lambda: said in notices(app))
        assert "the next agent reads" not in notices(app)
        with Workspace.open(root, read_only=True) as workspace:
            since = workspace.memory.since_review(row.project, row.task_id)
            assert [each.text for each in since.observations] == ["Handing off: A newer goal"]
        # The same for several at once, of which one was handed off since they were read.
        judged = Judged("checkpoint", row.checkpoint_id, "", "")
        other = next(each for each in page.handoffs.visible_rows if each.key != row.key)
        beside = Judged("checkpoint", other.checkpoint_id, "", "")
        write_verdicts(page, [(each, Verdict("accepted", "", None)) for each in (judged, beside)])
        told = "2 verdicts written. A newer checkpoint came to 1 of these tasks meanwhile."
        await until(pilot, lambda: told in notices(app))


async def test_a_verdict_given_before_the_commit_is_noticed_waits_for_a_second_word(tmp_path: Path) -> None:
    root = make_desk(tmp_path / "w")
    app = handoffs_probe.app_on(root)
    newest = [0]
    async with app.run_test(size=(120, 40)) as pilot:
        page = await handoffs_probe.shown(pilot, app)
        row, workspace = page.cursor_handoff, app.workspace
        assert row is not None and workspace is not None
        given: list[Verdict] = []

        def write(verdict: Verdict) -> ReviewReceipt:
            given.append(verdict)
            return workspace.review("checkpoint", row.checkpoint_id, verdict.verdict, verdict.comment)

        judged = Judged("checkpoint", row.checkpoint_id, "A checkpoint", row.goal)
        dialog = VerdictDialog(judged, write=write, newer=lambda: newest[0])
        app.push_screen(dialog)
        await until(pilot, lambda: app.screen is dialog and dialog._told_of == 0)
        newest[0] = 99
        await pilot.press("a", "enter")
        await until(pilot, lambda: "a newer checkpoint came meanwhile: enter gives" in whole_screen(app))
        assert not given
        await pilot.press("enter")
        await until(pilot, lambda: app.screen is page)
        assert given == [Verdict("accepted", "", None)]


async def test_words_that_esc_left_are_there_again_for_the_same_target_only(tmp_path: Path) -> None:
    root = make_desk(tmp_path / "w")
    app = handoffs_probe.app_on(root)
    async with app.run_test(size=(120, 40)) as pilot:
        page = await handoffs_probe.shown(pilot, app)
        await judging(pilot, app)
        await pilot.press("q", "tab", *"half a th", "escape")
        await until(pilot, lambda: app.screen is page)
        assert "Kept as a draft: r opens it again." in notices(app)
        await pilot.press("j")
        await handoffs_probe.shown(pilot, app)
        dialog = await judging(pilot, app)
        assert dialog.comment == ""
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is page)
        await pilot.press("k")
        await handoffs_probe.shown(pilot, app)
        dialog = await judging(pilot, app)
        assert dialog.comment == "half a th"
        assert dialog.query_one("#comment", TextArea).cursor_location == (0, len("half a th"))
        assert dialog.query_one("#verdict", Choices).chosen == "questioned"
        await pilot.press("ctrl+s")
        await until(pilot, lambda: app.screen is page)
        assert (await judging(pilot, app)).comment == "", "what was given is no draft any more"
    assert last_review(root) == ("questioned", "half a th")
