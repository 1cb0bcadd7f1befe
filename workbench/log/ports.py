"""What the log asks of others, as protocols, so that nothing below imports what stands above it."""

from __future__ import annotations

from typing import Any, Protocol

import msgspec

JsonValue = Any
"""dict with str keys, list, str, int, float, bool or None, nested."""


class Removal(msgspec.Struct, frozen=True):
    """One kind of secret that was removed from one field: never the secret, its length or its hash."""

    field: str
    """Dotted path inside the payload, list items by index: `content`, `metadata.input.env.0`."""
    kind: str
    count: int


class Redactor(Protocol):
    """The secret filter at the log's door (DESIGN §2 "The door").

    Implementations are thread-safe and deterministic, and idempotent: filtering a filtered value
    changes nothing.
    """

    @property
    def version(self) -> str:
        """Changes whenever the same text may give another result; stored beside every removal."""
        ...

    def may_change(self, encoded: bytes) -> bool:
        """False only if `redact_value` would leave the value behind this UTF-8 JSON text as it is.

        A cheap test over the whole payload row, so that clean events pay one scan and no walk.
        """
        ...

    def redact_text(self, text: str) -> tuple[str, dict[str, int]]:
        """The text with `[REDACTED:<kind>]` in place of each secret, and how many of each kind."""
        ...

    def redact_value(self, value: JsonValue) -> tuple[JsonValue, list[Removal]]:
        """A JSON value with every string in it filtered; the same object if nothing was found."""
        ...


class PassThrough(Redactor):
    """Filters nothing: for tests and for logs that hold no free text."""

    @property
    def version(self) -> str:
        return "none"

    def may_change(self, encoded: bytes) -> bool:
        return False

    def redact_text(self, text: str) -> tuple[str, dict[str, int]]:
        return text, {}

    def redact_value(self, value: JsonValue) -> tuple[JsonValue, list[Removal]]:
        return value, []
