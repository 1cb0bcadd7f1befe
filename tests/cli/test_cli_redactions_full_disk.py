"""A disk that fills up at any moment of a scrub: nothing has changed, or the next one completes it."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.media import Program, fill, medium, open_folder, resize
from tests.thorough import some
from tests.workspace.redaction_cases import SEEDS, holders, soiled

PLENTY = 64 * 1024


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return soiled(tmp_path_factory.mktemp("soiled") / "w")


@pytest.fixture
def disk() -> Iterator[tuple[Program, Path]]:
    with open_folder() as home, medium(home, PLENTY) as lent:
        yield lent


def used_kib(program: Program, place: Path) -> int:
    inside = program.inside(place)
    return (shutil.disk_usage(inside).used + 1023) // 1024


def test_a_scrub_can_be_repeated_with_more_room(disk: tuple[Program, Path], prepared: Path) -> None:
    program, place = disk
    outcomes: list[tuple[int, bool]] = []
    for spare in some((0, 16, 64, 160, 256, 400, 560, 720, 900, 1200, 2000, 8000), 6):
        fill(program, place, PLENTY)
        root = program.inside(place) / "w"
        shutil.copytree(prepared, root)
        resize(program, place, used_kib(program, place) + spare)
        answer = program.run("redactions", "scrub", "--confirm", "--root", place / "w")
        resize(program, place, PLENTY)
        doctor = program.run("doctor", "--root", place / "w", "--format", "json")
        codes = {finding["code"] for finding in doctor.json["findings"]}
        if answer.code == 0:
            assert holders(root, *SEEDS) == []
            assert codes == set()
        else:
            error, hint = answer.err.splitlines()[-2:]
            assert re.fullmatch(r"error: no room left to write .+", error), answer
            assert hint == "hint: free some space and try again"
            assert codes <= {"artifact_orphaned", "artifact_stray", "scrub_unfinished"}, doctor
        outcomes.append((answer.code, "scrub_unfinished" in codes))
        again = program.run("redactions", "scrub", "--confirm", "--root", place / "w")
        assert (again.code, again.err) == (0, "")
        assert holders(root, *SEEDS) == []
        assert program.run("doctor", "--root", place / "w").out == "everything is well\n"
    assert outcomes[0] == (1, False)
    assert outcomes[-1] == (0, False)
    # Some found room for the transaction and none for the new file.
    assert (1, True) in outcomes, outcomes
