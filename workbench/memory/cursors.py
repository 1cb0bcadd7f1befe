"""Where a reader of changes stopped (contract memory, "cursors").

A cursor is the URL-safe Base64 of `{"scope":[domain,project,task],"seq":position,"v":1}`, with folded names.
It names its scope, so that one that is used elsewhere is noticed.
"""

from __future__ import annotations

from base64 import b64decode, urlsafe_b64encode

import msgspec

from workbench.identity.folding import fold
from workbench.identity.registry import Registry
from workbench.identity.scopes import Scope
from workbench.memory.errors import CursorMismatch

VERSION = 1

_MOST_CHARACTERS = 64 * 1024
"""The longest names, folded and escaped, need less."""


class _Cursor(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    scope: tuple[str | None, str | None, str | None]
    seq: int
    v: int


_decode = msgspec.json.Decoder(_Cursor, strict=True).decode


def encode(scope: Scope, position: int) -> str:
    """The cursor of a position in a scope."""
    text = msgspec.json.encode(_Cursor(scope.key, position, VERSION))
    return urlsafe_b64encode(text).decode("ascii").rstrip("=")


def decode(registry: Registry, scope: Scope, cursor: str, last: int) -> int:
    """The position that a cursor of this scope holds; `last` is the last one of the log.

    Names in it may be older spellings, folded or not: they are matched as the registry has them now. Raises
    `CursorMismatch` for anything that is no cursor, and for one of another scope or of another log.
    """
    read = _read(cursor)
    if read is None:
        raise _refusal("this is no cursor")
    if read.v != VERSION:
        raise _refusal("this cursor was made by another version")
    domain, project, task = (name or "" for name in read.scope)
    projects = registry.project_forms(project)
    same = (registry.domain_forms(domain)[0], projects[0] if projects else "", fold(task))
    if same != scope.key:
        raise _refusal("this cursor belongs to another scope")
    # One beyond the last is what lies before a page that is empty.
    if not 0 <= read.seq <= last + 1:
        raise _refusal("this cursor points beyond the end of the log")
    return read.seq


def _read(cursor: object) -> _Cursor | None:
    if not isinstance(cursor, str) or not 0 < len(cursor) <= _MOST_CHARACTERS or not cursor.isascii():
        return None
    body = cursor.rstrip("=")
    try:
        text = b64decode(body + "=" * (-len(body) % 4), altchars=b"-_", validate=True)
        read = _decode(text)
        # Anything that does not come out as it went in was altered on its way.
        whole = urlsafe_b64encode(msgspec.json.encode(read)).decode("ascii").rstrip("=") == body
    except (ValueError, msgspec.MsgspecError, RecursionError):
        return None
    return read if whole else None


def _refusal(sentence: str) -> CursorMismatch:
    return CursorMismatch(
        sentence, hint="start again without it, and take the cursor from that answer's task_context"
    )
