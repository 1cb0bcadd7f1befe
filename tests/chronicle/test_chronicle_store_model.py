"""Any mix of writes, loads and reopenings keeps the chronicle whole (contract log-and-chronicle, §8)."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from tests.chronicle.store_cases import STREAM, a_section, open_log, say
from tests.thorough import examples
from workbench.chronicle.errors import ChronicleError, SectionCollision
from workbench.chronicle.sections import Anchor, Section, section_id
from workbench.chronicle.sqlite import SQLiteChronicleStore

EVENTS = 12
RANGES = st.tuples(st.integers(1, EVENTS), st.integers(1, EVENTS)).map(lambda pair: (min(pair), max(pair)))
WORDS = st.sampled_from(["one", "two", "три"])


class Chronicles(RuleBasedStateMachine):
    """A store, and what it should hold: every section by id, and which of them are current."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(prefix="chronicle-model-"))
        self.log = open_log(self.folder / "log.db")
        say(self.log, EVENTS)
        self.store = SQLiteChronicleStore(self.log, STREAM)
        self.sections: dict[str, Section] = {}
        self.current: dict[int, str] = {}

    def teardown(self) -> None:
        self.log.close()
        shutil.rmtree(self.folder)

    # -- the rules in plain words ----------------------------------------------------------

    def fits(self, section: Section) -> bool:
        """Whether it may be stored as a new one."""
        first, last = section.anchor[1:3]
        if section.anchor.supersedes is None:
            covered = {
                seq for each in self.current.values() for seq in self.events(self.sections[each].anchor)
            }
            return not covered.intersection(range(first, last + 1))
        return self.current.get(first) == section.anchor.supersedes and (
            self.sections[section.anchor.supersedes].anchor[1:3] == (first, last)
        )

    @staticmethod
    def events(anchor: Anchor) -> range:
        """What it covers."""
        return range(anchor.from_seq, anchor.to_seq + 1)

    def note(self, section: Section) -> None:
        """It was stored."""
        self.sections[section.anchor.section_id] = section
        self.current[section.anchor.from_seq] = section.anchor.section_id

    # -- what may happen -------------------------------------------------------------------

    @rule(bounds=RANGES, generation=st.integers(1, 3), words=WORDS, strict=st.booleans())
    def write(self, bounds: tuple[int, int], generation: int, words: str, strict: bool) -> None:
        section = a_section(*bounds, words, generation=generation)
        known = section.anchor.section_id in self.sections
        before = self.store.export()
        try:
            (self.store.append_new if strict else self.store.append)(section)
        except ChronicleError as error:
            assert known if isinstance(error, SectionCollision) else not self.fits(section)
            assert strict or not known
            assert self.store.export() == before
            return
        assert not (strict and known)
        if not known:
            assert self.fits(section)
            self.note(section)

    @rule(data=st.data(), words=WORDS)
    def supersede(self, data: st.DataObject, words: str) -> None:
        if not self.current:
            return
        anchor = self.sections[self.current[data.draw(st.sampled_from(sorted(self.current)))]].anchor
        generation = int(anchor.section_id.partition("#")[2] or 1) + 1
        section = a_section(*anchor[1:3], words, generation=generation)
        self.store.append_new(section)
        self.note(section)

    @rule(data=st.data())
    def load_what_was_exported(self, data: st.DataObject) -> None:
        assert self.store.load(data.draw(st.permutations(self.store.export()))) == 0

    @rule(data=st.data())
    def carry_into_a_copy_and_go_on_there(self, data: st.DataObject) -> None:
        exported = data.draw(st.permutations(self.store.export()))
        self.log.close()
        copy = Path(tempfile.mkdtemp(prefix="chronicle-model-"))
        shutil.copy(self.folder / "log.db", copy / "log.db")
        shutil.rmtree(self.folder)
        self.folder = copy
        self.log = open_log(copy / "log.db")
        self.store = SQLiteChronicleStore(self.log, STREAM)
        self.store.reset()
        assert self.store.load(exported) == len(self.sections)

    @rule(bounds=st.lists(RANGES, min_size=1, max_size=4), words=WORDS)
    def load_from_elsewhere(self, bounds: list[tuple[int, int]], words: str) -> None:
        sections = [
            a_section(*each, words, generation=generation) for each in bounds for generation in (2, 1)
        ]
        before = self.store.export()
        new = {each.anchor.section_id: each for each in sections if each.anchor[0] not in self.sections}
        try:
            landed = self.store.load(sections)
        except ChronicleError:
            assert self.store.export() == before
            assert new
            return
        assert landed == len(new)
        for section in sorted(new.values(), key=lambda each: each.anchor.section_id):
            assert self.fits(section)
            self.note(section)

    @rule()
    def undo_a_transaction(self) -> None:
        free = next((seq for seq in range(1, EVENTS + 1) if self.store.covering(seq) is None), None)
        if free is None:
            return
        try:
            with self.log.transaction():
                self.store.append(a_section(free, free))
                raise InterruptedError
        except InterruptedError:
            pass

    @rule()
    def open_again(self) -> None:
        self.log.close()
        self.log = open_log(self.folder / "log.db")
        self.store = SQLiteChronicleStore(self.log, STREAM)

    # -- what always holds -----------------------------------------------------------------

    @invariant()
    def the_store_holds_what_was_stored(self) -> None:
        exported = self.store.export()
        assert {each.anchor.section_id: each for each in exported} == self.sections
        assert len(exported) == len(self.sections)

    @invariant()
    def current_sections_never_overlap_and_each_event_has_one(self) -> None:
        anchors = self.store.anchors()
        assert [anchor.section_id for anchor in anchors] == [
            self.current[seq] for seq in sorted(self.current)
        ]
        assert [each.current.anchor for each in self.store.page()] == anchors
        covering: dict[int, Anchor] = {}
        for anchor in anchors:
            for seq in self.events(anchor):
                assert seq not in covering
                covering[seq] = anchor
        for seq in range(EVENTS + 2):
            found = self.store.covering(seq)
            assert (found and found.anchor) == covering.get(seq)
        prefix = next(seq for seq in range(1, EVENTS + 2) if seq not in covering) - 1
        assert self.store.consolidated_through() == prefix
        holes = [seq for first, last in self.store.holes() for seq in range(first, last + 1)]
        assert holes == [seq for seq in range(1, max(covering, default=0)) if seq not in covering]

    @invariant()
    def every_generation_of_a_range_is_there_in_order(self) -> None:
        for each in self.store.page():
            first, last = each.current.anchor[1:3]
            chain = [section.anchor.section_id for section in self.store.generations(first, last)]
            assert chain == [section_id(first, last, generation=n + 1) for n in range(each.generations)]
            assert chain[-1] == each.current.anchor.section_id

    @invariant()
    def the_words_of_every_section_are_found(self) -> None:
        for word in ("one", "три"):
            holding = {key for key, each in self.sections.items() if each.prose == word}
            assert set(self.store.ranked(word)) == holding


TestChronicles = Chronicles.TestCase
TestChronicles.settings = settings(max_examples=examples(60), stateful_step_count=14, deadline=None)
