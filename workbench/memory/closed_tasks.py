"""Whether the task that a checkpoint was recorded for is closed (contract memory, "Task status")."""

from __future__ import annotations

from uuid import UUID

import apsw

from workbench.identity.scopes import Scope
from workbench.log import sqlite
from workbench.log.decoding import FoldDecoder
from workbench.memory.events import FactAsserted
from workbench.memory.folds import CLOSING, STATUS_SLOT
from workbench.memory.receipts import TaskClosed
from workbench.memory.requests import marks
from workbench.storage import fetch


def closed_by(
    connection: apsw.Connection, decoder: FoldDecoder, scope: Scope, *, private: bool
) -> TaskClosed | None:
    """The fact that closes a scope's task, in whichever domain; None where it is open, or none is named.

    What is private counts only for what is private: nobody else is told of it.
    """
    if not scope.task_key:
        return None
    position = fetch.value(
        connection,
        "SELECT max(position) FROM facts INDEXED BY facts_by_slot WHERE slot = ? "
        f"AND project_key IN ({marks(scope.project_forms)}) AND task_key = ? AND private <= ?",
        (STATUS_SLOT, *scope.project_forms, scope.task_key, private),
    )
    if position is None:
        return None
    event = decoder.event(fetch.rows(connection, sqlite.TO_FOLD, (position - 1, 1))[0])
    if event is None or not isinstance(event.payload, FactAsserted):
        return None
    said = event.payload
    if said.value.strip().lower() not in CLOSING:
        return None
    return TaskClosed(
        id=str(UUID(bytes=event.event_id)), value=said.value, kind=said.kind, domain=said.domain
    )
