"""`workbench timeline`: events as they were recorded or as they happened (contract surfaces)."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Literal
from zoneinfo import ZoneInfo

import click

from workbench.cli import forms
from workbench.cli.opening import open_workspace
from workbench.cli.options import Given, common, completes, limit, pass_given, utf8, whole
from workbench.cli.output import warn_unknown, write_json, write_lines

if TYPE_CHECKING:
    from workbench.workspace import Workspace
    from workbench.workspace.readers.timeline_queries import TimelineReader
    from workbench.workspace.rows import EventRow, Place, TimelineFilter, TimelineOrder

ORDERS = ("recorded", "happened")


@click.command("timeline")
@common
@click.option(
    "--type",
    "types",
    multiple=True,
    type=utf8,
    metavar="TYPE",
    shell_complete=completes("event_types"),
    help="Only events of this type, such as actum.recorded; may be repeated.",
)
@click.option(
    "--actor",
    "actors",
    multiple=True,
    type=utf8,
    metavar="ID",
    shell_complete=completes("actors"),
    help="Only what this one did; may be repeated.",
)
@click.option(
    "--text",
    type=utf8,
    default="",
    metavar="WORDS",
    help="Only what holds these words, the last one as a beginning.",
)
@click.option(
    "--stream",
    "streams",
    multiple=True,
    type=utf8,
    metavar="NAME",
    shell_complete=completes("streams"),
    help="Only this stream, such as session/ID; may be repeated.",
)
@click.option("--visibility", type=click.Choice(("private", "public")), help="Only one or the other.")
@click.option(
    "--since",
    type=utf8,
    metavar="WHEN",
    help="Happened then or later: 2026-03-02, “2026-03-02 14:00”, yesterday, “3 days ago”.",
)
@click.option("--until", type=utf8, metavar="WHEN", help="Happened before then.")
@click.option(
    "--order",
    type=click.Choice(ORDERS),
    default="recorded",
    show_default=True,
    help="By position, or by when things happened.",
)
@limit
@click.option(
    "--after",
    type=whole(0, 2**62),
    metavar="POSITION",
    help="Go on behind a page: its “next”.",
)
@click.option("--newest", is_flag=True, help="Newest first.")
@pass_given
def command(
    given: Given,
    types: tuple[str, ...],
    actors: tuple[str, ...],
    text: str,
    streams: tuple[str, ...],
    visibility: str | None,
    since: str | None,
    until: str | None,
    order: str,
    limit: int,
    after: int | None,
    newest: bool,
) -> None:
    """List events, oldest first; parts of a filter must all match, repeated options any.

    Dates are of the workspace's time zone.
    """
    from workbench.workspace.rows import TimelineFilter

    with open_workspace(given) as workspace:
        reader = workspace.readers.timeline
        wanted = TimelineFilter(
            types=types,
            actors=actors,
            text=text,
            streams=streams,
            visibility=_visibility(visibility),
            since=_moment("since", since, workspace),
            until=_moment("until", until, workspace),
        )
        if types:
            warn_unknown("type", types, reader.types(), " in this workspace")
        if order == "happened":
            rows = _as_happened(reader, wanted, limit + 1, after, newest)
        elif newest:
            rows = reader.page(wanted, limit + 1, before=after)
        else:
            rows = reader.page(wanted, limit + 1, after=after or 0)
        if newest:
            rows.reverse()
        following = rows[limit - 1].position if len(rows) > limit else None
        rows = rows[:limit]
        if given.as_json:
            whole = (row if row.whole else reader.event(row.position) for row in rows)
            write_json({"events": [forms.event(row) for row in whole if row is not None], "next": following})
            return
        from workbench.cli import readable

        write_lines(readable.events(rows, following, workspace.timezone, _order(order)))


def _order(given: str) -> TimelineOrder:
    return "happened" if given == "happened" else "recorded"


def _visibility(given: str | None) -> Literal["", "private", "public"]:
    return "private" if given == "private" else "public" if given == "public" else ""


def _moment(option: str, text: str | None, workspace: Workspace) -> datetime | None:
    if text is None:
        return None
    from workbench.workspace.readers.timeline_dates import parse_moment

    moment = parse_moment(text, ZoneInfo(workspace.timezone), datetime.now(UTC))
    if moment is None:
        raise click.BadParameter(
            f"{text!r} is no date; give one such as 2026-03-02, “2026-03-02 14:00”, 14:30, yesterday or "
            "“3 days ago”.",
            param_hint=f"--{option}",
        )
    return moment


def _as_happened(
    reader: TimelineReader, wanted: TimelineFilter, limit: int, after: int | None, newest: bool
) -> list[EventRow]:
    place: Place | None = None
    if after:
        place = reader.place_at(after)
        if place is None:
            raise click.BadParameter(f"there is no event {after}.", param_hint="--after")
    if newest:
        return reader.search_happened(wanted, limit, before=place).rows
    from workbench.workspace.readers.timeline_queries import FIRST_PLACE

    return reader.search_happened(wanted, limit, after=place or FIRST_PLACE).rows
