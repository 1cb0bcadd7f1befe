"""Rows that SQL puts into a table, of which a column's name says that passwords stand in it."""

from __future__ import annotations

import re

from workbench.redaction.engine import Span, compile_bytes
from workbench.redaction.tables import KIND, MOST_ROWS, WORDS, TablePass, is_password

_LONGEST_LIST = 2000
_MOST_FIELDS = 256

_S = r"(?:[ \t\r\n]|\\+[nrt])"
_LIST = (
    rf"(?i)(?:into|replace|ignore|overwrite){_S}+[^\x00-\x20()]{{1,200}}{_S}*"
    rf"\([^()]{{0,{_LONGEST_LIST // 2}}}\){_S}*values?{_S}*\("
)
_NAMES = re.compile(rb"\(([^()]*)\)[^()]*\(\Z")
_NAMED = re.compile(rb"(?i)(?:[a-z0-9_ ]{0,60}[_ ])?(?:%s)" % WORDS.encode("latin-1"))
_NAME_SIGNS = b" \t\r\n\\\"'`[]"
_BLANKS = rb"(?:[ \t\r\n]|\\+[nrt])*+"
_FIELD = re.compile(
    _BLANKS
    + rb"(?:[NnEeBb]?(\\*)'((?:[^'\\\r\n]|''|\\(?!\1')[^\r\n]){0,512}+)\1'"
    + rb'|(\\*)"((?:[^"\\\r\n]|""|\\(?!\3")[^\r\n]){0,512}+)\3"'
    + rb"|[^,()'\"\r\n]{0,200}+(?:\([^()\r\n]{0,512}\))?)"
    + _BLANKS
    + rb"([,)])"
)
_NEXT_ROW = re.compile(_BLANKS + rb"," + _BLANKS + rb"\(")


class InsertPass(TablePass):
    """The rows of each `INSERT` with a column of passwords."""

    # A command with one row.
    shortest = 24

    def __init__(self) -> None:
        self._search = compile_bytes(_LIST, "rows that are inserted")

    def find(self, data: bytes) -> list[Span]:
        spans: list[Span] = []
        position = 0
        while True:
            found = self._search.search(data, position)
            if found is None:
                return spans
            position = found.end()
            names = _NAMES.search(data, found.start(), position)
            if names is None:
                continue
            titles = [title.strip(_NAME_SIGNS) for title in names[1].split(b",", _MOST_FIELDS)]
            columns = {number for number, title in enumerate(titles) if _NAMED.fullmatch(title)}
            if columns:
                position = _rows(data, position, columns, spans)


def _rows(data: bytes, place: int, columns: set[int], spans: list[Span]) -> int:
    """Adds the passwords of the rows from `place` on, behind a bracket; returns where they end."""
    for _ in range(MOST_ROWS):
        for number in range(_MOST_FIELDS):
            field = _FIELD.match(data, place)
            if field is None:
                return place
            place = field.end()
            group = 2 if field[2] is not None else 4
            if number in columns and field[group] is not None and is_password(field[group], sentences=True):
                spans.append(Span(*field.span(group), KIND))
            if field[5] == b")":
                break
        following = _NEXT_ROW.match(data, place)
        if following is None:
            return place
        place = following.end()
    return place
