"""A job as the faces see it, and what its kind means."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Literal, NamedTuple, cast

import msgspec

from workbench.log.times import from_micros
from workbench.workspace.jobs.processes import Process, is_gone, last_heard, this_process

Status = Literal["running", "done", "failed", "stopped"]

ENDED_SILENTLY = "ended without a word: its program was killed or the machine stopped"


class Kind(NamedTuple):
    """What all jobs of a kind have in common."""

    unit: Literal["bytes", "events", "parts"]
    """What `done` and `total` count; `parts` are shares of the whole and mean nothing by themselves."""
    again: str
    """What helps after one that ended without a word."""


KINDS = {
    "import": Kind("bytes", "import again: it goes on where this one stopped"),
    "import jsonl": Kind("bytes", "nothing of the file was kept; import it again"),
    "export": Kind("events", "export again; an earlier file is untouched"),
    "doctor": Kind("parts", "examine again with: workbench doctor"),
    "rescan": Kind("parts", "look again with: workbench redactions rescan"),
    "scrub": Kind("parts", "end it with: workbench redactions scrub --confirm"),
    "chronicle": Kind("events", "what was drawn is kept; go on with: workbench chronicle consolidate"),
    "migrate": Kind("parts", "the database is as it was before, or migrated; see: workbench status"),
}
_OTHER = Kind("parts", "start it again")


def kind_of(name: str) -> Kind:
    """The kind of that name; a general one for those of a later release."""
    return KINDS.get(name, _OTHER)


class JobRow(msgspec.Struct, frozen=True, kw_only=True):
    """One job. Text is filtered, but hostile all the same: draw it literally."""

    id: int
    """Positive; negative for a job of this program that is not recorded in the workspace."""
    kind: str
    title: str
    status: Status
    lease: str | None = None
    process: str
    """See `Process`."""
    started_at: datetime
    heartbeat_at: datetime
    """When it last said how far it is."""
    finished_at: datetime | None = None
    """Of one that ended without a word: when it was last heard of."""
    done: int = 0
    total: int | None = None
    note: str = ""
    """What it is working on."""
    outcome: str = ""
    """What it did: one sentence, then a line for each thing worth naming."""
    error: str = ""
    hint: str = ""
    stop_asked: bool = False

    @property
    def running(self) -> bool:
        """Whether it goes on."""
        return self.status == "running"

    @property
    def mine(self) -> bool:
        """Whether this process runs it, or ran it."""
        return Process.from_text(self.process) == this_process()

    @property
    def recorded(self) -> bool:
        """Whether the workspace knows of it."""
        return self.id > 0

    @property
    def unit(self) -> str:
        """What `done` and `total` count: `bytes`, `events` or `parts`."""
        return kind_of(self.kind).unit

    @property
    def summary(self) -> str:
        """The outcome's first line."""
        return self.outcome.partition("\n")[0]


def job_row(row: Sequence[Any], now: int) -> JobRow:
    """A stored row; one that ended without a word is shown as failed, whether or not that is noted yet."""
    job = JobRow(
        id=row[0],
        kind=row[1],
        title=row[2],
        status=cast(Status, row[3]),
        lease=row[4],
        process=row[5],
        started_at=from_micros(row[6]),
        heartbeat_at=from_micros(row[7]),
        finished_at=None if row[8] is None else from_micros(row[8]),
        done=row[9],
        total=row[10],
        note=row[11],
        outcome=row[12],
        error=row[13],
        hint=row[14],
        stop_asked=bool(row[15]),
    )
    if job.running and is_gone(job.process, row[7], now):
        return msgspec.structs.replace(
            job,
            status="failed",
            finished_at=from_micros(last_heard(row[6], row[7], now)),
            error=ENDED_SILENTLY,
            hint=kind_of(job.kind).again,
        )
    return job
