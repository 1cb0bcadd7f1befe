"""`workbench quarantine`: withhold an observation from every agent (contract memory, "Quarantine")."""

from __future__ import annotations

import click

from workbench.cli.opening import open_workspace
from workbench.cli.options import Given, common, completes, pass_given, utf8
from workbench.cli.output import write_json, write_lines


@click.command("quarantine")
@common
@click.argument("observation_id", metavar="ID", type=utf8, shell_complete=completes("observations"))
@click.option("--reason", required=True, metavar="TEXT", help="Why; it stays in the log.")
@pass_given
def command(given: Given, observation_id: str, reason: str) -> None:
    """Withhold an observation, or the one of a checkpoint, from every agent, as the manifest's owner.

    All its repeats go along, and any repeat that comes later. What asserts or confirms a
    fact cannot be withheld: reject the fact, or supersede it.
    """
    set_withheld(given, observation_id, reason, withheld=True)


def set_withheld(given: Given, observation_id: str, reason: str, *, withheld: bool) -> None:
    """Withhold an observation or let agents see it again, and say what became of that."""
    with open_workspace(given, read_only=False) as workspace:
        memory = workspace.memory
        change = memory.quarantine if withheld else memory.release
        done = change(observation_id, reason=reason, by=workspace.owner)
        if given.as_json:
            write_json(done.to_dict())
            return
        from workbench.cli.memory_lines import Lines

        write_lines(Lines(workspace.timezone).visibility(done))
