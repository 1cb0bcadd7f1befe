"""Two texts line by line: what stands in both, what in one alone, in time that a person waits for.

The shortest script of Myers (1986), looked for up to a number of differing lines: what differs in more is
told as one piece that is replaced by another. So neither long nor hostile texts take longer than
the bound allows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple, TypeAlias

MOST_DIFFERENCES = 600
"""Lines that may differ, both texts together, up to which the shortest script is looked for."""
CONTEXT = 3
"""Lines that stay the same which are shown around a difference."""

Sign: TypeAlias = Literal[" ", "-", "+"]


class DiffLine(NamedTuple):
    """One line of a difference: ` ` in both texts, `-` in the first alone, `+` in the second alone."""

    sign: Sign
    text: str


class Hunk(NamedTuple):
    """Differences that stand near each other, with the lines around them; line numbers count from 1."""

    first: int
    """Its first line in the first text; the line before it where none of its lines stands there."""
    first_lines: int
    second: int
    second_lines: int
    lines: tuple[DiffLine, ...]

    @property
    def head(self) -> str:
        """`@@ -3,7 +3,8 @@`, as in a unified diff."""
        return f"@@ -{_range(self.first, self.first_lines)} +{_range(self.second, self.second_lines)} @@"


class _Change(NamedTuple):
    """Lines of the first text (from, to) that give way to lines of the second."""

    low: int
    high: int
    start: int
    end: int


def hunks(first: Sequence[str], second: Sequence[str], context: int = CONTEXT) -> list[Hunk]:
    """What differs between two lists of lines; empty where nothing does."""
    groups: list[list[_Change]] = []
    for change in _changes(first, second):
        if groups and change.low - groups[-1][-1].high <= 2 * context:
            groups[-1].append(change)
        else:
            groups.append([change])
    return [_hunk(first, second, group, context) for group in groups]


def _hunk(first: Sequence[str], second: Sequence[str], group: Sequence[_Change], context: int) -> Hunk:
    low = max(0, group[0].low - context)
    start = group[0].start - (group[0].low - low)
    high = min(len(first), group[-1].high + context)
    end = group[-1].end + (high - group[-1].high)
    lines: list[DiffLine] = []
    at = low
    for change in group:
        lines += [DiffLine(" ", text) for text in first[at : change.low]]
        lines += [DiffLine("-", text) for text in first[change.low : change.high]]
        lines += [DiffLine("+", text) for text in second[change.start : change.end]]
        at = change.high
    lines += [DiffLine(" ", text) for text in first[at:high]]
    return Hunk(low + (high > low), high - low, start + (end > start), end - start, tuple(lines))


def _range(start: int, lines: int) -> str:
    return str(start) if lines == 1 else f"{start},{lines}"


def _changes(first: Sequence[str], second: Sequence[str]) -> list[_Change]:
    """What differs, in order."""
    low = 0
    shorter = min(len(first), len(second))
    while low < shorter and first[low] == second[low]:
        low += 1
    tail = 0
    while tail < shorter - low and first[-1 - tail] == second[-1 - tail]:
        tail += 1
    one, two = first[low : len(first) - tail], second[low : len(second) - tail]
    if not one and not two:
        return []
    same = _matches(one, two) if one and two else None
    changes: list[_Change] = []
    x = y = 0
    for a, b in [*(same or ()), (len(one), len(two))]:
        if a > x or b > y:
            changes.append(_Change(low + x, low + a, low + y, low + b))
        x, y = a + 1, b + 1
    return changes


def _matches(one: Sequence[str], two: Sequence[str]) -> list[tuple[int, int]] | None:
    """Lines that stay, as pairs of their numbers; None where too many differ."""
    if abs(len(one) - len(two)) > MOST_DIFFERENCES:
        return None
    furthest = {1: 0}
    trail: list[dict[int, int]] = []
    for steps in range(MOST_DIFFERENCES + 1):
        trail.append(dict(furthest))
        for diagonal in range(-steps, steps + 1, 2):
            down = diagonal == -steps or (
                diagonal != steps and furthest[diagonal - 1] < furthest[diagonal + 1]
            )
            x = furthest[diagonal + 1] if down else furthest[diagonal - 1] + 1
            y = x - diagonal
            while x < len(one) and y < len(two) and one[x] == two[y]:
                x, y = x + 1, y + 1
            furthest[diagonal] = x
            if x >= len(one) and y >= len(two):
                return _walked_back(trail, x, y)
    return None


def _walked_back(trail: list[dict[int, int]], x: int, y: int) -> list[tuple[int, int]]:
    pairs: list[tuple[int, int]] = []
    for steps in range(len(trail) - 1, -1, -1):
        furthest, diagonal = trail[steps], x - y
        down = diagonal == -steps or (diagonal != steps and furthest[diagonal - 1] < furthest[diagonal + 1])
        before = diagonal + 1 if down else diagonal - 1
        from_x = furthest[before] if steps else 0
        from_y = from_x - before if steps else 0
        while x > from_x and y > from_y:
            x, y = x - 1, y - 1
            pairs.append((x, y))
        x, y = from_x, from_y
    return pairs[::-1]
