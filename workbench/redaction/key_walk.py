"""The walk along key material: from a marker or a first sign over the body's lines to where the key ends.

A body is runs of base64 characters, one to a line as a rule. Lines may be quoted, listed, numbered, commented
or escaped; JSON and code split them into texts of their own; a log puts words before each. The walk ends at
an END line, at another marker, or where no line reads like a body any more (contract redaction, private_key).
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from workbench.redaction.engine import Span, any_of, compile_bytes
from workbench.redaction.key_judgement import (
    SAMPLE,
    SHORTEST,
    is_line_of_key,
    is_public,
    is_word,
    mixed,
    plain,
    reads_random,
)
from workbench.redaction.key_markers import MARKER_END, OTHER_BEGIN, marker_start
from workbench.redaction.key_signs import Signs
from workbench.redaction.key_text import (
    BLANK,
    DASH,
    EOL,
    MARKS,
    NEXT_LINE,
    RUN_HERE,
    SEAM,
    behind_escape,
    run,
)

KIND = "private_key"

REACH = 1000
"""Bytes behind the last piece in which a body that was interrupted may go on."""

REACH_LINES = 8
NEAR = 400
"""Bytes, within the next line, in which any run that reads random belongs to the key."""

FARTHEST_COLUMN = 200
"""Bytes before the lines of a key that a log wrote."""

HEADERS = 12
"""Header lines before a body; more are no header."""

_WHOLE_LINE = 40
"""A line of one run as long as this goes on after an interruption; identifiers are shorter."""

_LONGEST_LINE = 128
_LAST_RUN = re.compile(rb"([A-Za-z0-9+/]{40,128}+)(?:[^A-Za-z0-9+/].{0,24})?\Z", re.DOTALL)
_FIRST_RUN = 3

_BODY = compile_bytes(rf"{run(16)}(?:{NEXT_LINE}{run(16)}|{BLANK}+{run(_WHOLE_LINE)})*", "a body")
# Where the line ends were made blanks, only its padding shows a short line.
_LAST = compile_bytes(
    rf"{NEXT_LINE}(?:=[A-Za-z0-9+/]{{4}}|{run(1)})|{BLANK}+[A-Za-z0-9+/_-]{{2,}}={{1,2}}",
    "a body's last line",
)
_LAST_ENDS = compile_bytes(rf"{BLANK}*(?:{EOL}|$|[\"'`<,;)\]|\x1b]|\\|&|--)", "the end of a body's last line")
_BEFORE_END = compile_bytes(
    rf"(?:(?:{EOL}|{BLANK}|{MARKS})*=?[A-Za-z0-9+/=_]+){{0,3}}(?:{EOL}|{BLANK}|{MARKS})*{DASH}*{BLANK}*{MARKER_END}",
    "a body's end",
)
_SEAM = re.compile(rf"(?:{SEAM})*+".encode("latin-1"))
_HEADER = compile_bytes(rf"(?:{EOL}|{BLANK}|{MARKS})*[A-Za-z][A-Za-z-]{{2,24}}: ?[^\r\n\\\"<]*", "a header")
_RUN = compile_bytes(run(16), "a run")
_INTERRUPTED = compile_bytes(
    rf"{EOL}{MARKS}[\"'`]?{run(_WHOLE_LINE)}(?:[\"'`,;]|{BLANK})*(?:{EOL}|$)", "a body that goes on"
)
_EOL = compile_bytes(EOL, "a line end")
_STOP = compile_bytes(any_of([OTHER_BEGIN, r"\[REDACTED:"]), "where a key has ended")
_MARKER_END = compile_bytes(MARKER_END, "an END marker")
_JOINT = compile_bytes(rf"(?:{EOL}|{BLANK}|{MARKS})*", "what lies between pieces of one marker")
_CHARACTERS = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/_=")
_SLASH = frozenset(b"/")
_TAIL = re.compile(rb"[A-Za-z0-9+/_=-]+")
_DASHES = b"-----"
_CLOSE_BEGINS = frozenset(b" \t\r\n\x0b\x0c\\%&<>-=|#*!;/+0123456789\xc2\xe2\x1b\x45\x65")
"""Bytes with which a last line or an END line may begin behind a body."""


_PARTS = frozenset(b"\"'`,.()[]{}:")
"""Bytes behind a piece that keep it apart from the next one."""


class _Row(NamedTuple):
    """A line's last run: where it begins in the text and in its line, and its length."""

    start: int
    column: int
    size: int


