"""Hostile and damaged files: every line has an outcome, nothing is raised."""

from __future__ import annotations

import json
import tracemalloc
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.imports.claude_code_records import SESSION, acta, answer, assistant, call, read, text, user
from tests.thorough import examples
from workbench.imports.claude_code import read_transcript
from workbench.imports.transcript.items import (
    ActumItem,
    Checkpoint,
    Ignored,
    Item,
    Problem,
    Repaired,
    UnitClosedItem,
)

GOOD = json.dumps(user(0, "fine")).encode()


def read_bytes(folder: Path, data: bytes) -> list[Item]:
    path = folder / f"{SESSION}.jsonl"
    path.write_bytes(data)
    return read(path)


def problems(items: list[Item]) -> list[tuple[int, str]]:
    return [(item.line, item.reason) for item in items if isinstance(item, Problem)]


def repairs(items: list[Item]) -> dict[str, int]:
    return {item.kind: item.count for item in items if isinstance(item, Repaired)}


def nested(depth: int) -> str:
    return "[" * depth + "]" * depth


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b"// a comment", "not JSON"),
        (b'{"type": "user"', "not JSON"),
        (b"{} {}", "not JSON"),
        (b"\0\0\0\0", "not JSON"),
        (b"42", "not an object"),
        (b'"text"', "not an object"),
        (b"[1]", "not an object"),
        (b"null", "not an object"),
        (b"1e999", "not an object"),
        (b'{"type": "user", "message": {"content": "\xff\xfe"}}', "not UTF-8"),
        (b'{"skipped": "\xff"}', "not UTF-8"),
        (b"\xff\xfe{\x00}\x00", "not UTF-8"),
        (nested(100_000).encode(), "too deep"),
        (b'{"skipped": ' + nested(100_000).encode() + b"}", "too deep"),
    ],
)
def test_a_line_that_cannot_be_read_is_named_and_the_others_go_on(
    tmp_path: Path, line: bytes, reason: str
) -> None:
    items = read_bytes(tmp_path, line + b"\n" + GOOD + b"\n")
    assert problems(items) == [(1, reason)]
    assert [actum.content for actum in acta(items)] == ["fine"]


@pytest.mark.parametrize("depth", [101, 300, 5000])
def test_what_is_nested_too_deep_where_it_would_be_kept_is_a_problem(tmp_path: Path, depth: int) -> None:
    deep = "{" + '"a":{' * depth + "}" * depth + "}"
    request = json.dumps(assistant(1, [call("t", "X", given="DEEP")])).replace('"DEEP"', deep)
    result = json.dumps(user(2, [answer("t", "x")], toolUseResult="DEEP")).replace('"DEEP"', deep)
    items = read_bytes(tmp_path, f"{request}\n{result}\n".encode() + GOOD + b"\n")
    assert problems(items) == [(1, "too deep"), (2, "too deep")]
    assert len(acta(items)) == 1


def test_depth_within_the_bound_is_kept(tmp_path: Path) -> None:
    value: Any = "x"
    for _ in range(98):
        value = {"a": value}
    items = read_bytes(tmp_path, json.dumps(assistant(1, [call("t", "X", given=value)])).encode() + b"\n")
    assert json.loads(acta(items)[0].content) == {"given": value}


def test_blank_lines_and_line_ends_of_any_kind_are_read(tmp_path: Path) -> None:
    data = b"\xef\xbb\xbf" + GOOD + b"\r\n\r\n \n" + json.dumps(user(1, "two")).encode() + b"\r\n"
    items = read_bytes(tmp_path, data)
    assert [actum.content for actum in acta(items)] == ["fine", "two"]
    assert not problems(items)


def test_runs_of_nul_beside_a_record_are_passed_over(tmp_path: Path) -> None:
    items = read_bytes(tmp_path, b"\0" * 500 + GOOD + b"\0\0\n")
    assert [actum.content for actum in acta(items)] == ["fine"]
    assert repairs(items) == {"padding": 1}


def test_nul_and_control_characters_in_a_text_stay(tmp_path: Path) -> None:
    escaped = json.dumps(user(1, "a\0b\x1b[31m")).encode()
    raw = json.dumps(user(2, "a@b")).encode().replace(b"@", b"\0\t")
    items = read_bytes(tmp_path, escaped + b"\n" + raw + b"\n")
    assert [actum.content for actum in acta(items)] == ["a\0b\x1b[31m", "a\0\tb"]
    assert repairs(items) == {"control character": 1}


