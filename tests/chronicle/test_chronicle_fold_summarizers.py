"""Summarizers of both kinds, and whatever one may do instead of writing (contract log-and-chronicle, §9)."""

from __future__ import annotations

import asyncio
import logging
import threading
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.chronicle.fold_cases import (
    CLOSES,
    STREAM,
    AsyncNotes,
    Broken,
    Notes,
    consolidator_of,
    event,
    fill,
    fold_of,
    ids,
    open_log,
    projector_of,
    store_of,
    told,
)
from workbench.chronicle.consolidator import Consolidator
from workbench.chronicle.errors import ChronicleError
from workbench.chronicle.leases import AlreadyConsolidating, ThreadLease
from workbench.chronicle.limits import MAX_PROSE
from workbench.chronicle.sections import Consolidation
from workbench.chronicle.sqlite import SQLiteChronicleStore
from workbench.chronicle.summarizers.errors import SummarizerFailed, SummarizerOutput, SummarizerTimeout
from workbench.chronicle.summarizing import checked
from workbench.log import EventLog, StoredEvent
from workbench.log.background_folds import NeedsAsync, OpenTransaction
from workbench.log.event_reader import EventReader
from workbench.log.upcasts import UpcastRegistry
from workbench.redaction import default_filter


@pytest.fixture
def log(tmp_path: Path) -> Iterator[EventLog]:
    """One stretch and the beginning of another: `1-2` and event 3."""
    with open_log(tmp_path / "log.db") as log:
        fill(log, "SCS")
        yield log


def _nothing_happened(log: EventLog) -> None:
    assert told(log) == []
    assert projector_of(log, fold_of(log, Notes())).position("chronicle") == 0
    assert not log.in_transaction


async def test_invariant_82_each_kind_where_it_can_be_driven(log: EventLog) -> None:
    notes = AsyncNotes()
    projector = projector_of(log, fold_of(log, notes))
    with pytest.raises(NeedsAsync) as caught:
        projector.catch_up()
    assert isinstance(caught.value, TypeError)
    assert notes.draws == []
    _nothing_happened(log)
    with pytest.raises(NeedsAsync):
        consolidator_of(log, notes).consolidate()
    assert await projector.catch_up_async() == {"chronicle": 3}
    assert notes.draws == [[1, 2]]
    fill(log, "C")
    plain = Notes()
    assert await projector_of(log, fold_of(log, plain)).catch_up_async() == {"chronicle": 4}
    fill(log, "C")
    assert [anchor.section_id for anchor in await consolidator_of(log, notes).consolidate_async()] == ["5-5"]
    assert (plain.draws, notes.draws) == ([[3, 4]], [[1, 2], [5]])


async def _write(events: Sequence[StoredEvent]) -> Consolidation:
    return Consolidation("awaited")


class _Bound:
    async def write(self, events: Sequence[StoredEvent]) -> Consolidation:
        return Consolidation("awaited")


@pytest.mark.parametrize(
    "summarize",
    [_write, AsyncNotes(), partial(_write), _Bound().write],
    ids=["function", "object", "partial", "method"],
)
def test_invariant_83_what_is_awaited_is_recognised_before_it_is_called(
    log: EventLog, summarize: Any
) -> None:
    fold = fold_of(log, summarize)
    assert not fold.prepares_synchronously
    with pytest.raises(NeedsAsync):
        projector_of(log, fold).catch_up()
    _nothing_happened(log)


@pytest.mark.parametrize("kind", ["coroutine", "future", "task's future"])
async def test_invariant_83_a_function_that_hands_back_something_to_await(log: EventLog, kind: str) -> None:
    made: list[Any] = []

    def summarize(events: Sequence[StoredEvent]) -> Any:
        if kind == "coroutine":
            return _write(events)
        made.append(asyncio.get_running_loop().create_future())
        return made[-1]

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(NeedsAsync) as caught:
            projector_of(log, fold_of(log, summarize)).catch_up()
    assert isinstance(caught.value, TypeError)
    assert all(future.cancelled() for future in made)
    _nothing_happened(log)
    if kind == "coroutine":
        await projector_of(log, fold_of(log, summarize)).catch_up_async()
        assert ids(log) == ["1-2"]


async def test_invariant_84_an_awaited_fold_is_rebuilt_by_awaiting(log: EventLog) -> None:
    notes = AsyncNotes()
    projector = projector_of(log, fold_of(log, notes))
    await projector.catch_up_async()
    before, resets = told(log), []

    def reset() -> None:
        resets.append(True)
        store_of(log).reset()

    with pytest.raises(NeedsAsync):
        projector.rebuild("chronicle", reset=reset, discard_generated=True)
    with pytest.raises(NeedsAsync):
        consolidator_of(log, notes).rebuild(discard_generated=True)
    assert (told(log), resets) == (before, [])
    assert await projector.rebuild_async("chronicle", reset=reset, discard_generated=True) == 3
    assert [prose for _, prose, _ in told(log)] == ["draw 2"]
    anchors = await consolidator_of(log, notes).rebuild_async(discard_generated=True)
    assert anchors == [before[0][0]]
    assert [prose for _, prose, _ in told(log)] == ["draw 3"]


