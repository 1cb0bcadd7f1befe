"""What `doctor` says."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from datetime import datetime, tzinfo
from functools import cached_property
from pathlib import Path
from typing import Literal

import msgspec

from workbench.storage.errors import SchemaError
from workbench.workspace.doctor.places import moving_log_away, newest_copy, wrong_log
from workbench.workspace.layout import Layout

Severity = Literal["critical", "warning", "info"]
SEVERITIES: tuple[Severity, ...] = ("critical", "warning", "info")

_ALONE = {"critical": "critical", "warning": "a warning", "info": "nothing wrong"}
_TIME = re.compile(r"\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}\+00:00", re.ASCII)
"""As `to_text` writes it."""

EXAMPLES = 3
"""How many of many like things a sentence names."""


class Finding(msgspec.Struct, frozen=True):
    """One thing that is not as it should be."""

    severity: Severity
    """`critical`: what the workspace says cannot be trusted; `warning`: it can, but something should be
    done; `info`: nothing is wrong, something is in the way."""
    code: str
    """Stable; scripts match it."""
    meaning: str
    """One sentence. Names in it may come from a stranger's file: draw it literally."""
    command: str
    """What mends it, ready for a shell, or shows it where nothing mends it; empty where nothing is to be
    run, as the meaning says what to do."""


class DoctorReport(msgspec.Struct, frozen=True):
    """The outcome of an examination."""

    findings: list[Finding]
    """What is wrong now, the worst first."""
    mended: list[Finding]
    """What was wrong before; empty unless it was asked to mend."""
    ok: bool
    """Whether nothing critical is left."""


def report(findings: Sequence[Finding], mended: Sequence[Finding] = ()) -> DoctorReport:
    """Findings in order of severity, and what they amount to."""
    ordered = sorted(findings, key=lambda finding: SEVERITIES.index(finding.severity))
    return DoctorReport(ordered, list(mended), not any(each.severity == "critical" for each in ordered))


def unopened(layout: Layout, error: SchemaError) -> DoctorReport:
    """The report on a workspace whose database cannot even be opened, for the reason in `error`.

    Where the database is gone, or has the log of another beside it, SQLite's tools would fold that log in
    or throw it away: none of them is recommended there.
    """
    if error.code == "no_database_file":
        return report([Finding("critical", error.code, sentence(f"{error.message}: {error.hint}"), "")])
    wrong = wrong_log(layout)
    if wrong is not None:
        meaning = sentence(f"{wrong.error.message}; {wrong.error.hint}")
        command = "" if wrong.orphaned else moving_log_away(layout.database)
        return report([Finding("critical", wrong.error.code, meaning, command)])
    commands = Commands(layout)
    meaning = sentence(f"{error.message.rstrip('.')}: {commands.rescue}")
    return report([Finding("critical", error.code, meaning, commands.recover)])


def tally(report: DoctorReport) -> str:
    """How much was found, in a few words: `3 findings, 1 of them critical`, `1 finding, a warning`."""
    from workbench.drawing import counted

    count = len(report.findings)
    critical = sum(finding.severity == "critical" for finding in report.findings)
    if not count:
        return "everything is well now" if report.mended else "everything is well"
    if count == 1:
        return f"1 finding, {_ALONE[report.findings[0].severity]}"
    said = "all" if critical == count else str(critical or "none")
    return f"{counted(count, 'finding')}, {said} of them critical"


def in_zone(meaning: str, zone: tzinfo) -> str:
    """The sentence with its times, which are ISO 8601 in UTC, as a person of that zone reads them."""
    from workbench.drawing import exact

    return _TIME.sub(lambda found: exact(datetime.fromisoformat(found[0]), zone), meaning)


class Commands:
    """The commands that findings recommend, for one workspace."""

    def __init__(self, layout: Layout) -> None:
        at = self._at = f"--root {shlex.quote(str(layout.root))}"
        self._layout = layout
        self.fix = f"workbench doctor --fix {at}"
        self.migrate = f"workbench migrate {at}"
        database = self._database = shlex.quote(str(layout.database))
        beside = shlex.quote(f"{layout.database}.recovered")
        self.recover = f"(umask 077; sqlite3 {database} .recover | sqlite3 {beside})"
        """Where SQLite's structure is broken, and only there: its own tool carries off what it finds, into a
        file beside that is the owner's alone.

        An export is no help there: it has every event, or it fails.
        """
        self.upgrade = "pip install --upgrade chronicle-workbench"
        self.artifacts = shlex.quote(str(layout.artifacts))
        self.purged = f"workbench evidence list {at} --status purged"

    @property
    def rescue(self) -> str:
        """What `recover` is for, in words, and what is better."""
        # Older ones refuse the layout of our full text.
        return f"restore a copy of it{self._newest}, or save what can be read, with sqlite3 3.43 or later"

    def only_a_copy(self, what: str = "it") -> str:
        """`only a copy can bring it back`, and which copy is there."""
        brought = f"{what} back" if what in ("it", "them") else f"back {what}"
        return f"only a copy can bring {brought}{self._newest}"

    @property
    def copies(self) -> str:
        """Shows the newest copy of the database, else where the workspace keeps copies."""
        copy = self._copy
        if copy is None:
            return f"ls -lA {shlex.quote(str(self._layout.root / 'backups'))}"
        return f"ls -l {shlex.quote(str(copy))}"

    def look(self, position: int) -> str:
        """Shows the events from a position on."""
        return f"workbench timeline {self._at} --after {max(position - 1, 0)} --limit 10"

    @cached_property
    def _copy(self) -> Path | None:
        return newest_copy(self._layout)

    @property
    def _newest(self) -> str:
        copy = self._copy
        return "" if copy is None else f" (the newest is {copy.relative_to(self._layout.root)})"

    def show(self, table: str) -> str:
        """Shows how a table is laid out."""
        return f"sqlite3 {self._database} {shlex.quote(f'.schema {table}')}"

    def run(self, sql: str) -> str:
        """Runs a statement with SQLite's own tool; for what only a person can decide."""
        return f"sqlite3 {self._database} {shlex.quote(sql)}"


def sentence(text: str) -> str:
    """With a capital, unless it begins with a command or the name of a file, and a full stop."""
    from workbench.drawing import capital

    text = " ".join(text.split())
    if not text:
        return text
    return capital(text) + ("" if text.endswith(".") else ".")


def named(examples: Sequence[object], count: int) -> str:
    """`a, b and 17 more`, of `count` things of which some are given."""
    shown = ", ".join(str(each) for each in examples[:EXAMPLES])
    left = count - min(len(examples), EXAMPLES)
    return f"{shown} and {left:,} more" if left > 0 else shown


class Noted:
    """Counts like things, and keeps the first few of them."""

    def __init__(self) -> None:
        self.count = 0
        self.examples: list[object] = []

    def add(self, example: object) -> None:
        """One more."""
        self.count += 1
        if len(self.examples) < EXAMPLES:
            self.examples.append(example)

    def __bool__(self) -> bool:
        return self.count > 0

    def __str__(self) -> str:
        return named(self.examples, self.count)
