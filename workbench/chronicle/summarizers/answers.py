"""What of an answer, a model's or a program's, may become prose."""

from __future__ import annotations

from workbench.chronicle.summarizers.errors import SummarizerOutput
from workbench.chronicle.summarizers.words import flat, plain, safe, shortened

MOST_ANSWER = 1024 * 1024
"""Bytes of UTF-8; a larger one is no summary of anything."""
_COMPLAINT = 300


def prose(text: str) -> str:
    """An answer without terminal escapes, control characters and secrets.

    Raises `SummarizerOutput` for one that says nothing or is too large, and `FilterFailed`.
    """
    if len(text.encode("utf-8", "replace")) > MOST_ANSWER:
        raise SummarizerOutput(f"the summarizer answered with more than {MOST_ANSWER:,} bytes")
    said = safe(text)
    if not said:
        raise SummarizerOutput("the summarizer answered with nothing")
    return said


def decoded(data: bytes) -> str:
    """An answer's bytes as text. Raises `SummarizerOutput` for what is not UTF-8."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise SummarizerOutput(f"the summarizer’s answer is not UTF-8 (at byte {error.start + 1})") from None


def complaint(text: str) -> str:
    """What a program or an endpoint said of its failure, for a message: one line, filtered, not long."""
    lines = [line for each in plain(text).split("\n") if (line := flat(each))]
    return shortened(safe(lines[-1]), _COMPLAINT) if lines else ""
