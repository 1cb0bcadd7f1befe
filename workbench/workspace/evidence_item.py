"""One piece of evidence as a face shows it: its record, the others that name the same copy, and the copy."""

from __future__ import annotations

import re
from typing import NamedTuple

from workbench.evidence import EvidenceStore
from workbench.workspace.artifact_state import Artifact, artifact
from workbench.workspace.readers.evidence_queries import EvidenceReader
from workbench.workspace.rows import EvidenceRow

_DIGEST = re.compile(r"[0-9a-f]{64}", re.ASCII)
RECORDS = 50
"""Records of one copy that are read; more are said to be there."""


class EvidenceItem(NamedTuple):
    """What there is of one source file."""

    row: EvidenceRow | None
    """The record that it was asked for by, else the newest one; None if no observation names the copy."""
    records: tuple[EvidenceRow, ...]
    """Every record that names the same copy, newest first, `RECORDS` at most."""
    more: bool
    """Whether there are more of them."""
    copy: Artifact | None
    """The copy; None where none was kept."""
    beside: tuple[EvidenceRow, ...] = ()
    """Every source file of the record's observation, in the order given, itself among them."""

    @property
    def state(self) -> str:
        """Of the copy (`archived`, `purged`, `missing`, `damaged`, `unreadable`), else what the record says.

        `lost` is a copy that should be there: the record's own `missing` is a file that never was.
        """
        if self.copy is not None:
            return "lost" if self.copy.status == "missing" else self.copy.status
        return "unknown" if self.row is None else self.row.status


def evidence_item(
    store: EvidenceStore,
    reader: EvidenceReader,
    *,
    sha256: str = "",
    path: str = "",
    position: int | None = None,
    ordinal: int | None = None,
) -> EvidenceItem:
    """Look one up: by the digest of its copy (64 digits), by its path as recorded, or by an event alone.

    Of several records that fit, that of the event at `position` (an observation, or the fact or checkpoint
    that it made) with this `path` or number `ordinal` is meant, else the newest. Raises `EvidenceError` for
    what is no digest, and the storage errors of a read.
    """
    row: EvidenceRow | None = None
    if position is not None:
        fitting = [
            each
            for each in reader.of_event(position)
            if (not sha256 or each.digest == sha256)
            and (not path or each.path == path)
            and ordinal in (None, each.ordinal)
        ]
        row = fitting[0] if fitting else None
    if row is None and not sha256 and path:
        row = reader.named(path)
    digest = sha256 or (row.digest if row is not None else "")
    records: tuple[EvidenceRow, ...] = () if row is None else (row,)
    copy, more = None, False
    if sha256 or _DIGEST.fullmatch(digest):
        links = reader.links(digest, RECORDS + 1)
        records, more = tuple(links[:RECORDS]), len(links) > RECORDS
        if row is None:
            row = next((each for each in records if each.path == path), records[0] if records else None)
        copy = artifact(store, reader, digest)
    beside = () if row is None else tuple(reader.of_event(row.position))
    return EvidenceItem(row, records, more, copy, beside)
