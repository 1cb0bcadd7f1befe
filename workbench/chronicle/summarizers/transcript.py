"""What of a stretch's events a summarizer may be told (contract log-and-chronicle, "Ours").

No id of an event, a session, a request or a call, no `seq`, no digest and no clock time gets in, so that
the same stretch always gives the same prompt. Events that are private, and the pins' own, are left out
here once more, whoever admitted them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from workbench.chronicle.summarizers import tool_calls
from workbench.chronicle.summarizers.spoken import without_long_code
from workbench.chronicle.summarizers.told import Told
from workbench.chronicle.summarizers.words import MOST_READ, flat, plain, shortened, told_text
from workbench.log.registry import StoredEvent

TEXT_LIMIT = 4000
"""Characters that are told of one text."""
NAME_LIMIT = 80
_LINE_LIMIT = 600
"""Of one line of a checkpoint, a slot, a path."""
_PINS = "pins"
_PUBLIC = "public"
_LISTS = ("completed", "verification", "open_questions", "next_steps")

# Fields of types that nobody here knows: what names a row, a time or a size says nothing.
_NAMING = re.compile(
    r"(?:^|_)(?:ids?|uuid|sha256|hash|digest|key|at|seq|position|stream|version|filter|redactions|scope)(?:_|$)"
)

Payload = Mapping[str, Any]


def tell(events: Iterable[StoredEvent], limit: int = TEXT_LIMIT, *, long_code: bool = True) -> list[Told]:
    """What may be told of the events, in their order; an event of which nothing is told is left out.

    `limit` is in characters, for the text of an event. Without `long_code` a message that has to be cut
    loses the insides of its blocks of code first, and not what it says behind them. Linear in the size of
    the events. Raises `FilterFailed`.
    """
    teller = _Teller(limit, long_code)
    return [said for event in events if admitted(event) and (said := teller.tell(event)) is not None]


def admitted(event: StoredEvent) -> bool:
    """Whether a summarizer may know of an event at all: not of a private one, nor of bookkeeping."""
    envelope = event.envelope
    return envelope.visibility == _PUBLIC and envelope.namespace != _PINS


class _Teller:
    """Tells events one after another; what was told before gives later references their words."""

    def __init__(self, limit: int, long_code: bool) -> None:
        self._limit = limit
        self._long_code = long_code
        self._said: dict[str, Told] = {}
        self._tools: dict[str, str] = {}
        self._folder = ""

    def tell(self, event: StoredEvent) -> Told | None:
        by_type = _BY_TYPE.get(event.envelope.type) if event.envelope.namespace == "workbench" else None
        said = self._unknown(event) if by_type is None else by_type(self, event.payload)
        if said is not None:
            self._said[str(event.envelope.event_id)] = said
        return said

    def acted(self, payload: Payload) -> Told | None:
        """One act of a session."""
        metadata = payload.get("metadata")
        marks: Payload = metadata if isinstance(metadata, dict) else {}
        kind = _string(payload, "kind").replace("_", " ")
        content = _string(payload, "content")
        act = Told(
            kind=_line(kind) or "message",
            actor=_name(payload, "actor"),
            actor_kind=_line(_string(payload, "actor_kind")),
            sub_agent=marks.get("sidechain") is True,
        )
        if kind == "tool request":
            return self._called(act, marks, content)
        if kind == "tool response":
            tool = self._tools.pop(_string(marks, "call_id"), "") or _name(marks, "name") or act.actor
            text = self._inside(told_text(content, self._limit, ends=True))
            failed = marks.get("is_error") is True
            return replace(act, kind="tool result", actor="", tool=tool, text=text, failed=failed)
        if marks.get("withheld") is True or not content.strip():
            return None
        injected = _line(_string(marks, "injected").replace("_", " "))
        return replace(act, category=injected, text=self._inside(self._message(content)))

    def _message(self, content: str) -> str:
        if self._long_code or len(content) <= self._limit:
            return self._text(content)
        # Filtered whole before anything is left out of it.
        return shortened(without_long_code(told_text(content, MOST_READ)), self._limit)

    def _called(self, act: Told, marks: Payload, content: str) -> Told:
        call = tool_calls.call_of(_string(marks, "name"), content)
        named = _name(marks, "name")
        if call_id := _string(marks, "call_id"):
            self._tools[call_id] = named
        target = self._inside(told_text(call.target, self._limit))
        return replace(
            act, kind="tool call", tool=named, action=call.action, target=target, why=self._text(call.purpose)
        )

    def began(self, payload: Payload) -> Told | None:
        """A session."""
        return Told(kind="session", actor=_name(payload, "owner_id"), text="begun")

    def described(self, payload: Payload) -> Told | None:
        """What an importer learned of a session."""
        if folder := plain(_string(payload, "cwd")).rstrip("/"):
            self._folder = folder + "/"
        title, branch = self._text(_string(payload, "title")), _line(_string(payload, "git_branch"))
        if not title and not branch:
            return None
        return Told(kind="session", title=title, target=branch)

    def closed(self, payload: Payload) -> Told | None:
        """The end of a stretch."""
        unit = _line(_string(payload, "unit").replace("_", " "))
        return Told(kind="stretch closed", title=unit, text=self._text(_string(payload, "note")))

    def observed(self, payload: Payload) -> Told | None:
        """An observation."""
        return Told(
            kind="observation",
            actor=_name(payload, "agent"),
            category=_line(_string(payload, "category").replace("_", " ")),
            text=self._text(_string(payload, "text")),
            why=self._text(_string(payload, "why")),
            repeated=bool(_string(payload, "memory_event")),
            evidence=_evidence(payload),
        )

    def asserted(self, payload: Payload) -> Told | None:
        """A fact."""
        before = self._said.get(_string(payload, "supersedes"))
        return Told(
            kind="fact",
            actor=_name(payload, "agent"),
            slot=_line(_string(payload, "slot")),
            value=self._text(_string(payload, "value")),
            fact_kind=_line(_string(payload, "kind")),
            confirmed=bool(_string(payload, "confirms")),
            superseded=bool(_string(payload, "supersedes")),
            replaces=before.value if before is not None else "",
        )

    def checked(self, payload: Payload) -> Told | None:
        """A checkpoint."""
        return Told(
            kind="checkpoint",
            actor=_name(payload, "agent"),
            goal=self._text(_string(payload, "goal")),
            completed=_lines(payload, "completed"),
            verification=_lines(payload, "verification"),
            open_questions=_lines(payload, "open_questions"),
            next_steps=_lines(payload, "next_steps"),
        )

    def reviewed(self, payload: Payload) -> Told | None:
        """A person's verdict."""
        kind = _line(_string(payload, "target_kind"))
        target = self._said.get(_string(payload, "target_id"))
        return Told(
            kind="review",
            actor=_name(payload, "reviewer"),
            verdict=_line(_string(payload, "verdict")),
            subject=subject(kind, target, payload.get("item")),
            text=self._text(_string(payload, "comment")),
        )

    def hidden(self, payload: Payload) -> Told | None:
        """An observation that a person quarantined or released. Which one is not told."""
        verdict = "withheld" if payload.get("quarantined") is True else "released"
        return Told(
            kind="visibility",
            actor=_name(payload, "by"),
            verdict=verdict,
            subject="an observation",
            text=self._text(_string(payload, "reason")),
        )

    def purged(self, payload: Payload) -> Told | None:
        """The bytes of an artifact that a person had removed."""
        return Told(kind="purge", actor=_name(payload, "by"), text=self._text(_string(payload, "reason")))

    def scrubbed(self, payload: Payload) -> Told | None:
        """A secret that was taken out afterwards."""
        return Told(kind="redaction", category=_line(_string(payload, "kind").replace("_", " ")))

    def _unknown(self, event: StoredEvent) -> Told | None:
        texts = []
        for name, value in event.payload.items():
            if _NAMING.search(name):
                continue
            values = value if isinstance(value, list) else [value]
            texts += [
                f"{_line(name.replace('_', ' '))}: {each}"
                for each in values
                if isinstance(each, str) and each
            ]
        text = told_text("\n".join(texts), self._limit)
        kind = _line(re.sub(r"[._\-]+", " ", event.envelope.type)) or "event"
        return Told(kind=kind, text=text) if text else None

    def _text(self, text: str) -> str:
        return told_text(text, self._limit)

    def _inside(self, text: str) -> str:
        # Where the whole session stands says nothing about one of its files.
        return text.replace(self._folder, "") if self._folder else text


