"""What a screen asks about entries besides pages of them: places, counts, pairs, what was taken back."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.workspace.workspace_cases import START, actum, begin, opened, unit
from workbench.log.streams import session_stream
from workbench.sessions.errors import ChronicumNotFound
from workbench.workspace.readers.rewinds import Stretch, rolled_back, stretches


def test_entries_are_found_by_their_seqs(tmp_path: Path) -> None:
    with opened(tmp_path / "log.db") as (log, readers):
        begin(log, "s")
        log.append(
            session_stream("s"), [actum("s", content="one"), actum("s", content="two"), unit("s", "day")]
        )
        found = readers.entries.at("s", [4, 2, 2, 1, 99])
        assert [(row.seq, row.content or row.actor) for row in found] == [(2, "one"), (4, "day")]
        assert readers.entries.at("s", []) == []


def test_a_long_entry_is_found_clipped(tmp_path: Path) -> None:
    with opened(tmp_path / "log.db") as (log, readers):
        begin(log, "s")
        log.append(session_stream("s"), [actum("s", content="x" * 100_000)])
        [row] = readers.entries.at("s", [2])
        assert row.content_chars == 100_000
        assert len(row.content) < 100_000


def test_the_call_of_a_sub_agent_is_found(tmp_path: Path) -> None:
    with opened(tmp_path / "log.db") as (log, readers):
        begin(log, "s")
        log.append(
            session_stream("s"),
            [actum("s", "tool_request", "agent", call_id="c1"), actum("s", "message", "agent", parent="c1")],
        )
        assert readers.entries.spawner("s", "c1") == 2
        assert readers.entries.spawner("s", "other") is None


def test_entries_are_counted_by_kind_and_actor(tmp_path: Path) -> None:
    with opened(tmp_path / "log.db") as (log, readers):
        begin(log, "s")
        log.append(
            session_stream("s"),
            [
                actum("s"),
                actum("s", "message", "agent", private=True),
                actum("s", "thought", "agent"),
                unit("s", "day"),
            ],
        )
        found = readers.entries.breakdown("s")
        assert found.by_kind == {"message": 2, "thought": 1}
        assert found.by_actor_kind == {"human": 1, "agent": 2}
        assert found.units == 1


def test_calls_with_a_response_are_counted(tmp_path: Path) -> None:
    with opened(tmp_path / "log.db") as (log, readers):
        begin(log, "s")
        log.append(
            session_stream("s"),
            [
                actum("s", "tool_request", "agent", call_id="a"),
                actum("s", "tool_request", "agent", call_id="b"),
                actum("s", "tool_response", "system", call_id="b"),
                actum("s", "tool_response", "system", call_id="b"),
                actum("s", "tool_response", "system", call_id="nobody's"),
            ],
        )
        assert readers.entries.answered("s") == 1


def test_a_second_prompt_in_place_of_another_takes_back_what_lies_between(tmp_path: Path) -> None:
    with opened(tmp_path / "log.db") as (log, readers):
        begin(log, "s")
        log.append(
            session_stream("s"),
            [
                actum("s", occurred_at=START, uuid="u1"),
                actum("s", "message", "agent", uuid="u2", parent_uuid="u1"),
                actum("s", occurred_at=START, uuid="u3", parent_uuid="u2"),
                actum("s", "message", "agent", uuid="u4", parent_uuid="u3"),
                actum("s", occurred_at=START + timedelta(minutes=1), uuid="u5", parent_uuid="u2"),
                actum("s", "message", "agent", uuid="u6", parent_uuid="u5"),
            ],
        )
        assert readers.entries.rewound("s") == [Stretch(4, 5)]
        assert readers.entries.rewound("s", lambda: True) == []


def test_one_prompt_recorded_twice_takes_nothing_back() -> None:
    assert stretches([(2, "u1", 5), (9, "u1", 5)]) == []
    assert stretches([(2, None, 5), (9, None, 7), (12, "", 8)]) == []


def test_a_third_prompt_takes_back_the_second() -> None:
    assert stretches([(2, "u", 1), (5, "u", 2), (9, "u", 3)]) == [Stretch(2, 4), Stretch(5, 8)]


@given(st.lists(st.tuples(st.sampled_from(["a", "b", None]), st.integers(0, 3)), max_size=12))
def test_stretches_begin_at_prompts_and_end_before_others(prompts: list[tuple[str | None, int]]) -> None:
    numbered = [(seq * 3 + 2, parent, time) for seq, (parent, time) in enumerate(prompts)]
    seqs = {seq for seq, parent, _ in numbered if parent}
    for first, last, _ in stretches(numbered):
        assert first in seqs
        assert last + 1 in seqs
        assert first <= last


def test_a_missing_session_is_said_so(tmp_path: Path) -> None:
    with opened(tmp_path / "log.db") as (_, readers):
        for ask in (readers.entries.breakdown, readers.entries.answered, readers.entries.rewound):
            with pytest.raises(ChronicumNotFound):
                ask("nobody")
        with pytest.raises(ChronicumNotFound):
            readers.entries.at("nobody", [1])
        with pytest.raises(ChronicumNotFound):
            readers.entries.spawner("nobody", "c")


def test_acts_are_numbered_without_what_is_no_act(tmp_path: Path) -> None:
    with opened(tmp_path / "log.db") as (log, readers):
        begin(log, "s", title="described")
        log.append(
            session_stream("s"),
            [actum("s"), actum("s", private=True), unit("s", "day"), actum("s", "thought")],
        )
        numbers = readers.entries.act_numbers("s", [1, 2, 3, 4, 5, 6])
        assert numbers == {1: 0, 2: 0, 3: 1, 4: 2, 5: 2, 6: 3}
        assert readers.entries.act_numbers("s", [5]) == {5: 2}
        assert readers.entries.act_numbers("s", []) == {}
        assert [readers.entries.seq_of_act("s", act) for act in range(5)] == [None, 3, 4, 6, None]


def test_rollbacks_take_whole_turns_that_are_still_there() -> None:
    entries = [
        (2, "t1", None, None),
        (4, "t2", None, None),
        (5, "t2", None, None),
        (7, None, "rollback", "1 turn"),
        (8, "t3", None, None),
        (9, None, "compaction", "1 turn"),
        (10, None, "rollback", "2 turns"),
        (11, None, "rollback", "1,000 turns"),
        (12, None, "rollback", None),
        (13, None, "rollback", "-1 turns"),
    ]
    assert rolled_back(entries) == [Stretch(4, 6, True), Stretch(2, 9, True)]
