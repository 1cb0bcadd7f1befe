"""What a reviewer waits for on a large shared memory, measured at a pseudo-terminal: every screen that is there.

Screens, cursor moves, a filter's keystroke, time travel, the detail of a large event, evidence, memory. Times
are printed as they are; what is asserted is how they compare with the same on a workspace of 100 events.
"""

from __future__ import annotations

import os
import statistics
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

import workbench
from tests.benchmarks.conftest import LARGE
from tests.benchmarks.large_memory import write
from tests.benchmarks.pty_harness import PtyProgram, PtyTimeout, percentile
from tests.workspace.evidence_cases import observe
from workbench.log.streams import session_stream
from workbench.sessions.events import ActumRecorded, ChronicumCreated
from workbench.tui.app import WorkbenchApp
from workbench.workspace import Workspace

pytestmark = pytest.mark.bench

SIZE = (120, 40)
START = "import sys; from workbench.cli import main; sys.exit(main())"
FEW = 100
MEGABYTE = 1_000_000
MOVES = 60
ROUNDS = 5
WHOLE = 0.5
"""A repaint is over when nothing has come for so long: rows may come a while after the frame around them."""
MOST_TIMES = 2.0
SLACK = 0.1
"""Seconds by which anything may take longer than so many times as long as on 100 events."""
MOST_MEMORY = 60
"""Megabytes that a large workspace may take beside a small one (the review desk's promise)."""


