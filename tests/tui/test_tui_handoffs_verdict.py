"""The dialog of a verdict: its keys, its limits, and what it hands back; and how a verdict is written."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from textual import events
from textual.pilot import Pilot
from textual.widgets import TextArea

from tests.thorough import some
from tests.tui.shell_probe import EmptyPage, ProbeApp, make_workspace, opened, until, whole_screen
from workbench.memory.events import ReviewItem
from workbench.memory.reviews_written import MAX_COMMENT
from workbench.memory.views import Review
from workbench.tui.app import WorkbenchApp
from workbench.tui.dialogs.verdict import Choices, Judged, VerdictDialog
from workbench.tui.drafts import Verdict
from workbench.tui.present import number
from workbench.tui.verdicts import VerdictsWritten, ask_verdict, tell_verdicts, write_verdicts
from workbench.workspace import Workspace

LINE = ReviewItem(list="verification", index=1)
JUDGED = Judged(
    "checkpoint",
    "0190",
    "Checkpoint of atlas/importer",
    "Ship the importer",
    item=LINE,
    line="Under 200 MB [bold]",
    line_title="Verification, line 2",
)


class DeskPage(EmptyPage):
    """A screen that keeps what it is told of verdicts."""

    NAME = "desk"

    def __init__(self) -> None:
        super().__init__()
        self.told: list[VerdictsWritten] = []
        self.read_again = 0

    def on_verdicts_written(self, message: VerdictsWritten) -> None:
        self.told.append(message)
        tell_verdicts(self, message, self._again)

    def _again(self) -> None:
        self.read_again += 1


class DeskApp(ProbeApp):
    PAGES = (DeskPage,)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make_workspace(tmp_path / "w")


async def asked(pilot: Pilot[None], app: WorkbenchApp, judged: Judged = JUDGED) -> list[Verdict | None]:
    """Open the dialog; the list gets what it ends with."""
    ended: list[Verdict | None] = []
    app.push_screen(VerdictDialog(judged), ended.append)
    await until(pilot, lambda: isinstance(app.screen, VerdictDialog) and bool(app.screen.query("#comment")))
    await pilot.pause()
    return ended


async def test_nothing_is_preselected_and_three_keys_give_a_verdict(root: Path) -> None:
    app = ProbeApp(root)
    async with app.run_test(size=(100, 30)) as pilot:
        await opened(pilot, app)
        ended = await asked(pilot, app)
        await pilot.press("enter")
        assert "choose accepted, questioned or rejected first" in whole_screen(app)
        assert not ended
        await pilot.press("q", "tab", *"Why?", "enter", *"x", "ctrl+s")
        assert ended == [Verdict("questioned", "Why?\nx", None)]


async def test_the_line_is_judged_where_it_is_chosen(root: Path) -> None:
    app = ProbeApp(root)
    async with app.run_test(size=(100, 30)) as pilot:
        await opened(pilot, app)
        ended = await asked(pilot, app)
        assert "Ship the importer" in whole_screen(app)
        await pilot.press("w")
        assert "Under 200 MB [bold]" in whole_screen(app)
        await pilot.press("r", "enter")
        assert ended == [Verdict("rejected", "", LINE)]


async def test_arrows_choose_and_esc_gives_nothing(root: Path) -> None:
    app = ProbeApp(root)
    async with app.run_test(size=(100, 30)) as pilot:
        await opened(pilot, app)
        ended = await asked(pilot, app, Judged("fact", "0190", "A fact", "port = 80"))
        await pilot.press("right", "right")
        assert app.screen.query_one("#verdict", Choices).chosen == "questioned"
        assert not app.screen.query("#scope")
        await pilot.press("escape")
        assert ended == [None]


@pytest.mark.parametrize("size", some([(60, 15), (80, 24), (100, 27), (120, 40)], 2))
@pytest.mark.parametrize("of_line", [True, False])
async def test_a_long_text_leaves_room_for_all_else(root: Path, size: tuple[int, int], of_line: bool) -> None:
    """What is quoted is cut to what the screen leaves, whatever an error or an earlier verdict takes."""
    long = "importer keeps under the limit " * 40
    earlier = Review(
        id="r",
        reviewer="owner",
        verdict="questioned",
        comment=long,
        target_kind="checkpoint",
        target_id="0190",
        recorded_at="2026-01-01T00:00:00Z",
        position=1,
        item=None,
        line=None,
        current=True,
        prose_sha256=None,
    )
    judged = replace(JUDGED, line=long, text=long, of_line=of_line, earlier=earlier, line_earlier=earlier)
    app = ProbeApp(root)
    async with app.run_test(size=size) as pilot:
        await opened(pilot, app)
        app.push_screen(VerdictDialog(judged, Verdict("accepted", "x", None), f"not written: {long}"))
        await until(pilot, lambda: isinstance(app.screen, VerdictDialog) and bool(app.screen.query("#said")))
        for _ in range(2):
            await pilot.pause()
            screen = whole_screen(app)
            assert "questioned before by owner" in screen
            assert "importer keeps" in screen and "…" in screen
            assert "esc cancel" in screen and "╰" in screen
            panel = app.screen.query_one(".panel")
            assert panel.virtual_size.height <= panel.size.height
            await pilot.press("r")
        assert f"1 of {number(MAX_COMMENT)} characters" in whole_screen(app)


async def test_what_is_chosen_has_a_mark(root: Path) -> None:
    app = ProbeApp(root)
    async with app.run_test(size=(60, 15)) as pilot:
        await opened(pilot, app)
        await asked(pilot, app)
        assert "● the whole" in whole_screen(app) and "○ this line" in whole_screen(app)
        assert "○ ✓ accepted" in whole_screen(app)
        await pilot.press("w", "q")
        assert "○ the whole" in whole_screen(app) and "● this line" in whole_screen(app)
        assert "○ ✓ accepted" in whole_screen(app) and "● ? questioned" in whole_screen(app)
        await pilot.click("#verdict", offset=(5, 0))
        assert "● ✓ accepted" in whole_screen(app) and "○ ? questioned" in whole_screen(app)


async def test_a_paste_is_taken_without_what_cannot_stand(root: Path) -> None:
    family = "\U0001f468\u200d\U0001f469\u200d\U0001f467"
    app = ProbeApp(root)
    async with app.run_test(size=(80, 24)) as pilot:
        await opened(pilot, app)
        await asked(pilot, app)
        await pilot.press("tab")
        area = app.screen.query_one(TextArea)
        app.post_message(events.Paste(f"a\x1b[1m\u202eb {family}\r\nc"))
        await until(pilot, lambda: bool(area.text))
        assert area.text == "a[1mb \U0001f468\U0001f469\U0001f467\nc"
        await until(pilot, lambda: "4 invisible or control characters" in whole_screen(app))
        assert "left out" in whole_screen(app)
        await pilot.press("x")
        assert "left out" not in whole_screen(app)


async def test_a_paste_that_is_far_too_long_is_refused_in_words(root: Path) -> None:
    app = ProbeApp(root)
    async with app.run_test(size=(80, 24)) as pilot:
        await opened(pilot, app)
        await asked(pilot, app)
        await pilot.press("tab")
        app.post_message(events.Paste("word " * 2_000))
        await until(pilot, lambda: "the pasted text is far too long" in whole_screen(app))
        await pilot.pause()
        assert "the pasted text is far too long" in whole_screen(app)
        assert app.screen.query_one(TextArea).text == ""


async def test_a_comment_that_is_too_long_stays_to_be_shortened(root: Path) -> None:
    app = ProbeApp(root)
    async with app.run_test(size=(60, 15)) as pilot:
        await opened(pilot, app)
        ended = await asked(pilot, app)
        await pilot.press("a")
        area = app.screen.query_one(TextArea)
        area.text = "x" * (MAX_COMMENT + 1)
        await pilot.pause()
        assert f"{number(4001)} of {number(4000)} characters: too long" in whole_screen(app)
        await pilot.press("enter")
        assert "shorten it" in whole_screen(app)
        assert not ended
        area.text = "x" * MAX_COMMENT
        await pilot.press("ctrl+s")
        assert ended == [Verdict("accepted", "x" * MAX_COMMENT, None)]


async def test_a_verdict_is_written_and_one_that_is_refused_is_offered_again(root: Path) -> None:
    with Workspace.open(root) as workspace:
        receipt = workspace.memory.record_event("The port is 80", agent="codex")
    app = DeskApp(root)
    async with app.run_test(size=(100, 30)) as pilot:
        await opened(pilot, app)
        page = app.page
        assert isinstance(page, DeskPage)
        ask_verdict(page, Judged("observation", receipt.observation_id, "An observation", "The port is 80"))
        await until(pilot, lambda: isinstance(app.screen, VerdictDialog) and bool(app.screen.query("#said")))
        await pilot.press("r", "enter")
        await until(pilot, lambda: len(page.told) == 1)
        assert page.told[0].error is None
        assert page.read_again == 1
        write_verdicts(page, [(JUDGED, Verdict("accepted", "as typed", None))])
        await until(pilot, lambda: len(page.told) == 2)
        await until(pilot, lambda: isinstance(app.screen, VerdictDialog) and bool(app.screen.query("#said")))
        await pilot.pause()
        assert app.screen.query_one(TextArea).text == "as typed"
        assert "not written: there is no checkpoint of this id" in whole_screen(app)
        assert page.read_again == 1
    with Workspace.open(root) as workspace:
        (review,) = workspace.memory.reviews(raw=True).reviews
        assert (review.verdict, review.target_id) == ("rejected", receipt.observation_id)
