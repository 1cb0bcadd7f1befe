"""`workbench reviews`: the verdicts of people (contract memory, "Reviews")."""

from __future__ import annotations

import click

from workbench.cli.memory_options import MOST_LISTED, after, as_of, most, project, raw, task_id
from workbench.cli.opening import open_workspace
from workbench.cli.options import Given, common, pass_given, utf8
from workbench.cli.output import write_json, write_lines


@click.command("reviews")
@common
@project
@task_id
@click.option("--target", type=utf8, metavar="ID", help="Only of this checkpoint, fact or observation.")
@as_of
@most(50, MOST_LISTED)
@after
@raw
@pass_given
def command(
    given: Given,
    project: str | None,
    task_id: str | None,
    target: str | None,
    as_of: str | None,
    limit: int,
    after: int | None,
    raw: bool,
) -> None:
    """List what people said of checkpoints, facts and observations, newest first; earlier verdicts too."""
    from workbench.cli.moments import past

    with open_workspace(given) as workspace:
        then = past(as_of, workspace)
        page = workspace.memory.reviews(target, project, task_id, limit, after, raw, then)
        if given.as_json:
            write_json({"reviews": [each.to_dict() for each in page.reviews], "next": page.next})
            return
        from workbench.cli.memory_lines import Lines

        write_lines(Lines(workspace.timezone).reviews(page))