# -- what a summarizer may do instead ----------------------------------------------------------


def _answer(value: Any) -> Callable[[Sequence[StoredEvent]], Any]:
    return lambda events: value


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (None, "NoneType"),
        ("prose", "str"),
        (("prose", ()), "tuple"),
        (Consolidation(None), "no text"),  # type: ignore[arg-type]
        (Consolidation(b"prose"), "no text"),  # type: ignore[arg-type]
        (Consolidation(""), "wrote nothing"),
        (Consolidation(" \n\t"), "wrote nothing"),
        (Consolidation("\x1b[2J\x1b[H"), "wrote nothing"),
        (Consolidation("x" * 1_000_000), "1,000,000 characters"),
        (Consolidation("prose", "p1:k:1"), "no list"),  # type: ignore[arg-type]
        (Consolidation("prose", (1,)), "no key"),  # type: ignore[arg-type]
        (Consolidation("prose", ("",)), "no key"),
        (Consolidation("prose", ("p1:k:1\np1:k:2",)), "no key"),
        (Consolidation("prose", ("x" * 1000,)), "no key"),
    ],
)  # fmt: skip
async def test_an_answer_that_is_no_prose_is_refused_and_nothing_is_stored(
    log: EventLog, answer: Any, said: str
) -> None:
    with pytest.raises(SummarizerOutput, match=said) as caught:
        consolidator_of(log, _answer(answer)).consolidate()
    assert "events 1 to 2 of test/talk" in caught.value.message
    _nothing_happened(log)
    with pytest.raises(SummarizerOutput, match=said):
        await consolidator_of(log, _answer(answer)).consolidate_async()
    _nothing_happened(log)


def test_prose_may_be_as_long_as_the_limit_and_no_longer(log: EventLog) -> None:
    assert checked(Consolidation("x" * MAX_PROSE), "it").prose == "x" * MAX_PROSE
    with pytest.raises(SummarizerOutput, match="100,001 characters") as caught:
        checked(Consolidation("x" * (MAX_PROSE + 1)), "it")
    assert caught.value.hint


@pytest.mark.parametrize(
    ("prose", "stored"),
    [
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b]0;a title\x07body", "body"),
        ("\x1b]8;;http://evil\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1b]unfinished", "unfinished"),
        ("\x9b31mred\x9d0;title\x9cbody", "redbody"),
        ("\x1bPqpicture\x1b\\after", "after"),
        ("a\x00b\x08c\x7f", "abc"),
        ("one\r\ntwo\rthree\u2028four", "one\ntwo\nthree\nfour"),
        ("\ttab\n\nline ", "\ttab\n\nline "),
        ("half \ud800 a letter", "half \N{REPLACEMENT CHARACTER} a letter"),
    ],
)
def test_terminal_escapes_and_control_characters_are_not_stored(
    log: EventLog, prose: str, stored: str
) -> None:
    consolidator_of(log, _answer(Consolidation(prose, ["p1:k:1"]))).consolidate()  # type: ignore[arg-type]
    assert [(text, pins) for _, text, pins in told(log)] == [(stored, ("p1:k:1",))]
    assert checked(Consolidation(stored), "it").prose == stored


