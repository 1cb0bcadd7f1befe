"""The reader of facts: three orders, filters, the detail of one, and the same as of any position."""

from __future__ import annotations

import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from workbench.memory.fact_order import key_of
from workbench.workspace import Workspace
from workbench.workspace.fact_rows import ORDERS, DamagedLink, FactFilter, FactLink, FactOrder, FactRow

START = datetime(2026, 3, 1, 8, tzinfo=UTC)
ALIASES = '\n[[projects]]\nid = "atlas"\naliases = ["atlas app"]\n'

ALL = FactFilter()


class Clock:
    """A minute at each look."""

    def __init__(self) -> None:
        self.at = START

    def __call__(self) -> datetime:
        self.at += timedelta(minutes=1)
        return self.at


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    with Workspace.create(tmp_path / "w", timezone="UTC", owner="ada", clock=Clock()) as made:
        yield made


def _position(link: FactLink | DamagedLink) -> int:
    return link.position if isinstance(link, DamagedLink) else link.fact.position


def put(
    workspace: Workspace,
    slot: str,
    value: str,
    *,
    kind: str = "observed",
    project: str | None = "atlas",
    task: str | None = None,
    agent: str = "coder",
    text: str = "",
    **more: Any,
) -> str:
    """Assert a fact over whatever the slot holds; returns its id."""
    given = {"domain": more.pop("domain", None), "project": project, "task_id": task}
    page = workspace.memory.facts(**given, slot=slot, raw=True)
    scope = (given["domain"] or "global", project, task)
    held = [each for each in page.facts if (each.domain, each.project, each.task_id) == scope]
    receipt = workspace.memory.record_event(
        text or f"{slot} {value}",
        **given,
        agent=agent,
        fact={"slot": slot, "value": value, "kind": kind, "supersedes": held[0].id if held else None},
        **more,
    )
    assert receipt.fact_id is not None
    return receipt.fact_id


def walked(
    workspace: Workspace,
    order: FactOrder,
    size: int,
    wanted: FactFilter = ALL,
    as_of: int | None = None,
) -> list[FactRow]:
    """The whole list page by page, which is the same from behind."""
    reader = workspace.readers.facts
    forwards = reader.page(wanted, order, size, as_of=as_of)
    while (
        len(more := reader.page(wanted, order, size, after=forwards[-1].place, as_of=as_of))
        if forwards
        else 0
    ):
        forwards += more
    backwards = reader.last(wanted, order, size, as_of=as_of)
    while backwards and (more := reader.page(wanted, order, size, before=backwards[0].place, as_of=as_of)):
        backwards = more + backwards
    assert forwards == backwards
    return forwards


def links(workspace: Workspace, position: int) -> list[FactLink]:
    """The chain of the fact at a position, newest first; all of it can be read."""
    detail = workspace.readers.facts.detail(position)
    assert detail is not None
    return [link for link in detail.links if isinstance(link, FactLink)]


def slots(rows: list[FactRow]) -> list[str]:
    return [row.slot for row in rows]


def test_each_order_is_whole_from_both_ends_and_each_row_knows_its_rank(workspace: Workspace) -> None:
    draw = random.Random(5)
    for number in range(120):
        where = draw.choice((("atlas", None), ("atlas", "t1"), ("orbit", "t1"), (None, None)))
        slot = f"slot.{draw.randrange(9)}"
        domain = draw.choice((None, "work"))
        put(workspace, slot, f"v{number}", project=where[0], task=where[1], domain=domain)
    reader = workspace.readers.facts
    lengths = {row.id: len(workspace.memory.chain(row.id)) for row in walked(workspace, "newest", 7)}
    for order in ORDERS:
        rows = walked(workspace, order, 7)
        assert {row.id: row.links for row in rows} == lengths
        assert [key_of(order, row.place) for row in rows] == sorted(key_of(order, row.place) for row in rows)
        assert [reader.rank(order, row.place) for row in rows] == list(range(len(rows)))
        assert reader.count(FactFilter()) == len(rows)
        assert reader.place_of_rank(order, 3) == rows[3].place
        assert reader.place_of_rank(order, 10_000) == rows[-1].place
    assert max(lengths.values()) > 2


