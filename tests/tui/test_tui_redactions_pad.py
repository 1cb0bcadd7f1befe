"""The scratch pad: what the filter would remove from a text, of which nothing is kept."""

from __future__ import annotations

from pathlib import Path
from time import monotonic

import pytest
from textual import events
from textual.pilot import Pilot
from textual.widgets import TextArea

from tests.tui.redactions_probe import RedactionsApp, Secrets, app_on, holds, make_workspace, rows_shown
from tests.tui.shell_probe import until, whole_screen
from workbench.redaction import redact
from workbench.tui.document import Document
from workbench.tui.present import number
from workbench.tui.redactions import scratch_pad
from workbench.tui.redactions.scratch_pad import ScratchPad
from workbench.tui.widgets.text_pane import TextPane


async def pad_open(pilot: Pilot[None], app: RedactionsApp) -> ScratchPad:
    await rows_shown(pilot, app)
    await app.action_perform("redactions.pad")
    await until(pilot, lambda: isinstance(app.screen, ScratchPad) and app.screen.focused is not None)
    assert isinstance(app.screen, ScratchPad)
    return app.screen


def shown(pad: ScratchPad) -> str:
    return Document(pad.query_one(TextPane).blocks).plain(1_000_000)[0]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make_workspace(tmp_path / "w")


async def test_what_is_typed_is_filtered_after_a_pause(root: Path) -> None:
    app = app_on(root)
    async with app.run_test(size=(80, 24)) as pilot:
        pad = await pad_open(pilot, app)
        assert "There is no text yet." in whole_screen(app)
        await pilot.press(*"key jq [red]")
        await until(pilot, lambda: pad.counts == {})
        assert "Nothing would be removed." in whole_screen(app)
        # Letters are letters here, whatever they do elsewhere; markup is text.
        assert shown(pad) == "key jq [red]" and app.is_running


async def test_secrets_are_counted_by_kind_and_marked(root: Path) -> None:
    secrets = Secrets()
    app = app_on(root)
    async with app.run_test(size=(120, 40)) as pilot:
        pad = await pad_open(pilot, app)
        text = f"A={secrets.aws()}\n\nB={secrets.aws()}\n日本語 {secrets.github()} end"
        app.post_message(events.Paste(text))
        await until(pilot, lambda: pad.counts == {"aws_access_key": 2, "github_token": 1})
        assert "3 secrets would be removed: aws_access_key 2, github_token 1" in whole_screen(app)
        assert shown(pad) == redact(text).text == pad.filtered
        app.post_message(events.Paste(f" {secrets.openai()}"))
        await until(pilot, lambda: bool(pad.counts) and sum((pad.counts or {}).values()) == 4)
        await pilot.press("ctrl+l")
        await until(pilot, lambda: "There is no text yet." in whole_screen(app))
        assert pad.query_one(TextArea).text == "" and shown(pad) == ""


