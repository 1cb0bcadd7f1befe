"""The only maker of text for widgets (DESIGN §6): `workbench.drawing`, and content that is never markup."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.drawing.capitals import capital as capital
from workbench.drawing.figures import age as age
from workbench.drawing.figures import ago as ago
from workbench.drawing.figures import counted as counted
from workbench.drawing.figures import exact as exact
from workbench.drawing.figures import exact_utc as exact_utc
from workbench.drawing.figures import number as number
from workbench.drawing.figures import size as size
from workbench.drawing.figures import tokens as tokens
from workbench.drawing.text import ELLIPSIS as ELLIPSIS
from workbench.drawing.text import TAB as TAB
from workbench.drawing.text import Align as Align
from workbench.drawing.text import Line as Line
from workbench.drawing.text import Role as Role
from workbench.drawing.text import Span as Span
from workbench.drawing.text import Wrapped as Wrapped
from workbench.drawing.text import clusters as clusters
from workbench.drawing.text import fit as fit
from workbench.drawing.text import fit_line as fit_line
from workbench.drawing.text import line_width as line_width
from workbench.drawing.text import mark as mark
from workbench.drawing.text import one_line as one_line
from workbench.drawing.text import plain_lines as plain_lines
from workbench.drawing.text import split_lines as split_lines
from workbench.drawing.text import visible as visible
from workbench.drawing.text import wrap as wrap
from workbench.drawing.text import wrapped as wrapped

if TYPE_CHECKING:
    from textual.content import Content


def literal(text: str) -> Content:
    """Any text as one line of content for titles, labels, tooltips and tabs: never read as markup."""
    from textual.content import Content  # Here, so that printing commands do not pay for it.

    return Content(visible(text))


def literal_lines(text: str) -> Content:
    """Any text as content that keeps its newlines: for tooltips and short explanations."""
    from textual.content import Content

    return Content(plain_lines(text))
