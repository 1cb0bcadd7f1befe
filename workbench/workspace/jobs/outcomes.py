"""What a job did, in words: one sentence, then a line for each thing worth naming."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from workbench.imports.report import ImportReport
    from workbench.workspace.doctor import DoctorReport
    from workbench.workspace.transfer import Imported

NAMED = 20
"""Sessions and problems that are named; more are counted."""
WELL = "everything is well"
"""Begins the outcome of an examination that leaves nothing to do."""
ADDED = "+"
"""Begins the line of a session that an import fed: `+12 <id>`."""


def import_outcome(report: ImportReport) -> str:
    """What an import added, where, and what it could not read."""
    from workbench.drawing import counted, number

    fed = [each for each in report.sessions if each.acta_added]
    totals = report.totals
    parts = [
        f"{counted(totals.get('acta_added', 0), 'actum', 'acta')} added to "
        f"{counted(report.sessions_fed, 'session')} from {counted(totals.get('files', 0), 'file')}"
    ]
    if totals.get("duplicates"):
        parts.append(counted(totals["duplicates"], "duplicate"))
    problems = [problem for each in report.sessions for problem in each.problems]
    in_all = max(totals.get("problems", 0), len(problems))
    if problems:
        parts.append(counted(in_all, "problem"))
    removed = sum(sum(each.redactions.values()) for each in report.sessions)
    if removed:
        parts.append(f"{counted(removed, 'secret')} removed before storing")
    lines = [", ".join(parts)]
    lines += [f"{ADDED}{each.acta_added} {_line(each.id)}" for each in fed[:NAMED]]
    if len(fed) > NAMED:
        lines.append(f"and {number(len(fed) - NAMED)} more")
    for problem in problems[:NAMED]:
        place = f"{problem.file}:{problem.line}" if problem.line else problem.file
        lines.append(_line(f"problem: {place}: {problem.reason}"))
    if in_all > NAMED and len(problems) > NAMED:
        lines.append(f"and {counted(in_all - NAMED, 'more problem')}")
    return "\n".join(lines)


def doctor_outcome(report: DoctorReport) -> str:
    """What an examination found: each finding, and the command that mends it under it."""
    from workbench.workspace.doctor.report import tally

    lines = [tally(report)]
    for heading, finding in (
        *(("mended", each) for each in report.mended),
        *((each.severity, each) for each in report.findings),
    ):
        lines.append(_line(f"{heading}: {finding.code}: {finding.meaning}"))
        if heading != "mended":
            lines.append(f"→ {_line(finding.command)}")
    return "\n".join(lines)


def file_outcome(done: Imported) -> str:
    """What came out of an exported file."""
    from workbench.drawing import counted

    text = f"{counted(done.events, 'event')} imported"
    removed = sum(done.redactions.values())
    return f"{text}, {counted(removed, 'secret')} removed before storing" if removed else text


_TROUBLE = ("critical: ", "warning: ", "problem: ")
"""Begin the lines of an outcome that say what is not as it should be."""
_WOULD_GO = re.compile(r"[1-9][\d\s]* secrets? would be removed")
"""Begins the outcome of a look that found secrets; thousands stand apart."""


def found_something(kind: str, outcome: str) -> bool:
    """Whether a job that did its work found what needs a person, by its kind and its outcome."""
    first, *lines = outcome.split("\n")
    if kind == "doctor":
        return not first.startswith(WELL)
    if kind == "rescan" and _WOULD_GO.match(first):
        return True
    return any(line.startswith(_TROUBLE) for line in lines)


def session_made(outcome: str) -> str | None:
    """The id of the first session that an import's outcome names."""
    for line in outcome.split("\n")[1:]:
        count, _, session = line.partition(" ")
        if count.startswith(ADDED) and count[1:].isdecimal() and session:
            return session
    return None


def _line(text: str) -> str:
    return " ".join(text.split())
