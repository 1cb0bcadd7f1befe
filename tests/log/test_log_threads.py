"""One log, many threads."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.log.log_cases import assert_whole, found, new_log, said, stream, texts
from workbench.log import EventLog, Transaction
from workbench.storage.errors import StorageError, WrongThread

THREADS = 8


@pytest.fixture
def log(tmp_path: Path) -> Iterator[EventLog]:
    with new_log(tmp_path / "log.db") as opened:
        yield opened


def elsewhere(call: Callable[[], object]) -> BaseException | None:
    """What the call raises in another thread."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(call).exception()


def test_eight_threads_append_without_a_gap(log: EventLog) -> None:
    start = threading.Barrier(THREADS)
    each = 150

    def write(me: int) -> list[int]:
        start.wait()
        positions: list[int] = []
        for n in range(each):
            if n % 10 == 0:
                with log.transaction() as transaction:
                    transaction.append(stream("shared"), [said(f"{me}.{n} first", f"w{me}")])
                    with pytest.raises(KeyError), log.transaction():
                        log.append(stream(f"own{me}"), [said("gone")])
                        raise KeyError
                    receipt = transaction.append(stream(f"own{me}"), [said(f"{me}.{n}", f"w{me}")])
            else:
                receipt = log.append(stream(f"own{me}"), [said(f"{me}.{n}", f"w{me}")])
            positions.append(receipt.last_position)
        return positions

    with ThreadPoolExecutor(THREADS) as pool:
        results = list(pool.map(write, range(THREADS)))
    everything = [p for positions in results for p in positions]
    assert len(set(everything)) == THREADS * each
    assert all(positions == sorted(positions) for positions in results)
    for me in range(THREADS):
        assert texts(log.stream(f"test/own{me}").read()) == [f"{me}.{n}" for n in range(each)]
    assert log.last_position() == THREADS * each + THREADS * (each // 10)
    assert found(log, "gone") == []
    assert_whole(log)


def test_no_thread_is_left_out(log: EventLog) -> None:
    """While every thread writes as fast as it can, each gets its turns."""
    start = threading.Barrier(4)
    done = threading.Event()
    counts = [0] * 4

    def write(me: int) -> None:
        start.wait()
        while not done.is_set():
            log.append(stream(f"own{me}"), [said("x")])
            counts[me] += 1
            if sum(counts) >= 2000:
                done.set()

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(write, range(4)))
    assert min(counts) >= 20
    assert_whole(log)


def test_readers_beside_writers_see_whole_transactions(log: EventLog) -> None:
    done = threading.Event()

    def read() -> int:
        rounds = 0
        while not done.is_set() or not rounds:
            events = list(log.read())
            assert len(events) % 3 == 0
            assert [e.position for e in events] == list(range(1, len(events) + 1))
            assert len(found(log, "word")) % 3 == 0
            rounds += 1
        return rounds

    with ThreadPoolExecutor(5) as pool:
        readers = [pool.submit(read) for _ in range(4)]
        try:
            for _ in range(80):
                with log.transaction() as transaction:
                    transaction.append(stream("a"), [said("word")])
                    transaction.append(stream("b"), [said("word"), said("word")])
        finally:
            done.set()
        assert all(reader.result() for reader in readers)


def test_a_transaction_belongs_to_its_thread(log: EventLog) -> None:
    with log.transaction() as transaction:
        transaction.append(stream("a"), [said("mine")])
        assert isinstance(elsewhere(lambda: transaction.append(stream("a"), [said("theirs")])), WrongThread)
        assert isinstance(elsewhere(lambda: transaction.connection), WrongThread)
        assert elsewhere(lambda: log.in_transaction and pytest.fail("theirs")) is None
        # Others read what was there before it.
        assert elsewhere(lambda: log.last_position() and pytest.fail("dirty read")) is None
    assert texts(log.read()) == ["mine"]


def test_a_transaction_that_is_over_is_refused(log: EventLog) -> None:
    with log.transaction() as transaction:
        pass
    with pytest.raises(WrongThread):
        transaction.append(stream("a"), [said("late")])
    kept: list[Transaction] = []
    with log.transaction() as outer:
        with log.transaction() as inner:
            kept.append(inner)
        outer.append(stream("a"), [said("x")])
    with pytest.raises(WrongThread):
        _ = kept[0].connection
    assert_whole(log)


def test_an_iterator_belongs_to_its_thread(log: EventLog) -> None:
    log.append(stream("a"), [said("1"), said("2"), said("3")])
    for iterator in (log.read(), log.stream("test/a").read()):
        assert next(iterator).seq == 1
        assert isinstance(elsewhere(iterator.__next__), WrongThread)
        assert isinstance(elsewhere(lambda it=iterator: list(it)), WrongThread)  # type: ignore[misc]
        assert [e.seq for e in iterator] == [2, 3]


def test_a_writer_waits_for_the_thread_before_it(log: EventLog) -> None:
    entered, go = threading.Event(), threading.Event()

    def slow() -> None:
        with log.transaction() as transaction:
            entered.set()
            go.wait(10)
            transaction.append(stream("a"), [said("slow")])

    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(slow)
        assert entered.wait(10)
        second = pool.submit(lambda: log.append(stream("a"), [said("quick")]))
        assert not second.done()
        go.set()
        first.result(10)
        assert second.result(10).last_position == 2
    assert texts(log.read()) == ["slow", "quick"]


def test_more_threads_read_than_there_are_readers(log: EventLog) -> None:
    log.append(stream("a"), [said(f"{n}") for n in range(300)])
    start = threading.Barrier(24)

    def read(_: int) -> int:
        start.wait()
        return sum(1 for _ in log.read()) + log.last_position()

    with ThreadPoolExecutor(24) as pool:
        assert set(pool.map(read, range(24))) == {600}


def test_a_closed_log_says_so(tmp_path: Path) -> None:
    log = new_log(tmp_path / "log.db")
    log.append(stream("a"), [said("x")])
    log.close()
    log.close()
    for call in (
        lambda: log.append(stream("a"), [said("y")]),
        log.last_position,
        lambda: list(log.read()),
    ):
        with pytest.raises(StorageError, match="closed"):
            call()


def test_a_log_closed_while_a_thread_reads_lets_it_finish(tmp_path: Path) -> None:
    log = new_log(tmp_path / "log.db")
    entered, go = threading.Event(), threading.Event()

    def slow() -> None:
        with log.reader():
            entered.set()
            go.wait(10)

    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(slow)
        assert entered.wait(10)
        log.close()
        go.set()
        first.result(10)
    # The lent connection was closed when it came back, so nothing holds the file any more.
    assert not (tmp_path / "log.db-wal").exists()
