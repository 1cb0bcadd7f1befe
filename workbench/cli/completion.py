"""`workbench completion`: the script with which a shell asks for what `cli.candidates` offers."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from workbench.cli.options import common, never_migrates
from workbench.cli.output import write_lines

SHELLS = ("bash", "zsh", "fish")
VARIABLE = "_WORKBENCH_COMPLETE"
"""Asks the program for completions instead of running it; the scripts set it."""


@never_migrates
@click.command("completion")
@common
@click.argument("shell", type=click.Choice(SHELLS))
@click.pass_context
def command(ctx: click.Context, shell: str) -> None:
    """Print the script with which a shell completes commands, options and their values.

    \b
    bash  echo 'eval "$(workbench completion bash)"' >> ~/.bashrc
    zsh   echo 'eval "$(workbench completion zsh)"' >> ~/.zshrc
    fish  workbench completion fish > ~/.config/fish/completions/workbench.fish
    """
    kind = get_completion_class(shell)
    assert kind is not None
    write_lines(kind(ctx.find_root().command, {}, "workbench", VARIABLE).source().split("\n"))
