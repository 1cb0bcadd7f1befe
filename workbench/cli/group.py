"""The program's commands: a static table, so that listing them imports none of them."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from workbench import __version__
from workbench.cli.options import common, completes, utf8

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


class Entry(NamedTuple):
    """Where a command lives, and the line that says what it does."""

    module: str
    summary: str


COMMANDS = {
    "open": Entry("workbench.cli.open", "Open a workspace in the terminal program (the default)."),
    "demo": Entry("workbench.cli.demo", "Make a workspace from a sample and open it."),
    "init": Entry("workbench.cli.init", "Lay out a workspace in a folder."),
    "status": Entry("workbench.cli.status", "Show where a workspace is and what it holds."),
    "migrate": Entry("workbench.cli.migrate", "Bring a workspace's database to this release's schema."),
    "doctor": Entry("workbench.cli.doctor", "Examine a workspace, and mend what can be mended."),
    "sessions": Entry("workbench.cli.sessions", "List, read and record sessions."),
    "timeline": Entry("workbench.cli.timeline", "List events in the order of their recording."),
    "import": Entry("workbench.cli.imports", "Read transcripts of other programs, or an exported log."),
    "export": Entry("workbench.cli.export", "Write the events of a workspace into a file."),
    "record": Entry("workbench.cli.record", "Record an observation, a fact or a checkpoint for all agents."),
    "startup": Entry("workbench.cli.startup", "Print what an agent needs to go on with a task."),
    "brief": Entry("workbench.cli.brief", "Print the page that a new session reads first."),
    "recent": Entry("workbench.cli.recent", "List what was recorded last into shared memory."),
    "facts": Entry("workbench.cli.facts", "List what holds now, and what held before."),
    "tasks": Entry("workbench.cli.tasks", "List open tasks with their latest checkpoint."),
    "review": Entry("workbench.cli.review", "Accept, question or reject what agents recorded."),
    "reviews": Entry("workbench.cli.reviews", "List what was accepted, questioned and rejected."),
    "quarantine": Entry("workbench.cli.quarantine", "Withhold an observation from every agent."),
    "release": Entry("workbench.cli.release", "Let agents see a quarantined observation again."),
    "evidence": Entry(
        "workbench.cli.evidence", "See the files that observations name; remove a copy for good."
    ),
    "chronicle": Entry("workbench.cli.chronicle", "Read and write prose over closed stretches of a stream."),
    "trust": Entry("workbench.cli.trust", "Let a workspace run or contact what its manifest names."),
    "names": Entry("workbench.cli.names", "See which spellings mean the same; add an alias."),
    "manifest": Entry("workbench.cli.manifest", "Say what is wrong with the manifest."),
    "redactions": Entry(
        "workbench.cli.redactions", "See what the secret filter removed; scrub what is stored."
    ),
    "jobs": Entry("workbench.cli.jobs", "List long calls, running and ended, and stop them."),
    "help": Entry("workbench.cli.help", "Print a page of the guide, or list the pages."),
    "completion": Entry("workbench.cli.completion", "Print the script with which a shell completes."),
}
"""Commands in the order of the help. Each module has the command as `command`."""


class Program(click.Group):
    """A group whose commands load when they are asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Every command's name."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Load one command; None if there is no such."""
        entry = COMMANDS.get(cmd_name)
        if entry is None:
            return None
        command = import_module(entry.module).command
        assert isinstance(command, click.Command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """As any group does, with near misses taken from the table."""
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            raise click.exceptions.UsageError(_no_such(args[0]), ctx=ctx)
        return super().resolve_command(ctx, args)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Commands from the table, which loads none of them, and this group's options."""
        from click.shell_completion import CompletionItem

        named = [
            CompletionItem(name, help=entry.summary)
            for name, entry in COMMANDS.items()
            if name.startswith(incomplete)
        ]
        return [*named, *click.Command.shell_complete(self, ctx, incomplete)]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the table."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, entry.summary) for name, entry in COMMANDS.items()])


def _no_such(name: str) -> str:
    from difflib import get_close_matches

    near = get_close_matches(name, COMMANDS)
    return f"No such command {name!r}." + (f" Did you mean {near[0]!r}?" if near else "")


@click.command(
    cls=Program,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@common
@click.option("--read-only", is_flag=True, help="With no command: open without writing anything.")
@click.option(
    "--screen",
    type=utf8,
    metavar="NAME",
    shell_complete=completes("screens"),
    help="With no command: the screen to begin with.",
)
@click.version_option(__version__, prog_name="workbench")
@click.pass_context
def program(ctx: click.Context, read_only: bool, screen: str | None) -> Any:
    """One local workspace that AI agents write to and a person reviews in a terminal.

    With no command, the workspace opens in the terminal program.
    """
    if ctx.invoked_subcommand is None:
        command = program.get_command(ctx, "open")
        assert command is not None
        return ctx.invoke(command, read_only=read_only, screen=screen)
    if read_only or screen is not None:
        raise click.UsageError("--read-only and --screen go with no command, or behind “open”.", ctx=ctx)
    return None
