"""`workbench doctor`: what is wrong with a workspace, and what mends it (contract workspace, "doctor")."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from workbench.cli.opening import open_workspace
from workbench.cli.options import Given, common, pass_given, root_of
from workbench.cli.output import line_width, progress_line, write_json, write_lines

if TYPE_CHECKING:
    from workbench.workspace.doctor import DoctorReport, Finding


@click.command("doctor")
@common
@click.option("--fix", is_flag=True, help="Mend what can be mended; events and artifacts are never changed.")
@pass_given
@click.pass_context
def command(ctx: click.Context, given: Given, fix: bool) -> None:
    """Examine a workspace: database, order of events, projections, artifacts, permissions.

    Every projection is compared with a replay of all events, which takes minutes for a million of them.
    Ends with 1 if something critical is wrong, or left after --fix.
    """
    from workbench.storage.errors import DatabaseDamaged
    from workbench.workspace.jobs.outcomes import doctor_outcome

    title = "examine and mend the workspace" if fix else "examine the workspace"
    try:
        with (
            open_workspace(given, read_only=not fix) as workspace,
            progress_line(shown=not given.as_json) as progress,
            workspace.jobs.run("doctor", title, lease="doctor", progress=progress) as job,
        ):
            report = workspace.doctor(fix=fix, progress=job.progress, cancelled=job.cancelled)
            job.finish(doctor_outcome(report))
    except DatabaseDamaged as error:
        from workbench.workspace.doctor import unopened
        from workbench.workspace.layout import Layout

        report = unopened(Layout(root_of(given)), error)
    if given.as_json:
        import msgspec

        write_json(msgspec.to_builtins(report))
    else:
        write_lines(_text(report))
    ctx.exit(0 if report.ok else 1)


def _text(report: DoctorReport) -> Iterator[str]:
    from workbench.drawing import counted

    for finding in report.mended:
        yield from _finding("mended", finding)
    for finding in report.findings:
        yield from _finding(finding.severity, finding)
    left = len(report.findings)
    if left == 0:
        yield "everything is well now" if report.mended else "everything is well"
        return
    critical = sum(finding.severity == "critical" for finding in report.findings)
    yield f"{counted(left, 'finding')}, {critical or 'none'} of them critical"


def _finding(heading: str, finding: Finding) -> Iterator[str]:
    from workbench.drawing import visible, wrap

    yield f"{heading}  {finding.code}"
    for line in wrap(finding.meaning, max(20, min(line_width(), 100) - 2)):
        yield f"  {line}"
    if heading != "mended":
        # In one piece, so that it can be copied.
        yield f"  → {visible(finding.command)}"
    yield ""
