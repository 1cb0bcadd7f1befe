"""The copies of evidence beside a log: how many there are, and which events name some that are not there.

An exported log names them by their digests and does not hold them: whoever moves a log moves them too.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import apsw
import msgspec

from workbench.evidence import EvidenceStore
from workbench.log.event_log import EventLog

_DIGEST = re.compile(r"[0-9a-f]{64}")
_NAMING = "SELECT position, payload FROM events WHERE instr(payload, '\"evidence\":[') > 0 ORDER BY position"
_PURGES = (
    "SELECT e.payload, max(e.position) FROM events e JOIN event_types t USING(type_id) "
    "WHERE t.type = 'artifact.purged' GROUP BY json_extract(e.payload, '$.sha256')"
)
_decoded = msgspec.json.Decoder(dict[str, Any]).decode


def copies_kept(folder: Path) -> int:
    """How many files in the folder of evidence are copies: those that go by a digest. Raises nothing."""
    return sum(
        1
        for place, _, names in os.walk(folder)
        for name in names
        if _DIGEST.fullmatch(name) and Path(place).name == name[2:4]
    )


def events_without_copies(log: EventLog, store: EvidenceStore) -> int:
    """How many events name evidence whose copy is not in the store, and was not purged after them.

    Reads every event that names some; raises the storage errors of a read.
    """
    with log.reader() as connection:
        purged = _purged(connection)
        return sum(
            any(store.size(each) is None and purged.get(each, 0) < position for each in _named(payload))
            for position, payload in connection.execute(_NAMING)
        )


def _purged(connection: apsw.Connection) -> dict[str, int]:
    """By digest the position of its last purge."""
    return {
        digest: position
        for payload, position in connection.execute(_PURGES)
        if isinstance(digest := _decoded(payload).get("sha256"), str)
    }


def _named(payload: str) -> Iterator[str]:
    """The digests that an event names: an act in its metadata, an observation for each source file."""
    said = _decoded(payload)
    for holder in (said, said.get("metadata")):
        items = holder.get("evidence") if isinstance(holder, dict) else None
        for item in items if isinstance(items, list) else ():
            digest = item.get("sha256") if isinstance(item, dict) else item
            if isinstance(digest, str) and _DIGEST.fullmatch(digest):
                yield digest
