"""What a person reads beside the log: reviews, chains, comparisons (contract memory; cases V02–V05, V08, V09)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.memory.written_cases import ATLAS, CHECKPOINT, TOKEN, Kept, fresh
from workbench.identity.registry import EMPTY
from workbench.memory.comparison import SIMILAR, matched, similarity
from workbench.memory.errors import InvalidArgument


@pytest.fixture
def kept(tmp_path: Path) -> Iterator[Kept]:
    memory = fresh(tmp_path, ATLAS)
    yield memory
    memory.log.close()


def fact(value: str, supersedes: str | None = None, kind: str = "observed") -> dict[str, Any]:
    return {"slot": "db", "value": value, "kind": kind, "supersedes": supersedes}


# -- reviews -------------------------------------------------------------------------------


def test_the_later_of_two_reviews_counts_and_both_are_listed(kept: Kept) -> None:
    receipt = kept.record_event("x", project="atlas", task_id="ship", checkpoint=CHECKPOINT)
    target = receipt.checkpoint_id or ""
    kept.record_review("checkpoint", target, "rejected", "no", reviewer="maya")
    kept.record_review("checkpoint", receipt.observation_id, "accepted", "yes", reviewer="ben")
    found = kept.reviews(target_id=target).reviews
    assert [(each.verdict, each.current) for each in found] == [("accepted", True), ("rejected", False)]
    context = kept.task_context(project="atlas", task_id="ship")
    assert context["review"].verdict == "accepted"
    assert context["unresolved_reviews"] == []


def test_reviews_are_listed_by_task_by_project_and_in_pages(kept: Kept) -> None:
    for number in range(5):
        receipt = kept.record_event(f"{number}", project="atlas", task_id=f"t{number % 2}")
        kept.record_review("observation", receipt.observation_id, "questioned", f"c{number}", reviewer="maya")
    assert [each.comment for each in kept.reviews(project="status", task_id="T0").reviews] == [
        "c4",
        "c2",
        "c0",
    ]
    page = kept.reviews(project="atlas", limit=2)
    assert [each.comment for each in page.reviews] == ["c4", "c3"]
    assert [each.comment for each in kept.reviews(project="atlas", limit=2, after=page.next).reviews] == [
        "c2",
        "c1",
    ]
    assert len(kept.reviews().reviews) == 5


def test_a_rejected_fact_stays_current_and_disputed_until_superseded(kept: Kept) -> None:
    old = kept.record_event("x", project="atlas", fact=fact("sqlite"))
    kept.record_review("fact", old.fact_id or "", "rejected", "no", reviewer="maya")
    (found,) = kept.facts(project="atlas").facts
    assert (found.id, found.disputed) == (old.fact_id, True)
    assert kept.task_context(project="atlas").current_facts[0].disputed
    before = kept.log.last_position()
    kept.record_review("fact", old.fact_id or "", "accepted", "after all", reviewer="maya")
    assert not kept.facts().facts[0].disputed
    assert kept.facts(as_of=before).facts[0].disputed
    kept.record_review("fact", old.fact_id or "", "rejected", "again", reviewer="maya")
    kept.record_event("y", project="atlas", fact=fact("postgres", old.fact_id))
    assert [(each.value, each.disputed) for each in kept.facts().facts] == [("postgres", False)]
    assert [link.disputed for link in kept.chain(old.fact_id or "")] == [True, False]


# -- chains --------------------------------------------------------------------------------


def test_a_chain_of_twenty_tells_each_link_oldest_first(kept: Kept, tmp_path: Path) -> None:
    note = tmp_path / "note.md"
    note.write_text("seen")
    receipts = []
    supersedes = None
    for number in range(20):
        receipt = kept.record_event(
            f"text {number}",
            why=f"why {number}",
            project="atlas",
            task_id="ship",
            agent=("claude", "codex")[number % 2],
            source_files=[str(note)],
            fact=fact(f"v{number}", supersedes),
        )
        kept.record_event(
            f"seen again {number}", agent="gemini", project="status", task_id="SHIP", fact=fact(f"v{number}")
        )
        supersedes = receipt.fact_id
        receipts.append(receipt)
    for asked in (receipts[0], receipts[7], receipts[19]):
        chain = kept.chain(asked.fact_id or "")
        assert [link.id for link in chain] == [receipt.fact_id for receipt in receipts]
    assert [link.value for link in chain] == [f"v{number}" for number in range(20)]
    assert [link.event_id for link in chain] == [receipt.event_id for receipt in receipts]
    assert [link.agent for link in chain] == ["claude", "codex"] * 10
    assert [link.why for link in chain] == [f"why {number}" for number in range(20)]
    assert all([item.status for item in link.evidence] == ["archived"] for link in chain)
    assert all([each.agent for each in link.confirmations] == ["gemini"] for link in chain)
    assert [link.confirmations[0].text for link in chain] == [f"seen again {number}" for number in range(20)]
    assert [link.current for link in chain] == [False] * 19 + [True]
    replaced = [link.replaced_by for link in chain]
    assert replaced[-1] is None
    assert [each.id for each in replaced[:-1] if each] == [receipt.fact_id for receipt in receipts[1:]]
    assert replaced[0] is not None and replaced[0].recorded_at == chain[1].recorded_at


def test_a_person_s_replacement_is_theirs(kept: Kept) -> None:
    old = kept.record_event("x", project="atlas", agent="codex", fact=fact("sqlite"))
    kept.record_event(
        "Corrected", project="atlas", agent="maya", fact=fact("postgres", old.fact_id, "decision")
    )
    first, second = kept.chain(old.fact_id or "")
    assert (first.agent, second.agent, second.kind) == ("codex", "maya", "decision")
    assert first.replaced_by is not None and first.replaced_by.agent == "maya"


@pytest.mark.parametrize("fact_id", ["", "x", "01a22c2a-bbbd-74f8-8874-1c838a18b49b", "\ud800"])
def test_an_id_of_no_fact_is_refused(kept: Kept, fact_id: str) -> None:
    kept.record_event("x", fact=fact("a"))
    with kept.refuses(InvalidArgument, "no fact"):
        kept.chain(fact_id)


def test_a_private_fact_has_no_chain_for_agents(kept: Kept) -> None:
    receipt = kept.record_event("x", fact=fact("a"), visibility="private")
    with kept.refuses(InvalidArgument):
        kept.chain(receipt.fact_id or "")
    assert kept.chain(receipt.fact_id or "", raw=True)[0]["private"] is True


def test_slots_that_spellings_fill_twice_are_conflicts_until_the_newest_is_replaced(kept: Kept) -> None:
    kept.names = EMPTY
    kept.record_event("a", project="atlas", task_id="ship", fact=fact("one"))
    newest = kept.record_event("b", project="status", task_id="Ship", fact=fact("two"))
    kept.record_event("c", project="status", fact=fact("alone"))
    kept.record_event("d", project="other", task_id="ship", fact=fact("foreign"))
    assert kept.conflicts() == []
    kept.names = ATLAS
    (conflict,) = kept.conflicts()
    assert (conflict.project, conflict.slot, [each.value for each in conflict.facts]) == (
        "atlas",
        "db",
        ["two", "one"],
    )
    assert kept.conflicts(domain="work") == []
    kept.record_event("e", project="atlas", task_id="ship", fact=fact("three", newest.fact_id))
    assert kept.conflicts() == []
    assert [link.value for link in kept.chain(newest.fact_id or "")] == ["one", "two", "three"]


def test_facts_are_listed_by_slot_and_in_pages(kept: Kept) -> None:
    for number in range(5):
        kept.record_event(f"{number}", project=f"p{number}", fact=fact(f"v{number}"))
        kept.record_event(f"o{number}", project=f"p{number}", fact={**fact("x"), "slot": "other"})
    assert [each.value for each in kept.facts(slot="db").facts] == ["v4", "v3", "v2", "v1", "v0"]
    page = kept.facts(slot="db", limit=2)
    assert [each.value for each in kept.facts(slot="db", limit=2, after=page.next).facts] == ["v2", "v1"]
    assert [each.value for each in kept.facts(project="p3", slot="db").facts] == ["v3"]
    assert kept.facts(slot="none").facts == []
    found, after = 0, None
    while True:
        page = kept.facts(limit=3, after=after)
        found += len(page.facts)
        after = page.next
        if after is None:
            break
    assert found == 10


# -- two checkpoints -----------------------------------------------------------------------


def hand_off(kept: Kept, **lists: list[str]) -> str:
    receipt = kept.record_event(
        f"hand-off {kept.log.last_position()}",
        project="atlas",
        task_id="ship",
        checkpoint={"goal": "Ship", **lists},
    )
    return receipt.checkpoint_id or ""


def test_a_step_that_is_neither_done_nor_ahead_was_dropped_and_a_reworded_one_is_kept(kept: Kept) -> None:
    one = hand_off(
        kept,
        completed=["Parser written"],
        next_steps=["Write the migration guide now", "Tag the release", "Measure it", "Call Ben"],
    )
    two = hand_off(
        kept,
        completed=["Parser written", "TAG  the release"],
        next_steps=["Write the upgrade guide now", "Something new"],
    )
    found = kept.compare(one, two)
    assert found.dropped == ["Measure it", "Call Ben"]
    (kept_step,) = found.next_steps.kept
    assert (kept_step.older, kept_step.newer, kept_step.reworded) == (
        "Write the migration guide now",
        "Write the upgrade guide now",
        True,
    )
    assert found.next_steps.added == ["Something new"]
    assert found.next_steps.gone == ["Tag the release", "Measure it", "Call Ben"]
    assert [each.older for each in found.completed.kept] == ["Parser written"]
    assert (found.completed.added, found.goal_changed) == (["TAG  the release"], False)
    assert (found.older, found.newer) == (one, two)


def test_a_question_that_stands_in_three_checkpoints_is_three_old(kept: Kept) -> None:
    hand_off(kept, open_questions=["Which vector threshold works?", "Gone again"])
    hand_off(kept, open_questions=["which vector  threshold works?"])
    two = hand_off(kept, open_questions=["Which vector thresholds works?", "Gone again"])
    three = hand_off(kept, open_questions=["New", "Which vector threshold works?", "Gone again"])
    assert [(each.text, each.age) for each in kept.compare(two, three).questions] == [
        ("New", 1),
        ("Which vector threshold works?", 4),
        ("Gone again", 2),
    ]


def test_a_checkpoint_is_also_found_by_its_observation_and_nothing_else_is_one(kept: Kept) -> None:
    receipt = kept.record_event("x", project="atlas", task_id="ship", checkpoint=CHECKPOINT)
    note = kept.record_event("y", project="atlas", task_id="ship")
    same = kept.compare(receipt.observation_id, receipt.checkpoint_id or "")
    assert same.dropped == [] and same.older == same.newer
    for bad in (note.observation_id, "x", ""):
        with kept.refuses(InvalidArgument, "no checkpoint"):
            kept.compare(bad, receipt.observation_id)
    kept.quarantine(receipt.observation_id, reason="doubtful", by="maya")
    with kept.refuses(InvalidArgument, "no checkpoint"):
        kept.compare(receipt.observation_id, receipt.observation_id)
    kept.compare(receipt.observation_id, receipt.observation_id, raw=True)


@pytest.mark.parametrize(
    ("one", "other", "alike"),
    [
        ("Write the guide", "write  the_guide", True),
        ("Run the load test", "Run the load tests", True),
        ("Finish step 1", "Finish step 2", False),
        ("Ship release 1.2 to all", "Ship release 1.3 to all", False),
        ("Ask Ben about the budget", "Ask Ada about the budget", True),
        ("Fix login", "Fix logout", False),
        ("…", "!!!", False),
        ("Проверить миграцию базы данных ночью", "Проверить миграцию базы данных утром", True),
        ("", "", True),
    ],
)
def test_lines_are_alike_by_their_words(one: str, other: str, alike: bool) -> None:
    assert (similarity(one, other) >= SIMILAR) is alike


@given(st.lists(st.text(max_size=30), max_size=8), st.lists(st.text(max_size=30), max_size=8))
def test_no_line_is_matched_twice_and_equal_ones_always_are(older: list[str], newer: list[str]) -> None:
    pairs = matched(older, newer)
    assert len({match.line for match in pairs.values()}) == len(pairs)
    for index, match in pairs.items():
        assert 0 <= index < len(older) and 0 <= match.line < len(newer)
    same = matched(older, older)
    assert len(same) == len(older)


@pytest.mark.parametrize(
    ("older", "newer", "same"),
    [
        ("Read the log on Saturday", "Read the log on Saturday morning: added 0, moved 60", True),
        ("Read the log on Saturday.", "read the  LOG on saturday: added 0", True),
        ("Look the same ten up", "Look the same ten up, twice over and in both of the old volumes", True),
        ("Read logs", "Read logs of the night, of the morning and of all other times of day", False),
        ("Read the log", "Read the logs of the night, of the morning and of all other times", False),
        ("Ask the clerk", "Ask the clerk’s deputy about the opening hours of the reading room", False),
        ("Ship release 1", "Ship release 1.2 to everybody who has asked for it since the spring", False),
        ("Read the log on Saturday and then decide", "Read the log", False),
        ("the log on Saturday", "Read the log on Saturday once more before the visitors come in", False),
    ],
)
def test_a_line_that_goes_on_is_the_same_line(older: str, newer: str, same: bool) -> None:
    assert (matched([older], [newer], continued=True) == {0: (0, False)}) is same
    # Only where it was asked for: a claim that goes on claims more.
    assert matched([older], [newer]) == {} or similarity(older, newer) >= SIMILAR


def test_the_longest_beginning_has_the_line_and_equal_ones_come_first() -> None:
    older = ["Read the log", "Read the log on Saturday", "Ask the map room"]
    newer = [
        "Ask the map room",
        "Read the log on Saturday morning: added 0, moved 60, merged 3",
        "Ask the map room about the three merges of the last night and the others",
        "Read the log of each of the six nights before, and that of the next",
    ]
    assert matched(older, newer, continued=True) == {0: (3, False), 1: (1, False), 2: (0, True)}


def test_a_step_whose_outcome_was_added_is_done_and_not_dropped(kept: Kept) -> None:
    one = hand_off(
        kept,
        completed=["Count the rows twice"],
        verification=["All tests pass here"],
        next_steps=["Read the log on Saturday", "Ask the map room", "Measure recall on the corpus"],
    )
    two = hand_off(
        kept,
        completed=[
            "Read the log on Saturday morning: added 0, moved 60",
            "Count the rows twice: 14 in the file and 14 in the store, both nights",
        ],
        verification=["All tests pass here, on four other machines and in the nightly run"],
        next_steps=["Ask the map room about the three merges of the last night"],
    )
    found = kept.compare(one, two)
    assert found.dropped == ["Measure recall on the corpus"]
    assert found.completed.added == ["Read the log on Saturday morning: added 0, moved 60"]
    assert found.completed.gone == []
    (counted,) = found.completed.kept
    assert counted.reworded and counted.older == "Count the rows twice"
    assert [each.older for each in found.next_steps.kept] == ["Ask the map room"]
    assert len(found.verification.gone) == len(found.verification.added) == 1


# -- since the last review -----------------------------------------------------------------


def test_since_the_last_review_there_is_what_came_after_it(kept: Kept) -> None:
    one = kept.record_event(
        "before", project="atlas", task_id="ship", fact=fact("old"), checkpoint=CHECKPOINT
    )
    found = kept.since_review("atlas", "ship")
    assert (found.review, found.from_position) == (None, 0)
    assert [each.text for each in found.observations] == ["before"]
    review = kept.record_review("checkpoint", one.checkpoint_id or "", "accepted", "good", reviewer="maya")
    assert kept.since_review("atlas", "ship").observations == []
    two = kept.record_event(
        f"after {TOKEN}",
        project="status",
        task_id="SHIP",
        domain="work",
        source_files=["/nowhere/x.md"],
    )
    three = kept.record_event("new value", project="atlas", task_id="ship", fact=fact("new", one.fact_id))
    kept.record_event("elsewhere", project="atlas", task_id="other", fact=fact("foreign"))
    found = kept.since_review("status", "Ship")
    assert found.review is not None and found.review.id == review.review_id
    assert found.from_position == review.position
    assert [each.observation_id for each in found.observations] == [two.observation_id, three.observation_id]
    (change,) = found.facts
    assert (change.fact.value, change.replaced, change.current) == ("new", [one.fact_id], True)
    assert [(each.removed.field, each.removed.count) for each in found.redactions] == [("text", 1)]
    assert [(each.observation_id, each.evidence.status) for each in found.evidence] == [
        (two.observation_id, "missing")
    ]
    assert [each.text for each in kept.since_review("atlas", "ship", domain="global").observations] == [
        "new value"
    ]
    page = kept.since_review("atlas", "ship", limit=1)
    assert (len(page.observations), page.has_more, page.facts) == (1, True, [])
    with kept.refuses(InvalidArgument):
        kept.since_review("atlas", " ")


# -- around a moment -----------------------------------------------------------------------


def test_a_timeline_has_what_happened_around_a_moment(kept: Kept) -> None:
    early = kept.record_event("early", fact=fact("one"))
    kept.ticks.pass_(hours=2)
    middle = kept.ticks.at
    kept.ticks.pass_(hours=1)
    kept.record_event("late", fact=fact("two", early.fact_id))
    kept.record_event("told later", occurred_at=middle)
    kept.record_event("early", agent="codex", fact=None)
    around = kept.timeline(middle, window_hours=3)
    assert [(each.text, round(each.delta_seconds / 3600)) for each in around.events][:3] == [
        ("early", -2),
        ("told later", 0),
        ("late", 1),
    ]
    assert (around.mode, around.nearest_snapshots, around.events_has_more) == ("around", [], False)
    assert "facts" not in around
    assert [each.text for each in kept.timeline(middle, window_hours=1).events][:1] == ["told later"]
    then = kept.timeline(middle, window_hours=3, as_of=True)
    assert [each.text for each in then.events] == ["early"]
    (known,) = then["facts"]
    assert (known.value, known.retired_at_utc) == ("one", None)
    assert kept.timeline(middle, limit=1).events_has_more
    wrong: list[dict[str, Any]] = [{"window_hours": 0}, {"window_hours": 721}, {"limit": 0}]
    for bad in wrong:
        with kept.refuses(InvalidArgument):
            kept.timeline(middle, **bad)
    with kept.refuses(InvalidArgument, "zone"):
        kept.timeline(middle.replace(tzinfo=None))


def test_recent_has_each_memory_event_once_the_newest_first(kept: Kept) -> None:
    kept.record_event("a", agent="claude")
    kept.record_event("b", domain="work")
    kept.record_event("a", agent="codex")
    assert [each.text for each in kept.recent()] == ["b", "a"]
    assert [each.text for each in kept.recent(domain="job")] == ["b"]
    assert [each.text for each in kept.recent(limit=1)] == ["b"]
    (last,) = kept.recent(limit=1)
    assert [each.text for each in kept.recent(after=last.position)] == ["a"]


def test_a_memory_event_whose_first_observation_is_hidden_shows_at_the_next(kept: Kept) -> None:
    first = kept.record_event("a", agent="claude")
    kept.record_event("a", agent="codex")
    kept.withheld_alone(first.observation_id)
    (found,) = kept.recent()
    assert (found.agent, found.event_id) == ("codex", first.event_id)


def test_a_checkpoint_that_came_while_another_was_judged_is_since_the_review(kept: Kept) -> None:
    held: list[str] = []

    def hand_off(goal: str) -> str:
        made = kept.record_event(
            goal,
            project="atlas",
            task_id="ship",
            fact=fact(goal, held[-1] if held else None),
            checkpoint={**CHECKPOINT, "goal": goal},
        )
        held.append(made.fact_id or "")
        return made.checkpoint_id or ""

    first = hand_off("first")
    kept.record_event("between", project="atlas", task_id="ship")
    second = hand_off("second")
    late = kept.record_review("checkpoint", first, "accepted", "", reviewer="maya")
    found = kept.since_review("atlas", "ship")
    assert found.review is not None and found.review.id == late.review_id
    assert [each.text for each in found.observations] == ["between", "second"]
    assert [each.fact.value for each in found.facts] == [fact("second")["value"]]
    # Who judged the newer one has seen it: the older can be judged again and hides nothing.
    kept.record_review("checkpoint", second, "accepted", "", reviewer="maya")
    again = kept.record_review("checkpoint", first, "questioned", "", reviewer="maya")
    found = kept.since_review("atlas", "ship")
    assert (found.observations, found.from_position) == ([], again.position)
