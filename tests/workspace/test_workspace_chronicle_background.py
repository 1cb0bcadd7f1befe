"""Chronicles that write themselves: when they look, what they leave to others, how long they wait."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from time import monotonic
from typing import NamedTuple

import pytest

from tests.workspace.chronicle_cases import begin, drawing, drawn, round_of, use, writer
from tests.workspace.jobs_cases import holding
from workbench.chronicle.fold import FOLD_NAME
from workbench.chronicle.summarizers.errors import SummarizerFailed
from workbench.workspace import Workspace
from workbench.workspace.chronicle import tries_queries
from workbench.workspace.chronicle.background import AGAIN_SECONDS
from workbench.workspace.chronicle.errors import Untrusted
from workbench.workspace.jobs.processes import this_process


class Clock:
    """Stands until it is moved."""

    def __init__(self) -> None:
        self.now = datetime(2031, 5, 4, 12, 0, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now

    def move(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)


class Held(NamedTuple):
    """A workspace whose clock is held."""

    workspace: Workspace
    clock: Clock


@pytest.fixture
def failing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Held]:
    """Its program fails until there is a file `mended`."""
    monkeypatch.setenv("WORKBENCH_STATE_DIR", str(tmp_path / "state"))
    clock = Clock()
    with Workspace.create(tmp_path / "ws", title="ws", owner="me", timezone="UTC", clock=clock) as workspace:
        begin(workspace)
        use(workspace.root, writer(tmp_path, "fails"))
        workspace.chronicles.trust()
        yield Held(workspace, clock)


@pytest.fixture
def plain(tmp_path: Path) -> Iterator[Workspace]:
    with Workspace.create(tmp_path / "plain", title="plain", owner="me", timezone="UTC") as workspace:
        begin(workspace)
        yield workspace


def until(changed: threading.Event, what: Callable[[], bool]) -> None:
    """Wait until something is so, looking whenever the driver says that its state has changed."""
    end = monotonic() + 30
    while not what():
        assert monotonic() < end, "it never happened"
        changed.wait(0.1)
        changed.clear()


def test_what_is_closed_while_it_runs_is_written_and_stopping_ends_it(plain: Workspace) -> None:
    changed = threading.Event()
    background = plain.chronicles.background(pause_seconds=0.01)
    background.listen(changed.set)
    assert background.start().state.running
    chronicle = plain.chronicle("s1")
    until(changed, lambda: chronicle.anchors.consolidated_through() == 9)
    with Workspace.open(plain.root) as elsewhere:
        round_of(elsewhere, "s1", 2)
    until(changed, lambda: chronicle.anchors.consolidated_through() == 14)
    assert background.stop(30)
    assert not background.state.running and background.state.error is None
    round_of(plain, "s1", 3)
    assert chronicle.lag().due


def test_stopping_ends_a_draw_in_the_middle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with drawing(tmp_path, monkeypatch, "waits") as workspace:
        changed = threading.Event()
        background = workspace.chronicles.background(pause_seconds=0.01)
        background.listen(changed.set)
        background.start()
        until(changed, lambda: drawn(tmp_path) == 1)
        assert background.state.working == "session/s1"
        assert background.stop(30) and background.state.working == ""
        [job] = workspace.jobs.page(5)
        assert job.status == "stopped" and workspace.chronicle("s1").anchors.all() == []


def test_it_waits_longer_after_each_failure_and_never_longer_than_an_hour(
    failing: Held, tmp_path: Path
) -> None:
    workspace, clock = failing
    background = workspace.chronicles.background()
    waited = []
    for _ in range(10):
        wait = background.look()
        assert wait is not None
        waited.append(wait)
        assert isinstance(background.state.error, SummarizerFailed) and background.state.waiting == 1
        before = drawn(tmp_path)
        clock.move(wait - 1)
        # Too early, for this program and for one that begins now.
        assert background.look() == workspace.chronicles.background().look() == 1
        assert drawn(tmp_path) == before
        clock.move(1)
    assert waited == [30, 60, 120, 240, 480, 960, 1920, 3600, 3600, 3600]
    job = workspace.jobs.page(1)[0]
    assert job.status == "failed" and "no luck" in job.error
    assert job.hint.endswith("it has failed 10 times in a row; it is tried again at 2031-05-04 16:03:30 UTC")
    assert "events 1 to 5 of session/s1" in job.error
    (tmp_path / "mended").touch()
    assert background.look() is None
    assert (background.state.error, background.state.waiting) == (None, 0)
    assert workspace.chronicle("s1").lag().events == 1
    # It begins with the shortest wait again.
    (tmp_path / "mended").unlink()
    round_of(workspace, "s1", 2)
    assert background.look() == 30


def test_a_stream_that_fails_does_not_keep_the_others_from_being_written(
    failing: Held, tmp_path: Path
) -> None:
    workspace, clock = failing
    begin(workspace, "s2")
    background = workspace.chronicles.background()
    background.look()
    assert drawn(tmp_path) == 1
    clock.move(30)
    # Now it is the other one's: the first of them has failed, whatever comes of the second.
    (tmp_path / "fail-at").write_text("2")
    (tmp_path / "mended").touch()
    background.look()
    clock.move(60)
    background.look()
    assert workspace.chronicle("s1").lag().events == workspace.chronicle("s2").lag().events == 1


def test_a_manifest_that_was_mended_is_tried_at_once(failing: Held, tmp_path: Path) -> None:
    workspace, clock = failing
    background = workspace.chronicles.background()
    assert background.look() == 30
    stamp = clock.now.timestamp() + 1
    use(workspace.root, writer(tmp_path))
    os.utime(workspace.root / "SSOT_MANIFEST.toml", (stamp, stamp))
    workspace.chronicles.trust()
    clock.move(2)
    assert background.look() is None and workspace.chronicle("s1").lag().events == 1


def test_a_clock_that_was_set_back_keeps_nothing_waiting_for_longer_than_an_hour(failing: Held) -> None:
    background = failing.workspace.chronicles.background()
    background.look()
    failing.clock.move(-400 * 24 * 3600)
    assert background.look() == 3600


def test_nothing_runs_untrusted_and_the_state_says_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with drawing(tmp_path, monkeypatch, trust=False) as workspace:
        background = workspace.chronicles.background()
        assert background.look() == AGAIN_SECONDS
        assert isinstance(background.state.error, Untrusted) and drawn(tmp_path) == 0
        assert workspace.jobs.count() == 0
        workspace.chronicles.trust()
        assert background.look() is None and background.state.error is None and drawn(tmp_path) == 2


def test_the_manifest_switches_it_off_and_on(plain: Workspace) -> None:
    background = plain.chronicles.background()
    manifest = plain.root / "SSOT_MANIFEST.toml"
    text = manifest.read_text()
    manifest.write_text(text + "\n[chronicle]\nbackground = false\n")
    background.look()
    assert plain.chronicle("s1").lag().due
    manifest.write_text(text + "\n[chronicle]\nbackground = true\n")
    background.look()
    assert not plain.chronicle("s1").lag().due


def test_it_stays_off_where_nothing_can_be_written(plain: Workspace) -> None:
    root = plain.root
    plain.close()
    with Workspace.open(root, read_only=True) as reading:
        background = reading.chronicles.background().start()
        assert not background.state.running and background.stop()
        background.look()
        assert reading.chronicle("s1").lag().due


def test_what_another_program_writes_is_left_to_it(plain: Workspace) -> None:
    with holding(plain.root, "chronicle", "elsewhere", "chronicle/session/s1") as holder:
        holder.running()
        background = plain.chronicles.background()
        assert background.look() is not None and plain.chronicle("s1").lag().due
        holder.end()
        # Asked again when its time has come, or something was committed.
        assert background.look() is None and not plain.chronicle("s1").lag().due


def test_of_what_went_well_by_itself_only_the_last_time_stays_in_the_list(plain: Workspace) -> None:
    background = plain.chronicles.background()
    for number in range(3):
        background.look()
        round_of(plain, "s1", 10 + number)
    assert [(each.status, each.summary) for each in plain.jobs.page(10)] == [("done", "1 section written")]


def test_holes_are_filled_by_it(plain: Workspace, tmp_path: Path) -> None:
    chronicle = plain.chronicle("s1")
    chronicle.consolidate()
    first, second = chronicle.store.sections()
    chronicle.store.reset()
    chronicle.store.append(second)
    assert plain.chronicles.lagging() == ["session/s1"]
    plain.chronicles.background().look()
    assert [each[0] for each in chronicle.store.sections()] == [first.anchor, second.anchor]


def test_a_draw_whose_program_was_killed_counts_as_a_failure(failing: Held) -> None:
    """Noted in the list of jobs or not: a draw that kills its program is not begun again at once for ever."""
    log = failing.workspace.log
    lease = f"{FOLD_NAME}/session/s1"
    # A process of this machine that was here before: its number is another one's by now.
    gone = this_process()._replace(pid=1, start="1x").as_text()
    now = log.now()
    before = tries_queries.tries(log, 0).failures.get(lease, 0)
    with log.database.transaction() as connection:
        for status, finished in (("failed", now), ("running", None)):
            connection.execute(
                "INSERT INTO jobs(kind, title, status, lease, process, started_at, heartbeat_at, finished_at, "
                "done, total, note, outcome, error, hint, stop_asked) "
                "VALUES('chronicle', 'x', ?, ?, ?, ?, ?, ?, 0, NULL, '', '', '', '', 0)",
                (status, lease, gone, now, now, finished),
            )
    tries = tries_queries.tries(log, 0)
    assert tries.failures[lease] == before + 2
    assert tries.next(lease) >= now + 2 * tries_queries.FIRST_MICROS
