"""`workbench status`: where a workspace is, its schema, how much it holds (contract workspace, "Schema")."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from workbench.cli.options import Given, common, open_workspace, pass_given, root_of
from workbench.cli.output import write_json, write_lines


@click.command("status")
@common
@pass_given
@click.pass_context
def command(ctx: click.Context, given: Given) -> None:
    """Show where a workspace is and what it holds.

    Ends with 0 also where there is no workspace yet, with 3 where its database is of another release.
    """
    from workbench.storage.errors import SchemaAheadOfCode, SchemaMigrationRequired
    from workbench.workspace.errors import WorkspaceMissing
    from workbench.workspace.summary import can_be_written

    code = 0
    try:
        with open_workspace(given) as workspace:
            answer = workspace.status()
            # Opened for reading here; what counts is whether another command could write.
            answer["read_only"] = not can_be_written(workspace.layout)
    except WorkspaceMissing as error:
        answer = _missing(root_of(given), error.message)
    except (SchemaAheadOfCode, SchemaMigrationRequired) as error:
        answer, code = _of_another_release(root_of(given), error.message), error.exit_code
        # This release cannot, whatever the file's permissions say.
        answer["read_only"] = True
    if given.as_json:
        write_json(answer)
    else:
        write_lines(_text(answer))
    ctx.exit(code)


def _outline(root: Path, message: str) -> dict[str, Any]:
    from workbench.storage.schema import SCHEMA_VERSION
    from workbench.workspace.layout import Layout
    from workbench.workspace.summary import can_be_written

    return {
        "root": str(root),
        "title": None,
        "timezone": None,
        "owner": None,
        "db_path": str(Layout(root).database),
        "exists": False,
        "schema": {"current_version": None, "target_version": SCHEMA_VERSION, "pending": [], "unknown": []},
        "summary": None,
        "read_only": not can_be_written(Layout(root)),
        "message": message,
    }


def _missing(root: Path, message: str) -> dict[str, Any]:
    return _outline(root, message)


def _of_another_release(root: Path, message: str) -> dict[str, Any]:
    from workbench.storage import fetch
    from workbench.storage.connection import open_read_only
    from workbench.workspace.layout import Layout

    answer = _outline(root, message)
    view = open_read_only(Layout(root).database)
    version = int(fetch.value(view.connection, "PRAGMA user_version"))
    view.connection.close()
    if view.copy is not None:
        view.copy.cleanup()
    schema = answer["schema"]
    target = schema["target_version"]
    schema["current_version"] = version
    schema["pending"] = list(range(version + 1, target + 1))
    schema["unknown"] = list(range(target + 1, version + 1))
    answer["exists"] = True
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
        last = held["last_recorded_at"]
        zone = ZoneInfo(answer["timezone"])
        lines.append(f"last event {'none' if last is None else exact(datetime.fromisoformat(last), zone)}")
    lines.append(answer["message"])
    return [visible(line) for line in lines]
