"""`workbench timeline`: events in the order of their recording (contract surfaces)."""

from __future__ import annotations

import click

from workbench.cli import forms
from workbench.cli.options import Given, common, limit, open_workspace, pass_given, utf8, whole
from workbench.cli.output import warn_unknown, write_json, write_lines


@click.command("timeline")
@common
@click.option("--type", "types", multiple=True, type=utf8, metavar="TYPE", help="May be repeated.")
@click.option("--actor", "actors", multiple=True, type=utf8, metavar="ID", help="May be repeated.")
@click.option("--text", type=utf8, default="", metavar="WORDS", help="Words, the last one as a beginning.")
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
    limit: int,
    after: int | None,
    newest: bool,
) -> None:
    """List events, oldest first; parts of a filter must all match, repeated options any."""
    from workbench.workspace.rows import TimelineFilter

    wanted = TimelineFilter(types=types, actors=actors, text=text)
    with open_workspace(given) as workspace:
        reader = workspace.readers.timeline
        if types:
            warn_unknown("type", types, reader.types(), " in this workspace")
        if newest:
            rows = reader.page(wanted, limit + 1, before=after)
            rows.reverse()
        else:
            rows = reader.page(wanted, limit + 1, after=after or 0)
        following = rows[limit - 1].position if len(rows) > limit else None
        rows = rows[:limit]
        if given.as_json:
            whole = (row if row.whole else reader.event(row.position) for row in rows)
            write_json({"events": [forms.event(row) for row in whole if row is not None], "next": following})
            return
        from workbench.cli import readable

        write_lines(readable.events(rows, following, workspace.timezone))
