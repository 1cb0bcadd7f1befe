"""Every fold and event type of the program, in one place (DESIGN §2 "The fold set")."""

from __future__ import annotations

from workbench.chronicle.tables import TABLES as CHRONICLE_TABLES
from workbench.evidence.events import EVENT_TYPES as EVIDENCE_TYPES
from workbench.evidence.folds import FOLDS as EVIDENCE_FOLDS
from workbench.imports.sources import TABLES as IMPORT_TABLES
from workbench.log import FOLDS as LOG_FOLDS
from workbench.log.activity import ActivityFold
from workbench.log.pin_tables import TABLES as PIN_TABLES
from workbench.log.pins.events import EVENT_TYPES as PIN_TYPES
from workbench.log.positions import TABLES as POSITION_TABLES
from workbench.log.registry import EventTypeRegistry
from workbench.memory.events import EVENT_TYPES as MEMORY_TYPES
from workbench.memory.folds import FOLDS as MEMORY_FOLDS
from workbench.memory.name_folds import FOLDS as NAME_FOLDS
from workbench.redaction.events import EVENT_TYPES as REDACTION_TYPES
from workbench.redaction.receipts import FOLDS as REDACTION_FOLDS
from workbench.sessions.events import EVENT_TYPES as SESSION_TYPES
from workbench.sessions.folds import FOLDS as SESSION_FOLDS
from workbench.workspace.jobs.table import TABLES as JOB_TABLES
from workbench.workspace.redactions.tables import TABLES as REDACTION_TABLES

FOLDS = (
    *SESSION_FOLDS,
    *MEMORY_FOLDS,
    *NAME_FOLDS,
    *EVIDENCE_FOLDS,
    *LOG_FOLDS,
    ActivityFold(),
    *REDACTION_FOLDS,
)

TABLES = (
    *IMPORT_TABLES,
    *POSITION_TABLES,
    *JOB_TABLES,
    *REDACTION_TABLES,
    *CHRONICLE_TABLES,
    *PIN_TABLES,
)
"""What is not folded from the log."""


def event_types() -> EventTypeRegistry:
    """A registry of every event type that this program writes."""
    return EventTypeRegistry((*SESSION_TYPES, *MEMORY_TYPES, *EVIDENCE_TYPES, *REDACTION_TYPES, *PIN_TYPES))
