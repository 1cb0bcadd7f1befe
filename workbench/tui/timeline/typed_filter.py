"""What is typed into the timeline's filter line: words, and names as `project:atlas agent:"claude code"`."""

from __future__ import annotations

import re
from typing import NamedTuple

import msgspec

from workbench.workspace.rows import TimelineFilter

FIELDS = {
    "project": "projects",
    "task": "tasks",
    "domain": "domains",
    "agent": "agents",
    "category": "categories",
    "type": "types",
    "actor": "actors",
}
"""By the word before the colon, what of the filter it names."""

_TERM = re.compile(rf'(?<!\S)({"|".join(FIELDS)}):(?:"([^"]*)"?|(\S*))', re.IGNORECASE)


class Typed(NamedTuple):
    """A text taken apart."""

    text: str
    """The words that are looked for."""
    named: dict[str, tuple[str, ...]]
    """Names by the filter's part."""


def typed(text: str) -> Typed:
    """What a text asks for; a term without a name yet, such as `project:`, asks for nothing.

    In quotation marks a term is looked for as the text that it is: `"project:atlas"`.
    """
    named: dict[str, tuple[str, ...]] = {}
    for word, quoted, plain in _TERM.findall(text):
        name = (quoted or plain).strip()
        part = FIELDS[word.lower()]
        if name and name not in named.get(part, ()):
            named[part] = (*named.get(part, ()), name)
    return Typed(" ".join(_TERM.sub(" ", text).split()), named)


def with_terms(chosen: TimelineFilter, text: str) -> TimelineFilter:
    """A filter with what a text asks for added; a name that is there already is not added twice."""
    words, named = typed(text)
    more = {part: tuple(dict.fromkeys((*getattr(chosen, part), *names))) for part, names in named.items()}
    return msgspec.structs.replace(chosen, text=words, **more)
