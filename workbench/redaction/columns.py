"""Tables as text (CSV, TSV) of which a column's header says that passwords stand in it."""

from __future__ import annotations

import re

from workbench.redaction.engine import Span, compile_bytes
from workbench.redaction.tables import KIND, LONGEST_LINE, MOST_ROWS, WORDS, TablePass, is_password

_MOST_FIELDS = 64
_REMEMBERED = 512

_HEADER = rf'(?i)(?:[_ ,;\t"\n]|^)(?:{WORDS})"?(?:[,;\t\r\n]|$)'
_NAMED = re.compile(rf"(?i)(?:[A-Za-z0-9][A-Za-z0-9_ ]{{0,40}}[_ ])?(?:{WORDS})".encode("latin-1"))
_TITLE = re.compile(rb"[A-Za-z][A-Za-z0-9_ /-]{0,40}|[A-Za-z][A-Za-z0-9_ /-]{0,40}\([A-Za-z ]{1,20}\)")
_FIELDS = {
    sign: re.compile(rb'"((?:[^"\r\n]|"")*+)"(?=%b|$)|([^%b"\r\n]*+)(?=%b|$)' % (sign, sign, sign))
    for sign in (b",", b";", b"\t")
}


class ColumnPass(TablePass):
    """The rows below each header that names a password."""

    def __init__(self) -> None:
        self._search = compile_bytes(_HEADER, "headers of tables")

    def find(self, data: bytes) -> list[Span]:
        spans: list[Span] = []
        position = 0
        while True:
            found = self._search.search(data, position)
            if found is None:
                return spans
            at = found.end() - 1
            start = data.rfind(b"\n", 0, at) + 1
            end = _line_end(data, at)
            position = end
            if end - start > LONGEST_LINE:
                continue
            columns = _columns(data[start:end].rstrip(b"\r"))
            if columns is not None:
                position = _rows(data, end, *columns, spans)


def _columns(line: bytes) -> tuple[bytes, int, list[int]] | None:
    """What separates the titles in `line`, how many there are, and which of them name a password."""
    for sign in _FIELDS:
        fields = _fields(line, sign)
        if fields is None or len(fields) < 2:
            continue
        titles = [line[start:end].strip() for start, end in fields]
        if not all(map(_TITLE.fullmatch, titles)):
            return None
        return sign, len(titles), [at for at, title in enumerate(titles) if _NAMED.fullmatch(title)]
    return None


def _fields(line: bytes, sign: bytes) -> list[tuple[int, int]] | None:
    """Where the fields of `line` stand, without their quotes; None if it is no row."""
    fields: list[tuple[int, int]] = []
    place = 0
    if b'"' not in line:
        for part in line.split(sign, _MOST_FIELDS):
            fields.append((place, place + len(part)))
            place += len(part) + 1
        return fields if len(fields) <= _MOST_FIELDS else None
    field = _FIELDS[sign].match
    while len(fields) < _MOST_FIELDS:
        found = field(line, place)
        if found is None:
            return None
        fields.append(found.span(1 if found[1] is not None else 2))
        place = found.end()
        if place == len(line):
            return fields
        place += 1
    return None


def _rows(data: bytes, place: int, sign: bytes, many: int, columns: list[int], spans: list[Span]) -> int:
    """Adds the passwords in the rows below `place`, a header's end; returns the end of the last row."""
    # Kept for one table only: a secret must not outlive its removal.
    judged: dict[bytes, bool] = {}
    for _ in range(MOST_ROWS if columns else 0):
        start = place + 1
        end = _line_end(data, start)
        if start >= len(data) or end - start > LONGEST_LINE:
            break
        fields = _fields(data[start:end].rstrip(b"\r"), sign)
        if fields is None or len(fields) != many:
            break
        for at in columns:
            first, last = fields[at]
            value = data[start + first : start + last]
            answer = judged.get(value)
            if answer is None:
                if len(judged) > _REMEMBERED:
                    judged.clear()
                answer = judged[value] = value == value.strip() and is_password(value, sentences=True)
            if answer:
                spans.append(Span(start + first, start + last, KIND))
        place = end
    return place


def _line_end(data: bytes, place: int) -> int:
    end = data.find(b"\n", place)
    return len(data) if end < 0 else end
