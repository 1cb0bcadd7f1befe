"""Many short texts looked through together: a search costs more to begin than to run over a line.

Exact: it says of each text what the passes would say of it alone.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import accumulate
from typing import Any

from workbench.redaction.engine import Pass, in_groups
from workbench.redaction.members import Sign, signs

SHORT = 4096
"""Bytes of a text that is looked through in few looks: in a long one of a hostile shape these would go
through more states than RE2 keeps."""
TOGETHER = 12
"""Signs that count characters, in one look at a short text."""

_JOINED = 1 << 18
"""Bytes that are looked through at once."""


class Batch:
    """The passes over many texts at once; safe to share between threads."""

    def __init__(self, passes: Sequence[Pass]) -> None:
        together: dict[tuple[str, ...], list[Pass]] = {}
        for step in passes:
            together.setdefault(tuple(sorted(set(step.probes))), []).append(step)
        self._looks = _looks(together)
        self._few = _looks(together, TOGETHER)
        every = (probe for step in passes for probe in step.probes)
        self._any = in_groups(every, "the probes of every pass", TOGETHER)

    def touched(self, texts: Collection[str]) -> set[str]:
        """Those of `texts` in which a pass finds anything."""
        touched: set[str] = set()
        run: list[str] = []
        size = 0
        for text in texts:
            run.append(text)
            size += len(text)
            if size > _JOINED:
                self._look(run, touched)
                run, size = [], 0
        if run:
            self._look(run, touched)
        return touched

    def _look(self, texts: list[str], touched: set[str]) -> None:
        encoded = [text.encode("utf-8", "surrogatepass") for text in texts]
        # In quotes and on lines of their own, as texts stand in JSON.
        joined = b'"%s"\n' % b'"\n"'.join(encoded)
        if len(joined) <= SHORT and all(probe.search(joined) is None for probe in self._any):
            return
        starts = [0, *accumulate(len(data) + 3 for data in encoded)]
        for probes, steps in self._few if len(joined) <= SHORT else self._looks:
            for at in sorted({at for probe in probes for at, _ in signs(probe, joined, starts)}):
                text = texts[at]
                if text in touched:
                    continue
                data = encoded[at]
                size = len(data)
                for step in steps:
                    if size >= step.shortest and step.find(data):
                        touched.add(text)
                        break


def _looks(
    together: Mapping[tuple[str, ...], list[Pass]], size: int = 2
) -> list[tuple[tuple[Sign, ...], list[Pass]]]:
    return [
        (tuple(map(sign_of, in_groups(probes, "the probes of a pass", size))), steps)
        for probes, steps in together.items()
    ]


def sign_of(expression: Any) -> Sign:
    """Where a compiled expression is found first."""
    search = expression.search

    def probe(data: bytes, position: int) -> int:
        found = search(data, position)
        return -1 if found is None else found.start()

    return probe
