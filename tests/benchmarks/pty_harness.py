"""A pseudo-terminal harness: a program runs in a real pty and is timed by what comes out of it.

The latency of a key is the time from writing its bytes to the *last* byte of the repaint that
follows: what a person at a terminal sees, without the emulator's own drawing. `Pilot` cannot
measure it, because each of its key presses costs some 60 ms of waiting whatever the program does.

A repaint is over when nothing has come for a quiet gap; the gap itself is not in the figure,
because the clock is read when bytes arrive. Emulation of the screen happens between bursts, never
while one is being timed.

Linux only: memory and processor time are read from `/proc`.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import re
import select
import signal
import struct
import subprocess
import termios
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Self

import pyte

QUIET_SECONDS = 0.03
"""A repaint is over when nothing has come for this long: two frames at 60 per second."""
TIMEOUT_SECONDS = 10.0
READ_BYTES = 1 << 16

# What would change how the program draws, taken out of the inherited environment.
_UNWANTED = ("NO_COLOR", "FORCE_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "COLUMNS", "LINES", "TERM_PROGRAM")
_UNWANTED_PREFIXES = ("TEXTUAL", "RICH_", "PYTEST_", "COV_CORE")

# Sequences that terminals accept silently and pyte would draw as text: control sequences with a
# private prefix `<`, `=`, `>` (keyboard protocols), and device-control, privacy and application
# strings. A `?` prefix it understands.
_UNKNOWN_TO_PYTE = re.compile(rb"\x1b\[[<=>][0-9;:]*[ -/]*[@-~]|\x1b[P^_X][^\x1b]*\x1b\\")
# The same, and any other escape sequence, not yet complete at the end of what was read.
_UNFINISHED = re.compile(rb"\x1b(?:\[[0-?]*[ -/]*|[P^_X][^\x1b]*\x1b?)?\Z")


class PtyTimeout(Exception):
    """The program did not do what was waited for in time; the message holds the screen as it was."""


class PtyEnded(Exception):
    """The program ended while something was waited for; the message holds the screen as it was."""


class Burst(NamedTuple):
    """What came out between a stimulus and the next quiet gap. Times are seconds since the stimulus."""

    first: float
    """When the first bytes came."""
    last: float
    """When the last bytes came: the latency."""
    output: bytes


class Memory(NamedTuple):
    """Of the program's process alone, in bytes."""

    resident: int
    peak_resident: int


class IdleUse(NamedTuple):
    """What a program did while nobody touched it."""

    wall_seconds: float
    cpu_seconds: float
    output_bytes: int

    @property
    def cpu_share(self) -> float:
        """Of one core, 0.0 to 1.0."""
        return self.cpu_seconds / self.wall_seconds


