"""Samples become workspaces."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import UUID

import pytest

from workbench.imports.workspace_jsonl import InvalidLine
from workbench.log.times import to_text
from workbench.workspace import Workspace
from workbench.workspace.errors import ConfigurationError
from workbench.workspace.samples import Sample, TargetNotEmpty, UnknownSample, materialise, samples

NOW = datetime(2030, 5, 6, 7, 8, 9, 10, tzinfo=UTC)
RECORDED = datetime(2026, 3, 2, 8, 0, tzinfo=UTC)
MANIFEST = 'version = 1\ntitle = "A small one"\n\n[settings]\ntimezone = "UTC"\n\n[session]\nowner = "ada"\n'


def event(position: int) -> str:
    payload = {"chronicum_id": "s", "owner_id": "ada"}
    if position > 1:
        payload = {"chronicum_id": "s", "unit": f"unit {position}"}
    return json.dumps(
        {
            "causation_id": None,
            "correlation_id": None,
            "event_id": str(UUID(int=position)),
            "namespace": "workbench",
            "occurred_at": None,
            "payload": payload,
            "position": position,
            "recorded_at": to_text(RECORDED + timedelta(hours=position)),
            "schema_version": 1,
            "seq": position,
            "stream": "session/s",
            "type": "unit.closed" if position > 1 else "chronicum.created",
            "visibility": "public",
        }
    )


@pytest.fixture
def shelf(tmp_path: Path) -> Path:
    """A folder with one small sample, and what is no sample beside it."""
    sample = tmp_path / "shelf" / "small"
    (sample / "notes" / "deep").mkdir(parents=True)
    (sample / "SSOT_MANIFEST.toml").write_text(MANIFEST)
    (sample / "README.md").write_text("Read me.\n")
    (sample / "notes" / "deep" / "a.md").write_text("# A\n")
    (sample / "log.jsonl").write_text("".join(event(position) + "\n" for position in (1, 2, 3)))
    (sample / "outside").symlink_to(tmp_path)
    (tmp_path / "shelf" / "no-sample").mkdir()
    (tmp_path / "shelf" / "a-file").write_text("")
    return sample.parent


def test_samples_are_listed_by_name_and_title(shelf: Path) -> None:
    assert samples(shelf) == [Sample("small", "A small one")]


def test_a_sample_becomes_a_workspace(shelf: Path, tmp_path: Path) -> None:
    made = materialise("small", tmp_path / "new", folder=shelf, clock=lambda: NOW)
    assert made[:3] == (tmp_path / "new", "small", 3)
    assert made.moved_from == datetime(2026, 3, 2, 11, tzinfo=UTC)
    assert (made.root / "notes/deep/a.md").read_text() == "# A\n"
    assert (made.root / "README.md").read_text() == "Read me.\n"
    assert (made.root / "SSOT_MANIFEST.toml").read_text() == MANIFEST
    assert not (made.root / "log.jsonl").exists()
    assert not (made.root / "outside").exists()
    with Workspace.open(made.root) as workspace:
        assert (workspace.title, workspace.owner) == ("A small one", "ada")
        recorded = [stored.envelope.recorded_at for stored in workspace.log.read()]
    newest = NOW - timedelta(minutes=5)
    assert recorded == [newest - timedelta(hours=2), newest - timedelta(hours=1), newest]


def test_only_the_owner_may_read_it(shelf: Path, tmp_path: Path) -> None:
    root = materialise("small", tmp_path / "new", folder=shelf).root
    for path in (root, *root.rglob("*")):
        assert path.stat().st_mode & 0o077 == 0, path


def test_times_may_stay(shelf: Path, tmp_path: Path) -> None:
    root = materialise("small", tmp_path / "new", keep_times=True, folder=shelf).root
    with Workspace.open(root, read_only=True) as workspace:
        recorded = [stored.envelope.recorded_at for stored in workspace.log.read()]
    assert recorded == [RECORDED + timedelta(hours=position) for position in (1, 2, 3)]


def test_a_sample_without_events(shelf: Path, tmp_path: Path) -> None:
    (shelf / "small" / "log.jsonl").write_text("")
    assert materialise("small", tmp_path / "new", folder=shelf).events == 0


@pytest.mark.parametrize("name", ["none", "", ".", "..", "../shelf/small", "no-sample", "a-file"])
def test_an_unknown_name_is_refused(shelf: Path, tmp_path: Path, name: str) -> None:
    with pytest.raises(UnknownSample) as caught:
        materialise(name, tmp_path / "new", folder=shelf)
    assert "small" in caught.value.hint
    assert not (tmp_path / "new").exists()


def test_only_an_empty_place_is_taken(shelf: Path, tmp_path: Path) -> None:
    target = tmp_path / "new"
    target.mkdir()
    materialise("small", target, folder=shelf)
    before = sorted(path.name for path in target.iterdir())
    with pytest.raises(TargetNotEmpty):
        materialise("small", target, folder=shelf)
    assert sorted(path.name for path in target.iterdir()) == before


def test_a_place_below_a_file_is_refused(shelf: Path, tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError):
        materialise("small", shelf / "a-file" / "new", folder=shelf)


@pytest.mark.parametrize("exists", [False, True])
def test_a_failure_leaves_nothing_behind(shelf: Path, tmp_path: Path, exists: bool) -> None:
    with (shelf / "small" / "log.jsonl").open("a") as file:
        file.write("{}\n")
    target = tmp_path / "new"
    if exists:
        target.mkdir()
    with pytest.raises(InvalidLine, match=r"^line 4: "):
        materialise("small", target, folder=shelf)
    assert target.exists() == exists
    assert not exists or list(target.iterdir()) == []


def test_without_a_place_each_gets_its_own(
    shelf: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    roots = [materialise("small", folder=shelf).root for _ in range(3)]
    assert [root.name for root in roots] == ["small-1", "small-2", "small-3"]
    assert {root.parent for root in roots} == {tmp_path / "data" / "chronicle-workbench" / "demo"}
