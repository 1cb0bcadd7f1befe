"""What stands above a piece of evidence: which file, what became of it, who recorded it and when."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, tzinfo

from rich.cells import cell_len
from textual.strip import Strip

from workbench.tui.file_states import copy_size_words, file_state
from workbench.tui.present import Line, Span, ago, counted, exact, fit, fit_line
from workbench.tui.widgets.drawn import DrawnWidget
from workbench.workspace.evidence_item import EvidenceItem


def head_lines(item: EvidenceItem, width: int, now: datetime, zone: tzinfo, *, roomy: bool) -> list[Line]:
    """The head in lines of `width` cells: two, or three where there is room."""
    row, copy = item.row, item.copy
    found = file_state(item.state)
    state, role = f"{found.sign} {found.word}", found.role
    path = (
        row.path
        if row is not None
        else ("a copy that no record names" if copy is not None else "no evidence")
    )
    said = fit_line(
        (
            Span(fit(path, max(8, width - cell_len(state) - 2), keep="end"), "strong"),
            Span("  "),
            Span(state, role),
        ),
        width,
    )
    parts: list[str] = []
    if row is not None and len(item.beside) > 1:
        at = next((n for n, each in enumerate(item.beside, 1) if each.place == row.place), 1)
        parts.append(f"file {at} of {len(item.beside)}")
    large = copy_size_words(copy.size if copy is not None else None, row.size if row is not None else None)
    if large:
        parts.append(large)
    if row is not None:
        parts.append(f"recorded {ago(row.recorded_at, now)} by {row.agent}")
        taken = sum(count for count in row.removed.values() if isinstance(count, int))
        if taken:
            parts.append(f"{counted(taken, 'secret')} removed")
        if row.private:
            parts.append("private")
        if row.withheld:
            parts.append("agents do not see it")
    lines = [said, fit_line((Span(" · ".join(parts), "dim"),), width)]
    if roomy:
        more: list[str] = []
        if row is not None:
            more.append(exact(row.recorded_at, zone))
            more.append(" / ".join(part for part in (row.domain, row.project, row.task_id) if part))
        if copy is not None:
            more.append(copy.digest)
        lines.append(fit_line((Span(" · ".join(part for part in more if part), "faint"),), width))
    return lines


class EvidenceHead(DrawnWidget):
    """Draws the head."""

    DEFAULT_CSS = "EvidenceHead { margin: 0 0 1 0; background: $raised; }"

    def __init__(self, *, css_id: str, height: int) -> None:
        super().__init__(id=css_id)
        # As high as it will be: what stands below is not laid out a second time.
        self.styles.height = height
        self._made: Callable[[int], list[Line]] = lambda width: []
        self._kept: tuple[int, list[Line]] | None = None

    def show(self, made: Callable[[int], list[Line]], height: int) -> None:
        """Draw what `made` makes of a width, in `height` lines."""
        self._made, self._kept = made, None
        self.styles.height = height
        self.refresh()

    def render_line(self, y: int) -> Strip:
        """One line of it."""
        width = self.size.width
        if self._kept is None or self._kept[0] != width:
            self._kept = (width, self._made(width))
        lines = self._kept[1]
        return self.strip(lines[y], width) if y < len(lines) else Strip.blank(width, self.look("text"))
