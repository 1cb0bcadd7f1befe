"""What makes two calls the same request, or the same memory (contract memory, "Hashes", "Duplicates")."""

from __future__ import annotations

import unicodedata
from typing import Any

import msgspec

from workbench.log.times import to_text
from workbench.memory.entry import Checkpoint, Entry, Fact

_encode = msgspec.json.Encoder(order="sorted").encode


def digest(value: Any) -> str:
    """SHA-256 of a JSON value's canonical form (sorted keys, no blanks, NFC), as 64 hex digits."""
    # Here, not above: programs that only read start without it.
    import hashlib

    return hashlib.sha256(_encode(_composed(value))).hexdigest()


def content_hash(entry: Entry) -> str:
    """Of what a filtered entry says, whoever says it and wherever: no name is in it."""
    return digest(
        {
            "category": entry.category,
            "text": entry.text,
            "why": entry.why,
            "checkpoint": _checkpoint(entry.checkpoint),
            "fact": _fact(entry.fact),
        }
    )


def request_hash(entry: Entry) -> str:
    """Of a whole filtered entry, names as given; no value that a server chose is in it.

    The session is left out, so that a request can be repeated after a reconnect; so is an agent that the
    caller did not name.
    """
    return digest(
        {
            "domain": entry.domain or "global",
            "project": entry.project,
            "task_id": entry.task_id,
            "text": entry.text,
            "why": entry.why,
            "category": entry.category_raw or entry.category,
            "agent": entry.agent if entry.agent_source == "explicit" else None,
            "external_id": entry.external_id,
            "occurred_at": None if entry.occurred_at is None else to_text(entry.occurred_at),
            "source_files": list(entry.source_files),
            "entity_id": entry.entity_id,
            "entity_type": entry.entity_type,
            "checkpoint": _checkpoint(entry.checkpoint),
            "fact": _fact(entry.fact),
            "visibility": entry.visibility,
        }
    )


def _checkpoint(checkpoint: Checkpoint | None) -> Any:
    return None if checkpoint is None else msgspec.to_builtins(checkpoint)


def _fact(fact: Fact | None) -> Any:
    return None if fact is None else msgspec.to_builtins(fact)


def _composed(value: Any) -> Any:
    if isinstance(value, str):
        return value if value.isascii() else unicodedata.normalize("NFC", value)
    if isinstance(value, dict):
        return {key: _composed(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_composed(item) for item in value]
    return value
