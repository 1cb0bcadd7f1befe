"""The parts of a closing message that say what was decided and what is open (see `session_prose`).

Agents end a stretch with labelled paragraphs and lists; which of them matter is told by their labels. Only
words of English are known; a message without such labels is quoted as it is.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from workbench.chronicle.summarizers.words import flat

_LABEL = re.compile(
    r"^(?:#{1,6}\s+(?P<heading>.{1,80}?)\s*#*|\*\*(?P<strong>[^*\n]{1,80})\*\*(?P<rest>.*)"
    r"|(?P<word>[A-Z][A-Za-z ,'-]{1,40}):(?P<said>\s.*|))$"
)
_OPEN = re.compile(
    r"(?i)\b(?:open|not checked|unchecked|assumed|assumptions?|next|to ?do|questions?|risks?|remaining"
    r"|blocked)\b"
)
_DOUBTED = re.compile(r"(?i)\b(?:assum|not checked|unchecked|risk)")
_DECIDED = re.compile(r"(?i)\bdeci(?:ded|sions?)\b")
_NOBODY = re.compile(r"(?i)^(?:none|nothing|no|n/a|-)[.!]?$")
_BULLET = re.compile(r"^(?:[-*+•]|\d{1,3}[.)])\s+")


class Parts(NamedTuple):
    """What a closing message says, apart."""

    decided: list[str]
    doubted: list[str]
    """What was assumed and nobody has checked."""
    left_open: list[str]
    rest: str
    """Everything else, as it was."""


def parts_of(text: str) -> Parts:
    """The labelled parts of a message; only `rest` where there are none."""
    parts = Parts([], [], [], "")
    rest: list[str] = []
    into: list[str] | None = None
    fenced = False
    for line in text.split("\n"):
        if line.lstrip().startswith(("```", "~~~")):
            fenced = not fenced
        found = None if fenced else _LABEL.match(line.strip())
        if found is not None:
            label = found["heading"] or found["strong"] or found["word"] or ""
            after = flat((found["rest"] or found["said"] or "").lstrip(" .:"))
            into = _place(parts, label)
            if into is not None and after and not after.startswith("("):
                into.append(after)
        elif into is not None and not line.strip():
            continue
        elif into is not None and _BULLET.match(line.strip()):
            into.append(_BULLET.sub("", line.strip()))
        elif into is not None and line.strip() and (line.startswith((" ", "\t")) or not into):
            _go_on(into, line.strip())
        elif into is not None:
            into = None
        if into is None:
            rest.append(line)
    for each in (parts.decided, parts.doubted, parts.left_open):
        each[:] = [flat(line) for line in each if not _NOBODY.match(flat(line))]
    return parts._replace(rest="\n".join(rest).strip())


def _place(parts: Parts, label: str) -> list[str] | None:
    if _DECIDED.search(label):
        return parts.decided
    if not _OPEN.search(label):
        return None
    return parts.doubted if _DOUBTED.search(label) else parts.left_open


def _go_on(lines: list[str], words: str) -> None:
    if lines:
        lines[-1] = f"{lines[-1]} {words}"
    else:
        lines.append(words)
