"""Rebuilding inline folds beside a log in use: the same rows as a replay, and nobody waits long."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

import apsw
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.log.log_cases import (
    SAID,
    TYPES,
    Measured,
    TallyFold,
    assert_whole,
    fold_positions,
    found,
    new_log,
    said,
    stream,
)
from tests.log.projection_cases import NOTED, NOTED_TWICE, A, B, Broken, Noted, NotedTwice, open_log
from workbench.log import FOLDS, EventLog
from workbench.log.background_folds import InvalidBatchSize, InvalidFold, OpenTransaction
from workbench.log.errors import FoldSetMismatch, UnknownEventType
from workbench.log.folds import FoldEvent, InlineFold
from workbench.log.inline_rebuild import RebuildSuperseded, rebuild
from workbench.log.leftovers import discard, leftovers
from workbench.log.replay import ReplayCancelled, replay
from workbench.log.upcasts import UpcastGap
from workbench.storage import fetch


class LinesFold:
    """Rows with an index of each kind, a text that is a table's name, and a counter."""

    name = "lines"
    version = 1
    tables = ("lines", "line_counts")
    schema: tuple[str, ...] = (
        "CREATE TABLE lines(position INTEGER PRIMARY KEY, who TEXT NOT NULL, kind TEXT NOT NULL) STRICT",
        "CREATE INDEX lines_by_who ON lines(who, position)",
        "CREATE TABLE line_counts(who TEXT PRIMARY KEY, count INTEGER NOT NULL) STRICT, WITHOUT ROWID",
        "CREATE UNIQUE INDEX line_counts_both ON line_counts(count, who)",
    )
    types: frozenset[str] | None = frozenset({"said"})
    at_commit = False

    def apply(self, connection: apsw.Connection, events: Sequence[FoldEvent]) -> None:
        """Note each event, count it, and look at what was noted before."""
        for event in events:
            who = event.payload.who
            connection.execute("INSERT INTO lines VALUES(?, ?, 'lines')", (event.position, who))
            noted = fetch.value(
                connection, 'SELECT count(*) FROM "lines" INDEXED BY lines_by_who WHERE who = ?', (who,)
            )
            connection.execute("INSERT OR REPLACE INTO line_counts VALUES(?, ?)", (who, noted))
        assert connection.total_changes() > 0


ALL: tuple[InlineFold, ...] = (*FOLDS, TallyFold(), LinesFold())


def fill(log: EventLog, events: int = 60) -> None:
    """Events of two types in two streams."""
    for number in range(events):
        where = (A, B)[number % 3 == 0]
        log.append(
            where,
            [Measured(label="m")] if number % 7 == 3 else [said(f"word{number} common", f"w{number % 4}")],
        )


def dump(connection: apsw.Connection, folds: Sequence[InlineFold]) -> dict[str, object]:
    """Every row of the folds' tables in key order; of full text what its index holds."""
    rows: dict[str, object] = {}
    for fold in folds:
        for table in fold.tables:
            if table == "fulltext":
                continue
            rows[table] = sorted(fetch.rows(connection, f"SELECT * FROM {table}"), key=repr)
    if any("fulltext" in fold.tables for fold in folds):
        connection.execute("CREATE VIRTUAL TABLE temp.words USING fts5vocab('main', 'fulltext', 'instance')")
        rows["fulltext"] = fetch.rows(connection, "SELECT * FROM temp.words ORDER BY 1, 2, 3, 4")
        connection.execute("DROP TABLE temp.words")
    return rows


def layout(path: Path) -> list[tuple[object, ...]]:
    """The file's whole layout, as text."""
    connection = apsw.Connection(str(path))
    try:
        return fetch.rows(connection, "SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY 1, 2")
    finally:
        connection.close()


def assert_equals_replay(log: EventLog, folds: Sequence[InlineFold] = ALL) -> None:
    """What the file holds is what its events give, its structure is sound, and nothing is left over."""
    scratch = apsw.Connection(":memory:")
    replay(log.database, folds, log.decoder, scratch)
    live = apsw.Connection(str(log.path))
    try:
        assert dump(live, folds) == dump(scratch, folds)
        assert fetch.value(live, "PRAGMA integrity_check") == "ok"
        if any("fulltext" in fold.tables for fold in folds):
            live.execute("INSERT INTO fulltext(fulltext) VALUES('integrity-check')")
        assert leftovers(live) == []
    finally:
        live.close()
        scratch.close()


