"""`workbench brief`: the page that a new session reads first, in a shell hook (contract memory, "Brief")."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from typing import TYPE_CHECKING

import click

from workbench.cli.memory_options import project
from workbench.cli.opening import open_workspace
from workbench.cli.options import Given, common, completes, pass_given, root_of, utf8, whole
from workbench.cli.output import write_json, write_lines

if TYPE_CHECKING:
    from workbench.memory.views import Brief

_USUAL = 6000
_PLAIN = re.compile("[ -~\u2026\u201c\u201d]*")
"""A line that is drawn as it is."""


@click.command("brief")
@common
@project
@click.option(
    "--cwd",
    type=utf8,
    metavar="DIR",
    shell_complete=completes("folders"),
    help="The folder that says which project is meant, if none is named.  [default: the current one]",
)
@click.option(
    "--budget",
    type=whole(),
    default=_USUAL,
    show_default=True,
    metavar="N",
    help="At most so many characters, 1000 to 8000.",
)
@pass_given
def command(given: Given, project: str | None, cwd: str | None, budget: int) -> None:
    """Print the brief: open tasks, facts, reviews and decisions in one page, for a session to read first.

    Where nothing was recorded yet it says so; nothing is laid out. Nothing private or quarantined is in it.
    """
    from workbench.memory import asked

    usual = f"leave it out for a brief of at most {_USUAL} characters"
    asked.number("--budget", budget, asked.MOST_CHARACTERS, asked.LEAST_CHARACTERS, hint=usual)
    found = _brief(given, _folder(cwd), project, budget)
    if given.as_json:
        write_json(found.to_dict())
        return
    lines = found.text.rstrip("\n").split("\n")
    if not all(map(_PLAIN.fullmatch, lines)):
        # A page of plain letters does without: this runs before every session of an agent.
        from workbench.drawing import visible

        lines = list(map(visible, lines))
    write_lines(lines)


def _brief(given: Given, folder: str | None, project: str | None, budget: int) -> Brief:
    from workbench.memory.reader import MemoryReader
    from workbench.workspace.errors import WorkspaceMissing

    try:
        with open_workspace(given) as workspace:
            # Not `Workspace.memory`, which loads what writing needs.
            reader = MemoryReader(workspace.log, lambda: workspace.registry)
            return reader.brief(folder, project, budget)
    except WorkspaceMissing:
        from workbench.identity.registry import EMPTY
        from workbench.memory.brief import nothing_recorded
        from workbench.workspace.layout import Layout
        from workbench.workspace.manifest import read_manifest

        try:
            registry = read_manifest(Layout(root_of(given)).manifest).registry
        except WorkspaceMissing:
            registry = EMPTY
        return nothing_recorded(registry, folder, project, budget)


def _folder(cwd: str | None) -> str | None:
    """The folder as an absolute path; None where the current one is gone."""
    joined = os.path.join(_here(), "" if cwd is None else os.path.expanduser(cwd))  # noqa: PTH111, PTH118
    return joined if os.path.isabs(joined) else None  # noqa: PTH117


def _here() -> str:
    """The current folder; empty if it is gone."""
    # `$PWD` keeps the links by which people came here, as they stand in a manifest.
    called = os.environ.get("PWD", "")
    with suppress(OSError, ValueError):
        if os.path.isabs(called) and os.path.samefile(called, "."):  # noqa: PTH117, PTH121
            return called
    with suppress(OSError):
        return os.getcwd()  # noqa: PTH109
    return ""
