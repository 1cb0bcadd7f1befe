"""JSON objects that a command is given in a file, such as a checkpoint."""

from __future__ import annotations

import errno
import json
import os
import re
import stat
import sys
from typing import Any, NoReturn

from workbench.cli.errors import UsageRefused

_MOST_BYTES = 1024 * 1024
"""The longest checkpoint that memory takes, with every character escaped, is well below."""


def text_given(value: str) -> str:
    """A text as it was given, or what stands on standard input for “-”, less a newline at its end.

    As arguments arrive, so does what is read: bytes that are not UTF-8 become surrogates, which memory
    replaces.
    """
    if value != "-":
        return value
    read = sys.stdin.buffer.read().decode("utf-8", "surrogateescape")
    if not read:
        raise UsageRefused("standard input is empty", hint="send a text into it, or give one instead of “-”")
    return read.removesuffix("\n").removesuffix("\r") if read.endswith("\n") else read


def object_given(option: str, path: str | None) -> dict[str, Any] | None:
    """The object in a file, or on standard input for “-”; None where no file was named.

    Raises `UsageRefused`, with file and line where the JSON is broken, and what opening a file raises.
    Nothing that stands in the file is repeated.
    """
    if path is None:
        return None
    if path == "":
        raise UsageRefused(f"{option}: the file's name is empty", hint="name a file, or leave the option out")
    name = "standard input" if path == "-" else path
    raw = _read(path)
    if len(raw) > _MOST_BYTES:
        raise UsageRefused(
            f"{name} is longer than {_MOST_BYTES // 1024:,} KiB: that is no {_what(option)}",
            hint=_hint(option),
        )
    if not raw.strip():
        raise UsageRefused(f"{name} is empty", hint=_hint(option))
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw[: error.start].count(b"\n") + 1
        raise UsageRefused(f"{name}:{line}: not UTF-8", hint="save the file as UTF-8") from None
    try:
        value = json.loads(text, object_pairs_hook=_object, parse_constant=_no_number, parse_int=_int)
    except json.JSONDecodeError as error:
        raise UsageRefused(f"{name}:{error.lineno}: no JSON: {error.msg}", hint=_hint(option)) from None
    except RecursionError:
        raise UsageRefused(f"{name}: no JSON: nested too deeply", hint=_hint(option)) from None
    except ValueError as error:
        raise UsageRefused(f"{name}: no JSON: {error}", hint=_hint(option)) from None
    if not isinstance(value, dict):
        raise UsageRefused(f"{name} holds no JSON object", hint=_hint(option))
    return value


def _read(path: str) -> bytes:
    if path == "-":
        return sys.stdin.buffer.read(_MOST_BYTES + 1)
    try:
        # A pipe that nobody writes to would be waited for.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    except OSError as error:
        if error.errno in (errno.ENXIO, errno.ENODEV):
            raise UsageRefused(f"{path} is a socket or a device", hint=_ANOTHER) from None
        raise
    except ValueError:
        raise UsageRefused("no file can have such a name", hint="name a file, or “-”") from None
    try:
        mode = os.fstat(descriptor).st_mode
        if not stat.S_ISREG(mode) and not (stat.S_ISFIFO(mode) and _FROM_A_SHELL.fullmatch(path)):
            raise UsageRefused(f"{path} is {_kind(mode)}", hint=_ANOTHER)
        os.set_blocking(descriptor, True)
        with open(descriptor, "rb", closefd=False) as file:
            return file.read(_MOST_BYTES + 1)
    except OSError as error:
        # Some that the kernel makes up look like files.
        raise UsageRefused(f"{path} cannot be read: {error.strerror}", hint=_ANOTHER) from None
    finally:
        os.close(descriptor)


_ANOTHER = "name a file, or “-” for standard input"

_FROM_A_SHELL = re.compile(r"/(?:dev|proc/self)/fd/[0-9]+")
"""How a shell names the output of a command that it runs for `<(…)`: a pipe that somebody writes to."""


def _kind(mode: int) -> str:
    if stat.S_ISDIR(mode):
        return "a folder"
    return "a pipe" if stat.S_ISFIFO(mode) else "a device"


def _int(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        # Python's own words speak of its settings.
        raise ValueError("a number is too long") from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key stands twice in one object")
    return found


def _no_number(text: str) -> NoReturn:
    raise ValueError(f"{text} is no number")


def _what(option: str) -> str:
    return option.removeprefix("--").removesuffix("-file")


def _hint(option: str) -> str:
    return _EXAMPLES[_what(option)]


_EXAMPLES = {
    "checkpoint": 'write it like {"goal": "Ship the search", "next_steps": ["Measure it"]}',
    "fact": 'write it like {"slot": "storage.engine", "value": "SQLite", "kind": "decision"}',
}
