"""The input of `record_event`, checked and normalised (contract memory, "record_event pipeline", 1 and 3)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import msgspec

from workbench.identity.folding import fold, is_blank
from workbench.memory.errors import InvalidArgument

MAX_NAME = 200
"""Characters of a name or an id, without the blanks around it."""
MAX_TEXT = 100_000
"""Characters of an event's text."""
MAX_WHY = 20_000
MAX_GOAL = 2000
MAX_LINES = 20
"""Lines of each list of a checkpoint."""
MAX_LINE = 1000
MAX_SLOT = 200
MAX_VALUE = 4000
MAX_SUPERSEDES = 128
MAX_FILES = 100
MAX_PATH = 4096

CATEGORIES = frozenset(
    "note decision milestone implementation maintenance anomaly workflow daily_summary digest_run git_commit "
    "world_event architecture_insight blocker state_change observation research insight constraint".split()
)
FALLBACK = "note"
ALIASES = {"block": "blocker", "status_change": "state_change"}
"""Other words for two of them."""

KINDS = ("observed", "decision", "assumption")
LISTS = ("completed", "verification", "open_questions", "next_steps")
SOURCES = ("explicit", "session", "client", "default")
VISIBILITIES = ("public", "private")

_CATEGORY = re.compile(r"[a-z0-9_.-]{2,64}")
_SHOWN_KEY = 60
"""Characters of an unknown key that are repeated."""
_REPLACEMENT = "\N{REPLACEMENT CHARACTER}"


