"""What the chronicle refuses (contract log-and-chronicle, §8)."""

from __future__ import annotations

from typing import ClassVar

from workbench.errors import WorkbenchError


class ChronicleError(WorkbenchError):
    """Base of what the chronicle refuses."""

    code: ClassVar[str] = "chronicle_error"

    def __init__(self, message: str = "", *, hint: str = "", section_id: str = "") -> None:
        super().__init__(message, hint=hint)
        self.section_id = section_id
        """The section that was refused; empty where it is not about a single one."""


class UnknownSection(ChronicleError, LookupError):
    """No section of this id is stored."""

    code: ClassVar[str] = "unknown_section"


class SectionCollision(ChronicleError):
    """A section of this id is stored already, and is not the same."""

    code: ClassVar[str] = "section_collision"


class ChronicleFork(ChronicleError):
    """Two sections would stand for the same events, or two successors for one section."""

    code: ClassVar[str] = "chronicle_fork"


class InvalidSection(ChronicleError, ValueError):
    """A section whose range, unit, id or prose cannot be."""

    code: ClassVar[str] = "invalid_section"


class InvalidExport(ChronicleError, ValueError):
    """A file is no export of a chronicle, or not of this one, or not as it was written."""

    code: ClassVar[str] = "invalid_chronicle_export"
