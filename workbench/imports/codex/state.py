"""What is remembered of a rollout between two imports: small, bounded, plain JSON."""

from __future__ import annotations

from datetime import datetime

import msgspec

from workbench.imports.transcript.state import FileState

MAX_OFFERS = 512
"""Texts of one stretch that still wait for their other half, newest kept."""
MAX_OCCURRENCES = 512
"""Different records that are counted under one anchor; with more the anchor moves on."""
MAX_TURNS = 64
"""Turns whose return is recognised."""


class Offer(msgspec.Struct, gc=False):
    """A text that a `response_item` brought and no event has repeated so far."""

    whole: list[str]
    """Fingerprints of its parts joined, in each way that they may have been joined."""
    parts: list[str]
    """Fingerprints of its parts, each for itself; empty for a text of one part."""


class Place(msgspec.Struct):
    """What depends on how far the file has been read: where reading resumes, this resumes too."""

    turn_id: str = ""
    anchor: str = ""
    """Names the stretch of the conversation since which `occurrences` counts."""
    anchor_turn: str = ""
    recent_turns: list[str] = msgspec.field(default_factory=list)
    occurrences: dict[str, int] = msgspec.field(default_factory=dict)
    """By fingerprint: how often a record of this content came since the anchor."""
    offers: list[Offer] = msgspec.field(default_factory=list)
    entered: list[str] = msgspec.field(default_factory=list)
    """Fingerprints of events that became acta before their stretch ended."""
    model: str = ""
    cwd: str = ""
    told_cwd: str = ""
    """Working folder that the last actum which names one names."""
    told_parent: bool = False
    last_at: datetime | None = None
    """The time of the last record that has one; at first of the first one in the file, else when the session
    began. It stands in where a record has none."""

    def copied(self) -> Place:
        """A copy that later reading does not change. Offers are never changed in place."""
        return msgspec.structs.replace(
            self,
            recent_turns=self.recent_turns.copy(),
            occurrences=self.occurrences.copy(),
            offers=self.offers.copy(),
            entered=self.entered.copy(),
        )


class RolloutState(FileState):
    """Where reading stopped. `first_session` is the file's own session.

    `msgspec.json.encode` and `decode(…, type=RolloutState)` are its stored form.
    """

    identified: bool = False
    """Whether the file's own `session_meta` has been read."""
    root: str = ""
    """The session whose records the file repeats first; its own where it repeats none."""
    copied: bool = False
    """Whether it holds another session's lines."""
    forked_from: str = ""
    """The session that this one was forked from."""
    agent_path: str = ""
    """Of a sub-agent: its path, which is its actor's name."""
    parent_thread: str = ""
    """Of a sub-agent: the session that spawned it."""
    place: Place = msgspec.field(default_factory=Place)
