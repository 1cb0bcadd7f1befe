"""Sessions: what happened between a human and many agents, act by act, for the session's owner (Chronica).

Usable without a workspace:

    chronicarius = Chronicarius(MemoryStore())
    chronicarius.record_actum(
        "me", Actum(chronicum_id="s", kind="message", actor_kind="human", actor="me", content="hi")
    )
    chronicarius.get_acta("me", "s", last_n=20)

`workbench.sessions.conformance` checks a store of your own; it loads only when asked for.
"""

from __future__ import annotations

from workbench.sessions.chronicarius import Chronicarius, random_id
from workbench.sessions.errors import (
    ChronicaError,
    ChronicumExists,
    ChronicumNotFound,
    EmptyOwnerID,
    IdempotencyUnsupported,
    InvalidActum,
    NotText,
)
from workbench.sessions.model import PRIVATE, PUBLIC, ActaQuery, ActorKind, Actum, ActumKind, Chronicum
from workbench.sessions.store import IdempotentStore, Store
from workbench.sessions.stores.memory import MemoryStore

__all__ = [
    "PRIVATE",
    "PUBLIC",
    "ActaQuery",
    "ActorKind",
    "Actum",
    "ActumKind",
    "ChronicaError",
    "Chronicarius",
    "Chronicum",
    "ChronicumExists",
    "ChronicumNotFound",
    "EmptyOwnerID",
    "IdempotencyUnsupported",
    "IdempotentStore",
    "InvalidActum",
    "MemoryStore",
    "NotText",
    "Store",
    "random_id",
]
