"""Removing what lies among the artifacts and should not: the purged, what nothing names, what was left."""

from __future__ import annotations

import logging
import time
from pathlib import Path

from workbench.evidence import EvidenceError, EvidenceStore
from workbench.evidence.places import ORPHAN_SECONDS, alone, sweep
from workbench.log.event_log import EventLog
from workbench.workspace.doctor.artifacts import NamedEvidence, digests_in
from workbench.workspace.evidence import named_behind, remove_purged
from workbench.workspace.layout import Layout

logger = logging.getLogger(__name__)

ARTIFACT_CODES = frozenset(("artifact_orphaned", "artifact_purge_unfinished", "staging_leftovers"))
"""Codes of the findings that this mends."""

_AT_ONCE = 10_000


def mend_artifacts(layout: Layout, log: EventLog, evidence: NamedEvidence) -> None:
    """Remove them; `evidence` holds what the events name. What cannot be removed is found again.

    An artifact that nothing names stays for an hour where a program may be about to name it. Raises the
    storage errors of a write.
    """
    folder = layout.artifacts
    try:
        sweep(folder)
        remove_purged(log, EvidenceStore(folder), dict(evidence.all_purged()))
        _remove_orphans(folder, log, evidence)
    except (OSError, EvidenceError) as error:
        logger.info("what lies in %s was not all removed: %s", folder, error)


def _remove_orphans(folder: Path, log: EventLog, evidence: NamedEvidence) -> None:
    orphans: dict[str, Path] = {}
    for digest, path in digests_in(folder):
        if digest not in evidence and evidence.purged_at(digest) is None:
            orphans[digest] = path
            if len(orphans) >= _AT_ONCE:
                # The next run removes the rest.
                break
    # Whoever keeps an artifact holds the write lock until an event names it, or else the folder.
    with log.database.transaction() as connection, alone(folder) as unheld:
        named = named_behind(connection, evidence.upto, orphans)
        oldest = time.time() - ORPHAN_SECONDS
        for digest, path in orphans.items():
            if digest not in named and (unheld or path.stat().st_mtime < oldest):
                path.unlink(missing_ok=True)
