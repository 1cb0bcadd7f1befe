"""What `doctor` costs on a large workspace: time, memory, and how often it says how far it is."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from tests.benchmarks.conftest import LARGE, make_workspace

pytestmark = pytest.mark.bench

_DOCTOR = """
import json, sys, time
from pathlib import Path
from workbench.workspace import Workspace
with Workspace.open(Path(sys.argv[1]), read_only=True) as workspace:
    began = last = time.monotonic()
    longest, steps = 0.0, 0
    def progress(done, total, note):
        global last, longest, steps
        now = time.monotonic()
        longest, last, steps = max(longest, now - last), now, steps + 1
    report = workspace.doctor(progress=progress)
    spent = time.monotonic() - began
# Not `ru_maxrss`: that begins with what the parent process had.
peak = next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmHWM")) / 1024
print(json.dumps({"clean": not report.findings, "seconds": spent, "peak": peak, "longest": longest, "steps": steps}))
"""

_STOPPED = """
import sys, time
from pathlib import Path
from workbench.workspace import Workspace
from workbench.workspace.errors import Cancelled
at = float(sys.argv[2])
with Workspace.open(Path(sys.argv[1]), read_only=True) as workspace:
    began = time.monotonic()
    try:
        workspace.doctor(cancelled=lambda: time.monotonic() - began >= at)
    except Cancelled:
        print(time.monotonic() - began - at)
    else:
        print(-1)
"""


class Cost(msgspec.Struct):
    """What an examination in a process of its own took."""

    clean: bool
    seconds: float
    peak: float
    """Resident memory at its largest, MB."""
    longest: float
    """Seconds between two calls of `progress` at most."""
    steps: int


def examined(root: Path) -> Cost:
    """Run `doctor` in a new process."""
    done = subprocess.run(
        [sys.executable, "-c", _DOCTOR, str(root)], capture_output=True, text=True, check=True
    )
    return msgspec.convert(json.loads(done.stdout), Cost)


def test_doctor_on_a_large_workspace(large: Path, tmp_path: Path) -> None:
    few, many = examined(make_workspace(tmp_path / "w", LARGE // 10)), examined(large)
    for events, cost in ((LARGE // 10, few), (LARGE, many)):
        print(
            f"\ndoctor on {events:,} events: {cost.seconds:.1f} s ({events / cost.seconds:,.0f} events/s), "
            f"peak {cost.peak:.0f} MB, {cost.steps:,} calls of progress, at most {cost.longest:.2f} s apart"
        )
        assert cost.clean
        assert cost.longest < 2
    assert many.peak < 1.5 * few.peak
    assert many.steps > 100


def test_doctor_stops_when_asked(large: Path) -> None:
    whole = examined(large).seconds
    waits = []
    for part in (0.05, 0.15, 0.3, 0.5, 0.7, 0.9):
        done = subprocess.run(
            [sys.executable, "-c", _STOPPED, str(large), str(part * whole)],
            capture_output=True,
            text=True,
            check=True,
        )
        waits.append(float(done.stdout))
    print(f"\ndoctor stopped after {', '.join(f'{1000 * wait:.0f}' for wait in waits)} ms")
    assert all(wait < 1 for wait in waits)
    # The last one may have been through before it was asked.
    assert all(wait >= 0 for wait in waits[:5])
