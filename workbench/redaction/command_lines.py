"""Commands that are not written in one line: lists of arguments, and lines that a backslash continues.

(Contract redaction, "Passwords in commands".) What is written so is read as the one line it is, by the passes
that know commands; what they find is removed from the text as it is. Lists of arguments are those of JSON and
of programs (`["mysql", "-pWORD"]`, `"command": "mysql", "args": ["-pWORD"]`) and those of YAML.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_right
from collections.abc import Sequence

from workbench.redaction.engine import Pass, Span, compile_bytes
from workbench.redaction.quoted import literal_end

_MOST_ARGUMENTS = 128
_LONGEST = 8192
_MOST_LINES = 64

_COMMAND = (
    r"(?:docker|podman|nerdctl|buildah|oc|az|helm|registry|cf|sshpass|redis-cli|mysql[a-z]{0,6}|mariadb[a-z-]{0,6}"
    r"|(?:un)?zip|7za?|ldap[a-z]{1,10}|mongo[a-z]{0,7}|openssl|htpasswd|smb[a-z]{3,6}|rpcclient|mount\.cifs|net|gh"
    r"|usermod|useradd|adduser|curl|wget|https?|xh|rclone|lftp|ssh-keygen|aws|kubectl|influx)"
)
_QUOTE = r"""\\*["']"""
_S = r"(?:[ \t\r\n]|\\+[nrt])"
_ARGUMENTS = rf"(?:(?:{_QUOTE})?(?i:args|arguments|argv)(?:{_QUOTE})?{_S}*[:=]{_S}*\[{_S}*)"
_NEXT = rf"{_S}*(?:,{_S}*{_ARGUMENTS}?|\]{_S}*,?{_S}*{_ARGUMENTS})"
_LISTED = rf"""["'/]{_COMMAND}{_QUOTE}{_NEXT}{_QUOTE}"""
_ROWS = rf"""[ \t"'/]{_COMMAND}["']?[ \t]*\r?\n[ \t]*-[ \t]"""
_PROBES = (
    rf"""["'/]{_COMMAND}{_QUOTE}(?:[ \t\r\n,\]]|\\+[nrt])+(?:{_QUOTE}|(?i:arg))""",
    rf"""[ \t"'/]{_COMMAND}(?:{_QUOTE})?[ \t]*(?:\r?\n|(?:\\+r)?\\+n)[ \t]*-[ \t]""",
    r"(?:^|[^\\])(?:\\\r?\n|\\\\(?:\\r)?\\n)",
)

_NAME = re.compile(rb"[A-Za-z0-9.-]+")
_OPENED = re.compile(rb"""\\*["']""")
_SEPARATED = re.compile(_NEXT.encode("latin-1"))
_ROW = re.compile(
    rb"""["']?[ \t]*+\r?\n[ \t]*+-[ \t]+"""
    rb"""(?:"([^"\r\n]*+)"(?=\s|\Z)|'([^'\r\n]*+)'(?=\s|\Z)|([^ \t\r\n]++(?:[ \t]+[^ \t\r\n]++)*+))"""
)
_CONTINUED = re.compile(rb"\\\r?\n")


class CommandLinePass(Pass):
    """Runs `steps` over commands that stand on more than one line or as lists of arguments."""

    # "mysql","-p" and a word.
    shortest = 12
    expression = rf"{_LISTED}|{_ROWS}|\\\r?\n"

    def __init__(self, steps: Sequence[Pass]) -> None:
        self._steps = steps
        self._search = compile_bytes(f"{_LISTED}|{_ROWS}", "commands as lists")

    @property
    def probes(self) -> Sequence[str]:
        return _PROBES

    def find(self, data: bytes) -> list[Span]:
        line = _Line(data)
        if b"\\\n" in data or b"\\\r\n" in data:
            line.add_continued()
        position = 0
        while True:
            found = self._search.search(data, position)
            if found is None:
                break
            position = line.add_list(found.start() + 1)
        if not line.read:
            return []
        spans: list[Span] = []
        text = bytes(line.read)
        for step in self._steps:
            spans += line.in_text(step.find(text))
        return _disjoint(spans)


class _Line:
    """The commands of one text as lines, and where their pieces stand in the text."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self.read = bytearray()
        self._places = array("q")
        self._there = array("q")
        self._ends = array("q")

    def _piece(self, start: int, end: int) -> None:
        self._places.append(len(self.read))
        self._there.append(start)
        self.read += self._data[start:end]
        self._ends.append(len(self.read))

    def add_list(self, start: int) -> int:
        """Adds the command whose name begins at `start`, with its arguments; returns where they end."""
        data = self._data
        name = _NAME.match(data, start)
        assert name is not None
        self._piece(start, name.end())
        place = name.end()
        row = _ROW.match(data, place)
        if row is not None:
            for _ in range(_MOST_ARGUMENTS):
                group = row.lastindex or 3
                self._argument(*row.span(group))
                place = row.end()
                row = _ROW.match(data, place)
                if row is None or place - start > _LONGEST:
                    break
        else:
            closed = _OPENED.match(data, place)
            place = closed.end() if closed else place
            for _ in range(_MOST_ARGUMENTS):
                separated = _SEPARATED.match(data, place)
                opened = _OPENED.match(data, separated.end()) if separated else None
                if opened is None or place - start > _LONGEST:
                    break
                end = literal_end(data, opened.end())
                if not data.startswith(opened[0], end):
                    break
                self._argument(opened.end(), end)
                place = end + len(opened[0])
        self.read += b"\n"
        return place

    def _argument(self, start: int, end: int) -> None:
        argument = self._data[start:end]
        quote = b"'" if b" " in argument and b"'" not in argument else b""
        self.read += b" " + quote
        self._piece(start, end)
        self.read += quote

    def add_continued(self) -> None:
        """Adds the lines that a backslash continues, blanks in place of backslash and break."""
        data = self._data
        place = 0
        for found in _CONTINUED.finditer(data):
            if found.start() < place:
                continue
            start = data.rfind(b"\n", max(place, found.start() - _LONGEST), found.start()) + 1
            start = max(start, place, found.start() - _LONGEST)
            for _ in range(_MOST_LINES):
                self._piece(start, found.start())
                self.read += b" " * (found.end() - found.start())
                start = found.end()
                end = data.find(b"\n", start, start + _LONGEST)
                end = min(len(data), start + _LONGEST) if end < 0 else end
                following = _CONTINUED.search(data, max(start, end - 2), end + 1)
                if following is None:
                    self._piece(start, end)
                    break
                found = following
            else:
                end = start
            self.read += b"\n"
            place = end

    def in_text(self, spans: Sequence[Span]) -> list[Span]:
        """Those of `spans`, of the lines, that stand in one piece, as spans of the text."""
        result: list[Span] = []
        for start, end, kind in spans:
            at = bisect_right(self._places, start) - 1
            if at >= 0 and end <= self._ends[at]:
                there = self._there[at] - self._places[at]
                result.append(Span(start + there, end + there, kind))
        return result


def _disjoint(spans: list[Span]) -> list[Span]:
    result: list[Span] = []
    for span in sorted(spans):
        if not result or span.start >= result[-1].end:
            result.append(span)
    return result
