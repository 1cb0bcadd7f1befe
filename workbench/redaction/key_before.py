"""Where a body begins whose BEGIN line is lost: read backwards from its END line.

The text is turned round once and read by one expression, so that every byte is looked at a fixed number of
times however many END lines there are.
"""

from __future__ import annotations

from workbench.redaction.engine import compile_bytes
from workbench.redaction.key_judgement import SAMPLE, reads_random
from workbench.redaction.key_text import EOL, MARKS, behind_escape, run

# Everything in this block is written from right to left.
_CHARACTER = r"(?:[A-Za-z0-9+/_=-]|/\\+|[bBfFdD][23]00u\\+|[bBfFdD][23](?:52)*%)"
_BETWEEN = (
    r"(?:[ \t\r\n\"'`,;+.()\[\]{}<>|#*!&%-]|[nrtvf]\\+|[aAdD]000u\\+|[aAdD]0(?:52)*%|02(?:52)*%|\\|\xa0\xc2"
    r"|;touq&|;93#&|;psbn&|;(?:01|31|[aAdD]0?x)#&|//|>/? ?rb<"
    r"|(?:[.:)|\t ]|t\\+|\x92\x86\xe2|2912u\\+)[0-9]{1,7})"
)
_BODY = compile_bytes(
    rf"{_BETWEEN}*(?:{_CHARACTER}{{1,15}}{_BETWEEN}+){{0,2}}{_CHARACTER}{{16,}}"
    rf"(?:{_BETWEEN}+{_CHARACTER}{{16,}})*",
    "a body before its end",
)

_RUN = compile_bytes(run(16), "a run")
_LINE_BEGINS = compile_bytes(
    rf"(?:^|{EOL}|\[REDACTED:[a-z_]+\])(?:{MARKS}|[\"'`(\[{{,]|\\)*$", "the beginning of a line"
)
_INSIDE_LINE = 40
"""A run that does not begin its line must be as long as this to begin a body."""
_NEAR = 400
_SHORT_OF = 60
"""A body that reaches this near to where the first look ended may go on."""

_PREFIX = 120


def begin_before(data: bytes, place: int, least: int) -> int | None:
    """Where the body begins that ends at `place`, an END line, but not before `least`; None if none does."""
    length = _BODY.match(data[max(least, place - _NEAR) : place][::-1])
    if length is None:
        return None
    low = max(least, place - length.end())
    if length.end() >= min(place - least, _NEAR) - _SHORT_OF:
        low = place - _BODY.match(data[least:place][::-1]).end()
    at = behind_escape(data, low)
    while True:
        found = _RUN.search(data, at, place)
        if found is None:
            return None
        begun = behind_escape(data, found.start())
        end: int = found.end()
        if reads_random(data, begun, min(end, begun + SAMPLE)) and (
            end - begun >= _INSIDE_LINE or _begins_line(data, begun, least)
        ):
            return begun
        at = end


def _begins_line(data: bytes, begun: int, least: int) -> bool:
    return _LINE_BEGINS.search(data[max(least, begun - _PREFIX) : begun]) is not None
