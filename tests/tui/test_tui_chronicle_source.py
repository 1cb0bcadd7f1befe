"""What the Chronicle screen reads: the tree in pages, words in the prose, counts, and earlier moments."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from tests.workspace.chronicle_cases import begin, round_of, said
from workbench.chronicle.sections import Anchor, Section, Written
from workbench.log.streams import session_stream
from workbench.tui.chronicle.nodes import Node, OlderNode, OpenNode, RangeNode, StreamNode
from workbench.tui.chronicle.tree_source import TreeSource
from workbench.workspace import Workspace
from workbench.workspace.readers.chronicle_counts_queries import ChronicleCounts
from workbench.workspace.readers.chronicle_past_queries import ChroniclePast
from workbench.workspace.readers.chronicle_search_queries import ChronicleSearch

S1, S2, S3 = "session/s1", "session/s2", "session/s3"


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    """Three sessions: s1 with a hole and three generations, s2 told whole, s3 not told."""
    root = tmp_path_factory.mktemp("screens") / "w"
    with Workspace.create(root, title="w", owner="me", timezone="UTC") as made:
        begin(made, "s1", rounds=6)
        begin(made, "s2", rounds=2)
        begin(made, "s3", rounds=1)
        made.chronicle(S2).consolidate()
        store = made.chronicle(S1).store
        position = made.log.last_position()
        ranges = [(1, 5), (6, 9), (14, 17), (18, 21)]
        for number, (first, last) in enumerate(ranges):
            prose = f"Round {number}: the ёлка stands."
            store.append(
                Section(
                    Anchor(f"{first}-{last}", first, last, last), prose, (), Written(position, 1, "x", "1")
                )
            )
        made.log.append(session_stream("s3"), [said("s3", "later", 990)])
        for generation, old in ((2, "6-9"), (3, "6-9#2")):
            anchor = Anchor(f"6-9#{generation}", 6, 9, 9, old)
            note = Written(made.log.last_position(), 2, "y", "2")
            store.append_new(Section(anchor, f"Told again, {generation}: a comet.", (), note))
        yield made


def short(node: Node) -> str:
    match node:
        case StreamNode():
            return node.stream
        case RangeNode():
            return node.row.anchor.section_id
        case OlderNode():
            return f"old {node.section.anchor.section_id}"
        case OpenNode():
            return f"{'hole' if node.hole else 'open'} {node.first}-{node.last}"


WHOLE = [
    S3,
    "open 1-7",
    S2,
    "1-5",
    "6-9",
    "open 10-10",
    S1,
    "1-5",
    "6-9#3",
    "old 6-9#2",
    "old 6-9",
    "hole 10-13",
    "14-17",
    "18-21",
    "open 22-26",
]


def tree(workspace: Workspace, *opened: str) -> TreeSource:
    counts = ChronicleCounts(workspace.log, lambda: workspace.manifest.chronicle.close)
    return TreeSource(workspace.readers.chronicle, frozenset(opened), counts)


def test_the_tree_is_the_same_from_either_end_and_around_each_of_its_rows(workspace: Workspace) -> None:
    source = tree(workspace, S1, S2, S3)
    rows = source.first(100).rows
    assert [short(row) for row in rows] == WHOLE
    last = source.last(100)
    assert [short(row) for row in last.rows] == WHOLE and last.at_start and last.at_end
    for at, row in enumerate(rows):
        assert [short(each) for each in source.after(row, 3).rows] == WHOLE[at + 1 : at + 4]
        assert [short(each) for each in source.before(row, 3).rows] == WHOLE[max(0, at - 3) : at]
        for place in (row, row.key):
            page = source.around(place, 4)
            assert page.focus is not None and page.rows[page.focus].key == row.key
            assert [short(each) for each in page.rows] == WHOLE[max(0, at - 2) : at + 3]
    fractions = [source.fraction(row) for row in rows]
    assert all(one <= other for one, other in pairwise(fractions))


def test_rows_are_counted_without_reading_them_as_walking_counts_them(workspace: Workspace) -> None:
    for opened in ((), (S1,), (S2, S3), (S1, S2, S3), ("session/none",)):
        source = tree(workspace, *opened)
        walked = TreeSource(workspace.readers.chronicle, frozenset(opened))
        counted = source.count(lambda: False, lambda found: None)
        assert counted == walked.count(lambda: False, lambda found: None) == len(source.first(100).rows)


def test_a_place_that_is_gone_leads_to_what_it_stood_under(workspace: Workspace) -> None:
    source = tree(workspace, S1)
    found = {
        ("range", S1, 3): S1,
        ("older", S1, 6, 9): "6-9#3",
        ("open", S1, 12): "hole 10-13",
        ("open", S1, 6): "6-9#3",
        ("range", S2, 6): S2,
    }
    for key, expected in found.items():
        page = source.around(key, 10)
        assert page.focus is not None and short(page.rows[page.focus]) == expected, key
    gone = source.around(("stream", "session/none"), 10)
    assert gone.focus == 0


def test_words_are_found_in_current_prose_of_every_stream_in_pages_both_ways(workspace: Workspace) -> None:
    search = ChronicleSearch(workspace.log, workspace.readers.chronicle)
    found = search.page("елка", 10)
    assert [each.row.anchor.section_id for each in found] == ["18-21", "14-17", "1-5"]
    assert [each.row.anchor.section_id for each in search.page("елка", 2)] == ["18-21", "14-17"]
    middle = found[1].row_id
    assert [each.row.anchor.section_id for each in search.page("елка", 9, after=middle)] == ["1-5"]
    assert [each.row.anchor.section_id for each in search.page("елка", 9, before=middle)] == ["18-21"]
    assert [each.row.anchor.section_id for each in search.page("елка", 1, before=0)] == ["1-5"]
    assert search.count("елка", lambda: False, lambda number: None) == 3
    assert [each.row.anchor.section_id for each in search.page("com", 10)] == ["6-9#3"]
    assert search.page("comet тише", 10) == [] == search.page('" *', 10)
    first = min(each.row.written.position for each in found)
    past = ChronicleSearch(workspace.log, workspace.readers.chronicle, first)
    assert past.page("comet", 10) == [] and len(past.page("елка", 10)) == 3


def test_the_words_around_a_hit_stand_in_its_row(tmp_path: Path) -> None:
    long = "A word. " * 60 + "Then the zeppelin came down behind the barn."
    with Workspace.create(tmp_path / "w", title="w", owner="me", timezone="UTC") as workspace:
        begin(workspace, "s1", rounds=1)
        store = workspace.chronicle(S1).store
        store.append(Section(Anchor("1-5", 1, 5, 5), long, (), Written(1, 1, "x", "1")))
        (found,) = ChronicleSearch(workspace.log, workspace.readers.chronicle).page("zepp", 5)
        assert "zeppelin came down" in found.row.words and found.row.words.startswith("… ")


def test_the_past_has_the_generations_and_streams_of_then(workspace: Workspace) -> None:
    reader = workspace.readers.chronicle
    told, again = (each.written.position for each in reader.generations(S1, 6, 9)[:2])
    assert told < again

    def rows(position: int) -> list[str]:
        past = ChroniclePast(workspace.log, reader, position)
        return [short(row) for row in TreeSource(past, frozenset((S1,))).first(50).rows]

    assert rows(again) == [S3, S2, S1, "1-5", "6-9#3", "old 6-9#2", "old 6-9", "hole 10-13", "14-17", "18-21"]
    assert rows(told) == [S3, S2, S1, "1-5", "6-9", "hole 10-13", "14-17", "18-21"]
    assert rows(5) == [S1]
    assert rows(0) == []
    past = ChroniclePast(workspace.log, reader, told)
    source = TreeSource(past, frozenset((S1,)))
    assert [short(row) for row in source.last(50).rows] == rows(told)
    assert [short(row) for row in source.last(3).rows] == rows(told)[-3:]


def test_another_round_shows_as_open_until_it_is_told(tmp_path: Path) -> None:
    with Workspace.create(tmp_path / "w", title="w", owner="me", timezone="UTC") as workspace:
        begin(workspace, "s1", rounds=1)
        workspace.chronicle(S1).consolidate()
        source = tree(workspace, S1)
        assert [short(row) for row in source.first(9).rows] == [S1, "1-5", "open 6-6"]
        round_of(workspace, "s1", 7)
        assert [short(row) for row in source.first(9).rows] == [S1, "1-5", "open 6-10"]
        workspace.chronicle(S1).consolidate()
        assert [short(row) for row in source.first(9).rows] == [S1, "1-5", "6-10"]
