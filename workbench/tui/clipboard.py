"""Copying text out of a terminal, and saying honestly what is known about the outcome.

A terminal takes a copy by the escape sequence OSC 52 and never answers, so no message claims success.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from workbench.locations import state_dir

OSC52_BYTES = 70_000
"""Texts above this size are written to a file as well: many terminals drop a longer sequence silently."""


class CopiesText(Protocol):
    """What can send a text to the terminal's clipboard."""

    def copy_to_clipboard(self, text: str) -> None:
        """Send `text`."""


@dataclass(frozen=True, slots=True)
class CopyOutcome:
    """What was done with a copied text: a sentence for a person, and the file, if one was written."""

    sentence: str
    path: Path | None = None


def copy_text(
    terminal: CopiesText, text: str, label: str, environ: Mapping[str, str] | None = None
) -> CopyOutcome:
    """Send `text` to the terminal's clipboard, and to a file where it is large."""
    environ = os.environ if environ is None else environ
    size = len(text.encode("utf-8", "surrogatepass"))
    sendable = text.encode("utf-8", "replace").decode("utf-8")
    terminal.copy_to_clipboard(sendable)
    sentence = (
        f"Sent {label} ({size:,} bytes) to the terminal's clipboard by OSC 52; terminals do not confirm it."
    )
    if environ.get("TMUX"):
        sentence += " Inside tmux this needs “set -g set-clipboard on”."
    elif environ.get("SSH_TTY") or environ.get("SSH_CONNECTION"):
        sentence += " Over SSH it goes to the clipboard of the machine you sit at."
    if size <= OSC52_BYTES:
        return CopyOutcome(sentence)
    try:
        path = _write_file(sendable)
    except OSError as error:
        return CopyOutcome(f"{sentence} It is large, and a file could not be written: {error.strerror}.")
    return CopyOutcome(f"{sentence} It is large; it is in {path} too.", path)


def _write_file(text: str) -> Path:
    folder = state_dir() / "copies"
    folder.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix="copy-", suffix=".txt", dir=folder)
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(text)
    return Path(name)
