"""`workbench recent`: what was recorded last into shared memory (contract surfaces)."""

from __future__ import annotations

from functools import partial

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
@most(_USUAL, MOST_LISTED)
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
    from workbench.cli.moments import before_all, past

    with open_workspace(given) as workspace:
        then = past(as_of, workspace)
        page = partial(
            workspace.memory.recent, domain=domain, raw=raw, as_of=then, project=project, task_id=task_id
        )
        found = page(limit, after=after)
        # A page of the most that can be asked for leaves no room for one more.
        last = found[-1].position if len(found) == limit else None
        following = last if last is not None and page(1, after=last) else None
        if given.as_json:
            write_json({"events": [each.to_dict() for each in found], "next": following})
            return
        from workbench.cli.memory_lines import Lines

        lines = Lines(workspace.timezone)
        nothing = "nothing is recorded there" if project or domain else "nothing is recorded yet"
        write_lines(lines.observations(found, nothing))
        write_lines(lines.more(following))
        write_lines([] if found else before_all(then, workspace))
