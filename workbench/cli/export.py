"""`workbench export`: the log out of a workspace (contract surfaces)."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from workbench.cli.errors import UsageRefused
from workbench.cli.opening import open_workspace
from workbench.cli.options import Given, common, completes, pass_given, utf8
from workbench.cli.output import OutputClosed, progress_line, to_stderr, write_json, write_lines
from workbench.cli.streams import closed


@click.group("export")
@common
def command() -> None:
    """Write the events of a workspace into a file."""


@command.command("jsonl")
@common
@click.option(
    "--to",
    type=utf8,
    metavar="FILE",
    shell_complete=completes("files"),
    help="The file to write; “-” is standard output, “./-” a file of that name.  [default: -]",
)
@pass_given
@click.pass_context
def jsonl(ctx: click.Context, given: Given, to: str | None) -> None:
    """Export every event as JSON lines, private ones included; copies of evidence are not in the file.

    Each line has every field of one event; “import jsonl” makes the same log of them. What events name as
    evidence lies in the folder artifacts: copy that too. Note how many events are said to be in the file: an
    import cannot tell that lines are missing at its end. With --to the file
    appears when it is whole, readable by its owner alone; an earlier export of that name is replaced if
    it is whole itself, and so is an empty file, as a workspace without events exports one; any other file
    is left alone.
    """
    from workbench.workspace.copies import copies_kept
    from workbench.workspace.transfer import export_file, export_jsonl

    if to == "":
        raise click.BadParameter("the file's name is empty.", ctx=ctx, param_hint="--to")
    if to == "-":
        to = None
    if to is None and 1 in closed:
        raise UsageRefused("standard output is closed", hint="say where the events go with --to")
    if to is None and given.as_json:
        raise UsageRefused(
            "with --format json the events and the answer would be one stream",
            hint="say where with --to, or leave --format out: every line is JSON",
        )
    with (
        open_workspace(given) as workspace,
        progress_line(shown=not given.as_json and (to is not None or not sys.stdout.isatty())) as progress,
    ):
        if to is None:
            events = export_jsonl(workspace.log, _to_stdout, progress=progress)
        else:
            events = export_file(workspace.log, Path(to), layout=workspace.layout, progress=progress)
        artifacts = workspace.layout.artifacts
    copies = copies_kept(artifacts)
    if given.as_json:
        write_json({"events": events, "evidence_copies": copies})
        return
    from workbench.drawing import counted, number, visible

    said = [f"exported {counted(events, 'event')}{'' if to is None else f' to {to}'}"]
    if copies:
        lie = "copy of evidence lies" if copies == 1 else "copies of evidence lie"
        said.append(f"{number(copies)} {lie} in {artifacts} and not in the file: copy that folder too")
    if to is not None:
        write_lines([visible(line) for line in said])
    elif copies or sys.stderr.isatty():
        # Standard output is the file itself.
        for line in said:
            to_stderr(line)


def _to_stdout(lines: bytes) -> None:
    try:
        sys.stdout.buffer.write(lines)
        sys.stdout.buffer.flush()
    except BrokenPipeError as error:
        raise OutputClosed from error
    except OSError as error:
        from workbench.workspace.transfer import FileFailed

        raise FileFailed(f"standard output cannot be written: {error.strerror or error}") from error
