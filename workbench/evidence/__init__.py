"""Content-addressed evidence files."""

from workbench.evidence.store import EvidenceError, EvidenceStore

__all__ = ["EvidenceError", "EvidenceStore"]
