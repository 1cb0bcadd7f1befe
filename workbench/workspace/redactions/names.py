"""Names that a scrub changes: ids of sessions stand in the names of their streams, too."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import apsw
import msgspec

from workbench.identity.folding import fold
from workbench.imports.workspace_jsonl import STREAM_RULES
from workbench.log.streams import StreamRef
from workbench.storage import fetch
from workbench.workspace.redactions import table_rows
from workbench.workspace.redactions.scan import CleanEvent


class Names:
    """Replaces payloads, and keeps the names of streams what their events say.

    Two names may become one text when their secrets are gone; the second one then gets a number, in all of
    its events.
    """

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection
        self._named: dict[int, dict[str, str]] = {}
        """By stream the fields that name it and their new values."""

    def replace(self, event: CleanEvent) -> None:
        """Put a payload in the place of the one that is stored."""
        payload = event.payload
        hit = {hit.field for hit in event.hits}
        for fields, stream_of in STREAM_RULES:
            if not hit.isdisjoint(fields):
                payload = self._renamed(event.position, payload, fields, stream_of)
                break
        self._connection.execute(table_rows.REPLACE_PAYLOAD, (payload, event.position))

    def _renamed(
        self, position: int, payload: str, fields: Sequence[str], stream_of: Callable[..., StreamRef]
    ) -> str:
        row = fetch.row(self._connection, table_rows.STREAM_OF, (position,))
        value: dict[str, Any] = msgspec.json.decode(payload)
        wanted = [value.get(field) for field in fields]
        if row is None or not wanted[0] or not all(isinstance(name, str) for name in wanted):
            return payload
        stream_id, name = row
        named = self._named.get(stream_id)
        if named is None:
            ref, named = self._free(stream_id, dict(zip(fields, map(str, wanted), strict=True)), stream_of)
            if ref.name != name:
                self._connection.execute(table_rows.RENAME_STREAM, (*ref, stream_id))
                self._connection.execute(table_rows.MOVE_POSITIONS, (ref.name, name))
            self._named[stream_id] = named
        if all(value[field] == text for field, text in named.items()):
            return payload
        value.update(named)
        return msgspec.json.encode(value, order="sorted").decode()

    def _free(
        self, stream_id: int, names: dict[str, str], stream_of: Callable[..., StreamRef]
    ) -> tuple[StreamRef, dict[str, str]]:
        """The stream that these names give, or the next one that no other stream is called."""
        # A key is a folded name, and the mark of what was removed is none.
        names = {field: fold(name) if field.startswith("scope_") else name for field, name in names.items()}
        last = [field for field, name in names.items() if name][-1]
        number = 1
        while True:
            tried = names if number == 1 else {**names, last: _numbered(last, names[last], number)}
            ref = stream_of(*tried.values())
            if fetch.value(self._connection, table_rows.STREAM_NAMED, (ref.name,)) in (None, stream_id):
                return ref, tried
            number += 1


def _numbered(field: str, name: str, number: int) -> str:
    text = f"{name} ({number})"
    return fold(text) if field.startswith("scope_") else text
