"""Prose that is Markdown, as plain words in one line: what a list shows of it."""

from __future__ import annotations

import re

_AT_START = re.compile(r"^[ \t]{0,8}(?:(?:#{1,6}|[-*+>]|\d{1,3}[.)])(?:[ \t]+|$))+", re.MULTILINE)
_HEADING = re.compile(r"(?<=\s)#{1,6}(?=\s)")
_AFTER_SENTENCE = re.compile(r"(?<=[.:!?…;]\s)(?:[-*+>]\s)+")
"""A mark of a list or a quotation whose line is one with the one before: elsewhere it may be a minus."""
_INLINE = re.compile(
    r"\\(?P<escaped>[!-/:-@\[-`{-~])"
    r"|(?P<fence>`+)(?P<code>[^`]+)(?P=fence)"
    r"|!?\[(?P<linked>[^\[\]\n]*)\]\([^()\s]*\)"
    r"|(?<![\w*])(?P<stars>\*{1,3})(?=[^\s*])(?P<starred>[^*\n]*[^\s*])(?P=stars)(?![\w*])"
    r"|(?<!\w)(?P<lows>_{1,3})(?=[^\s_])(?P<lowed>[^\n]*?[^\s_])(?P=lows)(?!\w)"
    r"|(?P<loose>\*\*|`)"
)
_NESTED = 3
"""Marks inside of marks, so deep."""


def plain_prose(prose: str) -> str:
    """A Markdown text, or the beginning of one, in one line and without its marks.

    Of a list it takes lines that are one line already, too. Code keeps what stands in it.
    """
    text = _AT_START.sub("", prose)
    text = _AFTER_SENTENCE.sub("", _HEADING.sub("", text))
    return " ".join(_inline(text, _NESTED).split())


def _inline(text: str, depth: int) -> str:
    def plain(found: re.Match[str]) -> str:
        if found["escaped"] or found["code"]:
            return found["escaped"] or found["code"]
        inner = found["linked"] or found["starred"] or found["lowed"] or ""
        return _inline(inner, depth - 1) if depth else inner

    return _INLINE.sub(plain, text)
