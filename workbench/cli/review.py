"""`workbench review`: a person's verdict on what agents recorded (contract memory, "Reviews")."""

from __future__ import annotations

from typing import Any

import click

from workbench.cli.opening import open_workspace
from workbench.cli.options import Given, common, completes, pass_given, utf8
from workbench.cli.output import write_json, write_lines

_KINDS = ("checkpoint", "fact", "observation")
_VERDICTS = ("accepted", "questioned", "rejected")


@click.command("review")
@common
@click.argument("kind", type=click.Choice(_KINDS))
@click.argument("target_id", metavar="ID", type=utf8, shell_complete=completes("reviewed"))
@click.option("--verdict", required=True, type=click.Choice(_VERDICTS), help="What is to be said of it.")
@click.option("--comment", metavar="TEXT", default="", help="And why; “-” reads stdin.")
@click.option(
    "--item",
    type=utf8,
    metavar="LIST:INDEX",
    help="One line of a checkpoint, such as next_steps:0, the first of its next steps.",
)
@pass_given
def command(given: Given, kind: str, target_id: str, verdict: str, comment: str, item: str | None) -> None:
    """Say of a checkpoint, a fact or an observation whether it holds, as the manifest's owner.

    The next agent is told; the latest verdict counts, earlier ones stay. A rejected fact stays, marked as
    disputed, until another supersedes it.
    """
    from workbench.cli.given_json import text_given

    line = None if item is None else _line(item)
    comment = text_given(comment)
    with open_workspace(given, read_only=False) as workspace:
        done = workspace.review(kind, target_id, verdict, comment, item=line)
        if given.as_json:
            write_json(done.to_dict())
            return
        from workbench.cli.memory_lines import Lines

        write_lines(Lines(workspace.timezone).verdict(done))


def _line(item: str) -> dict[str, Any]:
    name, colon, index = item.rpartition(":")
    if not colon or not index.isascii() or not index.isdecimal() or len(index) > 9:
        raise click.BadParameter(
            "give the list and the line, such as next_steps:0 for the first.", param_hint="--item"
        )
    return {"list": name.strip().lower().replace("-", "_").replace(" ", "_"), "index": int(index)}
