"""Rows as the faces see them: plain immutable values, converted once from the database.

Times are timezone-aware UTC `datetime`s with microseconds. Text is as stored: whoever draws it makes it safe.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal, NamedTuple, TypeAlias

import msgspec


class SessionRow(msgspec.Struct, frozen=True, kw_only=True):
    """One session (chronicum) in a list (issue: `sessions list`)."""

    id: str
    owner_id: str
    stream: str
    started_at: datetime
    last_activity_at: datetime
    first_at: datetime
    """When its first actum happened (claimed time, else recorded time)."""
    last_at: datetime
    acta: int
    by_kind: dict[str, int]
    actors: tuple[str, ...]
    """Distinct actors, most active first, at most `ACTORS_SHOWN`."""
    actor_count: int
    source: str
    """`recorded`, `claude-code` or `codex`."""
    title: str
    """The described title, else the first prompt of a human, on one line, else empty."""
    source_path: str = ""
    cwd: str = ""
    git_branch: str = ""
    models: tuple[str, ...] = ()
    client_version: str = ""
    forked_from: str = ""


class ActumRow(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that happened in a session, in a list or whole."""

    position: int
    seq: int
    id: str
    chronicum_id: str
    kind: str
    """`message`, `thought`, `tool_request`, `tool_response`; `unit_closed` for a unit's end."""
    actor_kind: str
    actor: str
    content: str
    at: datetime
    occurred_at: datetime | None
    private: bool
    metadata: dict[str, Any]
    content_chars: int
    """Length of the whole content in characters; more than `len(content)` where a list clipped it."""
    reply_seq: int | None = None
    """For a tool request: the seq of its response. For a response: the seq of its request."""
    depth: int = 0
    """How many sub-agents deep: 0 in the trunk."""
    child_seq: int | None = None
    """For a tool request that spawned a sub-agent: the seq of the sub-agent's first actum."""


class Withheld(msgspec.Struct, frozen=True):
    """What took an observation out of agents' sight."""

    position: int
    """Of the event that did; the observation's own where the guard did."""
    by: str
    """Who did; empty for the guard."""
    reason: str


class EventRow(msgspec.Struct, frozen=True, kw_only=True):
    """One event of the log, in a list or whole."""

    position: int
    stream: str
    seq: int
    event_id: str
    namespace: str
    type: str
    schema_version: int
    recorded_at: datetime
    occurred_at: datetime | None
    private: bool
    actor: str
    """Who did it, where the event type names an actor; else empty."""
    payload: dict[str, Any]
    payload_bytes: int
    """Size of the stored row; a list clips long payloads, `whole` says whether this one is."""
    whole: bool = True
    causation_id: str | None = None
    correlation_id: str | None = None
    withheld: Withheld | None = None
    """Why no agent sees it now; None where they do."""

    @property
    def quarantined(self) -> bool:
        """Whether it is withheld from agents now."""
        return self.withheld is not None

    @property
    def happened_at(self) -> datetime:
        """When it happened: as claimed, else when it was recorded."""
        return self.recorded_at if self.occurred_at is None else self.occurred_at


class TimelineFilter(msgspec.Struct, frozen=True, kw_only=True):
    """What a timeline is narrowed to; empty means everything. The parts combine with AND, names with OR."""

    types: tuple[str, ...] = ()
    actors: tuple[str, ...] = ()
    text: str = ""
    """Words that full text must find, the last one as a beginning."""
    streams: tuple[str, ...] = ()
    """Names of streams, such as `session/s1`."""
    visibility: Literal["", "private", "public"] = ""
    since: datetime | None = None
    """Happened at this moment or later."""
    until: datetime | None = None
    """Happened before this moment."""
    projects: tuple[str, ...] = ()
    """Of shared memory: what was recorded for one of these projects, under any spelling."""
    tasks: tuple[str, ...] = ()
    domains: tuple[str, ...] = ()
    agents: tuple[str, ...] = ()
    """What one of these agents did, under whatever spelling it went by."""
    categories: tuple[str, ...] = ()
    """Observations of these categories."""

    def __bool__(self) -> bool:
        return self != TimelineFilter()


TimelineOrder: TypeAlias = Literal["recorded", "happened"]
"""By position, or by happened time (claimed, else recorded) and then by position."""


class Place(NamedTuple):
    """Where an event stands as things happened."""

    happened: int
    """Microseconds since 1970."""
    position: int


