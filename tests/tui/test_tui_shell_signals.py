"""A real terminal: whatever ends the program, the terminal is as it was before."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.benchmarks.pty_harness import PtyProgram
from tests.thorough import some
from tests.tui.shell_probe import make_workspace

CHILD = """
import sys
from pathlib import Path
from tests.tui.shell_probe import ProbeApp
app = ProbeApp(Path(sys.argv[1]))
app.run()
sys.exit(app.return_code or 0)
"""
CHECKOUT = Path(__file__).resolve().parents[2]

ENTER_ALTERNATE = b"\x1b[?1049h"
LEAVE_ALTERNATE = b"\x1b[?1049l"
SHOW_CURSOR = b"\x1b[?25h"
MOUSE_OFF = b"\x1b[?1000l"


class Terminal:
    """The program in a pseudo-terminal of 100 by 30."""

    def __init__(self, root: Path) -> None:
        self.master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 100, 0, 0))
        self.modes = termios.tcgetattr(slave)
        self.slave = slave
        self.output = b""
        self.process = subprocess.Popen(
            [sys.executable, "-c", CHILD, str(root)],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            cwd=CHECKOUT,
            env={**os.environ, "PYTHONPATH": str(CHECKOUT)},
            start_new_session=True,
        )

    def read_until(self, wanted: bytes, seconds: float = 20.0) -> None:
        """Read until `wanted` was written."""
        end = time.monotonic() + seconds
        while wanted not in self.output:
            left = end - time.monotonic()
            assert left > 0, self.output[-2000:]
            if select.select([self.master], [], [], min(left, 0.1))[0]:
                self.output += os.read(self.master, 65536)

    def read_for(self, seconds: float) -> None:
        """Read whatever comes within so many seconds."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            if select.select([self.master], [], [], left)[0]:
                self.output += os.read(self.master, 65536)

    def read_to_end(self, seconds: float = 20.0) -> int:
        """Read what is left until the process has ended; its exit code."""
        end = time.monotonic() + seconds
        while self.process.poll() is None or select.select([self.master], [], [], 0)[0]:
            assert time.monotonic() < end, self.output[-2000:]
            if select.select([self.master], [], [], 0.1)[0]:
                self.output += os.read(self.master, 65536)
        return self.process.returncode

    def close(self) -> None:
        """End what still runs."""
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        os.close(self.slave)
        os.close(self.master)


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Terminal]:
    opened = Terminal(make_workspace(tmp_path / "w"))
    yield opened
    opened.close()


def assert_restored(terminal: Terminal) -> None:
    after = terminal.output[terminal.output.rindex(ENTER_ALTERNATE) :]
    assert LEAVE_ALTERNATE in after
    assert MOUSE_OFF in after
    assert after.rindex(SHOW_CURSOR) > 0
    assert termios.tcgetattr(terminal.slave)[:4] == terminal.modes[:4]
    assert b"Traceback" not in terminal.output


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_the_program_and_restores_the_terminal(
    terminal: Terminal, number: signal.Signals
) -> None:
    terminal.read_until(b"row 1")
    terminal.process.send_signal(number)
    assert terminal.read_to_end() == 128 + number
    assert_restored(terminal)


def test_a_signal_before_the_workspace_is_open(terminal: Terminal) -> None:
    terminal.read_until(b"Chronicle Workbench")
    terminal.process.send_signal(signal.SIGTERM)
    assert terminal.read_to_end() == 143
    assert_restored(terminal)


@pytest.mark.parametrize("delay", some([0.0, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4], 3))
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_just_after_the_terminal_was_switched(
    terminal: Terminal, number: signal.Signals, delay: float
) -> None:
    terminal.read_until(ENTER_ALTERNATE)
    terminal.read_for(delay)
    terminal.process.send_signal(number)
    assert terminal.read_to_end() == 128 + number
    assert_restored(terminal)


@pytest.mark.parametrize("delay", some([0.0, 0.1, 0.2, 0.3, 0.4, 0.5], 3))
def test_a_signal_at_any_moment_of_the_start_leaves_no_switched_terminal(
    terminal: Terminal, delay: float
) -> None:
    terminal.read_for(delay)
    terminal.process.send_signal(signal.SIGTERM)
    assert terminal.read_to_end() in (143, -signal.SIGTERM)
    assert terminal.output.count(ENTER_ALTERNATE) == terminal.output.count(LEAVE_ALTERNATE)
    assert termios.tcgetattr(terminal.slave)[:4] == terminal.modes[:4]
    assert b"Traceback" not in terminal.output


def test_a_terminal_that_is_gone_ends_the_program(tmp_path: Path) -> None:
    start = f"import sys; sys.argv[1:] = [{str(make_workspace(tmp_path / 'w'))!r}]; exec({CHILD!r})"
    program = PtyProgram(
        [sys.executable, "-c", start],
        cwd=CHECKOUT,
        env={"PYTHONPATH": str(CHECKOUT)},
    )
    try:
        program.wait_for("row 1")
        # Whoever closes the window sends this signal, and takes the terminal away at the same moment.
        os.close(program._master)
        assert program._process.wait(10) != 0
    finally:
        if program._process.poll() is None:
            program._process.kill()
            program._process.wait()


RINGING = CHILD.replace("app.run()", "app.call_later(app.set_interval, 0.01, app.bell); app.run()")


def test_a_dead_terminal_that_sends_no_signal_ends_the_program(tmp_path: Path) -> None:
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 100, 0, 0))
    process = subprocess.Popen(
        [sys.executable, "-c", RINGING, str(make_workspace(tmp_path / "w"))],
        stdin=subprocess.DEVNULL,
        stdout=slave,
        stderr=slave,
        cwd=CHECKOUT,
        env={**os.environ, "PYTHONPATH": str(CHECKOUT)},
        start_new_session=True,
    )
    try:
        output = b""
        while b"row 1" not in output:
            assert select.select([master], [], [], 20)[0], output[-2000:]
            output += os.read(master, 65536)
        os.close(master)
        # More is written than any queue holds; whoever only writes has nothing but the error to end by.
        assert process.wait(10) == 129
    finally:
        os.close(slave)
        if process.poll() is None:
            process.kill()
            process.wait()


def test_leaving_restores_the_terminal(terminal: Terminal) -> None:
    terminal.read_until(b"row 1")
    os.write(terminal.master, b"q")
    assert terminal.read_to_end() == 0
    assert_restored(terminal)


def test_handing_the_mouse_over_turns_its_reports_off(terminal: Terminal) -> None:
    terminal.read_until(b"row 1")
    terminal.output = b""
    os.write(terminal.master, b"M")
    terminal.read_until(MOUSE_OFF)
    terminal.output = b""
    os.write(terminal.master, b"M")
    terminal.read_until(b"\x1b[?1000h")
