"""What the list of facts can be narrowed to, as lines to choose from."""

from __future__ import annotations

from workbench.tui.dialogs.choose import Choice
from workbench.tui.facts.filters import ONLY_WORDS
from workbench.workspace.fact_rows import FactFilter

_KINDS = {
    "observed": "somebody saw it",
    "decision": "somebody decided it",
    "assumption": "nobody checked it",
}
_ONLY = {
    "disputed": "a person's latest verdict rejects them",
    "conflicts": "one slot under several spellings of its names",
}


def choices(wanted: FactFilter) -> list[Choice]:
    """Kinds, disputes and conflicts; what is chosen already is offered to be dropped."""

    def said(chosen: bool, what: str) -> str:
        return f"{what} · chosen: again for all" if chosen else what

    kinds = [Choice(f"kind {kind}", kind, said(kind in wanted.kinds, what)) for kind, what in _KINDS.items()]
    only = [
        Choice(f"only {name}", ONLY_WORDS[name], said(wanted.only == name, what))
        for name, what in _ONLY.items()
    ]
    return kinds + only


def narrowed(wanted: FactFilter, chosen: str) -> FactFilter:
    """The filter with what was chosen, or without it where it was set."""
    what, _, name = chosen.partition(" ")
    if what == "kind":
        return wanted._replace(kinds=() if name in wanted.kinds else (name,))
    if name == "disputed":
        return wanted._replace(only="" if wanted.only == name else "disputed")
    if name == "conflicts":
        return wanted._replace(only="" if wanted.only == name else "conflicts")
    return wanted
