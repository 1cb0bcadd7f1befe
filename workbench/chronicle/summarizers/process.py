"""Runs a program that is given text and answers with text: no shell, a time limit, an output limit.

The program gets a process group of its own, and nothing of it outlives the call but what left that group
on purpose: where our own process is killed, a guard beside it, which hears of that by the end of a pipe, ends
the group. Sizes are in bytes, times in seconds.
"""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, NamedTuple

from workbench.chronicle.summarizers.errors import (
    SummarizerCancelled,
    SummarizerConfiguration,
    SummarizerOutput,
    SummarizerTimeout,
)

MOST_OUTPUT = 1024 * 1024
_MOST_COMPLAINT = 8192
_POLL = 0.05
"""How often somebody's wish to stop, and the end of a program whose children go on, are looked for."""
_DRAIN = 0.5
"""How long output is awaited from what has left the program's group."""
_CHUNK = 65536


class Ended(NamedTuple):
    """How a program ended."""

    status: int
    """Its exit status; below 0 the number of the signal that ended it."""
    output: bytes
    complaint: bytes
    """The end of what it wrote to its standard error."""


def run(
    command: Sequence[str],
    given: bytes,
    *,
    timeout: float,
    environment: Mapping[str, str],
    folder: Path | None = None,
    cancelled: Callable[[], bool] | None = None,
) -> Ended:
    """Run a program to its end, `given` on its standard input.

    Raises `SummarizerConfiguration` if it cannot be started, `SummarizerTimeout`, `SummarizerOutput` for
    more than `MOST_OUTPUT`, `SummarizerCancelled`. It may close its input early, or never read it.
    """
    try:
        program = subprocess.Popen(
            list(command),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=folder,
            env=dict(environment),
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        raise SummarizerConfiguration(
            f"the summarizer’s program cannot be started: {_why(error)}",
            hint="the first word of [chronicle] command is the program, by its name or its path",
        ) from None
    with _guarded(program.pid):
        talk = _Talk(program, given, time.monotonic() + timeout, timeout, cancelled)
        try:
            return talk.to_the_end()
        finally:
            talk.finish()


_GUARD = ("/bin/sh", "-c", 'read -r word; kill -s KILL -- "-$0"')
"""Reads until its input ends, which nobody writes to and our process alone holds open."""


@contextmanager
def _guarded(group: int) -> Iterator[None]:
    """Have the process group ended, too, if this process is killed in the block.

    A signal that the system sends on a parent's end would have to be asked for between fork and exec, which
    is not safe beside threads, and would reach the program alone. Nothing is guarded where there is no shell.
    """
    try:
        guard = subprocess.Popen(
            [*_GUARD, str(group)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={},
            start_new_session=True,
        )
    except OSError:
        yield
        return
    try:
        yield
    finally:
        # Before its input ends: the group's number may be somebody else's by now.
        guard.kill()
        guard.wait()
        assert guard.stdin is not None
        guard.stdin.close()


def _why(error: OSError | ValueError) -> str:
    if isinstance(error, OSError) and error.strerror:
        return error.strerror.lower()
    return "it is no command"


class _Talk:
    """One running program and what was exchanged with it."""

    def __init__(
        self,
        program: subprocess.Popen[bytes],
        given: bytes,
        deadline: float,
        timeout: float,
        cancelled: Callable[[], bool] | None,
    ) -> None:
        self._program = program
        self._given = memoryview(given)
        self._deadline = deadline
        self._timeout = timeout
        self._cancelled = cancelled
        self._output = bytearray()
        self._complaint = bytearray()
        self._selector = selectors.DefaultSelector()
        assert program.stdin is not None and program.stdout is not None and program.stderr is not None
        self._add(program.stdin, selectors.EVENT_WRITE)
        self._add(program.stdout, selectors.EVENT_READ)
        self._add(program.stderr, selectors.EVENT_READ)

    def _add(self, pipe: IO[bytes], events: int) -> None:
        os.set_blocking(pipe.fileno(), False)
        self._selector.register(pipe, events)

    def to_the_end(self) -> Ended:
        """Exchange until it has ended; see `run`."""
        while self._reads() and not _has_ended(self._program):
            self._exchange(self._check())
        while not _has_ended(self._program):
            # It has closed its output and goes on.
            self._exchange(self._check())
        self._kill()
        self._program.wait()
        until = time.monotonic() + _DRAIN
        while self._reads() and (left := until - time.monotonic()) > 0:
            self._exchange(min(left, _POLL))
        return Ended(self._program.returncode, bytes(self._output), bytes(self._complaint))

    def finish(self) -> None:
        """Leave nothing behind."""
        if self._program.returncode is None:
            self._kill()
            self._program.wait()
        self._selector.close()
        for pipe in (self._program.stdin, self._program.stdout, self._program.stderr):
            if pipe is not None:
                try:
                    pipe.close()
                except OSError:
                    # Its input, which nobody reads any more.
                    continue

    def _check(self) -> float:
        """How long to wait for the next exchange. Raises `SummarizerCancelled`, `SummarizerTimeout`."""
        if self._cancelled is not None and self._cancelled():
            raise SummarizerCancelled("the summarizer was stopped")
        left = self._deadline - time.monotonic()
        if left <= 0:
            raise SummarizerTimeout(
                f"the summarizer’s program gave no answer within {self._timeout:g} seconds",
                hint="[chronicle] timeout_seconds is how long it may take",
            )
        return min(left, _POLL)

    def _reads(self) -> bool:
        return any(key.events == selectors.EVENT_READ for key in self._selector.get_map().values())

    def _exchange(self, wait: float) -> None:
        if not self._selector.get_map():
            time.sleep(wait)
            return
        for key, _ in self._selector.select(wait):
            if key.events == selectors.EVENT_WRITE:
                self._write(key.fd)
            elif key.fileobj is self._program.stdout:
                self._read(key.fd, self._output)
                if len(self._output) > MOST_OUTPUT:
                    raise SummarizerOutput(f"the summarizer’s program wrote more than {MOST_OUTPUT:,} bytes")
            else:
                self._read(key.fd, self._complaint)
                del self._complaint[:-_MOST_COMPLAINT]

    def _write(self, fd: int) -> None:
        try:
            written = os.write(fd, self._given[:_CHUNK])
            self._given = self._given[written:]
        except BlockingIOError:
            return
        except OSError:
            # It does not want to read on, which is its own affair.
            self._given = self._given[:0]
        if not self._given:
            assert self._program.stdin is not None
            self._selector.unregister(self._program.stdin)
            self._program.stdin.close()

    def _read(self, fd: int, into: bytearray) -> None:
        try:
            data = os.read(fd, _CHUNK)
        except BlockingIOError:
            return
        if data:
            into += data
        else:
            self._selector.unregister(fd)

    def _kill(self) -> None:
        try:
            os.killpg(self._program.pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            # Nobody is left in its group; a group of the dead alone answers so on some systems.
            return


def _has_ended(program: subprocess.Popen[bytes]) -> bool:
    """Whether the program itself has ended. It is not reaped, so that its group keeps its number."""
    if program.returncode is not None:
        return True
    if not hasattr(os, "waitid"):
        return program.poll() is not None
    try:
        return os.waitid(os.P_PID, program.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
    except ChildProcessError:
        return program.poll() is not None
