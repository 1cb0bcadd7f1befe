"""Tokens that a line break goes through, as a terminal or a mail wraps long lines.

Only what begins as a vendor's token does is looked at: any two lines of words would make one word. If the
first line holds a token by itself, what follows belongs to it only if it reads random and the line is as
long as one that is wrapped.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from string import ascii_letters, digits
from typing import Any

from workbench.redaction.borders import REFUSED_BEFORE, escape_ends_at
from workbench.redaction.engine import LONGEST, Pass, Span, any_of, compile_bytes, match_range
from workbench.redaction.key_judgement import is_word
from workbench.redaction.rules import Rule
from workbench.redaction.values import holds_stand_in, is_uniform

_BREAK = r"(?:\r?\n|(?:\\+r)?\\+n)"
_CHARACTER = r"[A-Za-z0-9_.=+/-]"
_ROWS = 8
"""Line breaks that one token may hold."""
_NARROWEST = 40
"""Characters of a line that may have been wrapped."""
_SHORTEST_TAIL = 12
_SHORTEST_HEAD = 3
_ALONE_LONGEST = 2048
_SHOWN = 20
_TRIES = 4

_HEAD = re.compile(
    r"(?:[A-Za-z0-9_-](?![{?*+|])|\\\.(?![{?*+])|/(?![{?*+])|\[[A-Za-z]{1,8}\](?![{?*+])"
    r"|\(\?:[A-Za-z0-9_|-]+\)(?![{?*+]))+"
)
_UNIT = re.compile(r"\(\?:([^)]*)\)|\[[A-Za-z]+\]|\\?.")
_WORDS = re.compile(
    rb"(?:[A-Za-z]?[a-z]+|[A-Z]+|[0-9]+)(?:[_.=+/-]+(?:[A-Za-z]?[a-z]+|[A-Z]+|[0-9]+))*[_.=+/-]*"
)
_TAIL_CLASSES = re.compile(rb"(?=.*[a-z])(?=.*[A-Z])(?=.*[0-9])")
_ROW = re.compile(rb"(\r?\n)[A-Za-z0-9_.=+/-]")
_ROW_END = re.compile(rb"[A-Za-z0-9_.=+/-]*")
_TOKEN = frozenset(f"{ascii_letters}{digits}_-".encode())


def head_of(pattern: str) -> str:
    """The part of a rule's pattern with which every token begins, as an expression; empty if it is short."""
    found = _HEAD.match(pattern)
    if found is None or "|" in _UNIT.sub("", pattern):
        return ""
    head = found[0]
    least = sum(min(map(len, unit[1].split("|"))) if unit[1] else 1 for unit in _UNIT.finditer(head))
    return head if least >= _SHORTEST_HEAD else ""


class WrappedPass(Pass):
    """Tokens of `rules` with line breaks in them; runs before the passes that know no line breaks."""

    shortest = 12

    def __init__(self, rules: Sequence[Rule]) -> None:
        self._rules: dict[str, list[tuple[Rule, Any]]] = {}
        for rule in rules:
            head = head_of(rule.pattern)
            if head:
                self._rules.setdefault(head, []).append((rule, compile_bytes(rule.pattern, rule.source)))
        heads = any_of(sorted(self._rules))
        self._probe = rf"(?:{heads}){_CHARACTER}+{_BREAK}{_CHARACTER}"
        # What JSON writes for a line break is one only where the JSON is read.
        self._search = compile_bytes(rf"(?:{heads}){_CHARACTER}+\r?\n{_CHARACTER}", "wrapped tokens")
        self._any_head = compile_bytes(heads, "heads of tokens")
        known = [(compile_bytes(head, "a head"), ready) for head, ready in self._rules.items()]
        ranges = [match_range(head) for head, _ in known]
        self._by_byte = [
            [one for one, (low, high) in zip(known, ranges, strict=True) if low[0] <= byte <= high[0]]
            for byte in range(256)
        ]

    @property
    def probes(self) -> Sequence[str]:
        return [self._probe]

    def find(self, data: bytes) -> list[Span]:
        spans: list[Span] = []
        position = 0
        while True:
            found = self._search.search(data, position)
            if found is None:
                return spans
            start, end = found.span()
            position = end - 1
            if any(head.match(data, position, end + _SHOWN) for head, _ in self._by_byte[data[position]]):
                # One token to a line.
                continue
            # The last ones: those before are glued to what follows them.
            begun = [one.start() for one in self._any_head.finditer(data, max(start, end - LONGEST), end)]
            for place in begun[-_TRIES:]:
                stop, kind = self._token(data, place)
                if stop:
                    spans.append(Span(place, stop, kind))
                    position = stop
                    break

    def _token(self, data: bytes, start: int) -> tuple[int, str]:
        """Where the wrapped token ends that begins at `start`, and its kind; 0 if there is none."""
        rows: tuple[bytes, list[tuple[int, int]]] | None = None
        for head, ready in self._by_byte[data[start]]:
            opened = head.match(data, start, start + _SHOWN)
            if opened is None:
                continue
            for rule, expression in ready:
                before = data[start - 1] if start else 0x20
                if before in REFUSED_BEFORE[rule.guards.left] and not escape_ends_at(data, start):
                    continue
                if rows is None:
                    rows = _rows(data, start)
                joined, breaks = rows
                stop = self._accepted(data, start, joined, breaks, expression, opened.end() - start)
                if stop:
                    return stop, rule.kind
        return 0, ""

    def _accepted(
        self,
        data: bytes,
        start: int,
        joined: bytes,
        breaks: list[tuple[int, int]],
        expression: Any,
        head: int,
    ) -> int:
        """Where the token ends; `breaks` are the places of breaks in `joined` and what they add up to."""
        match = expression.match(joined)
        if not breaks or match is None or match.end() <= breaks[0][0]:
            return 0
        end: int = match.end()
        body = joined[head:end]
        if end < len(joined) and joined[end] in _TOKEN:
            return 0
        if _WORDS.fullmatch(body) or holds_stand_in(joined[:_SHOWN]) or is_uniform(joined[:end]):
            return 0
        first = joined[: breaks[0][0]]
        alone = expression.match(first)
        if alone is not None:
            tail = joined[breaks[0][0] : end]
            width = start + len(first) - (data.rfind(b"\n", max(0, start - LONGEST), start) + 1)
            if (
                len(tail) < _SHORTEST_TAIL
                or width < _NARROWEST
                or _TAIL_CLASSES.match(tail) is None
                or is_word(tail)
                or any(other.match(tail) is not None for other, _ in self._by_byte[tail[0]])
            ):
                return 0
        taken = max(added for place, added in breaks if place < end)
        return start + end + taken


def _rows(data: bytes, start: int) -> tuple[bytes, list[tuple[int, int]]]:
    """What stands from `start` on without its line breaks, and where they were, and their bytes so far."""
    pieces: list[bytes] = []
    breaks: list[tuple[int, int]] = []
    at = start
    limit = start + _ALONE_LONGEST
    size = taken = 0
    while True:
        end = _ROW_END.match(data, at, limit).end()  # type: ignore[union-attr]
        pieces.append(data[at:end])
        size += end - at
        row = _ROW.match(data, end, limit) if len(breaks) < _ROWS else None
        if row is None:
            return b"".join(pieces), breaks
        taken += len(row[1])
        breaks.append((size, taken))
        at = row.end(1)
