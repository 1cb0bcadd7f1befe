"""Full text over everything an event type declares searchable (DESIGN §2 "The fold set").

One contentless FTS5 table whose rowid is the event's position: the words are in the index, the
text itself only in the log.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterator, Sequence

import apsw

from workbench.log.folds import FoldEvent

TABLE = "fulltext"

# The tokenizer folds accents of Latin letters but keeps the Russian ё apart from е, which people
# write for it; й is a letter of its own and stays.
_YO = str.maketrans({"ё": "е", "Ё": "Е"})


def normalised(text: str) -> str:
    """Text as it is indexed and asked for: composed, so that й is one letter however it was typed."""
    if text.isascii():
        return text
    text = unicodedata.normalize("NFC", text)
    return text.translate(_YO) if "ё" in text or "Ё" in text else text


class FullTextFold:
    """The fold `fulltext`."""

    name = "fulltext"
    version = 1
    tables = (TABLE,)
    schema = (
        f"CREATE VIRTUAL TABLE {TABLE} USING fts5("
        "title, body, content='', contentless_delete=1, tokenize='unicode61')",
        # Each transaction leaves a segment; merging eight at once, not four, moves every word less often.
        f"INSERT INTO {TABLE}({TABLE}, rank) VALUES('automerge', 8)",
    )
    types: frozenset[str] | None = None
    at_commit = True

    def apply(self, connection: apsw.Connection, events: Sequence[FoldEvent]) -> None:
        """Index every searchable event that has some text."""
        connection.executemany(f"INSERT INTO {TABLE}(rowid, title, body) VALUES(?, ?, ?)", _entries(events))


def _entries(events: Sequence[FoldEvent]) -> Iterator[tuple[int, str, str]]:
    for event in events:
        searchable: Callable[[object], tuple[str, str]] | None = event.event_type.searchable
        if searchable is None:
            continue
        title, body = searchable(event.payload)
        if title or body:
            yield event.position, normalised(title), normalised(body)


MOST_CHARACTERS = 1000
"""Of a search text; nobody types more."""


def match_expression(text: str) -> str:
    """An FTS5 query that finds events holding every word of `text`, the last one as a prefix.

    Empty if `text` holds no word; of a long text only the first `MOST_CHARACTERS` are asked for. Quotes
    keep every operator of FTS5's language literal.
    """
    # A pasted file would otherwise become a query of a hundred thousand words.
    text = text[:MOST_CHARACTERS]
    # Inside quotes the tokenizer itself separates words, as it did when the text was indexed.
    valid = text.encode("utf-8", "replace").decode()
    parts = normalised(valid).replace('"', " ").replace("\0", " ").split()
    phrases = [part for part in parts if any(c.isalnum() for c in part)]
    if not phrases:
        return ""
    return " ".join(f'"{phrase}"' for phrase in phrases) + "*"
