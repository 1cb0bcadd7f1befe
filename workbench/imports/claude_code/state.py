"""What is remembered of a Claude Code transcript between two imports."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import msgspec

from workbench.imports.transcript.state import FileState

MAX_MESSAGES = 64
MAX_SIDECHAIN = 1024
MAX_PROMPTS = 64


class ReaderState(FileState):
    """Where reading stopped."""

    cwd: str = ""
    """Working folder of the last record before `offset`."""
    last_at: datetime | None = None
    """The time of the last record before `offset` that has one; at first of the first one in the file. It
    stands in where a record has none."""
    usage: dict[str, dict[str, Any]] = msgspec.field(default_factory=dict)
    """By message id: the token counts that an actum already carries."""
    sidechain: dict[str, str] = msgspec.field(default_factory=dict)
    """By uuid of a sidechain's record in this file: the tool call that began the sidechain."""
    prompts: dict[str, str] = msgspec.field(default_factory=dict)
    """By digest of the prompt given to a sub-agent: the tool call that gave it."""
