"""The filter of the Redactions screen: in words, part by part, and as the person's state keeps it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, tzinfo

import msgspec

from workbench.log.times import from_micros
from workbench.tui.present import Line, Span, visible
from workbench.tui.timeline.bars import NO_TITLES, FilterLine, FilterPart
from workbench.tui.timeline.stream_names import stream_words
from workbench.workspace.readers.timeline_dates import range_text
from workbench.workspace.rows import RedactionFilter

_LONGEST = 60
_FURTHEST = 250_000_000_000_000_000
"""Microseconds; a moment beyond is no date of the calendar."""


class RedactionFilterLine(FilterLine):
    """The filter in words, each part with a mark that removes it."""

    def show_filter(self, wanted: RedactionFilter, key: str, zone: tzinfo = UTC) -> None:
        """Show this filter; `key` clears it."""
        self.show_parts(lambda titles: filter_parts(wanted, zone, titles), [wanted.stream], key)


def filter_parts(
    wanted: RedactionFilter, zone: tzinfo = UTC, titles: Mapping[str, str] = NO_TITLES
) -> list[FilterPart]:
    """What a filter asks for, in words; times in `zone`, `titles` of the streams of sessions."""
    parts: list[FilterPart] = []

    def add(name: str, *line: Span) -> None:
        parts.append(FilterPart(name, line))

    if wanted.text:
        add("text", Span(f"“{visible(wanted.text[:_LONGEST])}”", "ink"))
    if wanted.kinds:
        add("kinds", Span(visible(" or ".join(wanted.kinds)[:_LONGEST]), "ink"))
    if wanted.actor:
        add("actor", Span("by ", "dim"), Span(visible(wanted.actor[:_LONGEST]), "ink"))
    if wanted.stream:
        add("stream", Span("in ", "dim"), Span(stream_words(wanted.stream, titles), "ink"))
    if wanted.since is not None or wanted.until is not None:
        said = range_text(moment_of(wanted.since), moment_of(wanted.until), zone)
        add("range", Span("noted ", "dim"), Span(visible(said), "ink"))
    return parts


def filter_words(wanted: RedactionFilter, zone: tzinfo = UTC, titles: Mapping[str, str] = NO_TITLES) -> Line:
    """The whole filter on one line."""
    line: list[Span] = []
    for part in filter_parts(wanted, zone, titles):
        line += [Span(" · ", "faint"), *part.line] if line else part.line
    return tuple(line)


def without(wanted: RedactionFilter, name: str) -> RedactionFilter:
    """The filter without one of its parts."""
    if name == "range":
        return wanted._replace(since=None, until=None)
    return wanted._replace(**{name: RedactionFilter._field_defaults[name]})


def moment_of(micros: int | None) -> datetime | None:
    """A bound of a filter as a moment."""
    return None if micros is None else from_micros(micros)


def filter_values(wanted: RedactionFilter) -> dict[str, str]:
    """What of a filter is set, as texts by name."""
    values = {name: getattr(wanted, name) for name in ("text", "actor", "stream")}
    if wanted.kinds:
        values["kinds"] = msgspec.json.encode(wanted.kinds).decode()
    for name, micros in (("since", wanted.since), ("until", wanted.until)):
        if micros is not None:
            values[name] = str(micros)
    return {name: value for name, value in values.items() if value}


def filter_from(values: Mapping[str, str]) -> RedactionFilter:
    """The filter that was kept; what of it cannot be understood is not set."""
    try:
        kinds = tuple(msgspec.json.decode(values.get("kinds") or "[]", type=list[str]))
    except msgspec.DecodeError:
        kinds = ()
    return RedactionFilter(
        kinds=kinds,
        since=_micros(values.get("since", "")),
        until=_micros(values.get("until", "")),
        stream=values.get("stream", ""),
        actor=values.get("actor", ""),
        text=values.get("text", ""),
    )


def _micros(text: str) -> int | None:
    digits = text.removeprefix("-")
    if not (digits.isascii() and digits.isdecimal() and len(digits) < 20):
        return None
    micros = int(text)
    return micros if 0 <= micros < _FURTHEST else None
