"""What can be done on the Jobs screen only: keys, words, and why something cannot be done now."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, cast, runtime_checkable

from workbench.tui.actions import Action, writing
from workbench.tui.shapes import has_shape
from workbench.workspace.jobs.outcomes import session_made

if TYPE_CHECKING:
    from workbench.tui.shell import Shell
    from workbench.workspace.jobs.rows import JobRow

NAME = "jobs"


@runtime_checkable
class ShowsJob(Protocol):
    """The screen that these actions are for."""

    job: JobRow | None
    """The job under the cursor."""


def _row(app: Shell) -> JobRow | None:
    page = app.page
    if page is None or page.NAME != NAME or not has_shape(page, ShowsJob):
        return None
    return cast(ShowsJob, page).job


def _stoppable(app: Shell) -> str:
    row = _row(app)
    if row is None:
        return "there is no job"
    if not row.running:
        return f"this job runs no more: {row.status}"
    if row.stop_asked:
        return "it is stopping"
    return "" if row.mine else writing(app)


def _open(app: Shell) -> str:
    return "" if app.workspace is not None else "the workspace is not open yet"


def _made(app: Shell) -> str:
    row = _row(app)
    if row is None:
        return "there is no job"
    if row.kind not in ("import", "import jsonl"):
        return "this job made nothing that a screen shows"
    if row.kind == "import" and session_made(row.outcome) is None:
        return "this import has added nothing" if not row.running else "it has not ended yet"
    if row.kind == "import jsonl" and row.status != "done":
        return "nothing of the file was kept" if not row.running else "it has not ended yet"
    return ""


ACTIONS = (
    Action(
        "jobs.stop",
        "stop",
        "Stop this job after the transaction that it is in; what it has committed stays.",
        ("x",),
        NAME,
        "Act",
        "stop_job",
        footer=20,
        reason=_stoppable,
    ),
    Action(
        "jobs.made",
        "result",
        "Open the session that this import added to.",
        ("o",),
        NAME,
        "Act",
        "open_made",
        footer=50,
        reason=_made,
    ),
    Action(
        "jobs.examine",
        "examine",
        "Examine the workspace: database, order of events, projections, artifacts, permissions.",
        ("d",),
        NAME,
        "Act",
        "examine",
        footer=30,
        reason=_open,
    ),
    Action(
        "jobs.export",
        "export",
        "Write every event into a file of JSON lines.",
        ("w",),
        NAME,
        "Act",
        "export",
        footer=35,
        reason=_open,
    ),
)
