"""The signs of private keys in one text: one search finds the next of any kind, from left to right."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from workbench.redaction.engine import any_of, compile_bytes


class Sign(NamedTuple):
    """A sign at `data[start:end]`, found by the expression called `name`."""

    start: int
    end: int
    name: str


class SignExpressions:
    """The expressions of all signs, by name, compiled together and one by one.

    `firsts` holds, for each name, the bytes with which a match may begin.
    """

    def __init__(self, signs: Iterable[tuple[str, str, bytes]]) -> None:
        signs = tuple(signs)
        self.probes = tuple(expression for _, expression, _ in signs)
        self.together: Any = compile_bytes(any_of(self.probes), "the signs of private keys")
        compiled = [(name, compile_bytes(expression, name), firsts) for name, expression, firsts in signs]
        self._by_byte = tuple(
            tuple((name, expression) for name, expression, firsts in compiled if byte in firsts)
            for byte in range(256)
        )

    def name_at(self, data: bytes, start: int) -> str:
        """The name of the sign that begins at `start`."""
        candidates = self._by_byte[data[start]]
        for name, expression in candidates[:-1]:
            if expression.match(data, start) is not None:
                return name
        return candidates[-1][0]


class Signs:
    """The signs of `data`. Asking from places that only grow reads every byte once."""

    __slots__ = ("_data", "_expressions", "_found", "_from")

    def __init__(self, data: bytes, expressions: SignExpressions) -> None:
        self._data = data
        self._expressions = expressions
        self._from = 0
        self._found: tuple[int, int] | None = (-1, -1)

    def next_start(self, at: int) -> int:
        """Where the next sign begins at or behind `at`; the text's length if there is none."""
        found = self._search(at)
        return len(self._data) if found is None else found[0]

    def next(self, at: int) -> Sign | None:
        """The next sign that begins at or behind `at`."""
        found = self._search(at)
        if found is None:
            return None
        return Sign(found[0], found[1], self._expressions.name_at(self._data, found[0]))

    def name_at(self, at: int) -> str | None:
        """The name of the sign that begins at `at`, None if none does there."""
        found = self._search(at)
        if found is None or found[0] != at:
            return None
        return self._expressions.name_at(self._data, at)

    def _search(self, at: int) -> tuple[int, int] | None:
        known = self._found
        if at >= self._from and (known is None or known[0] >= at):
            return known
        match = self._expressions.together.search(self._data, at)
        self._from = at
        self._found = None if match is None else match.span()
        return self._found