@pytest.mark.parametrize("piece", ["\x1b]x", "\x9d", "\x1b[", "\x9b1", "\x1bP\x1b", "\x1b \x1b"])
def test_many_unfinished_escapes_take_no_time_that_grows_faster_than_they_do(piece: str) -> None:
    prose = piece * (MAX_PROSE // len(piece) - 3) + "end"
    assert checked(Consolidation(prose), "it").prose.endswith("nd")


def test_a_secret_in_the_prose_is_not_stored(tmp_path: Path) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8"
    with open_log(tmp_path / "log.db", redactor=default_filter()) as log:
        fill(log, "SC")
        consolidator = consolidator_of(log, _answer(Consolidation(f"They used {secret} twice.")))
        consolidator.consolidate()
        consolidator.reconsolidate("1-2")
        assert [secret in prose or "[REDACTED:" not in prose for _, prose, _ in told(log)] == [False, False]


async def test_a_summarizer_that_raises_is_told_of_without_its_own_words(
    log: EventLog, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)

    def fail(events: Sequence[StoredEvent]) -> Any:
        raise Broken("the words of event 1")

    async def fail_later(events: Sequence[StoredEvent]) -> Any:
        raise Broken("the words of event 1")

    with pytest.raises(SummarizerFailed, match="Broken") as caught:
        consolidator_of(log, fail).consolidate()
    assert isinstance(caught.value.__cause__, Broken)
    assert "the words" not in caught.value.message + caught.value.hint + caplog.text
    assert caught.value.retryable
    for summarize in (fail, fail_later):
        with pytest.raises(SummarizerFailed, match="Broken"):
            await consolidator_of(log, summarize).consolidate_async()
    _nothing_happened(log)


def test_an_error_with_a_code_and_an_interruption_pass_as_they_are(log: EventLog) -> None:
    for error in (ChronicleError("of its own"), KeyboardInterrupt()):

        def fail(events: Sequence[StoredEvent], error: BaseException = error) -> Any:
            raise error

        with pytest.raises(type(error)) as caught:
            consolidator_of(log, fail).consolidate()
        assert caught.value is error
    _nothing_happened(log)


async def test_a_summarizer_that_hangs_is_given_up_and_holds_nobody_up(log: EventLog) -> None:
    released = threading.Event()

    def hang(events: Sequence[StoredEvent]) -> Consolidation:
        # Nobody else is kept from writing meanwhile.
        fill(log, "S")
        released.wait()
        return Consolidation("too late")

    async def hang_too(events: Sequence[StoredEvent]) -> Consolidation:
        await asyncio.Event().wait()
        return Consolidation("never")

    with pytest.raises(SummarizerTimeout, match=r"0\.05 seconds") as caught:
        consolidator_of(log, hang, seconds=0.05).consolidate()
    assert caught.value.retryable
    with pytest.raises(SummarizerTimeout, match=r"0\.05 seconds"):
        await consolidator_of(log, hang_too, seconds=0.05).consolidate_async()
    released.set()
    _nothing_happened(log)
    consolidator_of(log, Notes(), seconds=60).consolidate()
    assert ids(log) == ["1-2"]


async def test_a_timeout_of_the_summarizer_s_own_is_its_failure(log: EventLog) -> None:
    def fail(events: Sequence[StoredEvent]) -> Any:
        raise TimeoutError

    async def fail_later(events: Sequence[StoredEvent]) -> Any:
        raise TimeoutError

    for summarize in (fail, fail_later):
        with pytest.raises(SummarizerFailed, match="TimeoutError"):
            await consolidator_of(log, summarize, seconds=60).consolidate_async()
    with pytest.raises(SummarizerFailed, match="TimeoutError"):
        consolidator_of(log, fail, seconds=60).consolidate()


def test_a_summarizer_that_empties_what_it_is_given_changes_no_range(log: EventLog) -> None:
    fill(log, "C")

    def empty(events: Sequence[StoredEvent]) -> Consolidation:
        assert isinstance(events, list)
        events.clear()
        return Consolidation("emptied")

    consolidator_of(log, empty).consolidate()
    assert ids(log) == ["1-2", "3-4"]


async def test_a_summarizer_that_calls_back_into_its_chronicle_is_refused(log: EventLog) -> None:
    held: list[Any] = []

    def again(events: Sequence[StoredEvent]) -> Consolidation:
        held[0].consolidate()
        return Consolidation("unreached")

    async def again_later(events: Sequence[StoredEvent]) -> Consolidation:
        await held[0].consolidate_async()
        return Consolidation("unreached")

    for summarize, seconds in ((again, None), (again, 60)):
        held[:] = [consolidator_of(log, summarize, seconds=seconds)]
        with pytest.raises(AlreadyConsolidating, match="chronicle/test/talk"):
            held[0].consolidate()
    held[:] = [consolidator_of(log, again_later)]
    with pytest.raises(AlreadyConsolidating):
        await held[0].consolidate_async()
    _nothing_happened(log)


def test_a_summarizer_may_write_to_another_chronicle(log: EventLog) -> None:
    other = STREAM._replace(name="test/other")
    log.append(other, [event("S"), event("C")])
    lease = ThreadLease()
    inner = Consolidator(
        SQLiteChronicleStore(log, other.name),
        EventReader(log.stream(other), UpcastRegistry(), log.registry),
        boundary=CLOSES,
        summarize=Notes(),
        lease=lease,
    )
    done: list[Any] = []
    consolidator_of(log, Notes(lambda events: done.extend(inner.consolidate())), lease=lease).consolidate()
    assert [anchor.section_id for anchor in done] == ids(log) == ["1-2"]


async def test_nothing_is_drawn_inside_a_transaction(log: EventLog) -> None:
    notes = Notes()
    consolidator = consolidator_of(log, notes)
    with log.transaction():
        for call in (
            consolidator.consolidate,
            partial(consolidator.reconsolidate, "1-2"),
            partial(consolidator.rebuild, discard_generated=True),
        ):
            with pytest.raises(OpenTransaction):
                call()
        with pytest.raises(OpenTransaction):
            await consolidator.consolidate_async()
    assert notes.draws == []


def test_prose_never_reaches_the_program_s_log(log: EventLog, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    consolidator = consolidator_of(log, _answer(Consolidation("a thing told in confidence")))
    consolidator.consolidate()
    consolidator.reconsolidate("1-2")
    consolidator.rebuild(discard_generated=True)
    assert "section 1-2" in caplog.text
    assert "confidence" not in caplog.text


def test_a_foreign_future_is_let_go_of(log: EventLog) -> None:
    future: Future[Consolidation] = Future()
    with pytest.raises(SummarizerOutput, match="Future"):
        consolidator_of(log, _answer(future)).consolidate()
    _nothing_happened(log)
