"""`workbench facts`: what slots hold, and what they held before (contract memory, "Facts")."""

from __future__ import annotations

import click

from workbench.cli.errors import UsageRefused
from workbench.cli.memory_options import MOST_LISTED, after, as_of, domain, most, project, raw, task_id
from workbench.cli.opening import open_workspace
from workbench.cli.options import Given, common, completes, pass_given, utf8
from workbench.cli.output import write_json, write_lines


@click.command("facts")
@common
@project
@task_id
@domain
@click.option("--slot", type=utf8, metavar="NAME", help="Only this slot.")
@click.option(
    "--chain",
    type=utf8,
    metavar="ID",
    shell_complete=completes("facts"),
    help="Instead: all that the slot of this fact held, oldest first; its id, the first digits of it, or the "
    "observation that asserted it.",
)
@click.option("--conflicts", is_flag=True, help="Instead: slots with several values under several spellings.")
@as_of
@most(50, MOST_LISTED)
@after
@raw
@pass_given
def command(
    given: Given,
    project: str | None,
    task_id: str | None,
    domain: str | None,
    slot: str | None,
    chain: str | None,
    conflicts: bool,
    as_of: str | None,
    limit: int,
    after: int | None,
    raw: bool,
) -> None:
    """List current facts, newest first; with a task also those of its project that belong to no task."""
    from workbench.cli.moments import before_all, past

    if chain is not None and (conflicts or any((project, task_id, domain, slot))):
        raise UsageRefused("--chain names a fact, and with it all that it goes with", hint="give it alone")
    if conflicts and any((project, task_id, slot)):
        raise UsageRefused("--conflicts looks through whole domains", hint="give it alone, or with --domain")
    with open_workspace(given) as workspace:
        memory, then = workspace.memory, past(as_of, workspace)
        if chain is not None:
            links = memory.chain(chain, raw=raw, as_of=then)
            if given.as_json:
                write_json({"chain": [each.to_dict() for each in links]})
                return
        elif conflicts:
            clashes = memory.conflicts(domain, raw=raw, as_of=then)
            if given.as_json:
                write_json({"conflicts": [each.to_dict() for each in clashes]})
                return
        else:
            page = memory.facts(domain, project, task_id, slot, then, limit, after, raw)
            if given.as_json:
                write_json({"facts": [each.to_dict() for each in page.facts], "next": page.next})
                return
        from workbench.cli.memory_lines import Lines

        early = [] if chain or conflicts or page.facts else before_all(then, workspace)
        lines = Lines(workspace.timezone)
        if chain is not None:
            write_lines(lines.chain(links))
        elif conflicts:
            write_lines(lines.conflicts(clashes))
        else:
            write_lines(lines.facts(page))
            write_lines(early)
