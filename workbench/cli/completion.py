"""`workbench completion`: the script that a shell completes with, and the values it is offered.

Values are looked up while somebody waits for a key: quickly, never for writing, and silently where there is
nothing to look in. A shell puts what it is offered into the command line as it is, so that nothing is
offered that a shell would take for more than a word.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

import click
from click.shell_completion import CompletionItem, get_completion_class

from workbench.cli.options import Given, common, root_of
from workbench.cli.output import write_lines

if TYPE_CHECKING:
    from workbench.workspace import Workspace

SHELLS = ("bash", "zsh", "fish")
VARIABLE = "_WORKBENCH_COMPLETE"
"""Asks the program for completions instead of running it; the scripts set it."""

OFFERED = 50
"""Values at most."""
LOOK_SECONDS = 0.08
"""How long sessions are looked through."""
_LOOKED_AT = 1000

_PLAIN = re.compile(r"[A-Za-z0-9._/@+=,%][A-Za-z0-9._/@+=,%:-]*")
"""Words that no shell takes for anything else."""


@click.command("completion")
@common
@click.argument("shell", type=click.Choice(SHELLS))
@click.pass_context
def command(ctx: click.Context, shell: str) -> None:
    """Print the script with which a shell completes commands, options, sessions, screens and files.

    \b
    bash  echo 'eval "$(workbench completion bash)"' >> ~/.bashrc
    zsh   echo 'eval "$(workbench completion zsh)"' >> ~/.zshrc
    fish  workbench completion fish > ~/.config/fish/completions/workbench.fish
    """
    kind = get_completion_class(shell)
    assert kind is not None
    write_lines(kind(ctx.find_root().command, {}, "workbench", VARIABLE).source().split("\n"))


# -- values --------------------------------------------------------------------------------


def sessions(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Ids of sessions that begin so, the ones that were active last first."""
    from time import monotonic

    from workbench.workspace.rows import SessionFilter

    workspace = _workspace(ctx)
    if workspace is None:
        return []
    until = monotonic() + LOOK_SECONDS
    looked_at = _LOOKED_AT if incomplete else 2 * OFFERED
    try:
        with workspace:
            rows = workspace.readers.sessions.page(
                SessionFilter(text=incomplete), looked_at, cancelled=lambda: monotonic() > until
            )
    except Exception:
        return []
    return _offered((row.id for row in rows), incomplete)


def running_jobs(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Numbers of the jobs that could be stopped."""
    workspace = _workspace(ctx)
    if workspace is None:
        return []
    try:
        with workspace:
            rows = workspace.jobs.page(OFFERED)
    except Exception:
        return []
    return _offered((str(row.id) for row in rows if row.running), incomplete)


def screens(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Names of the terminal program's screens."""
    from pathlib import Path

    # A screen is called as its module; loading them would take longer than anybody waits.
    folder = Path(__file__).parents[1] / "tui" / "screens"
    names = sorted(path.stem for path in folder.glob("*.py"))
    return _offered((name for name in names if name != "catalog" and not name.startswith("_")), incomplete)


def samples(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Names of the sample workspaces."""
    try:
        from workbench.workspace.samples import samples as installed

        return _offered((sample.name for sample in installed()), incomplete)
    except Exception:
        return []


def files(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Whatever files the shell finds."""
    return [CompletionItem(incomplete, type="file")]


def folders(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Whatever folders the shell finds."""
    return [CompletionItem(incomplete, type="dir")]


def _offered(values: Iterable[str], incomplete: str) -> list[CompletionItem]:
    from itertools import islice

    fitting = (value for value in values if value.startswith(incomplete) and _PLAIN.fullmatch(value))
    return [CompletionItem(value) for value in islice(fitting, OFFERED)]


def _workspace(ctx: click.Context) -> Workspace | None:
    """The workspace that the command line so far is about, open for reading; None where there is none."""
    try:
        from workbench.workspace.workspace import Workspace

        # Not as commands open it: nothing is migrated under a person's fingers.
        return Workspace.open(root_of(ctx.find_object(Given) or Given()), read_only=True)
    except Exception:
        return None
