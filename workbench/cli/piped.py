"""Files that commands read and write, where “-” is standard input or standard output."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from workbench.cli.errors import UsageRefused
from workbench.cli.output import OutputClosed
from workbench.cli.streams import closed
from workbench.errors import WorkbenchError

STREAM = "-"
_STDIN, _STDOUT = "standard input", "standard output"


@contextmanager
def read_from(given: str, what: str) -> Iterator[Path]:
    """The file that is named; of standard input a private copy, which goes when the block ends.

    `what` says what belongs there. Raises `UsageRefused` where nothing is piped in; errors of the block that
    name the copy name standard input instead.
    """
    if given != STREAM:
        yield Path(given)
        return
    if 0 in closed or sys.stdin.isatty():
        raise UsageRefused(
            f"there is nothing on {_STDIN}", hint=f"send {what} into the command, or name its file"
        )
    with tempfile.TemporaryDirectory(prefix="workbench-") as folder:
        copy = Path(folder, "standard-input")
        with copy.open("xb") as target:
            shutil.copyfileobj(sys.stdin.buffer, target)
        with _said_of(copy, _STDIN):
            yield copy


@contextmanager
def write_to(given: str | None, *, force: bool, what: str) -> Iterator[Path]:
    """Where a file may be written; None or “-” is standard output, which gets it when the block ended well.

    With `force` whatever file has the name is replaced then, and not before. Raises `UsageRefused` for
    a standard output that is closed, `FileFailed` for a place that cannot be written, `OutputClosed`.
    """
    if given in (None, STREAM):
        if 1 in closed:
            raise UsageRefused(f"{_STDOUT} is closed", hint=f"say where {what} goes with --to")
        with tempfile.TemporaryDirectory(prefix="workbench-") as folder:
            copy = Path(folder, "standard-output")
            with _said_of(copy, _STDOUT):
                yield copy
            _to_stdout(copy)
        return
    assert given is not None
    target = Path(given)
    if not force or not target.exists():
        yield target
        return
    # A link stays a link: what it leads to is replaced.
    real = Path(os.path.realpath(target))
    if not real.is_file():
        raise UsageRefused(f"{given} is no file", hint="name another; --force replaces files alone")
    with _failing(given), tempfile.TemporaryDirectory(prefix=".workbench-", dir=real.parent) as folder:
        copy = Path(folder, real.name)
        with _said_of(copy, given):
            yield copy
        copy.replace(real)


@contextmanager
def _failing(name: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        from workbench.workspace.transfer import FileFailed

        raise FileFailed(f"{name} cannot be written: {error.strerror or error}") from error


@contextmanager
def _said_of(copy: Path, name: str) -> Iterator[None]:
    """Where a copy lies says nothing to anybody: errors name what it stands for."""
    try:
        yield
    except WorkbenchError as error:
        error.message = error.message.replace(str(copy), name)
        error.hint = error.hint.replace(str(copy), name)
        raise


def _to_stdout(path: Path) -> None:
    try:
        with path.open("rb") as source:
            shutil.copyfileobj(source, sys.stdout.buffer)
        sys.stdout.buffer.flush()
    except BrokenPipeError as error:
        raise OutputClosed from error
    except OSError as error:
        from workbench.workspace.transfer import FileFailed

        raise FileFailed(f"{_STDOUT} cannot be written: {error.strerror or error}") from error
