"""The summarizer without a model: it picks, orders and shortens what was said.

The same stretch gives the same prose on every machine. Nothing in it names an event, a session or a time;
what strangers wrote stays inside its own line.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from workbench.chronicle.sections import Consolidation
from workbench.chronicle.summarizers.layout import Block, Item, fitted
from workbench.chronicle.summarizers.markdown import inline, listed, name
from workbench.chronicle.summarizers.memory_prose import goals, memory_blocks
from workbench.chronicle.summarizers.session_prose import ACTS, session_blocks
from workbench.chronicle.summarizers.told import Told
from workbench.chronicle.summarizers.transcript import tell
from workbench.chronicle.summarizers.words import safe, shortened
from workbench.log.registry import StoredEvent

SHORT = 2500
"""Characters of the prose of an ordinary stretch, about."""
LONG = 8000
"""And of a very long one."""
_ORDINARY = 20
"""Events of an ordinary stretch; each one beyond adds `_PER_EVENT` characters."""
_PER_EVENT = 20
_TEXT = 3000
_GOAL = 400
_GOALS = 4
_PEOPLE = 12
_STATUS = "task.status"
"""The slot that says how a task stands."""
NOTHING = "Nothing of this stretch may be told to everybody."

_KNOWN = ACTS | {
    "session",
    "stretch closed",
    "observation",
    "fact",
    "checkpoint",
    "review",
    "visibility",
    "purge",
    "redaction",
}
_UNTOLD = {"thought": "thoughts", "tool result": "tool results"}


class Extractive:
    """Writes Markdown prose out of the events' own words; draws nothing, so it needs no pins."""

    name = "extractive"
    version = "2"

    def __call__(self, events: Sequence[StoredEvent]) -> Consolidation:
        """The prose of a stretch, never empty. Raises `FilterFailed`."""
        return Consolidation(prose_of(tell(events, _TEXT, long_code=False), len(events)))


def room_for(count: int) -> int:
    """Characters that the prose of so many events may take, about."""
    return min(LONG, SHORT + _PER_EVENT * max(0, count - _ORDINARY))


def prose_of(stretch: Sequence[Told], count: int) -> str:
    """The prose of what may be told of `count` events. Raises `FilterFailed`."""
    if not stretch:
        return NOTHING
    acts = [each for each in stretch if each.kind in ACTS]
    blocks = [*memory_blocks(stretch), *(session_blocks(acts) if acts else ()), _others(stretch)]
    prose = fitted(_lead(stretch), blocks, room_for(count))
    end = _end(stretch)
    return safe(f"{prose}\n\n{end}" if end else prose) or NOTHING


def _lead(stretch: Sequence[Told]) -> str:
    """What it was about, who took part, how it closed."""
    parts = []
    title = next((each.title for each in reversed(stretch) if each.kind == "session" and each.title), "")
    if title:
        parts.append(f"**Session.** {inline(shortened(title, _GOAL))}")
    towards = goals(stretch)
    if towards:
        last = inline(shortened(towards[-1], _GOAL))
        parts.append(f"**Goal.** {last}")
        if earlier := towards[:-1][-_GOALS:]:
            parts.append(
                "**Earlier goal.** " + "; ".join(inline(shortened(each, _GOAL // 2)) for each in earlier)
            )
    status = [each.value for each in stretch if each.kind == "fact" and each.slot == _STATUS]
    if status:
        parts.append(f"**Status.** {inline(shortened(status[-1], _GOAL))}")
    if people := _people(stretch):
        parts.append(people)
    for each in stretch:
        if each.kind == "stretch closed" and each is stretch[-1]:
            said = f": {inline(shortened(each.text, _GOAL))}" if each.text else "."
            parts.append(f"**Closed.** {inline(each.title)}{said}" if each.title else f"**Closed**{said}")
    return "\n\n".join(parts)


def _people(stretch: Sequence[Told]) -> str:
    acted = Counter(each.actor for each in stretch if each.actor and each.kind != "session")
    if not acted:
        return ""
    known = [name(actor) for actor, _ in acted.most_common(_PEOPLE)]
    more = len(acted) - len(known)
    return f"**Took part.** {listed([*known, *([f'{more} more'] if more else [])])}."


def _others(stretch: Sequence[Told]) -> Block:
    """Events of types that have no block of their own."""
    items = []
    for at, each in enumerate(stretch):
        if each.kind == "redaction":
            items.append(
                Item(
                    "",
                    f"A secret{f' ({inline(each.category)})' if each.category else ''} was scrubbed.",
                    rank=5,
                )
            )
        elif each.kind == "stretch closed" and at < len(stretch) - 1:
            items.append(Item(each.text, f"Closed: {inline(each.title)}{': ' if each.text else '.'}", rank=3))
        elif each.kind not in _KNOWN:
            items.append(Item(each.text, f"{inline(each.kind)}: ", rank=4))
    return Block("Besides", items, "event/events")


def _end(stretch: Sequence[Told]) -> str:
    """What there is that no line tells."""
    kinds = Counter(each.kind for each in stretch)
    known = [(kinds[kind], kind, plural) for kind, plural in _UNTOLD.items() if kinds[kind]]
    left = [f"{count} {plural if count > 1 else kind}" for count, kind, plural in known]
    return f"*Left out: the text of {listed(left)}.*" if left else ""
