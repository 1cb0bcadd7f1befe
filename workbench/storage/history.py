"""The numbered steps that lead a file to its schema, and their SQL (contract workspace, "Schema")."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import apsw

from workbench.storage.errors import SchemaError

_FILE = re.compile(r"(\d{4})_(\w+)\.sql", re.ASCII)
_NOTHING = re.compile(r"(?:\s|--[^\n]*(?:\n|\Z)|/\*.*?\*/)*", re.DOTALL)
"""Blanks and comments."""


class MigrationError(SchemaError):
    """The steps themselves are wrong, or one of them failed; the file was left as it was."""

    code = "migration"


class Migration(NamedTuple):
    """One step from the schema before it."""

    version: int
    """The schema that it leads to, from 1."""
    name: str
    path: Path | None
    """Its SQL; None where there is nothing to run."""

    @property
    def what(self) -> str:
        """One sentence for a person, from the comment at the beginning of the file."""
        words: list[str] = []
        for line in self._text().splitlines():
            if not line.startswith("--"):
                break
            words.append(line.removeprefix("--").strip())
        return " ".join(words).strip() or f"{self.name.replace('_', ' ').capitalize()}."

    def statements(self) -> tuple[str, ...]:
        """What it runs, in order. Raises `MigrationError` for a file that ends inside a statement."""
        try:
            return tuple(statements(self._text()))
        except IncompleteScript as error:
            raise MigrationError(f"{self.path}: {error}", hint=_BROKEN) from None

    def _text(self) -> str:
        if self.path is None:
            return ""
        try:
            return self.path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise MigrationError(f"{self.path} cannot be read: {error}", hint=_BROKEN) from error


_BROKEN = "this installation is incomplete; install the program anew"


class History:
    """Every step that a release knows, from 1 without a gap."""

    def __init__(self, migrations: Sequence[Migration]) -> None:
        """Raises `MigrationError` for two steps of one number, or a gap, naming the files."""
        self.migrations = tuple(sorted(migrations))
        for index, migration in enumerate(self.migrations):
            before = self.migrations[index - 1] if index else None
            if before is not None and before.version == migration.version:
                raise MigrationError(
                    f"two migrations have one number: {before.path} and {migration.path}", hint=_BROKEN
                )
            if migration.version != index + 1:
                raise MigrationError(
                    f"there is no migration {index + 1:04} before {migration.path}", hint=_BROKEN
                )
        if not self.migrations:
            raise MigrationError("there are no migrations", hint=_BROKEN)

    @classmethod
    def load(cls, folder: Path) -> History:
        """The steps in a folder of files `NNNN_name.sql`; other files are passed over.

        Only names are read here. Raises what making a history raises, and `MigrationError` for an SQL
        file that is named otherwise, or a folder that cannot be read.
        """
        found: list[Migration] = []
        try:
            names = [entry.name for entry in folder.iterdir()]
        except OSError as error:
            raise MigrationError(f"{folder} cannot be read: {error.strerror}", hint=_BROKEN) from error
        for name in names:
            if match := _FILE.fullmatch(name):
                found.append(Migration(int(match[1]), match[2], folder / name))
            elif name.endswith(".sql"):
                raise MigrationError(
                    f"{folder / name} is not named like a migration, as 0002_name.sql", hint=_BROKEN
                )
        try:
            return cls(found)
        except MigrationError as error:
            if found:
                raise
            raise MigrationError(f"{error.message} in {folder}", hint=error.hint) from None

    @property
    def version(self) -> int:
        """The newest schema."""
        return self.migrations[-1].version

    def after(self, version: int) -> tuple[Migration, ...]:
        """The steps that a file of this schema still has before it."""
        return self.migrations[max(version, 0) :]


FIRST = History((Migration(1, "first", None),))
"""Of a log on its own, whose tables have not changed since the first release."""


class IncompleteScript(ValueError):
    """A script ends inside a statement, a text or a comment."""


def statements(script: str) -> Iterator[str]:
    """Each statement of a script, as SQLite itself tells where one ends; comments between them stay out.

    Texts, comments and triggers may hold semicolons. Raises `IncompleteScript`, after the statements
    that are whole.
    """
    start = end = 0
    while (end := script.find(";", end) + 1) > 0:
        blanks = _NOTHING.match(script, start)
        assert blanks is not None
        if blanks.end() >= end:
            # This semicolon stands in a comment before the statement.
            continue
        statement = script[blanks.end() : end]
        if statement == ";":
            start = end
        elif apsw.complete(statement):
            yield statement.removesuffix(";")
            start = end
    rest = script[start:]
    blanks = _NOTHING.match(rest)
    if blanks is None or blanks.end() < len(rest):
        text = " ".join(rest[0 if blanks is None else blanks.end() :].split())
        raise IncompleteScript(f"ends inside a statement: {text[:60]}")
