"""Migrating on a medium that fills up, and on one that cannot be written."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.media import Program, fill, medium, open_folder, resize
from tests.thorough import some
from tests.workspace.older_workspace import Unchanged, older_workspace
from workbench.workspace.migrations import SCHEMA_VERSION


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace of schema 1, for copies: a quarter of a megabyte or more."""
    return older_workspace(tmp_path_factory.mktemp("older") / "w", 600)


@pytest.fixture
def small() -> Iterator[tuple[Program, Path]]:
    """The program, and an empty medium."""
    with open_folder() as home, medium(home, 65536) as (program, place):
        yield program, place


def size_of(folder: Path) -> int:
    """Pages of a medium that a folder takes, in KiB."""
    return sum(-(-path.stat().st_size // 4096) * 4 if path.is_file() else 4 for path in folder.rglob("*"))


def test_a_full_medium_at_every_stage(prepared: Path, small: tuple[Program, Path]) -> None:
    program, place = small
    needed = size_of(prepared)
    codes: list[int] = []
    for room in some(range(16, 64 + 4 * needed, 48), 7):
        fill(program, place, 65536)
        root = place / "w"
        shutil.copytree(prepared, program.inside(root))
        before = Unchanged(program.inside(root))
        resize(program, place, needed + 16 + room)
        answer = program.run("migrate", "--root", root, "--format", "json")
        codes.append(answer.code)
        if answer.code:
            assert answer.json["error_type"] == "disk_full", answer
            assert answer.json["hint"]
            before.check()
        resize(program, place, 65536)
        assert program.run("migrate", "--root", root, "--format", "json").code == 0
        status = program.run("status", "--root", root, "--format", "json")
        assert status.json["schema"]["current_version"] == SCHEMA_VERSION
        doctor = program.run("doctor", "--root", root, "--format", "json")
        assert doctor.code == 0, doctor
    assert codes[0] == 1
    assert codes[-1] == 0
    assert codes == sorted(codes, reverse=True)


def test_a_medium_that_cannot_be_written(prepared: Path, small: tuple[Program, Path]) -> None:
    program, place = small
    root = place / "w"
    shutil.copytree(prepared, program.inside(root))
    program.mount("-o", "remount,ro", place)
    before = Unchanged(program.inside(root))
    plan = program.run("migrate", "--plan", "--root", root, "--format", "json")
    assert plan.code == 0
    assert plan.json["needed"] is True
    answer = program.run("migrate", "--root", root, "--format", "json")
    assert answer.code == 1
    assert answer.json["error_type"] == "read_only"
    told = {**program.env, "CHRONICLE_AUTO_MIGRATE": "1"}
    listing = program.run("sessions", "list", "--root", root, "--format", "json", env=told)
    assert listing.code == 3
    assert listing.json["error_type"] == "schema_migration_required"
    before.check()