@pytest.mark.parametrize("batch_size", [1, 7, 60, 5000])
def test_a_rebuilt_fold_equals_a_replay(tmp_path: Path, batch_size: int) -> None:
    path = tmp_path / "log.db"
    with new_log(path, folds=ALL) as log:
        fill(log)
        before = layout(path)
        with log.database.transaction() as connection:
            # Whatever was wrong is gone afterwards.
            connection.execute("UPDATE tally SET events = 1000")
            connection.execute("DELETE FROM lines WHERE position % 2")
            connection.execute("DELETE FROM fulltext WHERE rowid > 20")
            connection.execute("UPDATE actors SET events = 0")
        steps: list[tuple[int, int]] = []
        assert rebuild(
            log.database, ALL, log.decoder, batch_size=batch_size, progress=lambda *at: steps.append(at)
        ) == 60  # fmt: skip
        assert steps[-1] == (60, 60)
        assert [position for position, _ in steps] == sorted({position for position, _ in steps})
        assert_equals_replay(log)
        assert_whole(log)
        assert layout(path) == before
        log.append(A, [said("after", "w1")])
        assert found(log, "after") == [61]
        assert_equals_replay(log)
    with new_log(path, folds=ALL) as log:
        assert rebuild(log.database, ALL[:1], log.decoder, batch_size=batch_size) == 61
        assert_equals_replay(log)
    assert layout(path) == before


def test_an_empty_log_can_be_rebuilt(tmp_path: Path) -> None:
    with new_log(tmp_path / "log.db", folds=ALL) as log:
        assert rebuild(log.database, ALL, log.decoder) == 0
        assert_equals_replay(log)


def test_the_lock_is_free_between_batches(tmp_path: Path) -> None:
    """Another program appends after every batch, and finds what it appended at once."""
    path = tmp_path / "log.db"
    with new_log(path, folds=ALL) as log, new_log(path, folds=ALL) as other:
        fill(log)

        def write(position: int, end: int) -> None:
            if position < 60:
                mine = other.append(B, [said(f"beside{position}", "w9")]).last_position
                assert found(other, f"beside{position}") == [mine]

        reached = rebuild(log.database, ALL, log.decoder, batch_size=10, progress=write)
        assert reached == log.last_position() > 60
        assert_equals_replay(log)
        other.append(A, [said("later", "w9")])
        assert_equals_replay(other)


def test_a_rebuild_ends_beside_a_writer_that_never_stops(tmp_path: Path) -> None:
    path = tmp_path / "log.db"
    ended = threading.Event()
    with new_log(path, folds=ALL) as log, new_log(path, folds=ALL) as other:
        fill(log, 300)

        def write() -> None:
            while not ended.is_set():
                other.append(B, [said("beside", "w9")])

        thread = threading.Thread(target=write)
        thread.start()
        try:
            rebuild(log.database, ALL, log.decoder, batch_size=25)
        finally:
            ended.set()
            thread.join()
        assert log.last_position() > 300
        assert_equals_replay(log)
        assert_whole(log)


def test_a_reader_keeps_the_tables_it_began_with(tmp_path: Path) -> None:
    path = tmp_path / "log.db"
    with new_log(path, folds=ALL) as log:
        fill(log)
        with log.database.transaction() as connection:
            connection.execute("UPDATE tally SET events = 1000")
        reader = apsw.Connection(str(path))
        with reader:
            wrong = fetch.rows(reader, "SELECT events FROM tally")
            assert wrong == [(1000,), (1000,)]
            rebuild(log.database, ALL, log.decoder)
            assert fetch.rows(reader, "SELECT events FROM tally") == wrong
        assert fetch.rows(reader, "SELECT sum(events) FROM tally") == [(60,)]
        reader.close()
        assert_equals_replay(log)


def test_a_new_fold_is_built_before_anything_can_be_written(tmp_path: Path) -> None:
    path = tmp_path / "log.db"
    with new_log(path, folds=FOLDS) as log:
        fill(log)
    with new_log(path, folds=ALL) as log:
        with pytest.raises(FoldSetMismatch):
            log.append(A, [said("x")])
        new = [fold for fold in ALL if fold not in FOLDS]
        assert rebuild(log.database, new, log.decoder, batch_size=20) == 60
        assert log.append(A, [said("x")]).last_position == 61
        assert_equals_replay(log)


class _WiderTally(TallyFold):
    """A second version, with other tables."""

    def __init__(self) -> None:
        super().__init__(version=2)
        self.tables = ("tally_by_stream",)
        self.schema = (
            "CREATE TABLE tally_by_stream(stream TEXT PRIMARY KEY, events INTEGER NOT NULL) STRICT",
        )

    def apply(self, connection: apsw.Connection, events: Sequence[FoldEvent]) -> None:
        """Add one for each event."""
        connection.executemany(
            "INSERT INTO tally_by_stream VALUES(?, 1) ON CONFLICT DO UPDATE SET events = events + 1",
            [(event.stream,) for event in events],
        )


