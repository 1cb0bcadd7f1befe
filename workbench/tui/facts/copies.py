"""The forms in which a fact can be copied."""

from __future__ import annotations

import shlex
from pathlib import Path

import msgspec

from workbench.tui.copying import CopyChoice
from workbench.tui.facts.stops import FactStop, LinkStop, Stop
from workbench.workspace.fact_rows import FactRow


def copy_choices(root: Path, row: FactRow, target: Stop | None) -> list[CopyChoice]:
    """What can be copied of a target, or of a list's row whose chain is not read yet; the id first."""
    if isinstance(target, LinkStop):
        fact = target.link.fact
        fact_id, slot, value, position = fact.id, fact.slot, fact.value, fact.position
        encoded = msgspec.json.encode(fact.to_dict())
    else:
        shown = target.row if isinstance(target, FactStop) else row
        fact_id, slot, value, position = shown.id, shown.slot, shown.value, shown.position
        encoded = msgspec.json.encode(shown)
    return [
        CopyChoice("id", fact_id),
        CopyChoice("text", f"{slot} = {value}"),
        CopyChoice("value", value),
        CopyChoice("JSON", msgspec.json.format(encoded).decode()),
        CopyChoice("position of the event", str(position)),
        CopyChoice("command", f"workbench facts --root {shlex.quote(str(root))} --chain {fact_id}"),
    ]
