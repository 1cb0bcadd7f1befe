"""What shared memory can refuse (contract memory, "Ours": errors)."""

from __future__ import annotations

from workbench.errors import WorkbenchError


class MemoryRefusal(WorkbenchError):
    """Any refusal by shared memory. Nothing was stored; no message repeats a secret."""

    code = "memory"


class InvalidArgument(MemoryRefusal):
    """An argument breaks a rule; the message says which."""

    code = "invalid_argument"
    exit_code = 2


class RequestConflict(MemoryRefusal):
    """A request id was used before, for another input."""

    code = "request_conflict"


class StaleFact(MemoryRefusal):
    """A fact's slot holds something else than its writer thinks."""

    code = "stale_fact"

    def __init__(self, message: str = "", *, hint: str = "", current: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.current = current
        """The id of the slot's current fact; None if it holds none."""


class UnknownScope(MemoryRefusal):
    """No such domain, project or stream is known."""

    code = "unknown_scope"
    exit_code = 2


class CursorMismatch(MemoryRefusal):
    """A cursor was altered, belongs to another scope, or was made by another version."""

    code = "cursor_mismatch"
    exit_code = 2
