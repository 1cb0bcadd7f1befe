"""Collects the items of one record."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from workbench.imports.transcript.items import (
    MAX_RAW,
    ActorKind,
    ActumItem,
    ActumKind,
    EvidenceBytes,
    Ignored,
    Item,
    UnitClosedItem,
)


class ItemBuilder:
    """The items of one record, all under its key."""

    __slots__ = ("at", "chronicum_id", "items", "key", "line")

    def __init__(self, chronicum_id: str, key: str, at: datetime | None, line: int) -> None:
        self.items: list[Item] = []
        self.chronicum_id = chronicum_id
        self.key = key
        self.at = at
        self.line = line

    def add(
        self,
        index: int,
        content: str,
        kind: ActumKind,
        actor_kind: ActorKind,
        actor: str,
        metadata: dict[str, Any],
        evidence: tuple[EvidenceBytes, ...] = (),
    ) -> None:
        """Add the block at `index` of the record as an actum."""
        self.items.append(
            ActumItem(
                chronicum_id=self.chronicum_id,
                record_key=self.key,
                source_key=f"{self.key}:{index}",
                kind=kind,
                actor_kind=actor_kind,
                actor=actor,
                content=content,
                metadata=metadata,
                occurred_at=self.at,
                line=self.line,
                evidence=evidence,
            )
        )

    def close(self, unit: str, note: str) -> None:
        """Add the end of a unit, as the record's first block."""
        self.items.append(
            UnitClosedItem(
                chronicum_id=self.chronicum_id,
                record_key=self.key,
                source_key=f"{self.key}:0",
                unit=unit,
                note=note,
                occurred_at=self.at,
                line=self.line,
            )
        )

    def ignore_blocks(self, kinds: Iterable[str]) -> None:
        """Count the blocks that gave nothing."""
        self.items.extend([Ignored(f"block:{kind}", self.line) for kind in kinds])


def ignored_record(kind: str, line: int, data: bytes, *, known: bool) -> Ignored:
    """A record that gives no actum; its line is kept if its kind is unknown to this program."""
    return Ignored(kind, line, data.strip() if not known and len(data) <= MAX_RAW else b"")
