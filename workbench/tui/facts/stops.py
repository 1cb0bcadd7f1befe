"""What the cursor can stand on in the detail of a fact: links of the chain, and other facts near it."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from workbench.tui.facts.fact_words import scope_words
from workbench.tui.present import number
from workbench.tui.widgets.page_source import MemorySource
from workbench.workspace.fact_rows import MORE_COUNTED, DamagedLink, FactDetail, FactLink, FactRow


@dataclass(frozen=True, slots=True)
class LinkStop:
    """A fact of the chain."""

    link: FactLink
    ends: bool
    """Nothing of the chain is shown below it."""
    elsewhere: str = ""
    """Its scope in words, where that is written otherwise than in the last link."""
    left_out: int = 0
    """How many older facts of the chain are not shown after it, which is the oldest that is."""

    @property
    def position(self) -> int:
        """Of the event that asserted it."""
        return self.link.fact.position


@dataclass(frozen=True, slots=True)
class FactStop:
    """Another fact; the first of a group has the group's title."""

    row: FactRow
    group: str
    title: str = ""
    more: str = ""
    """What is left out after it."""
    last: bool = False
    """The last of its group."""

    @property
    def position(self) -> int:
        """Of the event that asserted it."""
        return self.row.position


@dataclass(frozen=True, slots=True)
class DamagedStop:
    """A fact of the chain that cannot be read."""

    position: int
    why: str
    ends: bool
    left_out: int = 0


Stop: TypeAlias = LinkStop | FactStop | DamagedStop


def stop_key(stop: Stop) -> Hashable:
    """The identity of a stop."""
    return (stop.position, stop.group if isinstance(stop, FactStop) else "link")


def stops_of(detail: FactDetail) -> list[Stop]:
    """Everything that the detail of a fact lists, from the newest link on."""
    last = detail.row
    stops: list[Stop] = []
    beyond = last.links - len(detail.links)
    for number_of, link in enumerate(detail.links, 1):
        oldest = number_of == len(detail.links)
        ends, left_out = oldest and not beyond, beyond if oldest else 0
        if isinstance(link, DamagedLink):
            stops.append(DamagedStop(link.position, link.why, ends, left_out))
            continue
        fact = link.fact
        scope = (
            scope_words(fact.domain, fact.project or "", fact.task_id or "") if link.other_spelling else ""
        )
        stops.append(LinkStop(link, ends, scope, left_out))
    stops += _group(
        detail.rivals,
        "rivals",
        "Other current values",
        "The same names, spelled otherwise. A new value of the newest one replaces them all.",
    )
    more = ""
    if detail.elsewhere_more:
        or_more = " or more" if detail.elsewhere_more >= MORE_COUNTED else ""
        more = f"and {number(detail.elsewhere_more)}{or_more} in further scopes"
    stops += _group(detail.elsewhere, "elsewhere", "Same slot elsewhere", "", more)
    for link in detail.links:
        if isinstance(link, FactLink) and link.built_on:
            named = f"Built on the assumption of event {number(link.fact.position)}"
            stops += _group(link.built_on, f"built {link.fact.position}", named)
    return stops


def _group(
    rows: tuple[FactRow, ...], name: str, title: str, note: str = "", more: str = ""
) -> list[FactStop]:
    whole = f"{title}\n{note}" if note else title
    last = len(rows) - 1
    return [
        FactStop(row, name, "" if at else whole, more if at == last else "", at == last)
        for at, row in enumerate(rows)
    ]


class StopSource(MemorySource[Stop]):
    """The stops of one chain, which may grow while it is read."""

    def __init__(self, stops: Sequence[Stop]) -> None:
        super().__init__(stops, stop_key)

    def renew(self, stops: Sequence[Stop]) -> None:
        """Have these stops from now on."""
        fresh = MemorySource(stops, stop_key)
        self.rows, self._index = fresh.rows, fresh._index
