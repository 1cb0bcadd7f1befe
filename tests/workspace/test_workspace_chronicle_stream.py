"""A stream's chronicle as a workspace gives it: written, taken out and in, rebuilt, replayed, refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.workspace.chronicle_cases import begin, drawing, drawn, round_of, use, writer
from workbench.chronicle.boundaries import UnknownBoundary
from workbench.chronicle.consolidator import NotPinned
from workbench.chronicle.errors import ChronicleFork, InvalidExport, UnknownSection
from workbench.chronicle.export_file import Loaded
from workbench.chronicle.summarizers.errors import SummarizerFailed
from workbench.log.background_folds import GenerativeRebuild
from workbench.log.pins.errors import PinMiss, RecordingError
from workbench.log.streams import pins_stream
from workbench.storage.errors import DatabaseReadOnly
from workbench.workspace import Workspace
from workbench.workspace.chronicle.background import AGAIN_SECONDS
from workbench.workspace.chronicle.errors import NotConsolidated, UnknownStream, Untrusted
from workbench.workspace.transfer import export_file, import_file

ROUNDS = ["1-5", "6-9"]


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORKBENCH_STATE_DIR", str(tmp_path / "state"))


@pytest.fixture
def plain(tmp_path: Path) -> Workspace:
    workspace = Workspace.create(tmp_path / "plain", title="plain", owner="me", timezone="UTC")
    begin(workspace)
    return workspace


def exported(workspace: Workspace, path: Path, *, times: bool = False) -> bytes:
    workspace.chronicle("s1").export(path, times=times)
    return path.read_bytes()


def test_consolidating_writes_the_closed_rounds_and_leaves_the_open_one(plain: Workspace) -> None:
    chronicle = plain.chronicle("session/s1")
    assert (chronicle.stream, chronicle.lag().closes_next, plain.chronicles.lagging()) == (
        "session/s1",
        (1, 5),
        ["session/s1"],
    )
    told: list[tuple[int, int | None, str]] = []
    written = plain.chronicles.consolidate(progress=lambda *place: told.append(place)).written
    assert {name: [each.section_id for each in anchors] for name, anchors in written.items()} == {
        "session/s1": ROUNDS
    }
    assert [place[0] for place in told] == [0, 5, 9]
    lag = chronicle.lag()
    assert (lag.events, lag.due, plain.chronicles.lagging()) == (1, False, [])
    assert chronicle.anchors.consolidated_through() == 9
    section = chronicle.prose.section("6-9")
    assert section is not None and "round 1 act 0" in section.prose
    page = chronicle.brief()
    assert page.sections == ("1-5", "6-9") and "[10]" in page.text and "open" in page.text
    [job] = plain.jobs.page(10)
    assert (job.kind, job.title, job.summary) == (
        "chronicle",
        "Consolidating session/s1",
        "2 sections written",
    )


def test_a_stream_is_found_by_the_names_that_mean_it(plain: Workspace) -> None:
    manifest = plain.root / "SSOT_MANIFEST.toml"
    plain.memory.record_event("one", project="atlas", task_id="T 1")
    manifest.write_text(manifest.read_text() + '\n[[projects]]\nid = "atlas"\naliases = ["Map book"]\n')
    for given in ("task/global/atlas/t-1", "task/Global/Map book/T 1", "task/global/map%20book/t_1"):
        assert plain.chronicle(given).stream == plain.chronicle("task/global/atlas/t%201").stream
    assert plain.chronicle("s1").stream == plain.chronicle("session/s1").stream == "session/s1"
    for given in ("", "session/", "session/none", "task/global/atlas", "pins/session%2Fs1", "\ud800", "a\0b"):
        with pytest.raises(UnknownStream):
            plain.chronicle(given)


def test_what_was_recorded_under_an_alias_before_it_was_one_is_still_found(plain: Workspace) -> None:
    plain.memory.record_event("one", project="map", task_id="t")
    manifest = plain.root / "SSOT_MANIFEST.toml"
    manifest.write_text(manifest.read_text() + '\n[[projects]]\nid = "atlas"\naliases = ["map"]\n')
    assert plain.chronicle("task/global/atlas/t").stream == "task/global/map/t"


def test_a_kind_without_a_boundary_is_not_consolidated(plain: Workspace) -> None:
    plain.memory.record_event("one", project="atlas")
    chronicle = plain.chronicle("project/global/atlas")
    assert (chronicle.lag().due, chronicle.lag().events) == (False, 1)
    assert "project/global/atlas" not in plain.chronicles.lagging()
    with pytest.raises(NotConsolidated, match="of the kind project"):
        chronicle.consolidate()
    assert "one" in chronicle.brief().text


def test_a_boundary_nobody_registered_is_named_with_its_line(plain: Workspace) -> None:
    manifest = plain.root / "SSOT_MANIFEST.toml"
    manifest.write_text(manifest.read_text() + '\n[chronicle.close]\nsession = ["unit.shut"]\n')
    line = manifest.read_text().split("\n").index('session = ["unit.shut"]') + 1
    with pytest.raises(UnknownBoundary) as refused:
        plain.chronicle("s1").consolidate()
    assert f"SSOT_MANIFEST.toml:{line}: chronicle.close.session: " in refused.value.message
    assert "unit.shut" in refused.value.message and "workbench:" not in refused.value.message
    assert plain.readers.chronicle.streams(5)[0].due_units == 0


def test_a_manifest_that_changes_counts_from_the_next_call_on(plain: Workspace) -> None:
    manifest = plain.root / "SSOT_MANIFEST.toml"
    before = manifest.read_text()
    manifest.write_text(before + "\n[chronicle.close]\nsession = []\n")
    assert not plain.chronicle("s1").lag().due
    manifest.write_text(before + '\n[chronicle.close]\nsession = ["actum.recorded"]\n')
    assert [each.section_id for each in plain.chronicle("s1").consolidate()][:2] == ["1-2", "3-3"]


def test_nothing_is_written_where_nothing_can_be(plain: Workspace) -> None:
    plain.chronicle("s1").consolidate()
    begin(plain, "s2")
    root = plain.root
    plain.close()
    with Workspace.open(root, read_only=True) as reading:
        assert reading.chronicle("s1").brief().sections == ("1-5", "6-9")
        assert reading.chronicle("s2").lag().due
        path = root / "export.jsonl"
        assert reading.chronicle("s1").export(path) == 2
        for write in (
            reading.chronicle("s2").consolidate,
            lambda: reading.chronicle("s1").reconsolidate("1-5"),
            lambda: reading.chronicle("s1").rebuild(discard_generated=True),
            lambda: reading.chronicle("s1").load(path),
        ):
            with pytest.raises(DatabaseReadOnly):
                write()


def test_an_export_travels_into_a_copy_and_again_lands_nothing(plain: Workspace, tmp_path: Path) -> None:
    chronicle = plain.chronicle("s1")
    chronicle.consolidate()
    chronicle.reconsolidate("1-5")
    path = tmp_path / "export.jsonl"
    assert chronicle.export(path) == 3
    assert chronicle.load(path) == Loaded(3, 0)
    chronicle.store.reset()
    assert chronicle.load(path) == Loaded(3, 3)
    assert exported(plain, tmp_path / "again.jsonl") == path.read_bytes()
    other = tmp_path / "other.jsonl"
    other.write_bytes(path.read_bytes().replace(b"round 0", b"round 9"))
    with pytest.raises(InvalidExport, match="line 2 is not as it was written"):
        chronicle.load(other)
    assert [file.name for file in tmp_path.glob("*.part")] == []


def test_a_cancelled_export_leaves_the_file_that_was_there(plain: Workspace, tmp_path: Path) -> None:
    plain.chronicle("s1").consolidate()
    path = tmp_path / "export.jsonl"
    plain.chronicle("s1").export(path)
    before = path.read_bytes()
    round_of(plain, "s1", 2)
    plain.chronicle("s1").consolidate()
    assert plain.chronicle("s1").export(path, cancelled=lambda: True) is None
    assert path.read_bytes() == before and [each.name for each in tmp_path.glob(".chronicle*")] == []


def test_each_stretch_is_drawn_once_and_its_pin_is_committed_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with drawing(tmp_path, monkeypatch) as workspace:
        chronicle = workspace.chronicle("s1")
        assert [each.section_id for each in chronicle.consolidate()] == ROUNDS
        assert chronicle.consolidate() == [] and drawn(tmp_path) == 2
        promoted = list(workspace.log.stream(pins_stream("session/s1")).read())
        sections = chronicle.store.sections()
        assert [each.payload["key"] for each in promoted] == [each.pins[0] for each in sections]
        assert [each.payload["result"]["text"].strip() for each in promoted] == [
            each.prose.strip() for each in sections
        ]
        assert [each.written.summarizer for each in sections] == ["command", "command"]
        assert chronicle.lag().last_seq == 10


def test_a_replay_gives_the_same_bytes_and_draws_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with drawing(tmp_path, monkeypatch) as workspace:
        chronicle = workspace.chronicle("s1")
        chronicle.consolidate()
        before = exported(workspace, tmp_path / "before", times=True)
        chronicle.reconsolidate("1-5")
        assert drawn(tmp_path) == 3
        # What was written again has the same key, and is not what a replay gives.
        rebuilt = chronicle.rebuild(replay=True)
        assert rebuilt is not None and (len(rebuilt.sections), rebuilt.drawn) == (2, 0)
        again = exported(workspace, tmp_path / "again", times=True)
        assert again == before and drawn(tmp_path) == 3
        recording = tmp_path / "recording"
        assert chronicle.recording_write(recording) == 3
        assert len(chronicle.recording_read(recording).events) == 3
        assert chronicle.rebuild(recording=recording) == rebuilt
        assert exported(workspace, tmp_path / "again", times=True) == before and drawn(tmp_path) == 3


def test_a_rebuild_becomes_what_is_replayed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with drawing(tmp_path, monkeypatch) as workspace:
        chronicle = workspace.chronicle("s1")
        chronicle.consolidate()
        with pytest.raises(GenerativeRebuild):
            chronicle.rebuild()
        rebuilt = chronicle.rebuild(discard_generated=True)
        assert rebuilt is not None and rebuilt.drawn == 2 and drawn(tmp_path) == 4
        new = exported(workspace, tmp_path / "new")
        assert b"Draw 4" in new
        chronicle.rebuild(replay=True)
        assert exported(workspace, tmp_path / "again") == new and drawn(tmp_path) == 4


def test_with_another_program_every_draw_misses_and_nothing_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with drawing(tmp_path, monkeypatch) as workspace:
        chronicle = workspace.chronicle("s1")
        chronicle.consolidate()
        before = exported(workspace, tmp_path / "before", times=True)
        use(workspace.root, writer(tmp_path, version="2"))
        with pytest.raises(PinMiss) as missed:
            chronicle.rebuild(replay=True)
        assert missed.value.divergence.after_hits == 0
        assert missed.value.message.endswith("(events 1 to 5 of session/s1)")
        assert exported(workspace, tmp_path / "after", times=True) == before and drawn(tmp_path) == 2
        manifest = workspace.root / "SSOT_MANIFEST.toml"
        manifest.write_text(manifest.read_text().split("\n[chronicle]\n")[0] + "\n")
        with pytest.raises(NotPinned):
            chronicle.rebuild(replay=True)
        (tmp_path / "no").write_text("no recording\n")
        with pytest.raises(RecordingError):
            chronicle.rebuild(recording=tmp_path / "no")
        assert exported(workspace, tmp_path / "after", times=True) == before


def test_what_a_failed_rebuild_drew_is_not_drawn_again_and_not_replayed_before_it_is_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with drawing(tmp_path, monkeypatch) as workspace:
        chronicle = workspace.chronicle("s1")
        chronicle.consolidate()
        before = exported(workspace, tmp_path / "before")
        (tmp_path / "fail-at").write_text("4")
        with pytest.raises(SummarizerFailed):
            chronicle.rebuild(discard_generated=True)
        assert drawn(tmp_path) == 4 and exported(workspace, tmp_path / "after") == before
        round_of(workspace, "s1", 2)
        chronicle.consolidate()
        chronicle.rebuild(replay=True)
        assert chronicle.store.sections()[0].prose.startswith("Draw 1 ")
        rebuilt = chronicle.rebuild(discard_generated=True)
        assert rebuilt is not None and (rebuilt.drawn, drawn(tmp_path)) == (3, 7)
        assert chronicle.store.sections()[0].prose.startswith("Draw 3 ")


def test_reconsolidating_refuses_what_is_superseded_or_unknown_before_it_draws(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with drawing(tmp_path, monkeypatch) as workspace:
        chronicle = workspace.chronicle("s1")
        chronicle.consolidate()
        assert chronicle.reconsolidate("1-5").anchor.supersedes == "1-5"
        with pytest.raises(ChronicleFork):
            chronicle.reconsolidate("1-5")
        with pytest.raises(UnknownSection):
            chronicle.reconsolidate("2-3")
        assert drawn(tmp_path) == 3
        assert chronicle.reconsolidate("1-5#2").anchor.section_id == "1-5#3"


def test_a_summarizer_that_fails_leaves_what_it_wrote_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with drawing(tmp_path, monkeypatch, "fails") as workspace:
        chronicle = workspace.chronicle("s1")
        with pytest.raises(SummarizerFailed, match=r"no luck.*events 1 to 5 of session/s1") as failed:
            chronicle.consolidate()
        assert "workbench chronicle consolidate --stream session/s1" in failed.value.hint
        assert "workbench jobs" in failed.value.hint
        [job] = workspace.jobs.page(5)
        assert (job.status, "no luck" in job.error) == ("failed", True)
        (tmp_path / "mended").touch()
        assert len(chronicle.consolidate()) == 2
        (tmp_path / "mended").unlink()
        with pytest.raises(SummarizerFailed, match=r"section 1-5, events 1 to 5 of session/s1") as failed:
            chronicle.reconsolidate("1-5")
        assert "workbench chronicle reconsolidate 1-5 --stream session/s1" in failed.value.hint


def test_a_stream_that_fails_keeps_no_other_one_waiting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with drawing(tmp_path, monkeypatch) as workspace:
        begin(workspace, "s2")
        (tmp_path / "fail-at").write_text("2")
        done = workspace.chronicles.consolidate()
        assert {name: len(anchors) for name, anchors in done.written.items()} == {"session/s2": 2}
        [failure] = done.failures
        assert (failure.stream, failure.at, done.unknown, done.stopped) == ("session/s1", (6, 9), [], False)
        assert isinstance(failure.error, SummarizerFailed) and "not now" in failure.error.message
        assert "events 6 to 9 of session/s1" in failure.error.message and failure.error.hint
        done = workspace.chronicles.consolidate()
        assert (list(done.written), done.failures) == (["session/s1"], [])


def test_a_boundary_nobody_registered_is_said_once_and_other_kinds_are_written(plain: Workspace) -> None:
    begin(plain, "s2")
    checkpoint = {
        "goal": "a goal",
        "completed": [],
        "verification": [],
        "open_questions": [],
        "next_steps": [],
    }
    plain.memory.record_event("done", project="atlas", task_id="T1", checkpoint=checkpoint)
    manifest = plain.root / "SSOT_MANIFEST.toml"
    before = manifest.read_text()
    manifest.write_text(before + '\n[chronicle.close]\nsession = ["unit.shut"]\n')
    assert plain.chronicles.lagging() == ["task/global/atlas/t1"]
    done = plain.chronicles.consolidate()
    assert (list(done.written), done.failures) == (["task/global/atlas/t1"], [])
    [unknown] = done.unknown
    assert unknown.kind == "session" and "chronicle.close.session: " in unknown.error.message
    background = plain.chronicles.background()
    assert background.look() == AGAIN_SECONDS
    assert isinstance(background.state.error, UnknownBoundary)
    manifest.write_text(before)
    assert background.look() is None and background.state.error is None
    assert not plain.chronicle("s1").lag().due and not plain.chronicle("s2").lag().due


def test_nothing_a_manifest_names_runs_before_the_person_said_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with drawing(tmp_path, monkeypatch, trust=False) as workspace:
        chronicle = workspace.chronicle("s1")
        for write in (
            chronicle.consolidate,
            workspace.chronicles.consolidate,
            lambda: chronicle.reconsolidate("1-5"),
            lambda: chronicle.rebuild(discard_generated=True),
        ):
            with pytest.raises(Untrusted, match="names a program") as refused:
                write()
            assert "workbench trust" in refused.value.hint
        assert (drawn(tmp_path), workspace.jobs.count(), workspace.chronicles.trusted()) == (0, 0, False)
        assert workspace.chronicles.trust() and not workspace.chronicles.trust()
        assert len(chronicle.consolidate()) == 2
        shown = workspace.chronicles.summarizer_settings()
        use(workspace.root, [*writer(tmp_path), "--more"])
        # What was shown is trusted, and not what stands there by now.
        assert workspace.chronicles.trust(shown) is False
        with pytest.raises(Untrusted):
            chronicle.reconsolidate("1-5")
        use(workspace.root, writer(tmp_path), timeout_seconds=7)
        assert workspace.chronicles.trusted()
    kept = list((tmp_path / "state" / "trusted").iterdir())
    assert len(kept) == 1 and kept[0].stat().st_mode & 0o077 == 0
    moved = (tmp_path / "ws").rename(tmp_path / "moved")
    with Workspace.open(moved) as workspace:
        assert not workspace.chronicles.trusted()


def test_an_endpoint_is_not_contacted_before_the_person_said_so(plain: Workspace) -> None:
    manifest = plain.root / "SSOT_MANIFEST.toml"
    said = '\n[chronicle]\nsummarizer = "openai"\nmodel = "m"\nbase_url = "http://127.0.0.1:9/v1"\n'
    manifest.write_text(manifest.read_text() + said)
    with pytest.raises(Untrusted, match="an endpoint"):
        plain.chronicle("s1").consolidate()
    plain.chronicles.trust()
    manifest.write_text(manifest.read_text().replace("127.0.0.1:9", "127.0.0.2:9"))
    with pytest.raises(Untrusted):
        plain.chronicle("s1").consolidate()


def test_the_books_travel_with_the_log_and_a_replay_there_draws_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with drawing(tmp_path, monkeypatch) as workspace:
        workspace.chronicle("s1").consolidate()
        before = exported(workspace, tmp_path / "before")
        log = tmp_path / "log.jsonl"
        export_file(workspace.log, log)
        with Workspace.create(tmp_path / "copy", title="ws", owner="me", timezone="UTC") as copy:
            import_file(copy.log, log)
            # The sections did not travel, and nothing there is trusted: neither is needed.
            assert not copy.chronicle("s1").anchors.all()
            use(copy.root, writer(tmp_path))
            assert not copy.chronicles.trusted()
            copy.chronicle("s1").rebuild(replay=True)
            assert exported(copy, tmp_path / "there") == before and drawn(tmp_path) == 2
            export_file(copy.log, tmp_path / "again.jsonl")
        assert (tmp_path / "again.jsonl").read_bytes() == log.read_bytes()


def test_doctor_finds_nothing_wrong_with_a_chronicle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with drawing(tmp_path, monkeypatch) as workspace:
        before = {each.code for each in workspace.doctor().findings}
        chronicle = workspace.chronicle("s1")
        chronicle.consolidate()
        chronicle.reconsolidate("1-5")
        assert {each.code for each in workspace.doctor().findings} == before
        assert workspace.rescan().secrets == {}


def test_a_secret_that_a_program_writes_is_in_no_section_and_no_pin(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with drawing(tmp_path, monkeypatch) as workspace:
        secret = "ghp_" + "a1B2c3D4" * 4 + "e5F6"
        program = tmp_path / "writer.py"
        program.write_text(program.read_text().replace('print("Draw"', f'print("the key is {secret}"'))
        chronicle = workspace.chronicle("s1")
        chronicle.consolidate()
        assert "the key is [redacted" in chronicle.store.sections()[0].prose.lower()
        root = workspace.root
    stored = b"".join(each.read_bytes() for each in root.glob("chronicle.db*"))
    assert secret.encode() not in stored
