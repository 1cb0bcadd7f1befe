"""The forms that a screen takes in terminals of different sizes."""

from __future__ import annotations

WIDE = 120
"""Columns from which the navigation is a column."""
MIDDLE = (80, 24)
"""Columns and rows from which list and detail stand side by side."""
LEAST = (60, 15)
"""Columns and rows below which nothing is drawn but what is needed."""

SHARES = (0, 25, 40, 55, 70, 100)
"""The list's parts of the width, in percent, that enlarging and shrinking go through."""

FORMS = ("-wide", "-middle", "-narrow", "-too-small")


def form_of(columns: int, rows: int) -> str:
    """Which of the `FORMS` a terminal of this size gets."""
    if columns < LEAST[0] or rows < LEAST[1]:
        return "-too-small"
    if columns < MIDDLE[0] or rows < MIDDLE[1]:
        return "-narrow"
    return "-wide" if columns >= WIDE else "-middle"
