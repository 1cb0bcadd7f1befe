"""Text inside one session: found like a naive search, whichever of its two ways leads, at the session's cost."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.workspace.workspace_cases import actum, begin, counted_steps, open_log, opened, unit
from workbench.log import EventLog
from workbench.log.streams import session_stream
from workbench.sessions.errors import ChronicumNotFound
from workbench.workspace.readers import Readers, entry_search
from workbench.workspace.rows import ActaFilter

ALL = ActaFilter()
Way = Literal["read", "looked up", "read, then looked up"]
WAYS: tuple[Way, ...] = ("read", "looked up", "read, then looked up")


def lead(monkeypatch: pytest.MonkeyPatch, way: Way) -> None:
    """Have every search go one way, in small steps."""
    monkeypatch.setattr(entry_search, "_FIRST_STEP", 2)
    monkeypatch.setattr(entry_search, "_LONGEST_STEP", 4)
    monkeypatch.setattr(entry_search, "_LOOKED_UP", 3)
    monkeypatch.setattr(entry_search, "READ_SHARE", 1 << 40)
    monkeypatch.setattr(entry_search, "FEW_ENTRIES", -1 if way == "looked up" else 1 << 40)
    if way == "read, then looked up":
        monkeypatch.setattr(entry_search, "READ_BYTES", 1)
        monkeypatch.setattr(entry_search, "READ_BYTES_PER_EVENT", 0)


@pytest.fixture(params=WAYS)
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Way:
    chosen: Way = request.param
    lead(monkeypatch, chosen)
    return chosen


@pytest.fixture
def readers(tmp_path: Path) -> Iterator[Readers]:
    """Session `s`: hits for “fig” at 2, 5, 6 (a thought), 9 (private), 12 (a unit), between acts of another."""
    with opened(tmp_path / "log.db") as (log, found):
        begin(log, "s")
        begin(log, "other")
        texts = ["a fig", "plum", "plum", "two figs", "", "plum", "plum", "", "plum", "plum", ""]
        for number, text in enumerate(texts, 2):
            log.append(session_stream("other"), [actum("other", content="a fig of another")])
            if number == 6:
                log.append(session_stream("s"), [actum("s", "thought", "agent", content="fig?")])
            elif number == 9:
                log.append(session_stream("s"), [actum("s", private=True, content="my FIG")])
            elif number == 12:
                log.append(session_stream("s"), [unit("s", "harvest", "figs are in")])
            else:
                log.append(session_stream("s"), [actum("s", content=text)])
        yield found


def test_the_next_and_the_previous_hit_are_found(readers: Readers, way: Way) -> None:
    find = readers.entries.search.find
    assert find("s", ALL, "fig") == 2
    assert [find("s", ALL, "fig", after_seq=seq) for seq in (0, 2, 5, 6, 9, 12, 99)] == [
        2,
        5,
        6,
        9,
        12,
        None,
        None,
    ]
    assert [find("s", ALL, "fig", before_seq=seq) for seq in (99, 12, 9, 6, 5, 2, 0)] == [
        12,
        9,
        6,
        5,
        2,
        None,
        None,
    ]


def test_hits_are_counted_and_hidden_ones_apart(readers: Readers, way: Way) -> None:
    search = readers.entries.search
    people = ActaFilter(kinds=("message",), actor_kinds=("human",), include_private=False)
    assert search.count("s", ALL, "fig") == 5
    assert search.count("s", people, "fig") == 2
    assert search.hits("s", people, "fig")[:2] == ((2, 5), 3)
    assert search.hits("s", ALL, "fig") == ((2, 5, 6, 9, 12), 0, 12)
    assert search.hits("s", None, "fig")[:2] == ((), 5)
    assert search.hits("s", ALL, "fig", after_seq=6)[:2] == ((9, 12), 0)
    assert search.page("s", ALL, "fig", 2) == [2, 5]
    assert search.page("s", ALL, "fig", 2, after_seq=5) == [6, 9]
    assert search.page("s", ALL, "fig", 0) == []


def test_the_actor_is_searched_and_another_session_is_not(readers: Readers, way: Way) -> None:
    search = readers.entries.search
    assert search.count("s", ALL, "ann") == 10
    assert search.count("s", ALL, "another") == 0
    assert search.count("other", ALL, "another fig") == 11


@pytest.mark.parametrize("text", ["", "  ", "-- …", '"', "\0"])
def test_a_text_without_words_matches_nothing(readers: Readers, way: Way, text: str) -> None:
    search = readers.entries.search
    assert search.find("s", ALL, text) is None
    assert search.count("s", ALL, text) == 0
    assert search.hits("s", ALL, text) == ((), 0, 0)


def test_it_tells_how_far_it_has_looked_and_stops_when_told(readers: Readers, way: Way) -> None:
    search = readers.entries.search
    seen: list[int] = []
    assert search.find("s", ALL, "nowhere", looked=seen.append) is None
    assert seen == sorted(seen)
    assert seen[-1] == 12
    back: list[int] = []
    assert search.find("s", ALL, "nowhere", before_seq=99, looked=back.append) is None
    assert back == sorted(back, reverse=True)
    steps: list[int] = []
    assert search.count("s", ALL, "ann", cancelled=lambda: True, looked=steps.append) < 10
    assert len(steps) == 1
    stopped = search.hits("s", ALL, "ann", cancelled=lambda: True)
    assert stopped.upto < 12


def test_a_missing_session_is_said_so(readers: Readers, way: Way) -> None:
    search = readers.entries.search
    for ask in (search.find, search.count, search.hits):
        with pytest.raises(ChronicumNotFound):
            ask("nobody", ALL, "fig")


# -- against a naive search ----------------------------------------------------------------

WORDS = ("fig", "figs", "plum", "Ёлка", "élan", "foo-bar", "it's", "日本")
TEXTS = st.lists(st.sampled_from((*WORDS, " ", "\n", "FIG", "ELAN", "fo")), max_size=5).map(" ".join)
QUERIES = st.lists(st.sampled_from((*WORDS, "fi", "f", "ел", "el", "bar", "—")), min_size=1, max_size=3).map(
    " ".join
)


def tokens(text: str) -> list[str]:
    folded = unicodedata.normalize("NFC", text).lower().replace("ё", "е").replace("é", "e")
    return re.findall(r"[^\W_]+", folded)


def holds(text: str, query: str) -> bool:
    """Every part's tokens in a row, the very last one as a beginning."""
    have = tokens(text)
    parts = [part for part in map(tokens, query.split()) if part]
    if not parts:
        return False
    for number, part in enumerate(parts):
        last = number == len(parts) - 1
        if not any(
            have[at : at + len(part) - 1] == part[:-1]
            and (
                have[at + len(part) - 1].startswith(part[-1])
                if last
                else have[at + len(part) - 1] == part[-1]
            )
            for at in range(len(have) - len(part) + 1)
        ):
            return False
    return True


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(st.tuples(st.booleans(), st.sampled_from(["message", "thought"]), TEXTS), max_size=14),
    QUERIES,
    st.integers(0, 18),
    st.sampled_from([ALL, ActaFilter(kinds=("message",)), ActaFilter(kinds=("unit_closed",))]),
    st.sampled_from(WAYS),
)
def test_it_finds_what_a_naive_search_finds(
    acts: list[tuple[bool, str, str]], query: str, at: int, wanted: ActaFilter, chosen: Way
) -> None:
    with pytest.MonkeyPatch.context() as patched, TemporaryDirectory() as folder:
        lead(patched, chosen)
        with opened(Path(folder) / "log.db") as (log, readers):
            begin(log, "s")
            begin(log, "t")
            for mine, kind, text in acts:
                name = "s" if mine else "t"
                log.append(session_stream(name), [actum(name, kind, content=text, actor="x")])
            own = [(seq, kind, text) for seq, (kind, text) in enumerate(((k, t) for m, k, t in acts if m), 2)]
            expected = [
                seq
                for seq, kind, text in own
                if holds(text, query) and (not wanted.kinds or kind in wanted.kinds)
            ]
            everything = [seq for seq, _, text in own if holds(text, query)]
            search = readers.entries.search
            assert search.count("s", wanted, query) == len(expected)
            hits = search.hits("s", wanted, query)
            assert hits[:2] == (tuple(expected), len(everything) - len(expected))
            assert search.find("s", wanted, query, after_seq=at) == min(
                (seq for seq in expected if seq > at), default=None
            )
            assert search.find("s", wanted, query, before_seq=at) == max(
                (seq for seq in expected if seq < at), default=None
            )
            assert search.page("s", wanted, query, 3, after_seq=at) == [s for s in expected if s > at][:3]


