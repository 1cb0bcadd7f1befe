"""How many of many cases a test tries: a spread of them, or with `WORKBENCH_TEST_THOROUGH=1` every one."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TypeVar

_T = TypeVar("_T")

THOROUGH = os.environ.get("WORKBENCH_TEST_THOROUGH") == "1"


def some(values: Iterable[_T], count: int) -> list[_T]:
    """`count` (two or more) of the values, evenly spread with the first and the last; every one if thorough."""
    every = list(values)
    if THOROUGH or len(every) <= count:
        return every
    return [every[round(at * (len(every) - 1) / (count - 1))] for at in range(count)]


def kills(count: int) -> int:
    """How often a test kills a program: `WORKBENCH_TEST_KILLS`, else two fifths of `count`, or all if thorough."""
    return int(os.environ.get("WORKBENCH_TEST_KILLS", count if THOROUGH else -(-count * 2 // 5)))


def turn(values: Iterable[_T], number: int, parts: int) -> list[_T]:
    """One of so many parts of the values, another for each number; every one if thorough."""
    every = list(values)
    return every if THOROUGH else every[number % parts :: parts]


def examples(count: int) -> int:
    """How many examples a search goes through: a quarter of `count`, or all if thorough."""
    return count if THOROUGH else max(20, count // 4)
