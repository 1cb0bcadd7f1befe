"""Whether the folds of a file are the ones this release knows, and hold what the events give."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from itertools import islice

import apsw

from workbench.log import leftovers, sqlite
from workbench.log.activity import HOUR
from workbench.log.errors import LogError
from workbench.log.event_log import EventLog
from workbench.log.folds import InlineFold
from workbench.log.replay import ReplayCancelled, fold_into, read_batch, replay
from workbench.storage import fetch
from workbench.storage.database import Database
from workbench.storage.errors import DatabaseDamaged, StorageError
from workbench.workspace.doctor import full_text
from workbench.workspace.doctor.report import Commands, Finding, Noted, sentence
from workbench.workspace.doctor.stages import Watch
from workbench.workspace.doctor.structure import is_full_text
from workbench.workspace.errors import Cancelled
from workbench.workspace.migrations import RETIRED

_TAIL_EVENTS = 5000
_ROWS = 1000
_NEARLY = 1 << 50
"""More rows than any table has."""
_WORDS = 10
"""Words compared at a time: to count one that stands in every event takes a while."""


def fold_set(
    connection: apsw.Connection, folds: Sequence[InlineFold], command: Commands
) -> tuple[list[Finding], list[InlineFold], list[InlineFold]]:
    """Findings; the folds that can be compared with a replay; those that stand where the log does not."""
    last = sqlite.last_position(connection)
    stored = {name: (version, at) for name, version, at in fetch.rows(connection, "SELECT * FROM folds")}
    differing, newer = Noted(), Noted()
    # In a damaged file a position may be anything.
    reached = min((position for _, position in stored.values() if isinstance(position, int)), default=0)
    known: list[InlineFold] = []
    astray: list[InlineFold] = []
    for fold in folds:
        version, position = stored.pop(fold.name, (None, 0))
        if version is not None and version > fold.version:
            newer.add(fold.name)
        elif version != fold.version:
            differing.add(fold.name)
        elif position != last:
            astray.append(fold)
        else:
            known.append(fold)
    for name in sorted(stored):
        (differing if name in RETIRED else newer).add(name)
    findings: list[Finding] = []
    if newer:
        findings.append(
            Finding(
                "critical",
                "fold_set_differs",
                "Nothing can be written, for a newer release folded this file; install a newer "
                f"chronicle-workbench: {newer}.",
                command.upgrade,
            )
        )
    elif differing:
        findings.append(
            Finding(
                "critical",
                "fold_set_differs",
                f"Nothing can be written, for another release folded this file: {differing}.",
                command.migrate,
            )
        )
    if astray and not known and reached > last:
        findings.append(
            Finding(
                "critical",
                "log_truncated",
                f"The log ends with event {last:,}, but every projection has seen {reached:,}: the last "
                f"events are gone, and {command.only_a_copy('them')}.",
                command.look(last),
            )
        )
    elif astray:
        names = ", ".join(fold.name for fold in astray)
        findings.append(
            Finding(
                "critical",
                "fold_position",
                f"Projections do not reach to event {last:,}, where the log ends, or beyond it: {names}.",
                command.fix,
            )
        )
    return findings, known, astray


def left_over(connection: apsw.Connection, command: Commands) -> Iterator[Finding]:
    """Tables of rebuilds that did not come to their end."""
    noted = Noted()
    for name in leftovers.leftovers(connection):
        noted.add(name)
    if noted:
        yield Finding(
            "info",
            "rebuild_leftovers",
            f"Tables of a rebuild are there that runs elsewhere right now or was stopped: {noted}.",
            command.fix,
        )


class Unreplayable(Exception):
    """Folding the events raised something; folds depend on nothing else, so it lies in the events."""

    def __init__(self, reason: Exception, since: int) -> None:
        super().__init__(str(reason))
        self.reason = reason
        self.since = since
        """The position up to which they could be folded."""


_NOT_THE_EVENTS = (StorageError, Cancelled, MemoryError, apsw.FullError, apsw.IOError, apsw.InterruptError)
"""What says nothing of the events: a full disk, a damaged page, a person who has seen enough."""


def replayed(
    database: Database, log: EventLog, folds: Sequence[InlineFold], scratch: apsw.Connection, watch: Watch
) -> int:
    """Fold the whole log into tables of `scratch`; the position reached.

    Raises `Cancelled`, `Unreplayable`, `apsw.FullError` and the storage errors of reads.
    """
    reached = 0

    def progress(position: int, end: int) -> None:
        nonlocal reached
        reached = position
        watch.step(position, end)

    try:
        return replay(database, folds, log.decoder, scratch, progress=progress, cancelled=watch.is_cancelled)
    except ReplayCancelled as error:
        raise Cancelled("the examination was stopped; nothing was changed") from error
    except DatabaseDamaged as error:
        # A payload in bytes that are no text is the event's fault alone: the pages are whole.
        if isinstance(error.__cause__, UnicodeDecodeError):
            raise Unreplayable(error.__cause__, reached) from error
        raise
    except _NOT_THE_EVENTS:
        raise
    except Exception as error:
        raise Unreplayable(error, reached) from error


def catch_up(
    connection: apsw.Connection,
    log: EventLog,
    folds: Sequence[InlineFold],
    scratch: apsw.Connection,
    position: int,
    watch: Watch,
) -> None:
    """Fold what came after `position` too, as far as the snapshot that `connection` holds.

    Raises what `replayed` raises, and `apsw.CorruptError`.
    """
    last = sqlite.last_position(connection)
    while position < last:
        watch.step(1, 1)
        try:
            batch = read_batch(connection, log.decoder, position, min(_TAIL_EVENTS, last - position))
            fold_into(scratch, folds, batch.events)
        except (*_NOT_THE_EVENTS, apsw.CorruptError):
            raise
        except Exception as error:
            raise Unreplayable(error, position) from error
        position = batch.upto


def compared(
    connection: apsw.Connection,
    scratch: apsw.Connection,
    folds: Sequence[InlineFold],
    command: Commands,
    watch: Watch,
    impossible: frozenset[int] = frozenset(),
) -> tuple[list[Finding], list[InlineFold]]:
    """The folds that differ from their replay in `scratch`: findings, and those that should be built again.

    A fold that would take over one of the `impossible` times that events bear should not: what it says of
    them is the last trace of what they were.
    """
    findings: list[Finding] = []
    differing: list[InlineFold] = []
    kept: list[InlineFold] = []
    tables = [(fold, table) for fold in folds for table in fold.tables]
    last = max(sqlite.last_position(connection), 1)
    for number, (fold, table) in enumerate(tables):
        watch.step(number, len(tables))

        def go_on(rows: int, number: int = number) -> None:
            # Most of the large tables have about a row for each event.
            watch.step(number * 1000 + min(1000 * rows // last, 999), len(tables) * 1000)

        if fold in differing or fold in kept:
            continue
        try:
            where = _difference(connection, scratch, table, go_on)
        except (apsw.CorruptError, apsw.SQLError, UnicodeDecodeError) as error:
            where = f"{table} cannot be read ({error})"
        if where and impossible and _takes_over(scratch, fold, impossible):
            kept.append(fold)
            findings.append(
                Finding(
                    "critical",
                    "fold_differs",
                    sentence(
                        f"the projection {fold.name} is not what its events give, and stays as it is, for "
                        f"built again it would take over a time that cannot be read ({where})"
                    ),
                    command.copies,
                )
            )
        elif where:
            differing.append(fold)
            findings.append(
                Finding(
                    "critical",
                    "fold_differs",
                    sentence(
                        f"the projection {fold.name} is not what its events give, so that lists and searches "
                        "may be wrong: one of the two was changed outside this program. Building it again "
                        f"takes the events at their word ({where})"
                    ),
                    command.fix,
                )
            )
    return findings, differing


def _takes_over(scratch: apsw.Connection, fold: InlineFold, impossible: frozenset[int]) -> bool:
    """Whether a replayed fold holds one of these times, in microseconds or in hours."""
    given = json.dumps(sorted(impossible | {moment // HOUR for moment in impossible}))
    for table in fold.tables:
        sql = "SELECT name FROM pragma_table_info(?) WHERE type = 'INTEGER'"
        for (column,) in fetch.rows(scratch, sql, (table,)):
            sql = f'SELECT 1 FROM "{table}" WHERE "{column}" IN (SELECT value FROM json_each(?)) LIMIT 1'
            if fetch.value(scratch, sql, (given,)):
                return True
    return False


def _difference(
    live: apsw.Connection, scratch: apsw.Connection, table: str, go_on: Callable[[int], None]
) -> str:
    """Where a table first differs, in words; empty if it does not."""
    if not is_full_text(scratch, table):
        sql = f'SELECT * FROM "{table}" ORDER BY {_key(scratch, table)}'
        return _first(table, "row", live.execute(sql), scratch.execute(sql), _ROWS, go_on)
    if full_text.lost_leaves(live, table):
        return f"{table} has words that no search finds"
    # How the index is cut into pieces depends on the transactions; which words it counts does not.
    found, expected = (_words(connection, table) for connection in (live, scratch))
    if where := _first(table, "word", found, expected, _WORDS, go_on):
        return where
    found, expected = (full_text.lengths(connection, table) for connection in (live, scratch))
    # The second look at one table: it is nearly done with, however many rows there are.
    return _first(table, "entry", found, expected, _ROWS, lambda rows: go_on(_NEARLY + rows))


def _first(
    table: str,
    unit: str,
    found: Iterator[tuple[object, ...]],
    expected: Iterator[tuple[object, ...]],
    page: int,
    go_on: Callable[[int], None],
) -> str:
    number = 0
    while True:
        ours, theirs = list(islice(found, page)), list(islice(expected, page))
        if ours != theirs:
            same = next(
                (at for at, (a, b) in enumerate(zip(ours, theirs, strict=False)) if a != b),
                min(len(ours), len(theirs)),
            )
            return f"{table} differs from {unit} {number + same + 1:,} on"
        if not ours:
            return ""
        number += len(ours)
        go_on(number)


def _key(connection: apsw.Connection, table: str) -> str:
    """The columns of the table's primary key, else all of them."""
    columns = fetch.rows(connection, "SELECT name, pk FROM pragma_table_info(?) ORDER BY pk, cid", (table,))
    key = [name for name, part in columns if part] or [name for name, _ in columns]
    return ", ".join(f'"{name}"' for name in key)


