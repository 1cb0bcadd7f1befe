"""Facts as the faces see them: a row of the list, and all that is known of one of them."""

from __future__ import annotations

from datetime import datetime

import msgspec

from workbench.memory import fact_standing
from workbench.memory.fact_order import ORDERS as ORDERS
from workbench.memory.fact_order import FactFilter as FactFilter
from workbench.memory.fact_order import FactOrder as FactOrder
from workbench.memory.fact_order import FactPlace as FactPlace
from workbench.memory.views import ChainLink, Review

MORE_COUNTED = fact_standing.COUNTED


def damage_words(why: str) -> str:
    """What stands where a fact cannot be read."""
    return f"‹unreadable: {why}› run workbench doctor"


class FactRow(msgspec.Struct, frozen=True, kw_only=True):
    """What one slot holds, or held. Texts are a stranger's words."""

    id: str
    slot: str
    value: str
    kind: str
    """`observed`, `decision` or `assumption`."""
    agent: str
    domain: str
    project: str
    task_id: str
    """Empty where the scope is wider."""
    recorded_at: datetime
    place: FactPlace
    verdict: str = ""
    """The latest review's: `accepted`, `questioned`, `rejected`; empty where nobody reviewed it."""
    values: int = 1
    """Current values of its slot, counting other spellings of its scope's names."""
    built_on: int = 0
    """Of an assumption: later facts that name it, as far as they were looked for."""
    current: bool = True
    private: bool = False
    damage: str = ""
    """Why it cannot be read; then it has no value, and its names are folded ones."""

    @property
    def position(self) -> int:
        """Of the event that asserted it."""
        return self.place.position

    @property
    def links(self) -> int:
        """Facts in its chain, itself included."""
        return self.place.links

    @property
    def disputed(self) -> bool:
        """Whether its latest review rejects it."""
        return self.verdict == "rejected"


class FactLink(msgspec.Struct, frozen=True, kw_only=True):
    """One fact of a chain, and what others made of it."""

    fact: ChainLink
    confirmed_by: tuple[str, ...]
    """Agents other than its author that said the same, in the order in which they first did."""
    said_again: int
    """How often its own author said it again."""
    review: Review | None
    """The latest of it."""
    session_id: str
    """The session of its author, as the author named it; empty where none was named."""
    other_spelling: bool = False
    """Its scope's names were written otherwise than those of the last fact of its chain."""
    built_on: tuple[FactRow, ...] = ()
    """Of an assumption: facts that name it."""


class DamagedLink(msgspec.Struct, frozen=True, kw_only=True):
    """A fact of a chain that cannot be read, or whose neighbours cannot."""

    position: int
    why: str


class FactDetail(msgspec.Struct, frozen=True, kw_only=True):
    """All that is known of what one slot holds."""

    row: FactRow
    """The last fact of the chain."""
    links: tuple[FactLink | DamagedLink, ...]
    """Newest first; of a long chain the newest."""
    rivals: tuple[FactRow, ...]
    """The slot's other current values, under other spellings of the same names."""
    elsewhere: tuple[FactRow, ...]
    """What the same slot holds in other scopes, those of the same project first."""
    elsewhere_more: int
    """How many more such scopes there are, counted up to `MORE_COUNTED`."""
