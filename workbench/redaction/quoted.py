"""Passwords in quotes with signs that end a value elsewhere: blanks, other quotes, commas, a dollar sign.

(Contract redaction, assigned_secret.) `assigned` reads values up to the first such sign. Here a literal is
read to the quote that closes it, whatever its level of escaping, and judged whole. What holds none of these
signs is left to `assigned`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from workbench.redaction.engine import Pass, Span, any_of, compile_bytes
from workbench.redaction.names import PROBE, SECRET_NAME, utf8_or_escaped
from workbench.redaction.phrases import is_passphrase
from workbench.redaction.suffixes import SUFFIX
from workbench.redaction.values import (
    Place,
    holds_stand_in,
    is_human_name,
    is_mixed,
    is_reference,
    is_secret,
    is_template,
    is_uniform,
)

KIND = "assigned_secret"
LONGEST = 512
SHORTEST = 8

_HEAD = 160
_REMEMBERED = 512

_B = r"[ \t]*"
_QUOTE = r"""\\*["'`]"""
_SIGN = utf8_or_escaped(r"(?:[:!~]?={1,3}>?|:|：|＝)")
_TYPE = r"[&']{0,2}[A-Za-z_][A-Za-z0-9_.<>\[\]|? ]{0,40}"
_LITERAL = SECRET_NAME + "(?:{})".format(
    any_of(
        (
            rf"(?:[sS]{SUFFIX})?(?:{_QUOTE}\]?|\*\*|__)?{_B}{_SIGN}(?:\*\*|__)?{_B}(?:{_TYPE}={_B})?[bBuUrRfF@]{{0,2}}{_QUOTE}",
            rf"{_QUOTE}{_B},{_B}{_QUOTE}",
        )
    )
)

_OPENED = re.compile(rb"""(\\*)(["'`])\Z""")
_SPECIAL = re.compile(rb"""[ \t"'`\\,;$<>{}()\[\]=:*|&]""")
_CONTROL = re.compile(rb"[\x00-\x1f\x7f]")
_UNICODE = re.compile(rb"\\+u[0-9A-Fa-f]{4}")
_ESCAPE = re.compile(rb"""\\+([^\\])""")
# Code between two literals, calls, markup, patterns.
_CODE = re.compile(
    rb"""["'`][ \t]*[+.,:)\]}&|?;=>][ \t]|["'`][ \t]*\+|[A-Za-z]\([a-z]*\)|[A-Za-z_]\(["'`]"""
    rb"""|</[a-z]|[a-z"' ]/>|\(\?|\]\*|\]\+"""
)
_FILLED_IN = re.compile(rb"[$#%]\{[A-Za-z_][^{}]*\}|\{\{|<%|%\(|\$\([a-z]+[ )]|\{[A-Za-z_][a-z_.]*\}|%[sd]\Z")
_ESCAPED_LETTER = re.compile(rb"\\[A-Za-z0-9]")


class QuotedPass(Pass):
    """Names with a literal behind them that holds signs of a sentence or of code."""

    # 'pw="' and a value.
    shortest = 12

    def __init__(self) -> None:
        self._search = compile_bytes(_LITERAL, "quoted secrets")

    @property
    def probes(self) -> Sequence[str]:
        return [PROBE]

    def find(self, data: bytes) -> list[Span]:
        spans: list[Span] = []
        position = 0
        search = self._search.search
        # Kept for one text only: a secret must not outlive its removal.
        judged: dict[tuple[bytes, bytes], bool] = {}
        while True:
            found = search(data, position)
            if found is None:
                return spans
            start: int = found.end()
            position = start - 1
            end = literal_end(data, start)
            if end - start < SHORTEST:
                continue
            value = data[start:end]
            if _SPECIAL.search(value) is None or not _may_be_mixed(value):
                continue
            question = value, data[max(found.start(), start - _HEAD) : start]
            if b" " in value and b"," in question[1]:
                # Two arguments: the second is a message.
                continue
            answer = judged.get(question)
            if answer is None:
                if len(judged) > _REMEMBERED:
                    judged.clear()
                answer = judged[question] = is_quoted_secret(*question)
            if answer:
                spans.append(Span(start, end, KIND))
                position = end


def literal_end(data: bytes, start: int) -> int:
    """Where the literal whose quote ends at `start` ends; `start` if it is not closed on its line.

    A quote that is escaped n times is closed by one that is escaped as often: within each level of escaping
    a backslash is written twice.
    """
    opened = _OPENED.search(data, max(0, start - 32), start)
    if opened is None:
        return start
    depth = len(opened[1])
    sign = opened[2]
    stop = data.find(b"\n", start, start + LONGEST)
    stop = min(len(data), start + LONGEST) if stop < 0 else stop
    place = start
    while True:
        place = data.find(sign, place, stop)
        if place < 0:
            return start
        slashes = place - len(data[start:place].rstrip(b"\\")) - start
        if slashes % (2 * depth + 2) == depth:
            return place - depth
        place += 1


def _may_be_mixed(value: bytes) -> bool:
    """Whether `value` is no single word: in most quotes behind a name stands one, or a bit of code."""
    return (
        b" " in value
        or (value.upper() != value and value.lower() != value)
        or not value.isascii()
        or (value.translate(None, b"0123456789") != value)
    )


def is_quoted_secret(value: bytes, head: bytes) -> bool:
    """Whether `value`, all that stands in the quotes behind `head`, is a password."""
    if b"[REDACTED:" in value or not is_human_name(head) or _CONTROL.search(value):
        return False
    value = _UNICODE.sub(b"~", value)
    plain = _ESCAPE.sub(rb"\1", value)
    if len(plain) < SHORTEST or is_reference(plain) or holds_stand_in(plain) or is_uniform(plain):
        return False
    if b" " in plain or b"\t" in plain:
        return not is_template(plain) and _CODE.search(value) is None and is_passphrase(plain, head)
    if _FILLED_IN.search(plain) or plain[:1] in b"<{[(":
        return False
    if plain == value and is_secret(value, Place(head[-64:], True, False, b'"')):
        return True
    if _CODE.search(value) or (_ESCAPED_LETTER.search(value) and b"\\\\" not in value):
        return False
    return is_mixed(plain)
