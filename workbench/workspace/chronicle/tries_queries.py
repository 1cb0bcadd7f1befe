"""When a summarizer that failed is tried again, as the list of jobs says it to every program.

The list outlives programs and is shared by them, so that what one of them learned keeps the others, and the
next one, from asking again at once.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import takewhile
from typing import NamedTuple

from workbench.log.event_log import EventLog
from workbench.storage import fetch
from workbench.workspace.chronicle.turns import KIND
from workbench.workspace.jobs.processes import is_gone, last_heard

FIRST_MICROS = 30_000_000
"""After one failure; after each further one without a success in between, twice as long."""
MOST_MICROS = 3600 * 1_000_000

_ENDED = (
    "SELECT job_id, lease, status, finished_at FROM jobs WHERE kind = ? AND status IN ('done', 'failed') "
    "AND lease IS NOT NULL AND finished_at > ? ORDER BY job_id DESC"
)
_RUNNING = (
    "SELECT job_id, lease, process, started_at, heartbeat_at FROM jobs WHERE kind = ? AND status = 'running' "
    "AND lease IS NOT NULL ORDER BY job_id DESC"
)
_FORGET = (
    "DELETE FROM jobs WHERE kind = ? AND lease = ? AND title = ? AND status = 'done' AND job_id < "
    "(SELECT max(job_id) FROM jobs WHERE kind = ? AND lease = ? AND title = ? AND status = 'done')"
)


class Tries(NamedTuple):
    """What the jobs that ended say."""

    anything_at: int
    """Before this time (microseconds) nothing is tried: what fails may fail everywhere."""
    at: dict[str, int]
    """By lease, before which time that chronicle is not tried."""
    failures: dict[str, int]
    """By lease, how often it failed without a success since."""

    def next(self, lease: str) -> int:
        """When a chronicle may be tried."""
        return max(self.anything_at, self.at.get(lease, 0))


def tries(log: EventLog, since: int, failing: str | None = None) -> Tries:
    """When each chronicle may be tried again; failures before `since` count for nothing, and the one of now
    that is `failing` does already. A job whose program was killed has failed, noted or not."""
    now = log.now()
    with log.reader() as connection:
        found = fetch.rows(connection, _ENDED, (KIND, since))
        for number, lease, process, started, heartbeat in fetch.rows(connection, _RUNNING, (KIND,)):
            if is_gone(process, heartbeat, now):
                heard = last_heard(started, heartbeat, now)
                if heard > since:
                    found.append((number, lease, "failed", heard))
    ended = [tuple(row[1:]) for row in sorted(found, reverse=True)]
    if failing is not None:
        ended.insert(0, (failing, "failed", now))
    latest = now + MOST_MICROS
    by_lease: dict[str, list[tuple[str, int]]] = {}
    for lease, status, at in ended:
        by_lease.setdefault(lease, []).append((status, at))
    # The clock may have been set back since.
    return Tries(
        min(latest, _after((status, at) for _, status, at in ended)),
        {lease: min(latest, _after(of_it)) for lease, of_it in by_lease.items()},
        {lease: len(_failures(of_it)) for lease, of_it in by_lease.items()},
    )


def _after(ended: Iterable[tuple[str, int]]) -> int:
    """When to try again after these, the last one first; 0 where the last one was well."""
    failed = _failures(ended)
    return max(failed) + min(FIRST_MICROS << min(len(failed) - 1, 20), MOST_MICROS) if failed else 0


def _failures(ended: Iterable[tuple[str, int]]) -> list[int]:
    """When each of these failed, the last one first, up to the last success."""
    return [at for _, at in takewhile(lambda end: end[0] == "failed", ended)]


def forget_earlier(log: EventLog, lease: str, title: str) -> None:
    """Of what went well by itself only the last time stays in the list: it would push out all else."""
    with log.database.transaction() as connection:
        connection.execute(_FORGET, (KIND, lease, title) * 2)
