"""Names that a scrub changes: ids of sessions stand in the names of their streams, too."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import apsw
import msgspec

from workbench.imports.workspace_jsonl import STREAM_RULES
from workbench.log.streams import StreamRef
from workbench.storage import fetch
from workbench.workspace.redactions import table_rows
from workbench.workspace.redactions.scan import CleanEvent


class Names:
    """Replaces payloads, and keeps the names of streams what their events say.

    Two ids may become one text when their secrets are gone; the second one then gets a number, in all of
    its events.
    """

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection
        self._named: dict[int, tuple[str, str]] = {}
        """By stream the field that names it and its new value."""

    def replace(self, event: CleanEvent) -> None:
        """Put a payload in the place of the one that is stored."""
        payload = event.payload
        fields = {hit.field for hit in event.hits}
        for field, stream_of in STREAM_RULES:
            if field in fields:
                payload = self._renamed(event.position, payload, field, stream_of)
                break
        self._connection.execute(table_rows.REPLACE_PAYLOAD, (payload, event.position))

    def _renamed(self, position: int, payload: str, field: str, stream_of: Callable[[str], StreamRef]) -> str:
        row = fetch.row(self._connection, table_rows.STREAM_OF, (position,))
        value: dict[str, Any] = msgspec.json.decode(payload)
        if row is None or not isinstance(value.get(field), str):
            return payload
        stream_id, name = row
        if stream_id not in self._named:
            wanted, number = value[field], 1
            while True:
                text = wanted if number == 1 else f"{wanted} ({number})"
                new = stream_of(text).name
                taken = fetch.value(self._connection, table_rows.STREAM_NAMED, (new,))
                if taken in (None, stream_id):
                    break
                number += 1
            if new != name:
                self._connection.execute(table_rows.RENAME_STREAM, (*stream_of(text), stream_id))
                self._connection.execute(table_rows.MOVE_POSITIONS, (new, name))
            self._named[stream_id] = (field, text)
        field, text = self._named[stream_id]
        if value[field] == text:
            return payload
        value[field] = text
        return msgspec.json.encode(value, order="sorted").decode()
