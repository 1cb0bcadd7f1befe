"""Writing a range again, and everything again (contract log-and-chronicle, §9, §10)."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.chronicle.fold_cases import (
    STREAM,
    AsyncNotes,
    Broken,
    Notes,
    by_hand,
    consolidator_of,
    fill,
    fold_of,
    ids,
    open_log,
    projector_of,
    reader_of,
    store_of,
    told,
)
from workbench.chronicle.admission import Admission
from workbench.chronicle.consolidator import NotPinned
from workbench.chronicle.errors import ChronicleFork, SectionCollision, UnknownSection
from workbench.chronicle.reconsolidation import reconsolidate, reconsolidate_async
from workbench.chronicle.sections import Anchor, Consolidation
from workbench.chronicle.summarizers.errors import SummarizerFailed
from workbench.chronicle.summarizing import NOTHING_TOLD
from workbench.log import EventLog, StoredEvent
from workbench.log.background_folds import GenerativeRebuild, NeedsAsync
from workbench.log.pins.errors import PinMiss
from workbench.log.pins.keys import pin_key
from workbench.log.pins.ledger import PinLedger
from workbench.log.pins.replay import ReplayPins
from workbench.log.positions import Positions

LOGGER = "workbench.chronicle.reconsolidation"


@pytest.fixture
def log(tmp_path: Path) -> Iterator[EventLog]:
    """Sections 1-3 and 4-5, and event 6."""
    with open_log(tmp_path / "log.db") as log:
        fill(log, "SSCSCS")
        consolidator_of(log, Notes()).consolidate()
        yield log


def test_invariant_89_the_next_generation_supersedes_and_warns_once(
    log: EventLog, caplog: pytest.LogCaptureFixture
) -> None:
    notes = Notes()
    section = reconsolidate(store_of(log), reader_of(log), "1-3", notes)
    assert section.anchor == Anchor("1-3#2", 1, 3, 3, "1-3")
    assert notes.draws == [[1, 2, 3]]
    assert ids(log) == ["1-3#2", "4-5"]
    assert store_of(log).section("1-3#2") == section
    old = store_of(log).section("1-3")
    assert old is not None and old.prose == "draw 1 of events 1 to 3"
    [record] = [each for each in caplog.records if each.name == LOGGER]
    assert record.levelno == logging.WARNING
    said = record.getMessage()
    assert all(part in said for part in ("1-3#2", "supersedes 1-3 ", "1 to 3", "diverge", "rebuild drops"))
    assert section.prose not in said and old.prose not in said


def test_invariant_89_the_unit_of_a_section_by_hand_is_kept(log: EventLog) -> None:
    fill(log, "SS")
    store_of(log).append(by_hand(6, 8, unit=7))
    section = reconsolidate(store_of(log), reader_of(log), "6-8", Notes())
    assert section.anchor == Anchor("6-8#2", 6, 8, 7, "6-8")


def test_invariant_90_a_superseded_section_is_refused_before_the_draw(log: EventLog) -> None:
    store, reader, notes = store_of(log), reader_of(log), Notes()
    reconsolidate(store, reader, "1-3", notes)
    with pytest.raises(ChronicleFork, match="1-3#2"):
        reconsolidate(store, reader, "1-3", notes)
    assert len(notes.draws) == 1
    third = reconsolidate(store, reader, "1-3#2", notes)
    assert third.anchor == Anchor("1-3#3", 1, 3, 3, "1-3#2")
    assert [anchor.section_id for anchor, _, _ in told(log)] == ["1-3", "1-3#2", "1-3#3", "4-5"]


@pytest.mark.parametrize("name", ["1-2", "1-3#2", "", "x", "1-3\ud800"])
def test_invariant_91_an_unknown_section_is_refused(log: EventLog, name: str) -> None:
    notes = Notes()
    with pytest.raises(UnknownSection):
        reconsolidate(store_of(log), reader_of(log), name, notes)
    assert notes.draws == []


async def test_invariant_91_an_awaited_summarizer_needs_the_async_call(log: EventLog) -> None:
    before, notes = told(log), AsyncNotes()

    def late(events: Sequence[StoredEvent]) -> Any:
        return notes(events)

    for summarize in (notes, late):
        with pytest.raises(NeedsAsync) as caught:
            reconsolidate(store_of(log), reader_of(log), "1-3", summarize)
        assert isinstance(caught.value, TypeError)
    assert (told(log), notes.draws) == (before, [])
    section = await reconsolidate_async(store_of(log), reader_of(log), "1-3", notes)
    assert section.anchor.section_id == "1-3#2"
    section = await reconsolidate_async(store_of(log), reader_of(log), "1-3#2", Notes())
    assert section.anchor.section_id == "1-3#3"
    section = await consolidator_of(log, notes).reconsolidate_async("1-3#3")
    assert section.anchor.section_id == "1-3#4"


def test_invariant_92_who_lands_second_collides_and_stores_nothing(
    log: EventLog, caplog: pytest.LogCaptureFixture
) -> None:
    def overtake(events: Sequence[StoredEvent]) -> None:
        reconsolidate(store_of(log), reader_of(log), "1-3", Notes())

    with pytest.raises(SectionCollision):
        reconsolidate(store_of(log), reader_of(log), "1-3", Notes(overtake))
    assert [prose for anchor, prose, _ in told(log) if anchor.section_id == "1-3#2"] == [
        "draw 1 of events 1 to 3"
    ]
    assert len([each for each in caplog.records if each.name == LOGGER]) == 1


def test_invariant_93_the_fold_goes_on_after_it_and_a_rebuild_returns_to_the_first(
    log: EventLog, tmp_path: Path
) -> None:
    reconsolidate(store_of(log), reader_of(log), "1-3", Notes())
    fill(log, "C")
    notes = Notes()
    consolidator = consolidator_of(log, notes)
    assert [anchor.section_id for anchor in consolidator.consolidate()] == ["6-7"]
    Positions(log).commit_position("chronicle", 0, STREAM.name)
    assert consolidator.consolidate() == []
    assert ids(log) == ["1-3#2", "4-5", "6-7"]
    with open_log(tmp_path / "copy.db") as copy:
        fill(copy, "SSCSCSC")
        assert store_of(copy).load(store_of(log).export()) == 4
        assert told(copy) == told(log)
        assert consolidator_of(copy, notes).consolidate() == []
    assert notes.draws == [[6, 7]]
    consolidator.rebuild(discard_generated=True)
    assert ids(log) == ["1-3", "4-5", "6-7"] == [anchor.section_id for anchor, _, _ in told(log)]


def test_what_may_not_be_seen_is_not_seen_the_second_time(log: EventLog) -> None:
    notes = Notes()
    admission = Admission(hidden=lambda first, last: {2: 9})
    reconsolidate(store_of(log), reader_of(log), "1-3", notes, admission=admission)
    assert notes.draws == [[1, 3]]
    nothing = Admission(lambda envelope: False)
    section = reconsolidate(store_of(log), reader_of(log), "4-5", notes, admission=nothing)
    assert (section.prose, len(notes.draws)) == (NOTHING_TOLD.prose, 1)


def test_a_draw_that_fails_leaves_everything_as_it_was(
    log: EventLog, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(events: Sequence[StoredEvent]) -> Any:
        raise Broken

    before = store_of(log).export()
    with pytest.raises(SummarizerFailed):
        consolidator_of(log, fail).reconsolidate("1-3")
    assert store_of(log).export() == before
    assert not caplog.records


# -- everything again ---------------------------------------------------------------------------


def test_invariant_85_a_rebuild_is_acknowledged_and_gives_the_same_anchors(log: EventLog) -> None:
    before, notes = told(log), Notes(lambda events: None)
    consolidator = consolidator_of(log, notes)
    with pytest.raises(GenerativeRebuild):
        consolidator.rebuild()
    projector = projector_of(log, fold_of(log, notes))
    with pytest.raises(GenerativeRebuild):
        projector.rebuild("chronicle", reset=store_of(log).reset)
    assert (told(log), notes.draws) == (before, [])
    consolidator_of(log, lambda events: Consolidation("other words")).rebuild(discard_generated=True)
    assert [anchor for anchor, _, _ in told(log)] == [anchor for anchor, _, _ in before]
    assert [prose for _, prose, _ in told(log)] == ["other words"] * 2
    projector.rebuild("chronicle", reset=store_of(log).reset, discard_generated=True)
    assert [anchor for anchor, _, _ in told(log)] == [anchor for anchor, _, _ in before]
    assert notes.draws == [[1, 2, 3], [4, 5]]


class Model:
    """A summarizer that draws through whatever resolver it is handed."""

    def __init__(self, resolver: Any, prompt: str = "Summarise.") -> None:
        self.resolver = resolver
        self.prompt = prompt
        self.effects = [0]

    def through(self, resolver: Any) -> Model:
        """The same one on another resolver."""
        other = Model(resolver, self.prompt)
        other.effects = self.effects
        return other

    def __call__(self, events: Sequence[StoredEvent]) -> Consolidation:
        """One draw."""
        material = {"prompt": self.prompt, "texts": [each.payload.get("text", "") for each in events]}
        key = pin_key("model_call", material)

        def effect() -> str:
            self.effects[0] += 1
            return f"effect {self.effects[0]}"

        prose = self.resolver.resolve(key, kind="model_call", effect=effect, interpret=str)
        return Consolidation(prose, (key,))


def _replay(log: EventLog) -> Any:
    return ReplayPins.from_events(log.read(), log.registry)


def test_invariant_85_a_replay_gives_an_equal_export_and_draws_nothing(tmp_path: Path) -> None:
    with open_log(tmp_path / "log.db") as log:
        fill(log, "SSCSC")
        ledger = PinLedger(log.stream(STREAM))
        model = Model(ledger)
        consolidator = consolidator_of(
            log, model, through=model.through, keep=lambda section: ledger.commit()
        )
        consolidator.consolidate()
        before = store_of(log).export()
        assert model.effects == [2] and before[0].pins
        fill(log, "S")
        # Byte for byte, also when and by what it was written: nothing was.
        assert consolidator.rebuild(discard_generated=True, resolver=_replay(log)) == [
            section.anchor for section in before
        ]
        assert (store_of(log).export(), model.effects) == (before, [2])
        # And from nothing, on a copy of the log alone.
        store_of(log).reset()
        consolidator.rebuild(discard_generated=True, resolver=_replay(log))
        assert told(log) == [tuple(section[:3]) for section in before]
        assert model.effects == [2]


def test_a_replay_after_a_changed_prompt_misses_and_changes_nothing(tmp_path: Path) -> None:
    with open_log(tmp_path / "log.db") as log:
        fill(log, "SSCSC")
        ledger = PinLedger(log.stream(STREAM))
        consolidator_of(log, Model(ledger), keep=lambda section: ledger.commit()).consolidate()
        before = store_of(log).export()
        changed = Model(ledger, "Summarise well.")
        with pytest.raises(PinMiss):
            consolidator_of(log, changed, through=changed.through).rebuild(
                discard_generated=True, resolver=_replay(log)
            )
        assert (store_of(log).export(), changed.effects) == (before, [0])


def test_a_rebuild_that_fails_or_is_called_off_changes_nothing(log: EventLog) -> None:
    before = store_of(log).export()

    def fail(events: Sequence[StoredEvent]) -> None:
        if events[0].seq > 1:
            raise Broken

    with pytest.raises(SummarizerFailed):
        consolidator_of(log, Notes(fail)).rebuild(discard_generated=True)
    notes = Notes()
    off = consolidator_of(log, notes).rebuild(discard_generated=True, cancelled=lambda: bool(notes.draws))
    assert (off, notes.draws) == (None, [[1, 2, 3]])
    assert store_of(log).export() == before


def test_a_summarizer_without_pins_cannot_be_replayed(log: EventLog) -> None:
    before = store_of(log).export()
    with pytest.raises(NotPinned):
        consolidator_of(log, Notes()).rebuild(discard_generated=True, resolver=_replay(log))
    assert store_of(log).export() == before
