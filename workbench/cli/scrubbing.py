"""`workbench redactions rescan` and `scrub`: today's filter over what is stored (contract redaction)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from workbench.cli.interrupts import stopping
from workbench.cli.opening import open_workspace
from workbench.cli.options import Given, common, pass_given
from workbench.cli.output import Column, progress_line, table, to_stderr, write_json, write_lines
from workbench.workspace.errors import Cancelled

if TYPE_CHECKING:
    from workbench.workspace import Workspace
    from workbench.workspace.jobs.job import Job
    from workbench.workspace.redactions.report import Rescan, Scrubbed

_LISTED = 50
_BACKUPS_LISTED = 20
_COLUMNS = (Column("where", most=40), Column("n", "right"), Column("kind", most=24), Column("field"))
_CONFIRM = "workbench redactions scrub --confirm"
_RESCAN_TITLE = "look through what is stored"
_SCRUB_TITLE = "take secrets out of what is stored"


class Stopped(Cancelled):
    """Ctrl-C was pressed before the end."""

    exit_code = 130


@click.command("rescan")
@common
@pass_given
@click.pass_context
def rescan(ctx: click.Context, given: Given) -> None:
    """Look through all that is stored with today's filter, and list what it would remove; never the secret.

    Events, artifacts, exports and logs in the workspace, the list of jobs, and backups. Nothing is changed.
    Ends with 1 if something was found, or something could not be looked into.
    """
    with _opened(given) as workspace:
        report, job = _rescanned(given, workspace)
        _remark(job)
        if given.as_json:
            write_json(_form(report, "found"))
        else:
            write_lines(_found(report, workspace))
            if report.found:
                to_stderr(f"take it out with: {_command(given)}")
    ctx.exit(1 if report.found or not report.is_whole else 0)


@click.command("scrub")
@common
@click.option("--confirm", is_flag=True, help="Do it; without this, only say what would be done.")
@pass_given
@click.pass_context
def scrub(ctx: click.Context, given: Given, confirm: bool) -> None:
    """Take out of all that is stored what today's filter finds, to the last byte but for backups.

    Events keep their position, ids and times; what was taken out is listed with “redactions list”. The
    database is written anew, which takes room for one more of it. Backups that still hold old text are
    named and stay as they are. A scrub that was cut short is completed by the next one. Ends with 1 where
    something is left to do; without --confirm also where it would take something out.
    """
    if not confirm:
        _propose(ctx, given)
        return
    from workbench.workspace.redactions import LEASE
    from workbench.workspace.redactions.outcomes import scrub_outcome

    with open_workspace(given, read_only=False) as workspace:
        with (
            _interrupting(),
            stopping() as stopped,
            progress_line(shown=not given.as_json) as progress,
            workspace.jobs.run(
                "scrub", _SCRUB_TITLE, lease=LEASE, progress=progress, cancelled=stopped
            ) as job,
        ):
            report = workspace.scrub(progress=job.progress, cancelled=job.cancelled)
            job.finish(scrub_outcome(report, workspace.root))
        _remark(job)
        if given.as_json:
            write_json(_scrubbed_form(report))
        else:
            write_lines(_scrubbed(report, workspace, _command(given)))
    ctx.exit(0 if report.emptied and report.is_whole else 1)


def _propose(ctx: click.Context, given: Given) -> None:
    """Say what a scrub would do, and how it is done. Ends as a rescan does."""
    from workbench.workspace.redactions.scrub import unfinished

    with _opened(given) as workspace:
        report, job = _rescanned(given, workspace)
        _remark(job)
        steps = unfinished(workspace.log)
        wanted = report.found > 0 or steps > 0
        if given.as_json:
            command = _command(given) if wanted else None
            write_json({**_form(report, "found"), "unfinished": steps > 0, "command": command})
        else:
            write_lines(_found(report, workspace))
            if steps:
                write_lines(["a scrub was not brought to its end; the next one completes it"])
            if wanted:
                to_stderr(f"nothing was changed; do it with: {_command(given)}")
    ctx.exit(1 if wanted or not report.is_whole else 0)


def _command(given: Given) -> str:
    """The command that does it to this workspace: copied, it must not act on another one."""
    from shlex import quote

    return f"{_CONFIRM} --root {quote(given.root)}" if given.root else _CONFIRM


@contextmanager
def _opened(given: Given) -> Iterator[Workspace]:
    """The workspace, for writing where that can be: that it was looked through is noted there."""
    from workbench.storage.errors import DatabaseReadOnly

    try:
        workspace = open_workspace(given, read_only=False)
    except DatabaseReadOnly:
        workspace = open_workspace(given)
    with workspace:
        yield workspace


@contextmanager
def _interrupting() -> Iterator[None]:
    try:
        yield
    except Cancelled as error:
        raise Stopped(error.message, hint="run it again when there is time") from error


def _rescanned(given: Given, workspace: Workspace) -> tuple[Rescan, Job]:
    from workbench.workspace.redactions.outcomes import rescan_outcome

    with (
        _interrupting(),
        stopping() as stopped,
        progress_line(shown=not given.as_json) as progress,
        workspace.jobs.run("rescan", _RESCAN_TITLE, progress=progress, cancelled=stopped) as job,
    ):
        report = workspace.rescan(progress=job.progress, cancelled=job.cancelled)
        job.finish(rescan_outcome(report, workspace.root))
    return report, job


def _remark(job: Job) -> None:
    if job.remark:
        to_stderr(f"note: {job.remark}")


# -- forms ---------------------------------------------------------------------------------


def _form(report: Rescan, hits: str) -> dict[str, Any]:
    return {
        hits: [
            {
                "place": hit.place,
                "position": hit.position or None,
                "field": hit.field,
                "kind": hit.kind,
                "count": hit.secrets,
            }
            for hit in report.hits
        ],
        "places": report.places,
        "counts": report.secrets,
        "filter_version": report.filter_version,
        "events": report.events,
        "backups": [
            {"path": str(each.path), "upto": each.upto, "holds": each.holds} for each in report.backups
        ],
        "unreadable": report.unreadable,
        "closed": report.closed,
        "other_files": [
            {
                "path": each.place,
                "counts": each.counts,
                "by_name": each.by_name,
                "damaged": each.damaged,
            }
            for each in report.others
        ],
    }


def _scrubbed_form(report: Scrubbed) -> dict[str, Any]:
    return {
        **_form(report, "scrubbed"),
        "rewritten": report.rewritten,
        "artifacts": report.artifacts,
        "files": report.files,
        "resumed": report.resumed,
        "emptied": report.emptied,
        "readers": report.readers,
    }


# -- text ----------------------------------------------------------------------------------


def _found(report: Rescan, workspace: Workspace) -> Iterator[str]:
    from workbench.drawing import counted

    yield from _places(report)
    if report.found:
        yield f"{counted(report.found, 'secret')} in {counted(report.places, 'place')}: {_kinds(report)}"
    else:
        looked = "what could be read" if not report.is_whole else "the files beside them"
        yield f"nothing found in {counted(report.events, 'event')} and {looked}"
    yield from _left(report, workspace)


def _scrubbed(report: Scrubbed, workspace: Workspace, command: str) -> Iterator[str]:
    from workbench.drawing import counted, one_line

    yield from _places(report)
    if report.resumed:
        yield "a scrub that had been cut short was completed"
    if report.found:
        where = counted(report.places, "place")
        yield f"removed {counted(report.found, 'secret')} from {where}: {_kinds(report)}"
        yield (
            f"rewritten: {counted(report.rewritten, 'event')}, {counted(report.artifacts, 'artifact')}, "
            f"{counted(report.files, 'other file')}"
        )
    else:
        looked = "what could be read" if not report.is_whole else "the files beside them"
        yield f"nothing to remove in {counted(report.events, 'event')} and {looked}"
    yield from _left(report, workspace)
    if report.closed:
        yield f"the scrub is not finished: let the program read all of it, then scrub again with: {command}"
    if not report.emptied:
        yield (
            "old text may still lie in the database's write-ahead log, which another program reads: "
            f"end it, then scrub again with: {command}"
        )
        for name in report.readers:
            yield one_line(f"  open in {name}", 1000)


def _places(report: Rescan) -> Iterator[str]:
    from workbench.drawing import number

    if not report.hits:
        return
    yield from table(
        _COLUMNS,
        ((hit.place, number(hit.secrets), hit.kind, hit.field or "—") for hit in report.hits[:_LISTED]),
    )
    if report.places > _LISTED:
        yield f"and {number(report.places - _LISTED)} more"
    yield ""


def _kinds(report: Rescan) -> str:
    from workbench.drawing import number

    ordered = sorted(report.secrets.items(), key=lambda each: (-each[1], each[0]))
    return ", ".join(f"{kind} {number(count)}" for kind, count in ordered)


def _left(report: Rescan, workspace: Workspace) -> Iterator[str]:
    """What the filter does not reach: backups, and what cannot be read."""
    from shlex import quote

    from workbench.drawing import counted, number, one_line
    from workbench.workspace.redactions.outcomes import other_words, path_in, state_words

    for state in report.holding[:_BACKUPS_LISTED]:
        yield one_line(f"backup: {path_in(workspace.root, state.path)} {state_words(state)}", 1000)
    if len(report.holding) > _BACKUPS_LISTED:
        yield f"and {number(len(report.holding) - _BACKUPS_LISTED)} more; --format json has them all"
    if report.unreadable:
        doctor = f"workbench doctor --root {quote(str(workspace.root))}"
        yield one_line(f"{counted(report.unreadable, 'event')} cannot be read; see: {doctor}", 1000)
    for place in report.closed:
        yield one_line(f"cannot be read: {place}", 1000)
    for each in report.others:
        yield one_line(f"stays as it is: {other_words(each)}", 1000)
