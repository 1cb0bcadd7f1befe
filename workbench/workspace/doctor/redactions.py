"""Whether today's secret filter has seen all that is stored, and whether a scrub was cut short.

(contract redaction, "Rescan and scrub")
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator

import apsw

from workbench.storage import fetch
from workbench.workspace.doctor.report import Finding
from workbench.workspace.layout import Layout
from workbench.workspace.redactions import table_rows
from workbench.workspace.redactions.versions import state_in

_TABLES = (
    "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name IN ('filter_versions', 'scrub_steps')"
)


def redactions(connection: apsw.Connection, version: str, layout: Layout) -> Iterator[Finding]:
    """What is to be done about secrets that are stored; `version` is today's filter."""
    if fetch.value(connection, _TABLES) != 2:
        # That they are missing is said where the layout is looked at.
        return
    at = f"--root {shlex.quote(str(layout.root))}"
    scrub = f"workbench redactions scrub --confirm {at}"
    steps = fetch.value(connection, table_rows.COUNT_STEPS)
    if steps:
        yield Finding(
            "critical",
            "scrub_unfinished",
            "A scrub was not brought to its end: what stood in its texts before may still lie in old "
            f"pages or files, {steps:,} of its steps {'is' if steps == 1 else 'are'} open.",
            scrub,
        )
    state = state_in(connection, version)
    if state.due:
        number = f"{state.unseen:,} event" + ("" if state.unseen == 1 else "s")
        yield Finding(
            "warning",
            "rescan_due",
            f"Today's secret filter ({state.version}) has not looked through {number} that "
            f"{'was' if state.unseen == 1 else 'were'} stored before it.",
            f"workbench redactions rescan {at}",
        )
    elif state.found:
        number = f"{state.found:,} secret" + ("" if state.found == 1 else "s")
        yield Finding(
            "warning",
            "secrets_stored",
            f"The last rescan found what looks like {number} among what is stored.",
            scrub,
        )
