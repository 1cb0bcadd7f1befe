"""Content-addressed evidence files; each name is loaded when it is asked for."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
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

_PLACES = {
    "MAX_SOURCE_FILES": "policy",
    "EvidencePolicy": "policy",
    "EvidenceItem": "staging",
    "Stager": "staging",
    "Staging": "staging",
    "EvidenceError": "store",
    "EvidenceStore": "store",
}


def __getattr__(name: str) -> Any:
    """Hashing and copying cost a short command a tenth of its time: the folds of evidence need neither."""
    place = _PLACES.get(name)
    if place is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{place}"), name)
