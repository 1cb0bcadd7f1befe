"""What can be trusted of a record's fields: any may be missing, of another type, or far too long."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

MAX_IDENTIFIER = 200
"""Characters. What claims to be an id and is longer is not used as one."""


def identifier(value: Any) -> str:
    """`value` if it can be an id (a string, neither empty nor too long), else the empty string."""
    return value if type(value) is str and 0 < len(value) <= MAX_IDENTIFIER else ""


def moment(value: str | None) -> datetime | None:
    """The claimed time in UTC; a time without a zone is read as UTC; None if it cannot be read."""
    if value is None:
        return None
    try:
        read = datetime.fromisoformat(value)
        if read.tzinfo is None:
            return read.replace(tzinfo=UTC)
        return read if read.tzinfo is UTC else read.astimezone(UTC)
    except (ValueError, OverflowError):
        return None
