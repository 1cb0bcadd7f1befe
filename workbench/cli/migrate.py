"""`workbench migrate`: an older database to this release's schema (contract workspace, "Schema")."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from workbench.cli.errors import tell_waiting, with_root
from workbench.cli.interrupts import stopping
from workbench.cli.options import Given, common, never_migrates, pass_given, root_of
from workbench.cli.output import progress_line, to_stderr, write_json, write_lines
from workbench.workspace.errors import Cancelled

if TYPE_CHECKING:
    from workbench.workspace.migration import Migrated, MigrationPlan

_WORDS = {
    "backup": "copying the database",
    "schema": "changing the layout",
    "projections": "building projections from the events",
}


class Stopped(Cancelled):
    """Ctrl-C was pressed before the end."""

    exit_code = 130


@never_migrates
@click.command("migrate")
@common
@click.option("--plan", is_flag=True, help="Say what would be done, and do nothing.")
@pass_given
def command(given: Given, plan: bool) -> None:
    """Bring a workspace's database to this release's schema.

    A copy of the database is put into backups/migrations first. All of it happens or nothing: after an
    error, or Ctrl-C, the database is as it was. Where it is current nothing is done. A database that is
    newer, damaged or another program's is left alone, and the command ends with 3.
    """
    from workbench.workspace.workspace import Workspace

    root = root_of(given)
    if plan:
        planned = Workspace.plan_migration(root)
        if given.as_json:
            import msgspec

            write_json(msgspec.to_builtins(planned))
        else:
            write_lines(_planned(planned, given))
        return
    done = _migrate(given, root)
    if given.as_json:
        import msgspec

        write_json(msgspec.to_builtins(done))
    else:
        write_lines(_done(done))


def upgrade(given: Given, root: Path) -> None:
    """Migrate before another command, which goes on with the workspace; tells on stderr what was done.

    Raises what `Workspace.migrate` raises.
    """
    done = _migrate(given, root)
    if done.backup_path is not None:
        to_stderr(f"migrated: {done.summary}; the database as it was: {done.backup_path}")


def _migrate(given: Given, root: Path) -> Migrated:
    from workbench.workspace.workspace import Workspace

    with stopping() as stopped, progress_line(shown=not given.as_json) as show:

        def tell(done: int, total: int | None, note: str) -> None:
            if note == "waiting":
                tell_waiting(done)
            else:
                show(done, total, _WORDS.get(note, note))

        try:
            return Workspace.migrate(root, progress=tell, cancelled=stopped)
        except Cancelled as error:
            raise Stopped(error.message, hint="run it again when there is time") from error


def _planned(plan: MigrationPlan, given: Given) -> Iterator[str]:
    from workbench.drawing import counted, size, visible

    yield visible(f"database   {plan.db_path}")
    yield f"schema     {plan.current} of {plan.target}"
    if not plan.needed:
        yield "nothing to do"
        return
    for each in plan.pending:
        yield visible(f"step       {each.version:04} {each.name}")
        yield visible(f"           {each.what}")
    if plan.folds:
        yield visible(f"built      {', '.join(plan.folds)}, from {counted(plan.events, 'event')}")
    if plan.retired:
        yield visible(f"dropped    {', '.join(plan.retired)}")
    yield visible(f"copy       {size(plan.database_bytes)} into {plan.backup_dir}")
    yield visible(with_root("do it with: workbench migrate", given))


def _done(done: Migrated) -> Iterator[str]:
    from workbench.drawing import visible

    for each in done.applied:
        yield visible(f"{each.version:04} {each.name}: {each.what}")
    yield visible(done.summary)
    if done.backup_path is not None:
        yield visible(f"the database as it was: {done.backup_path}")
