"""A program that is killed while it draws: what it had drawn before is not drawn again."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

from tests.log.pin_cases import KIND, A, Effect, books, ledger, open_log, same, units
from workbench.log.pins.keys import pin_key
from workbench.log.pins.sqlite import ScratchRow

ROOT = Path(__file__).parents[2]
KEYS = [pin_key(KIND, {"n": number}) for number in range(3)]

_DRAWS = """
import os, signal, sys
from pathlib import Path
from tests.log.pin_cases import KIND, ledger, open_log, same
from workbench.log.pins.keys import pin_key

with open_log(Path(sys.argv[1])) as log:
    pins = ledger(log)
    for number in range(3):
        effect = lambda: f"drawn {number}" if number < 2 else os.kill(os.getpid(), signal.SIGKILL)
        pins.resolve(pin_key(KIND, {"n": number}), kind=KIND, effect=effect, interpret=same)
"""


def test_invariant_49_a_unit_goes_on_after_the_program_that_drew_was_killed(tmp_path: Path) -> None:
    path = tmp_path / "log.db"
    ended = subprocess.run(
        [sys.executable, "-c", _DRAWS, str(path)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        check=False,
        timeout=60,
    )
    assert ended.returncode == -signal.SIGKILL
    effect = Effect()
    with open_log(path) as log:
        assert units(log) == ["unit"]
        pins = ledger(log)
        results = [pins.resolve(key, kind=KIND, effect=effect, interpret=same) for key in KEYS]
        assert results == ["drawn 0", "drawn 1", {"call": 1}]
        assert [(row.result, row.attempts) for row in pins.pins()] == [
            ("drawn 0", 2),
            ("drawn 1", 2),
            ({"call": 1}, 1),
        ]
        assert isinstance(pins.pins()[0], ScratchRow)
        assert pins.commit() == 3
        assert [event.payload["key"] for event in books(log)] == KEYS
        assert log.stream(A).last_seq() == 0
