"""Messages that stand twice in a rollout enter once, and none is lost."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.imports.codex_records import (
    OWNER,
    acta,
    call,
    event,
    ignored,
    item,
    meta,
    output,
    read_records,
    said,
    thought,
    told,
    turn,
)
from tests.thorough import examples
from workbench.imports.codex import twins
from workbench.imports.codex.state import RolloutState
from workbench.imports.codex.twins import Group, Said, Twins
from workbench.imports.transcript.items import ActumItem, Ignored, Item


@pytest.mark.parametrize("event_first", [True, False])
@pytest.mark.parametrize(
    ("kind", "field", "whole"),
    [
        ("user_message", "message", said("user", "words")),
        ("agent_message", "message", said("assistant", "words")),
        ("agent_reasoning", "text", thought("words")),
    ],
)
def test_the_item_stays_whichever_comes_first(
    tmp_path: Path, kind: str, field: str, whole: dict[str, Any], event_first: bool
) -> None:
    fields: dict[str, Any] = {field: "words"}
    pair = [event(kind, **fields), whole]
    records = [meta(), turn("t"), *(pair if event_first else pair[::-1]), call("c"), turn("u")]
    items = read_records(tmp_path, records)
    assert [each.content for each in acta(items)] == ["words", '{"command":["ls"]}']
    assert "event" not in acta(items)[0].metadata
    assert ignored(items).count(f"event:{kind}") == 1


def test_an_event_without_its_item_stays_in_its_place(tmp_path: Path) -> None:
    records = [
        meta(),
        turn("t"),
        said("user", "go"),
        event("agent_reasoning", text="hm"),
        call("c"),
        output("c", "x"),
        event("agent_message", message="gone", phase="commentary"),
        event("agent_message", message="  "),
        said("assistant", "kept"),
        turn("u"),
    ]
    items = read_records(tmp_path, records)
    assert [each.content for each in acta(items)] == ["go", "hm", '{"command":["ls"]}', "x", "gone", "kept"]
    assert acta(items)[4].metadata == {"turn_id": "t", "event": "agent_message", "phase": "commentary"} | {
        "model": "model-large"
    }
    assert ignored(items).count("event:agent_message") == 1


def test_equal_texts_are_matched_one_to_one(tmp_path: Path) -> None:
    records = [
        meta(),
        turn(),
        event("agent_message", message="ok"),
        said("assistant", "ok"),
        event("agent_message", message="ok"),
        event("agent_message", message="ok"),
        said("assistant", "ok"),
        turn(),
    ]
    items = read_records(tmp_path, records)
    assert [each.content for each in acta(items)] == ["ok", "ok", "ok"]
    assert [("event" in each.metadata) for each in acta(items)].count(True) == 1
    assert ignored(items).count("event:agent_message") == 2
    assert len({each.source_key for each in acta(items)}) == 3


def test_a_twin_in_another_turn_is_none(tmp_path: Path) -> None:
    records = [meta(), turn("a"), event("agent_message", message="ok"), turn("b"), said("assistant", "ok")]
    items = read_records(tmp_path, records)
    assert told(items) == [("message", "codex", "ok")] * 2


def test_who_speaks_decides_too(tmp_path: Path) -> None:
    records = [meta(), turn(), event("user_message", message="ok"), said("assistant", "ok"), turn()]
    assert told(read_records(tmp_path, records)) == [("message", OWNER, "ok"), ("message", "codex", "ok")]


def test_parts_match_joined_and_one_by_one(tmp_path: Path) -> None:
    image = [
        {"type": "input_text", "text": '<image name="1">'},
        {"type": "input_image", "image_url": "https://example.org/a.png"},
        {"type": "input_text", "text": "what is this"},
    ]
    records = [
        meta(),
        turn(),
        event("user_message", message="onetwo"),
        said("user", "one", "two"),
        said("assistant", "three", "four"),
        event("agent_message", message="three"),
        event("agent_message", message="four"),
        event("agent_reasoning", text="a"),
        event("agent_reasoning", text="b"),
        thought("a", "b"),
        item("message", role="user", content=image),
        event("user_message", message="what is this", images=["https://example.org/a.png"]),
        turn(),
    ]
    items = read_records(tmp_path, records)
    assert not [each for each in acta(items) if "event" in each.metadata]
    assert len([kind for kind in ignored(items) if kind.startswith("event:")]) == 6


def test_a_prompt_that_is_only_an_event_keeps_its_images(tmp_path: Path) -> None:
    address = "data:image/png;base64,AAAA"
    records = [meta(), turn(), event("user_message", message="see", images=[address, 3])]
    items = read_records(tmp_path, records)
    assert [each.content for each in acta(items)] == ["see", "[image png, 3 bytes]", "[image, without data]"]


def test_beyond_the_bound_the_event_enters_and_its_late_item_is_dropped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(twins, "MAX_HELD_RECORDS", 3)
    between = [call(f"c{n}") for n in range(6)]
    records = [
        meta(),
        turn(),
        event("agent_message", message="first"),
        *between,
        said("assistant", "first"),
        event("agent_message", message="first"),
        turn(),
    ]
    items = read_records(tmp_path, records)
    assert [each.content for each in acta(items) if each.kind == "message"] == ["first", "first"]
    assert ignored(items).count("item:message") == 1
    assert acta(items)[0].content == "first"


Line = tuple[bool, str]
"""Whether it is an event, and its text."""


@given(
    st.lists(st.lists(st.tuples(st.booleans(), st.sampled_from("abc")), max_size=30), max_size=3),
    st.sampled_from([1, 2, 5, 1000]),
)
@settings(max_examples=examples(300))
@example([[(False, "a"), (True, "a"), (True, "a"), (True, "a"), (False, "a"), (False, "a")]], 2)
def test_every_text_enters_as_often_as_it_was_said(stretches: list[list[Line]], bound: int) -> None:
    before, twins.MAX_HELD_RECORDS = twins.MAX_HELD_RECORDS, bound
    try:
        state = RolloutState()
        held = Twins(state)
        out: list[Item] = []
        number = 0
        for stretch in stretches:
            for is_event, text in stretch:
                number += 1
                group = Group(number, number, 1, [_actum(number, text, is_event)])
                name = "event:agent_message" if is_event else "item:message"
                for released in held.add(group, Said("agent", [text], is_event, name)):
                    out.extend(released.items)
            for released in held.end_stretch():
                out.extend(released.items)
    finally:
        twins.MAX_HELD_RECORDS = before
    numbers = [each.line for each in out if isinstance(each, ActumItem | Ignored)]
    assert numbers == list(range(1, number + 1))
    entered = Counter(each.content for each in out if isinstance(each, ActumItem))
    expected: Counter[str] = Counter()
    for stretch in stretches:
        counts = Counter(stretch)
        for text in "abc":
            expected[text] += max(counts[True, text], counts[False, text])
    assert entered == +expected
    if bound == 1000:
        items = Counter(e.content for e in out if isinstance(e, ActumItem) and "event" not in e.metadata)
        assert items == Counter(text for stretch in stretches for is_event, text in stretch if not is_event)


def _actum(number: int, text: str, is_event: bool) -> ActumItem:
    return ActumItem(
        chronicum_id="codex/s",
        record_key=f"codex:s:{number}",
        source_key=f"codex:s:{number}:0",
        kind="message",
        actor_kind="agent",
        actor="codex",
        content=text,
        metadata={"event": "agent_message"} if is_event else {},
        occurred_at=None,
        line=number,
    )
