"""Time zones and the name of whoever runs the program: what a manifest falls back on."""

from __future__ import annotations

import os
from pathlib import Path


def is_timezone(name: str) -> bool:
    """Whether the system knows a time zone of this name."""
    if _is_installed(name):
        return True
    from zoneinfo import ZoneInfo

    try:
        ZoneInfo(name)
    except (OSError, ValueError, KeyError):
        return False
    return True


def _is_installed(name: str) -> bool:
    """Whether the file of a time zone is where systems have them.

    `zoneinfo` knows more places, and loading it costs every command, though few show a time.
    """
    parts = name.split("/")
    if "PYTHONTZPATH" in os.environ or not all(part[:1].isalnum() for part in parts):
        return False
    try:
        with Path("/usr/share/zoneinfo", *parts).open("rb") as file:
            return file.read(4) == b"TZif"
    except (OSError, ValueError):
        return False


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