async def test_ten_megabytes_are_filtered_beside_the_screen(root: Path) -> None:
    secrets = Secrets()
    part = "a line of text that is as long as many others are in a log\n" * 40 + f"T={secrets.github()}\n"
    text = part * (10_000_000 // len(part) + 1)
    app = app_on(root)
    async with app.run_test(size=(80, 24)) as pilot:
        pad = await pad_open(pilot, app)
        began = monotonic()
        # As terminals send it.
        app.post_message(events.Paste(text.replace("\n", "\r")))
        await until(pilot, lambda: "too long to be edited here" in whole_screen(app))
        assert f"in {number(text.count(chr(10)) + 1)} lines" in whole_screen(app)
        # It stands there before the filter has gone through it, or as good as.
        assert monotonic() - began < 5
        await until(pilot, lambda: pad.counts == {"github_token": text.count("T=")}, 60)
        await pilot.press("G")
        await until(pilot, lambda: "T=[REDACTED:github_token]" in whole_screen(app))
        await pilot.press("ctrl+l", "o", "k")
        await until(pilot, lambda: pad.counts == {})
        assert shown(pad) == "ok"


async def test_a_paste_that_is_too_long_in_all_is_refused(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scratch_pad, "MOST_BYTES", 100_000)
    app = app_on(root)
    async with app.run_test(size=(80, 24)) as pilot:
        pad = await pad_open(pilot, app)
        app.post_message(events.Paste("x " * 60_000))
        await until(pilot, lambda: "try a part of it" in whole_screen(app))
        assert pad.counts is None and shown(pad) == ""


async def test_what_a_terminal_would_act_on_is_drawn_and_not_sent(root: Path) -> None:
    secrets = Secrets()
    app = app_on(root)
    async with app.run_test(size=(80, 24)) as pilot:
        pad = await pad_open(pilot, app)
        app.post_message(events.Paste(f"a\x1b[31mred\x1b]52;c;x\x07 \u202eevil\n{secrets.github()}"))
        await until(pilot, lambda: pad.counts == {"github_token": 1})
        screen = whole_screen(app)
        assert "it has signs that cannot be edited" in screen
        assert "\x1b" not in screen and "\x07" not in screen and "\u202e" not in screen
        # Another paste takes its place.
        app.post_message(events.Paste("plain"))
        await until(pilot, lambda: pad.counts == {})
        assert shown(pad) == "plain"


async def test_a_paste_stands_where_the_cursor_is(root: Path) -> None:
    """Also one whose signs cannot be edited: the text is what it would be, in its order."""
    app = app_on(root)
    async with app.run_test(size=(80, 24)) as pilot:
        pad = await pad_open(pilot, app)
        await pilot.press(*"onethree", *["left"] * 5)
        app.post_message(events.Paste(" x \x1b[31mRED "))
        await until(pilot, lambda: shown(pad) == "one x ␛[31mRED three")


async def test_a_filter_that_fails_is_said_and_nothing_is_shown(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    secrets = Secrets()
    fails: list[bool] = [False]

    def redacted(text: str) -> object:
        if fails[0]:
            raise RecursionError(f"too deep: {text}")
        return redact(text)

    monkeypatch.setattr("workbench.redaction.redact", redacted)
    app = app_on(root)
    async with app.run_test(size=(80, 24)) as pilot:
        pad = await pad_open(pilot, app)
        app.post_message(events.Paste(f"key {secrets.github()}"))
        await until(pilot, lambda: bool(pad.counts))
        fails[0] = True
        app.post_message(events.Paste(f" and {secrets.aws()}"))
        await until(pilot, lambda: "This text could not be filtered (RecursionError)" in whole_screen(app))
        assert "filtering" not in whole_screen(app)
        assert shown(pad) == pad.filtered == "" and pad.counts is None
        assert app.screen is pad and not app.unexpected
        fails[0] = False
        await pilot.press("x")
        await until(pilot, lambda: bool(pad.counts))
    # An error that quotes the text is written down nowhere.
    assert holds(tmp_path, secrets) == []


async def test_nothing_is_kept(root: Path, tmp_path: Path) -> None:
    secrets = Secrets()
    app = app_on(root)
    async with app.run_test(size=(80, 24)) as pilot:
        pad = await pad_open(pilot, app)
        app.post_message(events.Paste(f"key {secrets.github()} and {secrets.aws()}"))
        await until(pilot, lambda: bool(pad.counts))
        await pilot.press("escape")
        await until(pilot, lambda: not isinstance(app.screen, ScratchPad))
        assert pad._held == pad.filtered == ""
        again = await pad_open(pilot, app)
        assert again.query_one(TextArea).text == ""
        app.save_state()
    # Neither in the workspace nor in the person's state, settings or log.
    assert holds(tmp_path, secrets) == []


async def test_an_answer_for_an_older_text_is_not_shown(root: Path) -> None:
    app = app_on(root)
    async with app.run_test(size=(80, 24)) as pilot:
        pad = await pad_open(pilot, app)
        await pilot.press("a")
        await until(pilot, lambda: pad.counts == {})
        pad.post_message(scratch_pad._Filtered(pad._turn - 1, "older", {"github_token": 9}))
        await pilot.pause()
        assert pad.counts == {} and shown(pad) == "a"
