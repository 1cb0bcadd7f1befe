"""The pages of the user guide as text of a given width: headings, paragraphs, tables, lines as written."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TypeAlias

from rich.cells import cell_len
from textual.content import Content

from workbench.tui.present import visible, wrap

_GAP = 2
_LEAST_WRAPPED = 36
"""Cells of a table's second column from which all columns stand in one line."""
_HANG = 2
"""Cells by which the rest of a line that was written as it stands is moved in."""
_READABLE = 92
"""Cells of a paragraph's line, at most."""

Row: TypeAlias = tuple[str, ...]


def guide_content(text: str, width: int) -> Content:
    """A guide page as lines of at most `width` cells.

    Headings are bold; paragraphs flow; an indented line stays as written, and where it is too long its
    rest hangs under its text; a table's columns stand under each other, through all tables of one heading
    line.
    """
    lines = text.splitlines()
    tables = _tables(lines)
    parts: list[Content] = []
    paragraph: list[str] = []
    header: Row | None = None

    def end_paragraph() -> None:
        if paragraph:
            words = visible(" ".join(paragraph)).replace("`", "")
            parts.extend(Content(piece) for piece in wrap(words, min(width, _READABLE)))
            paragraph.clear()

    for line in lines:
        if line and line[0] not in "#| ":
            paragraph.append(line)
            continue
        end_paragraph()
        if line.startswith("|"):
            cells = _cells(line)
            if header is None:
                header = cells
                parts += _header_lines(cells, tables[cells], width)
            elif not _is_rule(line):
                parts += _row_lines(cells, tables[header], width)
            continue
        header = None
        if line.startswith("#"):
            heading = wrap(visible(line).lstrip("# "), width)
            parts.extend(Content.assemble((piece, "bold $accent")) for piece in heading)
        elif line.strip():
            parts.extend(Content.assemble((piece, "$ink")) for piece in hung(visible(line), width))
        else:
            parts.append(Content(""))
    end_paragraph()
    return Content("\n").join(parts)


def hung(line: str, width: int) -> list[str]:
    """A line that stands as it was written, in pieces of at most `width` cells.

    What does not fit hangs under the line's second column, where it has one, else a little further in
    than its beginning.
    """
    if cell_len(line) <= width:
        return [line]
    columns = re.match(r"( *\S(?:.*?\S)? {2,})\S", line)
    if columns and len(columns[1]) <= width // 2:
        head, margin = columns[1], len(columns[1])
    else:
        lead = min(len(line) - len(line.lstrip(" ")), max(0, width // 2 - _HANG))
        head, margin = " " * lead, lead + _HANG
    first, *rest = wrap(line[margin:] if columns and head == columns[1] else line.lstrip(" "), width - margin)
    return [head + first, *(" " * margin + piece for piece in rest)]


def _cells(line: str) -> Row:
    return tuple(visible(cell.strip()).replace("`", "") for cell in line.strip().strip("|").split("|"))


def _is_rule(line: str) -> bool:
    return not set(line) - set("|-: ")


def _tables(lines: Sequence[str]) -> dict[Row, list[int]]:
    """The widest cell of each column, by the tables' heading line: tables of one kind share their columns."""
    widths: dict[Row, list[int]] = {}
    header: Row | None = None
    for line in lines:
        if not line.startswith("|"):
            header = None
        elif not _is_rule(line):
            cells = _cells(line)
            header = header or cells
            known = widths.setdefault(header, [0] * len(header))
            for at, cell in enumerate(cells[: len(header)]):
                known[at] = max(known[at], cell_len(cell))
    return widths


def _fitted(widths: Sequence[int], width: int) -> list[int] | None:
    """The columns' widths with the second one taking what is left; None where that is too little for it."""
    fixed = sum(widths) - widths[1] + _GAP * (len(widths) - 1)
    room = width - fixed
    if room < min(widths[1], _LEAST_WRAPPED):
        return None
    return [widths[0], min(widths[1], room), *widths[2:]]


def _row_lines(cells: Row, widths: Sequence[int], width: int) -> Iterator[Content]:
    """A row: the first column names it, the second one says what it is and may take several lines.

    Where there is no room for the others beside them they stand under the second one.
    """
    cells = (*cells, *("" for _ in range(len(widths) - len(cells))))[: len(widths)]
    if len(widths) < 2:
        yield Content.assemble((cells[0], "$ink"))
        return
    fitted = _fitted(widths, width)
    first = min(widths[0], max(4, width // 3))
    column = fitted[1] if fitted else max(8, width - first - _GAP)
    names, texts = list(wrap(cells[0], first)), list(wrap(cells[1], column))
    for at in range(max(len(names), len(texts))):
        name, text = names[at] if at < len(names) else "", texts[at] if at < len(texts) else ""
        line = Content.assemble((_padded(name, first), "$accent"), " " * _GAP, (text, "$body"))
        if fitted and at == 0 and len(cells) > 2:
            line += Content(" " * (column - cell_len(text)))
            rest = [_padded(cell, room) for cell, room in zip(cells[2:], fitted[2:], strict=True)]
            line += Content.assemble((" " * _GAP + (" " * _GAP).join(rest).rstrip(), "$quiet"))
        yield line
    if not fitted:
        beneath = " · ".join(cell for cell in cells[2:] if cell)
        for piece in wrap(beneath, column):
            yield Content.assemble(" " * (first + _GAP), (piece, "$quiet"))


def _header_lines(cells: Row, widths: Sequence[int], width: int) -> Iterator[Content]:
    if len(cells) > 2 and not _fitted(widths, width):
        # What stands under the second column is named beside it.
        cells, widths = (cells[0], " · ".join(cells[1:])), widths[:2]
    for line in _row_lines(cells, widths, width):
        yield Content.assemble((line.plain, "bold $quiet"))


def _padded(text: str, width: int) -> str:
    return text + " " * (width - cell_len(text))