_BY_TYPE: Mapping[str, Callable[[_Teller, Payload], Told | None]] = {
    "actum.recorded": _Teller.acted,
    "chronicum.created": _Teller.began,
    "chronicum.described": _Teller.described,
    "unit.closed": _Teller.closed,
    "observation.recorded": _Teller.observed,
    "fact.asserted": _Teller.asserted,
    "checkpoint.recorded": _Teller.checked,
    "review.recorded": _Teller.reviewed,
    "visibility.changed": _Teller.hidden,
    "artifact.purged": _Teller.purged,
    "redaction.applied": _Teller.scrubbed,
}


def subject(kind: str, target: Told | None, item: object = None) -> str:
    """What a verdict is about: a checkpoint's line, a fact, an observation, as far as it was told."""
    named = f"the {kind}" if kind else "something"
    if target is None:
        return f"{named} of an earlier stretch"
    if isinstance(item, dict) and (line := _item(target, item)):
        return f"“{line}”"
    if target.kind == "checkpoint":
        return f"{target.actor}’s checkpoint" if target.actor else named
    words = f"{target.slot} = {target.value}" if target.kind == "fact" else target.text
    return f"{named} “{shortened(flat(words), 160)}”" if words else named


def _item(target: Told, item: Mapping[str, object]) -> str:
    name, index = item.get("list"), item.get("index")
    lines: tuple[str, ...] = getattr(target, name) if isinstance(name, str) and name in _LISTS else ()
    return lines[index] if isinstance(index, int) and 0 <= index < len(lines) else ""


def _evidence(payload: Payload) -> tuple[str, ...]:
    found = payload.get("evidence")
    if not isinstance(found, list):
        return ()
    said = []
    for each in found:
        if isinstance(each, dict) and (path := _line(_string(each, "path"))):
            status = _line(_string(each, "status").replace("_", " "))
            said.append(f"{path} ({status})" if status else path)
    return tuple(said)


def _string(payload: Payload, name: str) -> str:
    found = payload.get(name)
    return found if isinstance(found, str) else ""


def _line(text: str) -> str:
    return told_text(flat(plain(text)), _LINE_LIMIT)


def _lines(payload: Payload, name: str) -> tuple[str, ...]:
    found = payload.get(name)
    lines: Sequence[object] = found if isinstance(found, list) else ()
    return tuple(line for each in lines if isinstance(each, str) and (line := _line(each)))


def _name(payload: Payload, name: str) -> str:
    return told_text(flat(plain(_string(payload, name))), NAME_LIMIT)
