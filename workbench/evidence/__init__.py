"""Content-addressed evidence files."""

from workbench.evidence.policy import MAX_SOURCE_FILES, EvidencePolicy
from workbench.evidence.staging import EvidenceItem, Stager, Staging
from workbench.evidence.store import EvidenceError, EvidenceStore

__all__ = [
    "MAX_SOURCE_FILES",
    "EvidenceError",
    "EvidenceItem",
    "EvidencePolicy",
    "EvidenceStore",
    "Stager",
    "Staging",
]
