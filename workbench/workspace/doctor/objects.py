"""Whether a file holds the tables and indexes that this release lays out, and nothing that acts on them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import apsw

from workbench.log import leftovers
from workbench.log.fold_changes import EVERY_SCHEMA
from workbench.log.folds import InlineFold
from workbench.storage import fetch, schema
from workbench.workspace.doctor.report import Commands, Finding, Noted, Severity, named, sentence
from workbench.workspace.folds import FOLDS, TABLES
from workbench.workspace.migrations import HISTORY

CODES = frozenset(f"{thing}_{how}" for thing in ("table", "index") for how in ("missing", "differs")) | {
    "foreign_trigger",
    "foreign_index",
}
"""Of the findings that concern one object each and that `--fix` may mend one by one."""

FOLD_POSITIONS = "folds"
"""The table that says how far each projection has come."""
JOBS = "jobs"

_SINGLY = 20
"""Objects of a kind that have a finding each; the rest of them share one."""
_NAME_CHARS = 60
_SQL_CHARS = 500
_UNIQUE = re.compile(r"CREATE UNIQUE INDEX \w+ ON \w+\((?P<columns>\w+(?:, \w+)*)\)$")
_SQL = (
    "SELECT type, CAST(name AS BLOB), CAST(tbl_name AS BLOB), CAST(sql AS BLOB) FROM sqlite_schema "
    "ORDER BY rowid"
)
_WORDS = re.compile(r"'(?:[^']|'')*'|\w+|[^\w\s]")


class Laid(NamedTuple):
    """Something that a file's layout holds."""

    kind: str
    """`table`, `index`, `view` or `trigger`."""
    name: str
    table: str
    """The table or view that it is, or belongs to."""
    sql: str

    @property
    def key(self) -> tuple[bool, str]:
        """What no two of a file share: triggers have names of their own."""
        return self.kind == "trigger", self.name.lower()

    @property
    def shown(self) -> str:
        """Its name for a sentence, cut where it is long."""
        return self.name if len(self.name) <= _NAME_CHARS else f"{self.name[:_NAME_CHARS]}…"

    @property
    def made_with(self) -> str:
        """Its statement for a sentence, cut where it is long."""
        return self.sql if len(self.sql) <= _SQL_CHARS else f"{self.sql[:_SQL_CHARS]}…"


class _Again(NamedTuple):
    """Rows that an index refuses, for others have the same in its columns."""

    columns: str
    sql: str
    """Shows which."""


class Step(NamedTuple):
    """Statements that mend one thing, all of them or none."""

    name: str
    """Of what is made or dropped."""
    statements: tuple[str, ...]


class About(NamedTuple):
    """What a finding concerns."""

    name: str
    done: str
    """What is said of it once it was mended."""


class Objects(NamedTuple):
    """What a layout looks like beside the one that this release lays out."""

    findings: list[Finding]
    missing: frozenset[str]
    """Names, in lower case, of what is not there or is something else than it should be."""
    rebuilds: list[InlineFold]
    """Folds whose tables are not there or are others; a replay brings them back."""
    steps: list[Step]
    """What `--fix` runs, in order."""
    about: dict[Finding, About]
    """What each finding concerns."""
    whole: bool
    """Whether the log's own tables are the ones that this release writes to."""


def laid_out(folds: Sequence[InlineFold] = FOLDS) -> list[Laid]:
    """What a new file of this release holds, as SQLite itself lists it."""
    connection = apsw.Connection(":memory:")
    try:
        statements = (*EVERY_SCHEMA, *(each for fold in folds for each in fold.schema), *TABLES)
        schema.create(connection, statements, at="", history=HISTORY)
        return list(listed(connection))
    finally:
        connection.close()


def listed(connection: apsw.Connection) -> Iterator[Laid]:
    """Everything that a file's layout holds, but what SQLite keeps for itself."""
    for kind, *texts in fetch.rows(connection, _SQL):
        name, table, sql = ((text or b"").decode("utf-8", "backslashreplace") for text in texts)
        if kind in ("table", "index") and name.lower().startswith("sqlite_"):
            continue
        yield Laid(kind, name, table, sql)


