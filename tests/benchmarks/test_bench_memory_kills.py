"""500 kills at random moments of `record_event` with evidence; `WORKBENCH_TEST_KILLS` for another number."""

from __future__ import annotations

import os
import random
import time
from pathlib import Path

import pytest

from tests.memory.memory_kill_cases import kill_memory

pytestmark = pytest.mark.bench

KILLS = int(os.environ.get("WORKBENCH_TEST_KILLS", "500"))


def test_nothing_is_lost_and_nothing_is_half_there(tmp_path: Path) -> None:
    seed = int(os.environ.get("WORKBENCH_TEST_SEED", str(random.randrange(10**6))))
    began = time.monotonic()
    killed = kill_memory(tmp_path, KILLS, random.Random(seed))
    seconds = time.monotonic() - began
    print(f"\n{killed} of {KILLS} kills before the end, {seconds:.0f} s, seed {seed}")
    assert killed >= KILLS // 3
