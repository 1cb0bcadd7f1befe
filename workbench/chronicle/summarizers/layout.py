"""Fitting what could be told into the room there is: which lines stay, and how long they are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from workbench.chronicle.summarizers.markdown import inline, quoted
from workbench.chronicle.summarizers.words import shortened

WIDTHS = (700, 420, 260, 180)
"""Characters of a line's words, widest first: the first at which everything fits is used."""
_QUOTE = 3
"""How many lines' room a quote may take."""


_FEW = 3
"""Lines of each block that come before further lines of any other."""


class Item(NamedTuple):
    """One line of a block. `before` and `after` are our own Markdown, `words` are a stranger's."""

    words: str
    before: str = ""
    after: str = ""
    rank: int = 1
    """Lower ones stay longer."""
    quote: bool = False
    """Whether the words stand below the line, as a quote with its paragraphs."""


class Block(NamedTuple):
    """Lines under one heading."""

    title: str
    items: Sequence[Item]
    noun: str = ""
    """What those are called that do not fit: `note/notes`. Among equals, lines from all over it stay."""


def fitted(lead: str, blocks: Sequence[Block], limit: int) -> str:
    """The Markdown of `lead` and `blocks`, of about `limit` characters at most.

    Every block keeps at least its most important line, and says how many are not there.
    """
    blocks = [block for block in blocks if block.items]
    for width in WIDTHS:
        if _least(blocks, width) > limit:
            continue
        text = _rendered(lead, blocks, [range(len(block.items)) for block in blocks], width)
        if len(text) <= limit:
            return text
    return _rendered(lead, blocks, _chosen(blocks, limit - len(lead)), WIDTHS[-1])


def _least(blocks: Sequence[Block], width: int) -> int:
    """Characters that the lines need at least, without making them."""
    return sum(min(len(item.words), _width(item, width)) + 2 for block in blocks for item in block.items)


def _chosen(blocks: Sequence[Block], room: int) -> list[list[int]]:
    width = WIDTHS[-1]
    order: list[tuple[int, int, int, int]] = []
    for number, block in enumerate(blocks):
        places = zip(_spread(len(block.items)), block.items, strict=True)
        ranked = sorted((item.rank, place, at) for at, (place, item) in enumerate(places))
        for turn, (rank, place, at) in enumerate(ranked):
            # A block says something before another one says everything.
            first = -1 if turn == 0 else min(rank, 0) if turn < _FEW else rank
            order.append((first, place, number, at))
    order.sort()
    chosen: list[list[int]] = [[] for _ in blocks]
    # Its heading, and the line that says what is missing.
    room -= sum(len(block.title) + len(block.noun) + 30 for block in blocks)
    for rank, _, number, at in order:
        item = blocks[number].items[at]
        size = len(item.before) + len(item.after) + 4
        size += min(len(item.words), _width(item, width))
        if rank >= 0 and size > room:
            if room < width // 3:
                break
            continue
        room -= size
        chosen[number].append(at)
    return [sorted(each) for each in chosen]


def _spread(count: int) -> list[int]:
    """The turn of each of `count` lines: the last, the first, the middle one, those between, and so on."""
    bits = max(1, (count - 1).bit_length())
    turns = [0] * count
    for turn, at in enumerate(sorted(range(count), key=lambda at: (_reversed(at, bits), at))):
        turns[at] = turn + 1
    if count:
        turns[-1] = 0
    return turns


def _reversed(number: int, bits: int) -> int:
    return int(f"{number:0{bits}b}"[::-1], 2)


def _rendered(lead: str, blocks: Sequence[Block], chosen: Sequence[Sequence[int]], width: int) -> str:
    parts = [lead] if lead else []
    for block, kept in zip(blocks, chosen, strict=True):
        lines = [f"### {block.title}", ""]
        for at in kept:
            lines += _lines(block.items[at], width)
        if missing := len(block.items) - len(kept):
            one, _, many = block.noun.partition("/")
            lines.append(f"- and {missing} more {one if missing == 1 else many}".rstrip())
        parts.append("\n".join(lines))
    return "\n\n".join(parts)


def _lines(item: Item, width: int) -> list[str]:
    words = _width(item, width)
    if not item.quote:
        return [f"- {item.before}{inline(shortened(item.words, words))}{item.after}"]
    # Indented, so that the quote belongs to its line of the list.
    return [f"- {item.before}{item.after}", "", *(f"  {line}" for line in quoted(item.words, words)), ""]


def _width(item: Item, width: int) -> int:
    if item.quote:
        return width * _QUOTE
    return width if item.rank > 1 else width * 5 // 4
