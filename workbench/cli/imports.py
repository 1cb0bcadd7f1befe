"""`workbench import`: transcripts of other programs (contract transcripts), and exported logs."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from workbench.cli.errors import UsageRefused
from workbench.cli.interrupts import stopping
from workbench.cli.opening import open_workspace
from workbench.cli.options import Given, common, completes, owner, pass_given, utf8
from workbench.cli.output import Column, progress_line, table, to_stderr, write_json, write_lines
from workbench.cli.piped import STREAM, read_from
from workbench.cli.shown import shown

if TYPE_CHECKING:
    from workbench.imports.report import ImportReport
    from workbench.workspace import Workspace
    from workbench.workspace.jobs.job import Job
    from workbench.workspace.transcripts import FoundTranscript

_LISTED = 50
_PROBLEMS_SHOWN = 20


@click.group("import")
@common
def command() -> None:
    """Read transcripts of other programs into sessions, or an exported log into an empty workspace."""


def _transcripts(function: Callable[..., Any]) -> Callable[..., Any]:
    """Decorator: what every command takes that reads transcripts."""
    for add in (
        pass_given,
        owner,
        click.option("--dry-run", is_flag=True, help="Say what would be read in, and write nothing."),
        click.option("--yes", is_flag=True, help="Do not ask."),
        click.argument("paths", metavar="[PATH]…", nargs=-1, shell_complete=completes("files")),
        common,
    ):
        function = add(function)
    return function


@command.command("claude-code")
@_transcripts
def claude_code(given: Given, **asked: Any) -> None:
    """Import Claude Code transcripts: files, or folders that are searched.

    Without a PATH, every project of $CLAUDE_CONFIG_DIR or ~/.claude. What is in the workspace already is
    passed over. Shows what is new and asks before anything is written. Ends with 1 if a file or a session
    as a whole was refused or could not be read. A line that cannot be read is named once, and counted by
    every later import.
    """
    _import(given, "claude-code", **asked)


@command.command("codex")
@_transcripts
def codex(given: Given, **asked: Any) -> None:
    """Import Codex rollouts: files, or folders that are searched.

    Without a PATH, sessions and archived_sessions of $CODEX_HOME or ~/.codex. What is in the workspace
    already is passed over. Shows what is new and asks before anything is written. Compressed rollouts
    (.jsonl.zst) need the package zstandard. Ends with 1 if a file or a session as a whole was refused or
    could not be read. A line that cannot be read is named once, and counted by every later import.
    """
    _import(given, "codex", **asked)


def _import(
    given: Given, kind: str, *, paths: tuple[str, ...], yes: bool, dry_run: bool, owner: str | None
) -> None:
    if owner == "":
        from workbench.sessions.errors import EmptyOwnerID

        raise EmptyOwnerID
    from workbench.workspace.jobs.outcomes import import_outcome

    ctx = click.get_current_context()
    places = [Path(path).expanduser() for path in paths]
    title = " ".join([f"import {kind}", *map(str, places[:3]), *(["…"] if len(places) > 3 else [])])
    with open_workspace(given, read_only=dry_run) as workspace:
        if not (yes or dry_run) and not _agreed(given, workspace, kind, places):
            ctx.exit(0)
        with (
            stopping() as stopped,
            progress_line(shown=not given.as_json) as progress,
            workspace.jobs.run("import", title, progress=progress, cancelled=stopped) as job,
        ):
            report = workspace.import_transcripts(
                kind, places, owner=owner, dry_run=dry_run, progress=job.progress, cancelled=job.cancelled
            )
            job.finish(import_outcome(report), stopped=report.cancelled)
    _remark(job)
    if given.as_json:
        import msgspec

        write_json(msgspec.to_builtins(report))
    else:
        write_lines(_text(report))
    ctx.exit(_code(report))


@command.command("jsonl")
@common
@click.argument("file", type=utf8, metavar="FILE", shell_complete=completes("files"))
@click.option("--redact", is_flag=True, help="Take secrets out instead of refusing the file.")
@click.option("--future", is_flag=True, help="Take events that were recorded after the time of this machine.")
@pass_given
def jsonl(given: Given, file: str, redact: bool, future: bool) -> None:
    """Import a log that “export jsonl” wrote into a workspace without events; “-” is standard input.

    All of the file comes in, or nothing: a line that would not come out as it went in is named and refused,
    and so is a text in which the secret filter finds something, unless --redact is given, and an event that
    was recorded more than a day after the time of this machine, unless --future is. A file without events is
    refused too. What cannot be noticed is that whole lines are missing at the file's end: compare how many
    events came in with what the export said. Copies of evidence are not in the file; how many events name
    some that are not in this workspace's folder artifacts is said.
    """
    from workbench.workspace.copies import events_without_copies
    from workbench.workspace.jobs.outcomes import file_outcome
    from workbench.workspace.transfer import import_file

    title = "import standard input" if file == STREAM else f"import {Path(file)}"
    with (
        read_from(file, "an export") as place,
        open_workspace(given, read_only=False) as workspace,
        stopping() as stopped,
        progress_line(shown=not given.as_json) as progress,
        workspace.jobs.run("import jsonl", title, progress=progress, cancelled=stopped) as job,
    ):
        done = import_file(
            workspace.log,
            place,
            redact=redact,
            future=future,
            progress=job.progress,
            cancelled=job.cancelled,
        )
        job.finish(file_outcome(done))
        missing = events_without_copies(workspace.log, workspace.evidence)
    _remark(job)
    if given.as_json:
        write_json({"events": done.events, "redactions": done.redactions, "events_without_evidence": missing})
        return
    from workbench.drawing import counted, number, visible

    write_lines([visible(f"imported {counted(done.events, 'event')} into {workspace.root}")])
    if done.redactions:
        write_lines([f"removed {counted(sum(done.redactions.values()), 'secret')} before storing"])
    if missing:
        speaks = "event speaks" if missing == 1 else "events speak"
        said = (
            f"{number(missing)} {speaks} of evidence whose copies are not here: copy the folder artifacts of "
            f"the other workspace to {workspace.layout.artifacts}"
        )
        write_lines([visible(said)])


def _remark(job: Job) -> None:
    """Say it where the list of jobs does not have the whole truth."""
    if job.remark:
        to_stderr(f"note: {job.remark}")


def _agreed(given: Given, workspace: Workspace, kind: str, places: Sequence[Path]) -> bool:
    """Show what is new and ask; True at once where nothing is. `UsageRefused` where nobody can be asked."""
    new = [found for found in workspace.find_transcripts(kind, places).transcripts if found.is_new]
    if not new:
        return True
    asks = not given.as_json and sys.stdin.isatty() and sys.stdout.isatty()
    if not given.as_json:
        write_lines(_listing(new))
    if not asks:
        from workbench.drawing import counted

        raise UsageRefused(
            f"{counted(len(new), 'transcript')} hold something new and nothing was written",
            hint="say --yes to import, or --dry-run to look closer",
        )
    from workbench.drawing import visible

    return click.confirm(visible(shown(f"Import into {workspace.root}?")), default=False)


def _listing(new: Sequence[FoundTranscript]) -> Iterator[str]:
    from workbench.drawing import counted, size
    from workbench.redaction import redact
    from workbench.workspace.transcripts import newest_first

    rows = (
        (
            "" if (at := found.candidate.last_at) is None else at.strftime("%Y-%m-%d %H:%M"),
            size(found.candidate.size),
            redact(found.title).text,
            redact(str(found.candidate.path)).text,
        )
        for found in newest_first(new)[:_LISTED]
    )
    yield from table((Column("last (UTC)"), Column("size", "right"), Column("title"), Column("file")), rows)
    if len(new) > _LISTED:
        yield f"and {counted(len(new) - _LISTED, 'more transcript')}"


def _text(report: ImportReport) -> Iterator[str]:
    from workbench.drawing import counted, number, one_line

    totals = report.totals
    fed = [session for session in report.sessions if session.acta_added]
    if fed:
        yield from table(
            (Column("added", "right"), Column("acta", "right"), Column("session", most=60), Column("file")),
            ((str(each.acta_added), str(each.acta_total), each.id, each.source) for each in fed),
        )
        yield ""
    did = "would add" if report.dry_run else "added"
    yield (
        f"{did} {counted(totals['acta_added'], 'actum', 'acta')} to {counted(report.sessions_fed, 'session')}"
        f" from {counted(totals['files'], 'file')}"
    )
    if totals["duplicates"]:
        passed = counted(totals["duplicates"], "duplicate")
        yield f"passed over {passed}: in the workspace or this import already"
    removed = sum(sum(session.redactions.values()) for session in report.sessions)
    if removed:
        yield f"removed {counted(removed, 'secret')} before storing"
    if report.ignored:
        from workbench.imports.report import ignored_words

        kinds = ", ".join(
            f"{ignored_words(kind)} {number(count)}" for kind, count in sorted(report.ignored.items())
        )
        yield one_line(f"ignored: {kinds}", 1000)
    problems = [problem for session in report.sessions for problem in session.problems]
    for problem in problems[:_PROBLEMS_SHOWN]:
        place = f"{problem.file}:{problem.line}" if problem.line else problem.file
        yield one_line(f"problem: {place}: {problem.reason}", 1000)
    if more := totals["problems"] - min(len(problems), _PROBLEMS_SHOWN):
        yield f"and {counted(more, 'more problem')}; --format json {_how_many_named(report)}"
    if totals["unread_before"]:
        are = "is" if totals["unread_before"] == 1 else "are"
        lines = counted(totals["unread_before"], "line")
        yield f"{lines} that earlier imports could not read, and named, {are} still missing"
    if totals["waiting_lines"]:
        yield f"{counted(totals['waiting_lines'], 'half-written last line')}, for the next import"
    waiting = sum(session.waiting_messages for session in report.sessions)
    if waiting:
        yield f"{counted(waiting, 'message')} at the end of a file that is being written, for the next import"
    if report.cancelled:
        yield "stopped early; the next import goes on from there"


def _how_many_named(report: ImportReport) -> str:
    from workbench.drawing import number
    from workbench.imports.report import MOST_PROBLEMS

    if any(session.problems_more for session in report.sessions):
        return f"names the first {number(MOST_PROBLEMS)} of each file"
    return "has them all"


def _code(report: ImportReport) -> int:
    """130 for a stopped import, 1 if a file or session as a whole was refused or unreadable, else 0."""
    if report.cancelled:
        return 130
    return int(any(problem.is_whole for each in report.sessions for problem in each.problems))
