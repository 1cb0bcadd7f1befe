"""`workbench tasks`: what is being worked on, and how far it is (contract surfaces)."""

from __future__ import annotations

import click

from workbench.cli.memory_options import MOST_LISTED, after, as_of, domain, most, project, raw
from workbench.cli.opening import open_workspace
from workbench.cli.options import Given, common, pass_given
from workbench.cli.output import write_json, write_lines


@click.command("tasks")
@common
@project
@domain
@click.option("--all", "every", is_flag=True, help="Also closed ones, and those without a checkpoint.")
@as_of
@most(50, MOST_LISTED)
@after
@raw
@pass_given
def command(
    given: Given,
    project: str | None,
    domain: str | None,
    every: bool,
    as_of: str | None,
    limit: int,
    after: int | None,
    raw: bool,
) -> None:
    """List open tasks with their latest checkpoint, the latest first.

    A task is closed by the fact “task.status” with the value completed or cancelled.
    """
    from workbench.cli.moments import before_all, past

    with open_workspace(given) as workspace:
        then = past(as_of, workspace)
        page = workspace.memory.tasks(project, every, domain, limit, after, raw, then)
        if given.as_json:
            write_json({"tasks": [each.to_dict() for each in page.tasks], "next": page.next})
            return
        from workbench.cli.memory_lines import Lines

        write_lines(Lines(workspace.timezone).tasks(page, every=every))
        write_lines([] if page.tasks else before_all(then, workspace))
