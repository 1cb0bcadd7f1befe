"""What shared memory asks of others, as protocols, so that siblings do not import each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol


class StagedItem(Protocol):
    """What became of one source file: see `events.Evidence`. What is not known is None or `msgspec.UNSET`."""

    @property
    def path(self) -> str: ...
    @property
    def status(self) -> str: ...
    @property
    def sha256(self) -> Any: ...
    @property
    def size(self) -> Any: ...
    @property
    def reason(self) -> Any: ...
    @property
    def removed(self) -> Mapping[str, int] | Any: ...


class StagedEvidence(Protocol):
    """Copies of source files that nothing names yet."""

    @property
    def evidence(self) -> Sequence[StagedItem]:
        """One for each path, in order."""
        ...

    def keep(self) -> object:
        """Give the copies their places. Called inside the write transaction, just before the append."""
        ...

    def discard(self) -> object:
        """Remove what was staged and not kept; harmless after `keep`."""
        ...


class TaskChronicle(Protocol):
    """What there is of a task's chronicle for an agent."""

    def __call__(self, streams: Sequence[str], upto: int) -> Mapping[str, Any] | None:
        """Of the first of these streams that has sections: `stream`, `anchors` {consolidated_through}, and
        the newest `sections`, their prose marked advisory; None if none has. `upto` is a position of the
        log: what was written later is not there."""
        ...


def no_chronicle(streams: Sequence[str], upto: int) -> Mapping[str, Any] | None:
    """The `TaskChronicle` of a log without one."""
    return None


class EvidenceStaging(Protocol):
    """Hashes, filters and copies source files outside the write lock."""

    def stage(self, paths: Sequence[str]) -> StagedEvidence:
        """Stage files. What is missing, too large or of a kind that is not kept is said in the evidence."""
        ...
