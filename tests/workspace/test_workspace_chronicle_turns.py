"""Programs that write one chronicle take turns, and one that dies holds nobody up."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from time import monotonic

import pytest

from tests.workspace.chronicle_cases import drawing, drawn
from workbench.chronicle.leases import AlreadyConsolidating
from workbench.workspace import Workspace
from workbench.workspace.errors import Cancelled

OTHER = """\
import sys
from workbench.workspace import Workspace
with Workspace.open(sys.argv[1]) as workspace:
    print([each.section_id for each in workspace.chronicle("s1").consolidate()])
"""


def other(workspace: Workspace) -> subprocess.Popen[str]:
    """Another program that consolidates."""
    command = [sys.executable, "-c", OTHER, str(workspace.root)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True)


def until(what: Callable[[], bool]) -> None:
    """Wait for something that other programs do."""
    end = monotonic() + 30
    pause = threading.Event()
    while not what():
        assert monotonic() < end, "it never happened"
        pause.wait(0.01)


def test_two_programs_never_draw_the_same_stretch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with drawing(tmp_path, monkeypatch, "waits") as workspace:
        first, second = other(workspace), other(workspace)
        until(lambda: drawn(tmp_path) >= 1)
        told: list[str] = []
        with pytest.raises(Cancelled, match="while it waited"):
            workspace.chronicle("s1").consolidate(
                progress=lambda done, total, note: told.append(note), cancelled=lambda: bool(told)
            )
        assert told[0] in [
            f"waiting for “Consolidating session/s1” (job {job}, process {each.pid})"
            for job in (1, 2)
            for each in (first, second)
        ]
        (tmp_path / "go").touch()
        said = sorted(each.communicate(timeout=30)[0].strip() for each in (first, second))
        assert said == ["['1-5', '6-9']", "[]"] and drawn(tmp_path) == 2
        assert workspace.chronicle("s1").consolidate() == []
        # The write lock was free all the while.
        assert not workspace.chronicle("s1").lag().due


def test_the_place_of_a_program_that_was_killed_is_free_and_what_it_drew_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with drawing(tmp_path, monkeypatch, "waits") as workspace:
        holder = other(workspace)
        until(lambda: drawn(tmp_path) == 1)
        os.killpg(holder.pid, signal.SIGKILL)
        holder.communicate()
        (tmp_path / "go").touch()
        assert [each.section_id for each in workspace.chronicle("s1").consolidate()] == ["1-5", "6-9"]
        jobs = workspace.jobs.page(5)
        assert [(each.status, each.error[:23]) for each in jobs] == [
            ("done", ""),
            ("failed", "ended without a word: it"[:23]),
        ]


def test_nobody_waits_for_the_write_lock_while_a_summarizer_works(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with drawing(tmp_path, monkeypatch, "waits") as workspace:
        holder = other(workspace)
        until(lambda: drawn(tmp_path) == 1)
        workspace.memory.record_event("meanwhile", project="atlas", task_id="t1", checkpoint={"goal": "g"})
        assert not workspace.chronicle("s1").anchors.all()
        (tmp_path / "go").touch()
        assert "1-5" in holder.communicate(timeout=30)[0]


def test_a_job_that_another_program_stops_ends_in_the_middle_of_a_draw(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with drawing(tmp_path, monkeypatch, "waits") as workspace:
        holder = other(workspace)
        until(lambda: drawn(tmp_path) == 1)
        [job] = workspace.jobs.page(1)
        workspace.jobs.stop(job.id)
        assert holder.communicate(timeout=30)[0].strip() == "[]"
        [job] = workspace.jobs.page(1)
        assert (job.status, job.summary) == ("stopped", "0 sections written")


def test_a_call_from_within_its_own_progress_does_not_wait_for_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with drawing(tmp_path, monkeypatch) as workspace:
        chronicle = workspace.chronicle("s1")

        def again(done: int, total: int | None, note: str) -> None:
            chronicle.consolidate()

        with pytest.raises(AlreadyConsolidating):
            chronicle.consolidate(progress=again)
        assert len(chronicle.consolidate()) == 2
