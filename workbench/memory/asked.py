"""What readers are asked for, checked."""

from __future__ import annotations

from workbench.identity.folding import is_blank
from workbench.identity.registry import Registry
from workbench.identity.scopes import Scope, resolve
from workbench.memory.errors import InvalidArgument

NAME_CHARACTERS = 200
TARGET_CHARACTERS = 1000
"""Of what a review may be about."""
LEAST_CHARACTERS, MOST_CHARACTERS, USUAL_CHARACTERS = 1_000, 8_000, 6_000
"""Of a brief."""
OPEN_TASKS = 5
"""Of a context."""
MOST = 100
"""Items of one page of a context."""
MOST_LISTED = 500
"""Items of one page of a list."""


def name(field: str, given: str | None, most: int = NAME_CHARACTERS) -> str | None:
    """A name as it may be asked for, trimmed; None for none or a blank one. Raises `InvalidArgument`."""
    if given is None:
        return None
    if not isinstance(given, str):
        raise InvalidArgument(f"{field} is a text")
    trimmed = given.strip()
    if len(trimmed) > most:
        raise InvalidArgument(f"{field} is longer than {most} characters")
    try:
        trimmed.encode()
    except UnicodeEncodeError:
        raise InvalidArgument(f"{field} is not valid text") from None
    return None if is_blank(trimmed) else trimmed


def words(field: str, given: str | None) -> str | None:
    """Words to look for, trimmed; None for none, U+FFFD for what is no sign. Raises `InvalidArgument`."""
    if given is None:
        return None
    if not isinstance(given, str):
        raise InvalidArgument(f"{field} is a text")
    return given.strip().encode("utf-16", "surrogatepass").decode("utf-16", "replace") or None


def scope(registry: Registry, domain: str | None, project: str | None, task_id: str | None) -> Scope:
    """The scope that names mean. Raises `InvalidArgument`, also for a task without a project."""
    domain, project, task_id = name("domain", domain), name("project", project), name("task_id", task_id)
    if task_id is not None and project is None:
        raise InvalidArgument("task_id requires project", hint="name the project that the task belongs to")
    return resolve(registry, domain, project, task_id)


def number(field: str, given: int, most: int, least: int = 1, *, hint: str = "") -> int:
    """A whole number within its limits. Raises `InvalidArgument`."""
    if isinstance(given, bool) or not isinstance(given, int) or not least <= given <= most:
        raise InvalidArgument(f"{field} must be a whole number from {least} to {most}", hint=hint)
    return given


def place(field: str, given: int | None, last: int) -> int:
    """Behind which position a page of a list begins; beyond all for the first page."""
    if given is None:
        return last + 1
    if isinstance(given, bool) or not isinstance(given, int) or given < 0:
        raise InvalidArgument(f"{field} is the `next` of an earlier page")
    return min(given, last + 1)
