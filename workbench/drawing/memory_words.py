"""Events of shared memory in a person's words: one line, the fields of a detail, and the text below them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

OBSERVATION = "observation.recorded"
FACT = "fact.asserted"
CHECKPOINT = "checkpoint.recorded"
REVIEW = "review.recorded"
VISIBILITY = "visibility.changed"
PURGED = "artifact.purged"

MEMORY_TITLES: Mapping[str, str] = {
    OBSERVATION: "observations",
    FACT: "facts",
    CHECKPOINT: "checkpoints",
    REVIEW: "reviews",
    VISIBILITY: "withheld or released",
    PURGED: "artifacts purged",
}
"""What the types are called where all of a type are meant."""

_LISTS = ("completed", "verification", "open_questions", "next_steps")
_DIGEST = 12
"""Characters of a digest that tell artifacts apart."""

Payload = Mapping[str, Any]


class Said(NamedTuple):
    """One line: what comes first and quietly, what it is about, and what follows quietly."""

    before: str
    text: str
    after: str = ""


def memory_line(event_type: str, payload: Payload) -> Said | None:
    """What happened on one line; None for a type of another kind."""
    said = _SAID.get(event_type)
    return None if said is None else said(payload)


def memory_fields(event_type: str, payload: Payload) -> Iterator[tuple[str, str]]:
    """Labels and values of what a detail shows above the text."""
    if event_type not in MEMORY_TITLES:
        return
    scope = "/".join(part for part in (_text(payload, "project"), _text(payload, "task_id")) if part)
    if scope:
        yield ("task" if _text(payload, "task_id") else "project"), scope
    if (domain := _text(payload, "domain")) and domain != "global":
        yield "domain", domain
    named = (("project_raw", "written as"), ("agent_raw", "named itself"), ("category", "category"))
    for name, label in named:
        if text := _text(payload, name):
            yield label, text
    if event_type == FACT:
        yield "kind", _text(payload, "kind")
    for name in ("supersedes", "confirms"):
        if text := _text(payload, name):
            yield name, text
    if event_type == REVIEW:
        yield "verdict", _text(payload, "verdict")
        yield "of", f"{_text(payload, 'target_kind')} {_text(payload, 'target_id')}{_item(payload)}"
    if event_type == VISIBILITY:
        yield "of", f"observation {_text(payload, 'target_id')}"
    if event_type == PURGED:
        yield "artifact", _text(payload, "sha256")
    guard = payload.get("memory_guard")
    if isinstance(guard, dict):
        reasons = ", ".join(str(each) for each in guard.get("reasons", ()))
        quarantined = guard.get("visibility") == "raw_only"
        yield "guard", f"{'withheld' if quarantined else 'let through'}: {reasons}"
    for item in _items(payload, "evidence"):
        if isinstance(item, dict):
            reason = f" ({item['reason'].replace('_', ' ')})" if isinstance(item.get("reason"), str) else ""
            status = str(item.get("status", "")).replace("_", " ")
            yield "evidence", f"{item.get('path', '')}  {status}{reason}"


def memory_body(event_type: str, payload: Payload) -> str | None:
    """The text for people; None for a type of another kind."""
    if event_type == OBSERVATION:
        why = _text(payload, "why")
        return _text(payload, "text") + (f"\n\nWhy: {why}" if why else "")
    if event_type == FACT:
        return f"{_text(payload, 'slot')} = {_text(payload, 'value')}"
    if event_type == CHECKPOINT:
        blocks = [_text(payload, "goal")]
        for name in _LISTS:
            lines = [f"- {line}" for line in _items(payload, name) if isinstance(line, str)]
            if lines:
                title = name.replace("_", " ")
                blocks.append("\n".join((title[:1].upper() + title[1:], *lines)))
        return "\n\n".join(blocks)
    if event_type == REVIEW:
        return _text(payload, "comment")
    return _text(payload, "reason") if event_type in (VISIBILITY, PURGED) else None


def _observation(payload: Payload) -> Said:
    category = _text(payload, "category")
    before = category.replace("_", " ") if category not in ("note", "observation") else ""
    return Said(before, _text(payload, "text"), _scope(payload))


def _fact(payload: Payload) -> Said:
    again = "confirmed" if _text(payload, "confirms") else ""
    replaced = "replaced" if _text(payload, "supersedes") else ""
    said = f"{_text(payload, 'slot')} = {_text(payload, 'value')}"
    return Said(again or replaced, said, _scope(payload))


def _checkpoint(payload: Payload) -> Said:
    steps = [step for step in _items(payload, "next_steps") if isinstance(step, str)]
    after = "  ".join(part for part in (_scope(payload), f"next: {steps[0]}" if steps else "") if part)
    return Said("", _text(payload, "goal"), after)


def _review(payload: Payload) -> Said:
    target = f"{_text(payload, 'verdict')} a {_text(payload, 'target_kind')}{_item(payload)}"
    return Said(target, _text(payload, "comment"))


def _visibility(payload: Payload) -> Said:
    return Said("withheld" if payload.get("quarantined") else "released", _text(payload, "reason"))


def _purged(payload: Payload) -> Said:
    return Said(f"{_text(payload, 'sha256')[:_DIGEST]}…", _text(payload, "reason"))


_SAID: Mapping[str, Callable[[Payload], Said]] = {
    OBSERVATION: _observation,
    FACT: _fact,
    CHECKPOINT: _checkpoint,
    REVIEW: _review,
    VISIBILITY: _visibility,
    PURGED: _purged,
}


def _scope(payload: Payload) -> str:
    return "/".join(part for part in (_text(payload, "project"), _text(payload, "task_id")) if part)


def _item(payload: Payload) -> str:
    item = payload.get("item")
    if not isinstance(item, dict):
        return ""
    return f", {str(item.get('list', '')).replace('_', ' ')} {item.get('index', '')}"


def _items(payload: Payload, name: str) -> list[Any]:
    found = payload.get(name)
    return found if isinstance(found, list) else []


def _text(payload: Payload, name: str) -> str:
    found = payload.get(name)
    return found if isinstance(found, str) else ""
