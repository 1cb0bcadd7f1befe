"""How key material is written: line ends, blanks and base64 characters as they are and in escaped forms.

Every constant is an expression for RE2 over bytes. A text may hold other text that was printed as JSON, as an
address or as a page, more than once; what stands for a line end there is a line end here.
"""

from __future__ import annotations

import re

_AGAIN = "(?:25)*"
"""An address that was escaped again writes `%250A` for `%0A`."""

_PLAIN_EOL = (
    r"(?:<br ?/?>|&#(?:10|13|x0?[aAdD]);"
    rf"|%{_AGAIN}0[dD]%{_AGAIN}0[aA]|%{_AGAIN}0[aAdD])"
)
EOL = rf"(?:\\*\r?\n|\r|\\+r\\+n|\\+[nr]|\\+u000[aAdD]|\\+x0[aAdD]|{_PLAIN_EOL})"
"""One line end, as it is or escaped; a backslash before a real one continues the line."""

BLANK = (
    r"(?:[ \t\x0b\x0c]|\\+[tvf]|\\+u00(?:20|[aA]0|09)|\xc2\xa0|&nbsp;|&#(?:32|160|9|x20|x[aA]0);"
    rf"|%{_AGAIN}(?:20|09))"
)
"""One blank."""

SEPARATOR = rf"(?:{EOL}|{BLANK}|\\+u[0-9A-Fa-f]{{4}}|\+|=20|\xe2\x80[\x80-\x8f\xaf]|\xe3\x80\x80)"
"""What may stand between the words of a marker line."""

DASH = (
    rf"(?:-|%{_AGAIN}2[dD]|\\+u002[dD]|\\+x2[dD]|&#(?:45|x2[dD]);|&(?:hyphen|dash);"
    r"|\xe2\x80[\x90-\x95]|\\+u201[0-5])"
)
"""One dash of a marker line."""

MARKS = (
    rf"(?:{BLANK}|[>|#*!;]|//|&gt;|\xe2\x94[\x82\x83]|\\+u250[23]|\x1b\[[0-9;]*m"
    rf"|[+-]|[0-9]{{1,7}}(?:[.:)|\t]|{BLANK}|\xe2\x86\x92|\\+u2192))*"
)
"""What listings, quotes, comments, differences and lists put before a line: marks and a line's number."""

_ESCAPED = (
    r"\\+(?:/|u00(?:2[bBfF]|3[dD]|5[fF])|x2[bBfF])"
    rf"|%{_AGAIN}(?:2[BbFf]|3[Dd]|5[Ff])|&#(?:43|47|x2[bBfF]);"
)
"""Base64 characters that JSON, addresses and pages escape."""

RUN_CHARACTER = rf"(?:[A-Za-z0-9+/_-]|{_ESCAPED})"
PAD = rf"(?:(?:=|\\+u003[dD]|%{_AGAIN}3[Dd]|&#(?:61|x3[dD]);){{1,2}})"


def run(least: int) -> str:
    """An expression for a run of `least` or more base64 characters of either alphabet, with its padding."""
    return rf"(?:[A-Za-z0-9+/_]{RUN_CHARACTER}{{{least - 1},}}{PAD}?)"


NEXT_LINE = rf"(?:{BLANK}*{EOL}{MARKS})"
"""From the end of one line of a body to the beginning of the next."""

SEAM = (
    r"(?:\\++(?:r\\++n|[nrtvf]|u(?:000[aAdD9]|00(?:20|[aA]0|2[27]|3[cCeE])|2192|250[23])|x0[aAdD]|\r?\n)?"
    rf"|[0-9]{{1,7}}(?:[.:)|\t]|{BLANK}|\xe2\x86\x92|\\u2192)|[ \t\r\n]|{_PLAIN_EOL}|{BLANK}"
    r"|&(?:quot|#34|#39|gt|lt);|\xe2\x94[\x82\x83]|\x1b\[[0-9;]*m|//|[\"'`,;+.()\[\]{}<>|#*!&-])"
)
"""One piece of what may stand between two parts of a body that code or JSON splits: no word, no number.

For `re`. A run of backslashes is taken at once, so that each is read once.
"""

RUN_HERE = re.compile(
    rf"[A-Za-z0-9+/_][A-Za-z0-9+/_-]*+(?:{_ESCAPED}[A-Za-z0-9+/_-]*+)*+{PAD}?".encode("ascii")
)
"""A run of any length at one place; what `run` finds there, without a least length."""

_UNFINISHED = re.compile(rb"\\(?:u[0-9A-Fa-f]{0,3}|x[0-9A-Fa-f]?)?\Z|%(?:25)*[0-9A-Fa-f]?\Z")
_HEX = frozenset(b"0123456789abcdefABCDEF")


def behind_escape(data: bytes, start: int) -> int:
    """`start`, or the place behind the escape that begins before `start` and ends after it.

    A run of base64 characters takes the `n` of a backslash and `n` for its first one; a marker that began
    there would leave half an escape.
    """
    head = data[max(0, start - 12) : start]
    if not (b"\\" in head or b"%" in head):
        return start
    found = _UNFINISHED.search(head)
    if found is None:
        return start
    begun = found[0]
    if begun[:1] == b"%":
        missing = 2 if begun[-1:] == b"%" or len(begun) % 2 else 1
        rest = data[start : start + missing]
        return start + missing if len(rest) == missing and all(byte in _HEX for byte in rest) else start
    if begun == b"\\":
        length = {b"u": 5, b"x": 3}.get(data[start : start + 1], 1)
    else:
        length = (4 if begun[1:2] == b"u" else 2) - (len(begun) - 2)
    return min(len(data), start + length)