def test_another_version_takes_the_place_of_the_old_one(tmp_path: Path) -> None:
    path = tmp_path / "log.db"
    with new_log(path, folds=(TallyFold(),)) as log:
        fill(log)
    fold = _WiderTally()
    with new_log(path, folds=(fold,)) as log:
        rebuild(log.database, [fold], log.decoder, retired=["tally"])
        log.append(A, [said("x")])
        assert_equals_replay(log, [fold])
        assert not any(name == "tally" for _, name, *_ in layout(path))


# -- what goes wrong -------------------------------------------------------------------------


def _untouched(path: Path, act: Callable[[EventLog], None]) -> None:
    """Whatever `act` does, every row and the layout are as before, and writing works."""
    with new_log(path, folds=ALL) as log:
        fill(log)
        with log.database.transaction() as connection:
            connection.execute("UPDATE tally SET events = 1000")
        with log.reader() as connection:
            rows = fetch.rows(connection, "SELECT * FROM lines")
        before = layout(path)
        act(log)
        assert layout(path) == before
        with log.reader() as connection:
            assert fetch.rows(connection, "SELECT events FROM tally") == [(1000,), (1000,)]
            assert fetch.rows(connection, "SELECT * FROM lines") == rows
        log.append(A, [said("after")])
        assert found(log, "after") == [61]
        rebuild(log.database, ALL, log.decoder)
        assert_equals_replay(log)


@pytest.mark.parametrize("after", [0, 1, 3])
def test_a_cancelled_rebuild_leaves_nothing(tmp_path: Path, after: int) -> None:
    def act(log: EventLog) -> None:
        asked: list[int] = []

        def cancelled() -> bool:
            asked.append(1)
            return len(asked) > after

        with pytest.raises(ReplayCancelled):
            rebuild(log.database, ALL, log.decoder, batch_size=10, cancelled=cancelled)
        with pytest.raises(ReplayCancelled):
            replay(log.database, ALL, log.decoder, apsw.Connection(":memory:"), cancelled=lambda: True)

    _untouched(tmp_path / "log.db", act)


class _BrokenFold(LinesFold):
    """Breaks at an event."""

    def __init__(self, at: int) -> None:
        self.at = at

    def apply(self, connection: apsw.Connection, events: Sequence[FoldEvent]) -> None:
        """As the other, until it breaks."""
        super().apply(connection, events)
        if any(event.position == self.at for event in events):
            raise Broken


@pytest.mark.parametrize("at", [1, 33, 59])
def test_a_fold_that_raises_leaves_nothing(tmp_path: Path, at: int) -> None:
    def act(log: EventLog) -> None:
        with pytest.raises(Broken):
            rebuild(log.database, [TallyFold(), _BrokenFold(at)], log.decoder, batch_size=10)

    _untouched(tmp_path / "log.db", act)


class _Astray(LinesFold):
    """Runs one statement too many."""

    def __init__(self, statement: str) -> None:
        self.statement = statement

    def apply(self, connection: apsw.Connection, events: Sequence[FoldEvent]) -> None:
        """As the other, and more."""
        super().apply(connection, events)
        connection.execute(self.statement)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE tally SET events = 7",
        "DELETE FROM events",
        "UPDATE folds SET position = 3",
        "INSERT INTO actors(name, events) VALUES('x', 1)",
        "CREATE TABLE more(x)",
        "DROP TABLE tally",
    ],
)
def test_a_fold_that_writes_beside_its_tables_is_stopped(tmp_path: Path, statement: str) -> None:
    def act(log: EventLog) -> None:
        with pytest.raises(InvalidFold, match="beyond"):
            rebuild(log.database, [_Astray(statement)], log.decoder, batch_size=10)

    _untouched(tmp_path / "log.db", act)


@pytest.mark.parametrize(
    ("schema", "message"),
    [
        (
            (*LinesFold.schema, "CREATE TRIGGER t AFTER INSERT ON lines BEGIN SELECT 1; END"),
            "cannot be rebuilt",
        ),
        ((*LinesFold.schema, "CREATE TABLE more(x INTEGER) STRICT"), "other tables"),
        (LinesFold.schema[:1], "other tables"),
        (
            ("CREATE TABLE lines(lines INTEGER) STRICT", "CREATE TABLE line_counts(x INTEGER) STRICT"),
            "named as a table",
        ),
    ],
)
def test_a_layout_that_cannot_be_redirected_is_refused(
    tmp_path: Path, schema: tuple[str, ...], message: str
) -> None:
    def act(log: EventLog) -> None:
        fold = LinesFold()
        fold.schema = schema
        with pytest.raises(InvalidFold, match=message):
            rebuild(log.database, [fold], log.decoder)

    _untouched(tmp_path / "log.db", act)