def objects(
    connection: apsw.Connection, command: Commands, refused: Mapping[str, str] | None = None
) -> Objects:
    """Compare a file's layout with the one that this release lays out.

    The tables of a projection at another version are its own release's and are passed over, as is what
    rebuilds left behind. `refused` says, by name, why SQLite would not run a step before.
    """
    return _Comparison(connection, command, refused or {}).run()


class _Comparison:
    def __init__(self, connection: apsw.Connection, command: Commands, refused: Mapping[str, str]) -> None:
        self._connection = connection
        self._command = command
        self._refused = refused
        self._there = {each.key: each for each in listed(connection)}
        self._left = {name.lower() for name in leftovers.leftovers(connection)}
        stored = _stored_folds(connection) if (False, FOLD_POSITIONS) in self._there else None
        self._folds = [
            fold for fold in FOLDS if stored is None or stored.get(fold.name, fold.version) == fold.version
        ]
        self._is_ours = stored is None or stored.items() <= {(fold.name, fold.version) for fold in FOLDS}
        self._findings: list[Finding] = []
        self._counts: dict[str, Noted] = {}
        self._missing: set[str] = set()
        self._rebuilds: list[InlineFold] = []
        self._steps: list[Step] = []
        self._about: dict[Finding, About] = {}
        self._whole = True

    def run(self) -> Objects:
        expected = laid_out(self._folds)
        ours = {each.key for each in expected}
        strange = [each for each in self._there.values() if each.key not in ours]
        # What acts on our tables goes before anything is built there.
        for each in sorted(strange, key=lambda each: each.kind != "trigger"):
            self._stranger(each, {name for is_trigger, name in ours if not is_trigger})
        for each in sorted(expected, key=lambda each: each.kind != "table"):
            found = self._there.get(each.key)
            if found is not None and found.kind == each.kind and _plain(found.sql) == _plain(each.sql):
                continue
            self._missing.add(each.name.lower())
            if each.kind == "table":
                self._table(each, found, expected)
            elif each.table.lower() not in self._missing:
                self._index(each, found)
        for code, noted in self._counts.items():
            if noted.count > _SINGLY:
                finding = next(each for each in reversed(self._findings) if each.code == code)
                meaning = f"There are {noted.count - _SINGLY:,} more of the kind {code}."
                self._findings.append(Finding(finding.severity, code, meaning, finding.command))
        return Objects(
            self._findings, frozenset(self._missing), self._rebuilds, self._steps, self._about, self._whole
        )

    # -- what should be there ----------------------------------------------------------------

    def _table(self, each: Laid, found: Laid | None, expected: Sequence[Laid]) -> None:
        code = "table_missing" if found is None else "table_differs"
        said = f"the table {each.name} " + _how(found, each)
        fold = _fold_of(each.name, self._folds)
        if fold is not None:
            if fold not in self._rebuilds:
                self._rebuilds.append(fold)
            if each.name not in fold.tables and self._missing.intersection(fold.tables):
                # A part of full text that is gone as a whole.
                return
            if found is not None and found.kind == "view":
                self._steps.append(Step(each.name, (f"DROP VIEW {quoted(found.name)}",)))
            parts = [part.name for part in expected if part.name.startswith(f"{each.name}_")]
            if each.sql.startswith("CREATE VIRTUAL") and (found is None or found.kind == "view"):
                # Without the full text that they belong to, its parts stand in the way of new ones.
                left = [name for name in parts if (False, name.lower()) in self._there]
                self._steps += [Step(name, (f"DROP TABLE {quoted(name)}",)) for name in left]
            self._note(
                each.name, code, f"{said}; the projection {fold.name} can be built again", self._command.fix
            )
            return
        text = _text_of(each.name, expected)
        if text is not None and text.lower() in self._missing:
            # A part of full text that is gone as a whole.
            return
        # Of the others what is still there is worth more than an empty table.
        again = found is None or found.kind == "view" or each.name in (JOBS, FOLD_POSITIONS)
        if each.name not in _LOST or not again:
            self._whole = False
            more = [] if found is None else self._more_columns(each)
            if more:
                self._note(
                    each.name,
                    code,
                    f"the table {each.name} has columns that are none of ours, which --fix leaves to whoever "
                    f"added them: {named(more, len(more))}",
                    self._command.run(
                        "; ".join(
                            f"ALTER TABLE {quoted(each.name)} DROP COLUMN {quoted(name)}" for name in more
                        )
                    ),
                )
                return
            self._note(
                each.name,
                code,
                f"{said}; --fix leaves it alone, for {self._command.only_a_copy('what it held')}",
                self._command.copies if found is None else self._command.show(each.name),
            )
            return
        drop = [] if found is None else [f"DROP {found.kind.upper()} {quoted(found.name)}"]
        owned = [part for part in expected if _text_of(part.name, expected) == each.name]
        drop += [f"DROP TABLE {quoted(part.name)}" for part in owned if part.key in self._there]
        own = [other.sql for other in expected if other.kind == "index" and other.table == each.name]
        self._steps.append(Step(each.name, (*drop, each.sql, *own)))
        self._note(
            each.name, code, f"{said}; it can be laid out anew, empty: {_LOST[each.name]}", self._command.fix
        )

    def _index(self, each: Laid, found: Laid | None) -> None:
        said = f"the index {each.name} of {each.table} " + _how(found, each)
        code = "index_missing" if found is None else "index_differs"
        if found is not None and found.kind == "table":
            self._note(each.name, code, f"{said}, which may hold something", self._command.show(found.name))
            return
        again = self._again(each)
        if again is not None:
            copy = self._command.only_a_copy("the right one")
            why = f"rows of {each.table} have the same {again.columns}, and {copy}"
            look = self._command.run(again.sql)
            self._note(each.name, code, f"{said} and cannot be built again: {why}", look)
            return
        if each.name in self._refused:
            self._note(
                each.name,
                code,
                f"{said} and cannot be built again: {self._refused[each.name]}",
                self._command.show(each.table),
            )
            return
        drop = () if found is None else (f"DROP {found.kind.upper()} {quoted(found.name)}",)
        self._steps.append(Step(each.name, (*drop, each.sql)))
        self._note(
            each.name,
            code,
            f"{said}, so that lists stop or come slowly; it can be built again",
            self._command.fix,
        )

    def _more_columns(self, table: Laid) -> list[str]:
        """What a table has beside all of its columns; empty if any of those is not there."""
        alone = apsw.Connection(":memory:")
        try:
            alone.execute(table.sql)
            sql = "SELECT name FROM pragma_table_info(?) ORDER BY cid"
            ours, there = (
                [name for (name,) in fetch.rows(each, sql, (table.name,))]
                for each in (alone, self._connection)
            )
        except (apsw.SQLError, UnicodeDecodeError):
            return []
        finally:
            alone.close()
        return there[len(ours) :] if there[: len(ours)] == ours else []

    def _again(self, index: Laid) -> _Again | None:
        """Whether rows stand in the way of an index that is to be unique."""
        match = _UNIQUE.match(index.sql)
        if match is None:
            return None
        columns = match["columns"]
        there = " AND ".join(f"{column} IS NOT NULL" for column in columns.split(", "))
        sql = (
            f"SELECT group_concat(rowid) FROM {index.table} WHERE {there} "
            f"GROUP BY {columns} HAVING count(*) > 1 LIMIT 20"
        )
        try:
            return _Again(columns, sql) if fetch.rows(self._connection, sql) else None
        except apsw.SQLError:
            # The table is not the one that it should be either.
            return None

    # -- what should not be there ------------------------------------------------------------

    def _stranger(self, each: Laid, ours: set[str]) -> None:
        table = each.table.lower()
        if each.name.lower() in self._left or table in self._left:
            return
        if each.kind == "trigger":
            on_ours = table in ours and each.name not in self._refused
            drop = f"DROP TRIGGER {quoted(each.name)}"
            if on_ours:
                self._steps.append(Step(each.name, (drop,)))
            self._note(
                each.name,
                "foreign_trigger",
                f"a trigger that is none of ours, {each.shown}, hangs on "
                f"{Laid('table', each.table, '', '').shown} and may change or undo what is written",
                self._command.fix
                if on_ours
                else self._command.show(each.table)
                if table in ours
                else self._command.run(drop),
                critical=table in ours,
                done=f"the trigger {each.shown} on {each.table}, which was none of ours, is dropped; "
                f"it was made with ({each.made_with})",
            )
        elif each.kind == "index":
            if table in ours:
                self._steps.append(Step(each.name, (f"DROP INDEX {quoted(each.name)}",)))
                self._note(
                    each.name,
                    "foreign_index",
                    f"an index that is none of ours, {each.shown}, lies on {each.table} and may refuse "
                    "what is written",
                    self._command.fix,
                    done=f"the index {each.shown} on {each.table}, which was none of ours, is dropped; "
                    f"it was made with ({each.made_with})",
                )
        elif self._is_ours:
            # With a projection of another release its tables are not known here.
            name = quoted(each.name)
            look = f"SELECT * FROM {name} LIMIT 20" if each.kind == "table" else f"DROP VIEW {name}"
            self._note(
                each.name,
                f"foreign_{each.kind}",
                f"a {each.kind} that is none of ours lies in the database and is left alone: {each.shown}",
                self._command.run(look),
                critical=False,
            )

    def _note(
        self, name: str, code: str, meaning: str, command: str, *, critical: bool = True, done: str = ""
    ) -> None:
        noted = self._counts.setdefault(code, Noted())
        noted.count += 1
        if noted.count <= _SINGLY:
            severity: Severity = "critical" if critical else "warning"
            finding = Finding(severity, code, sentence(meaning), command)
            self._findings.append(finding)
            self._about[finding] = About(name, sentence(done) or finding.meaning)