def test_a_lone_surrogate_is_replaced_and_counted(tmp_path: Path) -> None:
    record = user(1, "@ and ^").copy()
    data = json.dumps(record).replace("@", "\\ud800x\\udc00").replace("^", "\\ud83d\\ude00").encode()
    items = read_bytes(tmp_path, data + b"\n")
    assert acta(items)[0].content == "\ufffdx\ufffd and 😀"
    assert repairs(items) == {"lone surrogate": 2}


@pytest.mark.parametrize("literal", ["1e999", "-1e999", "NaN", "Infinity", "9" * 400, "9" * 6000])
def test_a_number_no_float_can_hold_becomes_its_text(tmp_path: Path, literal: str) -> None:
    data = json.dumps(assistant(1, [call("t", "X", n="@")])).replace('"@"', literal).encode()
    items = read_bytes(tmp_path, data + b"\n")
    content = acta(items)[0].content
    if len(literal) == 400:
        assert json.loads(content)["n"] in (literal, int(literal))
    else:
        assert content == f'{{"n":"{literal}"}}'
        assert repairs(items) == {"number out of range": 1}


def test_a_number_out_of_range_in_a_result_becomes_its_text(tmp_path: Path) -> None:
    record = user(1, [answer("t", "x")], toolUseResult={"n": "@", "s": "^"})
    data = json.dumps(record).replace('"@"', "1e999").encode()
    items = read_bytes(tmp_path, data + b"\n")
    assert acta(items)[0].metadata["result"] == {"n": "1e999", "s": "^"}
    assert repairs(items) == {"number out of range": 1}


def test_of_repeated_keys_the_last_counts(tmp_path: Path) -> None:
    data = GOOD.replace(b'"uuid": "u0"', b'"uuid": "first", "uuid": "last"')
    assert acta(read_bytes(tmp_path, data + b"\n"))[0].record_key == "claude-code:last"


def test_a_half_written_last_line_waits(tmp_path: Path) -> None:
    items = read_bytes(tmp_path, GOOD + b"\n" + GOOD[:40])
    last = items[-1]
    assert isinstance(last, Checkpoint)
    assert (last.partial, last.state.offset, last.state.line) == (40, len(GOOD) + 1, 1)
    assert not problems(items)


def test_a_whole_last_record_without_a_line_feed_is_read_once(tmp_path: Path) -> None:
    path = tmp_path / f"{SESSION}.jsonl"
    path.write_bytes(GOOD)
    first = read(path)
    assert len(acta(first)) == 1
    last = first[-1]
    assert isinstance(last, Checkpoint)
    path.write_bytes(GOOD + b"\nnonsense\n" + json.dumps(user(1, "two")).encode() + b"\n")
    second = read(path, last.state)
    assert [actum.content for actum in acta(second)] == ["two"]
    assert problems(second) == [(2, "not JSON")]


def test_a_line_of_fifty_megabytes_is_read(tmp_path: Path) -> None:
    long = "x" * (50 * 1024 * 1024)
    items = read_bytes(tmp_path, json.dumps(user(0, long)).encode() + b"\n" + GOOD + b"\n")
    assert [len(actum.content) for actum in acta(items)] == [len(long), 4]


def test_a_line_over_the_bound_is_a_problem(tmp_path: Path) -> None:
    path = tmp_path / f"{SESSION}.jsonl"
    path.write_bytes(json.dumps(user(0, "x" * 5000)).encode() + b"\n" + GOOD + b"\n")
    items = list(read_transcript(path, owner="ada", max_line=2000))
    assert problems(items) == [(1, "line too long")]
    assert len(acta(items)) == 1


def test_repeated_ids_and_circles_of_parents_are_only_told(tmp_path: Path) -> None:
    records = [
        user(1, "a", parentUuid="u2", isSidechain=True),
        user(2, "b", parentUuid="u1", isSidechain=True),
        user(2, "b", parentUuid="u2", isSidechain=True),
    ]
    items = read_bytes(tmp_path, b"".join(json.dumps(record).encode() + b"\n" for record in records))
    assert [actum.record_key for actum in acta(items)] == [f"claude-code:u{n}" for n in (1, 2, 2)]


