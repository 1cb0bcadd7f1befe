"""What a message says, where it is Markdown with headings and blocks of code (see `session_prose`)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from workbench.chronicle.summarizers.words import ELLIPSIS, flat, shortened

_FENCES = ("```", "~~~")
_HEADING = re.compile(r"^ {0,3}#{1,6}\s+(?P<said>.*?)\s*#*$")
_LANGUAGE = re.compile(r"[A-Za-z][\w+#.-]{0,19}")
_READABLE = re.compile(r"[^\W_]")
_LONGEST_HEADING = 80
_FIRST_LINE = 100


class _Code:
    """A block of code, as its beginning."""

    def __init__(self, opening: str) -> None:
        self.opening = opening.strip()
        self._info = self.opening.lstrip(self.opening[0])
        self.fence = self.opening[: len(self.opening) - len(self._info)]
        self.lines: list[str] = []

    def closed_by(self, line: str) -> bool:
        bare = line.strip()
        return bare.startswith(self.fence) and not bare.strip(self.fence[0])

    def named(self) -> str:
        """What it is, for a reader who does not get it."""
        language = _LANGUAGE.match(self._info.strip())
        what = f"code in {language.group()}" if language else "code"
        first = next((flat(line) for line in self.lines if _READABLE.search(line)), "")
        return f"{what}: {shortened(first, _FIRST_LINE)}" if first else what


def spoken(text: str) -> str:
    """A message for one line: its sentences, an ellipsis for each block of code between them.

    Headings that it begins with are named before its first sentence. Where it has no sentence, its headings
    and what its code is stand for it.
    """
    if "#" not in text and not any(fence in text for fence in _FENCES):
        return text
    headings: list[str] = []
    code: list[str] = []
    said: list[str] = []
    for part in _parts(text):
        if isinstance(part, _Code):
            code.append(part.named())
            part = ELLIPSIS
        elif heading := _HEADING.match(part):
            part = heading["said"]
            if not said and _READABLE.search(part):
                headings.append(shortened(flat(part), _LONGEST_HEADING).rstrip(".:"))
                continue
        if said or _READABLE.search(part):
            said.append(part)
    if said:
        return ": ".join([*headings, "\n".join(said)])
    return ": ".join([*headings, "; ".join(code)] if code else headings) or text


def without_long_code(text: str) -> str:
    """A text in which each block of code has its first line only: so that it can be cut and still says what
    comes after them."""
    lines: list[str] = []
    for part in _parts(text):
        if isinstance(part, _Code):
            lines += [part.opening, *part.lines[:1], *([ELLIPSIS] if len(part.lines) > 1 else []), part.fence]
        else:
            lines.append(part)
    return "\n".join(lines)


def _parts(text: str) -> Iterator[str | _Code]:
    """Lines and blocks of code in order; one that nothing closes goes to the end."""
    open_block: _Code | None = None
    for line in text.split("\n"):
        if open_block is None:
            if line.lstrip().startswith(_FENCES):
                open_block = _Code(line)
            else:
                yield line
        elif open_block.closed_by(line):
            yield open_block
            open_block = None
        else:
            open_block.lines.append(line)
    if open_block is not None:
        yield open_block
