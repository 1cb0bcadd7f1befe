"""Large workspaces for measurements, made through the log's own door: `python -m tests.benchmarks.large_workspace DIR N`.

Seeded, so that two runs make the same events (ids and recording times apart).
"""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

from workbench.log.registry import PendingEvent
from workbench.log.streams import session_stream
from workbench.sessions.events import ActumRecorded, ChronicumCreated
from workbench.workspace import Workspace

BATCH = 5000
BIG_SESSION = "load/big"
EACH = 25

_WORDS = (
    "alpha beta importer flag rollback patch review window reader ledger margin harbour signal draft "
    "queue parser buffer cursor section evidence digest cover branch merge release tenant budget"
).split()

# How often each (kind, actor kind, actor) stands in a session; the last ones are rare on purpose.
_SHAPES: tuple[tuple[str, str, str, float], ...] = (
    ("message", "agent", "planner", 0.22),
    ("message", "human", "maya", 0.08),
    ("thought", "agent", "coder", 0.15),
    ("tool_request", "agent", "coder", 0.26),
    ("tool_response", "system", "Bash", 0.26),
    ("message", "system", "harness", 0.0295),
    ("thought", "human", "maya", 0.00002),
    ("thought", "system", "harness", 0.00002),
    ("tool_request", "human", "maya", 0.00001),
    ("tool_request", "system", "harness", 0.00001),
    ("tool_response", "human", "maya", 0.00002),
    ("tool_response", "agent", "reviewer", 0.00002),
)


def fill(workspace: Workspace, events: int, *, sessions: int = 1, seed: int = 7, words: int = 40) -> None:
    """Append `events` events (creations included) to a fresh workspace, spread over `sessions` sessions.

    With one session it is `BIG_SESSION`. It begins with `EACH` acta of each of the twelve combinations of
    kind and actor kind, if it has room for them.
    """
    draw = random.Random(seed)
    names = [BIG_SESSION] if sessions == 1 else [f"load/{number:05}" for number in range(sessions)]
    start = datetime.now(UTC) - timedelta(days=30)
    per_session = [events // sessions + (1 if index < events % sessions else 0) for index in range(sessions)]
    done = 0
    for name, share in zip(names, per_session, strict=True):
        stream = session_stream(name)
        batch: list[PendingEvent] = [
            PendingEvent(payload=ChronicumCreated(chronicum_id=name, owner_id="maya"))
        ]
        for payload in _acta(draw, name, share - 1, words):
            moment = start + timedelta(seconds=2.5 * done)
            batch.append(PendingEvent(payload=payload, occurred_at=moment))
            done += 1
            if len(batch) >= BATCH:
                workspace.log.append(stream, batch)
                batch = []
        if batch:
            workspace.log.append(stream, batch)


def _acta(draw: random.Random, name: str, count: int, words: int) -> Iterator[ActumRecorded]:
    weights = [shape[3] for shape in _SHAPES]
    every = list(range(len(_SHAPES))) * EACH
    shapes = every if count >= len(every) else []
    call = 0
    for index in range(count):
        # The rare ones stand at the beginning, so that they lie as far back as they can.
        chosen = shapes[index] if index < len(shapes) else draw.choices(range(len(_SHAPES)), weights)[0]
        kind, actor_kind, actor, _ = _SHAPES[chosen]
        metadata: dict[str, str] = {}
        if kind == "tool_request":
            call += 1
            metadata = {"name": "Bash", "call_id": f"call_{call}"}
        elif kind == "tool_response":
            metadata = {"call_id": f"call_{call}"}
        yield ActumRecorded(
            id=f"{draw.getrandbits(128):032x}",
            chronicum_id=name,
            kind=kind,
            actor_kind=actor_kind,
            actor=actor,
            content=" ".join(draw.choices(_WORDS, k=words)) + f" {index}",
            metadata=metadata,
        )


def main() -> None:
    """Make a workspace of N events at DIR and say how long it took."""
    root, events = Path(sys.argv[1]), int(sys.argv[2])
    sessions = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    began = time.perf_counter()
    with Workspace.create(root, title="Load", timezone="UTC", owner="maya") as workspace:
        fill(workspace, events, sessions=sessions)
    print(f"{events:,} events in {time.perf_counter() - began:.1f} s at {root}")


if __name__ == "__main__":
    main()
