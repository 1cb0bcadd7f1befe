"""A file that grows continues; a file that changed is read again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.imports.claude_code_records import (
    OWNER,
    SESSION,
    answer,
    assistant,
    call,
    envelope,
    lines,
    read,
    text,
    user,
)
from tests.thorough import examples
from workbench.imports.claude_code import ReaderState, read_transcript
from workbench.imports.transcript.items import Checkpoint, DescribeItem, Item, Restarted

RECORDS: list[Any] = [
    {"type": "file-history-snapshot", "snapshot": {}},
    user(0, "Draw the map, <b>please</b>."),
    assistant(1, [{"type": "thinking", "thinking": "Hm."}], message_id="m1", usage={"output_tokens": 1}),
    assistant(
        2, [text("On it."), call("t1", "Task", prompt="Look.")], message_id="m1", usage={"output_tokens": 7}
    ),
    user(3, "Look.", isSidechain=True, parentUuid=None),
    assistant(4, [text("Looked.")], message_id="s1", usage={"output_tokens": 2}, isSidechain=True),
    assistant(5, [text("Twice é.")], message_id="s1", usage={"output_tokens": 4}, isSidechain=True),
    user(6, [answer("t1", "Looked.")], parentUuid="u2", toolUseResult={"ok": True}),
    assistant(7, [text("Drawn.")], message_id="m2", usage={"output_tokens": 3}, cwd="/tmp"),
    envelope("system", 8, subtype="compact_boundary", compactMetadata={"trigger": "manual"}),
    user(9, "So far.", isCompactSummary=True),
    user(10, "no id", uuid=None),
    "not an object",
    user(11, "Elsewhere", sessionId="other"),
    {"type": "ai-title", "aiTitle": "Map", "sessionId": SESSION},
    assistant(12, [text("End.")], message_id="m3", usage={"output_tokens": 9}),
]
DATA = lines(RECORDS)


def told(items: list[Item]) -> tuple[list[Item], dict[str, dict[str, Any]]]:
    """The items without checkpoints, and the descriptions folded."""
    descriptions: dict[str, dict[str, Any]] = {}
    kept: list[Item] = []
    for item in items:
        if isinstance(item, DescribeItem):
            descriptions.setdefault(item.chronicum_id, {}).update(item.fields)
        elif not isinstance(item, Checkpoint):
            kept.append(item)
    return kept, descriptions


def state_of(items: list[Item]) -> ReaderState:
    last = items[-1]
    assert isinstance(last, Checkpoint)
    return msgspec.json.decode(msgspec.json.encode(last.state), type=ReaderState)


@settings(max_examples=examples(150), deadline=None)
@given(st.lists(st.integers(0, len(DATA)), max_size=4).map(sorted))
def test_growth_gives_the_same_items_as_one_pass(
    tmp_path_factory: pytest.TempPathFactory, cuts: list[int]
) -> None:
    path = tmp_path_factory.getbasetemp() / "grow.jsonl"
    path.write_bytes(DATA)
    whole = told(read(path))
    state = None
    items: list[Item] = []
    for cut in cuts:
        path.write_bytes(DATA[:cut])
        part = read(path, state, settled=False)
        state = state_of(part)
        items += part
    path.write_bytes(DATA)
    items += read(path, state)
    assert told(items) == whole


@settings(max_examples=examples(100), deadline=None)
@given(st.integers(0, len(DATA)))
def test_nothing_is_lost_or_doubled_where_a_message_was_taken_for_complete(
    tmp_path_factory: pytest.TempPathFactory, cut: int
) -> None:
    path = tmp_path_factory.getbasetemp() / "settled.jsonl"

    def named(items: list[Item]) -> list[tuple[str, int, str]]:
        return [
            (type(item).__name__, getattr(item, "line", 0), getattr(item, "source_key", ""))
            for item in told(items)[0]
        ]

    path.write_bytes(DATA)
    whole = named(read(path))
    path.write_bytes(DATA[:cut])
    first = read(path)
    path.write_bytes(DATA)
    assert named(first) + named(read(path, state_of(first))) == whole


def test_an_unchanged_file_gives_nothing_new(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(DATA)
    again = read(path, state_of(read(path)))
    assert [type(item) for item in again] == [Checkpoint]


@pytest.mark.parametrize(
    ("data", "reason"),
    [(DATA[:200], "shrank"), (DATA.replace(b"Drawn", b"drawn"), "changed"), (b"", "shrank")],
)
def test_a_file_that_changed_before_the_end_is_read_again(tmp_path: Path, data: bytes, reason: str) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(DATA)
    state = state_of(read(path))
    path.write_bytes(data)
    again = read(path, state)
    assert isinstance(again[0], Restarted)
    assert again[0].reason == reason
    assert told(again[1:]) == told(read(path))


def test_a_checkpoint_stands_every_five_hundred_records_and_resumes_there(tmp_path: Path) -> None:
    path = tmp_path / f"{SESSION}.jsonl"
    path.write_bytes(
        lines(
            assistant(number, [text("x")], message_id=f"m{number // 3}", usage={"output_tokens": number})
            for number in range(1800)
        )
    )
    whole = read(path)
    checkpoints = [item for item in whole if isinstance(item, Checkpoint)]
    assert [point.records for point in checkpoints] == [500, 500, 500, 300]
    for point in checkpoints:
        before = whole[: whole.index(point)]
        after = read(path, point.state)
        assert told(before)[0] + told(after)[0] == told(whole)[0]


def test_the_state_is_bounded(tmp_path: Path) -> None:
    path = tmp_path / f"{SESSION}.jsonl"
    with path.open("wb") as file:
        for number in range(4000):
            file.write(
                lines(
                    [
                        assistant(
                            number,
                            [call(f"call{number}", "Task", prompt=f"p{number}")],
                            usage={"output_tokens": 1},
                            sessionId=f"s{number}",
                            isSidechain=True,
                        )
                    ]
                )
            )
    items = list(read_transcript(path, owner=OWNER))
    assert len(msgspec.json.encode(state_of(items))) < 200_000
