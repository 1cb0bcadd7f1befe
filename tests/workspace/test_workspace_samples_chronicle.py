"""What a new workspace made of the sample with a chronicle can do with it, and that its recording replays."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from workbench.chronicle.admission import Admission
from workbench.chronicle.boundaries import EventTypes
from workbench.chronicle.consolidator import NotPinned
from workbench.chronicle.stretches import stretches
from workbench.chronicle.summarizers import prompt
from workbench.chronicle.summarizers.drawn import Drawn
from workbench.log.event_reader import EventReader
from workbench.log.pins.errors import PinMiss, RecordingError
from workbench.log.pins.recording import write_recording
from workbench.log.pins.replay import ReplayPins
from workbench.log.pins.request import request_key
from workbench.log.streams import pins_stream
from workbench.log.upcasts import UpcastRegistry
from workbench.workspace import Workspace
from workbench.workspace.chronicle.hidden_queries import HiddenEvents, admits
from workbench.workspace.samples import materialise

NAME = "long-negotiation"
SESSION = "session/lamp-glass-contract"
PINS = pins_stream(SESSION)
TASK = "task/supply/lamp-glass/contract"
HOLE = (78, 108)
ROUNDS = 10


@pytest.fixture(scope="module")
def laid_out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return materialise(NAME, tmp_path_factory.mktemp("sample") / "ws", keep_times=True).root


@pytest.fixture
def sample(laid_out: Path, tmp_path: Path) -> Iterator[Workspace]:
    root = tmp_path / "ws"
    shutil.copytree(laid_out, root)
    with Workspace.open(root) as workspace:
        yield workspace


def asked(workspace: Workspace) -> set[str]:
    """The keys under which a replay looks for the prose of each round."""
    write = workspace.chronicles.replaying(pinned=True)(ReplayPins({}))
    assert isinstance(write, Drawn)
    stream = workspace.log.stream(SESSION)
    reader = EventReader(stream, UpcastRegistry(), workspace.log.registry)
    admission = Admission(admits, HiddenEvents(workspace.log, SESSION))
    found = stretches(reader, EventTypes(("workbench", "unit.closed")), 1, stream.last_seq(), rest=False)
    return {request_key(write.request_for(admission.admitted(each.events))) for each in found}


def exported(workspace: Workspace, path: Path) -> bytes:
    workspace.chronicle(SESSION).export(path)
    return path.read_bytes()


def test_there_is_a_chronicle_to_look_at_at_once(sample: Workspace) -> None:
    session = sample.chronicle(SESSION)
    assert session.store.holes() == [HOLE]
    assert [each.section_id for each in session.anchors.all() if each.supersedes] == [
        "26-52#2",
        "135-166#2",
        "221-244#2",
    ]
    lag = session.lag()
    assert (lag.closes_next, lag.last_seq) == (HOLE, 284)
    assert not (sample.root / "chronicle").exists()


def test_consolidating_fills_the_hole_without_a_model_and_leaves_the_open_round(sample: Workspace) -> None:
    assert sample.chronicles.trusted()
    written = sample.chronicles.consolidate().written
    assert {stream: [each.section_id for each in anchors] for stream, anchors in written.items()} == {
        SESSION: ["78-108"],
        TASK: ["18-29"],
    }
    session = sample.chronicle(SESSION)
    assert (session.store.holes(), session.lag().due, session.lag().events) == ([], False, 14)
    filled = session.prose.section("78-108")
    assert filled is not None and "1.8 per hundred" in filled.prose


def test_prose_that_repeats_what_was_quarantined_since_is_kept_from_agents(sample: Workspace) -> None:
    task = sample.chronicle(TASK)
    assert task.prose.section("1-7") is not None
    assert task.prose.section("8-13") is None
    stored = task.store.section("8-13")
    assert stored is not None and "mortgaged" in stored.prose
    again = task.reconsolidate("8-13")
    assert "mortgaged" not in again.prose
    assert task.prose.section("8-13#2") == again


def test_no_section_that_is_written_knows_what_only_the_owner_may_read(sample: Workspace) -> None:
    sample.chronicles.consolidate()
    for stream in (SESSION, TASK):
        chronicle = sample.chronicle(stream)
        for section in chronicle.store.sections():
            prose = chronicle.reconsolidate(section.anchor.section_id).prose
            assert "4.87" not in prose and "5,000" not in prose
        assert "4.87" not in chronicle.brief(max_chars=60_000).text


def test_a_replay_gives_the_first_prose_of_every_round_and_draws_nothing(sample: Workspace) -> None:
    session = sample.chronicle(SESSION)
    first = {each.anchor.section_id: each for each in session.store.export()}
    pins = sample.log.stream(PINS).last_seq()
    rebuilt = session.rebuild(replay=True)
    assert rebuilt is not None and (rebuilt.drawn, len(rebuilt.sections)) == (0, ROUNDS)
    assert session.store.holes() == []
    for section in session.store.export():
        before = first.get(section.anchor.section_id)
        if before is None:
            assert section.anchor[1:3] == HOLE and "Two corrections" in section.prose
        else:
            assert section[:3] == before[:3]
    assert sample.log.stream(PINS).last_seq() == pins == 12


def test_the_export_of_a_replay_has_the_same_bytes_each_time_and_in_another_copy(
    sample: Workspace, tmp_path: Path
) -> None:
    session = sample.chronicle(SESSION)
    session.rebuild(replay=True)
    once = exported(sample, tmp_path / "once.jsonl")
    # What was written since without a pin makes no difference: none of it is read.
    session.reconsolidate("1-25")
    session.rebuild(replay=True)
    assert exported(sample, tmp_path / "again.jsonl") == once
    other = materialise(NAME, tmp_path / "other").root
    with Workspace.open(other) as copy:
        copy.chronicles.consolidate()
        rebuilt = copy.chronicle(SESSION).rebuild(replay=True)
        assert rebuilt is not None and rebuilt.drawn == 0
        assert exported(copy, tmp_path / "copy.jsonl") == once


def test_the_recording_as_a_file_replays_to_the_same_bytes(sample: Workspace, tmp_path: Path) -> None:
    session = sample.chronicle(SESSION)
    session.rebuild(replay=True)
    once = exported(sample, tmp_path / "once.jsonl")
    assert session.recording_write(tmp_path / "pins.recording") == 12
    session.reconsolidate("245-270")
    rebuilt = session.rebuild(recording=tmp_path / "pins.recording")
    assert rebuilt is not None and rebuilt.drawn == 0
    assert exported(sample, tmp_path / "again.jsonl") == once


def test_a_recording_of_another_stream_or_of_nothing_changes_no_prose(
    sample: Workspace, tmp_path: Path
) -> None:
    before = exported(sample, tmp_path / "before.jsonl")
    nothing = tmp_path / "nothing.jsonl"
    sample.chronicle(TASK).recording_write(nothing)
    with pytest.raises(RecordingError, match="of another stream"):
        sample.chronicle(SESSION).rebuild(recording=nothing)
    nothing.write_text(nothing.read_text("utf-8").replace(TASK, SESSION), "utf-8")
    with pytest.raises(RecordingError, match=r"line 2 .* not as it was written"):
        sample.chronicle(SESSION).rebuild(recording=nothing)
    write_recording(nothing, [], header={"stream": SESSION})
    with pytest.raises(NotPinned, match="nothing is recorded"):
        sample.chronicle(SESSION).rebuild(recording=nothing)
    assert exported(sample, tmp_path / "after.jsonl") == before


def test_with_a_changed_prompt_every_draw_misses(
    sample: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = exported(sample, tmp_path / "before.jsonl")
    kept = {event.payload["key"] for event in sample.log.stream(PINS).read()}
    assert len(asked(sample) & kept) == ROUNDS
    monkeypatch.setattr(prompt, "_INSTRUCTION", prompt._INSTRUCTION + "Rhyme.\n")
    with pytest.raises(PinMiss) as missed:
        sample.chronicle(SESSION).rebuild(replay=True)
    assert missed.value.divergence is not None and missed.value.divergence.after_hits == 0
    assert len(asked(sample)) == ROUNDS and not asked(sample) & kept
    assert exported(sample, tmp_path / "after.jsonl") == before


def test_a_program_of_another_name_was_not_asked(sample: Workspace, tmp_path: Path) -> None:
    manifest = sample.root / "SSOT_MANIFEST.toml"
    text = manifest.read_text("utf-8")
    manifest.write_text(text.replace('["negotiation-scribe"]', '["another-scribe"]'), encoding="utf-8")
    with Workspace.open(sample.root) as changed, pytest.raises(PinMiss):
        changed.chronicle(SESSION).rebuild(replay=True)


def test_the_times_of_sections_move_with_the_log(laid_out: Path, tmp_path: Path) -> None:
    moved = materialise(NAME, tmp_path / "moved")
    with Workspace.open(laid_out) as then, Workspace.open(moved.root) as now:
        shifts = set()
        for stream in (SESSION, TASK):
            pairs = zip(
                then.chronicle(stream).store.export(), now.chronicle(stream).store.export(), strict=True
            )
            for old, new in pairs:
                assert old.written.position == new.written.position > 0
                shifts.add(new.written.at - old.written.at)
        [shift] = shifts
        [first], [event] = ([*each.log.stream(SESSION).read(0, 1)] for each in (then, now))
        assert event.envelope.recorded_at - first.envelope.recorded_at == timedelta(microseconds=shift)