def test_every_position_of_the_past_shows_what_was_current_then(workspace: Workspace) -> None:
    draw = random.Random(9)
    for number in range(30):
        put(workspace, f"slot.{draw.randrange(4)}", f"v{number}", project=draw.choice(("atlas", "orbit")))
    last = workspace.memory.recent(limit=1)[0].position + 1
    for position in range(0, last + 1, 3):
        then = workspace.memory.facts(as_of=position, limit=500, raw=True).facts
        for order in ORDERS:
            rows = walked(workspace, order, 3, as_of=position)
            assert {row.id for row in rows} == {each.id for each in then}
            for row in rows:
                assert row.links == len(workspace.memory.chain(row.id, raw=True, as_of=position))
        detail = workspace.readers.facts.detail(2, as_of=position)
        if position < 2:
            assert detail is None
        else:
            assert detail is not None and detail.row.current
            assert all(_position(link) <= position for link in detail.links)


def test_words_look_in_slot_value_names_and_author_in_any_case(workspace: Workspace) -> None:
    put(workspace, "deploy.target", 'two "servers" at 50%', agent="codex")
    put(workspace, "db_engine", "SQLite", project="orbit", task="Move It")
    put(workspace, "数値", "とても長い値 ΣΊΣΥΦΟΣ", project=None)
    found = {
        "DEPLOY": ["deploy.target"],
        '"servers"': ["deploy.target"],
        "50%": ["deploy.target"],
        "db_engine": ["db_engine"],
        "dbxengine": [],
        "move sqlite": ["db_engine"],
        "orbit codex": [],
        "codex": ["deploy.target"],
        "長い": ["数値"],
        "σίσυφος": ["数値"],
        "global": ["数値", "db_engine", "deploy.target"],
        # The observation's text is not the fact's.
        "observation": [],
    }
    for text, expected in found.items():
        wanted = FactFilter(text=text)
        assert slots(walked(workspace, "newest", 2, wanted)) == expected, text
        assert workspace.readers.facts.count(wanted) == len(expected)


def test_words_find_names_by_any_spelling(tmp_path: Path) -> None:
    with Workspace.create(tmp_path / "w", timezone="UTC", owner="ada", clock=Clock()) as made:
        path = made.layout.manifest
    path.write_text(path.read_text() + '\n[[projects]]\nid = "a-tlas"\naliases = ["Gazetteer"]\n')
    with Workspace.open(tmp_path / "w") as workspace:
        put(workspace, "port", "80", project="a-tlas", task="Move It", agent="the_coder")
        put(workspace, "a_tlas", "x", project="orbit")
        found = {
            "A_TLAS": ["a_tlas", "port"],
            "gazetteer": ["port"],
            "move_it": ["port"],
            "THE-Coder 80": ["port"],
            "\uff41-tlas": ["port"],
            "a-tlas-b": [],
        }
        for text, expected in found.items():
            wanted = FactFilter(text=text)
            assert slots(walked(workspace, "newest", 2, wanted)) == expected, text


def test_a_kind_and_words_narrow_every_order(workspace: Workspace) -> None:
    for number in range(20):
        kind = ("observed", "decision", "assumption")[number % 3]
        put(workspace, f"slot.{number:02}", "x" if number % 2 else "y", kind=kind)
    wanted = FactFilter("y", ("assumption",))
    expected = [f"slot.{number:02}" for number in range(20) if number % 3 == 2 and not number % 2]
    for order in ORDERS:
        assert sorted(slots(walked(workspace, order, 2, wanted))) == expected
    assert workspace.readers.facts.passes(wanted, walked(workspace, "newest", 9, wanted)[0].position)


def test_disputed_are_those_whose_latest_verdict_rejects(workspace: Workspace) -> None:
    first, second, third = (put(workspace, f"slot.{name}", "x") for name in "abc")
    for fact_id, verdict in (
        (first, "rejected"),
        (second, "rejected"),
        (second, "accepted"),
        (third, "questioned"),
    ):
        workspace.review("fact", fact_id, verdict, "because")
    rows = {row.slot: row for row in walked(workspace, "newest", 5)}
    assert {slot: row.verdict for slot, row in rows.items()} == {
        "slot.a": "rejected",
        "slot.b": "accepted",
        "slot.c": "questioned",
    }
    before = rows["slot.c"].position
    for order in ORDERS:
        assert slots(walked(workspace, order, 1, FactFilter(only="disputed"))) == ["slot.a"]
        assert walked(workspace, order, 1, FactFilter(only="disputed"), as_of=before) == []
    # What replaces it is not disputed.
    put(workspace, "slot.a", "y")
    assert walked(workspace, "newest", 1, FactFilter(only="disputed")) == []
    chain = links(workspace, rows["slot.a"].position)
    assert [link.review and link.review.verdict for link in chain] == [None, "rejected"]


