"""What pins, replays and recordings refuse (contract log-and-chronicle, §2, §3, §6)."""

from __future__ import annotations

from typing import NamedTuple

from workbench.log.errors import LogError


class NotJson(LogError, TypeError):
    """A value is, or holds, something that JSON has no form for: bytes, a set, a key that is no text."""

    code = "not_json"


class NotCanonical(LogError, ValueError):
    """A value has no one JSON text: NaN, two keys that are one after normalisation, endless nesting."""

    code = "not_canonical"


class PinOfAnotherKind(LogError):
    """A key is pinned already, for another kind of effect than it is asked for now."""

    code = "pin_of_another_kind"


class Divergence(NamedTuple):
    """Where a replay first asked for what its pins do not hold."""

    missed_key: str
    kind: str
    after_hits: int
    """How many results the pins gave before."""


class PinMiss(LogError):
    """A strict replay was asked for a result that was never recorded; nothing was drawn."""

    code = "pin_miss"

    def __init__(self, message: str = "", *, divergence: Divergence, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.divergence = divergence
        """The first miss of the replay, which need not be this one."""


class RecordingError(LogError, ValueError):
    """A file is no recording that this program can read, or a header that no recording may have."""

    code = "recording"
