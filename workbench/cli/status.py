"""`workbench status`: where a workspace is, its schema, how much it holds (contract workspace, "Schema")."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from workbench.cli.errors import telling_waits, with_root
from workbench.cli.options import Given, common, never_migrates, pass_given, root_of
from workbench.cli.output import write_json, write_lines

if TYPE_CHECKING:
    from workbench.workspace.migration import MigrationPlan


_NAMED = 5
"""Steps of a later release that are named; a file may have any number of them."""


@never_migrates
@click.command("status")
@common
@pass_given
@click.pass_context
def command(ctx: click.Context, given: Given) -> None:
    """Show where a workspace is and what it holds.

    Ends with 0 also where there is no workspace yet, or a part of it is gone, with 3 where its database is of
    another release. Never changes anything, whatever asks for a migration.
    """
    from workbench.storage.errors import SchemaAheadOfCode
    from workbench.workspace.errors import WorkspaceMissing
    from workbench.workspace.summary import can_be_written
    from workbench.workspace.workspace import Workspace

    code = 0
    root = root_of(given)
    try:
        with telling_waits():
            plan = Workspace.plan_migration(root)
        if plan.needed:
            answer, code = (
                _of_another_release(root, with_root(_pending(plan), given)),
                SchemaAheadOfCode.exit_code,
            )
        else:
            with Workspace.open(root, read_only=True) as workspace:
                answer = workspace.status()
                # Opened for reading here; what counts is whether another command could write.
                answer["read_only"] = not can_be_written(workspace.layout)
    except WorkspaceMissing as error:
        answer = _outline(root, with_root(f"{error.message}: {error.hint}", given))
    except SchemaAheadOfCode as error:
        answer, code = _of_another_release(root, error.message), error.exit_code
    _condense(answer["schema"])
    if given.as_json:
        write_json(answer)
    else:
        write_lines(_text(answer))
    ctx.exit(code)


def _condense(schema: dict[str, Any]) -> None:
    """Name the first few of the steps that this release does not know, and count all of them."""
    unknown = schema["unknown"]
    schema["unknown_count"] = len(unknown)
    schema["unknown"] = unknown[:_NAMED]


def _pending(plan: MigrationPlan) -> str:
    if plan.pending:
        return f"the schema is {plan.current}, this program needs {plan.target}: run workbench migrate"
    names = ", ".join((*plan.folds, *plan.retired))
    return f"projections are of another release ({names}): run workbench migrate"


def _outline(root: Path, message: str) -> dict[str, Any]:
    from workbench.workspace.layout import Layout
    from workbench.workspace.migrations import SCHEMA_VERSION
    from workbench.workspace.missing import has_database
    from workbench.workspace.summary import can_be_written

    return {
        "root": str(root),
        "title": None,
        "timezone": None,
        "owner": None,
        "db_path": str(Layout(root).database),
        "exists": has_database(Layout(root)),
        "schema": {"current_version": None, "target_version": SCHEMA_VERSION, "pending": [], "unknown": []},
        "summary": None,
        "read_only": not can_be_written(Layout(root)),
        "message": message,
    }


def _of_another_release(root: Path, message: str) -> dict[str, Any]:
    from workbench.workspace.layout import Layout
    from workbench.workspace.migration import schema_state

    answer = _outline(root, message)
    state = schema_state(Layout(root))
    schema = answer["schema"]
    schema["current_version"] = state.current
    schema["pending"] = list(state.pending)
    schema["unknown"] = list(state.unknown)
    answer["exists"] = True
    # This release cannot, whatever the file's permissions say.
    answer["read_only"] = True
    return answer


def _text(answer: dict[str, Any]) -> list[str]:
    from datetime import datetime
    from zoneinfo import ZoneInfo

    from workbench.drawing import counted, exact, visible

    lines = [f"workspace  {answer['root']}"]
    if answer["title"] is not None:
        lines += [
            f"title      {answer['title']}",
            f"owner      {answer['owner']}",
            f"time zone  {answer['timezone']}",
        ]
    lines.append(f"database   {answer['db_path']}" + ("" if answer["exists"] else " (none yet)"))
    schema = answer["schema"]
    if schema["current_version"] is not None:
        lines.append(f"schema     {schema['current_version']} of {schema['target_version']}")
    held = answer["summary"]
    if held is not None:
        amounts = (
            counted(held["sessions"], "session"),
            counted(held["acta"], "actum", "acta"),
            counted(held["events"], "event"),
        )
        lines.append(f"holds      {', '.join(amounts)}")
        if held["sections"] or held["lagging_streams"]:
            # Where it is not known, chronicle status says why.
            lagging = held["lagging_streams"] or 0
            written = f"{counted(held['sections'], 'section')}, {counted(lagging, 'stream')} to consolidate"
            lines.append(f"chronicle  {written}")
        last = held["last_recorded_at"]
        zone = ZoneInfo(answer["timezone"])
        lines.append(f"last event {'none' if last is None else exact(datetime.fromisoformat(last), zone)}")
    lines.append(answer["message"])
    return [visible(line) for line in lines]
