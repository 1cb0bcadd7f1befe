"""Copying: what was sent, what is said about it, and the file for what is large."""

from __future__ import annotations

from pathlib import Path

import pytest

from workbench.tui.clipboard import OSC52_BYTES, copy_text


class Terminal:
    """Takes what is copied."""

    def __init__(self) -> None:
        self.taken: list[str] = []

    def copy_to_clipboard(self, text: str) -> None:
        self.taken.append(text)


def test_a_small_text_is_sent_and_success_is_not_claimed() -> None:
    terminal = Terminal()
    outcome = copy_text(terminal, "ünï", "the id", {})
    assert terminal.taken == ["ünï"]
    assert outcome.path is None
    assert outcome.sentence == (
        "Sent the id (5 bytes) to the terminal's clipboard by OSC 52; terminals do not confirm it."
    )


@pytest.mark.parametrize(
    ("environ", "words"),
    [
        ({"TMUX": "x"}, "set-clipboard on"),
        ({"SSH_TTY": "x"}, "Over SSH"),
        ({"SSH_CONNECTION": "x"}, "Over SSH"),
    ],
)
def test_what_stands_between_is_named(environ: dict[str, str], words: str) -> None:
    assert words in copy_text(Terminal(), "x", "the id", environ).sentence


def test_a_large_text_is_in_a_file_too() -> None:
    terminal = Terminal()
    text = "é" * (OSC52_BYTES // 2 + 1)
    outcome = copy_text(terminal, text, "the text", {})
    assert terminal.taken == [text]
    assert outcome.path is not None
    assert outcome.path.read_text("utf-8") == text
    assert outcome.path.stat().st_mode & 0o077 == 0
    assert str(outcome.path) in outcome.sentence


def test_a_file_that_cannot_be_written_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    blocker = tmp_path / "blocker"
    blocker.write_text("", encoding="utf-8")
    monkeypatch.setenv("WORKBENCH_STATE_DIR", str(blocker))
    outcome = copy_text(Terminal(), "x" * (OSC52_BYTES + 1), "the text", {})
    assert outcome.path is None
    assert "could not be written" in outcome.sentence


def test_half_a_surrogate_pair_can_be_copied() -> None:
    terminal = Terminal()
    copy_text(terminal, "a\ud83d", "the text", {})
    assert terminal.taken == ["a?"]
