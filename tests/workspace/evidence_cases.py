"""Observations with evidence, in a workspace."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from uuid import uuid4

from msgspec import UNSET

from workbench.evidence import EvidenceItem, EvidencePolicy
from workbench.log import PendingEvent
from workbench.memory.events import Evidence, ObservationRecorded
from workbench.workspace import Workspace
from workbench.workspace.evidence import stager


def said(item: EvidenceItem) -> Evidence:
    """As an observation says it."""
    return Evidence(
        path=item.path,
        status=item.status,
        sha256=UNSET if item.sha256 is None else item.sha256,
        size=UNSET if item.size is None else item.size,
        reason=UNSET if item.reason is None else item.reason,
        removed=UNSET if item.removed is None else item.removed,
    )


def observation(
    evidence: Sequence[EvidenceItem], text: str = "seen", *, private: bool = False, project: str = "atlas"
) -> PendingEvent:
    """One observation that names this evidence."""
    return PendingEvent(
        payload=ObservationRecorded(
            scope_domain="global",
            scope_project=project,
            domain="global",
            project=project,
            agent="claude",
            agent_source="explicit",
            category="note",
            text=text,
            evidence=[said(item) for item in evidence],
            request_hash=uuid4().hex * 2,
            content_hash=uuid4().hex * 2,
            hash_filter="none",
        ),
        visibility="private" if private else "public",
    )


def observe(
    workspace: Workspace, base: Path, *paths: str, text: str = "seen", private: bool = False
) -> list[EvidenceItem]:
    """Record an observation with source files, as `record_event` does it; what became of them."""
    taking = stager(workspace.log, workspace.evidence, EvidencePolicy(), base)
    with taking.stage(paths) as staging, workspace.log.transaction() as transaction:
        event = observation(staging.evidence, text, private=private)
        staging.keep()
        transaction.append(event.payload.stream, [event])  # type: ignore[attr-defined]
        return staging.evidence


def digest(items: Sequence[EvidenceItem], number: int = 0) -> str:
    """The digest of one that was archived."""
    found = items[number].sha256
    assert found is not None
    return found
