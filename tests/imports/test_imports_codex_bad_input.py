"""Hostile and damaged rollouts: every line has an outcome, nothing is raised."""

from __future__ import annotations

import json
import tempfile
import tracemalloc
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.imports.codex_records import (
    OWNER,
    SESSION,
    acta,
    call,
    event,
    ignored,
    lines,
    meta,
    output,
    read,
    read_records,
    said,
    state_of,
    turn,
    write,
)
from tests.thorough import examples
from workbench.imports.codex import discover, read_rollout
from workbench.imports.codex.records import EVENT_TYPES, ITEM_TYPES, RECORD_TYPES
from workbench.imports.codex.twins import MAX_HELD_BYTES
from workbench.imports.transcript.items import Checkpoint, Item, Problem, Repaired

BEGAN = datetime(2026, 3, 4, 0, 0, 0, 7000, UTC)
"""Of the description of the session."""
GOOD = json.dumps(said("user", "fine")).encode()


def read_bytes(folder: Path, data: bytes) -> list[Item]:
    path = folder / "r.jsonl"
    path.write_bytes(data)
    return read(path)


def problems(items: list[Item]) -> list[tuple[int, str]]:
    return [(item.line, item.reason) for item in items if isinstance(item, Problem)]


def repairs(items: list[Item]) -> dict[str, int]:
    return {item.kind: item.count for item in items if isinstance(item, Repaired)}


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b"// a comment", "not JSON"),
        (b'{"type": "event_msg"', "not JSON"),
        (b"{} {}", "not JSON"),
        (b"\0\0\0", "not JSON"),
        (b"42", "not an object"),
        (b"[1]", "not an object"),
        (b"null", "not an object"),
        (b'{"type": "compacted", "payload": {"message": "\xff"}}', "not UTF-8"),
        (b'{"skipped": "\xff"}', "not UTF-8"),
        (b"[" * 100_000 + b"]" * 100_000, "too deep"),
        (b'{"skipped": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", "too deep"),
    ],
)
def test_a_line_that_cannot_be_read_is_named_and_the_others_go_on(
    tmp_path: Path, line: bytes, reason: str
) -> None:
    items = read_bytes(tmp_path, line + b"\n" + GOOD + b"\n")
    assert problems(items) == [(1, reason)]
    assert [actum.content for actum in acta(items)] == ["fine"]


def test_what_is_nested_too_deep_where_it_would_be_kept_is_a_problem(tmp_path: Path) -> None:
    deep: Any = "x"
    for _ in range(150):
        deep = {"a": deep}
    items = read_records(
        tmp_path, [meta(), call("c", arguments=deep), output("c", {"x": deep}), said("user", "a")]
    )
    assert problems(items) == [(2, "too deep"), (3, "too deep")]
    assert len(acta(items)) == 1


def test_a_line_over_the_bound_is_passed_over(tmp_path: Path) -> None:
    path = write(tmp_path / "r.jsonl", [meta(), said("user", "x" * 5000), said("user", "fine")])
    items = list(read_rollout(path, owner=OWNER, max_line=2000))
    assert problems(items) == [(2, "line too long")]
    assert [actum.content for actum in acta(items)] == ["fine"]


def test_padding_surrogates_control_characters_and_numbers_are_mended_and_counted(tmp_path: Path) -> None:
    surrogate = json.dumps(said("user", "@")).replace("@", "\\ud800x").encode()
    control = json.dumps(said("user", "a@b")).encode().replace(b"@", b"\0\t")
    number = json.dumps(call("c", arguments={"n": 1})).replace('"n": 1', '"n": 1e999').encode()
    data = b"\n".join([b"\xef\xbb\xbf" + GOOD + b"\0\0", surrogate, control, number, b" ", b"\r"])
    items = read_bytes(tmp_path, data + b"\n")
    assert [actum.content for actum in acta(items)] == ["fine", "\ufffdx", "a\0\tb", '{"n":"1e999"}']
    assert repairs(items) == {
        "padding": 1,
        "lone surrogate": 1,
        "control character": 1,
        "number out of range": 1,
    }
    assert not problems(items)


@pytest.mark.parametrize(
    ("stamp", "expected"),
    [
        ("1970-01-01T00:00:00Z", datetime(1970, 1, 1, tzinfo=UTC)),
        ("2100-12-31T23:59:59.999+02:00", datetime(2100, 12, 31, 21, 59, 59, 999000, UTC)),
        ("yesterday", BEGAN),
        (17, BEGAN),
        ("0001-01-01T00:00:00+14:00", BEGAN),
    ],
)
def test_times_are_kept_as_claimed_or_taken_from_the_record_before(
    tmp_path: Path, stamp: Any, expected: datetime
) -> None:
    items = read_records(tmp_path, [meta(), said("user", "a") | {"timestamp": stamp}])
    assert acta(items)[0].occurred_at == expected