def test_what_must_not_be_held_up_is_refused(tmp_path: Path) -> None:
    def act(log: EventLog) -> None:
        with log.transaction(), pytest.raises(OpenTransaction):
            rebuild(log.database, ALL, log.decoder)
        with pytest.raises(InvalidBatchSize):
            rebuild(log.database, ALL, log.decoder, batch_size=0)

    _untouched(tmp_path / "log.db", act)


def test_a_second_rebuild_takes_over_from_the_first(tmp_path: Path) -> None:
    path = tmp_path / "log.db"
    with new_log(path, folds=ALL) as log, new_log(path, folds=ALL) as other:
        fill(log)

        def overtake(position: int, end: int) -> None:
            if position == 20:
                assert rebuild(other.database, ALL, other.decoder) == 60

        with pytest.raises(RebuildSuperseded) as caught:
            rebuild(log.database, ALL, log.decoder, batch_size=10, progress=overtake)
        assert caught.value.retryable
        assert_equals_replay(log)


def test_a_killed_rebuild_is_in_nobodys_way(tmp_path: Path) -> None:
    path = tmp_path / "log.db"
    with new_log(path, folds=ALL) as log:
        fill(log)
    child = os.fork()
    if child == 0:
        with new_log(path, folds=ALL) as log:

            def die(position: int, end: int) -> None:
                if position >= 30:
                    os._exit(9)

            rebuild(log.database, ALL, log.decoder, batch_size=10, progress=die)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9
    with new_log(path, folds=ALL) as log:
        with log.reader() as connection:
            left = leftovers(connection)
        assert {"tally__next", "lines__next", "fulltext__next", "fulltext__next_data"} < set(left)
        log.append(A, [said("after")])
        assert_whole(log)
        assert discard(log.database) == len(left)
        assert discard(log.database) == 0
        assert_equals_replay(log)
        rebuild(log.database, ALL, log.decoder)
        assert_equals_replay(log)


def test_old_shapes_are_brought_forward_and_newer_ones_refused(tmp_path: Path) -> None:
    path = tmp_path / "log.db"
    with open_log(path, types=[NOTED], folds=FOLDS) as log:
        log.append(A, [Noted(line="milk bread")])
    with open_log(path, types=[NOTED, NOTED_TWICE], folds=FOLDS) as log:
        with pytest.raises(UpcastGap):
            rebuild(log.database, FOLDS, log.decoder)
        log.append(A, [NotedTwice(title="salt", rest="oil")])
    with open_log(path, types=[NOTED], folds=FOLDS) as log:
        with pytest.raises(UnknownEventType, match="position 2 holds version 2"):
            rebuild(log.database, FOLDS, log.decoder)
        with log.reader() as connection:
            assert leftovers(connection) == []


def test_a_type_that_nobody_knows_is_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "log.db"
    with open_log(path, types=TYPES, folds=FOLDS) as log:
        fill(log)
        words = found(log, "common")
    with open_log(path, types=[NOTED], folds=FOLDS) as log:
        assert rebuild(log.database, FOLDS, log.decoder) == 60
        assert found(log, "common") == []
    with open_log(path, types=[SAID], folds=FOLDS) as log:
        rebuild(log.database, FOLDS, log.decoder, batch_size=10)
        assert found(log, "common") == words
        assert set(fold_positions(log).values()) == {60}


EVENTS = st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from(["plum", "pear", "lines"])), max_size=20)


@settings(max_examples=40, deadline=None)
@given(first=EVENTS, beside=st.lists(EVENTS, max_size=4), batch_size=st.integers(1, 12))
def test_whatever_is_appended_meanwhile_is_there(
    tmp_path_factory: pytest.TempPathFactory,
    first: list[tuple[str, str]],
    beside: list[list[tuple[str, str]]],
    batch_size: int,
) -> None:
    path = tmp_path_factory.mktemp("rebuild") / "log.db"
    with new_log(path, folds=ALL) as log, new_log(path, folds=ALL) as other:

        def append(to: EventLog, events: list[tuple[str, str]]) -> None:
            for name, word in events:
                to.append(stream(name), [said(word, name)])

        append(log, first)
        waiting = list(beside)

        def write(position: int, end: int) -> None:
            if waiting:
                append(other, waiting.pop())

        rebuild(log.database, ALL, log.decoder, batch_size=batch_size, progress=write)
        assert_equals_replay(log)
        assert_whole(log)
