"""A manifest looked through for what can be meant and hardly is: only where somebody asks.

Reading one does none of this: folders are looked at, and the secret filter is loaded.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from workbench.identity.folding import fold
from workbench.redaction import default_filter
from workbench.workspace.errors import ManifestError
from workbench.workspace.manifest.at import At
from workbench.workspace.manifest.problems import Findings, Problem
from workbench.workspace.manifest.reading import parse, read_bytes

SHORTEST_RULE = 3
"""Characters of a rule that tells agents apart; with fewer it finds nearly every name."""

CONSOLIDATED = ("session", "task", "project", "domain")
"""Kinds of streams that may have a chronicle."""
_KINDS = ("projects", "domains", "agents")
_RULES = {"prefixes": "begin so", "contains": "hold it"}
_RANK = {"error": 0, "warning": 1, "info": 2}


def check_manifest(path: Path) -> tuple[Problem, ...]:
    """All that is wrong (`error`), odd (`warning`) or to be known (`info`) of a manifest, by line.

    Only an error stops a manifest from being used. Raises `WorkspaceMissing` where there is no file.
    """
    try:
        raw, _ = read_bytes(path)
    except ManifestError as error:
        return error.problems
    try:
        problems = parse(path, raw).problems
    except ManifestError as error:
        problems = error.problems
    try:
        values = tomllib.loads(raw.decode("utf-8-sig"))
    except (ValueError, OverflowError, RecursionError):
        return problems
    findings = Findings(path, raw)
    _Advice(path.parent, values, findings).give()
    found = (*problems, *findings.problems())
    return tuple(sorted(found, key=lambda each: (each.line, _RANK[each.severity])))


def closing_problems(path: Path) -> tuple[Problem, ...]:
    """What `check_manifest` warns of in what closes a stretch: streams that are not written up for it."""
    found = check_manifest(path)
    return tuple(
        each for each in found if each.severity == "warning" and each.key.startswith("chronicle.close")
    )


class _Named(NamedTuple):
    at: At
    id: str
    entry: dict[str, Any]


class _Advice:
    """Goes through values of any kind, since those of a wrong kind are somebody else's to name."""

    def __init__(self, folder: Path, values: dict[str, Any], findings: Findings) -> None:
        self._folder = folder
        self._values = values
        self._findings = findings

    def give(self) -> None:
        session = self._values.get("session")
        owner = session.get("owner") if isinstance(session, dict) else None
        if isinstance(owner, str) and not owner.strip():
            self._findings.warning(
                ("session", "owner"),
                "the owner is blank; name whose sessions these are, or leave the key out",
            )
        for kind in _KINDS:
            entries = list(self._entries(kind))
            self._repeated(entries)
            for named in entries:
                self._secrets(named)
        self._roots()
        self._closing()
        for named in self._entries("agents"):
            self._rules(named)

    def _entries(self, kind: str) -> Iterator[_Named]:
        entries = self._values.get(kind)
        for number, entry in enumerate(entries if isinstance(entries, list) else ()):
            if isinstance(entry, dict) and isinstance(entry.get("id"), str):
                yield _Named((kind, number), entry["id"], entry)

    def _repeated(self, entries: list[_Named]) -> None:
        seen: set[str] = set()
        for named in entries:
            key = fold(named.id)
            if key in seen:
                self._findings.info(
                    (*named.at, "id"), "there is an entry of this id before; they add up to one"
                )
            seen.add(key)

    def _secrets(self, named: _Named) -> None:
        spellings = [(("id",), named.id), *((("aliases", n), each) for n, each in _texts(named, "aliases"))]
        redactor = default_filter()
        for below, spelling in spellings:
            if redactor.redact_text(spelling)[1]:
                self._findings.warning(
                    (*named.at, *below),
                    "the name holds what looks like a secret, and no record can be written under it; take it "
                    "out here, and withdraw the secret",
                )

    def _roots(self) -> None:
        owners: dict[str, str] = {}
        for named in self._entries("projects"):
            for number, given in _texts(named, "roots"):
                at = (*named.at, "roots", number)
                try:
                    root = self._folder / Path(given).expanduser()
                except RuntimeError:
                    continue
                if not given.strip() or "\0" in given:
                    continue
                if not Path(given).expanduser().is_absolute():
                    self._findings.warning(
                        at, "the folder is meant from the manifest's; write it from / or ~"
                    )
                place = os.path.normpath(root)
                owner = owners.setdefault(place, named.id.strip())
                if fold(owner) != fold(named.id):
                    self._findings.warning(
                        at,
                        f"the folder is a root of {self._shown(owner)} too, which gets the sessions in it; "
                        "take it out of one of the two",
                    )
                if not _is_folder(place):
                    self._findings.warning(at, "there is no such folder; no session can be found by it")

    @staticmethod
    def _shown(name: str) -> str:
        return repr(default_filter().redact_text(name)[0])

    def _closing(self) -> None:
        chronicle = self._values.get("chronicle")
        close = chronicle.get("close") if isinstance(chronicle, dict) else None
        if not isinstance(close, dict) or not close:
            return
        # Only where somebody asks: it loads every type of event.
        from workbench.chronicle.boundaries import pairs
        from workbench.workspace.folds import event_types

        registry = event_types()
        for kind, types in close.items():
            at: At = ("chronicle", "close", kind)
            if kind not in CONSOLIDATED:
                kinds = ", ".join(CONSOLIDATED)
                self._findings.warning(at, f"there are no streams of this kind; they are {kinds}")
            for number, name in enumerate(types if isinstance(types, list) else ()):
                if isinstance(name, str) and registry.get(*pairs([name])[0]) is None:
                    self._findings.warning(
                        (*at, number),
                        "there are no events of this type, and so nothing is consolidated by it",
                    )

    def _rules(self, named: _Named) -> None:
        for key, does in _RULES.items():
            for number, rule in _texts(named, key):
                length = len(fold(rule))
                if 0 < length < SHORTEST_RULE:
                    self._findings.warning(
                        (*named.at, key, number),
                        f"agents whose names {does} all become this one, and so short a text finds many; "
                        f"give at least {SHORTEST_RULE} characters",
                    )


def _texts(named: _Named, key: str) -> Iterator[tuple[int, str]]:
    found = named.entry.get(key)
    for number, each in enumerate(found if isinstance(found, list) else ()):
        if isinstance(each, str):
            yield number, each


def _is_folder(place: str) -> bool:
    try:
        return Path(place).is_dir()
    except (OSError, ValueError):
        return False
