"""`workbench chronicle export`, `load` and `recording`: sections, and what was drawn for them, as files."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any

import click

from workbench.cli.chronicle_stopping import Stopped, stoppable, telling_whom
from workbench.cli.chronicle_streams import Named, names_stream, stream_of
from workbench.cli.errors import UsageRefused
from workbench.cli.interrupts import stopping
from workbench.cli.opening import open_workspace
from workbench.cli.options import Given, common, completes, pass_given, utf8
from workbench.cli.output import progress_line, to_stderr, write_json, write_lines
from workbench.cli.piped import STREAM, read_from, write_to
from workbench.errors import WorkbenchError

if TYPE_CHECKING:
    from workbench.workspace import Workspace


class _AlsoHere(click.Argument):
    """A file that may be named without --to, too: said nowhere, so that one way is learnt."""

    def get_usage_pieces(self, ctx: click.Context) -> list[str]:
        return []


def _into_file(what: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Decorator of a command that writes one file: `to` is where, None for standard output; and `force`."""

    def add(function: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(function)
        def packed(*given: Any, to: str | None, file: str | None, **others: Any) -> Any:
            if to is not None and file is not None:
                raise UsageRefused("two files are named", hint="name one, with --to")
            return function(*given, to=file if to is None else to, **others)

        options = (
            click.option("--force", is_flag=True, help="Replace whatever file has that name."),
            click.option(
                "--to",
                type=utf8,
                metavar="FILE",
                shell_complete=completes("files"),
                help=f"Where {what} goes; “-” is standard output, “./-” a file of that name.  [default: -]",
            ),
            click.argument(
                "file", cls=_AlsoHere, required=False, type=utf8, shell_complete=completes("files")
            ),
        )
        for option in options:
            packed = option(packed)
        return packed

    return add


@click.command("export", short_help="Write all sections of a stream into a file.")
@common
@names_stream
@click.option("--times", is_flag=True, help="Also when each section was written.")
@_into_file("the export")
@pass_given
@click.pass_context
def export(ctx: click.Context, given: Given, named: Named, to: str | None, times: bool, force: bool) -> None:
    """Export every section of a stream, superseded ones too, for “chronicle load” in a copy of the workspace.

    The file appears when it is whole, readable by its owner alone. An earlier export of that name is
    replaced, and so is an empty file; any other file is left alone unless --force is given. Where there is
    no section yet no file is written, and the command ends with 1.
    """
    _refuse_one_stream(ctx, given, to)
    with open_workspace(given) as workspace:
        stream = stream_of(workspace, named)
        if not workspace.chronicle(stream).store.count(current=False):
            from workbench.workspace.summary import can_be_written

            helps = f"write up what is closed with: workbench chronicle consolidate --stream {quote(stream)}"
            raise NothingToWrite(
                f"{stream} has no section yet; there is nothing to export",
                hint=helps if can_be_written(workspace.layout) else "",
            )
        _refuse_own(workspace, to)
        _warn_of_withheld(workspace, stream, "the export holds them, and what was hidden may be in them")
        shown = not given.as_json and (to not in (None, STREAM) or not sys.stdout.isatty())
        with (
            stopping() as stopped,
            progress_line(shown=shown, in_bytes=False) as progress,
            write_to(to, force=force, what="the export") as path,
            reporting(path),
        ):
            count = workspace.chronicle(stream).export(path, times, progress, stopped)
            if count is None:
                raise Stopped("it was stopped; there is no export")
    if given.as_json:
        write_json({"stream": stream, "count": count})
        return
    from workbench.drawing import counted

    _say(f"exported {counted(count, 'section')} of {stream}", to)


@click.command("load", short_help="Read sections from a file.")
@common
@click.argument("file", metavar="FILE", type=utf8, shell_complete=completes("files"))
@names_stream
@pass_given
def load(given: Given, file: str, named: Named) -> None:
    """Load what “chronicle export” wrote into a workspace with the same events; “-” is standard input.

    The file says whose chronicle it is. All of it comes in, or nothing: a line that was changed, moved or
    lost is named, and so is a section that is of other events, or would stand beside another one for the
    same events. What is there already stays as it is.
    """
    with (
        read_from(file, "an export") as path,
        reporting(path),
        _plain(path),
        stoppable("nothing was loaded"),
        open_workspace(given, read_only=False) as workspace,
        stopping() as stopped,
        progress_line(shown=not given.as_json, in_bytes=False) as progress,
    ):
        stream = stream_of(workspace, named if named else Named(_stream_in(path), None, None, None, None))
        done = workspace.chronicle(stream).load(path, telling_whom(progress), stopped)
        if done is None:
            raise Stopped("it was stopped; nothing was loaded")
    if given.as_json:
        write_json(
            {
                "stream": stream,
                "loaded": done.landed,
                "sections": done.sections,
                "other_words": list(done.other_words),
            }
        )
        return
    from workbench.cli.chronicle_missing import few
    from workbench.drawing import counted, number, visible

    there = done.sections - done.landed
    rest = f"; {number(there)} {'was' if there == 1 else 'were'} there already" if there else ""
    lines = [f"loaded {counted(done.landed, 'section')} of {stream}{rest}"]
    if other := done.other_words:
        says = "says" if len(other) == 1 else "say"
        lines.append(f"the file's {few(list(other))} {says} something else than here, and stayed out")
    write_lines(visible(line) for line in lines)


@click.group("recording")
@common
def recording() -> None:
    """Carry what was drawn for a stream as a file, to replay it with “chronicle rebuild --recording”."""


@recording.command("write", short_help="Write a recording.")
@common
@names_stream
@_into_file("the recording")
@pass_given
@click.pass_context
def write(ctx: click.Context, given: Given, named: Named, to: str | None, force: bool) -> None:
    """Write what a model or a program answered for a stream into a file.

    The file appears when it is whole, readable by its owner alone. An earlier recording of that name is
    replaced, and so is an empty file; any other file is left alone unless --force is given. Where nothing
    was answered, as the extractive summarizer asks nobody, no file is written, and the command ends with 1.
    """
    from workbench.log.pins.recording import pin_events
    from workbench.log.streams import pins_stream

    _refuse_one_stream(ctx, given, to)
    with open_workspace(given) as workspace:
        stream = stream_of(workspace, named)
        if next(pin_events(workspace.log.stream(pins_stream(stream)).read()), None) is None:
            raise NothingToWrite(
                f"no program or model has answered anything for {stream}; there is nothing to record",
                hint=f"sections travel with: workbench chronicle export --stream {quote(stream)}",
            )
        _refuse_own(workspace, to)
        _warn_of_withheld(workspace, stream, "what was hidden may be in the recording as it was drawn")
        with write_to(to, force=force, what="the recording") as path, reporting(path):
            count = workspace.chronicle(stream).recording_write(path)
    if given.as_json:
        write_json({"stream": stream, "pins": count})
        return
    from workbench.drawing import counted

    _say(f"recorded {counted(count, 'answer')} for {stream}", to)


@recording.command("read", short_help="Say what a recording holds.")
@common
@click.argument("file", metavar="FILE", type=utf8, shell_complete=completes("files"))
@pass_given
def read(given: Given, file: str) -> None:
    """Say whose recording it is and how much is in it; “-” is standard input. Nothing is changed.

    A line that cannot be read is named.
    """
    from workbench.cli import chronicle_forms as forms
    from workbench.log.pins.recording import read_recording

    with read_from(file, "a recording") as path, reporting(path):
        found = read_recording(path)
    if given.as_json:
        write_json(forms.recording(found))
        return
    from workbench.cli.chronicle_lines import recorded

    write_lines(recorded(found))


class NothingToWrite(WorkbenchError):
    """A file was asked for that would hold nothing; none is written, and an earlier one stays."""

    code = "nothing_to_write"


def _refuse_one_stream(ctx: click.Context, given: Given, to: str | None) -> None:
    if to == "":
        raise click.BadParameter("the file's name is empty.", ctx=ctx)
    if to in (None, STREAM) and given.as_json:
        raise UsageRefused(
            "with --format json the file and the answer would be one stream",
            hint="name a file, or leave --format out",
        )


def _refuse_own(workspace: Workspace, to: str | None) -> None:
    """Asked of the name itself: what is forced is written beside it first."""
    if to is not None and to != STREAM:
        from workbench.workspace.own_files import refuse_own

        refuse_own(Path(to), workspace.layout)


def _warn_of_withheld(workspace: Workspace, stream: str, what: str) -> None:
    row = workspace.readers.chronicle.stream(stream)
    if row is not None and row.withheld:
        from workbench.drawing import counted

        are = "is" if row.withheld == 1 else "are"
        to_stderr(
            f"warning: {counted(row.withheld, 'section')} of {stream} {are} withheld from agents; {what}"
        )


def _say(said: str, to: str | None) -> None:
    from workbench.drawing import visible

    if to in (None, STREAM):
        # Standard output is the file itself.
        to_stderr(said)
    else:
        write_lines([visible(f"{said} to {to}")])


@contextmanager
def _plain(path: Path) -> Iterator[None]:
    """Refuse what can be read only once, and what never ends."""
    if path.exists() and not path.is_file():
        from workbench.workspace.transfer import FileFailed

        raise FileFailed(f"{path} is no file", hint="what comes out of a program is sent into “load -”")
    yield


def _stream_in(path: Path) -> str:
    """Whose chronicle a file says it is. Raises `InvalidExport`, `OSError`."""
    from workbench.chronicle.export_file import stream_of as stream_in

    with path.open("rb") as file:
        return stream_in(file)


@contextmanager
def reporting(path: Path | str | None) -> Iterator[None]:
    """What the system or the format says of a file, as the refusal of that file; of none for None."""
    from workbench.log.pins.errors import RecordingError
    from workbench.workspace.transfer import FileFailed

    try:
        yield
    except RecordingError as error:
        named = "" if str(path) in error.message else f"{path}: "
        raise FileFailed(f"{named}{error.message}", hint=error.hint) from error
    except OSError as error:
        if path is None:
            raise
        raise FileFailed(f"{path}: {error.strerror or error}") from error
