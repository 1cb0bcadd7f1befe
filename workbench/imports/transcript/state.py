"""What is remembered of a file between two imports: small, bounded, plain JSON."""

from __future__ import annotations

from typing import Any, TypeVar

import msgspec

V = TypeVar("V")
S = TypeVar("S", bound="FileState")

STATE_VERSION = 1
MAX_TOOLS = 1024
"""Calls whose tool is remembered, newest kept: a result is found by the id of its call."""
MAX_SESSIONS = 64


class SessionState(msgspec.Struct):
    """What is known of one session of the file, and what of it has been told."""

    title_rank: int = 0
    """0 none, 1 the first prompt, 2 the program's own title, 3 the person's title."""
    known: dict[str, Any] = msgspec.field(default_factory=dict)
    """Description as it stands, by field."""
    changed: list[str] = msgspec.field(default_factory=list)
    """Fields of `known` that no `DescribeItem` has told yet."""
    entered: bool = False
    """Whether anything of this session has been handed out."""


class FileState(msgspec.Struct):
    """Where reading stopped; each format adds what its own reader remembers.

    `msgspec.json.encode` and `decode(…, type=…)` with the format's type are its stored form.
    """

    version: int = STATE_VERSION
    offset: int = 0
    """Bytes before this are done: the end of a whole record."""
    line: int = 0
    """Lines before `offset`."""
    inside_line: bool = False
    """Whether `offset` stands behind a complete record whose line had no line feed yet."""
    inside_long_line: bool = False
    """Whether `offset` stands inside a line that is too long and was named as such: its rest says nothing."""
    digest: str = ""
    """SHA-256 in hex of the bytes before `offset`."""
    unread: int = 0
    """Lines before `offset` that could not be read; whoever stores the state counts them."""
    partial: int = 0
    """Bytes of a half-written last line that waited when the state was stored."""
    first_session: str = ""
    tools: dict[str, str] = msgspec.field(default_factory=dict)
    """By id of a call the tool that was called."""
    sessions: dict[str, SessionState] = msgspec.field(default_factory=dict)


def remember(table: dict[str, V], key: str, value: V, limit: int) -> None:
    """Set `table[key]` as the newest entry and forget the oldest beyond `limit`."""
    table.pop(key, None)
    table[key] = value
    if len(table) > limit:
        del table[next(iter(table))]


def copy_state(state: S) -> S:
    """A copy that later reading does not change."""
    return msgspec.json.decode(msgspec.json.encode(state), type=type(state))
