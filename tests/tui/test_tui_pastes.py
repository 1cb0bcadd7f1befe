"""What a terminal pastes is taken as it is, whatever stands in it and wherever reading it is cut."""

from __future__ import annotations

import os
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from textual import events
from textual.app import App
from textual.widgets import Input

import workbench
from tests.benchmarks.pty_harness import PtyProgram
from tests.tui.redactions_probe import app_on, make_workspace, rows_shown
from tests.tui.shell_probe import until
from workbench.tui.dialogs.prompt import PromptDialog
from workbench.tui.pastes import BEGIN, END, PasteParser, drawable, take_pastes_as_they_are

_TEXTS = st.lists(
    st.sampled_from(["a", "x ", "\x1b", "\x1b[", "3", "1m", "200~", "201", "~", "\r", "é", "日"]), max_size=20
).map("".join)


def read(pieces: list[str]) -> list[str]:
    """What a parser makes of input that comes in these pieces: pasted texts, and keys by name."""
    parser, said = PasteParser(), []
    for piece in pieces:
        for message in parser.feed(piece):
            if isinstance(message, events.Paste):
                said.append(f"paste {message.text!r}")
            elif isinstance(message, events.Key):
                said.append(message.key)
    return said


def test_escape_sequences_in_a_paste_are_its_text() -> None:
    text = "x \x1b[31mRED\x1b[0m \x1b]52;c;x\x07\x1b[A"
    assert read([f"a{BEGIN}{text}{END}b\x1b[A"]) == ["a", f"paste {text!r}", "b", "up"]


@given(_TEXTS.filter(lambda text: END not in text), st.lists(st.integers(0, 60), max_size=6))
def test_a_paste_is_the_same_wherever_it_is_cut(text: str, cuts: list[int]) -> None:
    whole = f"a{BEGIN}{text}{END}b"
    ends = sorted({0, len(whole), *(min(cut, len(whole)) for cut in cuts)})
    pieces = [whole[start:end] for start, end in pairwise(ends)]
    before, _, rest = whole.removeprefix(f"a{BEGIN}").partition(END)
    assert read(pieces)[:2] == ["a", f"paste {before!r}"]
    assert rest == "b" and read(pieces) == read([whole])


def test_two_pastes_and_keys_between_them() -> None:
    assert read([f"{BEGIN}1{END}x{BEGIN}2\x00{END}"]) == ["paste '1'", "x", "paste '2'"]


@given(st.text())
def test_what_a_line_takes_holds_no_sign_that_steers_a_terminal(text: str) -> None:
    taken = drawable(text)
    assert not any(ord(sign) < 0x20 or 0x7F <= ord(sign) < 0xA0 for sign in taken if sign not in "\t\n\r")
    assert [sign for sign in text if sign.isprintable()] == [sign for sign in taken if sign.isprintable()]


def test_the_driver_of_a_terminal_reads_with_it() -> None:
    """In a process of its own: what a driver reads with is the same for all programs of one."""
    script = (
        "import sys; from textual.app import App; from textual.drivers import linux_driver\n"
        "from workbench.tui.pastes import PasteParser, take_pastes_as_they_are\n"
        "take_pastes_as_they_are(App(driver_class=linux_driver.LinuxDriver))\n"
        "sys.exit(0 if linux_driver.XTermParser is PasteParser else 1)"
    )
    environment = {**os.environ, "PYTHONPATH": str(Path(workbench.__file__).parents[1])}
    assert subprocess.run([sys.executable, "-c", script], env=environment).returncode == 0


def test_a_program_without_a_terminal_has_nothing_to_take() -> None:
    app: App[None] = App()
    take_pastes_as_they_are(app)


async def test_a_line_takes_what_it_can_draw(tmp_path: Path) -> None:
    app = app_on(make_workspace(tmp_path / "w"))
    async with app.run_test(size=(80, 24)) as pilot:
        await rows_shown(pilot, app)
        await pilot.press("colon")
        await until(pilot, lambda: isinstance(app.screen, PromptDialog) and app.focused is not None)
        app.post_message(events.Paste("12\x1b[31m\x9b\u202e4\x07"))
        await until(pilot, lambda: bool(app.screen.query_one(Input).value))
        assert app.screen.query_one(Input).value == "12[31m4"


def test_a_terminal_pastes_into_the_scratch_pad_in_order(tmp_path: Path) -> None:
    root = make_workspace(tmp_path / "w")
    environment = {
        "PYTHONPATH": str(Path(workbench.__file__).parents[1]),
        "WORKBENCH_STATE_DIR": str(tmp_path / "state"),
        "WORKBENCH_CONFIG_DIR": str(tmp_path / "config"),
    }
    start = "import sys; from workbench.cli import main; sys.exit(main())"
    command = [sys.executable, "-c", start, "open", "--screen", "redactions", "--root", str(root)]
    with PtyProgram(command, columns=80, rows=24, env=environment) as program:
        program.wait_for("Nothing was removed yet")
        program.send(b"p")
        program.wait_for("There is no text yet.")
        program.send(f"{BEGIN}x \x1b[31mRED\x1b[0m end{END}".encode())
        program.wait_for("x ␛[31mRED␛[0m end")
