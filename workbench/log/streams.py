"""How streams are named (DESIGN §2 "Stream")."""

from __future__ import annotations

from typing import NamedTuple
from urllib.parse import quote

from workbench.log.errors import InvalidIdentifier


class StreamRef(NamedTuple):
    """A stream and the parts of its name, which are stored because names are never parsed back."""

    name: str
    kind: str
    domain_key: str = ""
    project_key: str = ""
    task_key: str = ""


def component(text: str) -> str:
    """One component of a stream's name: everything but `A-Za-z0-9._~-` percent-encoded as UTF-8.

    Raises `InvalidIdentifier` for text with a lone surrogate, which has no UTF-8.
    """
    try:
        return quote(text, safe="")
    except UnicodeEncodeError:
        raise InvalidIdentifier("a stream's name is not valid text") from None


def session_stream(chronicum_id: str) -> StreamRef:
    """The stream of a session; its id is taken exactly as given and never folded.

    Raises `InvalidIdentifier` for an id that is not valid text.
    """
    return StreamRef(f"session/{component(chronicum_id)}", "session")


def domain_stream(domain: str) -> StreamRef:
    """The stream of what concerns a whole domain.

    Raises `InvalidIdentifier` for a name that is not valid text.
    """
    return StreamRef(f"domain/{component(domain)}", "domain", domain_key=domain)


def scope_stream(domain_key: str, project_key: str = "", task_key: str = "") -> StreamRef:
    """The stream of a domain, of a project in it, or of a task in that; the keys are folded names.

    Raises `ValueError` for a task without a project, `InvalidIdentifier` for a name that is not valid text.
    """
    if task_key and not project_key:
        raise ValueError("a task belongs to a project")
    kind = "task" if task_key else "project" if project_key else "domain"
    parts = [component(key) for key in (domain_key, project_key, task_key) if key]
    return StreamRef("/".join((kind, *parts)), kind, domain_key, project_key, task_key)


def pins_stream(name: str) -> StreamRef:
    """Where the pin ledger keeps its books on what was drawn for the stream of that name.

    It is a stream of its own, so that bookkeeping is in no range of the other one's. The whole name is one
    component. Raises `InvalidIdentifier` for a name that is not valid text.
    """
    return StreamRef(f"pins/{component(name)}", "pins")