_LOST = {
    JOBS: "the list of earlier jobs is gone",
    "import_sources": "files that were imported are read from their beginning again, and nothing twice",
    "projection_positions": "background projections begin anew",
    "filter_versions": "a rescan is due, as if the filter's rules had changed",
    "log_chain": "a write-ahead log that belongs to another file is told by less",
    "scrub_steps": "if a scrub was cut short, scrub once more",
    "chronicle_sections": "every section is gone, unless a backup or an export of the chronicles has it",
    "chronicle_prose": "the words of every section are read in again",
    "pin_scratch": "results that were drawn and not committed are drawn again",
    FOLD_POSITIONS: "every projection is built again",
}
"""By table what is lost where it is laid out anew; of the log's own tables that would be too much."""


def _how(found: Laid | None, expected: Laid) -> str:
    if found is None:
        return "is missing"
    if found.kind != expected.kind:
        return f"is a {found.kind}"
    return "is not laid out as this release does it"


def _stored_folds(connection: apsw.Connection) -> dict[str, int] | None:
    try:
        return dict(fetch.rows(connection, "SELECT name, version FROM folds"))
    except (apsw.SQLError, UnicodeDecodeError):
        return None


def _fold_of(table: str, folds: Iterable[InlineFold]) -> InlineFold | None:
    """The projection that owns a table, or the full text that a table is a part of."""
    owners = [
        (own, fold) for fold in folds for own in fold.tables if table == own or table.startswith(f"{own}_")
    ]
    return max(owners, key=lambda owner: len(owner[0]), default=(None, None))[1]


def _text_of(table: str, laid: Iterable[Laid]) -> str | None:
    """The full text that a table is a part of."""
    texts = (each.name for each in laid if each.sql.startswith("CREATE VIRTUAL"))
    return next((text for text in texts if table.startswith(f"{text}_")), None)


def _plain(sql: str) -> list[str]:
    """The words of a statement: blanks, and quotes around a plain name, say nothing."""
    words = (word.lower() if not word.startswith("'") else word for word in _WORDS.findall(sql))
    return [word.strip("'") if re.fullmatch(r"'\w+'", word) else word for word in words if word != '"']


def quoted(name: str) -> str:
    """A name for a statement, whatever it is made of."""
    return '"' + name.replace('"', '""') + '"'
