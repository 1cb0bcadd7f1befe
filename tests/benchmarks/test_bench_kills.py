"""200 kills at random moments of imports, recordings and migrations; `WORKBENCH_TEST_KILLS` for another number."""

from __future__ import annotations

import os
import random
import time
from pathlib import Path

import pytest

from tests.kill_cases import LEGS

pytestmark = pytest.mark.bench

KILLS = int(os.environ.get("WORKBENCH_TEST_KILLS", "200"))


@pytest.mark.parametrize("leg", LEGS)
def test_nothing_is_lost_by_kills(tmp_path: Path, leg: str) -> None:
    seed = int(os.environ.get("WORKBENCH_TEST_SEED", str(random.randrange(10**6))))
    kills = -(-KILLS // len(LEGS))
    began = time.monotonic()
    killed = LEGS[leg](tmp_path, kills, random.Random(seed))
    seconds = time.monotonic() - began
    print(f"\n{leg}: {killed} of {kills} kills before the end, {seconds:.0f} s, seed {seed}")
    assert killed >= kills // 3
