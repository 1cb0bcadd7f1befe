"""What a fact does to its slot (contract memory, "Facts"; cases F01 to F07, F10; V08)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.memory.written_cases import ATLAS, Kept, folded_again, folded_now, fresh
from workbench.identity.entries import Names
from workbench.identity.registry import Registry
from workbench.memory.errors import StaleFact
from workbench.storage import fetch

SPELLINGS = Registry(
    projects=[Names("atlas", aliases=("status", "atlas app"))], domains=[Names("work", aliases=("job",))]
)


@pytest.fixture
def kept(tmp_path: Path) -> Iterator[Kept]:
    memory = fresh(tmp_path, ATLAS)
    yield memory
    assert folded_now(memory.log) == folded_again(memory.log)
    memory.log.close()


def fact(
    value: str, supersedes: str | None = None, kind: str = "observed", slot: str = "db"
) -> dict[str, Any]:
    return {"slot": slot, "value": value, "kind": kind, "supersedes": supersedes}


def current(kept: Kept) -> list[str]:
    """Values of all active facts, oldest first."""
    with kept.log.reader() as connection:
        positions = fetch.rows(
            connection, "SELECT position FROM facts WHERE to_position IS NULL ORDER BY position"
        )
    events = {event.position: event for event in kept.events()}
    return [events[position].payload["value"] for (position,) in positions]


def test_the_first_fact_of_a_slot_needs_nothing(kept: Kept) -> None:
    receipt = kept.record_event("x", fact=fact("a"))
    payload = kept.last().payload
    assert str(kept.last().envelope.event_id) == receipt.fact_id
    assert not {"confirms", "supersedes", "retires"} & set(payload)
    assert current(kept) == ["a"]


def test_another_value_needs_the_id_of_the_current_one(kept: Kept) -> None:
    first = kept.record_event("x", fact=fact("a")).fact_id
    with kept.refuses(StaleFact, f"requires supersedes=current fact {first}"):
        kept.record_event("y", fact=fact("b"))
    with pytest.raises(StaleFact) as caught:
        kept.record_event("y", fact=fact("b"))
    assert caught.value.current == first


def test_the_same_value_and_kind_confirms(kept: Kept) -> None:
    first = kept.record_event("x", fact=fact("a"), agent="one")
    again = kept.record_event("seen again", fact=fact("a"), agent="two")
    assert again.fact_id == first.fact_id
    assert again.observation_id != first.observation_id
    assert kept.last().payload["confirms"] == first.fact_id
    assert current(kept) == ["a"]


def test_the_same_value_of_another_kind_is_a_change(kept: Kept) -> None:
    first = kept.record_event("x", fact=fact("a")).fact_id
    with kept.refuses(StaleFact):
        kept.record_event("y", fact=fact("a", kind="decision"))
    kept.record_event("y", fact=fact("a", first, kind="decision"))
    assert current(kept) == ["a"]


def test_a_replacement_retires_what_it_names(kept: Kept) -> None:
    first = kept.record_event("x", fact=fact("a"))
    second = kept.record_event("y", fact=fact("b", first.fact_id))
    payload = kept.last().payload
    assert (payload["supersedes"], payload["retires"]) == (first.fact_id, [first.fact_id])
    assert second.fact_id not in (None, first.fact_id)
    assert current(kept) == ["b"]
    with kept.log.reader() as connection:
        ended = fetch.row(connection, "SELECT to_position, replaced_by FROM facts ORDER BY position LIMIT 1")
    assert ended == (kept.last().position, kept.last().position)


def test_a_stale_a_foreign_and_a_wild_supersedes_are_refused(kept: Kept) -> None:
    first = kept.record_event("x", fact=fact("a")).fact_id
    second = kept.record_event("y", fact=fact("b", first)).fact_id
    other = kept.record_event("z", fact=fact("a", slot="other")).fact_id
    scoped = kept.record_event("z", project="p", fact=fact("a")).fact_id
    for wrong in (first, other, scoped, second and second[:-1], "nonsense"):
        with kept.refuses(StaleFact, f"not the current fact.*{second}"):
            kept.record_event("w", fact=fact("c", wrong))


def test_supersedes_on_an_empty_slot_is_refused(kept: Kept) -> None:
    first = kept.record_event("x", fact=fact("a")).fact_id
    with pytest.raises(StaleFact, match="not the current fact") as caught:
        kept.record_event("y", fact=fact("b", first, slot="empty"))
    assert caught.value.current is None


def test_an_id_may_be_written_in_any_way(kept: Kept) -> None:
    first = kept.record_event("x", fact=fact("a")).fact_id
    assert first is not None
    kept.record_event("y", fact=fact("b", first.upper()))
    assert kept.last().payload["supersedes"] == first


def test_scopes_have_slots_of_their_own(kept: Kept) -> None:
    ids = {
        kept.record_event("x", fact=fact("a")).fact_id,
        kept.record_event("x", fact=fact("b"), project="p").fact_id,
        kept.record_event("x", fact=fact("c"), project="p", task_id="t").fact_id,
        kept.record_event("x", fact=fact("d"), project="p", task_id="t-2").fact_id,
        kept.record_event("x", fact=fact("e"), project="q", task_id="t").fact_id,
        kept.record_event("x", fact=fact("f"), domain="d", project="p").fact_id,
        kept.record_event("x", fact=fact("g"), visibility="private").fact_id,
    }
    assert len(ids) == 7
    assert current(kept) == list("abcdefg")


def test_a_private_fact_is_invisible_to_what_is_public(kept: Kept) -> None:
    hidden = kept.record_event("x", fact=fact("a"), visibility="private").fact_id
    with pytest.raises(StaleFact) as caught:
        kept.record_event("y", fact=fact("b", hidden))
    assert caught.value.current is None
    public = kept.record_event("y", fact=fact("a")).fact_id
    assert public != hidden
    assert "confirms" not in kept.last().payload
    kept.record_event("z", fact=fact("c", hidden), visibility="private")
    assert current(kept) == ["a", "c"]


def test_a_slot_is_found_under_spellings_that_were_declared_later(kept: Kept) -> None:
    kept.names = Registry()
    kept.record_event("x", project="Status", fact=fact("a"))
    kept.record_event("x", project="atlas", domain="Job", fact=fact("b"))
    newest = kept.record_event("x", project="Atlas_App", domain="work", fact=fact("c")).fact_id
    lone = kept.record_event("x", project="Atlas_App", fact=fact("c")).fact_id
    assert current(kept) == ["a", "b", "c", "c"]
    kept.names = SPELLINGS
    with pytest.raises(StaleFact) as caught:
        kept.record_event("y", project="status", domain="WORK", fact=fact("d"))
    assert caught.value.current == newest
    again = kept.record_event("y", project="atlas", domain="job", fact=fact("c"))
    assert again.fact_id == newest
    # Replacing the newest ends every value that the slot had in that domain.
    kept.record_event("y", project="status", domain="job", fact=fact("d", newest))
    assert len(kept.last().payload["retires"]) == 2
    assert kept.last().payload["retires"][0] == newest
    assert current(kept) == ["a", "c", "d"]
    kept.record_event("y", project="atlas", fact=fact("e", lone))
    assert current(kept) == ["d", "e"]


def test_a_person_replaces_an_agents_fact(kept: Kept) -> None:
    first = kept.record_event("x", agent="codex", fact=fact("a")).fact_id
    second = kept.record_event("reviewed", agent="ada", fact=fact("b", first, kind="decision"))
    payload = kept.last().payload
    assert (payload["agent"], payload["kind"], payload["supersedes"]) == ("ada", "decision", first)
    assert second.agent == "ada"


def test_a_task_status_under_one_spelling_replaces_that_of_another(kept: Kept) -> None:
    kept.names = Registry()
    first = kept.record_event(
        "x", project="status", task_id="Launch Plan", fact=fact("open", slot="task.status")
    ).fact_id
    kept.names = SPELLINGS
    kept.record_event(
        "y", project="atlas", task_id="launch_plan", fact=fact("completed", first, slot="task.status")
    )
    assert current(kept) == ["completed"]


def test_a_supersedes_of_another_scope_says_whose_fact_it_is(kept: Kept) -> None:
    projects = kept.record_event("x", project="Atlas App", fact=fact("a")).fact_id
    task: dict[str, Any] = {"project": "atlas", "task_id": "ship"}
    with kept.refuses(StaleFact, "a fact of atlas, without a task; this slot holds none") as caught:
        kept.record_event("y", **task, fact=fact("b", projects))
    assert "record it without --task-id" in caught.value.hint
    assert "leave supersedes out" in caught.value.hint
    with kept.refuses(StaleFact, "a fact of atlas, without a task") as caught:
        kept.record_event("y", **task, fact=fact("b", projects), checkpoint={"goal": "go on"})
    assert "in a call of its own" in caught.value.hint
    own = kept.record_event("y", **task, fact=fact("own")).fact_id
    with kept.refuses(StaleFact, f"of this slot that is {own}") as caught:
        kept.record_event("z", **task, fact=fact("b", projects))
    assert isinstance(caught.value, StaleFact) and caught.value.current == own
    assert "give its own current fact" in caught.value.hint
    with kept.refuses(StaleFact, "a fact of atlas / ship") as caught:
        kept.record_event("z", project="atlas", task_id="other", fact=fact("b", own))
    assert "record it for atlas / ship" in caught.value.hint
    assert current(kept) == ["a", "own"]


def test_a_supersedes_of_a_wider_scope_or_another_domain_says_so(kept: Kept) -> None:
    widest = kept.record_event("x", fact=fact("a")).fact_id
    with kept.refuses(StaleFact, "a fact of the domain global, without a project") as caught:
        kept.record_event("y", project="atlas", fact=fact("b", widest))
    assert "record it without --project" in caught.value.hint
    work = kept.record_event("x", project="atlas", domain="Job", fact=fact("a")).fact_id
    with kept.refuses(StaleFact, "a fact of atlas, without a task, in the domain work"):
        kept.record_event("y", project="atlas", fact=fact("b", work))


def test_a_supersedes_of_another_slot_names_the_slot(kept: Kept) -> None:
    other = kept.record_event("x", fact=fact("a", slot="DB")).fact_id
    with kept.refuses(StaleFact, "a fact of the slot “DB”; this slot holds none") as caught:
        kept.record_event("y", fact=fact("b", other))
    assert "letter by letter" in caught.value.hint
    with kept.refuses(StaleFact, "a fact of another slot, “DB”"):
        kept.record_event("y", project="atlas", fact=fact("b", other))


def test_a_replaced_fact_of_another_scope_is_called_so(kept: Kept) -> None:
    first = kept.record_event("x", fact=fact("a")).fact_id
    kept.record_event("x", fact=fact("b", first))
    with kept.refuses(StaleFact, "a fact, replaced since, of the domain global"):
        kept.record_event("y", project="atlas", fact=fact("c", first))
    with kept.refuses(StaleFact, "reload the task context"):
        kept.record_event("y", fact=fact("c", first))


def test_nobody_is_told_whose_a_private_fact_is(kept: Kept) -> None:
    hidden = kept.record_event("x", project="atlas", fact=fact("a"), visibility="private").fact_id
    unknown = "00000000-0000-7000-8000-000000000000"
    said = []
    for wanted in (hidden, unknown):
        with kept.refuses(StaleFact) as caught:
            kept.record_event("y", project="atlas", task_id="ship", fact=fact("b", wanted))
        said.append((caught.value.message, caught.value.hint))
    assert said[0] == said[1]
    shown = kept.record_event("x", project="atlas", fact=fact("public")).fact_id
    with kept.refuses(StaleFact, "the public fact of this slot"):
        kept.record_event("y", project="atlas", fact=fact("b", shown), visibility="private")


def test_a_task_status_without_a_task_warns(kept: Kept) -> None:
    done = fact("completed", slot="task.status")
    receipt = kept.record_event("x", project="atlas", fact=done)
    assert receipt.to_dict()["warnings"] == [
        "task.status without a task closes none: this names no task; add --task-id"
    ]
    again = kept.record_event("x", project="atlas", task_id="ship", fact=done)
    assert "warnings" not in again.to_dict()