class PtyProgram:
    """A program in a pseudo-terminal of `columns` x `rows`; a context manager that ends it.

    `env` adds to the inherited environment (or replaces parts of it), from which everything that
    changes how a program draws has been taken. `spawned_at` is `time.perf_counter()` just before
    the process was created. Not for use from more than one thread.
    """

    def __init__(
        self,
        command: Sequence[str | Path],
        *,
        columns: int = 120,
        rows: int = 40,
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
    ) -> None:
        self.columns = columns
        self.rows = rows
        self._chunks: list[bytes] = []
        self._arrived: list[float] = []
        self._screen = pyte.Screen(columns, rows)
        self._stream = pyte.ByteStream(self._screen)
        self._fed = 0
        self._unfinished = b""
        self._hung_up = False
        self._master, slave = os.openpty()
        try:
            _set_size(self._master, columns, rows)
            self.spawned_at = time.perf_counter()
            self._process = subprocess.Popen(
                [str(part) for part in command],
                stdin=slave,
                stdout=slave,
                stderr=slave,
                env=_environment(env or {}),
                cwd=cwd,
                start_new_session=True,
                # Without a controlling terminal no SIGWINCH, no ctrl-c and no SIGHUP would arrive.
                preexec_fn=_take_terminal,
            )
        except BaseException:
            os.close(self._master)
            raise
        finally:
            os.close(slave)
        os.set_blocking(self._master, False)

    # -- life ---------------------------------------------------------------------------------

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Kill the program and what it started in its session, if it still runs; free the terminal."""
        if self._process.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
        if self._master >= 0:
            os.close(self._master)
            self._master = -1

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def running(self) -> bool:
        return self._process.poll() is None

    def signal(self, number: signal.Signals) -> None:
        """Send a signal to the program's own process."""
        self._process.send_signal(number)

    def wait_exit(self, timeout: float = TIMEOUT_SECONDS) -> int:
        """Read until the program has ended; its exit code, or minus the number of a signal.

        A program that restores the terminal on its way out blocks if nobody reads what it writes,
        so the output is taken until the end.
        """
        deadline = time.perf_counter() + timeout
        while self._process.poll() is None:
            left = deadline - time.perf_counter()
            if left <= 0:
                raise PtyTimeout(f"still running after {timeout} s:\n{self.text()}")
            if self._hung_up:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    self._process.wait(left)
            else:
                # Its children may hold the terminal open, so its end is looked for now and then.
                self._read(min(left, 0.02))
        self._drain()
        return self._process.returncode

    # -- stimulus and measurement -------------------------------------------------------------

    def first_paint(
        self, marker: str, *, quiet: float = QUIET_SECONDS, timeout: float = TIMEOUT_SECONDS
    ) -> Burst:
        """The burst whose end first shows `marker` on the screen; times since the process was created.

        Programs write mode switches, pause while they load, then paint: bursts without the marker
        are passed over. `marker` is text within one line of the screen.
        """
        deadline = self.spawned_at + timeout
        while True:
            burst = self._burst(self.spawned_at, quiet, deadline)
            if self.shows(marker):
                return burst

    def send(self, keys: bytes) -> None:
        """Write key bytes as a terminal would, all of them, and measure nothing."""
        view = memoryview(keys)
        while view:
            try:
                view = view[os.write(self._master, view) :]
            except BlockingIOError:
                # The program reads slowly; it may be waiting for us to take its output.
                self._read(0.01)

    def press(self, keys: bytes, *, quiet: float = QUIET_SECONDS, timeout: float = TIMEOUT_SECONDS) -> Burst:
        """Write key bytes; the repaint that follows, timed from before the write to its last byte.

        What came before the keys is taken first and is in no figure. PtyTimeout if nothing came or
        it did not become quiet.
        """
        self._drain()
        start = time.perf_counter()
        self.send(keys)
        return self._burst(start, quiet, start + timeout)

    def press_region(
        self, keys: bytes, lines: slice, columns: slice, *, quiet: float, timeout: float = TIMEOUT_SECONDS
    ) -> tuple[float | None, Burst]:
        """As `press`, and the seconds until a part of the screen first shows what it will show in the end.

        That is when up to three of the lines that change there stand as they do when all is quiet; None if none
        changes. It is found afterwards, from what came when: nothing is emulated while the program writes.
        """
        self._drain()

        def part() -> list[str]:
            return [line.ljust(self.columns)[columns] for line in self.lines()[lines]]

        pictures = [part()]
        begin = len(self._chunks)
        start = time.perf_counter()
        self.send(keys)
        burst = self._burst(start, quiet, start + timeout)
        chunks = self._chunks[begin:]
        del self._chunks[begin:]
        for chunk in chunks:
            self._chunks.append(chunk)
            pictures.append(part())
        final = pictures[-1]
        changed = [at for at, line in enumerate(final) if line.strip() and line != pictures[0][at]]
        for arrived, picture in zip(self._arrived[begin:], pictures[1:], strict=True):
            if changed and sum(picture[at] == final[at] for at in changed) >= min(3, len(changed)):
                return arrived - start, burst
        return None, burst

    def resize(
        self, columns: int, rows: int, *, quiet: float = QUIET_SECONDS, timeout: float = TIMEOUT_SECONDS
    ) -> Burst:
        """Give the terminal another size (the kernel sends SIGWINCH); the repaint that follows."""
        self._drain()
        self._emulate()
        self.columns, self.rows = columns, rows
        self._screen.resize(lines=rows, columns=columns)
        start = time.perf_counter()
        _set_size(self._master, columns, rows)
        return self._burst(start, quiet, start + timeout)

    def wait_for(self, marker: str, *, timeout: float = TIMEOUT_SECONDS) -> float:
        """Read until the screen shows `marker`; seconds waited, to within one read."""
        start = time.perf_counter()
        arrived = start
        while not self.shows(marker):
            left = start + timeout - time.perf_counter()
            if left <= 0:
                raise PtyTimeout(f"{marker!r} is not on the screen after {timeout} s:\n{self.text()}")
            self._refuse_hang_up(f"before {marker!r} was on the screen")
            if self._read(left):
                arrived = time.perf_counter()
        return arrived - start

    def settle(self, *, quiet: float = 0.25, timeout: float = TIMEOUT_SECONDS) -> None:
        """Read until nothing has come for `quiet` seconds (start-up work and its repaints are over)."""
        deadline = time.perf_counter() + timeout
        while self._read(quiet):
            if time.perf_counter() > deadline:
                raise PtyTimeout(f"never quiet for {quiet} s within {timeout} s:\n{self.text()}")

    def idle(self, seconds: float) -> IdleUse:
        """Touch nothing for `seconds`, reading all the while; what the program used meanwhile.

        The kernel counts in ticks of 10 ms, so 1 % of a core needs a window of several seconds.
        """
        self._drain()
        before = len(self._chunks)
        cpu, start = self.cpu_seconds(), time.perf_counter()
        while (left := start + seconds - time.perf_counter()) > 0:
            self._refuse_hang_up("while it was left alone")
            self._read(left)
        return IdleUse(
            wall_seconds=time.perf_counter() - start,
            cpu_seconds=self.cpu_seconds() - cpu,
            output_bytes=sum(len(chunk) for chunk in self._chunks[before:]),
        )

    # -- what the kernel knows of it ----------------------------------------------------------

    def memory(self) -> Memory:
        """VmRSS and VmHWM of the process, without its children."""
        fields: dict[str, int] = {}
        for line in Path(f"/proc/{self.pid}/status").read_text().splitlines():
            name, _, value = line.partition(":")
            if name in ("VmRSS", "VmHWM"):
                fields[name] = int(value.split()[0]) * 1024
        if len(fields) != 2:
            raise PtyEnded(f"process {self.pid} has no memory any more:\n{self.text()}")
        return Memory(resident=fields["VmRSS"], peak_resident=fields["VmHWM"])

    def cpu_seconds(self) -> float:
        """User and system time of all its threads so far, without its children."""
        # The second field is the program's name in brackets, which may itself hold blanks and brackets.
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        user, system = int(fields[11]), int(fields[12])
        return (user + system) / os.sysconf("SC_CLK_TCK")

    # -- what came out ------------------------------------------------------------------------

    @property
    def output(self) -> bytes:
        """Every byte that was read so far."""
        return b"".join(self._chunks)

    def lines(self) -> list[str]:
        """The screen's rows as text, top to bottom, blanks at the right end removed.

        The emulator keeps no second buffer: after a program left the alternate screen its last
        picture still stands here. Whether it left is in `output`.
        """
        self._emulate()
        return [line.rstrip() for line in self._screen.display]

    def text(self) -> str:
        """`lines()` as one string."""
        return "\n".join(self.lines())

    def shows(self, marker: str) -> bool:
        """Whether one line of the screen holds `marker`."""
        return any(marker in line for line in self.lines())

    # -- inside -------------------------------------------------------------------------------

    def _burst(self, start: float, quiet: float, deadline: float) -> Burst:
        first = last = 0.0
        begin = len(self._chunks)
        while True:
            now = time.perf_counter()
            seen = len(self._chunks) > begin
            if now >= deadline:
                what = "did not become quiet" if seen else "wrote nothing"
                raise PtyTimeout(f"the program {what} in {now - start:.2f} s:\n{self.text()}")
            if not self._read(min(quiet, deadline - now) if seen else deadline - now):
                if seen and (self._hung_up or time.perf_counter() - start - last >= quiet):
                    return Burst(first, last, b"".join(self._chunks[begin:]))
                self._refuse_hang_up("before it painted")
                continue
            last = time.perf_counter() - start
            first = last if not seen else first

    def _drain(self, timeout: float = TIMEOUT_SECONDS) -> None:
        deadline = time.perf_counter() + timeout
        while self._read(0.0):
            if time.perf_counter() > deadline:
                raise PtyTimeout(f"the program writes without end:\n{self.text()}")

    def _read(self, timeout: float) -> bool:
        """Take what is there, waiting at most `timeout` seconds for it; whether there was anything."""
        if self._hung_up or not select.select([self._master], [], [], timeout)[0]:
            return False
        try:
            chunk = os.read(self._master, READ_BYTES)
        except BlockingIOError:
            return False
        except OSError as error:
            if error.errno != errno.EIO:
                raise
            chunk = b""  # Linux says so when the last program has closed the terminal.
        if not chunk:
            self._hung_up = True
            return False
        self._chunks.append(chunk)
        self._arrived.append(time.perf_counter())
        return True

    def _refuse_hang_up(self, when: str) -> None:
        if self._hung_up:
            raise PtyEnded(f"the program closed the terminal {when}:\n{self.text()}")

    def _emulate(self) -> None:
        fresh = self._chunks[self._fed :]
        if not fresh:
            return
        self._fed = len(self._chunks)
        data = self._unfinished + b"".join(fresh)
        unfinished = _UNFINISHED.search(data)
        self._unfinished = data[unfinished.start() :] if unfinished else b""
        whole = data[: unfinished.start()] if unfinished else data
        self._stream.feed(_UNKNOWN_TO_PYTE.sub(b"", whole))


def percentile(values: Iterable[float], share: float) -> float:
    """The smallest of `values` that at least `share` (0 < share <= 1) of them do not exceed."""
    ordered = sorted(values)
    if not ordered or not 0 < share <= 1:
        raise ValueError("needs values and a share above 0 and up to 1")
    return ordered[max(0, -int(-share * len(ordered) // 1) - 1)]


def _take_terminal() -> None:
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    # Whoever runs the tests in the background of a shell hands down that ctrl-c is ignored.
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def _set_size(terminal: int, columns: int, rows: int) -> None:
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))


def _environment(extra: Mapping[str, str]) -> dict[str, str]:
    kept = {
        name: value
        for name, value in os.environ.items()
        if name not in _UNWANTED and not name.startswith(_UNWANTED_PREFIXES)
    }
    return {**kept, "TERM": "xterm-256color", "COLORTERM": "truecolor", **extra}
