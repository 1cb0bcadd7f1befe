"""`workbench doctor`: what is wrong with a workspace, and what mends it (contract workspace, "doctor")."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import tzinfo
from typing import TYPE_CHECKING

import click

from workbench.cli.opening import open_workspace
from workbench.cli.options import Given, common, pass_given, root_of
from workbench.cli.output import line_width, progress_line, write_json, write_lines

if TYPE_CHECKING:
    from workbench.workspace import Workspace
    from workbench.workspace.doctor import DoctorReport, Finding
    from workbench.workspace.jobs.job import Progress


@click.command("doctor")
@common
@click.option(
    "--fix", is_flag=True, help="Mend what can be mended; events and what they name are never changed."
)
@pass_given
@click.pass_context
def command(ctx: click.Context, given: Given, fix: bool) -> None:
    """Examine a workspace: database, order of events, projections, artifacts, permissions.

    Every projection is compared with a replay of all events, which takes minutes for a million of them.
    Ends with 1 if something critical is wrong, or left after --fix.
    """
    from workbench.storage.errors import DatabaseDamaged

    zone = ""
    with progress_line(shown=not given.as_json) as progress:
        try:
            workspace = open_workspace(given, read_only=not fix, examine=True)
        except DatabaseDamaged as error:
            from workbench.workspace.doctor import doctor_of_refused
            from workbench.workspace.layout import Layout

            report = doctor_of_refused(Layout(root_of(given)), error, fix=fix, progress=progress)
        else:
            with workspace:
                zone = workspace.timezone
                report = _examined(workspace, fix, progress)
    if given.as_json:
        import msgspec

        write_json(msgspec.to_builtins(report))
    else:
        write_lines(_text(report, zone or _zone_of(given)))
    ctx.exit(0 if report.ok else 1)


def _examined(workspace: Workspace, fix: bool, progress: Progress) -> DoctorReport:
    """What an open workspace's examination finds; it is a job where the list of jobs can take one."""
    from workbench.log.times import now
    from workbench.storage.errors import DatabaseDamaged
    from workbench.workspace.doctor import unopened
    from workbench.workspace.doctor.jobs import can_run_jobs
    from workbench.workspace.doctor.report import Commands
    from workbench.workspace.jobs.outcomes import doctor_outcome

    title = "examine and mend the workspace" if fix else "examine the workspace"
    try:
        if fix and not can_run_jobs(workspace.log, Commands(workspace.layout)):
            began = now()
            report = workspace.doctor(fix=True, progress=progress)
            workspace.jobs.note_ended("doctor", title, began=began, outcome=doctor_outcome(report))
            return report
        with workspace.jobs.run("doctor", title, lease="doctor", progress=progress) as job:
            report = workspace.doctor(fix=fix, progress=job.progress, cancelled=job.cancelled)
            job.finish(doctor_outcome(report))
            return report
    except DatabaseDamaged as error:
        return unopened(workspace.layout, error)


def _zone_of(given: Given) -> str:
    from workbench.errors import WorkbenchError
    from workbench.workspace.layout import Layout
    from workbench.workspace.manifest import read_manifest

    try:
        return read_manifest(Layout(root_of(given)).manifest).timezone
    except WorkbenchError:
        return "UTC"


def _text(report: DoctorReport, timezone: str) -> Iterator[str]:
    from zoneinfo import ZoneInfo

    from workbench.workspace.doctor import tally

    zone = ZoneInfo(timezone)
    for finding in report.mended:
        yield from _finding("mended", finding, zone)
    for finding in report.findings:
        yield from _finding(finding.severity, finding, zone)
    yield tally(report)


def _finding(heading: str, finding: Finding, zone: tzinfo) -> Iterator[str]:
    from workbench.drawing import visible, wrap
    from workbench.workspace.doctor import in_zone

    yield f"{heading}  {finding.code}"
    for line in wrap(in_zone(finding.meaning, zone), max(20, min(line_width(), 100) - 2)):
        yield f"  {line}"
    if heading != "mended" and finding.command:
        # In one piece, so that it can be copied.
        yield f"  → {visible(finding.command)}"
    yield ""
