"""Whose a fact is that an entry would supersede and cannot (contract memory, "Facts")."""

from __future__ import annotations

from typing import NamedTuple
from uuid import UUID

import apsw
from msgspec import UNSET

from workbench.identity.builtins import DEFAULT_DOMAIN
from workbench.identity.folding import fold
from workbench.identity.scopes import Scope
from workbench.log import sqlite
from workbench.log.decoding import FoldDecoder
from workbench.log.ports import Redactor
from workbench.memory.entry import Fact
from workbench.memory.errors import StaleFact
from workbench.memory.events import FactAsserted
from workbench.storage import fetch


class _Owner(NamedTuple):
    """The slot that a fact stands in, in names that may be repeated."""

    slot: str
    domain: str
    project: str | None
    task: str | None

    def scope(self, asking: Scope) -> str:
        """`atlas / ship`, `atlas, without a task`; with its domain where that is another one."""
        if self.project is None:
            return f"the domain {self.domain}, without a project"
        within = f"{self.project}, without a task" if self.task is None else f"{self.project} / {self.task}"
        if fold(self.domain) in asking.domain_forms:
            return within
        return f"{within}, in the domain {self.domain}"


def elsewhere(
    connection: apsw.Connection,
    decoder: FoldDecoder,
    redactor: Redactor,
    scope: Scope,
    fact: Fact,
    *,
    private: bool,
    current: str | None,
    hands_off: bool,
) -> StaleFact | None:
    """The refusal of a `supersedes` that is the id of a fact of another slot; None if it is none of them.

    `current` is what the entry's own slot holds, `hands_off` whether the entry carries a checkpoint too. A
    private fact is told of to nobody who writes in public.
    """
    try:
        wanted = UUID(fact.supersedes or "").bytes
    except ValueError:
        return None
    row = fetch.row(
        connection,
        "SELECT position, domain_key, project_key, task_key, slot, private, to_position FROM facts "
        "WHERE fact_id = ? AND private <= ?",
        (wanted, private),
    )
    event = None if row is None else decoder.event(fetch.rows(connection, sqlite.TO_FOLD, (row[0] - 1, 1))[0])
    if row is None or event is None or not isinstance(event.payload, FactAsserted):
        return None
    _, domain, project, task, slot, is_private, ended = row
    here = (
        domain in scope.domain_forms and project in (scope.project_forms or ("",)) and task == scope.task_key
    )
    if here and slot == fact.slot and is_private == private:
        # It was replaced: the caller says by what.
        return None
    owner = _named(event.payload, scope, redactor, domain)
    known = "a fact" if ended is None else "a fact, replaced since,"
    if here and slot == fact.slot:
        said, hint = "the public fact of this slot", "leave private out to change that one"
    elif here:
        said, hint = f"{known} of the slot “{owner.slot}”", "slots are compared letter by letter"
    elif slot != fact.slot:
        said = f"{known} of another slot, “{owner.slot}”, of {owner.scope(scope)}"
        hint = "give the current fact of this slot, or leave supersedes out to begin it"
    else:
        where = owner.scope(scope)
        said = f"{known} of {where}"
        hint = _there(where, owner, scope, current is not None, hands_off)
    holds = "this slot holds none" if current is None else f"of this slot that is {current}"
    said = f"supersedes is not the current fact: it names {said}; {holds}"
    return StaleFact(said, hint=hint, current=current)


def _there(where: str, owner: _Owner, scope: Scope, holds: bool, hands_off: bool) -> str:
    """How to change the same slot where it is."""
    if owner.project is not None and owner.task is None and scope.task_key:
        record = "to change that one, record it without --task-id"
    elif owner.project is None and scope.project is not None:
        record = "to change that one, record it without --project"
    else:
        record = f"to change that one, record it for {where}"
    if hands_off:
        return f"{record}, in a call of its own: a checkpoint and a fact of one call belong to one task"
    begins = "give its own current fact" if holds else "leave supersedes out"
    return f"{record}; for a value of this slot besides it, {begins}"


def _named(said: FactAsserted, scope: Scope, redactor: Redactor, domain: str) -> _Owner:
    """What is stored was filtered, perhaps by an older filter."""

    def shown(text: str) -> str:
        return redactor.redact_text(text)[0]

    project = None if said.project is UNSET else said.project
    if project is not None and fold(project) in scope.project_forms and scope.project is not None:
        project = scope.project
    task = None if said.task_id is UNSET else said.task_id
    named = scope.domain if domain in scope.domain_forms else said.domain
    return _Owner(
        shown(said.slot),
        shown(named) or DEFAULT_DOMAIN,
        None if project is None else shown(project),
        None if task is None else shown(task),
    )
