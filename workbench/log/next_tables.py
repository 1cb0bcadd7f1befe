"""A fold's tables under other names: `<table>__next` while they are built, `<table>__old` once replaced.

The fold itself knows only its own names. What it executes is renamed on its way to SQLite, and
SQLite is told to refuse whatever touches another table, so that a fold which says a name in a way
that is not understood here fails instead of writing beside its target.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, cast

import apsw

from workbench.log.background_folds import InvalidFold
from workbench.log.folds import InlineFold
from workbench.storage import fetch

NEXT = "__next"
OLD = "__old"

_CREATED = re.compile(r"\s*CREATE\s+(?:(?:VIRTUAL\s+)?TABLE|(?:UNIQUE\s+)?INDEX)\s+(\w+)", re.IGNORECASE)
_TABLE = re.compile(r"\s*CREATE\s+(?:VIRTUAL\s+)?TABLE", re.IGNORECASE)
_SETTING = re.compile(r"\s*INSERT\s+INTO\s", re.IGNORECASE)
_WRITES = (apsw.SQLITE_INSERT, apsw.SQLITE_UPDATE, apsw.SQLITE_DELETE)


class NextTables:
    """The tables of one fold, being built beside the ones in use."""

    def __init__(self, fold: InlineFold) -> None:
        """Raises `InvalidFold` for a schema of anything but tables, indexes and settings of full text."""
        self.fold = fold
        self._indexes: list[str] = []
        tables: list[str] = []
        for statement in fold.schema:
            if created := _CREATED.match(statement):
                (tables if _TABLE.match(statement) else self._indexes).append(created[1])
            elif not _SETTING.match(statement):
                raise InvalidFold(f"the fold {fold.name} lays out something that cannot be rebuilt")
        if set(tables) != set(fold.tables):
            raise InvalidFold(f"the fold {fold.name} creates other tables than it owns")
        names = "|".join(map(re.escape, (*tables, *self._indexes)))
        # A quoted text is one match, which stays as it is.
        self._names = re.compile(rf"'(?:[^']|'')*'|\b(?:{names})\b", re.IGNORECASE)
        self._renamed: dict[str, str] = {}
        self._live = frozenset(name.lower() for name in tables)

    def renamed(self, sql: str) -> str:
        """The statement with `__next` behind each of the fold's own names."""
        found = self._renamed.get(sql)
        if found is None:
            found = self._names.sub(lambda m: m[0] if m[0].startswith("'") else m[0] + NEXT, sql)
            self._renamed[sql] = found
        return found

    def create(self, connection: apsw.Connection) -> None:
        """Lay the tables out, empty; they must not be there yet."""
        for statement in self.fold.schema:
            connection.execute(self.renamed(statement))
        for table in self.fold.tables:
            # The hidden columns of full text are called after their table, and that is as it should be.
            sql = "SELECT name FROM pragma_table_info(?)"
            for (column,) in fetch.rows(connection, sql, (table + NEXT,)):
                if column.endswith(NEXT):
                    raise InvalidFold(f"the fold {self.fold.name} has a column named as a table: {column}")

    @contextmanager
    def redirected(self, connection: apsw.Connection) -> Iterator[apsw.Connection]:
        """Lend what the fold's `apply` takes for its connection; it has `execute` and what counts changes.

        Raises `InvalidFold` if the fold touches something else than its own tables meanwhile.
        """
        before = connection.authorizer
        connection.authorizer = self._authorize
        try:
            yield cast(apsw.Connection, _Redirected(connection, self))
        except apsw.AuthError as error:
            raise InvalidFold(f"the fold {self.fold.name} reaches beyond its tables: {error}") from error
        finally:
            connection.authorizer = before

    def _authorize(self, operation: int, name: str | None, *_: str | None) -> int:
        table = (name or "").lower()
        if operation in _WRITES:
            # Full text writes what it holds back whenever it likes, in the middle of another fold too.
            allowed = table.endswith(NEXT) or f"{NEXT}_" in table
        else:
            allowed = operation != apsw.SQLITE_READ or table not in self._live
        return apsw.SQLITE_OK if allowed else apsw.SQLITE_DENY

    def swap(self, connection: apsw.Connection, retired: Sequence[str] = ()) -> None:
        """Put the tables in the place of those in use, which become `__old`, as do the `retired` ones.

        Costs the same however large they are. Runs inside the caller's transaction.
        """
        # Otherwise a view of a table would follow it to its old name.
        connection.execute("PRAGMA legacy_alter_table=ON")
        try:
            replaced = [*self.fold.tables, *retired]
            there = {name for (name,) in fetch.rows(connection, "SELECT name FROM sqlite_schema")}
            for table in replaced:
                if table in there:
                    _set_aside(connection, table)
            for table in self.fold.tables:
                connection.execute(f'ALTER TABLE "{table}{NEXT}" RENAME TO "{table}"')
        finally:
            connection.execute("PRAGMA legacy_alter_table=OFF")
        _rename_indexes(connection, replaced, self._indexes, self.fold.tables)


