"""How the filter's time grows with its text, measured so that a busy machine does not matter."""

from __future__ import annotations

import time
from collections.abc import Callable

ROUNDS = 3
NOISE_SECONDS = 0.05
ENOUGH = 2.5
"""A growth that no test objects to."""


def cost(work: Callable[[], object]) -> float:
    """Seconds of the process's own time: what else the machine does must not count."""
    start = time.process_time()
    work()
    return time.process_time() - start


def fastest(work: Callable[[], object], enough: float = 0.0) -> float:
    """The least of a few `cost`s; the first one that is `enough` settles it."""
    best = cost(work)
    for _ in range(ROUNDS - 1):
        if best <= enough:
            break
        best = min(best, cost(work))
    return best


def growth(half: Callable[[], object], whole: Callable[[], object]) -> float:
    """How many times as long the whole takes as the half: of a few pairs, the one that agrees best.

    Each pair is measured together, since a busy machine slows both down. One that is `ENOUGH` settles it.
    """
    best = float("inf")
    for _ in range(ROUNDS):
        best = min(best, cost(whole) / (cost(half) + NOISE_SECONDS / 3))
        if best <= ENOUGH:
            break
    return best
