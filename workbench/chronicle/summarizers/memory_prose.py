"""What shared memory says of a stretch: decided, done, checked, found, reviewed, open (see `extractive`)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from workbench.chronicle.summarizers.layout import Block, Item
from workbench.chronicle.summarizers.markdown import inline, listed, name
from workbench.chronicle.summarizers.told import Told
from workbench.chronicle.summarizers.transcript import subject
from workbench.chronicle.summarizers.words import flat, shortened

DECISION = "decision"
_BLOCKER = "blocker"
_DONE = frozenset({"milestone", "implementation", "git commit", "maintenance", "state change"})
_FOUND = frozenset(
    {"anomaly", "observation", "research", "insight", "architecture insight", "world event", "constraint"}
)
_ELSEWHERE = _DONE | _FOUND | {DECISION, _BLOCKER}
_OLD_VALUE = 120
_OLD_VALUES = 3
_WHY = 220
_FILES = 2
"""Files of an observation that are named; more are counted."""


def memory_blocks(stretch: Sequence[Told]) -> list[Block]:
    """The blocks in the order in which a reader wants them, empty ones among them."""
    checkpoints = [each for each in stretch if each.kind == "checkpoint"]
    last = checkpoints[-1] if checkpoints else None
    seen = [each for each in stretch if each.kind == "observation"]
    return [
        Block("Decided", _decided(stretch), "decision/decisions"),
        Block("Done", _done(seen, checkpoints), "thing/things done"),
        Block("Checked", _checked(checkpoints), "check/checks"),
        Block("Found", _observed(seen, _FOUND.__contains__, 2), "finding/findings"),
        Block("Facts", _facts(stretch), "fact/facts"),
        Block("Noted", _observed(seen, lambda category: category not in _ELSEWHERE, 4), "note/notes"),
        Block("Reviewed", _reviewed(stretch), "verdict/verdicts"),
        Block("Settled", _settled(checkpoints), "question/questions"),
        Block("Left open", _open(seen, last), "point/points"),
        Block("Next", [Item(step, rank=0) for step in last.next_steps] if last else [], "step/steps"),
    ]


def goals(stretch: Sequence[Told]) -> list[str]:
    """What was worked towards, in order, each once."""
    return list(dict.fromkeys(flat(each.goal) for each in stretch if each.kind == "checkpoint" and each.goal))


def _said(told: Told, rank: int) -> Item:
    """An observation as a line."""
    after = f" (why: {inline(shortened(flat(told.why), _WHY))})" if told.why else ""
    if told.evidence:
        files = ", ".join(inline(each) for each in told.evidence[:_FILES])
        more = len(told.evidence) - _FILES
        after += f" (evidence: {files}{f' and {more} more' if more > 0 else ''})"
    again = " again" if told.repeated else ""
    return Item(told.text, f"{name(told.actor)}{again}: " if told.actor else "", after, rank)


def _observed(seen: Sequence[Told], wanted: Callable[[str], bool], rank: int) -> list[Item]:
    """Observations of some categories; who only repeats what stands there already is named behind it."""
    mine: dict[str, list[Told]] = {}
    for each in seen:
        if wanted(each.category):
            mine.setdefault(flat(each.text), []).append(each)
    items = []
    for same in mine.values():
        item = _said(same[0], rank)
        others = dict.fromkeys(
            name(each.actor) for each in same[1:] if each.actor and each.actor != same[0].actor
        )
        items.append(item._replace(after=f"{item.after} (also {listed(list(others))})") if others else item)
    return items


def _decided(stretch: Sequence[Told]) -> list[Item]:
    items = []
    rejected = _rejected(stretch)
    for each in stretch:
        if each.kind == "observation" and each.category == DECISION:
            items.append(_said(each, 0))
        elif each.kind == "fact" and each.fact_kind == DECISION and not each.confirmed:
            items.append(_fact(each, [each], rejected))
    return items


def _rejected(stretch: Sequence[Told]) -> dict[str, str]:
    """Who rejected what, by how it is called."""
    return {each.subject: each.actor for each in stretch if each.verdict == "rejected"}


def _facts(stretch: Sequence[Told]) -> list[Item]:
    """The last value of each slot, with what it was before."""
    by_slot: dict[str, list[Told]] = {}
    for each in stretch:
        if each.kind == "fact" and (each.fact_kind != DECISION or each.confirmed):
            by_slot.setdefault(each.slot, []).append(each)
    rejected = _rejected(stretch)
    return [_fact(values[-1], values, rejected) for values in by_slot.values()]


def _fact(fact: Told, values: Sequence[Told], rejected: Mapping[str, str]) -> Item:
    remarks = []
    if (called := subject("fact", fact)) in rejected:
        remarks.append(f"rejected by {name(rejected[called]) or 'somebody'}")
    earlier = list(dict.fromkeys(flat(each.value) for each in values[:-1] if each.value != fact.value))
    if not earlier and fact.replaces and fact.replaces != fact.value:
        earlier = [flat(fact.replaces)]
    if earlier:
        remarks.append(
            "before: " + ", then ".join(inline(shortened(each, _OLD_VALUE)) for each in earlier[-3:])
        )
    elif fact.superseded:
        remarks.append("replaces an older value")
    if fact.confirmed:
        remarks.append("confirmed")
    if fact.fact_kind == "assumption":
        remarks.append("assumed, not checked")
    after = f" ({'; '.join([*remarks, *([f'by {name(fact.actor)}'] if fact.actor else [])])})"
    return Item(fact.value, f"{inline(fact.slot)} = ", after if after != " ()" else "", 1)


def _done(seen: Sequence[Told], checkpoints: Sequence[Told]) -> list[Item]:
    """What the checkpoints list, each line once, and what was reported done meanwhile."""
    items: dict[str, Item] = {}
    for at, checkpoint in enumerate(checkpoints):
        rank = 1 if at == len(checkpoints) - 1 else 2
        by = f"{name(checkpoint.actor)}: " if checkpoint.actor else ""
        for line in checkpoint.completed:
            items.setdefault(flat(line), Item(line, by, "", rank))
    return [*items.values(), *_observed(seen, _DONE.__contains__, 3)]


def _checked(checkpoints: Sequence[Told]) -> list[Item]:
    found: dict[str, Item] = {}
    for at, checkpoint in enumerate(checkpoints):
        rank = 2 if at == len(checkpoints) - 1 else 3
        for line in checkpoint.verification:
            found.setdefault(flat(line), Item(line, rank=rank))
    return list(found.values())


def _reviewed(stretch: Sequence[Told]) -> list[Item]:
    items = []
    for each in stretch:
        if each.kind in ("review", "visibility"):
            by = name(each.actor) or "somebody"
            subject = inline(shortened(flat(each.subject), 200))
            items.append(
                Item(each.text, f"{by} {inline(each.verdict)} {subject}{': ' if each.text else ''}", rank=1)
            )
        elif each.kind == "purge":
            by = name(each.actor) or "somebody"
            items.append(Item(each.text, f"{by} had the bytes of an evidence file removed: ", rank=4))
    return items


def _settled(checkpoints: Sequence[Told]) -> list[Item]:
    """Questions of earlier checkpoints that the last one does not ask any more."""
    if not checkpoints:
        return []
    still = {flat(line) for line in checkpoints[-1].open_questions}
    asked = dict.fromkeys(flat(line) for each in checkpoints[:-1] for line in each.open_questions)
    return [Item(line, rank=3) for line in asked if line not in still]


def _open(seen: Sequence[Told], last: Told | None) -> list[Item]:
    items = [Item(line, rank=0) for line in last.open_questions] if last else []
    return items + [_said(each, 1) for each in seen if each.category == _BLOCKER and not each.repeated]
