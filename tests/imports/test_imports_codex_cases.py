"""Counts over whole files: those written for this repository, and shared cases that lie beside it."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from workbench.imports.codex.format import FORMAT
from workbench.imports.transcript.items import ActumItem, Ignored, Problem, UnitClosedItem
from workbench.imports.transcript.placed import FileItem

OWN = Path(__file__).parent / "data" / "codex"
SHARED = Path(__file__).parents[3] / "shared" / "cases" / "transcripts"


def cases() -> list[Any]:
    found = []
    for folder in (OWN, SHARED):
        expected = folder / "EXPECTED.json"
        if expected.is_file():
            for name, counts in json.loads(expected.read_text()).items():
                if name.startswith("codex/"):
                    found.append(pytest.param(folder / name, counts, id=f"{folder.name}-{name}"))
    return found


def test_the_repositorys_own_cases_are_there() -> None:
    assert any(case.values[0].is_relative_to(OWN) for case in cases())


@pytest.mark.parametrize(("path", "expected"), cases())
def test_counts_of_a_case(path: Path, expected: dict[str, Any]) -> None:
    sessions: dict[str, Counter[str]] = {}
    ignored: Counter[str] = Counter()
    problems: list[list[Any]] = []
    seen: set[str] = set()
    found = FORMAT.discover([path])
    assert found.candidates
    assert not found.refused
    for candidate in found.candidates:
        for entry in FORMAT.read(candidate, owner="ada", states={}):
            assert isinstance(entry, FileItem)
            item = entry.item
            if isinstance(item, ActumItem | UnitClosedItem):
                if item.source_key not in seen:
                    kind = item.kind if isinstance(item, ActumItem) else "unit_closed"
                    sessions.setdefault(item.chronicum_id, Counter())[kind] += 1
                seen.add(item.source_key)
            elif isinstance(item, Ignored):
                ignored[item.kind] += 1
            elif isinstance(item, Problem):
                problems.append([entry.path.name, item.line])
    assert sessions == expected["sessions"]
    assert ignored == expected["ignored"]
    assert problems == expected["problems"]
