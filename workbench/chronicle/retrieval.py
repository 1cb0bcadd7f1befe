"""Sections that fit a query (contract log-and-chronicle, §11 "Retriever")."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.chronicle.sections import Section
from workbench.chronicle.sqlite import SQLiteChronicleStore


def substring_retriever(sections: Sequence[Section], query: str) -> list[Section]:
    """Those whose prose holds the query as it stands, small and capital letters alike, the newest first.

    A `Retriever`. An empty query fits every section.
    """
    wanted = query.casefold()
    found = [section for section in sections if wanted in section.prose.casefold()]
    return sorted(found, key=lambda section: section.anchor.to_seq, reverse=True)


class FullTextRetriever:
    """A `Retriever` by the words of the prose, ё as е, the best first and of equals the newest.

    Every word of the query has to be there, the last one as a beginning. It finds sections of one stream,
    superseded ones too, if they are among those it is given. A blank query fits every section.
    """

    def __init__(self, store: SQLiteChronicleStore) -> None:
        self._store = store

    def __call__(self, sections: Sequence[Section], query: str) -> list[Section]:
        """Those of `sections` that fit, in order."""
        if not query.strip():
            return substring_retriever(sections, "")
        given = {section.anchor.section_id: section for section in sections}
        return [given[found] for found in self._store.ranked(query) if found in given]

    def search(self, query: str, limit: int) -> list[Section]:
        """The best of the stream's current sections, without reading the others; all of them, the newest
        first, for a blank query."""
        return self._store.found(query, limit) if query.strip() else self._store.newest(limit)
