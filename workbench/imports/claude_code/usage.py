"""Token counts once per API message, on the message's last actum (contract transcripts).

One API message is spread over several lines, and its counts repeat or grow from line to line. So
the line that may be the last one of its message is held back, with everything behind it, until
another message begins in the same line of talk. What is held is bounded in records and bytes.
"""

from __future__ import annotations

import hashlib
from datetime import datetime
from typing import Any

import msgspec

from workbench.imports.claude_code.records import Record
from workbench.imports.claude_code.state import MAX_MESSAGES, ReaderState
from workbench.imports.transcript.items import ActumItem, Item
from workbench.imports.transcript.state import remember

MAX_HELD_RECORDS = 128
MAX_HELD_BYTES = 4 * 1024 * 1024

COUNTS = (
    "input_tokens",
    "output_tokens",
    "cache_creation_input_tokens",
    "cache_read_input_tokens",
)
"""The counts that are kept of `usage`."""


class Group(msgspec.Struct, gc=False):
    """The items of one line, and where the line begins."""

    number: int
    offset: int
    digest: hashlib._Hash | None
    """Of the bytes before the line; only of a line that may be held back first."""
    cwd: str
    last_at: datetime | None
    """This and `cwd` as they were before the line."""
    session_id: str
    size: int
    items: list[Item]
    told: dict[str, dict[str, int]] | None = None
    """Counts by message id that an actum of this line carries."""


class _OpenMessage(msgspec.Struct):
    chain: str
    message_id: str
    first_held: int
    """Ordinal of the group that holds `last`."""
    last: ActumItem
    group: Group
    usage: dict[str, Any]
    keys: set[str]


class UsageHold:
    """Holds groups back until their message's counts are known. Groups come out in the order they came in."""

    def __init__(self, state: ReaderState) -> None:
        self._state = state
        self._groups: list[Group] = []
        self._released = 0
        """Ordinal of the first group in `_groups`."""
        self._open: dict[str, _OpenMessage] = {}
        self._bytes = 0
        self._telling: dict[str, dict[str, int]] = {}
        """Counts by message id in groups that are still held: the state learns of them when they go,
        for until then reading may resume before them."""

    @property
    def first_held(self) -> Group | None:
        """The oldest group that is held back."""
        return self._groups[0] if self._groups else None

    @property
    def held(self) -> int:
        """How many groups are held back."""
        return len(self._groups)

    def add(self, group: Group, record: Record | None) -> list[Group]:
        """Take the next group; returns those that may go now."""
        self._groups.append(group)
        self._bytes += group.size
        is_answer = record is not None and record.type == "assistant"
        if record is not None and is_answer:
            self._note(group, record)
        if self._open:
            if len(self._groups) > MAX_HELD_RECORDS or self._bytes > MAX_HELD_BYTES:
                self.close_all()
            elif not is_answer:
                # What holds the oldest group back still does.
                return []
        return self.release()

    def close_all(self) -> None:
        """Write down the counts of every open message: no more lines of them are waited for."""
        for chain in list(self._open):
            self._close(chain)

    def release(self) -> list[Group]:
        """The groups that nothing holds back any more."""
        groups = self._groups
        if not self._open:
            self._groups, self._bytes = [], 0
            self._released += len(groups)
            self._tell(groups)
            return groups
        first = min([message.first_held for message in self._open.values()])
        going = first - self._released
        if going == 0:
            return []
        released = groups[:going]
        del groups[:going]
        self._released = first
        for group in released:
            self._bytes -= group.size
        self._tell(released)
        return released

    def _tell(self, released: list[Group]) -> None:
        if not self._telling:
            return
        for group in released:
            if group.told is None:
                continue
            for message_id, counts in group.told.items():
                remember(self._state.usage, message_id, counts, MAX_MESSAGES)
                if self._telling.get(message_id) == counts:
                    del self._telling[message_id]

    def _note(self, group: Group, record: Record) -> None:
        message = record.message
        if message is None:
            return
        message_id = message.id
        chain = record.agent_id or ("sidechain" if record.is_sidechain is True else "")
        current = self._open.get(chain)
        if current is not None and current.message_id != message_id:
            self._close(chain)
            current = None
        if not message_id:
            return
        usage = message.usage if type(message.usage) is dict else {}
        last = _last_actum(group.items)
        if current is not None:
            current.usage = usage or current.usage
            # A repeated line is a duplicate that will not be kept: the counts stay on the line before.
            if last is not None and last.record_key not in current.keys:
                current.keys.add(last.record_key)
                current.last = last
                current.group = group
                current.first_held = self._released + len(self._groups) - 1
        elif last is not None and usage:
            place = self._released + len(self._groups) - 1
            self._open[chain] = _OpenMessage(chain, message_id, place, last, group, usage, {last.record_key})

    def _close(self, chain: str) -> None:
        message = self._open.pop(chain)
        counts = _counts(message.usage)
        told = self._telling.get(message.message_id) or self._state.usage.get(message.message_id)
        # Lines that came after the message was thought complete carry only what came on top, so that
        # the sum over a message's acta is always what its last line says.
        usage = counts if told is None else _difference(counts, told)
        if message.group.told is None:
            message.group.told = {}
        message.group.told[message.message_id] = self._telling[message.message_id] = counts
        if usage:
            message.last.metadata["usage"] = usage


def _last_actum(items: list[Item]) -> ActumItem | None:
    for item in reversed(items):
        if type(item) is ActumItem:
            return item
    return None


def _counts(usage: dict[str, Any]) -> dict[str, int]:
    counts = {}
    for name in COUNTS:
        value = usage.get(name)
        if type(value) is int and 0 <= value < 2**53:
            counts[name] = value
    return counts


def _difference(usage: dict[str, int], told: dict[str, int]) -> dict[str, int]:
    return {name: value - told.get(name, 0) for name, value in usage.items() if value > told.get(name, 0)}
