"""Kills at random moments of imports, recordings and migrations: 8 here, 20 if thorough, 200 in the benchmarks."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.kill_cases import LEGS
from tests.thorough import kills

KILLS = kills(20)


@pytest.mark.parametrize("leg", LEGS)
def test_nothing_is_lost_by_kills(tmp_path: Path, leg: str) -> None:
    seed = random.randrange(10**6)
    print(f"{seed = }")
    LEGS[leg](tmp_path, -(-KILLS // len(LEGS)), random.Random(seed))