def _set_aside(connection: apsw.Connection, table: str) -> None:
    """Rename a table in use to `__old`; one of full text that is too damaged for that, its parts."""
    try:
        connection.execute(f'ALTER TABLE "{table}" RENAME TO "{table}{OLD}"')
        return
    except apsw.SQLError:
        # A virtual table has no page of its own; its text may be what is damaged.
        if fetch.value(connection, "SELECT rootpage FROM sqlite_schema WHERE name = ?", (table,)):
            raise
    connection.execute("PRAGMA writable_schema=ON")
    try:
        connection.execute("DELETE FROM sqlite_schema WHERE name = ?", (table,))
    finally:
        connection.execute("PRAGMA writable_schema=RESET")
    # Without it they are tables like any other.
    like = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name GLOB ? AND name NOT GLOB ?"
    for (part,) in fetch.rows(connection, like, (f"{table}_*", f"{table}{NEXT}*")):
        connection.execute(f'ALTER TABLE "{part}" RENAME TO "{table}{OLD}{part.removeprefix(table)}"')


class _Redirected:
    """The part of a connection that a fold uses, with its names renamed."""

    def __init__(self, connection: apsw.Connection, tables: NextTables) -> None:
        self._connection = connection
        self._tables = tables
        self.changes = connection.changes
        self.total_changes = connection.total_changes
        self.last_insert_rowid = connection.last_insert_rowid

    def execute(self, statements: str, bindings: Any = None) -> apsw.Cursor:
        return self._connection.execute(self._tables.renamed(statements), bindings)

    def executemany(self, statements: str, bindings: Any) -> apsw.Cursor:
        return self._connection.executemany(self._tables.renamed(statements), bindings)


def _rename_indexes(
    connection: apsw.Connection, replaced: Sequence[str], indexes: Sequence[str], tables: Sequence[str]
) -> None:
    """Give the indexes the names that belong to their tables' new ones.

    SQLite cannot rename an index, and building it again would take as long as it is large; so its
    name is changed where it is kept. The layout is then the very text that a new file has.
    """
    sql = "SELECT name, sql FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL AND tbl_name = ?"
    changes: list[tuple[str, str, str]] = []
    for table in replaced:
        for name, text in fetch.rows(connection, sql, (table + OLD,)):
            changes.append((name + OLD, _with_name(text, name, name + OLD), name))
    for index in indexes:
        text = fetch.value(connection, "SELECT sql FROM sqlite_schema WHERE name = ?", (index + NEXT,))
        changes.append((index, _with_name(text, index + NEXT, index), index + NEXT))
    connection.execute("PRAGMA writable_schema=ON")
    try:
        for name, text, before in changes:
            connection.execute(
                "UPDATE sqlite_schema SET name = ?, sql = ? WHERE type = 'index' AND name = ?",
                (name, text, before),
            )
        for name, text in _requoted(connection, tables):
            connection.execute("UPDATE sqlite_schema SET sql = ? WHERE name = ?", (text, name))
    finally:
        # Also makes this connection read the layout again; the others notice it by the renamed tables.
        connection.execute("PRAGMA writable_schema=RESET")


def _requoted(connection: apsw.Connection, tables: Sequence[str]) -> list[tuple[str, str]]:
    """What stands in the layout by name, with the quotes that renaming has put there as they were before."""
    changed: list[tuple[str, str]] = []
    for table in tables:
        for name, own, sql in fetch.rows(
            connection,
            "SELECT name, tbl_name, sql FROM sqlite_schema WHERE sql IS NOT NULL "
            "AND (tbl_name = ?1 OR tbl_name LIKE replace(?1, '_', '!_') || '!_%' ESCAPE '!')",
            (table,),
        ):
            plain = own if own == table else f"'{own}'"
            if f'"{own}"' in sql:
                changed.append((name, sql.replace(f'"{own}"', plain, 1)))
    return changed


def _with_name(sql: str, before: str, after: str) -> str:
    """The text of CREATE INDEX with another name."""
    return re.sub(rf"\b{re.escape(before)}\b", after, sql, count=1)
