"""Counts over whole files: those written for this repository, and shared cases that lie beside it."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from workbench.imports.claude_code import discover, read_session
from workbench.imports.transcript.items import ActumItem, Ignored, Problem, UnitClosedItem
from workbench.imports.transcript.placed import FileItem, FileUnreadable

OWN = Path(__file__).parent / "data" / "claude_code"
SHARED = Path(__file__).parents[3] / "shared" / "cases" / "transcripts"


def cases() -> list[Any]:
    found = []
    for folder in (OWN, SHARED):
        expected = folder / "EXPECTED.json"
        if expected.is_file():
            for name, counts in json.loads(expected.read_text()).items():
                if name.startswith("claude-code/"):
                    found.append(pytest.param(folder / name, counts, id=f"{folder.name}-{name}"))
    return found


def test_the_repositorys_own_cases_are_there() -> None:
    assert any(case.values[0].is_relative_to(OWN) for case in cases())


@pytest.mark.parametrize(("folder", "expected"), cases())
def test_counts_of_a_case(folder: Path, expected: dict[str, Any]) -> None:
    sessions: dict[str, Counter[str]] = {}
    ignored: Counter[str] = Counter()
    problems: list[list[Any]] = []
    found = discover([folder])
    assert found.candidates
    assert not found.refused
    for candidate in found.candidates:
        for entry in read_session(candidate.path, owner="ada", agents=candidate.agents):
            assert not isinstance(entry, FileUnreadable)
            assert isinstance(entry, FileItem)
            item = entry.item
            if isinstance(item, ActumItem):
                sessions.setdefault(item.chronicum_id, Counter())[item.kind] += 1
            elif isinstance(item, UnitClosedItem):
                sessions.setdefault(item.chronicum_id, Counter())["unit_closed"] += 1
            elif isinstance(item, Ignored):
                ignored[item.kind] += 1
            elif isinstance(item, Problem):
                problems.append([entry.path.name, item.line])
    assert sessions == expected["sessions"]
    assert ignored == expected["ignored"]
    assert problems == expected["problems"]