@pytest.mark.parametrize(
    ("claimed", "read_as"),
    [
        ("1970-01-01T00:00:00.000Z", datetime(1970, 1, 1, tzinfo=UTC)),
        ("2100-12-31T23:59:59.999Z", datetime(2100, 12, 31, 23, 59, 59, 999000, UTC)),
        ("2026-01-01T02:00:00+02:00", datetime(2026, 1, 1, tzinfo=UTC)),
        ("2026-01-01T00:00:00", datetime(2026, 1, 1, tzinfo=UTC)),
        ("0001-01-01T00:00:00+14:00", None),
        ("9999-12-31T23:59:59-14:00", None),
        ("yesterday", None),
        (1767225600, None),
        (None, None),
    ],
)
def test_claimed_times(tmp_path: Path, claimed: Any, read_as: datetime | None) -> None:
    items = read_bytes(tmp_path, json.dumps(user(0, "x", timestamp=claimed)).encode() + b"\n")
    assert acta(items)[0].occurred_at == read_as


def test_memory_does_not_grow_with_the_file(tmp_path: Path) -> None:
    def peak(records: int) -> int:
        path = tmp_path / "long.jsonl"
        with path.open("wb") as file:
            for number in range(records):
                record = assistant(number, [text("x" * 1500)], usage={"output_tokens": 1})
                file.write(json.dumps(record).encode() + b"\n")
        tracemalloc.start()
        count = sum(1 for _ in read_transcript(path, owner="ada"))
        used = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert count > records
        return used

    assert peak(6000) < 1.25 * peak(1500)


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text(max_size=8)
    | st.sampled_from(["user", "assistant", "text", "tool_use", "tool_result", "image", "thinking", "u1"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=12,
)
BLOCK = st.fixed_dictionaries(
    {
        "type": st.sampled_from(
            [
                "text",
                "tool_use",
                "server_tool_use",
                "tool_result",
                "image",
                "document",
                "thinking",
                "redacted_thinking",
            ]
        )
        | JSON
    },
    optional=dict.fromkeys(
        ["text", "thinking", "id", "name", "input", "tool_use_id", "content", "is_error", "source"], JSON
    ),
)
CONTENT = st.lists(BLOCK | JSON, max_size=4) | JSON
RECORD = st.fixed_dictionaries(
    {"type": st.sampled_from(["user", "assistant", "system", "attachment", "progress", "ai-title"]) | JSON},
    optional={
        **dict.fromkeys(
            [
                "uuid",
                "parentUuid",
                "sessionId",
                "timestamp",
                "cwd",
                "gitBranch",
                "version",
                "isSidechain",
                "agentId",
                "isMeta",
                "isCompactSummary",
                "requestId",
                "forkedFrom",
                "toolUseResult",
                "content",
                "compactMetadata",
                "customTitle",
                "aiTitle",
            ],
            JSON,
        ),
        "subtype": st.just("compact_boundary") | JSON,
        "message": JSON
        | st.fixed_dictionaries({}, optional={"id": JSON, "model": JSON, "content": CONTENT, "usage": JSON}),
        "attachment": JSON
        | st.fixed_dictionaries({"type": st.just("queued_command")}, optional={"prompt": CONTENT}),
    },
)


@settings(max_examples=examples(300), deadline=None)
@given(st.lists(RECORD, max_size=6))
def test_fields_of_any_type_never_raise_and_every_item_can_be_stored(
    tmp_path_factory: pytest.TempPathFactory, records: list[Any]
) -> None:
    path = tmp_path_factory.getbasetemp() / "any.jsonl"
    path.write_bytes(b"".join(json.dumps(record).encode() + b"\n" for record in records))
    items = read(path)
    outcomes = set()
    for item in items:
        if isinstance(item, ActumItem):
            outcomes.add(item.line)
            assert item.actor
            assert item.content or item.kind in ("tool_request", "tool_response")
            assert len(item.source_key) < 500
            item.content.encode()
            json.dumps(item.metadata, allow_nan=False).encode()
            assert all(value not in ("", None, [], {}) for value in item.metadata.values())
        elif isinstance(item, (Ignored, UnitClosedItem, Problem)):
            outcomes.add(item.line)
    assert outcomes == set(range(1, len(records) + 1))


@settings(max_examples=examples(200), deadline=None)
@given(st.binary(max_size=200) | st.text(max_size=100).map(str.encode))
def test_bytes_of_any_kind_never_raise(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    path = tmp_path_factory.getbasetemp() / "bytes.jsonl"
    path.write_bytes(data)
    assert isinstance(read(path)[-1], Checkpoint)
