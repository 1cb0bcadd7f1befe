"""What a rescan found and what a scrub did, as the faces see it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import msgspec

from workbench.workspace.redactions.backups import BackupState
from workbench.workspace.redactions.scan import Hit

KEPT = 2000
"""Places that a report names one by one; the others are counted."""


class OtherFile(NamedTuple):
    """A file that a scrub leaves as it is, and that holds what the filter takes out or may do so."""

    place: str
    """Its path in the workspace, with markers."""
    counts: dict[str, int]
    """What was found in it or in its name, by kind; empty where it cannot be looked into."""
    by_name: bool = False
    """Whether its name holds it."""
    damaged: bool = False
    """Whether it is an artifact whose bytes are not those of its digest."""


class Rescan(msgspec.Struct, kw_only=True):
    """What today's filter would take out of what is stored."""

    filter_version: str
    events: int = 0
    """Looked through."""
    secrets: dict[str, int] = msgspec.field(default_factory=dict)
    """By kind."""
    hits: list[Hit] = msgspec.field(default_factory=list)
    """The first `KEPT` places."""
    places: int = 0
    """How many there are in all."""
    unreadable: int = 0
    """Events whose payload cannot be read, and so was not looked through."""
    closed: list[str] = msgspec.field(default_factory=list)
    """Files and folders that could not be read."""
    others: list[OtherFile] = msgspec.field(default_factory=list)
    """Files that no scrub cleans and that hold some, or may."""
    backups: list[BackupState] = msgspec.field(default_factory=list)

    @property
    def found(self) -> int:
        """How many secrets."""
        return sum(self.secrets.values())

    @property
    def holding(self) -> list[BackupState]:
        """Backups that hold some, or that nobody can look into."""
        return [each for each in self.backups if each.holds is not False]

    @property
    def kept(self) -> int:
        """How many secrets stand in files that no scrub cleans."""
        return sum(number for each in self.others for number in each.counts.values())

    @property
    def is_whole(self) -> bool:
        """Whether everything could be looked through, and all that was found is within a scrub's reach;
        backups aside."""
        return not (self.unreadable or self.closed or self.others)

    def close(self, place: str) -> None:
        """Note a file or folder that could not be read."""
        if place not in self.closed:
            self.closed.append(place)

    def add(self, hits: Iterable[Hit]) -> None:
        """Count what was found in one place."""
        for hit in hits:
            self.secrets[hit.kind] = self.secrets.get(hit.kind, 0) + hit.secrets
            self.places += 1
            if len(self.hits) < KEPT:
                self.hits.append(hit)


class Scrubbed(Rescan, kw_only=True):
    """What a scrub took out, and what still holds it."""

    rewritten: int = 0
    """Events whose payload was replaced."""
    artifacts: int = 0
    """Artifacts that stand under another digest now."""
    files: int = 0
    """Exports and logs that were written anew."""
    resumed: bool = False
    """Whether a scrub that had been cut short was ended first."""
    emptied: bool = True
    """Whether the write-ahead log could be emptied; if not, old text may stand in it until it is."""
    readers: list[str] = msgspec.field(default_factory=list)
    """Programs that kept it from being emptied, as far as the system tells."""
