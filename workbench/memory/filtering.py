"""The filter over one entry: free text loses its secrets, a name that holds one is refused.

It runs before anything is hashed, staged or looked up; the log's door then finds nothing left to remove, so
the receipts are written here (contract memory, "Order of work").
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any, NamedTuple

import msgspec

from workbench.log.ports import Redactor
from workbench.log.registry import Removed
from workbench.memory.entry import LISTS, Entry
from workbench.memory.errors import InvalidArgument
from workbench.text_encoding import spelled

_encode = msgspec.json.Encoder().encode

NAMES = (
    "domain",
    "project",
    "task_id",
    "agent",
    "session_id",
    "request_id",
    "external_id",
    "entity_id",
    "entity_type",
    "category_raw",
)


class Filtered(NamedTuple):
    """An entry without secrets, and what was taken out of the payload of each event that it becomes."""

    entry: Entry
    observation: tuple[Removed, ...]
    checkpoint: tuple[Removed, ...]
    fact: tuple[Removed, ...]

    @property
    def counts(self) -> dict[str, int]:
        """By kind, how many secrets were removed."""
        found: Counter[str] = Counter()
        for removed in (*self.observation, *self.checkpoint, *self.fact):
            found[removed.kind] += removed.count
        return dict(sorted(found.items()))


def filtered(entry: Entry, redactor: Redactor) -> Filtered:
    """Filter every free text of an entry. `InvalidArgument` for a secret in a name, which is not repeated."""
    names: dict[str, str | None] = {field: getattr(entry, field) for field in NAMES}
    if entry.fact is not None:
        names |= {"fact.slot": entry.fact.slot, "fact.supersedes": entry.fact.supersedes}
    refuse_secrets(redactor, names)
    _refuse_entity(redactor, entry)
    observation, of_observation = _clean(
        redactor,
        {
            "text": entry.text,
            "why": entry.why,
            "source_files": [encodable(path) for path in entry.source_files],
        },
    )
    entry = msgspec.structs.replace(
        entry,
        text=observation["text"],
        why=observation["why"],
        source_files=tuple(observation["source_files"]),
    )
    of_checkpoint: tuple[Removed, ...] = ()
    if entry.checkpoint is not None:
        state, of_checkpoint = _clean(redactor, msgspec.structs.asdict(entry.checkpoint))
        lists = {each: tuple(state[each]) for each in LISTS}
        entry = msgspec.structs.replace(
            entry, checkpoint=msgspec.structs.replace(entry.checkpoint, goal=state["goal"], **lists)
        )
    of_fact: tuple[Removed, ...] = ()
    if entry.fact is not None:
        value, found = under_slot(redactor, entry.fact.slot, entry.fact.value)
        of_fact = tuple(Removed(kind, count, "value", redactor.version) for kind, count in found.items())
        entry = msgspec.structs.replace(entry, fact=msgspec.structs.replace(entry.fact, value=value))
    return Filtered(entry, of_observation, of_checkpoint, of_fact)


def refuse_secrets(redactor: Redactor, names: Mapping[str, str | None]) -> None:
    """`InvalidArgument` for the first name that holds what looks like a secret."""
    given = {field: value for field, value in names.items() if value}
    if not given or not redactor.may_change(_encode(list(given.values()))):
        return
    for field, value in given.items():
        if redactor.redact_text(value)[1]:
            raise InvalidArgument(
                f"{field} holds what looks like a secret", hint="name it otherwise; nothing was stored"
            )


def _refuse_entity(redactor: Redactor, entry: Entry) -> None:
    """What kind of thing an entity is says what its id is: that of a `password` is no name."""
    kind, named = entry.entity_type, entry.entity_id
    if kind and named and under_slot(redactor, kind, named)[1]:
        raise InvalidArgument(
            "entity_id holds what looks like a secret", hint="name it otherwise; nothing was stored"
        )


def under_slot(redactor: Redactor, slot: str, value: str) -> tuple[str, dict[str, int]]:
    """A value without secrets, and what was removed, by kind; the name it stands under tells what it is."""
    member = {slot: value}
    if not redactor.may_change(_encode(member)):
        return value, {}
    clean, found = redactor.redact_value(member)
    # By place: only the value counts here, a name that holds a secret is refused elsewhere.
    (kept,) = clean.values()
    counts: Counter[str] = Counter()
    if kept != value:
        for each in found:
            counts[each.kind] += each.count
    return kept, dict(counts)


def encodable(path: str) -> str:
    """A path as it can be stored: bytes that are no text are spelled out, as \\xff."""
    return spelled(path)


def _clean(redactor: Redactor, fields: dict[str, Any]) -> tuple[dict[str, Any], tuple[Removed, ...]]:
    """The fields of a payload as the door would store them, and its receipts."""
    if not redactor.may_change(_encode(fields)):
        return fields, ()
    removed: list[Removed] = []
    clean: dict[str, Any] = {}
    for field, value in fields.items():
        clean[field] = value
        if value is None:
            continue
        found: Any
        clean[field], found = redactor.redact_value(list(value) if isinstance(value, tuple) else value)
        removed.extend(
            Removed(each.kind, each.count, f"{field}.{each.field}" if each.field else field, redactor.version)
            for each in found
        )
    return clean, tuple(removed)
