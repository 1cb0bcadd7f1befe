"""Tables whose columns are set apart by blanks alone, with a title that names passwords.

Titles are in capitals (`USER  PASSWORD`), or two blanks and more stand between them.
"""

from __future__ import annotations

import re

from workbench.redaction.engine import Span, compile_bytes
from workbench.redaction.tables import KIND, LONGEST_LINE, MOST_ROWS, TablePass, is_password
from workbench.redaction.values import Place, is_secret

_NAMES = "(?:[A-Z0-9]{1,20}_)?(?:PASSWORD|PASSWD|PASSWORT|KENNWORT|PASS|PWD|PASSPHRASE|SECRET|TOKEN|API_?KEY)"
_TITLE = "[A-Z][A-Z0-9_#-]{0,30}"
_FAR = r"(?:[ \t]{2,}|\t)"
_HEADER = (
    rf"(?:^|\n)[ \t]*(?:(?:{_TITLE}[ \t]+)+{_NAMES}|{_NAMES}(?:[ \t]+{_TITLE})+"
    rf"|(?i:(?:{_TITLE}{_FAR})+{_NAMES}|{_NAMES}(?:{_FAR}{_TITLE})+))"
    r"(?:[ \t]+[A-Za-z][A-Za-z0-9_#-]{0,30})*[ \t]*(?:\r?\n)"
)
_NAMED = re.compile(rf"(?i){_NAMES}".encode())
_FIELD = re.compile(rb"[^ \t\r\n]+")
_RULE = re.compile(rb"[-= \t]+")


class AlignedPass(TablePass):
    """The rows below each header that names a password."""

    expression = _HEADER

    def __init__(self) -> None:
        self._search = compile_bytes(_HEADER, "headers of aligned tables")

    def find(self, data: bytes) -> list[Span]:
        spans: list[Span] = []
        position = 0
        while True:
            found = self._search.search(data, position)
            if found is None:
                return spans
            end = found.end()
            titles = _FIELD.findall(data, found.start(), end)
            columns = [number for number, title in enumerate(titles) if _NAMED.fullmatch(title)]
            # The line break is the next header's, too.
            position = max(_rows(data, end, len(titles), columns, spans) - 1, found.start() + 1)


def _rows(data: bytes, place: int, many: int, columns: list[int], spans: list[Span]) -> int:
    """Adds the passwords of the rows from `place` on; returns where they end."""
    for _ in range(MOST_ROWS):
        end = data.find(b"\n", place, place + LONGEST_LINE)
        end = min(len(data), place + LONGEST_LINE) if end < 0 else end
        fields = [found.span() for found in _FIELD.finditer(data, place, end)]
        if len(fields) != many:
            break
        for number in columns if not _RULE.fullmatch(data[place:end].rstrip(b"\r")) else ():
            start, stop = fields[number]
            value = data[start:stop]
            if is_password(value, sentences=False) and is_secret(value, _PLACE):
                spans.append(Span(start, stop, KIND))
        place = end + 1
        if place >= len(data):
            return len(data)
    return place


_PLACE = Place(b"password ", False, True, b"")
