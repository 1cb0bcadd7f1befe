"""The readers of sessions and of the timeline at any position say what a log that ends there says."""

from __future__ import annotations

import tempfile
from contextlib import ExitStack
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.thorough import examples
from tests.workspace.workspace_cases import ACTOR_KINDS, START, actum, begin, open_log, unit
from workbench.errors import WorkbenchError
from workbench.identity.entries import Names
from workbench.identity.registry import Registry
from workbench.log import EventLog, PendingEvent
from workbench.log.decoding import converted
from workbench.log.event_log import Restored
from workbench.log.registry import StoredEvent
from workbench.log.streams import StreamRef, session_stream
from workbench.memory.memory import Memory
from workbench.sessions.errors import ChronicumNotFound
from workbench.sessions.events import ChronicumDescribed
from workbench.workspace.readers import Readers, session_past
from workbench.workspace.readers.timeline_queries import FIRST_PLACE
from workbench.workspace.rows import ActaFilter, SessionFilter, TimelineFilter

NAMES = Registry(
    projects=[Names("atlas", ("Atlas App",))],
    domains=[Names("work", ("Job",))],
    agents=[Names("claude", ("the planner",))],
)
SESSIONS = ("s1", "s2")
STEPS = st.lists(
    st.tuples(
        st.sampled_from(
            ("act", "act", "call", "answer", "unit", "title", "note", "fact", "hand", "hide", "show")
        ),
        st.integers(0, 1),
        st.integers(0, 5),
    ),
    min_size=1,
    max_size=14,
)
FILTERS = (
    TimelineFilter(),
    TimelineFilter(text="comet"),
    TimelineFilter(projects=("ATLAS",)),
    TimelineFilter(domains=("job",), agents=("The Planner",)),
    TimelineFilter(tasks=("Ship",), types=("checkpoint.recorded", "observation.recorded")),
    TimelineFilter(categories=("decision",)),
    TimelineFilter(agents=("claude",), visibility="public"),
    TimelineFilter(projects=("atlas",), text="comet"),
    TimelineFilter(streams=("session/s1",), since=START + timedelta(hours=1)),
)


class Story:
    """Writes what steps say into a log."""

    def __init__(self, log: EventLog) -> None:
        self.log = log
        self.memory = Memory(log, lambda: NAMES)
        self.begun: set[str] = set()
        self.observations: list[str] = []

    def tell(self, steps: list[tuple[str, int, int]]) -> None:
        for number, (kind, which, draw) in enumerate(steps):
            if kind in ("act", "call", "answer", "unit", "title"):
                self._session(kind, SESSIONS[which], draw, number)
            else:
                self._remember(kind, which, draw)

    def _session(self, kind: str, session: str, draw: int, number: int) -> None:
        if session not in self.begun:
            self.begun.add(session)
            begin(self.log, session)
        stream = session_stream(session)
        happened = None if draw == 0 else START + timedelta(hours=draw * 7 - 20, minutes=number)
        if kind == "unit":
            self.log.append(stream, [unit(session, "turn" if draw else "rollback", "1 turn")])
        elif kind == "title":
            self.log.append(stream, [ChronicumDescribed(title=f"title {draw}", cwd=f"/w/{draw}")])
        elif kind == "act":
            said = actum(
                session,
                actor_kind=ACTOR_KINDS[draw % len(ACTOR_KINDS)],
                actor=("ann", "The Planner", "claude-code")[draw % 3],
                content=f"comet {draw}" if draw % 2 else "a long tail",
                private=draw == 5,
                occurred_at=happened,
                number=number,
                parent_uuid=f"u{draw}",
            )
            self.log.append(stream, [said])
        else:
            tool = actum(
                session,
                "tool_request" if kind == "call" else "tool_response",
                "agent",
                actor="Bash",
                content="comet ls",
                occurred_at=happened,
                number=number,
                call_id=f"c{draw % 2}",
            )
            self.log.append(stream, [tool])

    def _remember(self, kind: str, which: int, draw: int) -> None:
        scope: dict[str, Any] = {
            "domain": ("work", "Job", None)[draw % 3],
            "project": ("atlas", "Atlas App")[which],
            "task_id": "ship" if draw % 2 else None,
            "agent": ("claude", "the planner")[which],
        }
        try:
            if kind in ("hide", "show"):
                if self.observations:
                    write = self.memory.quarantine if kind == "hide" else self.memory.release
                    write(self.observations[draw % len(self.observations)], reason="because", by="maya")
                return
            if kind == "fact":
                scope["fact"] = {"slot": f"slot {draw}", "value": "comet", "kind": "observed"}
            if kind == "hand":
                scope |= {"task_id": "ship", "checkpoint": {"goal": "comet", "completed": ["x"]}}
            category = "decision" if draw % 2 else "note"
            receipt = self.memory.record_event(f"comet {kind} {draw}", category=category, **scope)
            self.observations.append(receipt.observation_id)
        except WorkbenchError:
            # Steps are drawn blindly: what the memory refuses leaves nothing behind.
            return


