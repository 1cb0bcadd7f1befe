"""What an explicit fact does to its slot: begins, confirms or replaces it (contract memory, "Facts")."""

from __future__ import annotations

from typing import NamedTuple
from uuid import UUID

import apsw
from msgspec import UNSET, UnsetType

from workbench.identity.scopes import Scope
from workbench.log import sqlite
from workbench.log.decoding import FoldDecoder
from workbench.log.ports import Redactor
from workbench.memory.entry import Fact
from workbench.memory.errors import StaleFact
from workbench.memory.fact_whose import elsewhere
from workbench.memory.filtering import under_slot
from workbench.memory.requests import marks
from workbench.storage import fetch


class FactDecision(NamedTuple):
    """The fields of a `fact.asserted` that follow from what its slot held."""

    confirms: str | UnsetType = UNSET
    supersedes: str | UnsetType = UNSET
    retires: list[str] | UnsetType = UNSET


def checked(
    connection: apsw.Connection,
    decoder: FoldDecoder,
    redactor: Redactor,
    scope: Scope,
    fact: Fact,
    *,
    private: bool,
    hands_off: bool = False,
) -> FactDecision:
    """Decide inside the write transaction, so that a chain never forks.

    A slot is found under every spelling of the scope's names; the newest of its active values is the
    current one. Private facts and public ones are two slots. Raises `StaleFact`, which carries the current
    id: for a change without `supersedes`, and for a `supersedes` that is not the current fact; it says whose
    that one is, also that a checkpoint of the same call (`hands_off`) goes elsewhere.
    """
    active = fetch.rows(
        connection,
        "SELECT position, fact_id, kind FROM facts WHERE slot = ? "
        f"AND project_key IN ({marks(scope.project_forms or ('',))}) AND task_key = ? "
        f"AND domain_key IN ({marks(scope.domain_forms)}) AND private = ? AND to_position IS NULL "
        "ORDER BY position DESC",
        (fact.slot, *(scope.project_forms or ("",)), scope.task_key, *scope.domain_forms, private),
    )
    given = None if fact.supersedes is None else _plain(fact.supersedes)

    def whose(current: str | None) -> StaleFact | None:
        return elsewhere(
            connection, decoder, redactor, scope, fact, private=private, current=current, hands_off=hands_off
        )

    if not active:
        if given is not None:
            raise whose(None) or StaleFact(
                "supersedes is not the current fact: this slot holds none, and no fact has that id",
                hint="reload the task context; to begin a slot, leave supersedes out",
            )
        return FactDecision()
    position, current, kind = active[0]
    current_id = str(UUID(bytes=current))
    if kind == fact.kind and _value(connection, decoder, redactor, position) == fact.value:
        return FactDecision(confirms=current_id)
    if given is None:
        raise StaleFact(
            f"Changing this slot requires supersedes=current fact {current_id}",
            hint="read the current fact; give its id if yours replaces it",
            current=current_id,
        )
    if given != current_id:
        raise whose(current_id) or StaleFact(
            f"supersedes is not the current fact; reload the task context: it is {current_id}",
            hint="somebody replaced it meanwhile; read the current one, and give its id if yours replaces it",
            current=current_id,
        )
    return FactDecision(supersedes=current_id, retires=[str(UUID(bytes=row[1])) for row in active])


def _value(connection: apsw.Connection, decoder: FoldDecoder, redactor: Redactor, position: int) -> str:
    """The value of a fact as today's filter leaves it."""
    event = decoder.event(fetch.rows(connection, sqlite.TO_FOLD, (position - 1, 1))[0])
    assert event is not None
    value: str = event.payload.value
    return under_slot(redactor, event.payload.slot, value)[0]


def _plain(fact_id: str) -> str:
    """An id in the one way that ids are written; as given if it is none."""
    try:
        return str(UUID(fact_id))
    except ValueError:
        return fact_id