# -- what it costs -------------------------------------------------------------------------


def fill(log: EventLog, session: str, number: int, text: str) -> None:
    begin(log, session)
    log.append(session_stream(session), [actum(session, content=text) for _ in range(number)])


def cost(path: Path, others: int, query: str = "common") -> int:
    """Virtual-machine steps of counting in a session of 300 acts, beside others full of the word."""
    with open_log(path) as log:
        readers = Readers(log)
        begin(log, "s")
        for at in range(3):
            log.append(session_stream("s"), [actum("s", content="common enough") for _ in range(100)])
            fill(log, f"other {at}", others, "common commoner")
        with counted_steps(log) as steps:
            assert readers.entries.search.count("s", ALL, query) == (300 if query == "common" else 0)
        return sum(steps)


@pytest.mark.parametrize("query", ["common", "c nowhere"])
def test_what_other_sessions_say_costs_nothing(tmp_path: Path, query: str) -> None:
    few = cost(tmp_path / "few.db", 10, query)
    many = cost(tmp_path / "many.db", 10_000, query)
    assert few == pytest.approx(many, abs=50)


def test_a_session_that_is_the_log_is_looked_up(tmp_path: Path) -> None:
    with open_log(tmp_path / "log.db") as log:
        readers = Readers(log)
        fill(log, "s", 5_000, "plum")
        log.append(session_stream("s"), [actum("s", content="fig")])
        with counted_steps(log) as steps:
            assert readers.entries.search.find("s", ALL, "fig") == 5_002
        assert sum(steps) < 2_000
