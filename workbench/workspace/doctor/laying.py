"""Building what a layout lacks, and dropping what acts on it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import apsw

from workbench.storage.connection import open_writer
from workbench.storage.errors import translated
from workbench.workspace.doctor.objects import Step
from workbench.workspace.doctor.stages import Watch


def run_steps(path: Path, steps: Sequence[Step], watch: Watch) -> dict[str, str]:
    """Run each step in a transaction of its own; by name the steps that SQLite refuses, and why.

    Raises `Cancelled`, and the storage errors of a write.
    """
    refused: dict[str, str] = {}
    connection = open_writer(path)
    try:
        # What an index is sorted in grows with the log, and must not be held in memory.
        connection.execute("PRAGMA temp_store=FILE")
        with translated(path), watch.interrupting(connection):
            for step in steps:
                why = _run(connection, step)
                if why:
                    refused[step.name] = why
    finally:
        connection.close()
    return refused


def _run(connection: apsw.Connection, step: Step) -> str:
    connection.execute("BEGIN IMMEDIATE")
    try:
        for statement in step.statements:
            connection.execute(statement)
        connection.execute("COMMIT")
    except (apsw.SQLError, apsw.ConstraintError) as error:
        return str(error)
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
    return ""
