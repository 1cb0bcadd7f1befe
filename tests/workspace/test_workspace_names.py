"""The spellings in the log, how often and when each was used, and what it means today."""

from __future__ import annotations

import tempfile
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.workspace.name_cases import observe
from tests.workspace.workspace_cases import START, counted_steps, opened
from workbench.identity import EMPTY, Names, Registry, fold
from workbench.log.streams import scope_stream
from workbench.memory.events import ObservationRecorded
from workbench.workspace.readers.name_queries import NameRow


def _used(rows: list[NameRow]) -> list[tuple[str, str, str, int]]:
    return [(row.kind, row.spelling, row.canonical, row.observed) for row in rows if row.observed]


def test_every_spelling_is_counted_as_it_was_given(tmp_path: Path) -> None:
    declared = Registry(projects=[Names("atlas", ["status"])])
    with opened(tmp_path / "log.db") as (log, readers):
        observe(log, "ATLAS", agent="Codex CLI")
        observe(log, "atlas", agent="codex")
        observe(log, "ATLAS", "Work", private=True)
        # The same name after the alias was declared: stored as canonical, with the spelling beside it.
        observe(log, "Status", registry=declared)
        rows = readers.names.names(declared)
    assert _used(rows) == [
        ("project", "ATLAS", "atlas", 2),
        ("project", "Status", "atlas", 1),
        ("project", "atlas", "atlas", 1),
        ("domain", "global", "global", 3),
        ("domain", "Work", "Work", 1),
        ("agent", "Codex CLI", "codex", 1),
        ("agent", "codex", "codex", 1),
        ("agent", "mcp", "mcp", 2),
    ]
    first = rows[0]
    assert first.first is not None
    assert first.last is not None
    assert START < first.first < first.last < START + timedelta(minutes=1)
    assert [row.spelling for row in rows if not row.declared] == ["Work"]


def test_what_is_declared_and_never_used_is_listed_too(tmp_path: Path) -> None:
    registry = Registry(projects=[Names("atlas", ["status"])], agents=[Names("helper", ["night"])])
    with opened(tmp_path / "log.db") as (_, readers):
        rows = readers.names.names(registry)
        only = readers.names.names(registry, "project")
    assert [(row.kind, row.spelling, row.observed, row.first) for row in rows] == [
        ("project", "atlas", 0, None),
        ("project", "status", 0, None),
        ("agent", "helper", 0, None),
        ("agent", "night", 0, None),
    ]
    assert [row.spelling for row in only] == ["atlas", "status"]


def test_an_alias_added_later_changes_what_is_read_and_not_what_is_stored(tmp_path: Path) -> None:
    with opened(tmp_path / "log.db") as (log, readers):
        for spelling in ("atlas", "Atlas_App", "status"):
            observe(log, spelling)
        assert {row.canonical for row in readers.names.names(EMPTY, "project")} == {
            "atlas",
            "Atlas_App",
            "status",
        }
        declared = Registry(projects=[Names("atlas", ["atlas app", "STATUS"])])
        assert {row.canonical for row in readers.names.names(declared, "project")} == {"atlas"}


@pytest.mark.parametrize("spelling", ["../../etc", "a\0b", "a\u202eb", "x" * 200])
def test_odd_names_are_listed_as_they_are(tmp_path: Path, spelling: str) -> None:
    with opened(tmp_path / "log.db") as (log, readers):
        observe(log, spelling)
        (row,) = readers.names.names(EMPTY, "project")
    assert (row.spelling, row.observed) == (spelling, 1)


def test_the_list_costs_as_much_as_there_are_names_however_long_the_log(tmp_path: Path) -> None:
    def steps(times: int) -> int:
        with opened(tmp_path / f"{times}.db") as (log, readers):
            for number in range(times):
                observe(log, f"project {number % 5}")
            with counted_steps(log) as counted:
                assert len(readers.names.names(EMPTY, "project")) == 5
            return sum(counted)

    assert steps(300) == steps(10)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(["a", "A", "b"]), st.sampled_from(["x", "X"]), st.integers(1, 4))))
def test_counts_are_those_of_the_log_in_whatever_batches(batches: list[tuple[str, str, int]]) -> None:
    with tempfile.TemporaryDirectory() as folder, opened(Path(folder) / "log.db") as (log, readers):
        expected: dict[tuple[str, str], int] = {}
        for project, agent, size in batches:
            said = ObservationRecorded(
                scope_domain="global",
                scope_project=fold(project),
                domain="global",
                project=project,
                agent=agent,
                agent_source="explicit",
                category="note",
                text="x",
                request_hash="00" * 32,
                content_hash="00" * 32,
                hash_filter="1",
            )
            log.append(scope_stream("global", fold(project)), [said] * size)
            for key in (("project", project), ("agent", agent), ("domain", "global")):
                expected[key] = expected.get(key, 0) + size
        rows = readers.names.names(EMPTY)
    assert {(row.kind, row.spelling): row.observed for row in rows if row.observed} == expected
