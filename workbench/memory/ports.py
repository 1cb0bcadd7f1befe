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


class EvidenceStaging(Protocol):
    """Hashes, filters and copies source files outside the write lock."""

    def stage(self, paths: Sequence[str]) -> StagedEvidence:
        """Stage files. What is missing, too large or of a kind that is not kept is said in the evidence."""
        ...
