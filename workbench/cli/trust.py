"""`workbench trust`: what a manifest may run or contact (contract workspace, "Trust")."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from workbench.cli.errors import UsageRefused
from workbench.cli.opening import open_workspace
from workbench.cli.options import Given, common, pass_given
from workbench.cli.output import write_json, write_lines
from workbench.cli.trusted_files import found, warnings

if TYPE_CHECKING:
    from pathlib import Path

    from workbench.chronicle.summarizers import SummarizerSettings
    from workbench.workspace import Workspace


@click.command("trust", short_help="Let a workspace run or contact what its manifest names.")
@common
@click.option("--show", is_flag=True, help="Only say what would be run or contacted, and whether it may.")
@click.option("--revoke", is_flag=True, help="Take it back.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@pass_given
@click.pass_context
def command(ctx: click.Context, given: Given, show: bool, revoke: bool, yes: bool) -> None:
    """Let the summarizer that this workspace's manifest names be run or contacted, after showing what it is.

    Trust is yours, not the workspace's: it is kept in your own state folder, for this folder and exactly the
    values that are shown. When one of them changes, nothing runs until you say so again. It holds the words
    of a command, not the program behind them: whoever can exchange that file decides what runs. --show ends
    with 1 where something is named that is not trusted.
    """
    if show and revoke:
        raise UsageRefused("--show changes nothing, and --revoke does", hint="give one of them")
    from workbench.workspace.chronicle import trust

    with open_workspace(given) as workspace:
        chronicles = workspace.chronicles
        settings = chronicles.summarizer_settings()
        trusted = chronicles.trusted()
        if revoke:
            with _keeping():
                was = trust.revoke(workspace.root)
            said = "revoked: it is neither run nor contacted" if was else "nothing was trusted"
            _answer(given, workspace, settings, chronicles.trusted(), [said])
            return
        if not show and settings.draws and not trusted:
            if not (yes or _agreed(given, workspace, settings)):
                ctx.exit(1)
            with _keeping():
                chronicles.trust()
            _answer(given, workspace, settings, True, ["trusted, until what it runs or contacts changes"])
            return
        said = "trusted" if trusted else "not trusted: it is neither run nor contacted"
        if not settings.draws:
            said = "there is nothing to trust"
        _answer(given, workspace, settings, trusted, [*_shown(workspace, settings), "", said])
    ctx.exit(1 if settings.draws and not trusted else 0)


@contextmanager
def _keeping() -> Iterator[None]:
    """What the system says of the user's folder for state, in words."""
    from workbench.workspace.transfer import FileFailed

    try:
        yield
    except OSError as error:
        place = error.filename or "the folder of your state"
        raise FileFailed(f"{place} cannot be written: {error.strerror or error}") from error


def _agreed(given: Given, workspace: Workspace, settings: SummarizerSettings) -> bool:
    """Show what it is about and ask. `UsageRefused` where nobody can be asked."""
    if not given.as_json:
        write_lines([*_shown(workspace, settings), ""])
    if given.as_json or not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise UsageRefused(
            "nothing was trusted: nobody could be asked", hint="look at it with --show, then say --yes"
        )
    return click.confirm("Trust exactly this?", default=False)


def _answer(
    given: Given, workspace: Workspace, settings: SummarizerSettings, trusted: bool, lines: list[str]
) -> None:
    if given.as_json:
        write_json(_form(workspace, settings, trusted))
    else:
        write_lines(lines)


def _form(workspace: Workspace, settings: SummarizerSettings, trusted: bool) -> dict[str, Any]:
    return {
        "root": str(workspace.root),
        "summarizer": settings.summarizer,
        "command": list(settings.command) if settings.summarizer == "command" else [],
        "base_url": settings.base_url if settings.summarizer == "openai" else None,
        "model": settings.model if settings.summarizer == "openai" else None,
        "key_variable": settings.key_variable or None,
        "timeout_seconds": settings.timeout_seconds,
        "warnings": [*warnings(settings.command, workspace.root)] if settings.summarizer == "command" else [],
        "trusted": trusted,
    }


def _shown(workspace: Workspace, settings: SummarizerSettings) -> Iterator[str]:
    """What would be run or contacted, literally: each word as it is, with quotes around it."""
    from workbench.drawing import visible

    yield visible(f"workspace  {workspace.root}")
    yield visible(f"summarizer {settings.summarizer}")
    if not settings.draws:
        yield "           it runs nothing and contacts nobody"
        return
    if settings.summarizer == "command":
        program, *arguments = settings.command
        yield f"runs       {_literal(program)}{_found(program, workspace.root)}"
        for argument in arguments:
            yield f"           {_literal(argument)}"
        yield "           in this workspace's folder, with the events of closed stretches on its input"
        yield "           trust holds these words; the program behind them may change without a question"
        for warning in warnings(settings.command, workspace.root):
            yield visible(f"warning    {warning}")
    else:
        yield f"contacts   {_literal(settings.base_url)}"
        yield f"model      {_literal(settings.model)}"
        yield f"           with the events of closed stretches in the request{_unguarded(settings.base_url)}"
    if settings.key_variable:
        yield f"gets       the value of your environment variable {_literal(settings.key_variable)}"


def _literal(word: str) -> str:
    """A word in quotes, on one line, with whatever in it cannot be seen made visible."""
    from workbench.drawing import visible

    return visible(f"“{word}”".replace("\n", "\\n").replace("\r", "\\r").replace("\t", "\\t"))


def _found(program: str, root: Path) -> str:
    """Where a program is found now, unless it is named by its whole path."""
    from workbench.drawing import visible

    path = found(program, root)
    missing = "" if path is not None and path.exists() else "not found now"
    named = "" if path is None or program.startswith("/") else str(path)
    said = ", ".join(part for part in (named, missing) if part)
    return visible(f" ({said})") if said else ""


def _unguarded(address: str) -> str:
    """That whoever is on the way can read along, where that is so."""
    from urllib.parse import urlsplit

    parts = urlsplit(address)
    here = parts.hostname in ("localhost", "::1") or (parts.hostname or "").startswith("127.")
    return "" if parts.scheme == "https" or here else ", which is not encrypted"
