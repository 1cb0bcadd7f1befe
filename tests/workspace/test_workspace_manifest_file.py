"""A manifest that is edited while the program runs."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from workbench.workspace import Workspace
from workbench.workspace.manifest import ManifestFile, read_manifest


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "SSOT_MANIFEST.toml"
    file.write_text("title = 'first'\n")
    return file


def _old(path: Path) -> None:
    """Let the file look as if nobody had touched it for a while."""
    status = path.stat()
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns - 10_000_000_000))


def test_a_change_is_seen(path: Path) -> None:
    _old(path)
    file = ManifestFile(path, read_manifest(path))
    before = file.current
    assert file.current is before
    path.write_text("title = 'second'\n[[projects]]\nid = 'atlas'\naliases = ['status']\n")
    assert file.current.title == "second"
    assert file.current.registry.project("Status") == "atlas"
    assert file.problems == ()


def test_a_file_put_in_its_place_is_seen_even_with_the_same_time_and_size(path: Path) -> None:
    _old(path)
    file = ManifestFile(path, read_manifest(path))
    status = path.stat()
    other = path.with_name("other.toml")
    other.write_text("title = 'other'\n")
    os.utime(other, ns=(status.st_atime_ns, status.st_mtime_ns))
    other.replace(path)
    assert path.stat().st_mtime_ns == status.st_mtime_ns
    assert file.current.title == "other"


def test_two_changes_within_one_tick_of_the_clock_are_seen(path: Path) -> None:
    file = ManifestFile(path, read_manifest(path))
    status = path.stat()
    path.write_text("title = 'twice'\n")
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert file.current.title == "twice"


@pytest.mark.parametrize(
    ("bad", "line", "key"),
    [
        ("title = 'x'\n[settings\n", 2, ""),
        ("\ntitle = 3\n", 2, "title"),
        ("[[projects]]\nid='a'\n[[projects]]\nid='b'\naliases=['A']\n", 5, "projects[1].aliases[0]"),
    ],
)
def test_the_last_good_one_stays_while_the_file_is_bad(path: Path, bad: str, line: int, key: str) -> None:
    file = ManifestFile(path, read_manifest(path))
    path.write_text(bad)
    assert file.current.title == "first"
    (problem,) = file.problems
    assert (problem.line, problem.key, problem.severity) == (line, key, "error")
    assert file.error is not None
    path.write_text("title = 'mended'\n")
    assert file.current.title == "mended"
    assert file.problems == ()
    assert file.error is None


def test_a_manifest_that_is_gone_stays_in_force(path: Path) -> None:
    file = ManifestFile(path, read_manifest(path))
    path.unlink()
    assert file.current.title == "first"
    assert [(each.line, each.severity) for each in file.problems] == [(0, "error")]
    path.mkdir()
    assert file.current.title == "first"
    assert "a folder" in file.problems[0].message
    path.rmdir()
    path.write_text("title = 'back'\n")
    assert file.current.title == "back"


def test_warnings_are_those_of_the_file_as_it_is(path: Path) -> None:
    file = ManifestFile(path, read_manifest(path))
    path.write_text("title = 'x'\nmood = 1\n")
    assert [(each.line, each.key, each.severity) for each in file.problems] == [(2, "mood", "warning")]
    assert file.error is None


def test_an_open_workspace_goes_by_the_manifest_as_it_is(tmp_path: Path) -> None:
    with Workspace.create(tmp_path / "w", title="One", timezone="UTC", owner="ann") as workspace:
        path = workspace.layout.manifest
        assert workspace.registry.project("status") == "status"
        text = path.read_text()
        path.write_text(text.replace("One", "Two") + "[[projects]]\nid = 'atlas'\naliases = ['status']\n")
        assert (workspace.title, workspace.registry.project("STATUS")) == ("Two", "atlas")
        assert not workspace.manifest_problems
        path.write_text("[[projects]]\naliases = 'status'\n")
        assert (workspace.title, workspace.registry.project("STATUS"), workspace.owner) == (
            "Two",
            "atlas",
            "ann",
        )
        assert [(each.line, each.severity) for each in workspace.manifest_problems] == [
            (1, "error"),
            (2, "error"),
        ]


def test_a_number_longer_than_any_leaves_the_last_good_one(path: Path) -> None:
    _old(path)
    file = ManifestFile(path, read_manifest(path))
    path.write_text(f"title = 'second'\nx = {'9' * 5000}\n")
    assert file.current.title == "first"
    assert [(each.line, each.key, each.message) for each in file.problems] == [
        (2, "x", "a number is too long")
    ]
    path.write_text("title = 'third'\n")
    assert (file.current.title, file.problems) == ("third", ())
