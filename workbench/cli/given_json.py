"""JSON objects that a command is given in a file, such as a checkpoint."""

from __future__ import annotations

import json
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
    return read.removesuffix("\n").removesuffix("\r") if read.endswith("\n") else read


def object_given(option: str, path: str | None) -> dict[str, Any] | None:
    """The object in a file, or on standard input for “-”; None where no file was named.

    Raises `UsageRefused`, with file and line where the JSON is broken, and what opening a file raises.
    Nothing that stands in the file is repeated.
    """
    if path is None:
        return None
    if path == "":
        raise UsageRefused(f"{option}: the file's name is empty")
    name = "standard input" if path == "-" else path
    raw = _read(path)
    if len(raw) > _MOST_BYTES:
        raise UsageRefused(f"{name} is longer than {_MOST_BYTES // 1024:,} KiB: that is no {_what(option)}")
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw[: error.start].count(b"\n") + 1
        raise UsageRefused(f"{name}:{line}: not UTF-8", hint="save the file as UTF-8") from None
    try:
        value = json.loads(text, object_pairs_hook=_object, parse_constant=_no_number)
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
        with open(path, "rb") as file:  # noqa: PTH123 - a path may hold what `Path` changes
            return file.read(_MOST_BYTES + 1)
    except IsADirectoryError:
        raise UsageRefused(f"{path} is a folder", hint="name a file, or “-” for standard input") from None
    except ValueError:
        raise UsageRefused("no file can have such a name", hint="name a file, or “-”") from None


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
