"""Tables that programs draw (Markdown, database clients) with a column of which the title names passwords."""

from __future__ import annotations

import re

from workbench.redaction.engine import Span, compile_bytes
from workbench.redaction.tables import KIND, LONGEST_LINE, MOST_ROWS, WORDS, TablePass, is_password

_MOST_FIELDS = 64

_BREAK = r"(?:\r?\n|(?:\\+r)?\\+n)"
# The title, the rest of its line, and the beginning of the rule below it.
_HEADER = (
    rf"(?i)(?:{WORDS})[ \t*`]*(?:(?:\||\xe2\x94\x82|\xe2\x95\x91)[^\r\n]{{0,800}}?)?{_BREAK}"
    r"[ \t]*(?:[|+:]{0,2}[ \t]?:?-{2}|\xe2[\x94\x95][\x80-\xbf])"
)
_TITLE = re.compile(rb"(?i)(?:[a-z0-9_ ]{0,40}[_ ])?(?:%s)" % WORDS.encode("latin-1"))
_BREAKS = re.compile(rb"\r?\n|(?:\\+r)?\\+n")
_RULE = re.compile(rb"(?:[-+|:= \t]|\xe2[\x94\x95][\x80-\xbf]){3,}")
_SIGNS = (b"|", b"\xe2\x94\x82", b"\xe2\x95\x91")
_PADDING = b" \t*`"


class DrawnPass(TablePass):
    """The rows below each drawn header that names a password."""

    def __init__(self) -> None:
        self._search = compile_bytes(_HEADER, "headers of drawn tables")

    def find(self, data: bytes) -> list[Span]:
        spans: list[Span] = []
        position = 0
        while True:
            found = self._search.search(data, position)
            if found is None:
                return spans
            position = _table(data, found.start(), found.end(), spans)


def _table(data: bytes, named: int, ruled: int, spans: list[Span]) -> int:
    """Adds the passwords of the table whose header holds the title at `named`; returns where to go on."""
    first = max(0, named - LONGEST_LINE)
    begin = max(first, data.rfind(b"\n", first, named) + 1)
    escaped = data.rfind(b"\\n", begin, named)
    begin = begin if escaped < 0 else escaped + 2
    end, place = _row_end(data, named)
    sign = next((sign for sign in _SIGNS if data.find(sign, begin, end) >= 0), b"")
    if not sign:
        return ruled
    titles = data[begin:end].split(sign, _MOST_FIELDS)
    columns = [number for number, title in enumerate(titles) if _TITLE.fullmatch(title.strip(_PADDING))]
    if not columns or not _RULE.fullmatch(data[place : _row_end(data, place)[0]]):
        return ruled
    many = len(titles)
    for _ in range(MOST_ROWS):
        stop, following = _row_end(data, place)
        row = data[place:stop]
        fields = row.split(sign, _MOST_FIELDS)
        if not _RULE.fullmatch(row):
            if len(fields) != many:
                break
            for number in columns:
                value = fields[number].strip(_PADDING)
                start = place + sum(len(field) + len(sign) for field in fields[:number])
                start += fields[number].find(value)
                if is_password(value, sentences=False):
                    spans.append(Span(start, start + len(value), KIND))
        place = following
        if stop == following:
            break
    return max(place, ruled)


def _row_end(data: bytes, place: int) -> tuple[int, int]:
    """Where the row at `place` ends, and where the next one begins."""
    limit = min(len(data), place + LONGEST_LINE)
    found = _BREAKS.search(data, place, limit)
    return (limit, limit) if found is None else found.span()
