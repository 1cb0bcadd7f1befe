"""`workbench recent`: what was recorded last into shared memory (contract surfaces)."""

from __future__ import annotations

import click

from workbench.cli.memory_options import MOST_LISTED, after, as_of, domain, most, project, raw, task_id
from workbench.cli.opening import open_workspace
from workbench.cli.options import Given, common, pass_given
from workbench.cli.output import write_json, write_lines

_USUAL = 10


@click.command("recent")
@common
@project
@task_id
@domain
@most(_USUAL, MOST_LISTED - 1)
@after
@as_of
@raw
@pass_given
def command(
    given: Given,
    project: str | None,
    task_id: str | None,
    domain: str | None,
    limit: int,
    after: int | None,
    as_of: str | None,
    raw: bool,
) -> None:
    """List what agents and people recorded last, newest first: everything, or of a project or a task."""
    from workbench.cli.moments import past

    with open_workspace(given) as workspace:
        then = past(as_of, workspace)
        found = workspace.memory.recent(
            limit + 1, domain, raw=raw, as_of=then, after=after, project=project, task_id=task_id
        )
        following = found[limit - 1].position if len(found) > limit else None
        if given.as_json:
            write_json({"events": [each.to_dict() for each in found[:limit]], "next": following})
            return
        from workbench.cli.memory_lines import Lines

        lines = Lines(workspace.timezone)
        nothing = "nothing is recorded there" if project or domain else "nothing is recorded yet"
        write_lines(lines.observations(found[:limit], nothing))
        write_lines(lines.more(following))
