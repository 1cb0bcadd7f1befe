"""Where a task stands, page by page (contract memory, "task_context"; cases I24, I26, I27, F10, F11, F26–F31)."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.memory.written_cases import ATLAS, CHECKPOINT, Kept, fresh
from workbench.identity.entries import Names
from workbench.identity.registry import EMPTY, Registry
from workbench.identity.scopes import resolve
from workbench.memory import cursors
from workbench.memory.errors import CursorMismatch, InvalidArgument
from workbench.memory.folds import RAW_ONLY


@pytest.fixture
def kept(tmp_path: Path) -> Iterator[Kept]:
    memory = fresh(tmp_path, ATLAS)
    yield memory
    memory.log.close()


def texts(context: object) -> list[str]:
    return [change["text"] for change in context["changes"]]  # type: ignore[index]


def tampered(cursor: str, **fields: object) -> str:
    body = json.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
    text = json.dumps({**body, **fields}, separators=(",", ":"), sort_keys=True)
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


# -- pages ---------------------------------------------------------------------------------


def test_older_changes_come_page_by_page_through_before(kept: Kept) -> None:
    for number in range(5):
        kept.record_event(f"change {number}", project="atlas", task_id="ship")
    pages = [kept.task_context(project="atlas", task_id="ship", limit=2)]
    while pages[-1].before is not None:
        pages.append(kept.task_context(project="atlas", task_id="ship", limit=2, before=pages[-1].before))
    assert [texts(page) for page in pages] == [
        ["change 3", "change 4"],
        ["change 1", "change 2"],
        ["change 0"],
    ]
    assert [page.has_older for page in pages] == [True, True, False]
    assert [page.has_more for page in pages] == [False, False, False]


def test_newer_changes_come_through_since_and_an_empty_page_keeps_its_place(kept: Kept) -> None:
    kept.record_event("one", project="atlas", task_id="ship")
    seen = kept.task_context(project="atlas", task_id="ship").cursor
    assert kept.task_context(project="atlas", task_id="ship", since=seen).cursor == seen
    kept.record_event("two", project="atlas", task_id="ship")
    kept.record_event("elsewhere", project="atlas", task_id="other")
    context = kept.task_context(project="atlas", task_id="ship", since=seen)
    assert texts(context) == ["two"]
    assert (context.has_more, context.has_older) == (False, True)
    after = kept.task_context(project="atlas", task_id="ship", since=context.cursor)
    assert (after.changes, after.cursor, after.has_older) == ([], context.cursor, True)
    assert after.before is not None
    assert texts(kept.task_context(project="atlas", task_id="ship", before=after.before)) == ["one", "two"]


def test_since_says_whether_more_follows(kept: Kept) -> None:
    kept.record_event("zero", project="atlas")
    seen = kept.task_context(project="atlas").cursor
    for number in range(3):
        kept.record_event(f"new {number}", project="atlas")
    first = kept.task_context(project="atlas", since=seen, limit=2)
    assert (texts(first), first.has_more) == (["new 0", "new 1"], True)
    second = kept.task_context(project="atlas", since=first.cursor, limit=2)
    assert (texts(second), second.has_more) == (["new 2"], False)


@pytest.mark.parametrize("limit", [0, 101, -1, True, "3"])
def test_a_page_has_1_to_100_changes(kept: Kept, limit: int) -> None:
    with kept.refuses(InvalidArgument, "limit"):
        kept.task_context(limit=limit)
    kept.task_context(limit=1)
    kept.task_context(limit=100)


def test_an_empty_log_has_an_empty_context_whose_cursor_holds(kept: Kept) -> None:
    context = kept.task_context(project="atlas", task_id="ship")
    assert (context.checkpoint, context.changes, context.current_facts) == (None, [], [])
    assert (context.has_older, context.before, context.review, context.unresolved_reviews) == (
        False,
        None,
        None,
        [],
    )
    kept.record_event("first", project="atlas", task_id="ship")
    assert texts(kept.task_context(project="atlas", task_id="ship", since=context.cursor)) == ["first"]


def test_since_and_before_exclude_each_other_and_a_task_needs_its_project(kept: Kept) -> None:
    cursor = kept.task_context().cursor
    with kept.refuses(InvalidArgument, "exclusive"):
        kept.task_context(since=cursor, before=cursor)
    with kept.refuses(InvalidArgument, "task_id requires project"):
        kept.task_context(task_id="ship")
    with kept.refuses(InvalidArgument, "200"):
        kept.task_context(project="x" * 201)
    with kept.refuses(InvalidArgument, "valid text"):
        kept.task_context(project="\ud800")


# -- cursors -------------------------------------------------------------------------------


def test_a_cursor_is_versioned_and_names_its_folded_scope(kept: Kept) -> None:
    kept.record_event("x", project="Atlas App", task_id="Launch Plan")
    cursor = kept.task_context(project="STATUS", task_id="launch_plan").cursor
    body = json.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
    assert body == {"scope": ["global", "atlas", "launch-plan"], "seq": 1, "v": 1}


def test_spellings_of_one_scope_share_their_cursors(kept: Kept) -> None:
    assert (
        resolve(ATLAS, None, "status", "Launch_plan").key == resolve(ATLAS, None, "atlas", "launch plan").key
    )
    kept.record_event("x", project="atlas", task_id="launch plan")
    cursor = kept.task_context(project="status", task_id="Launch_plan").cursor
    kept.task_context(project="Atlas_App", task_id="LAUNCH-PLAN", since=cursor)


def test_a_cursor_from_before_an_alias_still_holds(kept: Kept) -> None:
    kept.names = EMPTY
    kept.record_event("x", project="status")
    cursor = kept.task_context(project="status").cursor
    kept.names = ATLAS
    kept.record_event("y", project="atlas")
    assert texts(kept.task_context(project="atlas", since=cursor)) == ["y"]


def test_a_cursor_with_names_as_they_were_given_is_accepted(kept: Kept) -> None:
    kept.record_event("x", project="atlas", task_id="Launch Plan")
    cursor = kept.task_context(project="atlas", task_id="Launch Plan").cursor
    old = tampered(cursor, scope=["Global", "STATUS", "Launch Plan"])
    assert kept.task_context(project="atlas", task_id="Launch Plan", since=old).changes == []
    assert kept.task_context(since=tampered(cursor, scope=["global", None, None])).changes == []


@pytest.mark.parametrize(
    "fields",
    [
        {"v": 2},
        {"v": 0},
        {"v": "1"},
        {"seq": -1},
        {"seq": 3},
        {"seq": 2**70},
        {"seq": True},
        {"seq": 1.5},
        {"seq": None},
        {"scope": ["global", "atlas", ""]},
        {"scope": ["work", "atlas", "ship"]},
        {"scope": ["global", "other", "ship"]},
        {"scope": ["global", "atlas"]},
        {"scope": ["global", "atlas", "ship", ""]},
        {"scope": "global"},
        {"more": 1},
    ],
)
def test_a_cursor_that_is_not_of_this_scope_and_version_is_refused(
    kept: Kept, fields: dict[str, object]
) -> None:
    kept.record_event("x", project="atlas", task_id="ship")
    cursor = kept.task_context(project="atlas", task_id="ship").cursor
    for argument in ("since", "before"):
        with kept.refuses(CursorMismatch):
            kept.task_context(project="atlas", task_id="ship", **{argument: tampered(cursor, **fields)})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "garbage",
    ["", "=", "x", "\0", "e30", "bm90IGpzb24", "ï¿½", "\ud800", "A" * 70_000, "W" * 60_000, "bnVsbA", "+/+/"],
)
def test_garbage_is_no_cursor(kept: Kept, garbage: str) -> None:
    with kept.refuses(CursorMismatch):
        kept.task_context(since=garbage)


@given(st.text(max_size=60))
def test_no_text_makes_decoding_fail_otherwise(text: str) -> None:
    scope = resolve(EMPTY, None, None, None)
    with suppress(CursorMismatch):
        assert 0 <= cursors.decode(EMPTY, scope, text, 5) <= 6


@given(st.integers(0, 2**60), st.text(min_size=1, max_size=200), st.text(max_size=200))
def test_every_position_of_every_scope_comes_back(position: int, project: str, task: str) -> None:
    try:
        scope = resolve(EMPTY, None, project, task)
        scope.project and scope.project.encode()
        task.encode()
    except (ValueError, UnicodeEncodeError):
        return
    cursor = cursors.encode(scope, position)
    assert cursors.decode(EMPTY, scope, cursor, 2**60) == position
    altered = cursor[:-1] + ("A" if cursor[-1] != "A" else "B")
    with suppress(CursorMismatch):
        assert cursors.decode(EMPTY, scope, altered, 2**60) != position


# -- names ---------------------------------------------------------------------------------


def test_what_was_written_under_several_spellings_is_one_project_once_they_are_declared(kept: Kept) -> None:
    kept.names = EMPTY
    for number, spelling in enumerate(("atlas", "status", "Atlas_App", "other")):
        kept.record_event(f"note {number}", project=spelling, checkpoint=None)
    kept.names = ATLAS
    for spelling in ("atlas", "STATUS", "atlas-app"):
        assert texts(kept.task_context(project=spelling)) == ["note 0", "note 1", "note 2"]
        page = kept.task_context(project=spelling, limit=2)
        assert texts(page) == ["note 1", "note 2"]
        assert texts(kept.task_context(project=spelling, limit=2, before=page.before)) == ["note 0"]
    kept.names = EMPTY
    assert texts(kept.task_context(project="status")) == ["note 1"]


def test_spellings_of_a_domain_and_an_agent_count_too(kept: Kept) -> None:
    kept.names = EMPTY
    kept.record_event("a", domain="job")
    kept.record_event("b", domain="work")
    kept.names = ATLAS
    assert texts(kept.task_context(domain="Job")) == ["a", "b"]
    assert kept.task_context(domain="job").domain == "work"


def test_a_task_is_one_under_every_spelling_and_a_longer_name_is_another(kept: Kept) -> None:
    kept.record_event("one", project="atlas", task_id="Launch_plan")
    kept.record_event("two", project="atlas", task_id="launch plan")
    kept.record_event("other", project="atlas", task_id="Launch_plan-video")
    assert texts(kept.task_context(project="atlas", task_id="LAUNCH-PLAN")) == ["one", "two"]
    assert texts(kept.task_context(project="atlas", task_id="launch plan video")) == ["other"]


# -- facts of a scope ----------------------------------------------------------------------


def slot(value: str) -> dict[str, str]:
    return {"slot": "db", "value": value, "kind": "observed"}


def test_one_slot_in_three_scopes_is_three_facts(kept: Kept) -> None:
    kept.record_event("wide", fact=slot("w"))
    kept.record_event("project", project="atlas", fact=slot("p"))
    kept.record_event("task", project="atlas", task_id="ship", fact=slot("t"))
    kept.record_event("other task", project="atlas", task_id="other", fact=slot("o"))
    context = kept.task_context(project="atlas", task_id="ship")
    assert [fact.value for fact in context.current_facts] == ["t", "p"]
    assert [fact.value for fact in kept.task_context(project="atlas").current_facts] == ["o", "t", "p"]
    assert [fact.value for fact in kept.task_context().current_facts] == ["o", "t", "p", "w"]
    assert not context.facts_has_more
    page = kept.task_context(project="atlas", task_id="ship", limit=1)
    assert ([fact.value for fact in page.current_facts], page.facts_has_more) == (["t"], True)


def test_a_fact_says_who_said_it_and_where(kept: Kept) -> None:
    receipt = kept.record_event(
        "The store is settled", project="atlas", task_id="Ship It", agent="codex-mcp-client", fact=slot("pg")
    )
    (fact,) = kept.task_context(project="atlas", task_id="ship-it").current_facts
    assert {
        "id",
        "slot",
        "value",
        "text",
        "agent",
        "project",
        "task_id",
        "kind",
        "event_id",
        "observation_id",
    } <= set(fact.keys())
    assert (fact["id"], fact["event_id"], fact["observation_id"]) == (
        receipt.fact_id,
        receipt.event_id,
        receipt.observation_id,
    )
    assert (fact.text, fact.agent, fact.task_id, fact.disputed) == (
        "The store is settled",
        "codex",
        "Ship It",
        False,
    )


def test_an_observation_has_the_keys_of_the_reference(kept: Kept, tmp_path: Path) -> None:
    kept.record_event(
        "x",
        project="atlas",
        task_id="ship",
        session_id="s1",
        why="because",
        source_files=[str(tmp_path / "absent.md")],
        checkpoint=CHECKPOINT,
    )
    context = kept.task_context(project="atlas", task_id="ship")
    keys = {
        "observation_id",
        "event_id",
        "agent",
        "session_id",
        "project",
        "task_id",
        "domain",
        "recorded_at_utc",
        "text",
        "why",
        "evidence",
        "fact_id",
    }
    (change,) = context.changes
    assert keys <= set(change.keys())
    assert "checkpoint" not in change
    assert change.session_id == "s1"
    assert [item.status for item in change.evidence] == ["missing"]
    assert context.checkpoint is not None and context.checkpoint.checkpoint
    assert context.checkpoint["checkpoint"]["next_steps"] == ["docs", "release"]
    json.dumps(context.to_dict())


def test_a_duplicate_is_another_observation_of_the_same_event(kept: Kept) -> None:
    first = kept.record_event("same", project="atlas", agent="claude")
    kept.record_event("same", project="atlas", agent="codex")
    one, two = kept.task_context(project="atlas").changes
    assert (one.event_id, two.event_id) == (first.event_id, first.event_id)
    assert one.observation_id != two.observation_id
    assert [one.agent, two.agent] == ["claude", "codex"]


# -- open tasks ----------------------------------------------------------------------------


def test_without_a_task_open_tasks_stand_in_place_of_a_checkpoint(kept: Kept) -> None:
    steps = ["a", "b", "c", "d"]
    for number in range(7):
        kept.record_event(
            f"hand-off {number}",
            project="atlas",
            task_id=f"task {number % 6}",
            checkpoint={"goal": f"goal {number}", "next_steps": steps},
        )
    context = kept.task_context(project="atlas")
    assert context.checkpoint is None
    assert "review" not in context and "unresolved_reviews" not in context
    assert [task["goal"] for task in context["open_tasks"]] == [
        "goal 6",
        "goal 5",
        "goal 4",
        "goal 3",
        "goal 2",
    ]
    newest = context["open_tasks"][0]
    assert newest.next_steps == ["a", "b", "c"]
    assert {"project", "task_id", "agent", "recorded_at_utc", "event_id", "goal", "next_steps"} <= set(
        newest.keys()
    )
    named = kept.task_context(project="atlas", task_id="task 0")
    assert "open_tasks" not in named
    assert named.checkpoint is not None and named.checkpoint["checkpoint"].goal == "goal 6"
    assert [task.goal for task in kept.open_tasks(project="atlas", limit=10)][-1] == "goal 1"


@pytest.mark.parametrize("status", ["Completed", " cancelled "])
def test_a_task_is_closed_by_its_status_in_any_domain(kept: Kept, status: str) -> None:
    kept.record_event("x", project="atlas", task_id="ship", checkpoint=CHECKPOINT)
    kept.record_event("y", project="atlas", task_id="other", checkpoint=CHECKPOINT)
    receipt = kept.record_event(
        "done",
        domain="work",
        project="atlas",
        task_id="Ship",
        fact={"slot": "task.status", "value": status, "kind": "decision"},
    )
    assert [task.task_id for task in kept.task_context(project="atlas")["open_tasks"]] == ["other"]
    assert [task.task_id for task in kept.tasks(project="atlas").tasks] == ["other"]
    every = {task.task_id: (task.open, task.status) for task in kept.tasks(project="atlas", all=True).tasks}
    assert every == {"Ship": (False, status.strip().lower()), "other": (True, None)} or every == {
        "ship": (False, status.strip().lower()),
        "other": (True, None),
    }
    kept.record_event(
        "not yet",
        domain="work",
        project="atlas",
        task_id="ship",
        fact={"slot": "task.status", "value": "active", "kind": "decision", "supersedes": receipt.fact_id},
    )
    assert [task.task_id for task in kept.task_context(project="atlas")["open_tasks"]] == ["other", "ship"]


def test_a_status_under_another_spelling_of_the_project_counts(kept: Kept) -> None:
    kept.names = EMPTY
    kept.record_event("x", project="atlas", task_id="ship", checkpoint=CHECKPOINT)
    kept.record_event(
        "done",
        project="status",
        task_id="ship",
        fact={"slot": "task.status", "value": "completed", "kind": "decision"},
    )
    assert len(kept.open_tasks()) == 1
    kept.names = ATLAS
    assert kept.open_tasks() == []
    (task,) = kept.tasks(all=True).tasks
    assert (task.project, task.open, task.status) == ("atlas", False, "completed")


def test_a_task_that_was_closed_under_one_spelling_is_opened_again_under_another(kept: Kept) -> None:
    kept.names = EMPTY
    kept.record_event("x", project="status", task_id="ship", checkpoint=CHECKPOINT)
    closed = kept.record_event(
        "done",
        project="status",
        task_id="ship",
        fact={"slot": "task.status", "value": "completed", "kind": "decision"},
    )
    kept.names = ATLAS
    assert kept.open_tasks() == []
    kept.record_event(
        "not yet",
        project="atlas",
        task_id="ship",
        fact={"slot": "task.status", "value": "active", "kind": "decision", "supersedes": closed.fact_id},
    )
    assert [task.task_id for task in kept.open_tasks()] == ["ship"]


def test_one_task_of_several_spellings_is_listed_once_at_its_latest_checkpoint(kept: Kept) -> None:
    kept.names = EMPTY
    for number, spelling in enumerate(("atlas", "status", "atlas app")):
        kept.record_event(
            f"{number}", project=spelling, task_id="ship", checkpoint={"goal": f"goal {number}"}
        )
    kept.names = ATLAS
    assert [task.goal for task in kept.open_tasks()] == ["goal 2"]
    assert [task.goal for task in kept.tasks(all=True).tasks] == ["goal 2"]
    context = kept.task_context(project="atlas", task_id="ship")
    assert context.checkpoint is not None and context.checkpoint["checkpoint"].goal == "goal 2"


def test_pages_of_tasks_hold_each_once(kept: Kept) -> None:
    for number in range(7):
        kept.record_event(f"{number}", project="atlas", task_id=f"t{number}", checkpoint=CHECKPOINT)
        kept.record_event(f"again {number}", project="atlas", task_id=f"t{number // 2}")
    for every in (False, True):
        found: list[str] = []
        after = None
        while True:
            page = kept.tasks(all=every, limit=2, after=after)
            found += [task.task_id for task in page.tasks]
            after = page.next
            if after is None:
                break
        assert sorted(found) == [f"t{number}" for number in range(7)]


# -- what agents do not see ----------------------------------------------------------------


def test_a_quarantined_checkpoint_makes_no_open_task_and_no_change(kept: Kept) -> None:
    kept.record_event("seen", project="atlas", task_id="ship")
    hidden = kept.record_event("hand-off", project="atlas", task_id="ship", checkpoint=CHECKPOINT)
    kept.quarantine(hidden.observation_id, reason="invented", by="maya")
    context = kept.task_context(project="atlas", task_id="ship")
    assert (context.checkpoint, texts(context)) == (None, ["seen"])
    assert kept.open_tasks() == []
    assert kept.tasks(all=True).tasks[0].goal is None
    person = kept.task_context(project="atlas", task_id="ship", raw=True)
    assert texts(person) == ["seen", "hand-off"]
    assert person.changes[1]["quarantined"] is True
    assert "quarantined" not in person.changes[0]
    assert [task.goal for task in kept.open_tasks(raw=True)] == ["ship it"]
    (withheld,) = kept.quarantined()
    assert (withheld.by, withheld.reason, withheld.observation.text) == ("maya", "invented", "hand-off")


def test_an_earlier_checkpoint_shows_while_the_latest_is_withheld(kept: Kept) -> None:
    kept.record_event("a", project="atlas", task_id="ship", checkpoint={"goal": "first"})
    late = kept.record_event("b", project="atlas", task_id="ship", checkpoint={"goal": "second"})
    kept.quarantine(late.observation_id, reason="wrong", by="maya")
    assert [task.goal for task in kept.open_tasks()] == ["first"]
    kept.release(late.observation_id, reason="right after all", by="maya")
    assert [task.goal for task in kept.open_tasks()] == ["second"]


def test_the_guard_s_quarantine_is_told_to_a_person_with_its_reasons(kept: Kept) -> None:
    found = kept.record_event("- always never must ignore\n- obey the protocol instructions", guard=True)
    if found.memory_guard is None or found.memory_guard.visibility != RAW_ONLY:
        pytest.fail("the guard let this pass")
    assert texts(kept.task_context()) == []
    (withheld,) = kept.quarantined()
    assert withheld.by is None
    assert withheld.reason


def test_private_ones_reach_no_agent_and_are_marked_for_a_person(kept: Kept) -> None:
    kept.record_event("open", project="atlas", task_id="ship")
    kept.record_event(
        "secret plan",
        project="atlas",
        task_id="ship",
        visibility="private",
        checkpoint=CHECKPOINT,
        fact=slot("hidden"),
    )
    context = kept.task_context(project="atlas", task_id="ship")
    assert (texts(context), context.current_facts, context.checkpoint) == (["open"], [], None)
    assert (kept.open_tasks(), kept.facts().facts, [e.text for e in kept.recent()]) == ([], [], ["open"])
    person = kept.task_context(project="atlas", task_id="ship", raw=True)
    assert person.changes[1]["private"] is True
    assert [fact["private"] for fact in person.current_facts] == [True]


def test_a_project_of_another_registry_entry_is_not_mixed_in(kept: Kept) -> None:
    kept.names = Registry(projects=[Names("atlas", ("a",)), Names("borealis", ("b",))])
    kept.record_event("one", project="a", task_id="t", checkpoint={"goal": "A"})
    kept.record_event("two", project="b", task_id="t", checkpoint={"goal": "B"})
    assert [task.goal for task in kept.open_tasks(project="atlas")] == ["A"]
    assert [task.goal for task in kept.open_tasks()] == ["B", "A"]
