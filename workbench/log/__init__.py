"""One append-only event log per workspace, and the folds that follow it (DESIGN §2)."""

from workbench.log.actors import ActorsFold
from workbench.log.event_log import EventLog, Receipt, Stream, Transaction
from workbench.log.fulltext import FullTextFold
from workbench.log.registry import (
    Envelope,
    EventType,
    EventTypeRegistry,
    Payload,
    PendingEvent,
    Removed,
    StoredEvent,
)
from workbench.log.streams import StreamRef, session_stream

FOLDS = (FullTextFold(), ActorsFold())

__all__ = [
    "FOLDS",
    "ActorsFold",
    "Envelope",
    "EventLog",
    "EventType",
    "EventTypeRegistry",
    "FullTextFold",
    "Payload",
    "PendingEvent",
    "Receipt",
    "Removed",
    "StoredEvent",
    "Stream",
    "StreamRef",
    "Transaction",
    "session_stream",
]
