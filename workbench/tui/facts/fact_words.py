"""Marks and words for facts, the same in the list and in the detail."""

from __future__ import annotations

from collections.abc import Mapping

from workbench.tui.present import Role, Span, one_line
from workbench.workspace.fact_rows import FactRow, damage_words

_NAME, _VALUE = 200, 400
KIND_ROLES: Mapping[str, Role] = {"observed": "dim", "decision": "text", "assumption": "warning"}
"""An assumption is what a person looks for; a decision was made; the rest was seen."""

VERDICT_MARKS: Mapping[str, Span] = {
    "rejected": Span("!", "error"),
    "questioned": Span("?", "warning"),
    "accepted": Span("✓", "success"),
}
EVIDENCE_MARKS: Mapping[str, Span] = {
    "archived": Span("✓", "success"),
    "pointer_only": Span("·", "dim"),
    "skipped": Span("·", "dim"),
    "missing": Span("✗", "error"),
    "purged": Span("✗", "warning"),
}
DAMAGED = Span("✗", "error")
CONFLICT = Span("≠", "warning")
BUILT_ON = Span("▲", "warning")


def kind_word(kind: str) -> Span:
    """The kind as it is, with its role."""
    return Span(one_line(kind, 20), KIND_ROLES.get(kind, "dim"))


def kind_letter(kind: str) -> Span:
    """The first letter of the kind."""
    return Span(kind[:1].upper(), KIND_ROLES.get(kind, "dim"))


def row_mark(row: FactRow) -> Span:
    """The one thing about a fact that a person has to see first; nothing for most."""
    if row.damage:
        return DAMAGED
    if row.disputed:
        return VERDICT_MARKS["rejected"]
    if row.values > 1:
        return CONFLICT
    if row.verdict == "questioned":
        return VERDICT_MARKS["questioned"]
    if row.built_on:
        return BUILT_ON
    return VERDICT_MARKS.get(row.verdict, Span(""))


def fact_value(row: FactRow) -> Span:
    """What a fact says on one line, or that it cannot be read."""
    if row.damage:
        return Span(damage_words(row.damage), "error")
    return Span(one_line(row.value, _VALUE), "text")


def scope_words(domain: str, project: str, task_id: str) -> str:
    """`project · task`, before it a domain that is not the usual one; without both the domain alone."""
    parts = [one_line(part, _NAME) for part in (project, task_id) if part]
    if not parts or domain != "global":
        parts.insert(0, one_line(domain, _NAME))
    return " · ".join(parts)


def scope_of(row: FactRow) -> str:
    """The scope of a row in words."""
    return scope_words(row.domain, row.project, row.task_id)


def ordinal(number: int) -> str:
    """`1st`, `2nd`, `3rd`, `4th`, `11th`, `21st`."""
    ending = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"
