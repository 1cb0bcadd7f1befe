"""Every limit of `record_event` at, below and above its edge; a refusal leaves nothing (cases F09, F12 to F18)."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

from tests.memory.written_cases import ALL_FOLDS, ATLAS, CHECKPOINT, FACT, TOKEN, Kept, fresh
from workbench.identity.entries import Names
from workbench.identity.registry import Registry
from workbench.log import EventLog, EventTypeRegistry
from workbench.memory.errors import InvalidArgument, StaleFact
from workbench.memory.events import EVENT_TYPES
from workbench.memory.memory import Memory
from workbench.storage.errors import DatabaseReadOnly

SCOPE = {"project": "p", "task_id": "t"}


@pytest.fixture
def kept(tmp_path: Path) -> Iterator[Kept]:
    memory = fresh(tmp_path, ATLAS)
    # So that a refusal has something to leave as it was, and a file to stage in vain.
    memory.record_event("first", fact=FACT, request_id="used")
    (memory.folder / "notes.txt").write_text("evidence of something")
    yield memory
    memory.log.close()


def _fact(**changes: Any) -> dict[str, Any]:
    return {"fact": {"slot": "s", "value": "v", "kind": "observed", **changes}}


def _checkpoint(**changes: Any) -> dict[str, Any]:
    return {**SCOPE, "checkpoint": {"goal": "g", **changes}}


EDGES: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("text", {"text": "x" * 100_000}, {"text": "x" * 100_001}),
    ("why", {"why": "x" * 20_000}, {"why": "x" * 20_001}),
    *((name, {name: "x" * 200}, {name: "x" * 201}) for name in ("domain", "project", "agent", "session_id")),
    *(
        (name, {name: "x" * 200}, {name: "x" * 201})
        for name in ("request_id", "external_id", "entity_id", "entity_type")
    ),
    ("task_id", {"project": "p", "task_id": "x" * 200}, {"project": "p", "task_id": "x" * 201}),
    ("category", {"category": "x" * 64}, {"category": "x" * 65}),
    ("category", {"category": "xy"}, {"category": "x"}),
    ("slot", _fact(slot="x" * 200), _fact(slot="x" * 201)),
    ("slot", _fact(slot="x"), _fact(slot=" ")),
    ("value", _fact(value="x" * 4000), _fact(value="x" * 4001)),
    ("value", _fact(value="x"), _fact(value=" \n")),
    ("goal", _checkpoint(goal="x" * 2000), _checkpoint(goal="x" * 2001)),
    ("goal", _checkpoint(goal="x"), _checkpoint(goal=" ")),
    *(
        (each, _checkpoint(**{each: ["x"] * 20}), _checkpoint(**{each: ["x"] * 21}))
        for each in ("completed", "verification", "open_questions", "next_steps")
    ),
    *(
        (each, _checkpoint(**{each: ["x" * 1000]}), _checkpoint(**{each: ["x" * 1001]}))
        for each in ("completed", "verification", "open_questions", "next_steps")
    ),
    ("next_steps", _checkpoint(next_steps=[]), _checkpoint(next_steps=[" "])),
    ("source_files", {"source_files": ["a"] * 100}, {"source_files": ["a"] * 101}),
    ("source_files", {"source_files": ["/" + "a" * 4095]}, {"source_files": ["/" + "a" * 4096]}),
    ("source_files", {"source_files": []}, {"source_files": [" "]}),
]


@pytest.mark.parametrize(("field", "within", "beyond"), EDGES)
def test_limits_at_their_edge(kept: Kept, field: str, within: dict[str, Any], beyond: dict[str, Any]) -> None:
    before = kept.log.last_position()
    kept.record_event(**{"text": "x", **within})
    assert kept.log.last_position() > before
    with kept.refuses(InvalidArgument, field) as refused:
        kept.record_event(**{"text": "x", "source_files": ["notes.txt"], **beyond})
    assert refused.value.hint


def test_blanks_around_do_not_count_towards_a_limit(kept: Kept) -> None:
    name = "x" * 200
    receipt = kept.record_event(f"\n {'x' * 100_000} ", project=f" {name}\t", task_id=f"{name} ", why=" ")
    assert (receipt.project, receipt.task_id, len(receipt.text), receipt.why) == (name, name, 100_000, None)


@pytest.mark.parametrize("name", ["project", "session_id", "request_id", "external_id", "entity_id"])
@pytest.mark.parametrize("blank", ["", " ", "\t\n", "\N{NO-BREAK SPACE}"])
def test_blank_names_are_refused(kept: Kept, name: str, blank: str) -> None:
    given: dict[str, Any] = {name: blank}
    with kept.refuses(InvalidArgument, name):
        kept.record_event("x", **given)


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        ({"text": ""}, "Event text is required"),
        ({"text": " \n"}, "Event text is required"),
        ({"task_id": "t"}, "task_id requires project"),
        ({"checkpoint": CHECKPOINT}, "requires project and task_id"),
        ({"project": "p", "checkpoint": CHECKPOINT}, "requires project and task_id"),
        ({"category": "Big Idea!"}, "Invalid category"),
        ({"category": ""}, "Invalid category"),
        ({"category": "a\nb"}, "Invalid category"),
        (_fact(kind="guess"), "fact.kind"),
        (_fact(kind=None), "fact.kind"),
        (_fact(note="x"), "unknown key"),
        (_fact(supersedes=""), "fact.supersedes"),
        (_fact(supersedes="x" * 129), "fact.supersedes"),
        ({"fact": {"value": "v", "kind": "observed"}}, "fact.slot"),
        ({"fact": {"slot": "s", "kind": "observed"}}, "fact.value"),
        ({"fact": {}}, "fact.slot"),
        (_checkpoint(done=["x"]), "unknown key"),
        ({**SCOPE, "checkpoint": {}}, "checkpoint.goal"),
        ({"visibility": "secret"}, "visibility"),
        ({"occurred_at": datetime(2026, 1, 1)}, "time zone"),
        ({"occurred_at": datetime.max.replace(tzinfo=timezone(-timedelta(hours=1)))}, "outside the years"),
    ],
)
def test_what_breaks_a_rule_is_refused_with_what_to_do(
    kept: Kept, arguments: dict[str, Any], match: str
) -> None:
    with kept.refuses(InvalidArgument, match) as refused:
        kept.record_event(**{"text": "x", "source_files": ["notes.txt"], **arguments})
    assert refused.value.hint


@pytest.mark.parametrize(
    "arguments",
    [
        {"text": b"bytes"},
        {"text": None},
        {"why": 7},
        {"domain": 7},
        {"project": ["p"]},
        {"agent": 1.5},
        {"category": 3},
        {"request_id": 12},
        {"fact": "s=v"},
        {"fact": [("slot", "s")]},
        _fact(slot=1),
        _fact(value=1),
        _fact(value=True),
        _fact(kind=1),
        _fact(supersedes=1),
        {**SCOPE, "checkpoint": ["g"]},
        _checkpoint(goal=1),
        _checkpoint(next_steps="docs"),
        _checkpoint(next_steps={"docs": 1}),
        _checkpoint(next_steps=[1]),
        _checkpoint(completed=None),
        {"source_files": "notes.txt"},
        {"source_files": [1]},
        {"source_files": {"notes.txt"}},
        {"occurred_at": "2026-01-01T00:00:00Z"},
        {"occurred_at": 0},
        {"visibility": True},
    ],
)
def test_no_type_is_converted(kept: Kept, arguments: dict[str, Any]) -> None:
    with kept.refuses(InvalidArgument):
        kept.record_event(**{"text": "x", **arguments})


@pytest.mark.parametrize(
    "arguments",
    [
        *(
            {name: TOKEN}
            for name in (
                "domain",
                "project",
                "agent",
                "session_id",
                "request_id",
                "external_id",
                "entity_id",
                "entity_type",
            )
        ),
        {"project": "p", "task_id": TOKEN},
        _fact(slot=TOKEN),
        _fact(supersedes=TOKEN),
        _fact(**{TOKEN: 1}),
        {"category": TOKEN},
        {"category": f"{TOKEN}!"},
        {"visibility": TOKEN},
        {"agent_source": TOKEN},
    ],
)
def test_a_secret_in_a_name_is_refused_and_not_repeated(kept: Kept, arguments: dict[str, Any]) -> None:
    with kept.refuses(InvalidArgument):
        kept.record_event(**{"text": "x", "source_files": ["notes.txt"], **arguments})


def test_a_canonical_name_that_is_a_secret_is_refused_before_anything_is_staged(tmp_path: Path) -> None:
    memory = fresh(tmp_path, Registry(projects=[Names(TOKEN, aliases=("innocent",))]))
    (memory.folder / "notes.txt").write_text("evidence")
    with memory.refuses(InvalidArgument, "project"):
        memory.record_event("x", project="innocent", source_files=["notes.txt"])
    memory.log.close()


def test_a_refusal_under_the_lock_leaves_no_evidence(kept: Kept) -> None:
    with kept.refuses(StaleFact):
        kept.record_event("x", fact={**FACT, "value": "mysql"}, source_files=["notes.txt"])


def test_a_read_only_log_is_refused_before_anything_is_staged(kept: Kept) -> None:
    staged: list[object] = []

    def staging() -> Any:
        staged.append(None)
        raise AssertionError("nothing is to be staged")

    with (
        EventLog.open(kept.log.path, ALL_FOLDS, EventTypeRegistry(EVENT_TYPES), read_only=True) as log,
        pytest.raises(DatabaseReadOnly),
    ):
        Memory(log, lambda: ATLAS, staging=staging).record_event("x", source_files=["notes.txt"])
    assert not staged


def test_times_are_taken_with_any_zone(kept: Kept) -> None:
    east = datetime(1, 1, 1, 12, tzinfo=timezone(timedelta(hours=11)))
    assert kept.record_event("x", occurred_at=east).occurred_at == east.astimezone(UTC)
