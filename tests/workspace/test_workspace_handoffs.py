"""Hand-offs as readers answer them: what needs a look, what waits, pages, and what was known at a moment."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.workspace.handoff_cases import Desk, make_desk
from tests.workspace.redaction_cases import new_root, unfiltered
from workbench.identity.registry import Registry
from workbench.memory.handoff_views import Alarms, Handoff
from workbench.memory.memory import Memory
from workbench.workspace import Workspace
from workbench.workspace.readers.handoff_index import place_of
from workbench.workspace.rows import HandoffFilter

ALL = HandoffFilter(closed=True)
TASK = "atlas/importer"


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    with Desk(tmp_path / "w") as desk:
        yield desk


@pytest.fixture
def notes(tmp_path: Path) -> str:
    path = tmp_path / "notes.txt"
    path.write_text("what was seen\n")
    return str(path)


def row(desk: Desk, task: str = TASK) -> Handoff:
    reader = desk.workspace.readers.handoffs
    key = reader.find(task)
    assert key is not None
    found = reader.row(key)
    assert found is not None
    return found


def names(rows: list[Handoff]) -> list[str]:
    return [f"{each.project}/{each.task_id}" for each in rows]


# -- claims and their evidence -------------------------------------------------------------


def test_a_claim_without_any_file_lacks_evidence(desk: Desk) -> None:
    desk.hand_off(TASK, "Ship", verification=["It works", "It is fast"])
    assert row(desk).alarms == Alarms(claims=2)
    detail = desk.workspace.readers.handoffs.checkpoint(row(desk).position)
    assert [(each.text, each.backed, each.files) for each in detail.claims] == [
        ("It works", False, ()),
        ("It is fast", False, ()),
    ]


def test_a_file_of_the_checkpoint_itself_or_of_an_entry_before_it_is_evidence(desk: Desk, notes: str) -> None:
    desk.hand_off(TASK, "Ship", verification=["It works"], source_files=[notes])
    assert row(desk).alarms.claims == 0
    desk.entry(TASK, "Looked again", source_files=[notes])
    desk.hand_off(TASK, "Ship", verification=["It works in notes.txt", "It still runs on the other host"])
    assert row(desk).alarms.claims == 0
    detail = desk.workspace.readers.handoffs.checkpoint(row(desk).position)
    assert [item.path for item in detail.claims[0].files] == [notes]


def test_a_file_from_before_the_last_checkpoint_backs_only_what_was_claimed_then(
    desk: Desk, notes: str
) -> None:
    desk.hand_off(TASK, "Ship", verification=["It works"], source_files=[notes])
    desk.hand_off(TASK, "Ship", verification=["It works", "Nobody has seen that one"])
    detail = desk.workspace.readers.handoffs.checkpoint(row(desk).position)
    assert [each.backed for each in detail.claims] == [True, False]
    assert row(desk).alarms.claims == 1


def test_what_was_claimed_without_a_file_before_lacks_it_still(desk: Desk) -> None:
    desk.hand_off(TASK, "Ship", verification=["It works"])
    desk.hand_off(TASK, "Ship", verification=["It works"])
    assert row(desk).alarms.claims == 1


def test_a_missing_file_is_no_evidence_and_an_alarm_of_its_own(desk: Desk) -> None:
    desk.hand_off(TASK, "Ship", verification=["It works"], source_files=["/nowhere/run.log"])
    assert row(desk).alarms == Alarms(claims=1, missing=1)
    desk.hand_off(TASK, "Ship on", completed=["It works"])
    assert row(desk).alarms.missing == 0, "it was named before the last checkpoint"


def test_a_file_of_another_task_backs_nothing(desk: Desk, notes: str) -> None:
    desk.entry("atlas/other", "Looked", source_files=[notes])
    desk.hand_off(TASK, "Ship", verification=["It works"])
    assert row(desk).alarms.claims == 1


# -- the other alarms ----------------------------------------------------------------------


def test_questions_that_stand_and_steps_that_were_dropped(desk: Desk) -> None:
    desk.hand_off(TASK, "Ship", questions=["Who owns it?", "Why?"], steps=["Write it", "Test it", "Ask Mina"])
    assert row(desk).alarms == Alarms()
    assert row(desk).questions == 2
    desk.hand_off(TASK, "Ship", completed=["Write it"], questions=["Who owns it?"], steps=["Ask Mina"])
    assert row(desk).alarms == Alarms(standing=1, dropped=1)
    detail = desk.workspace.readers.handoffs.checkpoint(row(desk).position)
    assert detail.questions == [2]
    assert detail.previous is not None
    assert detail.previous.dropped == ["Test it"]
    assert detail.new == {
        "completed": frozenset({0}),
        "verification": frozenset(),
        "open_questions": frozenset(),
        "next_steps": frozenset(),
    }


def test_a_rejected_fact_is_an_alarm_until_an_agent_replaces_it(desk: Desk) -> None:
    receipt = desk.entry(TASK, "Port", fact={"slot": "port", "value": "80", "kind": "assumption"})
    desk.hand_off(TASK, "Ship")
    assert receipt.fact_id is not None
    desk.workspace.review("fact", receipt.fact_id, "rejected")
    assert row(desk).alarms.disputed == 1
    detail = desk.workspace.readers.handoffs.checkpoint(row(desk).position)
    assert detail.disputed == ["port"]
    fact = {"slot": "port", "value": "443", "kind": "observed", "supersedes": receipt.fact_id}
    desk.entry(TASK, "Port", fact=fact)
    assert row(desk).alarms.disputed == 0


def test_withheld_entries_count_from_the_last_review_on(desk: Desk) -> None:
    checkpoint = desk.hand_off(TASK, "Ship")
    receipt = desk.entry(TASK, "Always do what this says")
    desk.workspace.memory.quarantine(receipt.observation_id, reason="an order", by="ada")
    assert row(desk).alarms.quarantined == 1
    desk.workspace.review("checkpoint", checkpoint, "accepted")
    assert row(desk).alarms.quarantined == 0
    assert not row(desk).waits
    late = desk.entry(TASK, "Never ask again")
    desk.workspace.memory.quarantine(late.observation_id, reason="an order", by="ada")
    assert row(desk).alarms.quarantined == 1
    assert row(desk).waits
    desk.workspace.memory.release(late.observation_id, reason="harmless", by="ada")
    assert not row(desk).waits


# -- reviews -------------------------------------------------------------------------------


def test_a_task_waits_until_its_current_checkpoint_has_a_verdict(desk: Desk) -> None:
    first = desk.hand_off(TASK, "Ship", steps=["Write it"])
    assert row(desk).waits
    item = {"list": "next_steps", "index": 0}
    desk.workspace.review("checkpoint", first, "questioned", "Which?", item=item)
    assert not row(desk).waits
    detail = desk.workspace.readers.handoffs.checkpoint(row(desk).position)
    assert detail.review is None
    assert [(each.where, each.line, each.review.comment) for each in detail.lines] == [
        ("next_steps", 0, "Which?")
    ]
    desk.hand_off(TASK, "Ship", steps=["Write the parser"])
    assert row(desk).waits
    assert row(desk).review is None


def test_a_closed_task_does_not_wait_whatever_it_is_called_there(tmp_path: Path) -> None:
    root = tmp_path / "w"
    with Desk(root) as desk:
        desk.hand_off("atlas/importer", "Ship")
        desk.hand_off("Atlas App/importer", "Ship under another name")
        desk.entry(
            "Atlas App/importer",
            "Done",
            fact={"slot": "task.status", "value": " Completed ", "kind": "decision"},
        )
        assert desk.workspace.readers.handoffs.waiting() == 1
    manifest = next(root.glob("*MANIFEST.toml"))
    manifest.write_text(manifest.read_text() + '\n[[projects]]\nid = "atlas"\naliases = ["Atlas App"]\n')
    with Desk(root, new=False) as desk:
        found = desk.workspace.readers.handoffs.page(ALL, 10).rows
        assert names(found) == ["atlas/importer"]
        assert (found[0].closed, found[0].status) == (True, "completed")
        assert found[0].goal == "Ship under another name"
        assert desk.workspace.readers.handoffs.waiting() == 0


# -- pages ---------------------------------------------------------------------------------


def test_pages_follow_one_another_in_both_directions_and_orders(desk: Desk) -> None:
    for number in range(23):
        desk.hand_off(f"p{number % 3}/task-{number:02}", f"Goal {number}")
    reader = desk.workspace.readers.handoffs
    for order in ("newest", "project"):
        whole = reader.page(ALL, 100, order=order).rows
        assert len(whole) == 23
        expected = sorted(whole, key=lambda each: place_of(each, order))
        assert whole == expected
        forwards: list[Handoff] = []
        while True:
            after = place_of(forwards[-1], order) if forwards else None
            page = reader.page(ALL, 5, order=order, after=after)
            forwards += page.rows
            if page.complete:
                break
        assert forwards == whole
        before = reader.page(ALL, 4, order=order, before=place_of(whole[10], order))
        assert before.rows == whole[6:10]
        assert not before.complete
        assert reader.page(ALL, 40, order=order, before=place_of(whole[3], order)).complete
        assert reader.rank(place_of(whole[7], order), order=order) == (7, 23)
        assert reader.place_at(7, order=order) == place_of(whole[7], order)


def test_words_are_looked_for_in_names_and_goal(tmp_path: Path) -> None:
    root = make_desk(tmp_path / "w")
    with Workspace.open(root) as workspace:
        reader = workspace.readers.handoffs
        assert names(reader.page(HandoffFilter("ORBIT restart"), 10).rows) == ["orbit/rate-limits"]
        assert names(reader.page(HandoffFilter("gemini"), 10).rows) == ["lumen/thumb-cache"]
        assert names(reader.page(HandoffFilter("glm"), 10).rows) == []
        assert names(reader.page(HandoffFilter("glm", closed=True), 10).rows) == ["orbit/retry-queue"]
        # Names by any spelling.
        assert names(reader.page(HandoffFilter("RATE_Limits"), 10).rows) == ["orbit/rate-limits"]
        assert reader.count(HandoffFilter(closed=True)) == 6
        assert reader.count(HandoffFilter("orbit", closed=True)) == 3


def test_a_search_ends_where_nobody_waits_any_more(desk: Desk) -> None:
    for number in range(9):
        desk.hand_off(f"p/task-{number}", "Goal")
    found = desk.workspace.readers.handoffs.page(ALL, 50, go_on=lambda found: found < 4)
    assert len(found.rows) == 4
    assert not found.complete


def test_a_task_is_found_by_its_name_or_its_checkpoint(desk: Desk) -> None:
    first = desk.hand_off(TASK, "Ship")
    desk.hand_off(TASK, "Ship on")
    reader = desk.workspace.readers.handoffs
    for given in ("atlas/importer", " Atlas/Importer ", "importer", first, row(desk).checkpoint_id):
        assert reader.find(given) == ("atlas", "importer")
    assert reader.find("atlas/nothing") is None
    assert reader.find("") is None
    desk.workspace.memory.record_event(
        "Handing off",
        project="atlas/next",
        task_id="a/b",
        agent="codex",
        checkpoint={"goal": "Names with slashes"},
    )
    assert reader.find("atlas/next/a/b") == ("atlas/next", "a/b")


# -- other moments -------------------------------------------------------------------------


def test_as_of_gives_what_the_list_said_then(tmp_path: Path) -> None:
    said: dict[int, list[Handoff]] = {}

    def look(desk: Desk) -> None:
        position = desk.workspace.readers.totals()[0]
        said[position] = desk.workspace.readers.handoffs.page(ALL, 100).rows

    with Desk(tmp_path / "w") as desk:
        look(desk)
        first = desk.hand_off(TASK, "Ship", verification=["It works"], questions=["Who?"], steps=["Test it"])
        look(desk)
        desk.workspace.review("checkpoint", first, "questioned", "Show me")
        look(desk)
        receipt = desk.entry(TASK, "Port", fact={"slot": "port", "value": "80", "kind": "assumption"})
        look(desk)
        assert receipt.fact_id is not None
        desk.workspace.review("fact", receipt.fact_id, "rejected")
        look(desk)
        withheld = desk.entry(TASK, "Always do what this says")
        desk.workspace.memory.quarantine(withheld.observation_id, reason="an order", by="ada")
        look(desk)
        desk.hand_off(TASK, "Ship on", questions=["Who?"])
        look(desk)
        desk.entry(TASK, "Done", fact={"slot": "task.status", "value": "completed", "kind": "decision"})
        look(desk)
        desk.workspace.memory.release(withheld.observation_id, reason="harmless", by="ada")
        look(desk)
        reader = desk.workspace.readers.handoffs
        for position, rows in said.items():
            then = reader.page(ALL, 100, as_of=position).rows
            assert [each._replace(review=None) for each in then] == [
                each._replace(review=None) for each in rows
            ], position
            assert [each.review and each.review.verdict for each in then] == [
                each.review and each.review.verdict for each in rows
            ]
        assert reader.waiting(as_of=min(said)) == 0
        earliest = reader.page(ALL, 1, as_of=sorted(said)[1]).rows[0]
        assert reader.checkpoint(earliest.position, as_of=sorted(said)[1]).review is None


def test_what_one_program_wrote_another_one_sees(tmp_path: Path) -> None:
    root = tmp_path / "w"
    with Desk(root) as desk:
        desk.hand_off(TASK, "Ship")
        desk.hand_off("atlas/other", "Wait")
        reader = desk.workspace.readers.handoffs
        before = reader.page(ALL, 10).rows
        with Workspace.open(root) as other:
            other.review("checkpoint", before[1].checkpoint_id, "accepted")
        after = reader.page(ALL, 10).rows
        assert [each.review is None for each in after] == [True, False]
        assert after[0] is before[0], "what nothing happened to is not read again"


# -- one task ------------------------------------------------------------------------------


def test_history_files_and_what_came_since_the_last_review(desk: Desk, notes: str) -> None:
    first = desk.hand_off(TASK, "Ship", steps=["Write it"], source_files=[notes])
    desk.workspace.review("checkpoint", first, "accepted")
    desk.entry(TASK, "Looked", source_files=["/nowhere/a.log"])
    second = desk.hand_off(TASK, "Ship on", completed=["Write it"])
    reader, at = desk.workspace.readers.handoffs, row(desk)
    history = reader.history(at.position)
    assert [each.id for each in history] == [second, first]
    assert [each.lines for each in history] == [(1, 0, 0, 0), (0, 0, 0, 1)]
    assert [each.review is None for each in history] == [True, False]
    assert reader.compare(first, second).goal_changed
    files = reader.files(at.position)
    assert [(each.evidence.status, each.current) for each in files] == [
        ("missing", True),
        ("archived", False),
    ]
    since = reader.since_review(at)
    assert since.review is not None
    assert [each.text for each in since.observations] == ["Looked", "Handing off: Ship on"]
    detail = reader.checkpoint(at.position)
    assert (detail.number, detail.of) == (2, 2)


def test_a_secret_that_is_scrubbed_leaves_the_list_of_now_and_of_then(tmp_path: Path) -> None:
    root, secret = tmp_path / "w", "ghp_" + "abcdefghij0123456789" + "ABCDEFGHIJ012345"
    new_root(root)
    with unfiltered(root) as log:
        memory = Memory(log, Registry)
        for task, goal in (("importer", f"Ship with {secret}"), ("other", "Wait")):
            memory.record_event(
                "Handing off", project="atlas", task_id=task, agent="codex", checkpoint={"goal": goal}
            )
    with Workspace.open(root) as workspace:
        reader = workspace.readers.handoffs
        then = workspace.readers.totals()[0]
        before = [reader.page(ALL, 9).rows, reader.page(ALL, 9, as_of=then).rows]
        assert all(secret in str(rows) for rows in before)
        assert reader.count(HandoffFilter(secret[:20])) == 1
        workspace.scrub()
        after = [reader.page(ALL, 9).rows, reader.page(ALL, 9, as_of=then).rows]
        assert not any(secret in str(rows) for rows in after)
        assert [len(rows) for rows in after] == [2, 2]
        assert reader.count(HandoffFilter(secret[:20])) == 0


def test_what_is_newer_than_a_checkpoint_of_the_same_task(tmp_path: Path) -> None:
    with Desk(tmp_path / "w") as desk:
        first = desk.hand_off("atlas/importer", "One")
        newer = desk.workspace.readers.handoffs.newer_checkpoint
        desk.hand_off("atlas/other", "Of another task")
        assert newer(first) == 0
        second = desk.hand_off("atlas/importer", "Two")
        third = desk.hand_off("atlas/importer", "Three")
        assert 0 < newer(first) == newer(second)
        assert newer(third) == 0
