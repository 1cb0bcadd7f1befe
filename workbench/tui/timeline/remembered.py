"""The filter of the Timeline as texts by name, as the person's state keeps it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

import msgspec

from workbench.log.times import to_text
from workbench.workspace.rows import TimelineFilter

_NAMES = ("types", "actors", "streams", "projects", "tasks", "domains", "agents", "categories")
_TIMES = ("since", "until")


def filter_values(wanted: TimelineFilter) -> dict[str, str]:
    """What of a filter is set."""
    values = {
        name: msgspec.json.encode(names).decode() for name in _NAMES if (names := getattr(wanted, name))
    }
    values |= {name: to_text(moment) for name in _TIMES if (moment := getattr(wanted, name)) is not None}
    if wanted.text:
        values["text"] = wanted.text
    if wanted.visibility:
        values["visibility"] = wanted.visibility
    return values


def filter_from(values: Mapping[str, str]) -> TimelineFilter:
    """The filter that was kept; what of it cannot be understood is not set."""
    visibility = values.get("visibility", "")
    return TimelineFilter(
        **{name: _names(values.get(name, "")) for name in _NAMES},
        text=values.get("text", ""),
        visibility="private" if visibility == "private" else "public" if visibility == "public" else "",
        since=_moment(values.get("since", "")),
        until=_moment(values.get("until", "")),
    )


def _names(text: str) -> tuple[str, ...]:
    try:
        return tuple(msgspec.json.decode(text, type=list[str])) if text else ()
    except msgspec.DecodeError:
        return ()


def _moment(text: str) -> datetime | None:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return moment if moment.tzinfo is not None else None
