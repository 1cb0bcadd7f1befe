"""Counts over whole files: those written for this repository, and shared cases that lie beside it."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from workbench.imports.claude_code.format import FORMAT as CLAUDE_CODE
from workbench.imports.codex.format import FORMAT as CODEX
from workbench.imports.transcript.format import TranscriptFormat
from workbench.imports.transcript.items import ActumItem, Ignored, Problem, UnitClosedItem
from workbench.imports.transcript.placed import FileItem

OWN = Path(__file__).parent / "data"
SHARED = Path(__file__).parents[3] / "shared" / "cases" / "transcripts"


class Case(NamedTuple):
    """What a file or folder of one format has to give."""

    format: TranscriptFormat
    path: Path
    expected: dict[str, Any]


def cases(kind: TranscriptFormat) -> list[Any]:
    found = []
    for folder in (OWN / kind.name.replace("-", "_"), SHARED):
        expected = folder / "EXPECTED.json"
        if expected.is_file():
            for name, counts in json.loads(expected.read_text()).items():
                if name.startswith(f"{kind.name}/"):
                    found.append(pytest.param(Case(kind, folder / name, counts), id=f"{folder.name}-{name}"))
    return found


@pytest.mark.parametrize("kind", [CLAUDE_CODE, CODEX], ids=lambda kind: str(kind.name))
def test_the_repositorys_own_cases_are_there(kind: TranscriptFormat) -> None:
    assert any(case.values[0].path.is_relative_to(OWN) for case in cases(kind))


@pytest.mark.parametrize("case", [*cases(CLAUDE_CODE), *cases(CODEX)])
def test_counts_of_a_case(case: Case) -> None:
    sessions: dict[str, Counter[str]] = {}
    ignored: Counter[str] = Counter()
    problems: list[list[Any]] = []
    seen: set[str] = set()
    found = case.format.discover([case.path])
    assert found.candidates
    assert not found.refused
    for candidate in found.candidates:
        for entry in case.format.read(candidate, owner="ada", states={}):
            assert isinstance(entry, FileItem)
            item = entry.item
            if isinstance(item, ActumItem | UnitClosedItem):
                # A fork of Codex repeats its parent's records; of Claude Code every one counts.
                if case.format is CLAUDE_CODE or item.source_key not in seen:
                    kind = item.kind if isinstance(item, ActumItem) else "unit_closed"
                    sessions.setdefault(item.chronicum_id, Counter())[kind] += 1
                seen.add(item.source_key)
            elif isinstance(item, Ignored):
                ignored[item.kind] += 1
            elif isinstance(item, Problem):
                problems.append([entry.path.name, item.line])
    assert sessions == case.expected["sessions"]
    assert ignored == case.expected["ignored"]
    assert problems == case.expected["problems"]
