"""Which of some events hold the words of a search, found by reading them and not by the log's full text.

The full text gathers everything that begins like the last word before it gives the first event, which costs
what the whole log is long: of a million events a single letter takes a tenth of a second. Some hundred events
that are read cost a few milliseconds.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import TracebackType
from typing import Self

import apsw

from workbench.log.folds import FoldEvent
from workbench.log.fulltext import TABLE, FullTextFold


class FullTextScan:
    """A full text of its own, in memory and empty between two looks; a context manager for one thread.

    `match` is what `match_expression` makes of a search.
    """

    def __init__(self, match: str) -> None:
        self._match = match
        self._fold = FullTextFold()
        self._words = apsw.Connection(":memory:")
        for statement in self._fold.schema:
            self._words.execute(statement)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._words.close()

    def matching(self, events: Sequence[FoldEvent]) -> list[int]:
        """The positions, ascending, of those events that hold the words; the events ascend too."""
        with self._words:
            self._fold.apply(self._words, events)
            found = self._words.execute(
                f"SELECT rowid FROM {TABLE} WHERE {TABLE} MATCH ? ORDER BY rowid", (self._match,)
            )
            positions = [position for (position,) in found]
            self._words.execute(f"INSERT INTO {TABLE}({TABLE}) VALUES('delete-all')")
        return positions
