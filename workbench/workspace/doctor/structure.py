"""Whether SQLite finds its own file sound, and every reference in it leads somewhere."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import apsw

from workbench.log.folds import InlineFold
from workbench.storage import fetch
from workbench.workspace.doctor.report import Commands, Finding, Noted, sentence

_MESSAGES = 100
"""SQLite stops looking after so many."""
_PAGE = re.compile(r"\b(?:Tree|Page|page|Freelist|Main freelist)\b")


class Structure(NamedTuple):
    """What `integrity` found."""

    findings: list[Finding]
    sound: bool
    """Whether everything but the folds' own tables is whole, so that it can be read and written."""
    folds: list[str]
    """Folds of which an index, or full text, does not fit its rows."""


def integrity(connection: apsw.Connection, folds: Sequence[InlineFold], command: Commands) -> Structure:
    """SQLite's own check, full text included; what concerns folds alone is told apart: it can be rebuilt."""
    try:
        messages = [
            text for (text,) in fetch.rows(connection, f"PRAGMA integrity_check({_MESSAGES})") if text != "ok"
        ]
    except (apsw.CorruptError, apsw.SQLError) as error:
        return _table_by_table(connection, folds, command, error)
    owners = _owners(connection, folds)
    damaged: dict[str, str] = {}
    other: list[str] = []
    for message in messages:
        owner = None if _PAGE.search(message) else _owner(message, owners)
        if owner is None:
            other.append(message)
        else:
            damaged.setdefault(owner, message)
    return _structure(damaged, other, command)


def _table_by_table(
    connection: apsw.Connection, folds: Sequence[InlineFold], command: Commands, stopped: apsw.Error
) -> Structure:
    """Where the whole check broke off: whether the tables of folds alone are to blame for that."""
    damaged: dict[str, str] = {}
    try:
        owners = {table: fold.name for fold in folds for table in fold.tables}
        tables = fetch.rows(connection, "SELECT name FROM sqlite_schema WHERE type = 'table'")
        for (table,) in tables:
            quoted = table.replace("'", "''")
            try:
                rows = fetch.rows(connection, f"PRAGMA integrity_check('{quoted}')")
                said = next((text for (text,) in rows if text != "ok"), "")
            except apsw.SQLError as error:
                said = str(error)
            if _PAGE.search(said):
                # Nothing must be written to a file with a broken page, whoever owns that.
                damaged = {}
                break
            if said:
                damaged[owners[table]] = said
    except (KeyError, apsw.CorruptError, apsw.SQLError, UnicodeDecodeError):
        damaged = {}
    if damaged:
        return _structure(damaged, [], command)
    return _structure({}, [f"the database page check stopped: {stopped}"], command)


def _structure(damaged: dict[str, str], other: Sequence[str], command: Commands) -> Structure:
    findings = [
        Finding(
            "critical",
            "fold_damaged",
            sentence(f"the projection {name} is damaged and can be built again from the events ({message})"),
            command.fix,
        )
        for name, message in damaged.items()
    ]
    if other:
        findings.append(_damaged(other, command))
    return Structure(findings, not other, list(damaged))


def _damaged(messages: Sequence[str], command: Commands) -> Finding:
    noted = Noted()
    for message in messages:
        noted.add(" ".join(message.split()))
    return Finding(
        "critical",
        "db_damaged",
        sentence(f"the database file is damaged: {command.rescue} ({noted})"),
        command.recover,
    )


def _owners(connection: apsw.Connection, folds: Sequence[InlineFold]) -> dict[str, str]:
    """By name of a table, an index or a part of full text the fold that owns it."""
    owners: dict[str, str] = {}
    for fold in folds:
        for table in fold.tables:
            owners[table] = fold.name
            sql = "SELECT name FROM sqlite_schema WHERE tbl_name = ?1 OR (?2 AND name GLOB ?1 || '_*')"
            for (name,) in fetch.rows(connection, sql, (table, is_full_text(connection, table))):
                owners[name] = fold.name
    return owners


def _owner(message: str, owners: dict[str, str]) -> str | None:
    # The longest first: one name may begin with another.
    for name in sorted(owners, key=len, reverse=True):
        if re.search(rf"\b{re.escape(name)}\b", message):
            return owners[name]
    return None


def is_full_text(connection: apsw.Connection, table: str) -> bool:
    """Whether a table is one of FTS5."""
    sql = fetch.value(connection, "SELECT sql FROM sqlite_schema WHERE name = ?", (table,)) or ""
    return bool(re.match(r"CREATE VIRTUAL TABLE\s+\S+\s+USING fts5", sql, re.IGNORECASE))


def foreign_keys(connection: apsw.Connection, command: Commands) -> Iterator[Finding]:
    """References that lead nowhere."""
    noted = Noted()
    try:
        for table, row, parent, _ in connection.execute("PRAGMA foreign_key_check"):
            noted.add(f"row {row} of {table} names a missing row of {parent}")
    except apsw.SQLError as error:
        # The layout itself is not what was laid out.
        yield _damaged([str(error)], command)
    if noted:
        yield Finding(
            "critical",
            "foreign_keys",
            sentence(
                f"references lead nowhere, so the file was changed by something else, and "
                f"{command.only_a_copy()}: {noted}"
            ),
            command.run("PRAGMA foreign_key_check"),
        )
