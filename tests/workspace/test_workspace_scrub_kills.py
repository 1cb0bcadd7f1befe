"""Scrubs that are killed at every step: nothing happened, or the next one completes it; never half a span."""

from __future__ import annotations

import os
import random
import shutil
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import apsw
import pytest

from tests.kill_cases import Tell, Victim, undisturbed
from tests.thorough import kills
from tests.workspace.redaction_cases import SEEDS, codes, holders, soiled
from workbench.workspace import Workspace
from workbench.workspace.redactions.scrub import unfinished

KILLS = kills(20)
LEFT = frozenset({"artifact_orphaned", "artifact_stray", "scrub_unfinished", "secrets_stored", "rescan_due"})
"""What doctor may say between a kill and the next scrub."""
FILES = frozenset({"open", "os.rename", "os.remove", "os.mkdir", "os.truncate", "os.chmod"})


@pytest.fixture(autouse=True)
def no_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("CHRONICLE_AUTO_MIGRATE", "CHRONICLE_DB"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return soiled(tmp_path_factory.mktemp("soiled") / "w")


def payloads(root: Path) -> list[dict[str, Any]]:
    with Workspace.open(root, read_only=True) as workspace:
        return [event.payload for event in workspace.log.read()]


@pytest.fixture(scope="module")
def both(prepared: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[list[Any], list[Any]]:
    """The payloads before a scrub, and after one that nobody disturbed."""
    root = Path(shutil.copytree(prepared, tmp_path_factory.mktemp("whole") / "w"))
    before = payloads(root)
    with Workspace.open(root) as workspace:
        workspace.scrub()
    return before, payloads(root)


class Counted:
    """Counts statements of the writer, parts of long ones, changes of files and words of progress.

    At one of them it kills its process.
    """

    def __init__(self, last: int) -> None:
        self._last = last
        self.count = 0
        self.committed = 0
        """The step after which the transaction was through."""

    def step(self, *_: object) -> bool:
        self.count += 1
        if self.count == self._last:
            os.kill(os.getpid(), signal.SIGKILL)
        return False

    def trace(self, statement: dict[str, Any]) -> None:
        self.step()

    def progress(self, done: int, total: int | None, note: str) -> None:
        self.step()
        if note == "old text" and not self.committed:
            self.committed = self.count

    def audit(self, name: str, given: tuple[Any, ...]) -> None:
        if name in FILES and not (name == "open" and not _writes(given)):
            self.step()


def _writes(given: tuple[Any, ...]) -> bool:
    return isinstance(given[2], int) and bool(given[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT))


def scrubbing(root: Path, last: int) -> Callable[[Tell], object]:
    """A scrub that is killed at its step `last`; tells after which it was committed, and how many there were."""

    def work(tell: Tell) -> None:
        with Workspace.open(root) as workspace:
            counted = Counted(last)
            with workspace.log.database.transaction() as writer:
                pass
            sys.addaudithook(counted.audit)
            writer.trace_v2(apsw.SQLITE_TRACE_STMT, counted.trace)
            # A vacuum is one statement.
            writer.set_progress_handler(counted.step, 25)
            workspace.scrub(progress=counted.progress)
            writer.set_progress_handler(None)
            tell(counted.committed)
            tell(counted.count)

    return work


def check(root: Path, before: list[Any], after: list[Any]) -> bool:
    """What a kill leaves; whether the transaction had been committed."""
    found = payloads(root)
    changed = found != before
    if changed:
        assert found == after
    assert set(codes(root)) <= LEFT
    with Workspace.open(root, read_only=True) as workspace:
        if unfinished(workspace.log):
            assert changed or holders(root, *SEEDS)
            assert "scrub_unfinished" in codes(root)
    with Workspace.open(root) as workspace:
        report = workspace.scrub()
        assert report.emptied
    assert holders(root, *SEEDS) == []
    assert payloads(root)[: len(before)] == after[: len(before)]
    if not changed:
        assert payloads(root) == after
    assert codes(root) == []
    assert [path for path in root.rglob(".*") if path.name != ".gitignore"] == [
        root / ".export-x.part",
    ]
    return changed


def test_killed_at_every_step(prepared: Path, both: tuple[list[Any], list[Any]], tmp_path: Path) -> None:
    whole = Path(shutil.copytree(prepared, tmp_path / "whole"))
    committed, steps = Victim(scrubbing(whole, -1)).end()
    assert steps > committed + 50 > 200
    seed = random.randrange(10**6)
    print(f"{seed = }, {committed = }, {steps = }")
    chance = random.Random(seed)
    # The moments around the commit closely, the others at places drawn anew each time.
    chosen = set(range(committed - 3, committed + 4)) | {1, steps - 1}
    for some in (range(1, committed), range(committed, steps)):
        chosen |= set(chance.sample(some, min(len(some), KILLS)))
    outcomes = []
    for last in sorted(chosen):
        root = Path(shutil.copytree(prepared, tmp_path / "w"))
        killed, _ = Victim(scrubbing(root, last)).kill_after(60)
        assert killed
        outcomes.append(check(root, *both))
        shutil.rmtree(root)
    # Once it is committed it stays so.
    assert outcomes == sorted(outcomes)
    assert set(outcomes) == {False, True}


def test_killed_at_any_moment(prepared: Path, both: tuple[list[Any], list[Any]], tmp_path: Path) -> None:
    whole = Path(shutil.copytree(prepared, tmp_path / "whole"))
    seconds = undisturbed(scrubbing(whole, -1))
    seed = random.randrange(10**6)
    print(f"{seed = }")
    chance = random.Random(seed)
    for _ in range(KILLS // 2):
        root = Path(shutil.copytree(prepared, tmp_path / "w"))
        Victim(scrubbing(root, -1)).kill_after(chance.uniform(0, seconds))
        check(root, *both)
        shutil.rmtree(root)


def test_killed_twice(prepared: Path, both: tuple[list[Any], list[Any]], tmp_path: Path) -> None:
    root = Path(shutil.copytree(prepared, tmp_path / "w"))
    last = 0
    changed = False
    while not changed:
        last += 150
        killed, _ = Victim(scrubbing(root, last)).kill_after(60)
        assert killed
        changed = payloads(root) != both[0]
    # Now that it is committed: killed while it is completed, a step later each time.
    for last in range(1, 400, 60):
        Victim(scrubbing(root, last)).kill_after(60)
    check(root, *both)
