"""Strangers' text inside our Markdown: it stays what it is, and no heading, fence or link of ours."""

from __future__ import annotations

import re
from collections.abc import Sequence

from workbench.chronicle.summarizers.spoken import spoken
from workbench.chronicle.summarizers.words import ELLIPSIS, flat, shortened

_INLINE = re.compile(r"<(?=[A-Za-z/!?])|(?<=\])(?=[(\[:])|(?<=!)(?=\[)")
_NAME = re.compile(r"([\\`*_<>\[\]#~|])")
_READABLE = re.compile(r"[^\W_]")
_TICKS = re.compile(r"`+")
# What begins a block of another kind: a heading, a fence, HTML, a rule or underline, a table, code.
_BLOCK = re.compile(r"^(?=(?:#|```|~~~|>|\||={1,}\s*$|(?:[-*_]\s*){3,}$|\[[^\]]*\]:))")


def inline(text: str) -> str:
    """`text` on one line, as a part of ours: neither HTML nor a link can come of it."""
    return _balanced(_INLINE.sub(_escaped, flat(text)))


def name(text: str) -> str:
    """The name of an actor or a tool, every sign of Markdown in it escaped."""
    return _NAME.sub(r"\\\1", flat(text))


def code(text: str, limit: int) -> str:
    """`text` on one line as code, at most `limit` characters of it."""
    text = shortened(flat(text), limit)
    if "`" not in text:
        return f"`{text}`"
    ticks = "`" * (max(map(len, _TICKS.findall(text))) + 1)
    return f"{ticks} {text} {ticks}"


def quoted(text: str, limit: int) -> list[str]:
    """The lines of a block quote: paragraphs and lists stay, anything else becomes a line of text.

    What stands in fences is code and left out but for a mark, or is named where nothing else is there; at
    most `limit` characters.
    """
    lines: list[str] = []
    fenced = False
    for line in text.split("\n"):
        bare = flat(line)
        if bare.startswith(("```", "~~~")):
            if not fenced:
                lines.append(ELLIPSIS)
            fenced = not fenced
            continue
        if not fenced and (bare or (lines and lines[-1])):
            lines.append(bare)
    if ELLIPSIS in lines and not any(_READABLE.search(line) and line[0] != "#" for line in lines):
        lines = [spoken(text)]
    kept = shortened("\n".join(lines).strip(), limit).split("\n")
    return [f"> {_BLOCK.sub(_backslash, inline(line))}".rstrip() for line in kept]


def listed(words: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} and {words[-1]}"


def _backslash(_: re.Match[str]) -> str:
    return "\\"


def _escaped(found: re.Match[str]) -> str:
    return "\\" + found.group()


def _balanced(text: str) -> str:
    """An odd number of backticks would make code of what follows ours: the last is escaped."""
    runs = list(_TICKS.finditer(text))
    open_runs: dict[int, re.Match[str]] = {}
    for run in runs:
        length = len(run.group())
        if open_runs.pop(length, None) is None:
            open_runs[length] = run
    for run in sorted(open_runs.values(), key=lambda each: -each.start()):
        text = text[: run.start()] + "\\`" * len(run.group()) + text[run.end() :]
    return text
