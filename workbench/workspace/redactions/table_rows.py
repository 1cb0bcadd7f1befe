"""The statements of a scrub."""

from __future__ import annotations

import apsw

from workbench.workspace.redactions.scan import TEXTS, CleanRow

COUNT_STEPS = "SELECT count(*) FROM scrub_steps"
# Old artifacts go before the file is compacted.
STEPS = "SELECT step, old, new FROM scrub_steps ORDER BY step, old"
NOTE_STEP = "INSERT OR REPLACE INTO scrub_steps VALUES(?, ?, ?)"
STRIKE = "DELETE FROM scrub_steps WHERE step = ? AND old = ?"

REPLACE_PAYLOAD = "UPDATE events SET payload = ? WHERE position = ?"
STREAM_OF = (
    "SELECT s.stream_id, s.name FROM events e JOIN streams s ON s.stream_id = e.stream_id "
    "WHERE e.position = ?"
)
RENAME_STREAM = (
    "UPDATE streams SET name = ?, kind = ?, domain_key = ?, project_key = ?, task_key = ? WHERE stream_id = ?"
)
MOVE_POSITIONS = "UPDATE OR REPLACE projection_positions SET stream = ? WHERE stream = ?"
STREAM_NAMED = "SELECT stream_id FROM streams WHERE name = ?"
EVENTS_AT = (
    "SELECT e.position, t.namespace, t.type, CAST(e.payload AS BLOB) FROM json_each(?) k "
    "CROSS JOIN events e ON e.position = k.value CROSS JOIN event_types t ON t.type_id = e.type_id "
    "ORDER BY e.position"
)


def replace(connection: apsw.Connection, row: CleanRow) -> None:
    """Put other texts into a row of a table of `TEXTS`; one whose very key would be another goes.

    Nobody would look for it under the new one: of a file whose path holds a secret nothing is noted.
    """
    name, _ = TEXTS[row.table]
    if name in row.texts:
        connection.execute(f"DELETE FROM {row.table} WHERE {name} = ?", (row.key,))
        return
    changes = ", ".join(f"{column} = ?" for column in row.texts)
    connection.execute(f"UPDATE {row.table} SET {changes} WHERE {name} = ?", (*row.texts.values(), row.key))
