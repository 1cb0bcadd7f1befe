"""What a screen of chronicles reads: streams, ranges, generations, cited events; a few at a time."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest

from tests.workspace.chronicle_cases import begin, round_of, said
from workbench.chronicle.sections import Anchor, Section, section_id
from workbench.log.streams import session_stream
from workbench.workspace import Workspace
from workbench.workspace.manifest.checking import check_manifest
from workbench.workspace.readers.chronicle_queries import HoleRow


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    with Workspace.create(tmp_path / "ws", title="ws", owner="me", timezone="UTC") as made:
        begin(made, rounds=6)
        yield made


def test_streams_come_in_pages_the_newest_first(workspace: Workspace) -> None:
    for number in range(2, 7):
        begin(workspace, f"s{number}", rounds=0)
    workspace.memory.record_event("of a project", project="atlas")
    workspace.memory.record_event("of a task", project="atlas", task_id="T 1")
    reader = workspace.readers.chronicle
    rows = reader.streams(50)
    # A project's has no boundary and no sections.
    assert [row.stream for row in rows] == [
        "task/global/atlas/t-1",
        *(f"session/s{n}" for n in range(6, 0, -1)),
    ]
    assert (rows[0].title, rows[0].domain, rows[0].project, rows[0].task_id) == (
        "t-1",
        "global",
        "atlas",
        "t-1",
    )
    paged = [*reader.streams(3), *reader.streams(3, after=rows[2]), *reader.streams(3, after=rows[5])]
    assert paged == rows and reader.streams(3, before=rows[4]) == rows[1:4]
    assert reader.streams(3, before=rows[0]) == [] and reader.stream("session/s3") == rows[4]
    assert reader.stream("session/none") is None


def test_a_stream_says_how_far_its_chronicle_is(workspace: Workspace) -> None:
    reader = workspace.readers.chronicle
    chronicle = workspace.chronicle("s1")
    row = reader.streams(1)[0]
    assert (row.sections, row.consolidated_through, row.due_units, row.lag_events) == (0, 0, 6, 26)
    stops = iter((False, False, False, False))
    chronicle.consolidate(cancelled=lambda: next(stops, True))
    done = len(chronicle.anchors.all())
    row = reader.streams(1)[0]
    assert done > 0 and (row.sections, row.due_units) == (done, 6 - done)
    chronicle.consolidate()
    row = reader.streams(1)[0]
    assert (row.sections, row.due_units, row.lag_events, row.title) == (6, 0, 1, "round 0 act 0")
    assert workspace.status()["summary"].items() >= {"sections": 6, "lagging_streams": 0}.items()
    round_of(workspace, "s1", 6)
    assert reader.streams(1)[0].due_units == 1
    assert workspace.status()["summary"].items() >= {"sections": 6, "lagging_streams": 1}.items()


def test_a_hole_counts_as_a_stretch_that_waits(workspace: Workspace) -> None:
    chronicle = workspace.chronicle("s1")
    chronicle.consolidate()
    kept = chronicle.store.sections()
    chronicle.store.reset()
    for section in (*kept[:2], *kept[3:]):
        chronicle.store.append(section)
    row = workspace.readers.chronicle.streams(1)[0]
    # The four events of the hole and the one that nothing closed; what stands behind the hole waits for nothing.
    assert (row.due_units, row.consolidated_through, row.lag_events) == (1, 9, 5)
    assert chronicle.lag() == (26, 9, (10, 13), 5)
    page = workspace.readers.chronicle.page("session/s1", 10)
    assert [each.after_gap for each in page] == [False, False, True, False, False]


def test_a_list_of_ranges_shows_each_hole_where_it_lies(workspace: Workspace) -> None:
    chronicle = workspace.chronicle("s1")
    chronicle.consolidate()
    kept = chronicle.store.sections()
    chronicle.store.reset()
    for section in (kept[1], kept[2], kept[5]):
        chronicle.store.append(section)
    reader = workspace.readers.chronicle
    entries = reader.entries("session/s1", 50)
    holes = [entry for entry in entries if isinstance(entry, HoleRow)]
    assert holes == [
        HoleRow(from_seq=1, to_seq=5, before="6-9"),
        HoleRow(from_seq=14, to_seq=21, before="22-25"),
    ]
    ranges = reader.page("session/s1", 50)
    assert entries == [holes[0], *ranges[:2], holes[1], ranges[2]]
    begins = [each.from_seq if isinstance(each, HoleRow) else each.anchor.from_seq for each in entries]
    for limit in range(1, 6):
        for at, begin_of in enumerate(begins):
            assert reader.entries("session/s1", limit, after=begin_of) == entries[at + 1 :][:limit]
            assert reader.entries("session/s1", limit, before=begin_of) == entries[max(0, at - limit) : at]
        assert reader.entries("session/s1", limit, before=99) == entries[-limit:]
    assert reader.entries("session/none", 5) == []


def test_ranges_come_in_pages_with_their_generations(workspace: Workspace) -> None:
    chronicle = workspace.chronicle("s1")
    chronicle.consolidate()
    chronicle.reconsolidate("6-9")
    chronicle.reconsolidate("6-9#2")
    reader = workspace.readers.chronicle
    rows = reader.page("session/s1", 50)
    assert [row.anchor.section_id for row in rows][:3] == ["1-5", "6-9#3", "10-13"]
    assert [row.generation for row in rows] == [1, 3, 1, 1, 1, 1]
    assert reader.page("session/s1", 2, after=6) == rows[2:4]
    assert reader.page("session/s1", 2, before=14) == rows[1:3] and reader.last("session/s1", 2) == rows[4:]
    assert [each.anchor.section_id for each in reader.generations("session/s1", 6, 9)] == [
        "6-9",
        "6-9#2",
        "6-9#3",
    ]
    covering = reader.covering("session/s1", 8)
    assert covering is not None and covering.anchor.section_id == "6-9#3"
    assert "\n" not in rows[0].words and "round 0 act 0" in rows[0].words
    [found] = reader.search("session/s1", "round 3 act 2", 1)
    assert found.anchor.section_id == "14-17"
    assert reader.page("session/none", 5) == reader.last("session/none", 5) == []


def test_the_events_of_a_range_come_in_pages_as_the_timeline_shows_them(workspace: Workspace) -> None:
    begin(workspace, "s2")
    reader = workspace.readers.chronicle
    rows = reader.events("session/s1", 6, 9, 50)
    assert [row.seq for row in rows] == [6, 7, 8, 9] and {row.stream for row in rows} == {"session/s1"}
    assert [row.type for row in rows] == ["actum.recorded"] * 3 + ["unit.closed"]
    assert [row.seq for row in reader.events("session/s1", 6, 9, 2, after=7)] == [8, 9]
    assert [row.seq for row in reader.events("session/s1", 6, 9, 2)] == [6, 7]
    assert reader.events("session/s1", 6, 9, 2, after=9) == reader.events("session/none", 1, 9, 5) == []
    assert reader.position("session/s1", 7) == rows[1].position
    assert reader.position("session/s1", 700) is None


def test_reading_a_page_costs_the_same_however_many_sections_there_are(tmp_path: Path) -> None:
    steps: dict[int, int] = {}
    for many in (300, 1500):
        with Workspace.create(tmp_path / str(many), title="x", owner="me", timezone="UTC") as workspace:
            begin(workspace, rounds=0)
            workspace.log.append(session_stream("s1"), [said("s1", "act", number) for number in range(many)])
            reader = workspace.readers.chronicle
            workspace.chronicle("s1").store.load(
                Section(Anchor(section_id(seq, seq), seq, seq, seq), f"prose {seq}")
                for seq in range(1, many + 1)
            )
            counted: list[int] = []
            with workspace.log.reader() as connection:
                connection.trace_v2(
                    apsw.SQLITE_TRACE_PROFILE,
                    lambda event, counted=counted: counted.append(  # type: ignore[misc]
                        event["stmt_status"]["SQLITE_STMTSTATUS_VM_STEP"]
                    ),
                )
                middle = many // 2
                assert len(reader.page("session/s1", 20, after=middle)) == 20
                assert len(reader.page("session/s1", 20, before=middle)) == 20
                assert len(reader.events("session/s1", middle, middle + 20, 20)) == 20
                assert len(reader.entries("session/s1", 20, after=middle)) == 20
                assert len(reader.entries("session/s1", 20, before=middle)) == 20
                workspace.chronicle("s1").brief()
                connection.trace_v2(0, None)
            steps[many] = sum(counted)
    assert steps[1500] < 1.2 * steps[300]


def test_a_boundary_that_closes_nothing_is_advised_against_with_its_line(workspace: Workspace) -> None:
    manifest = workspace.root / "SSOT_MANIFEST.toml"
    lines = ["", "[chronicle.close]", 'task = ["checkpoint.recorded", "unit.shut"]', "sesion = []", ""]
    manifest.write_text(manifest.read_text() + "\n".join(lines))
    at = manifest.read_text().split("\n").index("sesion = []") + 1
    found = [(each.line, each.key, each.severity) for each in check_manifest(manifest)]
    assert found == [
        (at - 1, "chronicle.close.task[1]", "warning"),
        (at, "chronicle.close.sesion", "warning"),
    ]