def _code(size: int) -> str:
    """A source file of about so many bytes."""
    piece = (
        'def step_%d(ledger, window=%d):\n    """One step."""\n    return ledger["row"] + window  # kept\n\n'
    )
    lines = [piece % (at, at) for at in range(size // 90)]
    return "".join(lines)[:size]


def make_desk(root: Path, events: int, folder: Path) -> Path:
    """A workspace of about `events` memory events.

    From the newest down: an entry, one of a megabyte, an entry, an observation with a megabyte of evidence.
    """
    folder.mkdir(exist_ok=True)
    source = _code(MEGABYTE)
    (folder / "large.py").write_text(source)
    with Workspace.create(root, title="Load", timezone="UTC", owner="maya") as workspace:
        write(workspace.log, events)
        observe(workspace, folder, "large.py", text="measured a large file")
        (folder / "large.py").write_text(source.replace("step_500(", "step_five_hundred("))
        acta = [_actum("small before", 1), _actum("word " * (MEGABYTE // 5), 2), _actum("small after", 3)]
        created = ChronicumCreated(chronicum_id="last", owner_id="maya")
        workspace.log.append(session_stream("last"), [created, *acta])
    return root


def _actum(text: str, number: int) -> ActumRecorded:
    return ActumRecorded(
        id=f"last-{number}",
        chronicum_id="last",
        kind="message",
        actor_kind="agent",
        actor="coder",
        content=text,
        metadata={},
    )


@pytest.fixture(scope="module")
def desks(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, Path]]:
    """The large workspace and one of `FEW` events."""
    base = tmp_path_factory.mktemp("desk")
    yield make_desk(base / "large", LARGE, base / "files"), make_desk(base / "few", FEW, base / "files")


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """A user's folders of their own, and bytecode kept as an installed program has it."""
    base = tmp_path_factory.mktemp("user")
    return {
        "WORKBENCH_STATE_DIR": str(base / "state"),
        "WORKBENCH_CONFIG_DIR": str(base / "config"),
        "PYTHONPATH": str(Path(workbench.__file__).parents[1]),
        "PYTHONPYCACHEPREFIX": os.environ.get("PYTHONPYCACHEPREFIX") or str(base / "bytecode"),
        "PYTHONDONTWRITEBYTECODE": "",
    }


def program(root: Path, screen: str, environment: dict[str, str]) -> PtyProgram:
    """The terminal program on a workspace, its first screen painted and quiet."""
    command = [sys.executable, "-c", START, "open", "--read-only", "--screen", screen, "--root", str(root)]
    files = root.parent / "files"
    started = PtyProgram(command, columns=SIZE[0], rows=SIZE[1], env=environment, cwd=files)
    try:
        started.wait_for("now", timeout=30)
        started.settle(quiet=0.6, timeout=30)
    except BaseException:
        started.close()
        raise
    return started


LIST = slice(5, SIZE[1] - 2), slice(20, 58)
"""Where the list of a screen stands, its ages left out."""
SESSIONS = slice(3, SIZE[1] - 2), slice(20, 54)
"""The same of Sessions, which has nothing above its list; two lines to a session."""


class Taken(NamedTuple):
    """What a repaint took, in seconds."""

    wall: float
    """From the key to the first rows of the list, or to the last byte where it is not asked for rows."""
    cpu: float
    """Of the program's process, in ticks of 10 ms; what it does while it is left alone counts too."""


def whole(started: PtyProgram, keys: bytes) -> Taken | None:
    """What the repaint after keys took, to the last byte of it; None where they change nothing."""
    before = started.cpu_seconds()
    try:
        wall = started.press(keys, quiet=WHOLE, timeout=8).last
    except PtyTimeout:
        return None
    return Taken(wall, started.cpu_seconds() - before)


def rows(started: PtyProgram, keys: bytes, screen: str = "") -> Taken | None:
    """What it took until the first rows of the list stood; the processor's part is that of the whole repaint."""
    before = started.cpu_seconds()
    try:
        region = SESSIONS if screen == "sessions" else LIST
        wall, burst = started.press_region(keys, *region, quiet=WHOLE, timeout=8)
    except PtyTimeout:
        return None
    return Taken(burst.last if wall is None else wall, started.cpu_seconds() - before)


class Figures:
    """Figures by name, on the large workspace and on the one of `FEW` events."""

    def __init__(self) -> None:
        self._found: dict[str, tuple[list[Taken], list[Taken]]] = {}

    def note(self, name: str, taken: Taken | None, *, few: bool) -> None:
        """Keep one; what could not be measured is no figure."""
        kept = self._found.setdefault(name, ([], []))[few]
        if taken is not None:
            kept.append(taken)

    def compare(self) -> None:
        """Print all; then the large one may take `MOST_TIMES` as long and a little more, in every one."""
        slower: list[str] = []
        for name, (large, few) in self._found.items():
            print(f"\n{name:<28} {_said(large)}   on {FEW}: {_said(few)}", end="")
            if large and few and _median(large) > MOST_TIMES * _median(few) + SLACK:
                slower.append(name)
        print()
        assert not slower


def _median(values: list[Taken]) -> float:
    """The lesser of the medians of both clocks: another program that was busy is in one of them alone."""
    return min(
        statistics.median(each.wall for each in values), statistics.median(each.cpu for each in values)
    )


def _said(values: list[Taken]) -> str:
    if not values:
        return "—"
    walls = [each.wall for each in values]
    cpu = statistics.median(each.cpu for each in values)
    return (
        f"{statistics.median(walls) * 1e3:5.0f} ms, p95 {percentile(walls, 0.95) * 1e3:5.0f}, "
        f"worst {max(walls) * 1e3:5.0f}, CPU {cpu * 1e3:4.0f}"
    )


def _screens() -> list[tuple[str, bytes]]:
    return [(page.NAME, str(page.NUMBER).encode()) for page in WorkbenchApp.PAGES]


def test_screens_appear(desks: tuple[Path, Path], environment: dict[str, str]) -> None:
    """From the key of a screen to its first rows: the first time, and again; and what all of them take."""
    figures = Figures()
    memory: tuple[list[float], list[float]] = ([], [])
    screens = _screens()
    for _ in range(ROUNDS):
        for few, root in enumerate(desks):
            # The last screen of the navigation comes first, so that every other is new.
            with program(root, screens[-1][0], environment) as started:
                for again in (False, True):
                    for name, key in screens:
                        taken = rows(started, key, name)
                        if again or name != screens[-1][0]:
                            when = "again" if again else "first"
                            figures.note(f"{name}, {when}", taken, few=bool(few))
                memory[few].append(started.memory().resident / 2**20)
    big, small = (statistics.median(values) for values in memory)
    print(
        f"\nmemory with every screen shown: {big:.0f} MB on {LARGE:,} events, {small:.0f} MB on {FEW}", end=""
    )
    figures.compare()
    assert big - small <= MOST_MEMORY


@pytest.mark.parametrize("screen", [name for name, _ in _screens()])
def test_moves_and_a_filter(desks: tuple[Path, Path], environment: dict[str, str], screen: str) -> None:
    """The cursor down a list, with the detail of each row; then the first letter of a filter."""
    figures = Figures()
    for few, root in enumerate(desks):
        with program(root, screen, environment) as started:
            for number in range(MOVES):
                # Down and up in turn, so that a short list has as many.
                before = started.cpu_seconds()
                try:
                    wall = started.press(b"j" if number // 5 % 2 == 0 else b"k", timeout=3).last
                except PtyTimeout:
                    break
                figures.note(f"{screen}, a move", Taken(wall, started.cpu_seconds() - before), few=bool(few))
            else:
                for key in (b".", b",") * 4:
                    figures.note(f"{screen}, a page", whole(started, key), few=bool(few))
                for _ in range(ROUNDS):
                    if whole(started, b"/") is not None:
                        # A screen waits for a pause in typing, which is in the figure.
                        figures.note(
                            f"{screen}, a letter of a filter", rows(started, b"p", screen), few=bool(few)
                        )
                    whole(started, b"\x1b")
                    whole(started, b"\x1b")
    figures.compare()


def test_time_travel(desks: tuple[Path, Path], environment: dict[str, str]) -> None:
    """To a position in the middle, and back."""
    figures = Figures()
    for few, (root, events) in enumerate(zip(desks, (LARGE, FEW), strict=True)):
        for screen in [name for name, _ in _screens()[:4]] * ROUNDS:
            with program(root, screen, environment) as started:
                started.press(b"t")
                started.settle()
                # What is offered is selected: the first digit takes its place.
                started.send(str(events // 2).encode())
                started.settle()
                figures.note(f"{screen}, time travel", rows(started, b"\r", screen), few=bool(few))
                assert "as of" in started.lines()[0], started.text()
                figures.note(f"{screen}, back to now", rows(started, b"T", screen), few=bool(few))
    figures.compare()


def test_large_texts(desks: tuple[Path, Path], environment: dict[str, str]) -> None:
    """The detail of an event of a megabyte, a megabyte of evidence, its end, and the file on the disk.

    The disk's file has changed in one line; the path is relative, and the program runs in its folder.
    """
    figures = Figures()
    for few, root in enumerate(desks):
        for _ in range(ROUNDS):
            with program(root, "timeline", environment) as started:
                started.press(b"g")
                started.settle()
                figures.note("event of 1 MB", whole(started, b"j"), few=bool(few))
                for _ in range(3):
                    started.press(b"j")
                started.settle()
                figures.note("evidence of 1 MB, first", whole(started, b"e"), few=bool(few))
                assert started.shows("large.py"), started.text()
                started.press(b"\x1b")
                started.settle()
                figures.note("evidence of 1 MB, again", whole(started, b"e"), few=bool(few))
                figures.note("its end", whole(started, b"G"), few=bool(few))
                for _ in range(5):
                    figures.note("a line up", whole(started, b"k"), few=bool(few))
                before = started.cpu_seconds()
                started.send(b"d")
                wall = started.wait_for("step_five_hundred")
                taken = Taken(wall, started.cpu_seconds() - before)
                figures.note("its difference", taken, few=bool(few))
    figures.compare()
