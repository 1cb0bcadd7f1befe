"""The spellings of names in the log, and what they mean today (contract memory, "Identity folding")."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

import msgspec

from workbench.identity import Registry, fold
from workbench.identity.builtins import DEFAULT_AGENT, DEFAULT_DOMAIN
from workbench.identity.entries import KINDS
from workbench.log.event_log import EventLog
from workbench.log.times import from_micros
from workbench.storage import fetch


class NameRow(NamedTuple):
    """One spelling."""

    kind: str
    """`project`, `domain` or `agent`."""
    spelling: str
    """As it was given, or as the manifest has it."""
    canonical: str
    """What it means today."""
    observed: int
    """In how many observations it was given; 0 for one that only the manifest has."""
    first: datetime | None
    """When it was recorded first; None if it never was."""
    last: datetime | None
    declared: bool
    """Whether the manifest has what it means, or the program itself."""


_DEFAULTS = (("domain", DEFAULT_DOMAIN), ("agent", DEFAULT_AGENT))


class NameReader:
    """The names that a workspace knows."""

    def __init__(self, log: EventLog) -> None:
        self._log = log

    def names(self, registry: Registry, kind: str | None = None) -> list[NameRow]:
        """Every spelling that was used or is declared, of one kind or all.

        By kind, canonical name and spelling, the most used first within a canonical name. Built-in agents
        that were never used are left out. A secret that somebody wrote into the manifest is a marker here.
        """
        kinds = KINDS if kind is None else (kind,)
        with self._log.reader() as connection:
            used = fetch.rows(
                connection,
                "SELECT n.kind, n.spelling, n.observed, f.recorded_at, l.recorded_at FROM names n "
                "JOIN events f ON f.position = n.first_position "
                "JOIN events l ON l.position = n.last_position "
                f"WHERE n.kind IN ({', '.join('?' * len(kinds))})",
                kinds,
            )
        known = {each: {fold(entry.id) for entry in registry.declared(each)} for each in kinds}
        rows = []
        for of, spelling, observed, first, last in used:
            canonical = registry.canonical(of, spelling)
            declared = fold(canonical) in known[of] or (of, canonical) in _DEFAULTS
            times = from_micros(first), from_micros(last)
            rows.append(NameRow(of, spelling, canonical, observed, *times, declared))
        seen = {(row.kind, row.spelling) for row in rows}
        active = {(row.kind, row.canonical) for row in rows}
        for each in kinds:
            for entry in registry.declared(each):
                if registry.is_builtin(each, entry) and (each, entry.id) not in active:
                    continue
                for spelling in dict.fromkeys((entry.id, *(alias.strip() for alias in entry.aliases))):
                    if (each, spelling) not in seen:
                        rows.append(NameRow(each, spelling, entry.id, 0, None, None, True))
        order = {each: number for number, each in enumerate(KINDS)}
        return sorted(
            self._without_secrets(rows),
            key=lambda row: (order[row.kind], fold(row.canonical), -row.observed, row.spelling),
        )

    def _without_secrets(self, rows: list[NameRow]) -> list[NameRow]:
        redactor = self._log.redactor
        if not redactor.may_change(msgspec.json.encode([(row.spelling, row.canonical) for row in rows])):
            return rows
        return [
            row._replace(
                spelling=redactor.redact_text(row.spelling)[0],
                canonical=redactor.redact_text(row.canonical)[0],
            )
            for row in rows
        ]
