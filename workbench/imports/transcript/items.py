"""What a transcript turns into: a stream of typed items, before anything is stored.

The driver that owns the log records acta and units, folds descriptions, counts the rest and commits
at each `Checkpoint`.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

import msgspec

from workbench.imports.transcript.state import FileState

ActumKind = Literal["message", "thought", "tool_request", "tool_response"]
ActorKind = Literal["human", "agent", "system"]

ProblemReason = Literal["not JSON", "not an object", "too deep", "not UTF-8", "line too long"]
RepairKind = Literal[
    "lone surrogate", "number out of range", "control character", "padding", "unreadable base64"
]


class EvidenceBytes(msgspec.Struct, frozen=True):
    """Bytes that a block carried. The driver stores them and adds their digest to the actum's metadata."""

    data: bytes
    media_type: str
    """As the block claims it, made safe: `image/png`; empty if it claims none that can be one."""


class ActumItem(msgspec.Struct, kw_only=True):
    """One content block as one actum (contract transcripts, the mapping table)."""

    chronicum_id: str
    """`claude-code/<sessionId>`, `codex/<session>`."""
    record_key: str
    """`claude-code:<uuid>`, `codex:<session>:<name>`: the same for every block of one record. A record whose
    key already gave an actum is a duplicate as a whole, also where a later copy has more blocks."""
    source_key: str
    """The idempotency key: `<record_key>:<block index>`."""
    kind: ActumKind
    actor_kind: ActorKind
    actor: str
    content: str
    metadata: dict[str, Any]
    """No empty values. `evidence` is left to the driver."""
    occurred_at: datetime | None
    """Aware, UTC; None if the record claims no readable time."""
    line: int
    """Number of the line in its file, from 1."""
    evidence: tuple[EvidenceBytes, ...] = ()


class UnitClosedItem(msgspec.Struct, kw_only=True, frozen=True):
    """The end of a unit: a compaction, a rollback."""

    chronicum_id: str
    record_key: str
    source_key: str
    unit: str
    note: str
    occurred_at: datetime | None
    line: int


class DescribeItem(msgspec.Struct, kw_only=True, frozen=True):
    """What changed in the description of a session: only changed fields, never an empty one."""

    chronicum_id: str
    fields: dict[str, Any]
    """Of `title`, `source` (path of the file), `cwd`, `git_branch`, `models` (list of str, whole),
    `client_version`, `forked_from` (a chronicum id)."""
    own: bool = True
    """False for a session that only appears inside another session's file: such a description fills gaps, it
    does not replace what the session's own file says."""


class Ignored(msgspec.Struct, frozen=True):
    """Something that gives no actum: `record:<type>`, or `block:<type>` inside a record that gives others."""

    kind: str
    line: int
    raw: bytes = b""
    """The whole line, only for a kind this program does not know and only up to `MAX_RAW` bytes."""


class Problem(msgspec.Struct, frozen=True):
    """A line that cannot be read. The others go on."""

    line: int
    reason: ProblemReason


class Repaired(msgspec.Struct, frozen=True):
    """Something in a line that was kept in another form: counted in the report."""

    kind: RepairKind
    count: int
    line: int


class Restarted(msgspec.Struct, frozen=True):
    """The file is not the one its state speaks of any more: it is read again from its start."""

    reason: Literal["shrank", "changed"]


class Underway(msgspec.Struct, frozen=True):
    """Nothing yet, but reading goes on: a good moment to stop it, or to say how far it is."""

    place: int
    """Bytes of the file that were read so far, as the file lies on the disk: of a packed one packed bytes."""


class Checkpoint(msgspec.Struct, frozen=True):
    """Everything before `state.offset` has been handed out: a good moment to commit."""

    state: FileState
    """The reader's own kind of state."""
    place: int
    """As in `Underway`. Not `state.offset`, which counts unpacked bytes."""
    records: int
    """Lines read since the checkpoint before."""
    waiting: int = 0
    """Records at the end that wait until the file has settled; they are read again next time."""
    partial: int = 0
    """Bytes of a half-written last line that waits."""
    at_end: bool = False
    """Whether the file was read to its end: nothing is left of it but what waits."""


MAX_RAW = 64 * 1024

Item = (
    ActumItem
    | UnitClosedItem
    | DescribeItem
    | Ignored
    | Problem
    | Repaired
    | Restarted
    | Underway
    | Checkpoint
)