def clashing(workspace: Workspace) -> tuple[str, str]:
    """Two values of one slot under two spellings, declared to be one afterwards."""
    ids = put(workspace, "db", "old", project="atlas"), put(workspace, "db", "new", project="Atlas App")
    put(workspace, "other", "x", project="Atlas App")
    path = workspace.layout.manifest
    path.write_text(path.read_text() + ALIASES)
    return ids


def test_conflicts_are_slots_with_values_under_several_spellings(workspace: Workspace) -> None:
    old, new = clashing(workspace)
    for order in ORDERS:
        rows = walked(workspace, order, 1, FactFilter(only="conflicts"))
        assert {row.id for row in rows} == {old, new} and {row.values for row in rows} == {2}
    assert [row.values for row in walked(workspace, "scope", 5) if row.slot == "other"] == [1]
    detail = workspace.readers.facts.detail(workspace.readers.facts.position_of(new) or 0)
    assert detail is not None and [row.id for row in detail.rivals] == [old] and not detail.elsewhere
    # The next replacement of the newest retires both; the chain has them all.
    put(workspace, "db", "one", project="Atlas App")
    workspace.memory.record_event(
        "both end",
        project="atlas",
        fact={"slot": "db", "value": "last", "kind": "decision", "supersedes": newest(workspace)},
    )
    assert walked(workspace, "newest", 5, FactFilter(only="conflicts")) == []
    detail = workspace.readers.facts.detail(workspace.readers.facts.position_of(old) or 0)
    assert detail is not None
    assert [link.fact.value for link in links(workspace, 2)] == ["last", "one", "new", "old"]
    assert detail.row.links == 4 and [link.other_spelling for link in links(workspace, 2)] == [
        False,
        False,
        True,
        False,
    ]


def newest(workspace: Workspace) -> str:
    return next(row.id for row in walked(workspace, "newest", 9) if row.slot == "db")


def test_a_private_and_a_public_value_are_two_slots_and_no_conflict(workspace: Workspace) -> None:
    clashing(workspace)
    workspace.memory.record_event(
        "mine",
        project="atlas",
        visibility="private",
        fact={"slot": "other", "value": "y", "kind": "observed"},
    )
    rows = {(row.slot, row.private): row for row in walked(workspace, "newest", 9)}
    assert rows["other", True].values == rows["other", False].values == 1
    conflicts = walked(workspace, "newest", 9, FactFilter(only="conflicts"))
    assert slots(conflicts) == ["db", "db"]
    assert [each.slot for each in workspace.memory.conflicts(raw=True)] == ["db"]


def test_who_confirmed_a_value_independently_and_what_its_author_repeated(workspace: Workspace) -> None:
    put(workspace, "db", "x", agent="coder", text="first")
    for agent, text in (("codex", "a"), ("coder", "b"), ("gemini", "c"), ("codex", "d")):
        workspace.memory.record_event(
            text, project="atlas", agent=agent, fact={"slot": "db", "value": "x", "kind": "observed"}
        )
    (link,) = links(workspace, 2)
    assert link.confirmed_by == ("codex", "gemini") and link.said_again == 1


def test_the_same_slot_elsewhere_stands_with_that_of_its_own_project_first(workspace: Workspace) -> None:
    for number in range(30):
        put(workspace, "task.state", str(number), project="orbit", task=f"t{number}")
    own = put(workspace, "task.state", "here", task="mine")
    near = put(workspace, "task.state", "near", task="next to it")
    detail = workspace.readers.facts.detail(workspace.readers.facts.position_of(own) or 0)
    assert detail is not None
    assert detail.elsewhere[0].id == near and len(detail.elsewhere) == 20
    assert detail.elsewhere_more == 11


