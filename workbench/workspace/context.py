"""A context window of a session as an agent would get it (contract sessions, "Ours")."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from workbench.sessions.errors import ChronicumNotFound
from workbench.sessions.facets import facets
from workbench.sessions.queries import last_acta, stream_of

if TYPE_CHECKING:
    from workbench.sessions.model import Actum
    from workbench.workspace.workspace import Workspace


def context(
    workspace: Workspace,
    owner_id: str,
    chronicum_id: str,
    *,
    last_n: int = 0,
    actum_kinds: Iterable[str] = (),
    actor_kinds: Iterable[str] = (),
    private: bool = False,
) -> list[Actum]:
    """What `get_acta` returns, without private acta, which are left out before the limit.

    With `private` they stay. Raises `EmptyOwnerID`, then `ChronicumNotFound` for a missing or another
    owner's session.
    """
    workspace.sessions.get_chronicum(owner_id, chronicum_id)
    wanted = facets(actum_kinds, actor_kinds, private=private)
    with workspace.log.reader() as connection:
        stream_id = stream_of(connection, chronicum_id)
        if stream_id is None:
            raise ChronicumNotFound
        return last_acta(connection, stream_id, wanted, last_n)
