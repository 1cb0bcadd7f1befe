"""`workbench demo`: a sample workspace, made and opened (contract surfaces)."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from workbench.cli.errors import UsageRefused
from workbench.cli.options import Given, common, completes, never_migrates, pass_given, utf8
from workbench.cli.output import Column, table, to_stderr, write_json, write_lines

if TYPE_CHECKING:
    from workbench.workspace.samples import Materialised


@never_migrates
@click.command("demo")
@common
@click.argument("name", required=False, type=utf8, shell_complete=completes("samples"))
@click.option(
    "--to",
    type=utf8,
    metavar="DIR",
    shell_complete=completes("folders"),
    help="An empty or new folder.  [default: a new one in the user's data directory]",
)
@click.option("--no-open", is_flag=True, help="Make it and print where it is.")
@click.option("--list", "only_list", is_flag=True, help="List the samples.")
@click.option(
    "--keep-times", is_flag=True, help="Keep the sample's own dates instead of moving them to today."
)
@pass_given
@click.pass_context
def command(
    ctx: click.Context,
    given: Given,
    name: str | None,
    to: str | None,
    no_open: bool,
    only_list: bool,
    keep_times: bool,
) -> None:
    """Make a workspace from a sample and open it in the terminal program.

    Every run makes a new one; nothing of an earlier one is touched. With --format json, or without a
    terminal, it is made and not opened.
    """
    from workbench.workspace.samples import DEFAULT, materialise, samples

    if only_list:
        found = samples()
        if given.as_json:
            write_json({"samples": [{"name": sample.name, "title": sample.title} for sample in found]})
        else:
            write_lines(table((Column("name"), Column("title")), found))
        return
    if given.root is not None:
        raise UsageRefused("a demo is always a new workspace", hint="say where with --to instead of --root")
    if to == "":
        raise click.BadParameter("the folder's name is empty.", ctx=ctx, param_hint="--to")
    made = materialise(name or DEFAULT, None if to is None else Path(to), keep_times=keep_times)
    if given.as_json:
        write_json({"root": str(made.root), "sample": made.sample, "events": made.events})
        return
    if not no_open and sys.stdin.isatty() and sys.stdout.isatty():
        from shlex import quote

        from workbench.cli.open import run_terminal_program

        # Before as well: who looks for the folder while the program runs finds it above it.
        to_stderr(f"the workspace is in {made.root}")
        code = run_terminal_program(made.root)
        to_stderr(f"the workspace is in {made.root}")
        _say_moved(made)
        to_stderr(f"open it again with: workbench --root {quote(str(made.root))}")
        ctx.exit(code)
    from workbench.drawing import visible

    write_lines([visible(str(made.root))])
    _say_moved(made)


def _say_moved(made: Materialised) -> None:
    """That the times are of today and the days that its texts name are not."""
    if made.moved_from is not None:
        to_stderr(
            "the sample is dated so that it ends today; days that its texts name stay as they were written, "
            f"around {made.moved_from:%Y-%m-%d}. With --keep-times nothing is dated anew"
        )
