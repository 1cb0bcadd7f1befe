"""What is said of a section that does not fit among the others (contract log-and-chronicle, §8)."""

from __future__ import annotations

from workbench.chronicle.checks import shown
from workbench.chronicle.errors import ChronicleFork, SectionCollision, UnknownSection
from workbench.chronicle.sections import Anchor, SectionId


def collision(given: Anchor, stored: Anchor) -> SectionCollision:
    """The id is stored: what to say."""
    said = "already" if stored == given else "already, for other events or after another section"
    return SectionCollision(
        f"a section {shown(given.section_id)} is stored {said}",
        hint="read the current section of the range and try again",
        section_id=given.section_id,
    )


def unknown(anchor: Anchor) -> UnknownSection:
    """What a section supersedes is not there: what to say."""
    return UnknownSection(
        f"section {shown(anchor.section_id)} supersedes {shown(anchor.supersedes or '')}, which is not there",
        section_id=anchor.section_id,
    )


def overlap(anchor: Anchor, other: SectionId) -> ChronicleFork:
    """Two sections would stand for one event: what to say."""
    return ChronicleFork(
        f"section {shown(anchor.section_id)} overlaps section {shown(other)}",
        hint="to write about a range anew, supersede its current section",
        section_id=anchor.section_id,
    )


def other_range(anchor: Anchor) -> ChronicleFork:
    """A section would supersede one of another range: what to say."""
    return ChronicleFork(
        f"section {shown(anchor.section_id)} has another range than {shown(anchor.supersedes or '')}, "
        "which it supersedes",
        section_id=anchor.section_id,
    )


def second_successor(anchor: Anchor) -> ChronicleFork:
    """A section would supersede one that is superseded: what to say."""
    return ChronicleFork(
        f"section {shown(anchor.section_id)} supersedes {shown(anchor.supersedes or '')}, which another "
        "section supersedes already",
        hint="supersede the current section of the range",
        section_id=anchor.section_id,
    )


def cycle(anchor: Anchor) -> ChronicleFork:
    """A section would supersede itself, by way of others or at once: what to say."""
    return ChronicleFork(
        f"section {shown(anchor.section_id)} supersedes itself, by way of {shown(anchor.supersedes or '')}",
        section_id=anchor.section_id,
    )


def mixed_chain(anchor: Anchor) -> ChronicleFork:
    """A section would follow other words than those that it was written after: what to say."""
    return ChronicleFork(
        f"section {shown(anchor.section_id)} was written after another prose of "
        f"{shown(anchor.supersedes or '')} than the one that is stored here",
        hint="load it into a copy that has no sections of its own",
        section_id=anchor.section_id,
    )
