"""Reading the manifest's version, title, time zone and owner (contract workspace, "Manifest")."""

from __future__ import annotations

import errno
import os
import re
import stat
from pathlib import Path
from typing import Any, NamedTuple

from workbench.workspace.errors import ManifestError, WorkspaceMissing


class Manifest(NamedTuple):
    """What the program takes from the manifest; everything else in the file is left alone."""

    title: str
    timezone: str
    """An IANA name that exists."""
    owner: str
    """Whose sessions the workspace holds."""


def read_manifest(path: Path) -> Manifest:
    """The manifest in a file.

    Raises `WorkspaceMissing` if there is none, `ManifestError` naming file, line and key if it
    cannot be read or holds a value of the wrong kind.
    """
    import tomllib

    _refuse_other(path)
    try:
        raw = path.read_bytes()
    except FileNotFoundError:
        raise WorkspaceMissing(
            f"there is no workspace at {path.parent}",
            hint="make one with: workbench init, or look at a sample with: workbench demo",
        ) from None
    except OSError as error:
        hint = "name the folder of a workspace with --root" if error.errno == errno.ENOTDIR else ""
        raise ManifestError(f"{path}: cannot be read: {error.strerror}", hint=hint) from error
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw[: error.start].count(b"\n") + 1
        raise ManifestError(f"{path}:{line}: not UTF-8", hint="save the file as UTF-8") from None
    try:
        values = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ManifestError(f"{path}: {error}", hint="correct that place and try again") from None
    except RecursionError:
        raise ManifestError(f"{path}: nested too deeply") from None
    return _Reader(path, text, values).manifest()


_KINDS = (
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a named pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)


def _refuse_other(path: Path) -> None:
    """Raise `ManifestError` for what is no file: reading a pipe would wait for whoever is at its
    other end."""
    try:
        mode = path.stat().st_mode
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise ManifestError(
                f"{path} is a symbolic link that leads in a circle, and not a manifest", hint=_ANOTHER
            ) from error
        # Reading it says the rest.
        return
    for is_kind, what in _KINDS:
        if is_kind(mode):
            raise ManifestError(f"{path} is {what}, and not a manifest", hint=_ANOTHER)


_ANOTHER = "move it away and put the manifest back in its place, or make a new one with: workbench init"


class _Reader:
    def __init__(self, path: Path, text: str, values: dict[str, Any]) -> None:
        self._path = path
        self._text = text
        self._values = values

    def manifest(self) -> Manifest:
        version = self._values.get("version", 1)
        if version != 1 or isinstance(version, bool):
            raise self._error("", "version", "the version of this program's manifests is 1")
        title = self._text_of("", "title") or self._path.parent.name
        timezone = self._text_of("settings", "timezone") or os.environ.get("CHRONICLE_TIMEZONE") or "UTC"
        if not is_timezone(timezone):
            raise self._error("settings", "timezone", "no such time zone; expected a name like Europe/Berlin")
        return Manifest(title, timezone, self._text_of("session", "owner") or user_name())

    def _text_of(self, table: str, key: str) -> str:
        holder = self._values.get(table, {}) if table else self._values
        if not isinstance(holder, dict):
            raise self._error("", table, f"expected a table [{table}]")
        value = holder.get(key, "")
        if not isinstance(value, str):
            raise self._error(table, key, "expected text in quotes")
        return value

    def _error(self, table: str, key: str, expected: str) -> ManifestError:
        name = f"{table}.{key}" if table else key
        return ManifestError(
            f"{self._path}:{self._line(table, key)}: {name}: {expected}",
            hint="correct that line and try again",
        )

    def _line(self, table: str, key: str) -> int:
        """The line of a key that is known to be there, or of its table; 1 if neither is found."""
        inside = not table
        header = 1
        for number, line in enumerate(self._text.splitlines(), start=1):
            if re.match(r"\s*\[", line):
                inside = bool(table) and re.match(rf"\s*\[\s*{re.escape(table)}\s*\]", line) is not None
                header = number if inside else header
            elif inside and re.match(rf"""\s*["']?{re.escape(key)}["']?\s*[=.]""", line):
                return number
        return header


def is_timezone(name: str) -> bool:
    """Whether the system knows a time zone of this name."""
    from zoneinfo import ZoneInfo

    try:
        ZoneInfo(name)
    except (OSError, ValueError, KeyError):
        return False
    return True


def local_timezone() -> str:
    """The IANA name of the machine's time zone; `UTC` where it cannot be told."""
    named = os.environ.get("TZ", "").lstrip(":")
    if named and is_timezone(named):
        return named
    try:
        target = str(Path("/etc/localtime").resolve())
    except OSError:
        return "UTC"
    name = target.partition("zoneinfo/")[2]
    return name if name and is_timezone(name) else "UTC"


def user_name() -> str:
    """The operating system's name for whoever runs the program; `user` where it has none."""
    import getpass

    try:
        return getpass.getuser() or "user"
    except (OSError, KeyError, ImportError):
        return "user"
