"""Full text: what words find, and that no query can break the search."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.log.log_cases import found, new_log, said, stream
from tests.thorough import examples
from workbench.log import EventLog
from workbench.log.fulltext import TABLE, match_expression
from workbench.storage import fetch

TEXTS = [
    "Ёжик в тумане, ёлка",  # 1
    "ежик ЕЛКА",  # 2
    "мой чай",  # 3
    "мои чаи",  # 4
    "café résumé",  # 5
    "AND OR NOT NEAR title body",  # 6
    'he said "quoted words" and it\'s fine',  # 7
    "path/to/file_name.py:42 snake_case",  # 8
    "日本語のテキスト 混合",  # 9
    "rocket 🚀 launch",  # 10
    "before\0after",  # 11
    "C++ and C# and x^2 {a} [b] (c) a-b a:b",  # 12
    "İstanbul straße",  # 13
    "हिन्दी पाठ",  # 14
]


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EventLog]:
    with new_log(tmp_path_factory.mktemp("fulltext") / "log.db") as opened:
        opened.append(stream("a"), [said(text, f"speaker{n}") for n, text in enumerate(TEXTS, start=1)])
        yield opened


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("ежик", [1, 2]),
        ("ёжик", [1, 2]),
        ("ЁЛКА", [1, 2]),
        ("елк", [1, 2]),
        (unicodedata.normalize("NFD", "ёлка"), [1, 2]),
        ("мой", [3]),
        (unicodedata.normalize("NFD", "мой"), [3]),
        ("мои", [4]),
        ("чаи", [4]),
        ("cafe", [5]),
        ("CAFÉ", [5]),
        (unicodedata.normalize("NFD", "résumé"), [5]),
        ("resume caf", [5]),
        ("AND", [6, 7, 12]),
        ("NOT NEAR", [6]),
        ("NEAR(title body)", [6]),
        ("title:quoted", []),
        ("body : quoted", []),
        ('"quoted words"', [7]),
        ('quoted"words', [7]),
        ("words quoted", [7]),
        ("quot", [7]),
        ("quoted wor", [7]),
        ("quo words", []),
        ("file_name", [8]),
        ("file_name.py", [8]),
        ("name", [8]),
        ("日本語のテキスト", [9]),
        ("日本", [9]),
        ("rocket", [10]),
        ("🚀", []),
        ("🚀 rocket", [10]),
        ("before", [11]),
        ("after", [11]),
        ("be\0fore", []),
        ("before\0after", [11]),
        ("c#", [5, 8, 12]),
        ("a-b", [12]),
        ("b-x", []),
        ("istanbul", [13]),
        ("हिन्दी", [14]),
        ("speaker3", [3]),
        ("speaker1", [1, 10, 11, 12, 13, 14]),
    ],
)
def test_words_find_events(log: EventLog, words: str, expected: list[int]) -> None:
    assert found(log, words) == expected


@pytest.mark.parametrize(
    "query",
    [
        "",
        " ",
        "\t\n",
        "*",
        '"',
        '""',
        '"""',
        "^",
        "-",
        "+",
        "()",
        "🚀",
        "\0",
        "\ud800",
        "...",
        "_",
        "\u0301",
        "\u200b",
    ],
)
def test_a_query_without_a_word_finds_nothing_and_asks_nothing(log: EventLog, query: str) -> None:
    assert match_expression(query) == ""
    assert found(log, query) == []


@pytest.mark.parametrize(
    "query",
    [
        'a" OR "b',
        '"a" OR title : b*',
        "NEAR(a b, 3)",
        "{title body}: a",
        "-title : a",
        "^a",
        "a AND",
        "NOT a",
        "a + b",
        "a*b*",
        "(a",
        "a)",
        "'; DROP TABLE events; --",
        "a\0b",
        "\ud800a",
        "²",
        "x\u0302y",
        "ﬁn",
        "a" * 100_000,
        "word " * 3000,
        "\u202ea\u202c",
        "?1",
        ":name",
        "@x",
        "\\",
        "%a_",
    ],
)
def test_a_hostile_query_is_words_and_nothing_else(log: EventLog, query: str) -> None:
    found(log, query)


@settings(
    max_examples=examples(300), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(query=st.text(st.characters(), max_size=40) | st.text('"*^:(){}-+ aАNEARODT', max_size=25))
def test_no_query_breaks_the_search(log: EventLog, query: str) -> None:
    found(log, query)


@settings(
    max_examples=examples(100), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(text=st.text(st.characters(exclude_categories=["Cs"]), max_size=60))
def test_a_text_is_found_by_itself(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    with new_log(tmp_path_factory.mktemp("own") / "log.db") as log:
        log.append(stream("a"), [said(text, "nobody")])
        with log.reader() as connection:
            indexed = fetch.value(
                connection,
                f"SELECT count(*) FROM {TABLE} WHERE {TABLE} MATCH ?",
                ('body : "nobody" OR nobody',),
            )
        assert indexed == 1
        words = [w for w in text.replace('"', " ").replace("\0", " ").split() if w.isascii() and w.isalnum()]
        for word in words:
            assert found(log, word) == [1]


def test_newest_comes_first_when_asked_from_the_end(log: EventLog) -> None:
    with log.reader() as connection:
        sql = f"SELECT rowid FROM {TABLE} WHERE {TABLE} MATCH ? ORDER BY rowid DESC"
        assert [p for (p,) in fetch.rows(connection, sql, (match_expression("and"),))] == [12, 7, 6]


def test_only_searchable_types_are_indexed(tmp_path: Path) -> None:
    from tests.log.log_cases import Measured

    with new_log(tmp_path / "log.db") as log:
        log.append(stream("a"), [Measured(label="hidden", value="hidden"), said("shown"), said("", "")])
        assert found(log, "hidden") == []
        assert found(log, "shown") == [2]
