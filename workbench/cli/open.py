"""`workbench open`: the terminal program on the resolved workspace."""

from __future__ import annotations

import gc
import os
import sys
from importlib import import_module
from pathlib import Path

import click

from workbench.cli import COLLECTOR_DEFAULTS
from workbench.cli.errors import UsageRefused
from workbench.cli.opening import upgrade_if_asked
from workbench.cli.options import Given, common, completes, pass_given, root_of, utf8

_NO_SCREEN = ("", "dumb", "unknown", "network", "dialup")
"""What is no terminal with a screen."""


_QUIET_SECONDS = 2.0
"""After a commit, before what it closed is written up: more of the same is coming, mostly."""


def _is_known(name: str) -> bool:
    """Whether the system's list of terminals has one of this name; True where there is no such list."""
    try:
        import curses

        curses.setupterm(name, 1)
    except ImportError:
        return True
    except (curses.error, ValueError):
        return not _has_list()
    return True


def _has_list() -> bool:
    import curses

    try:
        curses.setupterm("xterm", 1)
    except (curses.error, ValueError):
        return False
    return True


def run_terminal_program(root: Path, *, read_only: bool = False, screen: str | None = None) -> int:
    """Show a workspace until the person leaves; the program's exit code.

    Raises `UsageRefused` where there is no terminal to draw on.
    """
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise UsageRefused(
            "the terminal program needs a terminal",
            hint="for other programs there is: workbench sessions list --format json",
        )
    if os.environ.get("TERM", "") in _NO_SCREEN or not _is_known(os.environ["TERM"]):
        raise UsageRefused(
            "the terminal program needs a terminal that can draw a full screen, and "
            + (f"$TERM says {os.environ['TERM']}" if os.environ.get("TERM") else "$TERM is not set"),
            hint="set TERM to what it is, such as xterm-256color, or use the command line: "
            "workbench sessions list",
        )
    if sys.__stderr__ is None or not sys.__stderr__.isatty():
        # Textual draws on standard error. Who sends that into a file wants errors there, not the screen.
        vars(sys)["__stderr__"] = sys.__stdout__
    # By name: no face imports another, and only this command pays for Textual.
    import_module("workbench.tui.graphics").ask_terminal()
    app = import_module("workbench.tui.app").WorkbenchApp(root, read_only=read_only, screen=screen)
    app.chronicler.after = _QUIET_SECONDS
    # What is loaded by now stays; from here on the collector looks at little, and often.
    gc.freeze()
    gc.set_threshold(*COLLECTOR_DEFAULTS)
    app.run()
    return int(app.return_code or 0)


@click.command("open")
@common
@click.option("--read-only", is_flag=True, help="Write nothing, whatever is pressed.")
@click.option(
    "--screen",
    type=utf8,
    metavar="NAME",
    shell_complete=completes("screens"),
    help="The screen to begin with.",
)
@pass_given
@click.pass_context
def command(ctx: click.Context, given: Given, read_only: bool, screen: str | None) -> None:
    """Open a workspace in the terminal program."""
    if given.as_json:
        raise UsageRefused("the terminal program has no JSON form", hint="leave out --format")
    root = root_of(given)
    if given.migrate:
        if read_only:
            raise UsageRefused("--migrate writes and --read-only forbids it", hint="leave one of them out")
        upgrade_if_asked(given, root)
    ctx.exit(run_terminal_program(root, read_only=read_only, screen=screen))
