"""Texts with the filter's markers standing out."""

from __future__ import annotations

import re
from collections.abc import Iterator

from workbench.tui.present import Line, Role, Span, split_lines

MARKER = re.compile(r"\[REDACTED:[A-Za-z0-9_.\-]{1,64}\]")


def marked(text: str, role: Role = "text", marker: Role = "warning") -> Line:
    """One line of text in pieces: its markers, and what is between them."""
    spans: list[Span] = []
    at = 0
    for found in MARKER.finditer(text):
        spans += (Span(text[at : found.start()], role), Span(found.group(), marker))
        at = found.end()
    spans.append(Span(text[at:], role))
    return tuple(span for span in spans if span.text)


def marked_lines(text: str, role: Role = "text") -> Iterator[Line]:
    """The same line by line; an empty line is no pieces."""
    for line in split_lines(text):
        yield marked(line, role)
