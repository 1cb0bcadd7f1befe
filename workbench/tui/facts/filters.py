"""The filter of the Facts screen: in words, part by part, and as the person's state keeps it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import msgspec

from workbench.tui.present import Line, Span, visible
from workbench.tui.timeline.bars import FilterLine, FilterPart
from workbench.workspace.fact_rows import ORDERS, FactFilter, FactOrder

_LONGEST = 60
Only = Literal["", "disputed", "conflicts"]
_ONLY: tuple[Only, ...] = ("disputed", "conflicts")
ONLY_WORDS: Mapping[str, str] = {"disputed": "disputed only", "conflicts": "spellings disagree"}
ORDER_WORDS: Mapping[FactOrder, str] = {
    "newest": "",
    "scope": "by scope and slot",
    "replaced": "most replaced first",
}
"""What the list says of its order; nothing of the usual one."""


class FactFilterLine(FilterLine):
    """The filter in words, each part with a mark that removes it."""

    def show_filter(self, wanted: FactFilter, key: str) -> None:
        """Show this filter; `key` clears it."""
        self.show_parts(lambda titles: filter_parts(wanted), (), key)


def filter_parts(wanted: FactFilter) -> list[FilterPart]:
    """What a filter asks for, in words."""
    parts: list[FilterPart] = []
    if wanted.text:
        parts.append(FilterPart("text", (Span(f"“{visible(wanted.text[:_LONGEST])}”", "ink"),)))
    if wanted.kinds:
        parts.append(FilterPart("kinds", (Span(visible(" or ".join(wanted.kinds)[:_LONGEST]), "ink"),)))
    if wanted.only:
        parts.append(FilterPart("only", (Span(ONLY_WORDS[wanted.only], "ink"),)))
    return parts


def filter_words(wanted: FactFilter) -> Line:
    """The whole filter on one line."""
    line: list[Span] = []
    for part in filter_parts(wanted):
        line += [Span(" · ", "faint"), *part.line] if line else part.line
    return tuple(line)


def without(wanted: FactFilter, name: str) -> FactFilter:
    """The filter without one of its parts."""
    return wanted._replace(**{name: FactFilter._field_defaults[name]})


def filter_values(wanted: FactFilter, order: FactOrder) -> dict[str, str]:
    """What of a filter and of an order is set, as texts by name."""
    values = {"text": wanted.text, "only": wanted.only, "order": "" if order == "newest" else order}
    if wanted.kinds:
        values["kinds"] = msgspec.json.encode(wanted.kinds).decode()
    return {name: value for name, value in values.items() if value}


def filter_from(values: Mapping[str, str]) -> tuple[FactFilter, FactOrder]:
    """The filter and the order that were kept; what of them cannot be understood is not set."""
    try:
        kinds = tuple(msgspec.json.decode(values.get("kinds") or "[]", type=list[str]))
    except msgspec.DecodeError:
        kinds = ()
    only: Only = ""
    for named in _ONLY:
        if named == values.get("only"):
            only = named
    order: FactOrder = "newest"
    for way in ORDERS:
        if way == values.get("order"):
            order = way
    return FactFilter(values.get("text", ""), kinds, only), order
