"""Two generations of one range, line by line, with the words of a reworded line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from workbench.chronicle.sections import Section
from workbench.tui.document import Blank, Block, Paragraph, note
from workbench.tui.present import Role, Span, counted, number, split_lines
from workbench.workspace.line_diff import hunks

GONE, ADDED, SAME = Span("−", "warning"), Span("+", "accent"), Span("=", "faint")
_MARKS = {"-": GONE, "+": ADDED, " ": SAME}
_ROLES: dict[str, Role] = {"-": "dim", "+": "text", " ": "faint"}
MOST_LINES = 4_000
"""Lines of a prose that are compared."""


def comparison_blocks(older: Section, newer: Section) -> Iterator[Block]:
    """What the newer prose says otherwise than the older one, with the lines around it."""
    first, second = _lines(older.prose), _lines(newer.prose)
    found = hunks(first, second)
    if not found:
        yield note("They say the same, word for word.", indent=2)
        return
    changed = [line for hunk in found for line in hunk.lines]
    gone, added = (sum(line.sign == sign and bool(line.text.strip()) for line in changed) for sign in "-+")
    yield note(f"{counted(gone, 'line')} gone, {counted(added, 'line')} new", indent=2)
    at = 1
    for hunk in found:
        skipped = hunk.first - at
        yield Blank()
        if skipped > 0:
            yield note(f"… {counted(skipped, 'line')} the same", indent=2)
        spaced = True
        for line in hunk.lines:
            if line.text.strip():
                yield Paragraph(line.text, mark=_MARKS[line.sign], role=_ROLES[line.sign])
                spaced = False
            elif not spaced:
                yield Blank()
                spaced = True
        at = hunk.first + hunk.first_lines
    left = len(first) - at + 1
    if left > 0:
        yield Blank()
        yield note(f"… {counted(left, 'line')} the same", indent=2)
    if _cut(older.prose) or _cut(newer.prose):
        yield note(f"Only the first {number(MOST_LINES)} lines of each are compared.", indent=2)


def _lines(prose: str) -> Sequence[str]:
    return list(split_lines(prose))[:MOST_LINES]


def _cut(prose: str) -> bool:
    return prose.count("\n") >= MOST_LINES