def _words(connection: apsw.Connection, table: str) -> Iterator[tuple[object, ...]]:
    """Each word of a full-text table by column: in how many entries, and how often."""
    name = f"temp.words_of_{table}"
    connection.execute(f"DROP TABLE IF EXISTS {name}")
    connection.execute(f"CREATE VIRTUAL TABLE {name} USING fts5vocab('main', '{table}', 'col')")
    return connection.execute(f"SELECT * FROM {name}")


def to_blame(connection: apsw.Connection, log: EventLog, folds: Sequence[InlineFold], since: int) -> int:
    """The position of the first event after `since`, up to which all went well, that cannot be read or
    that some fold cannot take; 0 if each of them can be taken alone."""
    alone = apsw.Connection(":memory:")
    try:
        for fold in folds:
            for statement in fold.schema:
                alone.execute(statement)
        while True:
            sql = "SELECT min(position) FROM events WHERE position > ?"
            position: int = fetch.value(connection, sql, (since,)) or 0
            if not position or not _can_be_taken(connection, log, folds, since, alone):
                return position
            since = position
    finally:
        alone.close()


def _can_be_taken(
    connection: apsw.Connection,
    log: EventLog,
    folds: Sequence[InlineFold],
    since: int,
    alone: apsw.Connection,
) -> bool:
    """Whether the first event after `since` can be read, and folded into the empty tables of `alone`."""
    alone.execute("BEGIN")
    try:
        fold_into(alone, folds, read_batch(connection, log.decoder, since, 1).events)
    except (*_NOT_THE_EVENTS, apsw.CorruptError):
        raise
    except Exception:
        return False
    finally:
        alone.execute("ROLLBACK")
    return True


