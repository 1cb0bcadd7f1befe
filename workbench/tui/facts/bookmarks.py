"""A place on the Facts screen, so that esc can return to it."""

from __future__ import annotations

from typing import NamedTuple

from workbench.workspace.fact_rows import FactFilter, FactOrder


class Bookmark(NamedTuple):
    """What is shown of the facts."""

    wanted: FactFilter
    gave_way: FactFilter | None
    """The person's own filter, where it gives way."""
    order: FactOrder
    position: int | None
    """Under the cursor."""
    detail: bool
    """The detail is open."""
    in_detail: bool
    """The detail has the keys."""
