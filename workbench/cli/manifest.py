"""`workbench manifest`: what is wrong with a workspace's manifest (contract workspace, "Manifest")."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from workbench.cli.options import Given, common, never_migrates, pass_given, root_of
from workbench.cli.output import write_json, write_lines

if TYPE_CHECKING:
    from workbench.workspace.manifest import Problem


@click.group("manifest")
@common
def command() -> None:
    """Check what a workspace's manifest says."""


@never_migrates
@command.command("check")
@common
@pass_given
@click.pass_context
def check(ctx: click.Context, given: Given) -> None:
    """Say all that is wrong or odd in the manifest, with line and key; nothing is changed.

    Ends with 1 if there is an error: a program that is running goes on with what the manifest said before.
    Warnings stop nothing.
    """
    from workbench.workspace.layout import Layout
    from workbench.workspace.manifest.checking import check_manifest

    path = Layout(root_of(given)).manifest
    problems = check_manifest(path)
    ok = all(problem.severity != "error" for problem in problems)
    if given.as_json:
        write_json({"ok": ok, "path": str(path), "problems": [problem._asdict() for problem in problems]})
    else:
        write_lines(_text(path, problems))
    ctx.exit(0 if ok else 1)


def _text(path: Path, problems: Sequence[Problem]) -> Iterator[str]:
    from workbench.drawing import visible

    for problem in problems:
        place = f"{path}:{problem.line}" if problem.line else str(path)
        key = f"{problem.key}: " if problem.key else ""
        yield visible(f"{place}: {problem.severity}: {key}{problem.message}")
    if not problems:
        yield visible(f"{path}: nothing is wrong")
