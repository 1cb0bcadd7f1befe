"""Two programs write to one log, and one of them is killed again and again.

`WORKBENCH_TEST_EVENTS` events by each writer (2,000 unless it is set) and `WORKBENCH_TEST_KILLS`
kills (4); the full size is 20,000 and 10.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from itertools import pairwise
from pathlib import Path

from tests.log import log_writer_process
from tests.log.log_cases import assert_whole, found, new_log, said, stream

EVENTS = int(os.environ.get("WORKBENCH_TEST_EVENTS", "2000"))
KILLS = int(os.environ.get("WORKBENCH_TEST_KILLS", "4"))
ROOT = Path(__file__).parents[2]


class Writer:
    """One writing process; everything it acknowledged is read as it comes."""

    def __init__(self, path: Path, name: str, wanted: int) -> None:
        self.acknowledged: list[tuple[int, int]] = []
        self.errors: list[str] = []
        self.longest_wait = 0.0
        self.progress = threading.Condition()
        self.process = subprocess.Popen(
            [sys.executable, "-m", log_writer_process.__name__, str(path), name, str(wanted)],
            stdout=subprocess.PIPE,
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        )
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        before: float | None = None
        for line in self.process.stdout:
            # A line cut short by the kill acknowledges nothing.
            if not line.endswith(b"\n"):
                break
            now = time.monotonic()
            words = line.decode().split()
            with self.progress:
                if words[0] == "error":
                    self.errors.append(words[1])
                elif words[0] != "ready":
                    self.acknowledged.append((int(words[0]), int(words[1])))
                    if before is not None:
                        self.longest_wait = max(self.longest_wait, now - before)
                    before = now
                self.progress.notify_all()

    def wait_for(self, count: int) -> None:
        """Until that many appends were acknowledged, or the process ended."""
        with self.progress:
            while len(self.acknowledged) < count and self._reader.is_alive():
                self.progress.wait(0.2)

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        self._reader.join()

    def finish(self) -> None:
        assert self.process.wait(600) == 0
        self._reader.join()


def test_no_acknowledged_event_is_lost_whoever_is_killed(tmp_path: Path) -> None:
    path = tmp_path / "log.db"
    started = time.monotonic()
    steady = Writer(path, "steady", EVENTS)
    victims: list[Writer] = []
    for kill in range(KILLS):
        victim = Writer(path, "victim", EVENTS)
        victims.append(victim)
        # Not a round number, so that the kill falls into every phase of an append.
        victim.wait_for(EVENTS // (KILLS + 3) + 7 * kill)
        victim.kill()
    victims.append(Writer(path, "victim", EVENTS))
    victims[-1].finish()
    steady.finish()
    seconds = time.monotonic() - started

    assert sum(victim.process.returncode == -signal.SIGKILL for victim in victims) == KILLS
    assert [writer.errors for writer in (steady, *victims)] == [[]] * (KILLS + 2)
    promised = {
        "steady": steady.acknowledged,
        "victim": [entry for victim in victims for entry in victim.acknowledged],
    }
    with new_log(path) as log:
        for name, entries in promised.items():
            stored = {e.seq: (e.position, e.payload["text"]) for e in log.stream(stream(name)).read()}
            assert sorted(stored) == list(range(1, EVENTS + 1))
            for position, seq in entries:
                assert stored[seq] == (position, f"word {name} {seq}")
            # The one append whose answer the kill swallowed may be there; no other may be.
            assert EVENTS - len(entries) <= (KILLS if name == "victim" else 0)
        assert log.last_position() == 2 * EVENTS
        assert len(found(log, "word")) == 2 * EVENTS
        assert_whole(log)
    waits = [round(writer.longest_wait * 1000) for writer in (steady, *victims)]
    print(f"2 x {EVENTS} events, {KILLS} kills, {seconds:.1f} s; longest waits in ms: {waits}")


def test_neither_of_two_writers_starves(tmp_path: Path) -> None:
    """Both write as fast as they can from the start; neither waits long, neither is refused."""
    path = tmp_path / "log.db"
    with new_log(path) as log:
        log.append(stream("first"), [said("x")])
    writers = [Writer(path, name, 600) for name in ("left", "right")]
    for writer in writers:
        writer.wait_for(1)
    for writer in writers:
        writer.finish()
    assert [writer.errors for writer in writers] == [[], []]
    with new_log(path) as log:
        order = [event.stream for event in log.read()][1:]
        assert_whole(log)
    # Where both are at work nobody has a long run: SQLite's lock alone gives runs of hundreds.
    both = order[max(order.index("test/left"), order.index("test/right")) :]
    last = min(len(both) - both[::-1].index(name) for name in ("test/left", "test/right"))
    longest = run = 0
    for before, after in pairwise(both[:last]):
        run = run + 1 if before == after else 0
        longest = max(longest, run)
    assert longest < 60
    assert max(writer.longest_wait for writer in writers) < 4


OPEN_MANY = """
import sys
from pathlib import Path
from tests.log.log_cases import new_log, said, stream
print("ready", flush=True)
sys.stdin.readline()
for number in range(15):
    with new_log(Path(sys.argv[1]) / f"{number}.db") as log:
        log.append(stream("a"), [said("x")])
"""


def test_many_processes_may_lay_out_one_file_at_once(tmp_path: Path) -> None:
    """Each of four processes makes, fills and closes fifteen new files, all at the same time."""
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", OPEN_MANY, str(tmp_path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        )
        for _ in range(4)
    ]
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
    for process in processes:
        assert process.stdin is not None
        process.stdin.write(b"go\n")
        process.stdin.flush()
    for process in processes:
        process.communicate(timeout=120)
        assert process.returncode == 0
    for number in range(15):
        with new_log(tmp_path / f"{number}.db") as log:
            assert log.last_position() == 4
            assert_whole(log)