def copied(source: EventLog, event: StoredEvent) -> Restored:
    """An event of one log as another takes it."""
    envelope = event.envelope
    event_type = source.registry.get(envelope.namespace, envelope.type)
    assert event_type is not None
    payload = converted(event_type, event.payload)
    stream = payload.stream if hasattr(payload, "stream") else StreamRef(event.stream, "session")
    pending = PendingEvent(
        payload=payload,
        event_id=envelope.event_id,
        causation_id=envelope.causation_id,
        visibility=envelope.visibility,
        occurred_at=envelope.occurred_at,
    )
    return Restored(stream, pending, envelope.recorded_at)


def sessions_say(readers: Readers, as_of: int | None) -> dict[str, Any]:
    """Everything that the readers of sessions say."""
    sessions, entries = readers.sessions.as_of(as_of), readers.entries.as_of(as_of)
    said: dict[str, Any] = {}
    for order in ("happened", "recorded"):
        rows = sessions.page(SessionFilter(), 10, order=order)
        said[f"page {order}"] = rows
        said[f"last {order}"] = sessions.last(SessionFilter(), 1, order=order)
        said[f"ranks {order}"] = [sessions.rank(row, order=order) for row in rows]
        said[f"after {order}"] = [sessions.page(SessionFilter(), 5, after=row, order=order) for row in rows]
        said[f"before {order}"] = [sessions.page(SessionFilter(), 5, before=row, order=order) for row in rows]
        said[f"found {order}"] = sessions.page(SessionFilter(text="title"), 5, order=order)
        said[f"counts {order}"] = sessions.count(SessionFilter(), order=order)
    for session in SESSIONS:
        row = sessions.get(session)
        said[f"{session}"] = row
        if row is None:
            with pytest.raises(ChronicumNotFound):
                entries.counts(session)
            continue
        every = entries.page(session, ActaFilter(), 100)
        end = entries.last_seq(session)
        said[f"{session} entries"] = every, entries.last(session, ActaFilter(), 3), end
        said[f"{session} counts"] = entries.counts(session), entries.breakdown(session)
        said[f"{session} calls"] = entries.answered(session), entries.spawner(session, "c1")
        said[f"{session} acts"] = [entries.seq_of_act(session, act) for act in range(1, 16)]
        said[f"{session} whole"] = [entries.entry(session, seq) for seq in range(1, 20)]
        said[f"{session} rewound"] = entries.rewound(session)
        said[f"{session} lineage"] = sessions.lineage(row)
        search = entries.search
        said[f"{session} hits"] = search.hits(session, ActaFilter(), "comet").seqs
        said[f"{session} back"] = search.find(session, ActaFilter(), "comet", before_seq=1000)
        said[f"{session} page"] = search.page(session, ActaFilter(), "comet", 2)
    return said


def timeline_says(readers: Readers, as_of: int | None) -> dict[str, Any]:
    """Everything that the reader of the timeline says."""
    timeline = readers.timeline.as_of(as_of)
    said: dict[str, Any] = {"bounds": timeline.bounds(), "types": timeline.types()}
    said["actors"] = timeline.actors()
    offered = timeline.offered()
    said["offered"] = [sorted(each.name for each in names) for names in offered]
    last = timeline.bounds().last
    for number, wanted in enumerate(FILTERS):
        said[f"newest {number}"] = timeline.page(wanted, 50)
        said[f"oldest {number}"] = timeline.first(wanted, 4)
        said[f"happened {number}"] = timeline.search_happened(wanted, 50).rows
        said[f"first happened {number}"] = timeline.search_happened(wanted, 3, after=FIRST_PLACE).rows
        said[f"count {number}"] = timeline.count(wanted)
        said[f"passes {number}"] = [timeline.passes(wanted, position) for position in range(1, last + 3)]
    said["events"] = [timeline.event(position) for position in range(1, last + 3)]
    said["places"] = [timeline.place_at(position) for position in range(1, last + 3)]
    links = readers.event_links
    said["links"] = [links.links(position, as_of) for position in range(1, last + 3)]
    scale = timeline.activity.scale(7)
    said["scale"] = scale
    if scale is not None:
        said["whole"] = timeline.activity.whole(scale)
        said["matching"] = [timeline.activity.matching(wanted, scale) for wanted in FILTERS]
        said["moment"] = timeline.happened_at(scale.start + scale.width), timeline.happened_at(scale.end + 1)
    return said


@settings(max_examples=examples(25), deadline=None)
@given(STEPS, st.sampled_from((2, session_past.LONG)))
def test_any_position_answers_as_a_log_that_ends_there(steps: list[tuple[str, int, int]], long: int) -> None:
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        # Long sessions are counted from the ends of time: here two acta make one long.
        patch = stack.enter_context(pytest.MonkeyPatch.context())
        patch.setattr(session_past, "LONG", long)
        log = stack.enter_context(open_log(Path(folder, "one.db")))
        replayed = stack.enter_context(open_log(Path(folder, "two.db")))
        Story(log).tell(steps)
        now, then = Readers(log, lambda: NAMES), Readers(replayed, lambda: NAMES)
        for event in list(log.read()):
            replayed.restore_all([copied(log, event)])
            assert sessions_say(now, event.position) == sessions_say(then, None)
            assert timeline_says(now, event.position) == timeline_says(then, None)
        last = log.last_position()
        assert sessions_say(now, last) == sessions_say(now, None)
        assert timeline_says(now, last) == timeline_says(now, None)
