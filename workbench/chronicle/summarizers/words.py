"""Texts of strangers made fit to be told: no terminal's commands, no identifiers, not too long.

What an agent, a program or a model said passes through here on its way to a summarizer and on its way
back. Sizes are in characters.
"""

from __future__ import annotations

import re
import unicodedata

from workbench.redaction import default_filter

ELLIPSIS = "…"
IDENTIFIER = "(id)"
"""Stands where an identifier stood."""
MOST_READ = 1 << 20
"""Of one text; what stands behind is not looked at."""
_REACH = 16 * 1024
"""Looked at behind `MOST_READ`, so that no key block is cut in two."""
_MARKER = "[REDACTED:"
_LONGEST_MARKER = 80

_ESCAPES = re.compile(
    r"\x1b\][^\x07\x1b\n]*(?:\x07|\x1b\\)?"  # operating system commands: titles, links, the clipboard
    r"|\x1b[PX^_][^\x1b\n]*(?:\x1b\\)?"
    r"|(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]?"
    r"|\x1b[ -/]*[0-~]?"
)
_BREAKS = re.compile(r"\r\n?|[\x0b\x0c\x85\u2028\u2029]")
# Bidirectional and invisible characters; the two joiners stay, which writing systems and emoji need.
_UNSEEN = re.compile(
    "[\x00-\x08\x0e-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff"
    "\ufff9-\ufffb\U000e0000-\U000e007f]"
)
_SURROGATES = re.compile("[\ud800-\udfff]")
_BLANKS = re.compile(r"\s+")
_MANY_LINES = re.compile(r"\n\s*\n")

_NAMED = re.compile(
    r"(?<![0-9A-Za-z])(?:"
    r"[0-9A-Fa-f]{8}-(?:[0-9A-Fa-f]{4}-){3}[0-9A-Fa-f]{12}"
    r"|[0-9A-Fa-f]{32,}"
    r"|(?:(?:toolu|msg|call|req|resp|run|thread|rs|fc)_|chatcmpl-)(?=[A-Za-z]{0,40}[0-9])[A-Za-z0-9]{12,}"
    r")(?![0-9A-Za-z])"
)
# A day says when; to the second only machines speak. A time that a person wrote stays.
_STAMPS = re.compile(
    r"(?<!\d)(\d{4}-\d\d-\d\d)(?:T\d\d:\d\d(?::\d\d(?:[.,]\d{1,9})?)?| \d\d:\d\d:\d\d(?:[.,]\d{1,9})?)"
    r"(?:Z| ?[+-]\d\d:?\d\d)?"
)


def plain(text: str) -> str:
    """`text` without terminal escapes, control and invisible characters; breaks are `\\n`, tabs stay."""
    if "\x1b" in text or "\x9b" in text:
        text = _ESCAPES.sub("", text)
    text = _UNSEEN.sub("", _BREAKS.sub("\n", text))
    return text if text.isascii() else _SURROGATES.sub("\ufffd", text)


def masked(text: str) -> str:
    """`text` without what names one thing among many: UUIDs, digests, ids of calls; stamps become days.

    A short hash of a commit stays: people read and write those.
    """
    return _STAMPS.sub(r"\1", _NAMED.sub(IDENTIFIER, text))


def flat(text: str) -> str:
    """`text` on one line, blanks collapsed."""
    return _BLANKS.sub(" ", text).strip()


def told_text(text: str, limit: int, *, ends: bool = False) -> str:
    """A text as a summarizer may be told it: `plain`, filtered, `masked`, at most `limit` characters.

    It is filtered whole before it is cut, here or by whoever shortens it further, so that no piece of a
    secret is left that no rule knows; an ellipsis stands where it was cut. With `ends` its end stays too,
    which says how a program's output came out. Raises `FilterFailed`.
    """
    whole = True
    if len(text) > MOST_READ:
        text = text[: default_filter().cut_place(text[: MOST_READ + _REACH], MOST_READ)]
        whole = False
    text = _MANY_LINES.sub("\n\n", plain(text)).strip()
    text = masked(default_filter().redact_text(text)[0])
    if len(text) <= limit:
        return text if whole else text + ELLIPSIS
    if not ends or not whole or limit < 40:
        return shortened(text, limit)
    tail = _end(text, limit // 3)
    return f"{shortened(text, limit - len(tail) - 1)}\n{tail}"


def shortened(text: str, limit: int) -> str:
    """At most `limit` characters of a text that is filtered already, cut behind a sentence or a word.

    A marker of the filter is never cut in two.
    """
    if len(text) <= limit:
        return text
    if limit <= 1:
        return ELLIPSIS[:limit]
    place = _before_marker(text, limit - 1)
    found = [text.rfind(end, place * 2 // 3, place) for end in (". ", "! ", "? ", "\n", "。", ".\n")]
    if (sentence := max(found)) >= 0:
        place = sentence + 1
    elif (word := text.rfind(" ", place * 2 // 3, place)) >= 0:
        place = word
    else:
        while place and (unicodedata.combining(text[place]) or text[place] in "\u200c\u200d\ufe0f"):
            place -= 1
    return text[:place].rstrip(" \n,;:-") + ELLIPSIS


def _end(text: str, room: int) -> str:
    """The last lines that fit into `room`, or the end of the last one."""
    start = len(text) - room + 2
    opened = text.rfind(_MARKER, max(0, start - _LONGEST_MARKER), start)
    if opened >= 0 and (closed := text.find("]", opened)) >= start:
        start = closed + 1
    line = text.find("\n", start - 1)
    if 0 <= line < len(text) - room // 2:
        start = line + 1
    return f"{ELLIPSIS} {text[start:].lstrip()}"


def _before_marker(text: str, place: int) -> int:
    opened = text.rfind(_MARKER, max(0, place - _LONGEST_MARKER), place + len(_MARKER))
    if 0 <= opened < place and text.find("]", opened, place) < 0:
        return opened
    return place


def safe(prose: str) -> str:
    """What a summarizer hands out: `plain`, filtered, without blanks around it.

    Raises `FilterFailed`.
    """
    return default_filter().redact_text(plain(prose))[0].strip()
