"""A rollout that grows, is cut off, changes, or is still being written."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.imports.codex_records import (
    acta,
    call,
    event,
    ignored,
    last,
    lines,
    meta,
    output,
    read,
    said,
    state_of,
    thought,
    told,
    turn,
    write,
)
from workbench.imports.codex import RolloutState, reader
from workbench.imports.transcript.items import Checkpoint, Item, Restarted
from workbench.imports.transcript.reading import has_settled

TALK = [
    meta(),
    said("user", "<environment_context>x</environment_context>"),
    said("user", "go"),
    event("user_message", message="go"),
    turn("t1"),
    event("agent_reasoning", text="plan"),
    thought("plan"),
    call("c1"),
    output("c1", "x"),
    event("agent_message", message="never an item"),
    event("agent_message", message="ok"),
    said("assistant", "ok"),
    said("user", "go"),
    event("user_message", message="go"),
    turn("t2"),
    said("assistant", "ok"),
    event("agent_message", message="ok"),
    call("c2"),
    output("c2", "x"),
]


def keys(items: list[Item]) -> list[str]:
    return [each.source_key for each in acta(items)]


def stored(state: RolloutState) -> RolloutState:
    return msgspec.json.decode(msgspec.json.encode(state), type=RolloutState)


def test_only_what_is_new_follows(tmp_path: Path) -> None:
    path = write(tmp_path / "r.jsonl", TALK[:9])
    first = read(path)
    write(path, TALK)
    second = read(path, stored(state_of(first)))
    assert keys(first) + keys(second) == keys(read(write(tmp_path / "r.jsonl", TALK)))
    assert not keys(read(path, state_of(second)))


@given(st.lists(st.integers(0, len(lines(TALK))), max_size=4), st.booleans())
@settings(deadline=None, max_examples=60)
def test_imports_at_any_moment_give_the_same_acta_each_once(cuts: list[int], settled: bool) -> None:
    data = lines(TALK)
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "r.jsonl"
        seen: dict[str, str] = {}
        state = None
        for cut in [*sorted(cuts), len(data)]:
            path.write_bytes(data[:cut])
            items = read(path, state, settled=settled or cut == len(data))
            assert not [each for each in items if isinstance(each, Restarted)]
            for actum in acta(items):
                seen.setdefault(actum.source_key, actum.content)
            state = stored(state_of(items))
        path.write_bytes(data)
        whole = {each.source_key: each.content for each in acta(read(path))}
    assert sorted(seen.values()) == sorted(whole.values())
    if not settled:
        assert seen == whole


def test_events_of_a_fresh_files_last_stretch_wait_and_items_do_not(tmp_path: Path) -> None:
    path = write(tmp_path / "r.jsonl", TALK[:11])
    items = read(path, settled=False)
    assert [each.content for each in acta(items)][-2:] == ['{"command":["ls"]}', "x"]
    assert last(items).waiting == 2
    assert state_of(items).line == 9
    again = read(path, stored(state_of(items)), settled=False)
    assert last(again).waiting == 2
    assert not acta(again)
    write(path, TALK[:12])
    grown = read(path, stored(state_of(again)), settled=False)
    assert told(grown) == [("message", "codex", "ok")]
    assert last(grown).waiting == 1
    left_alone = read(path, stored(state_of(grown)))
    assert [each.content for each in acta(left_alone)] == ["never an item", "ok"]
    assert keys(left_alone)[1] == keys(grown)[0]
    assert last(left_alone).waiting == 0


def test_an_event_that_entered_is_not_said_again_by_its_item(tmp_path: Path) -> None:
    path = write(tmp_path / "r.jsonl", TALK[:11])
    items = read(path)
    assert [each.content for each in acta(items)][-2:] == ["never an item", "ok"]
    write(path, TALK[:12])
    grown = read(path, stored(state_of(items)))
    assert not acta(grown)
    assert ignored(grown) == ["item:message"]


def test_a_half_written_last_line_waits(tmp_path: Path) -> None:
    data = lines(TALK[:3])
    path = tmp_path / "r.jsonl"
    path.write_bytes(data[:-20])
    items = read(path)
    assert [each.content for each in acta(items)] == ["<environment_context>x</environment_context>"]
    assert last(items).partial == len(lines([TALK[2]])) - 20
    path.write_bytes(data)
    assert [each.content for each in acta(read(path, state_of(items)))] == ["go"]


def test_a_whole_last_line_without_its_end_is_read_once(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    path.write_bytes(lines(TALK[:3])[:-1])
    items = read(path)
    assert len(acta(items)) == 2
    write(path, TALK[:9])
    assert len(acta(read(path, state_of(items)))) == 3


@pytest.mark.parametrize(("keep", "reason"), [(4, "shrank"), (None, "changed")])
def test_a_file_that_is_another_one_is_read_again_under_the_same_names(
    tmp_path: Path, keep: int | None, reason: str
) -> None:
    path = write(tmp_path / "r.jsonl", TALK)
    before = read(path)
    if keep is None:
        path.write_bytes(path.read_bytes().replace(b"/home/ada/atlas", b"/home/ada/other"))
    else:
        write(path, TALK[:keep])
    again = read(path, state_of(before))
    assert again[0] == Restarted(reason)  # type: ignore[arg-type]
    assert keys(again)
    assert set(keys(again)) <= set(keys(before))


def test_an_edited_answer_is_new_and_the_rest_is_known(tmp_path: Path) -> None:
    path = write(tmp_path / "r.jsonl", TALK)
    before = read(path)
    path.write_bytes(path.read_bytes().replace(b'"ok"', b'"well"'))
    again = read(path, state_of(before))
    assert [each.content for each in acta(again) if each.source_key not in keys(before)] == ["well", "well"]


def test_the_description_of_a_session_may_come_late(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    path.write_bytes(b"")
    state = state_of(read(path))
    write(path, TALK[:1])
    state = state_of(read(path, state))
    write(path, TALK[:3])
    grown = read(path, state)
    assert {each.chronicum_id for each in acta(grown)} == {f"codex/{TALK[0]['payload']['id']}"}


def test_checkpoints_stand_often_and_each_can_be_gone_on_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reader, "CHECKPOINT_RECORDS", 2)
    path = write(tmp_path / "r.jsonl", TALK)
    items = read(path)
    whole = keys(items)
    assert len([each for each in items if isinstance(each, Checkpoint)]) >= 8
    for index, each in enumerate(items):
        if isinstance(each, Checkpoint):
            assert isinstance(each.state, RolloutState)
            rest = keys(read(path, stored(each.state)))
            done = keys(items[:index])
            assert [*done, *(key for key in rest if key not in done)] == whole


def test_a_file_settles_with_time(tmp_path: Path) -> None:
    path = write(tmp_path / "r.jsonl", TALK)
    os.utime(path, (1_000_000, 1_000_000))
    assert not has_settled(path, 1_000_005)
    assert not has_settled(path, 999_999)
    assert has_settled(path, 1_000_010)
    assert has_settled(path, 900_000)
