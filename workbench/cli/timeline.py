"""`workbench timeline`: events as they were recorded or as they happened (contract surfaces)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import click

from workbench.cli import forms
from workbench.cli.errors import UsageRefused
from workbench.cli.memory_options import MOST_LISTED
from workbench.cli.moments import moment, past
from workbench.cli.opening import open_workspace
from workbench.cli.options import Given, common, completes, limit, pass_given, utf8, whole
from workbench.cli.output import warn_unknown, write_json, write_lines

if TYPE_CHECKING:
    from datetime import datetime

    from workbench.workspace import Workspace
    from workbench.workspace.readers.timeline_queries import TimelineReader
    from workbench.workspace.rows import EventRow, Place, TimelineFilter, TimelineOrder

ORDERS = ("recorded", "happened")
_USUAL_WINDOW = 6
_OF_A_MOMENT = frozenset({"at", "as_of", "window_hours"})
_OF_EITHER = frozenset({"limit", "domains"})


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
@click.option(
    "--project",
    "projects",
    multiple=True,
    type=utf8,
    metavar="NAME",
    shell_complete=completes("projects"),
    help="Only what was recorded for this project, in any spelling; may be repeated.",
)
@click.option(
    "--task",
    "tasks",
    multiple=True,
    type=utf8,
    metavar="NAME",
    help="Only what was recorded for this task; may be repeated.",
)
@click.option(
    "--agent",
    "agents",
    multiple=True,
    type=utf8,
    metavar="NAME",
    shell_complete=completes("agents"),
    help="Only what this agent did, under any spelling; may be repeated.",
)
@click.option(
    "--category",
    "categories",
    multiple=True,
    type=utf8,
    metavar="NAME",
    help="Only observations of this category, such as decision; may be repeated.",
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
@click.option(
    "--at",
    type=utf8,
    metavar="WHEN",
    help="Instead of events: what was recorded into shared memory around then, or around a position's time.",
)
@click.option(
    "--as-of",
    type=utf8,
    is_flag=False,
    flag_value="",
    metavar="[WHEN]",
    help="With --at: only what was known then, and the facts of then. --as-of WHEN says both.",
)
@click.option(
    "--window-hours",
    type=whole(1, 720),
    metavar="N",
    help=f"With --at: so many hours around it, 1 to 720.  [default: {_USUAL_WINDOW}]",
)
@click.option(
    "--domain",
    "domains",
    multiple=True,
    type=utf8,
    metavar="NAME",
    shell_complete=completes("domains"),
    help="Only what was recorded in this domain, in any spelling; may be repeated, but not with --at.",
)
@pass_given
@click.pass_context
def command(
    ctx: click.Context,
    given: Given,
    types: tuple[str, ...],
    actors: tuple[str, ...],
    text: str,
    streams: tuple[str, ...],
    projects: tuple[str, ...],
    tasks: tuple[str, ...],
    agents: tuple[str, ...],
    categories: tuple[str, ...],
    visibility: str | None,
    since: str | None,
    until: str | None,
    order: str,
    limit: int,
    after: int | None,
    newest: bool,
    at: str | None,
    as_of: str | None,
    window_hours: int | None,
    domains: tuple[str, ...],
) -> None:
    """List events, oldest first; parts of a filter must all match, repeated options any.

    Dates are of the workspace's time zone. With --at, the memory events nearest to a moment are listed, those
    that no agent is shown included and marked.
    """
    from workbench.workspace.rows import TimelineFilter

    if as_of:
        if at is not None:
            raise UsageRefused("--at and --as-of name two moments", hint="name it once: --as-of WHEN")
        at = as_of
    _refuse_mixed(ctx, at is not None)
    if at is not None:
        if len(domains) > 1:
            raise UsageRefused("--domain is given twice", hint="with --at name one domain, or none")
        _around(
            given,
            at,
            domains[0] if domains else None,
            window_hours or _USUAL_WINDOW,
            limit,
            as_of is not None,
        )
        return
    with open_workspace(given) as workspace:
        reader = workspace.readers.timeline
        wanted = TimelineFilter(
            types=types,
            actors=actors,
            text=text,
            streams=streams,
            projects=projects,
            tasks=tasks,
            domains=domains,
            agents=agents,
            categories=categories,
            visibility=_visibility(visibility),
            since=moment("since", since, workspace),
            until=moment("until", until, workspace),
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


def _refuse_mixed(ctx: click.Context, of_a_moment: bool) -> None:
    """Events and a moment of shared memory are two lists: an option of one says nothing of the other."""
    for param in ctx.command.params:
        name = param.name or ""
        if name in _OF_EITHER or not param.expose_value:
            continue
        if ctx.get_parameter_source(name) is click.core.ParameterSource.DEFAULT:
            continue
        option = param.opts[0]
        if of_a_moment and name not in _OF_A_MOMENT:
            raise UsageRefused(f"{option} is no option of a moment", hint="leave it out, or --at")
        if not of_a_moment and name in _OF_A_MOMENT:
            raise UsageRefused(f"{option} is about a moment", hint="name the moment with --at")


def _around(given: Given, at: str, domain: str | None, window_hours: int, limit: int, as_of: bool) -> None:
    with open_workspace(given) as workspace:
        then = _moment(at, workspace)
        # Whoever lists events sees all of them; here is no less to see.
        found = workspace.memory.timeline(
            then, domain, window_hours, min(limit, MOST_LISTED), as_of=as_of, raw=True
        )
        if given.as_json:
            write_json(found.to_dict())
            return
        from workbench.cli.memory_lines import Lines

        write_lines(Lines(workspace.timezone).timeline(found))


def _moment(at: str, workspace: Workspace) -> datetime:
    """The moment that is named, or the one at which a position was recorded."""
    then = past(at, workspace)
    assert then is not None
    if not isinstance(then, int):
        return then
    row = workspace.readers.timeline.event(then)
    if row is None:
        raise click.BadParameter(f"the log has no position {then}.", param_hint="--at")
    return row.recorded_at


def _order(given: str) -> TimelineOrder:
    return "happened" if given == "happened" else "recorded"


def _visibility(given: str | None) -> Literal["", "private", "public"]:
    return "private" if given == "private" else "public" if given == "public" else ""


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
