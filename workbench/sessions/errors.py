"""What a session library call can refuse, and with which words (contract sessions §2)."""

from __future__ import annotations

from typing import ClassVar

from workbench.errors import WorkbenchError


class ChronicaError(WorkbenchError):
    """Root of every error of the session library; errors of a store's own pass through unchanged.

    Each class has one default sentence, `text`. A store may raise with a longer message, but what
    `Chronicarius` itself raises never carries an id, so that an answer tells nothing about a
    session that is not the caller's.
    """

    code: ClassVar[str] = "chronica_error"
    text: ClassVar[str] = "chronica: failed"
    advice: ClassVar[str] = ""

    def __init__(self, message: str = "", *, hint: str = "") -> None:
        super().__init__(message or self.text, hint=hint or self.advice)


class ChronicumNotFound(ChronicaError):
    """No such session, or it belongs to another owner: deliberately one answer for both."""

    code = "chronicum_not_found"
    text = "chronica: chronicum not found"
    advice = "Check the session's id and whose session it is."


class ChronicumExists(ChronicaError):
    """A store already holds a session of that id, whoever owns it."""

    code = "chronicum_exists"
    text = "chronica: chronicum already exists"
    advice = "Record into it, or choose another id."


class InvalidActum(ChronicaError):
    """An actum breaks a rule of `Actum.validate`; the message says which."""

    code = "invalid_actum"
    exit_code = 2
    text = "chronica: invalid actum"
    advice = "Correct the actum and record it again; nothing was stored."

    @classmethod
    def because(cls, reason: str) -> InvalidActum:
        """The error whose message is the default sentence followed by `reason`."""
        return cls(f"{cls.text}: {reason}")


class EmptyOwnerID(ChronicaError):
    """A call named no owner; nobody owns a session by default."""

    code = "empty_owner_id"
    exit_code = 2
    text = "chronica: empty owner id"
    advice = "Name the owner of the session."


class NotText(ChronicaError):
    """An owner, an id, a key or a kind is no text; the message names which and what it is instead."""

    code = "not_text"
    exit_code = 2
    text = "chronica: not text"
    advice = "Give a str; decode bytes first."

    @classmethod
    def named(cls, name: str, value: object) -> NotText:
        """The error for the argument `name`, which says the value's type and never the value."""
        return cls(f"{cls.text}: {name} is a value of type {type(value).__name__}")


class IdempotencyUnsupported(ChronicaError):
    """An idempotency key came with a store that cannot keep one; nothing was stored."""

    code = "idempotency_unsupported"
    exit_code = 2
    text = "chronica: store does not support idempotency"
    advice = "Record without a key, or use a store that has record_idempotent."
