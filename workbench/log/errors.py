"""Refusals of the event log, each with the rule that it guards."""

from __future__ import annotations

from workbench.errors import WorkbenchError
from workbench.storage.errors import SchemaError


class LogError(WorkbenchError):
    """Any refusal by the log."""

    code = "log"


class ConcurrencyError(LogError):
    """The stream moved on: its last `seq` is not the one that the writer expected."""

    code = "concurrency"
    retryable = True


class DuplicateEventId(LogError):
    """An event with this id is stored already, or stands twice in the batch."""

    code = "duplicate_event_id"


class DuplicateEventType(LogError):
    """An event type, or the class of its payload, was registered twice."""

    code = "duplicate_event_type"


class UnknownEventType(LogError):
    """No such event type, or no such payload class, is registered."""

    code = "unknown_event_type"


class InvalidPayload(LogError):
    """A payload cannot be stored as it is: too deep, too large, or of the wrong shape."""

    code = "invalid_payload"


class InvalidIdentifier(LogError):
    """A field that names something holds text that no name may hold."""

    code = "invalid_identifier"


class SecretInIdentifier(InvalidIdentifier):
    """A field that names something holds a secret; the message does not repeat it."""

    code = "secret_in_identifier"


class FoldSetMismatch(SchemaError):
    """The file was folded by another set of folds than this program has."""

    code = "fold_set_mismatch"
