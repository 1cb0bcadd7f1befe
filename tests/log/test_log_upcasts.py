"""Old payload shapes, brought forward step by step and never rewritten."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.log.log_cases import found
from tests.log.projection_cases import (
    NOTED,
    NOTED_THRICE,
    NOTED_TWICE,
    A,
    Noted,
    NotedThrice,
    NotedTwice,
    note_steps,
    open_log,
    reader_of,
    split_line,
)
from workbench.log import FullTextFold
from workbench.log.errors import DuplicateEventType, InvalidPayload
from workbench.log.upcasts import EventKey, UpcastGap, UpcastRegistry
from workbench.storage import fetch

KEY = EventKey("test", "noted", 1)
ALL = (NOTED, NOTED_TWICE, NOTED_THRICE)


def _write(path: Path, *lines: str) -> None:
    """A file of a release that knew only the first shape."""
    with open_log(path, types=[NOTED], folds=[FullTextFold()]) as log:
        log.append(A, [Noted(line=line) for line in lines])


def test_invariant_16_a_missing_step_is_an_upcast_gap_on_read(tmp_path: Path) -> None:
    _write(tmp_path / "log.db", "milk and bread")
    with open_log(tmp_path / "log.db", types=[NOTED, NOTED_TWICE], folds=[FullTextFold()]) as log:
        with pytest.raises(UpcastGap, match="from version 1 to 2"):
            list(reader_of(log, types=[NOTED, NOTED_TWICE]).read_raw())
        assert [event.payload for event in log.read()] == [{"line": "milk and bread"}]


def test_invariant_17_a_step_changes_what_is_read_and_not_what_is_stored(tmp_path: Path) -> None:
    _write(tmp_path / "log.db", "milk and bread")
    with open_log(tmp_path / "log.db", types=ALL, folds=[FullTextFold()]) as log:
        [(event, payload)] = reader_of(log, upcasts=note_steps(), types=ALL).read()
        assert event.payload == {"title": "milk", "rest": "and bread", "length": 13}
        assert event.envelope.schema_version == 3
        assert payload == NotedThrice(title="milk", rest="and bread", length=13)
        with log.reader() as connection:
            assert fetch.rows(connection, "SELECT schema_version, payload FROM events") == [
                (1, '{"line":"milk and bread"}')
            ]


def test_invariant_18_a_second_step_from_one_version_is_refused() -> None:
    upcasts = note_steps()
    with pytest.raises(DuplicateEventType):
        upcasts.register("test", "noted", 1, split_line)
    with pytest.raises(DuplicateEventType):
        upcasts.upcast("test", "noted", 2)(split_line)
    with pytest.raises(ValueError, match="from 1"):
        upcasts.register("test", "noted", 0, split_line)
    upcasts.register("other", "noted", 1, split_line)


def test_the_decorator_registers_and_leaves_the_function_as_it_is() -> None:
    upcasts = UpcastRegistry()

    @upcasts.upcast("test", "noted", 1)
    def step(payload: dict[str, Any]) -> dict[str, Any]:
        return payload | {"more": 1}

    assert step({}) == {"more": 1}
    assert upcasts.apply(KEY, {}, target_version=2) == (2, {"more": 1})


@given(version=st.integers(1, 6), target=st.integers(1, 6), missing=st.none() | st.integers(1, 5))
def test_apply_takes_every_step_once_and_in_order(version: int, target: int, missing: int | None) -> None:
    upcasts = UpcastRegistry()
    for start in range(1, 6):
        if start != missing:

            def step(payload: dict[str, Any], start: int = start) -> dict[str, Any]:
                payload["steps"].append(start)
                return payload

            upcasts.register("test", "noted", start, step)
    given_payload: dict[str, Any] = {"steps": []}
    key = KEY._replace(schema_version=version)
    if missing is not None and version <= missing < target:
        with pytest.raises(UpcastGap):
            upcasts.apply(key, given_payload, target_version=target)
    else:
        reached, payload = upcasts.apply(key, given_payload, target_version=target)
        assert reached == max(version, target)
        assert payload == {"steps": list(range(version, target))}
    assert given_payload == {"steps": []}


def test_inline_folds_see_the_newest_shape_now_and_later(tmp_path: Path) -> None:
    """An old shape that is appended, and one that is folded again, give the same rows."""
    path = tmp_path / "log.db"
    with open_log(path, types=ALL, folds=[FullTextFold()], upcasts=note_steps()) as log:
        log.append(
            A, [Noted(line="milk bread"), NotedTwice(title="salt", rest="oil"), Noted(line="milk tea")]
        )
        assert [found(log, word) for word in ("milk", "bread", "oil")] == [[1, 3], [1], [2]]
        with log.reader() as connection:
            sql = "SELECT rowid FROM fulltext WHERE fulltext MATCH 'title:milk' ORDER BY rowid"
            assert fetch.rows(connection, sql) == [(1,), (3,)]
        with log.database.transaction() as connection:
            connection.execute("DELETE FROM fulltext")
            connection.execute("UPDATE folds SET position = 0")
        log.append(A, [])
        with log.reader() as connection:
            assert fetch.rows(connection, sql) == [(1,), (3,)]
            stored = fetch.rows(connection, "SELECT schema_version, payload FROM events ORDER BY position")
    assert stored == [
        (1, '{"line":"milk bread"}'),
        (2, '{"rest":"oil","title":"salt"}'),
        (1, '{"line":"milk tea"}'),
    ]


def test_an_old_shape_that_nothing_brings_forward_cannot_be_appended(tmp_path: Path) -> None:
    with open_log(tmp_path / "log.db", types=ALL, folds=[FullTextFold()]) as log:
        with pytest.raises(UpcastGap):
            log.append(A, [NotedThrice(title="a", rest="b", length=2), Noted(line="x")])
        assert log.last_position() == 0
        assert log.append(A, [NotedThrice(title="a", rest="b", length=2)]).last_position == 1


def test_a_step_that_makes_something_else_is_named(tmp_path: Path) -> None:
    _write(tmp_path / "log.db", "milk")
    upcasts = UpcastRegistry()
    upcasts.register("test", "noted", 1, lambda payload: {"title": 3, "rest": ""})
    types = [NOTED, NOTED_TWICE]
    with open_log(tmp_path / "log.db", types=types, folds=[FullTextFold()]) as log:
        reader = reader_of(log, upcasts=upcasts, types=types)
        assert [event.payload for event in reader.read_raw()] == [{"title": 3, "rest": ""}]
        with pytest.raises(InvalidPayload, match="noted"):
            list(reader.read())
