"""`workbench release`: let agents see a quarantined observation again (contract memory, "Quarantine")."""

from __future__ import annotations

import click

from workbench.cli.options import Given, common, completes, pass_given, utf8
from workbench.cli.quarantine import set_withheld


@click.command("release")
@common
@click.argument("observation_id", metavar="ID", type=utf8, shell_complete=completes("withheld"))
@click.option("--reason", required=True, metavar="TEXT", help="Why; it stays in the log.")
@pass_given
def command(given: Given, observation_id: str, reason: str) -> None:
    """Let agents see an observation and its repeats again that were quarantined, as the manifest's owner."""
    set_withheld(given, observation_id, reason, withheld=False)
