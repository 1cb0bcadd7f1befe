"""Whose session a rollout is, and whose lines it repeats: told from its first records."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any, BinaryIO

import msgspec

from workbench.imports.codex.identity import time_in_id
from workbench.imports.codex.records import EVENT_TYPES, ITEM_TYPES, RECORD_TYPES, Record, decode_record
from workbench.imports.transcript.decoding import Undecodable
from workbench.imports.transcript.fields import identifier, moment
from workbench.imports.transcript.places import Head

HEAD_RECORDS = 64
HEAD_BYTES = 4 * 1024 * 1024
"""How much of a file is read to tell what it is."""

_NAME = re.compile(
    r"rollout-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-([0-9A-Za-z-]{1,100})",
)
_TIME_IN_NAME = re.compile(r"rollout-(\d{4}-\d\d-\d\d)T(\d\d)-(\d\d)-(\d\d)")


class Lineage(msgspec.Struct):
    """What the first records say. Empty texts for what is not known."""

    session_id: str = ""
    root: str = ""
    """The session whose lines the file begins with: of the last `session_meta` before anything else."""
    copied: bool = False
    forked_from: str = ""
    agent_path: str = ""
    parent_thread: str = ""
    """Of a sub-agent: the session that spawned it."""
    cwd: str = ""
    first_at: datetime | None = None
    records: int = 0
    known: int = 0
    """Records that look like this format's."""
    passed_over: int = 0
    """Lines too long to be looked at, which may be such records."""


def lineage_of(path: Path, file: BinaryIO) -> Lineage:
    """What the records at the beginning of `file` say of it. Raises `OSError`."""
    found = Lineage()
    metas: list[dict[str, Any]] = []
    is_leading = True
    head = Head(file, records=HEAD_RECORDS, size=HEAD_BYTES)
    for record in _records(head):
        found.records += 1
        found.known += is_known(record)
        found.first_at = found.first_at or moment(record.timestamp)
        if record.kind != "session_meta":
            is_leading = is_leading and not metas
            found.cwd = found.cwd or _cwd(record)
            continue
        if is_leading and identifier(record.payload.get("id")):
            metas.append(record.payload)
    found.passed_over = head.passed_over
    if metas:
        _take(found, metas)
    found.session_id = found.session_id or session_in_name(path)
    found.root = found.root or found.session_id
    return found


def head_records(file: BinaryIO) -> Iterator[Record]:
    """The first records that can be read."""
    yield from _records(Head(file, records=HEAD_RECORDS, size=HEAD_BYTES))


def _records(head: Head) -> Iterator[Record]:
    for line in head:
        try:
            record = decode_record(line.data, line.number, [])
        except Undecodable:
            continue
        if record is not None:
            yield record


def is_known(record: Record) -> bool:
    """Whether a record is one of this format's rather than of any JSON file."""
    if record.kind == "response_item":
        return record.subtype in ITEM_TYPES
    if record.kind == "event_msg":
        return record.subtype in EVENT_TYPES
    return record.has_payload and record.kind in RECORD_TYPES


def session_in_name(path: Path) -> str:
    """The session's id as the file's name has it, else the name itself."""
    stem = str(path.name).partition(".jsonl")[0]
    stem = stem.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    named = _NAME.fullmatch(stem)
    return named[1] if named else identifier(stem) or "unknown"


def began(path: Path, session_id: str) -> datetime | None:
    """When a session began, told from its id, else from the file's name; None if neither holds a time.

    The time in a name has no zone and is read as UTC.
    """
    return time_in_id(session_id) or _time_in_name(path.name)


def _time_in_name(name: str) -> datetime | None:
    named = _TIME_IN_NAME.match(name)
    return moment(f"{named[1]}T{named[2]}:{named[3]}:{named[4]}Z") if named else None


def _take(found: Lineage, metas: list[dict[str, Any]]) -> None:
    own = metas[0]
    ids = [identifier(meta.get("id")) for meta in metas]
    found.session_id = ids[0]
    others = [each for each in ids if each != ids[0]]
    found.copied = bool(others)
    origin = identifier(own.get("forked_from_id"))
    found.forked_from = next((each for each in (origin, *others) if each and each != ids[0]), "")
    last = identifier(metas[-1].get("forked_from_id"))
    found.root = (last if last != ids[0] else "") or ids[-1]
    cwd = own.get("cwd")
    found.cwd = cwd if type(cwd) is str else ""
    spawn = _dig(own, "source", "subagent", "thread_spawn")
    found.parent_thread = _first(own.get("parent_thread_id"), spawn.get("parent_thread_id"))
    found.agent_path = _first(spawn.get("agent_path"), own.get("agent_path"))


def _cwd(record: Record) -> str:
    cwd = record.payload.get("cwd") if record.kind == "turn_context" else None
    return cwd if type(cwd) is str else ""


def _dig(value: Any, *names: str) -> dict[str, Any]:
    for name in names:
        value = value.get(name) if type(value) is dict else None
    return value if type(value) is dict else {}


def _first(*values: Any) -> str:
    return next((known for value in values if (known := identifier(value))), "")