class Walk:
    """One walk; `pieces` are the key's parts as (start, end), in order, and `end` is where it came to."""

    __slots__ = ("_data", "_headers_end", "_least", "_signs", "end", "pieces")

    def __init__(self, data: bytes, signs: Signs, least: int) -> None:
        """`least` is where the part of `data` begins that no key before this one has taken."""
        self._data = data
        self._least = least
        self._signs = signs
        self.pieces: list[tuple[int, int]] = []
        self.end = 0
        self._headers_end = 0

    def from_body(self, start: int) -> None:
        """Goes along a body that begins at `start` without a doubt."""
        if self._body(start):
            return
        self._go_on()

    def from_first_bytes(self, start: int, least: int) -> None:
        """Goes along the body at `start` if it has `least` characters or more, line ends included."""
        body = _BODY.match(self._data, start, start + SAMPLE)
        if body is not None and body.end() - start >= least:
            self.from_body(start)

    def from_marker(self, start: int, end: int, named: bool = False) -> None:
        """Goes along what follows the marker line at `start` to `end`; the line is a piece if a body follows.

        A `named` body's first line and the lines between its parts are names with values, and stay.
        """
        begun = self._first_body(start, end)
        if begun is None:
            return
        if not named:
            self.pieces.append((start, max(end, self._headers_end)))
        self.end = end
        if not self._body(begun):
            self._go_on(named)

    def _first_body(self, start: int, at: int) -> int | None:
        sign = self._signs.next_start(at)
        begun = self._behind_headers(at, sign)
        if begun is not None:
            return begun
        stop = self._stop(at, sign)
        if stop == sign and self._near(at, stop) and self._signs.name_at(stop) == "first bytes":
            # Fewer characters hold no part of the secret.
            return stop if _RUN.match(self._data, stop, stop + SAMPLE) is not None else None
        # A line of its own some lines on, before anything that ends a key.
        begun = self._interrupted(at, stop)
        if begun is None:
            begun = self._in_column(start, at, stop)
        return self._below_itself(at, stop) if begun is None else begun

    def _in_column(self, start: int, at: int, stop: int) -> int | None:
        """A line that reads random from the column on in which the marker at `start` begins.

        So a log writes a key: every line of it behind as many bytes.
        """
        data = self._data
        if stop - at < SHORTEST:
            return None
        line = data[max(0, start - FARTHEST_COLUMN) : start]
        column = len(line) - 1 - max(line.rfind(b"\n"), line.rfind(b"\r"))
        if not 0 < column < FARTHEST_COLUMN or start - column < self._least or b"[REDACTED:" in line:
            # Where something before it goes, the column is another one afterwards.
            return None
        for _ in range(REACH_LINES):
            found = _EOL.search(data, at, stop)
            if found is None:
                return None
            at = found.end()
            begun = at + column
            if begun >= stop or data[begun - 1] in _CHARACTERS:
                return None
            there = _RUN.match(data, begun, begun + SAMPLE)
            if there is not None and reads_random(data, begun, there.end()):
                return begun
        return None

    def _below_itself(self, at: int, stop: int) -> int | None:
        """A line's last run that reads random, if the next line ends with one as long, in the same column.

        So a log writes a key whose marker stands behind nothing, or behind something else.
        """
        data = self._data
        last: _Row | None = None
        line = at
        if stop - at < 2 * _WHOLE_LINE:
            return None
        for _ in range(HEADERS):
            eol = _EOL.search(data, line, stop)
            line_end = stop if eol is None else eol.start()
            tail = _LAST_RUN.search(data, max(line, line_end - FARTHEST_COLUMN), line_end)
            here = None if tail is None else _Row(tail.start(1), tail.start(1) - line, len(tail[1]))
            if (
                here is not None
                and last is not None
                and here[1:] == last[1:]
                and reads_random(data, last.start, last.start + last.size)
                and reads_random(data, here.start, here.start + here.size)
            ):
                return last.start
            last = here
            if eol is None:
                return None
            line = eol.end()
        return None

    def _behind_headers(self, at: int, stop: int) -> int | None:
        """Where a run that reads random begins behind what splits a body, and behind header lines."""
        self._headers_end = 0
        for _ in range(HEADERS):
            begun = self._behind_seam(at)
            if begun is not None:
                return begun
            if stop - at < SHORTEST:
                break
            header = _HEADER.match(self._data, at, min(at + NEAR, stop))
            if header is None:
                break
            at = self._headers_end = header.end()
        self._headers_end = 0
        return None

    def _behind_seam(self, at: int) -> int | None:
        """Where a run that belongs to a key begins behind nothing but what splits a body."""
        data = self._data
        begun = behind_escape(data, _behind(_SEAM, data, at))
        found = RUN_HERE.match(data, begun, begun + SAMPLE)
        if found is None or found.end() - begun < SHORTEST:
            return None
        if reads_random(data, begun, found.end()) or self._signs.name_at(begun) == "first bytes":
            return begun
        if self.pieces and found.end() - begun >= _WHOLE_LINE and is_line_of_key(plain(found[0])):
            return begun if _LAST_ENDS.match(data, found.end(), found.end() + NEAR) else None
        return None

    def _body(self, start: int) -> bool:
        """Takes the body at `start`; True if its END line was reached, or if there is no body."""
        data = self._data
        body = _BODY.match(data, start)
        if body is None:
            # What stands there ends an escape, or is too short to be a part of a key.
            found = _RUN.search(data, start, start + SHORTEST * _FIRST_RUN)
            body = None if found is None else _BODY.match(data, found.start())
            if body is None:
                return True
            start = found.start()
        end: int = body.end()
        cut = data.find(_DASHES, start, end)
        if cut >= 0:
            end = cut
        elif end - start > _WHOLE_LINE:
            end = self._without_prose(start, end)
        if end < len(data) and data[end] in _CLOSE_BEGINS:
            sign = self._signs.next_start(end)
            if sign <= end + NEAR and data[sign : sign + 1] in b"Ee" and self._signs.name_at(sign) == "end":
                close = _BEFORE_END.match(data, end, end + 2 * NEAR)
                if close is not None:
                    self._add(start, close.end())
                    return True
            # A short line, and a checksum behind it.
            for _ in range(2):
                last = _LAST.match(data, end, end + NEAR)
                if last is None or not self._is_last_line(last):
                    break
                end = last.end()
        self._add(start, end)
        return False

    def _is_last_line(self, last: Any) -> bool:
        data = self._data
        end: int = last.end()
        text: bytes = _tail(last[0])
        if text.endswith(b"=") or (text.startswith(b"=") and len(text) == 5):
            # A path may be glued behind two signs of padding; behind one it is a variable's.
            glued = _CHARACTERS if not text.endswith(b"==") else _CHARACTERS - _SLASH
            return end == len(data) or data[end] not in glued
        return len(text) >= 8 and not is_word(text) and _LAST_ENDS.match(data, end, end + NEAR) is not None

    def _without_prose(self, start: int, end: int) -> int:
        """`end` of a body without its last run if that is the beginning of a line of prose."""
        data = self._data
        if _LAST_ENDS.match(data, end, end + NEAR) is not None:
            return end
        tail = _tail(data[max(start, end - SAMPLE) : end])
        begun = end - len(tail)
        if begun <= start or len(tail) >= SAMPLE or reads_random(data, begun, end):
            return end
        return begun - _gap_length(data[max(start, begun - 80) : begun])

    def _go_on(self, headers: bool = False) -> None:
        """Looks for more of the body behind `end`, piece after piece."""
        data = self._data
        while True:
            at = self.end
            sign = self._signs.next_start(at)
            begun = self._behind_headers(at, sign) if headers else self._behind_seam(at)
            if begun is None:
                stop = self._stop(at, sign)
                begun = self._next_line(at, stop)
                if begun is None:
                    begun = self._interrupted(at, stop)
                if begun is None:
                    if stop == sign and self._near(at, stop) and self._signs.name_at(stop) == "end":
                        self._add(marker_start(data, stop, at), _MARKER_END.match(data, stop).end())
                    return
            if self._body(begun):
                return

    def _next_line(self, at: int, stop: int) -> int | None:
        """A run that reads random on the next line, or in the column where the body's lines begin."""
        data = self._data
        if stop - at < SHORTEST:
            return None
        first = _EOL.search(data, at, stop)
        if first is None:
            return None
        second = _EOL.search(data, first.end(), stop)
        line_end = min(second.start() if second else stop, first.end() + NEAR)
        place: int = first.end()
        while True:
            found = _RUN.search(data, place, line_end)
            if found is None:
                return None
            begun = behind_escape(data, found.start())
            if begun < found.end() and (
                reads_random(data, begun, found.end()) or self._like_the_last(begun, found.end())
            ):
                return begun
            place = found.end()

    def _like_the_last(self, begun: int, end: int) -> bool:
        """Whether a run is a line as long as the last one taken, however much it looks like a path."""
        size = end - begun
        if not self.pieces or not _WHOLE_LINE <= size <= _LONGEST_LINE:
            return False
        last = self._data[max(self.pieces[-1][0], self.end - size - 1) : self.end]
        return len(_tail(last)) == size and is_line_of_key(plain(self._data[begun:end]))

    def _interrupted(self, at: int, stop: int) -> int | None:
        data = self._data
        place = at
        if stop - at < _WHOLE_LINE:
            return None
        while True:
            found = _INTERRUPTED.search(data, place, stop)
            if found is None or not self._near(at, found.start()):
                return None
            if found.end() == stop < len(data) and _EOL.match(data, stop) is None:
                return None
            inner = _RUN.search(data, found.start(), found.end())
            begun = behind_escape(data, inner.start())
            text = plain(data[begun : min(inner.end(), begun + SAMPLE)])
            if mixed(text) and not is_public(text):
                return begun
            place = inner.end()

    def _stop(self, at: int, sign: int) -> int:
        """Where the walk must not pass: the next sign, or the next block's beginning before it."""
        limit = min(sign, at + REACH, len(self._data))
        if limit - at < SHORTEST:
            return limit
        found = _STOP.search(self._data, at, limit)
        return found.start() if found else limit

    def _near(self, at: int, place: int) -> bool:
        """Whether `place` is at most `REACH_LINES` lines behind `at`."""
        count = 0
        while count <= REACH_LINES:
            found = _EOL.search(self._data, at, place)
            if found is None:
                return True
            at = found.end()
            count += 1
        return False

    def _add(self, start: int, end: int) -> None:
        self.pieces.append((start, end))
        self.end = end


def joined(data: bytes, pieces: list[tuple[int, int]]) -> list[Span]:
    """Spans for `pieces`; those with nothing but line ends, blanks and marks between them are one."""
    spans: list[Span] = []
    for start, end in pieces:
        if (
            spans
            and data[spans[-1].end] not in _PARTS
            and _JOINT.match(data, spans[-1].end, start).end() >= start
        ):
            spans[-1] = Span(spans[-1].start, end, KIND)
        else:
            spans.append(Span(start, end, KIND))
    return spans


def _behind(star: re.Pattern[bytes], data: bytes, at: int) -> int:
    """Where the match of `star`, which is never without one, ends that begins at `at`."""
    found = star.match(data, at)
    return found.end() if found else at


def _tail(text: bytes) -> bytes:
    found = _TAIL.match(text[::-1])
    return text[len(text) - found.end() :] if found else b""


def _gap_length(text: bytes) -> int:
    found = _GAP.match(text[::-1])
    return found.end() if found else 0


_GAP = re.compile(rb"[^A-Za-z0-9+/_=]*(?:[nrt]\\+)?[^A-Za-z0-9+/_=]*")
