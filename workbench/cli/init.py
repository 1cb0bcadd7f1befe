"""`workbench init`: lay out a workspace (contract workspace, "Layout")."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import click

from workbench.cli.options import Given, common, never_migrates, pass_given, root_of, utf8
from workbench.cli.output import write_json, write_lines

if TYPE_CHECKING:
    from pathlib import Path


@never_migrates
@click.command("init")
@common
@click.option("--timezone", type=utf8, metavar="NAME", help="An IANA name.  [default: the machine's]")
@click.option("--force", is_flag=True, help="Write the starter files anew. The database is never touched.")
@pass_given
def command(given: Given, timezone: str | None, force: bool) -> None:
    """Lay out a workspace in a folder; what exists is left alone.

    Without --root and $CHRONICLE_ROOT, in the current folder.
    """
    from workbench.workspace.layout import current_folder
    from workbench.workspace.workspace import Workspace

    if given.root is None and not os.environ.get("CHRONICLE_ROOT"):
        given.root = str(current_folder())
    with Workspace.create(root_of(given), timezone=timezone, force=force) as workspace:
        done = workspace.scaffolded
        answer: dict[str, Any] = {
            "status": "ok",
            "root": str(workspace.root),
            "manifest_path": str(workspace.layout.manifest),
            "db_path": str(workspace.layout.database),
            "timezone": workspace.timezone,
            "created": list(done.created),
            "skipped": list(done.skipped),
            "next_steps": _next_steps(workspace.root),
        }
    if given.as_json:
        write_json(answer)
    else:
        write_lines(_text(answer))


_WHAT = (
    "open it",
    "bring in transcripts of Claude Code",
    "bring in transcripts of Codex",
    "bring in a log that was exported",
    "see what it holds",
)
"""What each of the next steps does."""


def _next_steps(root: Path) -> list[str]:
    from shlex import quote

    at = f"--root {quote(str(root))}"
    return [
        f"workbench {at}",
        f"workbench import claude-code {at}",
        f"workbench import codex {at}",
        f"workbench import jsonl FILE {at}",
        f"workbench status {at}",
    ]


def _text(answer: dict[str, Any]) -> list[str]:
    from workbench.drawing import visible

    lines = [f"workspace  {answer['root']}", f"time zone  {answer['timezone']}"]
    # Of a folder that was a workspace already nothing was skipped that a person waits for.
    for heading, names in (("created", answer["created"]), ("kept", answer["skipped"])):
        if names:
            lines.append(f"{heading:<11}{', '.join(names)}")
    steps = answer["next_steps"]
    room = max(map(len, steps))
    told = (f"  {step:<{room}}  {what}" for step, what in zip(steps, _WHAT, strict=True))
    return [visible(line) for line in (*lines, "", "next:", *told)]
