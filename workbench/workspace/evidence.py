"""Source files of observations on their way in, and the way out: purging (contract workspace)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import apsw

from workbench.errors import WorkbenchError
from workbench.evidence import EvidenceError, EvidencePolicy, EvidenceStore, Stager
from workbench.evidence.events import ArtifactPurged
from workbench.evidence.staging import Source, Target
from workbench.log.event_log import EventLog
from workbench.storage import fetch
from workbench.storage.errors import DatabaseReadOnly

DOMAIN = "global"
"""In whose stream purges stand: an artifact may be named in many domains."""

LONGEST_REASON = 4000
"""Characters."""

_DIGEST = re.compile(rb"(?<![0-9a-f])[0-9a-f]{64}(?![0-9a-f])")
_PREFIX = re.compile(r"[0-9a-f]{4,64}", re.ASCII)
_LISTED = 10


class EvidenceUnknown(WorkbenchError):
    """No artifact goes by that digest, or too many do."""

    code = "evidence_unknown"


class PurgeRefused(WorkbenchError):
    """A purge lacks its reason."""

    code = "invalid_argument"
    exit_code = 2


class Purge(NamedTuple):
    """What a purge did."""

    digest: str
    position: int
    """Of the event that says so."""
    removed: bool
    """Whether there were bytes to remove."""
    repeated: bool
    """Whether it had been purged before, so that no event was written."""


def stager(log: EventLog, store: EvidenceStore, policy: EvidencePolicy, base: Path | None = None) -> Stager:
    """What takes in source files; relative paths are taken from `base` (default: the current folder)."""
    redactor = log.redactor

    def redact(source: Source, target: Target) -> dict[str, int]:
        from workbench.redaction.streaming import redact_stream

        return redact_stream(source, target, redactor)

    return Stager(store, policy, redactor, redact, base=base)


def purge(log: EventLog, store: EvidenceStore, digest: str, *, reason: str, by: str) -> Purge:
    """Remove the bytes of an artifact for good; the event that says so is written first.

    Whoever is killed between leaves the removal to `doctor --fix` or the next purge. The same bytes are
    kept again if a later observation names a file that holds them; copies in backups stay. Raises
    `EvidenceUnknown` for a digest that neither names an artifact nor is named, `PurgeRefused` for a blank
    or overlong reason, `EvidenceError` where the bytes cannot be removed, and the storage errors of a write.
    """
    if log.read_only:
        raise DatabaseReadOnly(f"{log.path} is open read-only", hint="open the workspace for writing")
    reason = reason.strip()
    if not 0 < len(reason) <= LONGEST_REASON:
        raise PurgeRefused(f"a purge needs a reason of 1 to {LONGEST_REASON:,} characters")
    path = store.path(digest)
    with log.transaction() as transaction:
        purged = _purged_at(transaction.connection, digest)
        if purged is not None and path.is_file():
            # An import may have kept the bytes again: what it names is no row of the list.
            purged = None if named_behind(transaction.connection, purged, (digest,)) else purged
        if purged is None:
            if not path.is_file() and not _is_named(transaction.connection, digest):
                raise EvidenceUnknown(
                    f"no evidence goes by {digest[:12]}…", hint="see what there is: workbench evidence list"
                )
            said = ArtifactPurged(domain=DOMAIN, sha256=digest, reason=reason, by=by)
            position = transaction.append(said.stream, [said]).last_position
        else:
            position = purged
    removed = remove_purged(log, store, {digest: position})
    return Purge(digest, position, removed > 0, purged is not None)


def remove_purged(log: EventLog, store: EvidenceStore, purged: dict[str, int]) -> int:
    """Remove the bytes of these digests that nothing names behind the position given; how many were there.

    Raises `EvidenceError`, and the storage errors of a write.
    """
    there = {digest: at for digest, at in purged.items() if store.path(digest).is_file()}
    if not there:
        return 0
    try:
        # Under the lock nobody keeps the same bytes for an event that is about to be appended.
        with log.database.transaction() as connection:
            again = named_behind(connection, min(there.values()), there)
            withdrawn = store.withdraw(each for each in there if again.get(each, 0) <= there[each])
        withdrawn.wipe()
    except OSError as error:
        raise EvidenceError(
            f"evidence under {store.folder} cannot be removed: {error.strerror or error}",
            hint="check the permissions, then finish it with: workbench doctor --fix",
        ) from error
    return len(withdrawn)


def named_behind(connection: apsw.Connection, position: int, digests: Iterable[str]) -> dict[str, int]:
    """Which of these digests stand in events behind a position, whatever they mean there; and where last."""
    wanted = {digest.encode() for digest in digests}
    found: dict[str, int] = {}
    sql = (
        "SELECT position, CAST(payload AS BLOB) FROM events WHERE position > ? "
        "AND type_id NOT IN (SELECT type_id FROM event_types WHERE type = 'artifact.purged') "
        "ORDER BY position"
    )
    for at, payload in connection.execute(sql, (position,)) if wanted else ():
        for digest in wanted.intersection(_DIGEST.findall(payload)):
            found[digest.decode()] = at
    return found


def find_digest(log: EventLog, store: EvidenceStore, beginning: str) -> str:
    """The digest that begins so: of what is named, was purged or lies there.

    Raises `EvidenceUnknown` if none does, several do, or it is no beginning of at least four hex digits.
    """
    from workbench.workspace.readers.evidence_queries import EvidenceReader

    wanted = beginning.strip().lower()
    hint = "see what there is: workbench evidence list"
    if not _PREFIX.fullmatch(wanted):
        raise EvidenceUnknown("evidence is called by four or more hex digits of its digest", hint=hint)
    found = set(EvidenceReader(log).digests(wanted, _LISTED))
    folder = store.folder / wanted[:2] / wanted[2:4]
    found |= {path.name for path in folder.glob(f"{wanted}*") if _PREFIX.fullmatch(path.name)}
    whole = sorted(each for each in found if len(each) == 64)
    if not whole:
        raise EvidenceUnknown(f"no evidence goes by {wanted[:12]}", hint=hint)
    if len(whole) > 1:
        named = ", ".join(each[: max(12, len(wanted) + 4)] for each in whole[:3])
        raise EvidenceUnknown(f"several begin with {wanted[:64]}: {named}", hint="give more of its digits")
    return whole[0]


def _purged_at(connection: apsw.Connection, digest: str) -> int | None:
    """Where it was purged, unless an observation has kept the bytes again."""
    found: int | None = fetch.value(
        connection,
        "SELECT position FROM purged_artifacts p WHERE sha256 = ?1 AND NOT EXISTS("
        "SELECT 1 FROM evidence_links l WHERE l.sha256 = ?1 AND l.position > p.position)",
        (digest,),
    )
    return found


def _is_named(connection: apsw.Connection, digest: str) -> bool:
    sql = "SELECT 1 FROM evidence_links WHERE sha256 = ?"
    return fetch.value(connection, sql, (digest,)) is not None
