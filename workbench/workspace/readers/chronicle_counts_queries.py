"""How many rows the chronicles have, without reading them (contract log-and-chronicle, §8)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

import msgspec

from workbench.chronicle.tables import SECTIONS
from workbench.log.event_log import EventLog
from workbench.storage import fetch

# What `ChronicleReader.streams` lists.
_STREAMS = (
    "SELECT count(*) FROM streams s WHERE s.kind IN (SELECT value FROM json_each(?)) "
    f"OR EXISTS(SELECT 1 FROM {SECTIONS} c WHERE c.stream_id = s.stream_id)"
)
_SECTIONS = (
    f"SELECT (SELECT count(*) FROM {SECTIONS} c WHERE c.stream_id = s.stream_id), "
    f"(SELECT count(*) FROM {SECTIONS} c WHERE c.stream_id = s.stream_id AND c.is_current = 1 "
    "AND c.after_gap = 1) FROM streams s WHERE s.name = ?"
)


class ChronicleCounts:
    """Counts by indexes; any thread may call it. `close` is what closes a stretch, by kind of stream."""

    def __init__(self, log: EventLog, close: Callable[[], Mapping[str, Collection[str]]]) -> None:
        self._log = log
        self._close = close

    def streams(self) -> int:
        """Streams that have sections or whose kind is consolidated."""
        kinds = [kind for kind, types in self._close().items() if types]
        with self._log.reader() as connection:
            return int(fetch.value(connection, _STREAMS, (msgspec.json.encode(kinds).decode(),)))

    def sections(self, stream: str) -> tuple[int, int]:
        """Sections of a stream, superseded ones too, and holes between them."""
        with self._log.reader() as connection:
            row = fetch.row(connection, _SECTIONS, (stream,))
        return (0, 0) if row is None else (row[0], row[1])
