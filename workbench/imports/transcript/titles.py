"""What a session is called, and the rest of its description."""

from __future__ import annotations

from typing import Any

from workbench.imports.transcript.cutting import cut
from workbench.imports.transcript.state import SessionState

MAX_TITLE = 200
MAX_FIELD = 1000
MAX_MODELS = 32
MAX_READ = 20_000
"""Characters of a text that are read for its title."""

PROMPT, AI, CUSTOM = 1, 2, 3
"""Ranks of a title: the person's own beats the program's, which beats the first real prompt."""

SYNTHETIC_MODEL = "<synthetic>"
"""Stands where the program itself wrote in the model's place; no model's name."""


def one_line(text: str, limit: int = MAX_TITLE) -> str:
    """`text` on one line, blanks collapsed, at most `limit` characters (an ellipsis where it was cut).

    A secret that does not fit is left out whole (see `cut`); empty if nothing stands before it.
    """
    # Far more than the limit is never needed, and a prompt may hold megabytes.
    line = " ".join(cut(text, MAX_READ).split())
    if len(line) <= limit:
        return line
    kept = cut(line, limit - 1).rstrip()
    return f"{kept}…" if kept else ""


def set_title(session: SessionState, rank: int, text: str) -> None:
    """Take a title unless a better one is known. A later custom or AI title replaces an earlier
    one; the first prompt stays the first."""
    if rank < session.title_rank or (rank == PROMPT and session.title_rank == PROMPT):
        return
    title = one_line(text)
    if title:
        session.title_rank = rank
        set_field(session, "title", title)


def set_field(session: SessionState, name: str, value: Any) -> None:
    """Note a field of the description; it is told with the next description if it changed."""
    if session.known.get(name) != value:
        session.known[name] = value
        if name not in session.changed:
            session.changed.append(name)


def note_model(session: SessionState, model: str) -> None:
    """Take a model's name into the list of models, in order of appearance."""
    models = session.known.get("models", ())
    if model in models or model == SYNTHETIC_MODEL or len(models) >= MAX_MODELS:
        return
    set_field(session, "models", [*models, model])


def take_changes(session: SessionState) -> dict[str, Any]:
    """The fields that changed since they were told last; they count as told now."""
    fields = {name: session.known[name] for name in session.changed}
    session.changed = []
    return fields
