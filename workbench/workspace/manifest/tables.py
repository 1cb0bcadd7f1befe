"""Tables of a manifest, checked key by key; what is wrong or unknown in them is noted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from msgspec import Struct

from workbench.workspace.manifest.at import At
from workbench.workspace.manifest.checks import Check
from workbench.workspace.manifest.problems import Findings, Wrong, dotted

Entry = TypeVar("Entry", bound=Struct)


class Tables:
    """The values of one file."""

    def __init__(self, values: dict[str, Any], findings: Findings) -> None:
        self.values = values
        self.findings = findings
        self.unknown: dict[str, Any] = {}
        """Values of keys that the program does not know, by dotted key."""

    def table(self, at: At) -> dict[str, Any]:
        """The table at a place; an empty one where there is none."""
        found: Any = self.values
        for part in at:
            if not isinstance(found, dict):
                return {}
            found = found.get(str(part), {})
        if isinstance(found, dict):
            return found
        self.findings.error(at, f"expected a table [{'.'.join(map(str, at))}]")
        return {}

    def section(self, at: At, keys: Mapping[str, Check], *, tables: tuple[str, ...] = ()) -> dict[str, Any]:
        """The checked values of the table at a place, those that are there; `tables` are read elsewhere."""
        return self._values_of(at, self.table(at), keys, tables)

    def _values_of(
        self, at: At, table: Mapping[str, Any], keys: Mapping[str, Check], tables: tuple[str, ...] = ()
    ) -> dict[str, Any]:
        kept: dict[str, Any] = {}
        for key, value in table.items():
            check = keys.get(key)
            if check is not None:
                checked = self.checked((*at, key), value, check)
                if checked is not None:
                    kept[key] = checked
            elif key not in tables:
                self.note_unknown((*at, key), value, (*keys, *tables))
        return kept

    def entries(
        self,
        key: str,
        kind: type[Entry],
        keys: Mapping[str, Check],
        inside: At = (),
        *,
        needs: tuple[str, ...] = ("id",),
    ) -> list[tuple[int, Entry]]:
        """The good entries of an array of tables, each with its number in the file."""
        at = (*inside, key)
        header = f"[[{'.'.join(map(str, at))}]]"
        found = (self.table(inside) if inside else self.values).get(key, [])
        if not isinstance(found, list):
            self.findings.error(at, f"expected entries that begin with {header}")
            return []
        entries: list[tuple[int, Entry]] = []
        for number, each in enumerate(found):
            place = (*at, number)
            if not isinstance(each, dict):
                self.findings.error(place, "expected a table in each place of the list")
                continue
            kept = self._values_of(place, each, keys)
            missing = [need for need in needs if need not in each]
            for need in missing:
                article = "an" if need[0] in "aeiou" else "a"
                self.findings.error(place, f'the {header} entry needs {article} {need}: {need} = "…"')
            if all(need in kept for need in needs):
                entries.append((number, kind(**kept)))
        return entries

    def checked(self, at: At, value: Any, check: Check) -> Any:
        """The value as the program uses it; None, and a note, where it is wrong."""
        try:
            return check(value)
        except Wrong as wrong:
            for below, message in wrong.found:
                self.findings.error((*at, *below), message)
            return None

    def note_unknown(self, at: At, value: Any, known: tuple[str, ...]) -> None:
        self.unknown[dotted(at)] = value
        self.findings.unknown(at, known)
