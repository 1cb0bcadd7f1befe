"""What a person began to write and left: kept while the program runs, whatever becomes of its screens.

Nothing of it is written to disk: it may hold what the filter would have taken out.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

if TYPE_CHECKING:
    from workbench.memory.events import ReviewItem

Words = TypeVar("Words")


class Verdict(NamedTuple):
    """What a person decided."""

    verdict: str
    comment: str
    item: ReviewItem | None
    """The line that is meant; None for the whole."""


class Decision(NamedTuple):
    """What a person typed of what a slot holds from now on."""

    value: str
    why: str


@dataclass
class Drafts(Generic[Words]):
    """One kind of draft, such as verdicts: what was typed, by what it is about."""

    kind: str
    """As it is named to a person, such as `verdict`."""
    _kept: dict[Hashable, tuple[str, Words]] = field(default_factory=dict)

    def keep(self, about: Hashable, title: str, words: Words) -> None:
        """Keep these words; `title` says in a few of them what they are about."""
        self._kept[about] = title, words

    def take(self, about: Hashable) -> Words | None:
        """Take out what was kept about this; None where nothing was."""
        return self._kept.pop(about, (None, None))[1]

    def clear(self) -> int:
        """Forget them all; returns how many there were."""
        found = len(self._kept)
        self._kept.clear()
        return found

    def lost_by_leaving(self) -> list[str]:
        """A sentence for each that would be lost by leaving the program."""
        return [f"An unfinished {self.kind} on “{title}” would be lost." for title, _ in self._kept.values()]
