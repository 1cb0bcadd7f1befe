"""Passes over what few texts hold, behind one search: most texts are looked at once, not once for each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from workbench.redaction.engine import Pass, Span, any_of, compile_bytes


class RarePass(Pass, Protocol):
    """A pass that finds nothing unless its `expression` is found."""

    expression: str
    """RE2 over bytes."""


class RarePasses(Pass):
    """`steps` as one pass; where spans of two overlap, the one that begins first counts."""

    def __init__(self, steps: Sequence[RarePass]) -> None:
        self._steps = steps
        self._search = compile_bytes(any_of(step.expression for step in steps), "what few texts hold")
        self.shortest = min(step.shortest for step in steps)

    @property
    def probes(self) -> Sequence[str]:
        return list(dict.fromkeys(probe for step in self._steps for probe in step.probes))

    def find(self, data: bytes) -> list[Span]:
        if self._search.search(data) is None:
            return []
        result: list[Span] = []
        for span in sorted(span for step in self._steps for span in step.find(data)):
            if not result or span.start >= result[-1].end:
                result.append(span)
        return result