def test_hostile_text_is_kept_as_it_is(tmp_path: Path) -> None:
    text = "\x1b]52;c;x\x07[bold]a[/x]\u202e<script>\u200b"
    records = [
        meta(cwd=text),
        turn(text[:20], cwd=text),
        said("assistant", text),
        event("agent_message", message=text),
    ]
    items = read_records(tmp_path, records)
    assert [actum.content for actum in acta(items)] == [text]


_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=8,
)
_FIELDS = (
    "id timestamp cwd git source cli_version forked_from_id turn_id model turn_context message text "
    "images phase role content summary encrypted_content name arguments input action call_id status "
    "output tools success num_turns thread_name replacement_history author"
).split()
_payloads = st.dictionaries(st.sampled_from(_FIELDS), _json, max_size=5)
_blocks: st.SearchStrategy[list[dict[str, Any]]] = st.lists(
    st.fixed_dictionaries(
        {"type": st.sampled_from(["input_text", "output_text", "input_image", "other", 3, [], None])},
        optional={"text": _json, "image_url": _json},
    ),
    max_size=3,
)


@st.composite
def _records(draw: st.DrawFn) -> dict[str, Any]:
    payload = draw(_payloads)
    if draw(st.booleans()):
        payload[draw(st.sampled_from(["content", "summary", "output"]))] = draw(_blocks)
    kind = draw(st.sampled_from([*sorted(RECORD_TYPES), "odd", None, 7]))
    if draw(st.integers(0, 9)):
        payload["type"] = draw(st.sampled_from(sorted(ITEM_TYPES | EVENT_TYPES)))
    if draw(st.booleans()):
        payload["role"] = draw(st.sampled_from(["user", "assistant", "developer"]))
    if not draw(st.integers(0, 4)):
        return payload
    return {
        "type": kind,
        "timestamp": draw(_json),
        "payload": payload if draw(st.integers(0, 9)) else draw(_json),
    }


@given(st.lists(_records(), max_size=12), st.booleans(), st.integers(0, 40))
@settings(deadline=None, max_examples=examples(150))
def test_records_of_any_shape_raise_nothing_and_no_name_comes_twice(
    records: list[dict[str, Any]], settled: bool, cut: int
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "r.jsonl"
        data = lines(records)
        path.write_bytes(data[: len(data) - cut])
        items = read(path, settled=settled)
        discover([path])
        keys = [actum.source_key for actum in acta(items)]
        assert len(keys) == len(set(keys))
        assert all(actum.actor and actum.chronicum_id for actum in acta(items))
        assert isinstance(items[-1], Checkpoint)
        path.write_bytes(data)
        again = [actum.source_key for actum in acta(read(path, state_of(items)))]
        assert len(again) == len(set(again))


@given(st.binary(max_size=300))
@settings(deadline=None)
def test_bytes_of_any_kind_raise_nothing(data: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "r.jsonl"
        path.write_bytes(data)
        discover([path])
        assert isinstance(read(path)[-1], Checkpoint)


def test_memory_does_not_grow_with_the_file_nor_with_a_stretch_that_never_ends(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    filler = lines([call("c"), output("c", "x" * 4000)])
    with path.open("wb") as file:
        file.write(lines([meta(), turn("t"), event("agent_message", message="alone")]))
        for number in range(6000):
            file.write(filler)
            if number % 7 == 0:
                file.write(
                    lines([said("assistant", f"words {number}"), event("agent_reasoning", text=f"r{number}")])
                )
    assert path.stat().st_size > 3 * MAX_HELD_BYTES
    tracemalloc.start()
    count = 0
    state_bytes = 0
    for item in read_rollout(path, owner=OWNER):
        count += 1
        if isinstance(item, Checkpoint):
            state_bytes = max(state_bytes, len(repr(item.state)))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert count > 12_000
    assert peak < 3 * MAX_HELD_BYTES
    assert state_bytes < 256 * 1024


def test_a_session_id_that_is_none_falls_back_to_the_files_name(tmp_path: Path) -> None:
    for given_id in ("", 5, "x" * 500, None):
        items = read_records(tmp_path, [meta(given_id), said("user", "a")])  # type: ignore[arg-type]
        assert acta(items)[0].chronicum_id == f"codex/{SESSION}"
        assert not ignored(items)
