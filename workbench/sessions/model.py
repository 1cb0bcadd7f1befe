"""The values of a session: who did what, in which session (contract sessions §1 and §3)."""

from __future__ import annotations

from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, Final, TypeVar

import msgspec

from workbench.sessions.errors import InvalidActum

METADATA_MAX_DEPTH: Final = 100
"""How many objects and arrays may stand inside one another in `Actum.metadata`, itself included."""

PUBLIC: Final = "public"
PRIVATE: Final = "private"


class ActorKind(StrEnum):
    """What sort of party an actor is."""

    HUMAN = "human"
    AGENT = "agent"
    SYSTEM = "system"


class ActumKind(StrEnum):
    """What sort of act was recorded."""

    MESSAGE = "message"
    THOUGHT = "thought"
    TOOL_REQUEST = "tool_request"
    TOOL_RESPONSE = "tool_response"


_Kind = TypeVar("_Kind", ActorKind, ActumKind)


def _member(value: str, members: dict[str, _Kind]) -> str:
    # Only exact `str`: members pass through, and a value of any other type is left for `validate`.
    return members.get(value, value) if value.__class__ is str else value


_ACTOR_KINDS: Final = {kind.value: kind for kind in ActorKind}
_ACTUM_KINDS: Final = {kind.value: kind for kind in ActumKind}


class Chronicum(msgspec.Struct, frozen=True, kw_only=True):
    """One session of one owner.

    `id` is the caller's and exact; it is never folded. Both times are set by the store, aware, and
    None only on a value that no store has seen yet.
    """

    id: str
    owner_id: str
    started_at: datetime | None = None
    last_activity_at: datetime | None = None


class Actum(msgspec.Struct, frozen=True, kw_only=True):
    """One act in a session.

    `id` and `at` are given by the recorder and the store: a caller's values are lost. `kind` and
    `actor_kind` may be given as plain strings; a known one becomes the enum's member, an unknown one
    stays as it is and `validate` refuses it. `metadata` is a JSON object, `occurred_at` the claimed time of
    the act, `visibility` "public" or "private": none of the three takes part in order, filters or identity.

    Frozen, but `metadata` is a plain dict: whoever keeps an actum copies it.
    """

    chronicum_id: str = ""
    kind: str
    actor_kind: str
    actor: str = ""
    content: str = ""
    id: str = ""
    at: datetime | None = None
    metadata: dict[str, Any] = {}
    occurred_at: datetime | None = None
    visibility: str = PUBLIC

    def __post_init__(self) -> None:
        kind = _member(self.kind, _ACTUM_KINDS)
        if kind is not self.kind:
            msgspec.structs.force_setattr(self, "kind", kind)
        actor_kind = _member(self.actor_kind, _ACTOR_KINDS)
        if actor_kind is not self.actor_kind:
            msgspec.structs.force_setattr(self, "actor_kind", actor_kind)

    def validate(self) -> None:
        """Raise `InvalidActum` for the first rule broken, in the contract's order.

        First the five rules of the reference: a session id, an actor, a known kind, a known actor
        kind, content for a message or thought. Strings are compared exactly: a blank is content, there is
        no length limit, and no rule joins the two kinds. Then the rules for what this library adds: text is
        `str`, `visibility` is known, `occurred_at` names an instant, `metadata` is a JSON object.
        `id` and `at` are not looked at.
        """
        if self.chronicum_id == "":
            raise InvalidActum.because("it names no session (chronicum_id is empty)")
        if self.actor == "":
            raise InvalidActum.because("it names no actor (actor is empty)")
        if not isinstance(self.kind, ActumKind):
            raise InvalidActum.because(f"kind is unknown; {_one_of(ActumKind)}")
        if not isinstance(self.actor_kind, ActorKind):
            raise InvalidActum.because(f"actor_kind is unknown; {_one_of(ActorKind)}")
        if self.content == "" and self.kind in (ActumKind.MESSAGE, ActumKind.THOUGHT):
            raise InvalidActum.because(f"a {self.kind} needs content")
        for field in ("chronicum_id", "actor", "content"):
            if not isinstance(getattr(self, field), str):
                raise InvalidActum.because(f"{field} is not text")
        if self.visibility not in (PUBLIC, PRIVATE):
            raise InvalidActum.because("visibility is unknown; it is one of public, private")
        _check_instant(self.occurred_at)
        _check_json_object(self.metadata)


class ActaQuery(msgspec.Struct, frozen=True, kw_only=True):
    """Which acta of a session a store returns.

    The filters come first and combine with AND, the values inside one with OR; an empty one lets
    everything pass, an unknown value matches nothing. Then the last `last_n` are taken; zero or less is
    no limit.
    """

    last_n: int = 0
    kinds: tuple[str, ...] = ()
    actor_kinds: tuple[str, ...] = ()


def _one_of(kinds: type[StrEnum]) -> str:
    return "it is one of " + ", ".join(kinds)


def _check_instant(value: object) -> None:
    if value is None:
        return
    if not isinstance(value, datetime):
        raise InvalidActum.because("occurred_at is not a datetime")
    if value.utcoffset() is None:
        raise InvalidActum.because("occurred_at has no time zone, so it names no instant")
    try:
        value.astimezone(UTC)
    except OverflowError:
        raise InvalidActum.because("occurred_at lies outside the years 1 to 9999 in UTC") from None


def _check_json_object(metadata: object) -> None:
    if not isinstance(metadata, dict):
        raise InvalidActum.because(f"metadata is not a JSON object but {_type(metadata)}")
    # Depth first, so that a structure which contains itself runs into the depth limit at once.
    pending: list[tuple[Any, int]] = [(metadata, 1)]
    while pending:
        value, depth = pending.pop()
        children: list[Any]
        if isinstance(value, dict):
            for key in value:
                if not isinstance(key, str):
                    raise InvalidActum.because(
                        f"metadata is not a JSON object: it has a key that is {_type(key)}, not text"
                    )
            children = list(value.values())
        else:
            children = value
        if depth > METADATA_MAX_DEPTH:
            raise InvalidActum.because(
                f"metadata is nested deeper than {METADATA_MAX_DEPTH} levels or contains itself"
            )
        for child in children:
            if isinstance(child, dict | list):
                pending.append((child, depth + 1))
            elif child is not None and not isinstance(child, str | int | float):
                raise InvalidActum.because(f"metadata is not a JSON object: it holds {_type(child)}")


def _type(value: object) -> str:
    return f"a value of type {type(value).__name__}"