def test_facts_that_name_an_assumption_while_it_stands_are_built_on_it(workspace: Workspace) -> None:
    base = put(workspace, "deploy.target", "two servers", kind="assumption")
    put(workspace, "rollback.plan", "switch", text="Since deploy.target is a pair")
    put(workspace, "budget", f"twice, see {base}")
    put(workspace, "other.why", "x", text="said", why="DEPLOY.TARGET allows it")
    put(workspace, "longer", "deploy.targets and my.deploy.target are others")
    put(workspace, "elsewhere", "deploy.target", project="orbit")
    workspace.memory.record_event("deploy.target is named by no fact", project="atlas")
    rows = {row.slot: row for row in walked(workspace, "newest", 9)}
    assert rows["deploy.target"].built_on == 3 and rows["budget"].built_on == 0
    put(workspace, "deploy.target", "three servers", kind="observed")
    put(workspace, "too.late", "deploy.target")
    now, assumed = links(workspace, rows["deploy.target"].position)
    assert not now.built_on
    assert [row.slot for row in assumed.built_on] == ["rollback.plan", "budget", "other.why"]


def test_a_plain_word_as_a_slot_counts_by_its_id_alone(workspace: Workspace) -> None:
    base = put(workspace, "status", "fine", kind="assumption")
    put(workspace, "a.b", "the status is fine")
    put(workspace, "c.d", f"by {base}")
    assert [row.slot for row in links(workspace, 2)[0].built_on] == ["c.d"]


@pytest.mark.parametrize("slot", ['"', "a.b OR c", "(", "…", "a*b.c", "NEAR(a b)"])
def test_a_slot_is_no_query(workspace: Workspace, slot: str) -> None:
    put(workspace, slot, "x", kind="assumption")
    (row,) = walked(workspace, "newest", 5)
    assert row.built_on == 0
    assert workspace.readers.facts.detail(row.position) is not None


def test_a_chain_grows_by_what_replaces_its_last_fact(workspace: Workspace) -> None:
    for number in range(69):
        put(workspace, "busy", str(number))
    put(workspace, "calm", "x")
    reader = workspace.readers.facts
    assert [row.links for row in reader.page(FactFilter(), "replaced", 5)] == [69, 1]
    put(workspace, "busy", "again")
    put(workspace, "new", "x")
    assert [(row.slot, row.links) for row in reader.page(FactFilter(), "replaced", 5)] == [
        ("busy", 70),
        ("new", 1),
        ("calm", 1),
    ]
    detail = reader.detail(2)
    assert detail is not None and detail.row.links == 70


def test_places_are_found_by_event_slot_and_time(workspace: Workspace) -> None:
    first = put(workspace, "db", "x")
    workspace.memory.record_event("a note", project="atlas")
    second = put(workspace, "queue", "y")
    reader = workspace.readers.facts
    at = {each: reader.position_of(each) for each in (first, second)}
    assert reader.fact_near(3) == at[first] and reader.fact_near(1) == at[first]
    assert reader.of_slot("queue") == at[second] and reader.of_slot("nothing") is None
    assert reader.position_of("no id") is None and reader.detail(1) is None and reader.row(1) is None
    assert reader.place(99) is None
    micros = int((START + timedelta(days=1)).timestamp() * 1_000_000)
    assert reader.position_at(micros) == 5 and reader.position_at(0) == 0
    replaced = put(workspace, "db", "z")
    place = reader.place(at[first] or 0)
    assert place is not None and place.position == reader.position_of(replaced) and place.links == 2


def test_a_count_ends_early_where_nobody_waits_for_it(workspace: Workspace) -> None:
    for number in range(5):
        put(workspace, f"slot.{number}", "x")
    told: list[int] = []
    assert workspace.readers.facts.count(FactFilter("x"), lambda: True, told.append) == 0
    assert workspace.readers.facts.count(FactFilter("x"), lambda: False, told.append) == 5
    assert told == [5]


def test_a_damaged_fact_hides_no_other(workspace: Workspace) -> None:
    for value in ("one", "two", "three"):
        put(workspace, "db", value)
    put(workspace, "queue", "x")
    reader = workspace.readers.facts
    at = reader.of_slot("db") or 0
    writer = workspace.log.database._writer
    assert writer is not None
    writer.execute("UPDATE events SET payload = '{\"slot\": 4}' WHERE position = ?", (at,))
    for order in ORDERS:
        rows = {row.slot: row for row in walked(workspace, order, 1)}
        assert rows["db"].damage and not rows["db"].value and rows["db"].links == 3
        assert not rows["queue"].damage
    assert slots(walked(workspace, "newest", 5, FactFilter("x"))) == ["queue"]
    detail = reader.detail(2)
    assert detail is not None
    # The one before it cannot say what took its place.
    assert [isinstance(link, DamagedLink) for link in detail.links] == [True, True, False]
