"""`workbench startup`: what an agent starts with (contract surfaces; contract memory, "Startup bundle")."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from workbench.cli.memory_options import agent, domain, most, project, speaker, task_id
from workbench.cli.opening import open_workspace
from workbench.cli.options import Given, common, pass_given, utf8
from workbench.cli.output import write_json, write_lines

if TYPE_CHECKING:
    from workbench.memory.views import StartupBundle

_USUAL, _MOST = 3, 100


@click.command("startup")
@common
@project
@task_id
@domain
@agent
@click.option("--focus", type=utf8, metavar="WORDS", help="Only what has to do with these words.")
@click.option("--since", type=utf8, metavar="CURSOR", help="Changes after an earlier answer's “cursor”.")
@click.option("--before", type=utf8, metavar="CURSOR", help="Changes before an earlier answer's “before”.")
@most(_USUAL, _MOST)
@click.option("--full", is_flag=True, help="The sources whole, not cut.")
@click.option("--title", type=utf8, metavar="TEXT", help="What the session is called.")
@pass_given
def command(
    given: Given,
    project: str | None,
    task_id: str | None,
    domain: str | None,
    agent: str | None,
    focus: str | None,
    since: str | None,
    before: str | None,
    limit: int,
    full: bool,
    title: str | None,
) -> None:
    """Print what an agent needs to go on: the checkpoint, the facts, what changed, what a person questioned.

    Without a task, the open tasks are listed: choose one and name it. Nothing private or
    quarantined is shown.
    """
    from workbench.memory import views

    name, _ = speaker(agent)
    with open_workspace(given) as workspace:
        found = workspace.memory.startup_bundle(
            domain=domain,
            agent=name,
            title=title,
            focus=focus,
            limit=limit,
            compact=not full,
            project=project,
            task_id=task_id,
            since=since,
            before=before,
        )
        assert isinstance(found, views.StartupBundle)
        if given.as_json:
            write_json(found.to_dict())
            return
        from workbench.cli.memory_lines import Lines

        near = None
        if _is_unknown(found, before):
            near = workspace.memory.near(project or "", task_id)
        write_lines(Lines(workspace.timezone, given.root).startup(found, near))


def _is_unknown(found: StartupBundle, before: str | None) -> bool:
    """Whether nothing was ever recorded under the project or task that was asked for."""
    context = found.task_context
    if context.project is None or "elsewhere" in found or before is not None:
        return False
    return not context.changes and not context.has_older
