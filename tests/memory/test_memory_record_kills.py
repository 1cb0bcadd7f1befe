"""Kills at random moments of `record_event` with evidence: 8 here, 20 if thorough, 500 in the benchmarks."""

from __future__ import annotations

import os
import random
from pathlib import Path

from tests.memory.memory_kill_cases import kill_memory
from tests.thorough import kills

KILLS = kills(20)


def test_nothing_is_lost_and_nothing_is_half_there(tmp_path: Path) -> None:
    seed = int(os.environ.get("WORKBENCH_TEST_SEED", str(random.randrange(10**6))))
    print(f"{seed = }")
    kill_memory(tmp_path, KILLS, random.Random(seed))