class SessionFilter(msgspec.Struct, frozen=True, kw_only=True):
    """What a list of sessions is narrowed to."""

    owner: str = ""
    source: str = ""
    text: str = ""
    """Found, without case, in title, id, owner, working folder or an actor's name."""

    def __bool__(self) -> bool:
        return bool(self.owner or self.source or self.text)


class ActaFilter(msgspec.Struct, frozen=True, kw_only=True):
    """Which acta of a session are shown; an empty tuple means every kind."""

    kinds: tuple[str, ...] = ()
    actor_kinds: tuple[str, ...] = ()
    include_private: bool = True


class Bounds(msgspec.Struct, frozen=True):
    """First and last key of an ordered list; both 0 where it is empty."""

    first: int
    last: int


class RedactionPlace(NamedTuple):
    """Where a redaction stands in the list: the event that notes it, and its number in that event."""

    noted: int
    ordinal: int


class RedactionFilter(NamedTuple):
    """Which redactions are wanted; what is empty or None narrows nothing."""

    kinds: tuple[str, ...] = ()
    since: int | None = None
    """Noted at or after, in microseconds."""
    until: int | None = None
    """Noted before."""
    stream: str = ""
    """The name of the stream whose event held it."""
    actor: str = ""
    text: str = ""
    """Words; each stands in its kind, field, actor or stream, without case where the letters are ASCII."""


class RedactionRow(msgspec.Struct, frozen=True, kw_only=True):
    """One kind of secret that was taken out of one field: never the secret, its length or its hash."""

    noted: int
    """Position of the event that says so: the one that held it, or the one that a scrub appended."""
    ordinal: int
    position: int
    """Of the event that held it; 0 for what was no event."""
    noted_at: datetime
    kind: str
    field: str
    count: int
    filter_version: str
    stream: str
    """Of the event that held it; empty for what was no event."""
    type: str
    occurred_at: datetime | None
    actor: str
    chronicum_id: str = ""
    """The session whose event held it; empty where it was none."""
    title: str = ""
    """What that session is called, on one line."""

    @property
    def place(self) -> RedactionPlace:
        """Its place in the list."""
        return RedactionPlace(self.noted, self.ordinal)

    @property
    def scrubbed(self) -> bool:
        """Whether it was found later, in what was already stored."""
        return self.noted != self.position


class EvidencePlace(NamedTuple):
    """Where a source file stands in the list: its observation, and its number in that."""

    position: int
    ordinal: int


HandoffOrder: TypeAlias = Literal["newest", "project"]
"""The latest checkpoint first, or by the names of project and task."""


class HandoffFilter(NamedTuple):
    """Which tasks are wanted; what is empty narrows nothing."""

    text: str = ""
    """Words, each of which stands somewhere in project, task, agent, domain or goal, in any case."""
    waiting: bool = False
    """Only what waits for a person: see `Handoff.waits`."""
    closed: bool = False
    """Completed and cancelled tasks, too."""


class EvidenceFilter(NamedTuple):
    """Which source files are wanted; what is empty narrows nothing."""

    digest: str = ""
    """Lower-case hex digits with which the digest of the copy begins."""
    path: str = ""
    """Stands in the path as given, without case where the letters are ASCII."""
    status: str = ""
    """`archived`, `pointer_only`, `missing`, `skipped` or `purged`."""


class EvidenceRow(msgspec.Struct, frozen=True, kw_only=True):
    """A source file that an observation names. Its path and all texts are a stranger's words."""

    position: int
    """Of the observation."""
    ordinal: int
    path: str
    """As given."""
    status: str
    """`archived`, `pointer_only`, `missing`, `skipped`, or `purged` for what was archived once."""
    digest: str
    """SHA-256 of the copy; empty where there never was one."""
    size: int | None
    """Of the file as it was, in bytes."""
    reason: str
    """Why it was not archived; empty where it was."""
    removed: dict[str, int]
    """By kind, how many secrets the filter took out of the copy."""
    observation_id: str
    recorded_at: datetime
    private: bool
    withheld: bool
    """Whether every observation that names the copy is private or quarantined; without a copy, whether this
    one is."""
    domain: str
    project: str
    task_id: str
    agent: str
    text: str
    """Of the observation."""

    @property
    def place(self) -> EvidencePlace:
        """Its place in the list."""
        return EvidencePlace(self.position, self.ordinal)


class PurgeRow(msgspec.Struct, frozen=True, kw_only=True):
    """That the bytes of an artifact were removed."""

    position: int
    """Of the event that says so."""
    recorded_at: datetime
    reason: str
    by: str
