"""`workbench recent`: what was recorded last into shared memory (contract surfaces)."""

from __future__ import annotations

import click

from workbench.cli.memory_options import MOST_LISTED, as_of, domain, most, raw
from workbench.cli.opening import open_workspace
from workbench.cli.options import Given, common, pass_given
from workbench.cli.output import write_json, write_lines

_USUAL = 10


@click.command("recent")
@common
@domain
@most(_USUAL, MOST_LISTED)
@as_of
@raw
@pass_given
def command(given: Given, domain: str | None, limit: int, as_of: str | None, raw: bool) -> None:
    """List what agents and people recorded last, newest first."""
    from workbench.cli.moments import past

    with open_workspace(given) as workspace:
        then = past(as_of, workspace)
        found = workspace.memory.recent(limit, domain, raw=raw, as_of=then)
        if given.as_json:
            write_json({"events": [each.to_dict() for each in found]})
            return
        from workbench.cli.memory_lines import Lines

        write_lines(Lines(workspace.timezone).observations(found, "nothing is recorded yet"))
