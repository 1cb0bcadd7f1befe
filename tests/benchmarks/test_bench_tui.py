"""What a person waits for: first paint, keys, memory and idling, measured at a pseudo-terminal."""

from __future__ import annotations

import os
import statistics
import sys
from pathlib import Path

import pytest

import workbench
from tests.benchmarks.bare_app import READY
from tests.benchmarks.conftest import LARGE
from tests.benchmarks.pty_harness import PtyProgram, percentile
from workbench.drawing import number

pytestmark = pytest.mark.bench

ROUNDS = 7
SIZE = (120, 40)
START = "import sys; from workbench.cli import main; sys.exit(main())"


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """A user's folders of their own, and bytecode kept as an installed program has it."""
    return {
        "WORKBENCH_STATE_DIR": str(tmp_path / "state"),
        "WORKBENCH_CONFIG_DIR": str(tmp_path / "config"),
        "PYTHONPATH": str(Path(workbench.__file__).parents[1]),
        "PYTHONPYCACHEPREFIX": os.environ.get("PYTHONPYCACHEPREFIX") or str(tmp_path / "bytecode"),
        "PYTHONDONTWRITEBYTECODE": "",
    }


def program(root: Path, screen: str, environment: dict[str, str]) -> PtyProgram:
    """The terminal program on a workspace."""
    command = [sys.executable, "-c", START, "open", "--read-only", "--screen", screen, "--root", str(root)]
    return PtyProgram(command, columns=SIZE[0], rows=SIZE[1], env=environment)


def bare_paint(environment: dict[str, str]) -> float:
    """Seconds from the start of a bare Textual program to its line."""
    bare = Path(__file__).with_name("bare_app.py")
    with PtyProgram([sys.executable, str(bare)], columns=SIZE[0], rows=SIZE[1], env=environment) as started:
        return started.first_paint(READY).last


def paint(root: Path, screen: str, marker: str, environment: dict[str, str]) -> tuple[float, float]:
    """Seconds from the start to the rows on the screen, and resident megabytes then."""
    with program(root, screen, environment) as started:
        seconds = started.first_paint(marker).last
        started.settle()
        return seconds, started.memory().resident / 2**20


def test_first_paint_and_memory(large: Path, tiny: Path, environment: dict[str, str]) -> None:
    many, few = number(LARGE), f"of {number(100)}"
    for _ in range(2):
        paint(tiny, "timeline", few, environment), bare_paint(environment)
    bare: list[float] = []
    small: list[tuple[float, float]] = []
    big: list[tuple[float, float]] = []
    for _ in range(ROUNDS):
        bare.append(bare_paint(environment))
        small.append(paint(tiny, "timeline", few, environment))
        big.append(paint(large, "timeline", many, environment))
    bare_s = statistics.median(bare)
    small_s, small_mb = (statistics.median(values) for values in zip(*small, strict=True))
    big_s, big_mb = (statistics.median(values) for values in zip(*big, strict=True))
    print(
        f"\nfirst paint: {big_s * 1e3:.0f} ms on {LARGE:,} events, {small_s * 1e3:.0f} ms on 100 "
        f"({big_s / small_s:.2f} ×), bare Textual program {bare_s * 1e3:.0f} ms ({big_s / bare_s:.2f} ×); "
        f"memory {big_mb:.0f} MB and {small_mb:.0f} MB"
    )
    assert big_s / small_s <= 1.25
    assert big_s / bare_s <= 3
    assert big_mb - small_mb <= 25


@pytest.mark.parametrize("screen", ["timeline", "sessions"])
def test_keys_at_any_depth(large: Path, environment: dict[str, str], screen: str) -> None:
    with program(large, screen, environment) as started:
        started.wait_for(number(LARGE) if screen == "timeline" else "load/big")
        started.settle()
        if screen == "sessions":
            # Into the list of acta: the list of sessions has one row.
            started.press(b"\t")
            started.settle()
        figures: dict[str, list[float]] = {"page down": [], "down": [], "G": [], "g": []}
        for _ in range(8):
            figures["G"].append(started.press(b"G").last)
            figures["page down"] += [started.press(b",").last for _ in range(4)]
            figures["g"].append(started.press(b"g").last)
            figures["page down"] += [started.press(b".").last for _ in range(4)]
            figures["down"] += [started.press(b"j").last for _ in range(4)]
        for name, values in figures.items():
            print(
                f"\n{screen}, {name}: median {statistics.median(values) * 1e3:.0f} ms, "
                f"p95 {percentile(values, 0.95) * 1e3:.0f} ms, worst {max(values) * 1e3:.0f} ms",
                end="",
            )
        print()


def test_idling(large: Path, environment: dict[str, str]) -> None:
    with program(large, "timeline", environment) as started:
        started.wait_for(number(LARGE))
        started.settle()
        use = started.idle(10)
    print(f"\nidle for 10 s: {use.cpu_share * 100:.1f} % of a core")
