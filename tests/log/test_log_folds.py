"""The fold set: agreement with the file, catching up, the same rows however they came."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import apsw
import pytest

from tests.log.log_cases import TallyFold, actors, assert_whole, fold_positions, found, new_log, said, stream
from workbench.log import FOLDS, EventLog
from workbench.log.errors import FoldSetMismatch
from workbench.log.folds import InlineFold
from workbench.storage import fetch

TALLY = TallyFold()


def _write(path: Path, folds: Sequence[InlineFold]) -> None:
    with new_log(path, folds=folds) as log:
        log.append(stream("a"), [said("x")])


@pytest.mark.parametrize(
    ("stored", "mine", "named"),
    [
        ((*FOLDS, TALLY), FOLDS, "tally"),
        (FOLDS, (*FOLDS, TALLY), "tally"),
        ((*FOLDS, TALLY), (*FOLDS, TallyFold(version=2)), "tally"),
        ((*FOLDS, TallyFold(version=2)), (*FOLDS, TALLY), "tally"),
        (FOLDS, (), "actors, fulltext"),
        ((TALLY,), (TallyFold("other"),), "other, tally"),
    ],
    ids=["unknown", "missing", "older in the file", "newer in the file", "none", "another"],
)
def test_another_fold_set_may_read_but_not_write(
    tmp_path: Path, stored: Sequence[InlineFold], mine: Sequence[InlineFold], named: str
) -> None:
    path = tmp_path / "log.db"
    _write(path, stored)
    with new_log(path, folds=mine) as log:
        for batch in ([said("y")], []):
            with pytest.raises(FoldSetMismatch) as caught:
                log.append(stream("a"), batch)
            assert caught.value.exit_code == 3
            assert f"({named})" not in caught.value.message
            assert f"differing: {named})" in caught.value.message
            assert "workbench migrate" in caught.value.hint
        assert log.last_position() == 1
        assert not log.in_transaction
    with new_log(path, folds=stored) as log:
        assert log.append(stream("a"), [said("y")]).last_position == 2


def test_the_order_of_the_folds_does_not_matter(tmp_path: Path) -> None:
    path = tmp_path / "log.db"
    _write(path, (*FOLDS, TALLY))
    _write(path, (TALLY, *reversed(FOLDS)))
    with new_log(path, folds=(*FOLDS, TALLY)) as log:
        assert_whole(log)


def test_two_folds_of_one_name_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="one name"):
        new_log(tmp_path / "log.db", folds=(TALLY, TallyFold()))


def _dump(log: EventLog) -> dict[str, object]:
    with log.reader() as connection:
        tally = fetch.rows(connection, "SELECT * FROM tally ORDER BY 1")
    words = {word: found(log, word) for word in ("alpha", "beta", "number1999", "x")}
    return {"tally": tally, "actors": actors(log), "words": words}


def test_a_lagging_fold_is_caught_up_before_the_append(tmp_path: Path) -> None:
    """As after a crash in the middle of a rebuild: folds emptied, at different positions."""
    path = tmp_path / "log.db"
    folds = (*FOLDS, TALLY)
    with new_log(path, folds=folds) as log:
        for block in range(5):
            log.append(
                stream(f"s{block % 2}"),
                [
                    said(f"{('alpha', 'beta')[n % 2]} number{block * 500 + n}", f"w{n % 3}")
                    for n in range(500)
                ],
            )
        expected = _dump(log)
        connection = apsw.Connection(str(path))
        connection.execute("DELETE FROM tally")
        connection.execute("DELETE FROM event_actors")
        connection.execute("DELETE FROM actors")
        connection.execute("DELETE FROM fulltext WHERE rowid > 1234")
        connection.execute("UPDATE folds SET position = 0 WHERE name IN ('tally', 'actors')")
        connection.execute("UPDATE folds SET position = 1234 WHERE name = 'fulltext'")
        connection.close()
        assert _dump(log) != expected
        # An empty batch is an append too, so it catches up.
        log.append(stream("s0"), [])
        assert _dump(log) == expected
        assert set(fold_positions(log).values()) == {2500}
        log.append(stream("s0"), [said("x")])
        assert_whole(log)


def test_catching_up_is_undone_with_the_transaction(tmp_path: Path) -> None:
    path = tmp_path / "log.db"
    with new_log(path, folds=(TALLY,)) as log:
        log.append(stream("a"), [said("1"), said("2")])
        connection = apsw.Connection(str(path))
        connection.execute("DELETE FROM tally")
        connection.execute("UPDATE folds SET position = 0")
        connection.close()
        with pytest.raises(KeyError), log.transaction():
            raise KeyError
        assert fold_positions(log) == {"tally": 0}
        with log.transaction() as transaction:
            assert fetch.rows(transaction.connection, "SELECT events FROM tally") == [(2,)]
        assert fold_positions(log) == {"tally": 2}


def test_a_fold_gets_only_the_types_it_reads(tmp_path: Path) -> None:
    from tests.log.log_cases import Measured

    wanted = TallyFold("said_only", types=frozenset({"said"}))
    with new_log(tmp_path / "log.db", folds=(wanted, TALLY)) as log:
        log.append(stream("a"), [said("1"), Measured(label="m"), said("2")])
        log.append(stream("a"), [Measured(label="m")])
        with log.reader() as connection:
            assert fetch.rows(connection, "SELECT events FROM said_only") == [(2,)]
            assert fetch.rows(connection, "SELECT events FROM tally") == [(4,)]
        assert fold_positions(log) == {"said_only": 4, "tally": 4}