class Checkpoint(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The state of a task at a hand-off: a goal of 1..2000 characters, lists of up to 20 lines of 1..1000."""

    goal: str
    completed: tuple[str, ...] = ()
    verification: tuple[str, ...] = ()
    open_questions: tuple[str, ...] = ()
    next_steps: tuple[str, ...] = ()


class Fact(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a slot (1..200 characters) holds (1..4000): `observed`, a `decision` or an `assumption`."""

    slot: str
    value: str
    kind: str
    supersedes: str | None = None
    """The id of the current fact, when it changes the slot."""


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """An input that keeps every rule: trimmed, names as given, texts without lone surrogates."""

    text: str
    why: str | None
    domain: str | None
    project: str | None
    task_id: str | None
    category: str
    """One of `CATEGORIES`."""
    category_raw: str | None
    """As given, where that is another word."""
    category_fallback: str | None
    """The well-formed category that was asked for and is not one of ours."""
    agent: str | None
    agent_source: str
    session_id: str | None
    fact: Fact | None
    checkpoint: Checkpoint | None
    source_files: tuple[str, ...]
    request_id: str | None
    external_id: str | None
    occurred_at: datetime | None
    """In UTC."""
    entity_id: str | None
    entity_type: str | None
    visibility: str

    @property
    def private(self) -> bool:
        """Whether no agent may see it."""
        return self.visibility == "private"


def validated(
    text: object,
    *,
    why: object = None,
    domain: object = None,
    project: object = None,
    task_id: object = None,
    category: object = None,
    agent: object = None,
    agent_source: object = None,
    session_id: object = None,
    fact: object = None,
    checkpoint: object = None,
    source_files: object = (),
    request_id: object = None,
    external_id: object = None,
    occurred_at: object = None,
    entity_id: object = None,
    entity_type: object = None,
    visibility: object = "public",
) -> Entry:
    """The arguments of `Memory.record_event` as an entry; `InvalidArgument` names what breaks a rule.

    No type is converted. A blank domain, agent or why counts as none; any other name must not be blank.
    """
    said = free_text("text", text, MAX_TEXT, empty="Event text is required.")
    stored, raw, fallback = _category(category)
    named_project, named_task = name("project", project), name("task_id", task_id)
    if named_task is not None and named_project is None:
        raise InvalidArgument("task_id requires project", hint="name the project of the task")
    state = None if checkpoint is None else _checkpoint(checkpoint)
    if state is not None and (named_project is None or named_task is None):
        apart = "; a fact of the project is recorded in a call of its own, without the task"
        raise InvalidArgument(
            "a checkpoint requires project and task_id", hint=f"name both{'' if fact is None else apart}"
        )
    author = name("agent", agent, blank=True)
    return Entry(
        text=said,
        why=None if why is None else free_text("why", why, MAX_WHY, empty=None) or None,
        domain=name("domain", domain, blank=True),
        project=named_project,
        task_id=named_task,
        category=stored,
        category_raw=raw,
        category_fallback=fallback,
        agent=author,
        agent_source=_agent_source(agent_source, author),
        session_id=name("session_id", session_id),
        fact=None if fact is None else _fact(fact),
        checkpoint=state,
        source_files=_paths(source_files),
        request_id=name("request_id", request_id),
        external_id=name("external_id", external_id),
        occurred_at=_instant(occurred_at),
        entity_id=name("entity_id", entity_id),
        entity_type=name("entity_type", entity_type),
        visibility=one_of("visibility", visibility, VISIBILITIES),
    )


def name(field: str, value: object, *, blank: bool = False, limit: int = MAX_NAME) -> str | None:
    """A name or an id without the blanks around it: 1 to `limit` characters, no control characters.

    None stays None; with `blank`, a blank one counts as none too. `InvalidArgument` otherwise.
    """
    if value is None:
        return None
    if type(value) is not str:
        raise _not_text(field, value)
    trimmed = value.strip()
    if is_blank(trimmed) or not fold(trimmed):
        if blank:
            return None
        raise InvalidArgument(f"{field} is blank", hint="name it, or leave it out")
    if len(trimmed) > limit:
        raise InvalidArgument(
            f"{field} has {len(trimmed):,} characters; {limit} are allowed", hint="give a shorter one"
        )
    if any(sign < " " or "\x7f" <= sign < "\xa0" for sign in trimmed):
        raise InvalidArgument(f"{field} holds a control character", hint="write it in one line of plain text")
    if any("\ud800" <= sign <= "\udfff" for sign in trimmed):
        raise InvalidArgument(f"{field} is not valid text", hint="write it in UTF-8")
    return trimmed


def required_name(field: str, value: object, *, limit: int = MAX_NAME) -> str:
    """`name` where None is refused too."""
    found = name(field, value, limit=limit)
    if found is None:
        raise _required(field)
    return found


def free_text(field: str, value: object, limit: int, *, empty: str | None = "") -> str:
    """A text without the blanks around it, at most `limit` characters; lone surrogates become U+FFFD.

    An empty one is refused with the sentence `empty` ("… is blank" by default), and let pass if that is None.
    """
    if type(value) is not str:
        raise _not_text(field, value)
    trimmed = value.strip()
    if not trimmed and empty is not None:
        what = "say in a sentence what was done, decided or found" if field == "text" else "say what it is"
        raise InvalidArgument(empty or f"{field} is blank", hint=what)
    if len(trimmed) > limit:
        raise InvalidArgument(
            f"{field} has {len(trimmed):,} characters; {limit:,} are allowed",
            hint="shorten it, or give the long form as a source file",
        )
    return _repaired(trimmed)


def _repaired(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        return "".join(_REPLACEMENT if "\ud800" <= sign <= "\udfff" else sign for sign in text)
    return text


_CALLED = {
    type(None): "null",
    bool: "true or false",
    int: "a number",
    float: "a number",
    str: "text",
    list: "a list",
    dict: "an object",
}


def _called(value: object) -> str:
    """A type as whoever writes JSON calls it."""
    return _CALLED.get(type(value), type(value).__name__)


def _not_text(field: str, value: object) -> InvalidArgument:
    # The type only: the value may hold anything.
    return InvalidArgument(
        f"{field} must be text, not {_called(value)}", hint="write it as a text, in quotes in JSON"
    )


def _required(field: str) -> InvalidArgument:
    return InvalidArgument(f"{field} is required", hint=f"name it: {field.rpartition('.')[2]}")


def one_of(field: str, value: object, allowed: Sequence[str]) -> str:
    """One of a few words, exactly as written; `InvalidArgument` otherwise."""
    if type(value) is not str or value not in allowed:
        raise InvalidArgument(f"{field} must be one of: {', '.join(allowed)}", hint="write it exactly so")
    return value


def _category(given: object) -> tuple[str, str | None, str | None]:
    """What is stored, what was given where that differs, and what was asked for and is not known."""
    if given is None:
        return FALLBACK, None, None
    if type(given) is not str:
        raise _not_text("category", given)
    trimmed = given.strip()
    asked = re.sub(r"[ -]", "_", trimmed.lower())
    asked = ALIASES.get(asked, asked)
    if len(trimmed) > MAX_NAME or not _CATEGORY.fullmatch(asked):
        raise InvalidArgument(
            "Invalid category: 2 to 64 of a-z, 0-9, '_', '.' and '-'", hint="for example: decision"
        )
    stored = asked if asked in CATEGORIES else FALLBACK
    return stored, trimmed if trimmed != stored else None, None if stored == asked else asked


def _agent_source(given: object, agent: str | None) -> str:
    if given is None:
        return "default" if agent is None else "explicit"
    source = one_of("agent_source", given, SOURCES)
    if source == "explicit" and agent is None:
        raise InvalidArgument("agent_source is explicit only where an agent is named", hint="name the agent")
    return source


def _instant(given: object) -> datetime | None:
    if given is None:
        return None
    if not isinstance(given, datetime):
        raise InvalidArgument(
            f"occurred_at must be a datetime, not {type(given).__name__}", hint="give one with a time zone"
        )
    if given.utcoffset() is None:
        raise InvalidArgument("occurred_at needs a time zone", hint="for example datetime.UTC")
    try:
        return given.astimezone(UTC)
    except OverflowError:
        raise InvalidArgument(
            "occurred_at lies outside the years 1 to 9999 in UTC", hint="give an earlier or a later time"
        ) from None


def _paths(given: object) -> tuple[str, ...]:
    """As given: blanks around a path belong to it."""
    if given is None:
        return ()
    if isinstance(given, str | bytes) or not isinstance(given, list | tuple):
        raise InvalidArgument(
            f"source_files must be a list of paths, not {type(given).__name__}",
            hint="put the path into a list",
        )
    if len(given) > MAX_FILES:
        raise InvalidArgument(
            f"source_files has {len(given):,} paths; {MAX_FILES} are allowed",
            hint="record the others with a second observation",
        )
    for path in given:
        if type(path) is not str:
            raise _not_text("a path in source_files", path)
        if not path.strip():
            raise InvalidArgument("source_files holds a blank path", hint="name a file, or leave it out")
        if len(path) > MAX_PATH:
            raise InvalidArgument(
                f"a path in source_files has more than {MAX_PATH:,} characters",
                hint="go to its folder and name it from there",
            )
    return tuple(given)


def _checkpoint(given: object) -> Checkpoint:
    fields = _fields("checkpoint", given, Checkpoint)
    return Checkpoint(
        goal=free_text("checkpoint.goal", _needed("checkpoint", fields, "goal"), MAX_GOAL),
        **{each: _lines(f"checkpoint.{each}", fields.get(each, ())) for each in LISTS},
    )


def _lines(field: str, given: object) -> tuple[str, ...]:
    if not isinstance(given, list | tuple):
        raise InvalidArgument(
            f"{field} must be a list of texts, not {_called(given)}",
            hint='write it as a list: ["…", "…"]',
        )
    if len(given) > MAX_LINES:
        raise InvalidArgument(
            f"{field} has {len(given):,} items; {MAX_LINES} are allowed",
            hint="keep what the next one needs, and give the whole as a source file",
        )
    return tuple(free_text(f"an item of {field}", line, MAX_LINE) for line in given)


def _fact(given: object) -> Fact:
    fields = _fields("fact", given, Fact)
    return Fact(
        slot=required_name("fact.slot", fields.get("slot"), limit=MAX_SLOT),
        value=free_text("fact.value", _needed("fact", fields, "value"), MAX_VALUE),
        kind=one_of("fact.kind", _needed("fact", fields, "kind"), KINDS),
        supersedes=name("fact.supersedes", fields.get("supersedes"), limit=MAX_SUPERSEDES),
    )


def _fields(field: str, given: object, model: type[msgspec.Struct]) -> Mapping[str, Any]:
    """The fields of a mapping or of the structure itself; an unknown one is refused by its name."""
    known = model.__struct_fields__
    if isinstance(given, model):
        return {each: getattr(given, each) for each in known}
    if not isinstance(given, Mapping):
        raise InvalidArgument(
            f"{field} must be an object, not {_called(given)}",
            hint=f"write it as an object of: {', '.join(known)}",
        )
    for key in given:
        if key not in known:
            raise _unknown_key(field, key, known)
    return given


def _unknown_key(field: str, key: object, known: Sequence[str]) -> InvalidArgument:
    from difflib import get_close_matches

    from workbench.redaction import redact

    takes = f"it takes: {', '.join(known)}"
    # A key may be anything, also a secret that stands in the wrong place.
    if type(key) is not str or redact(key).text != key or not fold(key):
        return InvalidArgument(f"{field} has an unknown key", hint=takes)
    near = get_close_matches(fold(key).replace("-", "_"), known, 1)
    shown = key if len(key) <= _SHOWN_KEY else f"{key[:_SHOWN_KEY]}…"
    return InvalidArgument(
        f"{field} has the unknown key {ascii(shown) if not shown.isprintable() else repr(shown)}",
        hint=f"did you mean {near[0]}? {takes}" if near else takes,
    )


def _needed(field: str, fields: Mapping[str, Any], key: str) -> object:
    value = fields.get(key)
    if value is None:
        raise _required(f"{field}.{key}")
    return value
