"""Finding sections by what they say: contract log-and-chronicle, §11 "Retriever", invariant 97."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.chronicle.store_cases import a_section, say, stored
from workbench.chronicle.ports import Retriever
from workbench.chronicle.retrieval import FullTextRetriever, substring_retriever
from workbench.chronicle.sections import Section
from workbench.chronicle.sqlite import SQLiteChronicleStore

Store = SQLiteChronicleStore
PROSES = {
    (1, 3): "Die Straße wurde gesperrt; Ёлка осталась.",
    (4, 6): "The budget was agreed on, and the budget holds.",
    (7, 9): "A budget was asked for.",
    (10, 12): "Nothing happened.",
}


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """A chronicle of four sections; the second has an older generation about frogs."""
    with stored(tmp_path) as (_, store):
        store.append(a_section(4, 6, "Frogs and budget"))
        for (first, last), prose in PROSES.items():
            store.append(a_section(first, last, prose, generation=2 if first == 4 else 1))
        yield store


def ids(sections: list[Section]) -> list[str]:
    """Their ids."""
    return [section.anchor.section_id for section in sections]


def test_i97_substrings_newest_first_and_every_section_for_nothing(store: Store) -> None:
    port: Retriever = substring_retriever
    sections = store.sections()
    assert ids(list(port(sections, "STRASSE"))) == ["1-3"]
    assert ids(substring_retriever(sections, "Budget")) == ["7-9", "4-6#2"]
    assert ids(substring_retriever(sections, "")) == ["10-12", "7-9", "4-6#2", "1-3"]
    assert substring_retriever(sections, "unheard of") == []
    # No trimming and no words: exactly what stands there.
    assert substring_retriever(sections, " budget was ") != []
    assert substring_retriever(sections, "budget  was") == []
    assert ids(substring_retriever(sections, "е")) == []
    again = [a_section(1, 3, "x"), a_section(2, 3, "x"), a_section(1, 1, "x")]
    assert ids(substring_retriever(again, "x")) == ["1-3", "2-3", "1-1"]


@given(st.lists(st.text(max_size=8), max_size=6), st.text(max_size=3))
def test_substrings_find_what_holds_the_query_and_nothing_else(proses: list[str], query: str) -> None:
    sections = [a_section(seq, seq, "?")._replace(prose=prose) for seq, prose in enumerate(proses, 1)]
    found = substring_retriever(sections, query)
    assert [each.anchor.to_seq for each in found] == [
        seq for seq in range(len(proses), 0, -1) if query.casefold() in proses[seq - 1].casefold()
    ]


def test_full_text_finds_words_the_best_first(store: Store) -> None:
    port: Retriever = FullTextRetriever(store)
    sections = store.sections()
    assert ids(list(port(sections, "budget"))) == ["4-6#2", "7-9"]
    assert ids(list(port(sections, "елка"))) == ids(list(port(sections, "Ёлк"))) == ["1-3"]
    assert list(port(sections, "budget unheard")) == list(port(sections, "???")) == []
    assert ids(list(port(sections, "  "))) == ["10-12", "7-9", "4-6#2", "1-3"]
    assert ids(list(port(sections[2:], "budget"))) == ["7-9"]
    # Only of what it is given; a superseded section may be among that.
    assert list(port(sections, "frogs")) == []
    assert ids(list(port(store.export(), "frogs"))) == ["4-6"]


@pytest.mark.parametrize(
    "query", ['"', "budget OR frogs", "NEAR(", "prose:budget", "*", "-budget", "\x00", "a\ud800"]
)
def test_no_query_is_a_language(store: Store, query: str) -> None:
    assert all(
        "budget" in section.prose.lower() for section in FullTextRetriever(store)(store.sections(), query)
    )


def test_a_search_reads_the_best_of_the_current_sections_only(store: Store) -> None:
    retriever = FullTextRetriever(store)
    assert ids(retriever.search("budget", 1)) == ["4-6#2"]
    assert retriever.search("frogs", 5) == []
    assert ids(retriever.search("", 2)) == ["10-12", "7-9"]


def test_another_streams_sections_are_not_found(tmp_path: Path) -> None:
    with stored(tmp_path) as (log, store):
        say(log, 3, "session/other")
        other = Store(log, "session/other")
        other.append(a_section(1, 3, "frogs"))
        assert FullTextRetriever(store).search("frogs", 5) == []
        assert FullTextRetriever(store)([a_section(1, 3, "frogs")], "frogs") == []
        assert ids(FullTextRetriever(other).search("frogs", 5)) == ["1-3"]


def test_what_is_reset_is_not_found_any_more(store: Store) -> None:
    kept = store.export()
    store.reset()
    assert FullTextRetriever(store)(kept, "budget") == []
    store.load(kept)
    assert ids(FullTextRetriever(store)(kept, "frogs")) == ["4-6"]
