"""Token counts stand once per API message, on its last actum."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tests.imports.claude_code_records import (
    SESSION,
    acta,
    answer,
    assistant,
    call,
    lines,
    read,
    text,
    user,
    write,
)
from workbench.imports.claude_code.usage import MAX_HELD_RECORDS
from workbench.imports.transcript.items import ActumItem, Checkpoint


def counted(items: list[ActumItem]) -> list[tuple[str, int]]:
    return [
        (actum.source_key, actum.metadata["usage"]["output_tokens"])
        for actum in items
        if "usage" in actum.metadata
    ]


def part(number: int, message_id: str, tokens: int, content: Any = None) -> dict[str, Any]:
    usage = {"input_tokens": 9, "output_tokens": tokens, "service_tier": "standard"}
    return assistant(number, content or [text(f"part {number}")], message_id=message_id, usage=usage)


def test_counts_stand_once_on_the_last_actum_with_the_last_value(tmp_path: Path) -> None:
    path = write(
        tmp_path / "s.jsonl",
        [
            user(0, "go"),
            part(1, "m1", 3),
            part(2, "m1", 3, [call("t1", "Read")]),
            user(3, [answer("t1", "x")]),
            part(4, "m1", 97, [call("t2", "Read")]),
            user(5, [answer("t2", "y")]),
            part(6, "m2", 8),
        ],
    )
    found = acta(read(path))
    assert counted(found) == [("claude-code:u4:0", 97), ("claude-code:u6:0", 8)]
    assert found[4].metadata["usage"] == {"input_tokens": 9, "output_tokens": 97}
    assert [actum.line for actum in found] == [1, 2, 3, 4, 5, 6, 7]


def test_messages_of_parallel_sidechains_do_not_end_each_other(tmp_path: Path) -> None:
    records = [part(1, "m1", 1), part(2, "s1", 2), part(3, "m1", 5), part(4, "s1", 6)]
    for record in (records[1], records[3]):
        record["isSidechain"] = True
    found = acta(read(write(tmp_path / "s.jsonl", records)))
    assert counted(found) == [("claude-code:u3:0", 5), ("claude-code:u4:0", 6)]
    assert [actum.line for actum in found] == [1, 2, 3, 4]


def test_a_repeated_line_does_not_take_the_counts_away(tmp_path: Path) -> None:
    records = [part(1, "m1", 1), part(2, "m1", 5), part(1, "m1", 1)]
    found = acta(read(write(tmp_path / "s.jsonl", records)))
    assert [(actum.line, "usage" in actum.metadata) for actum in found] == [(1, False), (2, True), (3, False)]


def test_what_is_held_back_is_bounded(tmp_path: Path) -> None:
    many = [user(number, "x") for number in range(2, MAX_HELD_RECORDS * 3)]
    path = write(tmp_path / "s.jsonl", [part(1, "m1", 1), *many, part(9999, "m1", 5)])
    found = acta(read(path))
    # The second line of the message comes too late: it carries what came on top.
    assert counted(found) == [("claude-code:u1:0", 1), ("claude-code:u9999:0", 4)]


def test_a_growing_message_waits_until_the_file_has_settled(tmp_path: Path) -> None:
    path = write(tmp_path / f"{SESSION}.jsonl", [user(0, "go"), part(1, "m1", 3), part(2, "m1", 3)])
    items = read(path, settled=False)
    last = items[-1]
    assert isinstance(last, Checkpoint)
    assert [actum.line for actum in acta(items)] == [1, 2]
    assert (last.waiting, last.state.line) == (1, 2)
    with path.open("ab") as file:
        file.write(lines([part(3, "m1", 97)]))
    assert counted(acta(read(path, last.state))) == [("claude-code:u3:0", 97)]


@given(
    st.lists(st.tuples(st.sampled_from("ab"), st.integers(0, 50), st.booleans()), max_size=12),
    st.sets(st.integers(0, 12)),
)
def test_the_sum_over_a_messages_acta_is_its_largest_count_wherever_the_file_was_cut(
    tmp_path_factory: Any, parts: list[tuple[str, int, bool]], cuts: set[int]
) -> None:
    """Also where imports took a message for complete that was not. Counts of a message never shrink."""
    path = tmp_path_factory.mktemp("usage") / "s.jsonl"
    path.write_bytes(b"")
    largest: dict[str, int] = {}
    sums: dict[str, int] = {}
    state = None

    def take() -> None:
        nonlocal state
        items = read(path, state)
        assert isinstance(items[-1], Checkpoint)
        state = items[-1].state
        for actum in acta(items):
            tokens = actum.metadata.get("usage", {}).get("output_tokens", 0)
            message_id = actum.metadata["message_id"]
            sums[message_id] = sums.get(message_id, 0) + tokens

    for number, (message_id, tokens, _) in enumerate(parts):
        largest[message_id] = max(largest.get(message_id, 0), tokens)
        with path.open("ab") as file:
            file.write(lines([part(number, message_id, largest[message_id])]))
        if number in cuts:
            take()
    take()
    assert sums == largest
