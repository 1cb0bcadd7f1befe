"""What a command writes: one JSON object on stdout, or text fit for a terminal.

Text from a workspace is hostile: it reaches a terminal only through `workbench.drawing`, which is
loaded for text alone. JSON keeps it as it is, escaped by JSON's own rules.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Literal, NamedTuple

import msgspec

from workbench.cli import shown as _shown


class OutputClosed(Exception):
    """Whoever read the output has gone."""


class Column(NamedTuple):
    """A column of a table."""

    heading: str
    align: Literal["left", "right"] = "left"
    most: int = 40
    """Cells that the column may take at most; the last column of a table takes what is left."""
    least: int | None = None
    """Cells that it keeps where the line is short; None: it is never cut, as what people copy is not."""


_READABLE = 24
"""Cells that the last column of a table should have."""

_UNSEEN = re.compile("[\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]")
"""Controls, and characters that change or hide how their neighbours are drawn."""


def write_json(value: dict[str, Any]) -> None:
    """Write one object as a line of JSON; a lone surrogate, which JSON cannot hold, becomes U+FFFD."""
    value = _shown.shown_value(value)
    try:
        encoded = msgspec.json.encode(value)
    except UnicodeEncodeError:
        encoded = msgspec.json.encode(_repaired(value))
    text = encoded.decode("utf-8")
    if not text.isascii() or "\x7f" in text:
        # A terminal may act on these raw; inside JSON's strings their escapes mean the same.
        text = _UNSEEN.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
    _write(text.encode("utf-8") + b"\n")


def write_lines(lines: Iterable[str]) -> None:
    """Write lines that are drawn already; characters that the terminal's encoding lacks are escaped."""
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    for line in _shown.shown_lines(lines):
        _write(f"{line}\n".encode(encoding, "backslashreplace"), flush=False)
    _write(b"")


def to_stderr(text: str) -> None:
    """Write one line on stderr, made visible."""
    from workbench.drawing import visible

    line = visible(" ".join(_shown.shown(text).split("\n")))
    encoding = getattr(sys.stderr, "encoding", None) or "utf-8"
    try:
        sys.stderr.write(line.encode(encoding, "backslashreplace").decode(encoding) + "\n")
        sys.stderr.flush()
    except BrokenPipeError as error:
        raise OutputClosed from error


def warn_unknown(what: str, given: Iterable[str], known: Sequence[str], where: str = "") -> None:
    """Warn on stderr of each value of a filter that nothing can match."""
    for value in given:
        if value not in known:
            to_stderr(
                f"warning: there is no {what} {value}{where}; {what}s{where} are {', '.join(known) or 'none'}"
            )


def drop_output() -> None:
    """Let what is still buffered go nowhere, so that the interpreter's end does not stumble over it."""
    try:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
    except (OSError, ValueError):
        return


def line_width() -> int:
    """Cells of a line: the terminal's width, or plenty where output goes to a file or a program."""
    if not sys.stdout.isatty():
        return 200
    try:
        return max(40, os.get_terminal_size(sys.stdout.fileno()).columns)
    except (OSError, ValueError):
        return 80


def table(columns: Sequence[Column], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """Drawn lines of a table: headings, then rows; columns as wide as their contents need.

    The last column is cut at the line's end. Before it gets too short to be read, others are cut that may be.
    """
    from workbench.drawing import fit, one_line

    width = line_width()
    drawn = [
        [
            one_line(_shown.shown(text), column.most if column is not columns[-1] else width)
            for text, column in zip(row, columns, strict=True)
        ]
        for row in rows
    ]
    heads = [column.heading for column in columns]
    widths = [max(map(_cells, cells)) for cells in zip(heads, *drawn, strict=True)]
    gaps = 2 * (len(columns) - 1)
    _narrow(widths, columns, sum(widths[:-1]) + gaps + min(widths[-1], _READABLE) - width)
    widths[-1] = max(10, min(widths[-1], width - sum(widths[:-1]) - gaps))
    for row in (heads, *drawn):
        cells = zip(row, widths, columns, strict=True)
        yield "  ".join(fit(text, room, column.align) for text, room, column in cells).rstrip(" ")


def _narrow(widths: list[int], columns: Sequence[Column], excess: int) -> None:
    """Take the excess from columns that may be cut, as long as they have more than their least."""
    room = {
        index: widths[index] - max(column.least, _cells(column.heading))
        for index, column in enumerate(columns)
        if column.least is not None
    }
    for index in sorted(room, key=lambda each: -room[each]):
        taken = max(0, min(room[index], excess))
        widths[index] -= taken
        excess -= taken


def _cells(text: str) -> int:
    from rich.cells import cell_len

    return cell_len(text)


def _write(data: bytes, *, flush: bool = True) -> None:
    try:
        sys.stdout.buffer.write(data)
        if flush:
            sys.stdout.buffer.flush()
    except BrokenPipeError as error:
        raise OutputClosed from error


def _repaired(value: Any) -> Any:
    if isinstance(value, str):
        return "".join("\N{REPLACEMENT CHARACTER}" if "\ud800" <= c <= "\udfff" else c for c in value)
    if isinstance(value, dict):
        return {_repaired(key): _repaired(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_repaired(item) for item in value]
    return value


@contextmanager
def progress_line(*, shown: bool, in_bytes: bool = True) -> Iterator[Callable[[int, int | None, str], None]]:
    """A line on stderr that says how far a long command is, on a terminal only; it goes when the block ends.

    What is yielded takes (done, total or None, what is being worked on); of an unknown total, what is done is
    shown as an amount of bytes, or as a number.
    """
    if not (shown and sys.stderr.isatty()):
        yield lambda done, total, note: None
        return
    from time import monotonic

    from workbench.drawing import fit, number, size

    amount = size if in_bytes else number

    last = -1.0

    def show(done: int, total: int | None, note: str) -> None:
        nonlocal last
        now = monotonic()
        if now - last < 0.1:
            return
        last = now
        part = f"{100 * done // total:>3} %  " if total else f"{amount(done)}  " if done else ""
        sys.stderr.write(f"\r{fit(f'{part}{_shown.shown(note)}', 79)}")
        sys.stderr.flush()

    try:
        yield show
    finally:
        if last >= 0:
            sys.stderr.write("\r" + " " * 79 + "\r")
            sys.stderr.flush()