def unreplayable(error: Exception, position: int, command: Commands) -> Finding:
    """Why the events could not be folded again; `position` is that of the event to blame, or 0."""
    # What a fold itself raises over a value that no event of ours has says little by itself.
    said = error.message if isinstance(error, LogError) else f"{type(error).__name__}: {error}"
    if position:
        said = f"event {position:,}: {said}"
    newer = isinstance(error, LogError) and error.code == "unknown_event_type"
    if newer:
        advice = "; install a newer chronicle-workbench"
    else:
        advice = f"; {command.only_a_copy('what it was')}" if position else ""
    return Finding(
        "critical",
        "replay_failed",
        sentence(f"the events cannot be folded again, so no projection was compared: {said}{advice}"),
        command.upgrade if newer else command.look(position) if position else command.copies,
    )


def damaged_while_read(
    error: DatabaseDamaged | UnicodeDecodeError | apsw.SQLError, command: Commands
) -> Finding:
    """The file broke off in the middle of a look."""
    if isinstance(error, DatabaseDamaged):
        said = error.message
    elif isinstance(error, UnicodeDecodeError):
        said = f"the database holds a broken text, {error}"
    else:
        said = f"the database is not laid out as it was, {error}"
    return Finding(
        "critical",
        "db_damaged",
        sentence(f"{said}: {command.rescue}"),
        command.recover,
    )
