"""`workbench record`: an observation for shared memory, and what it carries (contract surfaces)."""

from __future__ import annotations

import click

from workbench.cli.errors import UsageRefused
from workbench.cli.memory_options import agent, domain, project, speaker, task_id
from workbench.cli.opening import open_workspace
from workbench.cli.options import Given, common, completes, pass_given, utf8
from workbench.cli.output import write_json, write_lines


@click.command("record")
@common
@click.argument("text", metavar="TEXT")
@project
@task_id
@domain
@agent
@click.option("--as-owner", is_flag=True, help="A person speaks: record as the manifest's owner.")
@click.option(
    "--category",
    type=utf8,
    metavar="WORD",
    shell_complete=completes("categories"),
    help="What it is: note, decision, milestone, blocker and the like.  [default: note]",
)
@click.option("--why", metavar="TEXT", help="The reason for it.")
@click.option(
    "--fact-file",
    type=utf8,
    metavar="FILE",
    shell_complete=completes("files"),
    help="JSON of a fact: slot, value, kind, supersedes; “-” reads stdin.",
)
@click.option(
    "--checkpoint-file",
    type=utf8,
    metavar="FILE",
    shell_complete=completes("files"),
    help="JSON of a checkpoint: goal, completed, verification, open_questions, next_steps; “-” reads stdin.",
)
@click.option(
    "--source-file",
    "source_files",
    multiple=True,
    metavar="FILE",
    shell_complete=completes("files"),
    help="Evidence: a file to keep a copy of; may be repeated.",
)
@click.option(
    "--request-id",
    type=utf8,
    metavar="ID",
    help="Recording again with the same id and input changes nothing.",
)
@click.option("--session-id", type=utf8, metavar="ID", help="The agent's session.")
@click.option("--recorded-at", type=utf8, metavar="WHEN", help="When it happened, if that was not now.")
@click.option("--id", "external_id", type=utf8, metavar="ID", help="What another program calls it.")
@click.option("--entity-id", type=utf8, metavar="ID", help="What it is about.")
@click.option("--entity-type", type=utf8, metavar="KIND", help="And of which kind that is, such as person.")
@click.option("--private", is_flag=True, help="For one party only: reaches no agent and no brief.")
@pass_given
def command(
    given: Given,
    text: str,
    project: str | None,
    task_id: str | None,
    domain: str | None,
    agent: str | None,
    as_owner: bool,
    category: str | None,
    why: str | None,
    fact_file: str | None,
    checkpoint_file: str | None,
    source_files: tuple[str, ...],
    request_id: str | None,
    session_id: str | None,
    recorded_at: str | None,
    external_id: str | None,
    entity_id: str | None,
    entity_type: str | None,
    private: bool,
) -> None:
    """Record what was done, decided or found; “-” as TEXT reads standard input, less a last newline.

    A fact is what one slot holds from now on, within just the domain, project and task that it is recorded
    with: with and without --task-id are two slots. To change it, name the current one under “supersedes”. A
    checkpoint says where a task stands, for whoever goes on with it.
    """
    from workbench.cli.given_json import object_given, text_given
    from workbench.cli.moments import moment

    if as_owner and agent is not None:
        raise UsageRefused("--as-owner and --agent name two speakers", hint="give one of them")
    if [text, fact_file, checkpoint_file, why].count("-") > 1:
        raise UsageRefused("standard input can be read once", hint="give “-” for one of them")
    checkpoint = object_given("--checkpoint-file", checkpoint_file)
    fact = object_given("--fact-file", fact_file)
    text = text_given(text)
    with open_workspace(given, read_only=False) as workspace:
        name, source = (workspace.owner, "explicit") if as_owner else speaker(agent)
        done = workspace.memory.record_event(
            text,
            why=None if why is None else text_given(why),
            domain=domain,
            project=project,
            task_id=task_id,
            category=category,
            agent=name,
            agent_source=source,
            session_id=session_id,
            fact=fact,
            checkpoint=checkpoint,
            source_files=source_files,
            request_id=request_id,
            external_id=external_id,
            occurred_at=moment("recorded-at", recorded_at, workspace),
            entity_id=entity_id,
            entity_type=entity_type,
            visibility="private" if private else "public",
        )
        if given.as_json:
            write_json(done.to_dict())
            return
        from workbench.cli.memory_lines import Lines

        write_lines(Lines(workspace.timezone, given.root).receipt(done))
