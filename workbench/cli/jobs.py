"""`workbench jobs`: what long calls run, ran and did (contract surfaces; contract workspace, "Jobs")."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import click

from workbench.cli.errors import UsageRefused, with_root
from workbench.cli.opening import open_workspace
from workbench.cli.options import Given, common, completes, limit, pass_given, whole
from workbench.cli.output import Column, table, write_json, write_lines

if TYPE_CHECKING:
    from datetime import datetime

    from workbench.workspace.jobs.rows import JobRow

_COLUMNS = (
    Column("job", "right"),
    Column("status"),
    Column("kind", most=14),
    Column("started"),
    Column("took", "right"),
    Column("done", "right", most=24, least=12),
    Column("what", most=40, least=16),
    Column("outcome"),
)
_LINES_SHOWN = 40


@click.group("jobs", invoke_without_command=True)
@common
@limit
@click.option("--after", type=whole(-(2**62), 2**62), metavar="ID", help="Go on behind a page: its “next”.")
@pass_given
@click.pass_context
def command(ctx: click.Context, given: Given, limit: int, after: int | None) -> None:
    """List long calls of every program on the workspace: running ones first, then the newest.

    A job whose program was killed is shown as failed. Old jobs are forgotten.
    """
    if ctx.invoked_subcommand is not None:
        return
    with open_workspace(given) as workspace:
        anchor = None
        if after is not None:
            anchor = workspace.jobs.get(after)
            if anchor is None:
                raise UsageRefused(
                    f"there is no job {after} to go on behind", hint="give --after the “next” of a page"
                )
        rows = workspace.jobs.page(limit + 1, after=anchor)
        following = rows[limit - 1].id if len(rows) > limit else None
        rows = rows[:limit]
        if given.as_json:
            write_json({"jobs": [_form(row) for row in rows], "next": following})
            return
        write_lines(_text(rows, following, workspace.timezone, given))


@command.command("stop", short_help="Ask a running job to stop.")
@common
@click.argument("number", metavar="ID", type=whole(1, 2**62), shell_complete=completes("running_jobs"))
@pass_given
def stop(given: Given, number: int) -> None:
    """Ask a running job to stop, whatever program runs it; what it has committed stays."""
    with open_workspace(given, read_only=False) as workspace:
        row = workspace.jobs.stop(number)
    if given.as_json:
        write_json(_form(row))
        return
    from workbench.drawing import one_line

    write_lines([one_line(f"job {row.id} stops after the transaction that it is in: {row.title}", 1000)])


@command.command("show", short_help="Show one job whole.")
@common
@click.argument("number", metavar="ID", type=whole(-(2**62), 2**62), shell_complete=completes("jobs"))
@pass_given
def show(given: Given, number: int) -> None:
    """Show everything that is known of a job: its outcome line by line, its error and what helps."""
    with open_workspace(given) as workspace:
        row = workspace.jobs.get(number)
        if row is None:
            from workbench.workspace.jobs.errors import JobNotFound

            raise JobNotFound(f"there is no job {number}", hint="list them with: workbench jobs")
        if given.as_json:
            write_json(_form(row))
            return
        write_lines(_whole(row, workspace.timezone, given))


def _form(row: JobRow) -> dict[str, Any]:
    from workbench.log.times import to_text

    return {
        "id": row.id,
        "kind": row.kind,
        "title": row.title,
        "status": row.status,
        "found_something": _found(row),
        "started_at": to_text(row.started_at),
        "finished_at": None if row.finished_at is None else to_text(row.finished_at),
        "done": row.done,
        "total": row.total,
        "note": row.note,
        "outcome": row.outcome,
        "error": row.error,
        "hint": row.hint,
    }


def _text(rows: Sequence[JobRow], following: int | None, timezone: str, given: Given) -> Iterator[str]:
    from datetime import UTC, datetime
    from zoneinfo import ZoneInfo

    from workbench.drawing import exact, visible

    if not rows:
        yield "no jobs yet"
        yield ""
        yield "imports, examinations and migrations leave a line here, such as:"
        for line in ("workbench import claude-code", "workbench doctor --fix"):
            yield visible(f"  {with_root(line, given)}")
        return
    zone, now = ZoneInfo(timezone), datetime.now(UTC)
    yield from table(
        _COLUMNS,
        (
            (
                str(row.id),
                _status(row),
                row.kind,
                exact(row.started_at, zone),
                _took(row, now),
                amount(row),
                row.title,
                row.error or row.summary or row.note,
            )
            for row in rows
        ),
    )
    if following is not None:
        yield ""
        yield f"more: --after {following}"


def _whole(row: JobRow, timezone: str, given: Given) -> Iterator[str]:
    from datetime import UTC, datetime
    from zoneinfo import ZoneInfo

    from workbench.drawing import exact, one_line
    from workbench.workspace.jobs.processes import Process

    zone = ZoneInfo(timezone)
    process = Process.from_text(row.process)
    known = (
        ("job", f"{row.id}"),
        ("what", row.title),
        ("kind", row.kind),
        ("status", _status(row)),
        ("started", exact(row.started_at, zone)),
        ("finished", "" if row.finished_at is None else exact(row.finished_at, zone)),
        ("took", _took(row, datetime.now(UTC))),
        ("done", amount(row)),
        ("at", row.note),
        ("process", "" if process is None else f"{process.pid} on {process.host}"),
        ("error", row.error),
        ("hint", with_root(row.hint, given)),
    )
    for name, value in known:
        if value:
            yield f"{name:<10}{one_line(value, 4000)}"
    lines = row.outcome.split("\n") if row.outcome else []
    for number, line in enumerate(lines[:_LINES_SHOWN]):
        yield f"{'outcome' if number == 0 else '':<10}{one_line(line, 4000)}"
    if len(lines) > _LINES_SHOWN:
        yield f"{'':<10}… {len(lines) - _LINES_SHOWN} more lines; --format json has them"


def _found(row: JobRow) -> bool:
    from workbench.workspace.jobs.outcomes import found_something

    return row.status == "done" and found_something(row.kind, row.outcome)


def _status(row: JobRow) -> str:
    """What a job is doing or became, in a few words."""
    if row.running and row.stop_asked:
        return "stopping"
    return "done, found something" if _found(row) else row.status


def amount(row: JobRow) -> str:
    """How far a job is or came, in what it counts; of parts that are all done there is nothing to say.

    A job that is done did all that there was, whatever it had counted when it said so last.
    """
    from workbench.drawing import number, size

    share = f"{min(100, 100 * row.done // row.total)} %" if row.total else ""
    if row.unit == "parts" and row.status == "done":
        return ""
    if row.unit == "parts" or not row.done:
        return share
    form = size if row.unit == "bytes" else number
    if row.status == "done" or not row.total:
        return form(row.done)
    whole_ = form(row.done) if row.total == row.done else f"{form(row.done)} of {form(row.total)}"
    return f"{whole_}, {share}"


def _took(row: JobRow, now: datetime) -> str:
    from workbench.drawing import age

    end = row.finished_at or now
    short = age(row.started_at, max(end, row.started_at))
    return "0 s" if short == "now" else short
