"""The sources and the drawing behind the Sessions screen."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from tests.tui.hostile_text import HOSTILE, unseen
from tests.tui.sessions_probe import DESCRIBED, NOW, TALK, act, call, make_workspace, response
from workbench.tui.document import Document
from workbench.tui.present import Line, visible
from workbench.tui.sessions.calls import call_summary, extent, outcome, tool_name
from workbench.tui.sessions.context_window import MOST, STEPS, step
from workbench.tui.sessions.entry_rows import EntryRows
from workbench.tui.sessions.entry_source import Entry, EntrySource
from workbench.tui.sessions.session_head import about_blocks, head_lines, span_text
from workbench.tui.sessions.session_rows import SessionRows, people_of, project_of
from workbench.tui.sessions.session_source import SessionSource
from workbench.tui.sessions.shown import ACTOR_KINDS, KINDS, Shown
from workbench.tui.sessions.switch_bar import Switch, bar_lines
from workbench.tui.sessions.whole_actum import actum_blocks
from workbench.tui.widgets.row_renderer import RowState
from workbench.workspace import Workspace
from workbench.workspace.readers.rewinds import Stretch
from workbench.workspace.rows import ActumRow, SessionFilter, SessionRow

ZONE = ZoneInfo("Europe/Berlin")
WHEN = datetime(2026, 3, 1, 9, 5, tzinfo=UTC)
texts = st.text() | st.sampled_from(HOSTILE)
shown_switches = st.builds(Shown, st.frozensets(st.sampled_from([*KINDS, *ACTOR_KINDS])), st.booleans())


def actum(content: str = "hello", **fields: Any) -> ActumRow:
    values: dict[str, Any] = {
        "position": 9,
        "seq": 4,
        "id": "id-4",
        "chronicum_id": "s",
        "kind": "message",
        "actor_kind": "agent",
        "actor": "coder",
        "content": content,
        "at": WHEN,
        "occurred_at": None,
        "private": False,
        "metadata": {},
        "content_chars": len(content),
    }
    return ActumRow(**{**values, **fields})


def session(**fields: Any) -> SessionRow:
    values: dict[str, Any] = {
        "id": "s",
        "owner_id": "maya",
        "stream": "session/s",
        "started_at": WHEN,
        "last_activity_at": WHEN,
        "first_at": WHEN,
        "last_at": WHEN,
        "acta": 3,
        "by_kind": {"message": 3},
        "actors": ("coder", "maya"),
        "actor_count": 2,
        "source": "recorded",
        "title": "A title",
    }
    return SessionRow(**{**values, **fields})


def drawn(line: Line) -> str:
    return "".join(visible(span.text) for span in line)


@contextmanager
def entries_of(path: Path, *payloads: Any) -> Iterator[Workspace]:
    make_workspace(path, {"s": payloads})
    with Workspace.open(path) as workspace:
        yield workspace


def source(workspace: Workspace, shown: Shown | None = None) -> EntrySource:
    return EntrySource(workspace.readers.entries, "s", shown or Shown(), ZONE)


# The source of entries


def walk(found: EntrySource, size: int, *, backwards: bool = False) -> list[Entry]:
    """Every row, read page by page from one end."""
    page = found.last(size) if backwards else found.first(size)
    rows = list(page.rows)
    while rows and not (page.at_start if backwards else page.at_end):
        page = found.before(rows[0], size) if backwards else found.after(rows[-1], size)
        rows = [*page.rows, *rows] if backwards else [*rows, *page.rows]
    return rows


@pytest.mark.parametrize("shown", [Shown(), Shown(folded=False), Shown(frozenset({"message", "human"}))])
def test_pages_of_any_size_from_either_end_give_the_same_rows(tmp_path: Path, shown: Shown) -> None:
    with entries_of(tmp_path / "w", DESCRIBED, *TALK) as workspace:
        found = source(workspace, shown)
        whole = found.first(100)
        assert whole.at_start and whole.at_end
        for size in (1, 2, 3, 5, 50):
            assert walk(found, size) == list(whole.rows)
            assert walk(found, size, backwards=True) == list(whole.rows)
            for at, row in enumerate(whole.rows):
                page = found.around(row.seq, 2 * size)
                assert page.focus is not None
                assert page.rows[page.focus] == whole.rows[at]


def test_a_folded_response_is_found_at_its_call(tmp_path: Path) -> None:
    with entries_of(tmp_path / "w", *TALK) as workspace:
        page = source(workspace).around(5, 10)
        assert page.focus is not None
        assert page.rows[page.focus].seq == 4


def test_only_the_first_response_is_folded(tmp_path: Path) -> None:
    payloads = [call("Bash", "{}", "c"), response("Bash", "one", "c"), response("Bash", "two", "c")]
    with entries_of(tmp_path / "w", *payloads, response("Bash", "lost", "other")) as workspace:
        rows = source(workspace).first(10).rows
        assert [row.seq for row in rows] == [2, 4, 5]
        assert rows[0].reply is not None and rows[0].reply.content == "one"


def test_many_folded_responses_in_a_row_do_not_end_the_list(tmp_path: Path) -> None:
    calls = [call("Bash", "{}", f"c{number}") for number in range(30)]
    answers = [response("Bash", "done", f"c{number}") for number in range(30)]
    with entries_of(tmp_path / "w", *calls, *answers, act("the end")) as workspace:
        rows = walk(source(workspace), 5)
        assert len(rows) == 31
        assert walk(source(workspace), 5, backwards=True) == rows
        assert source(workspace).count(lambda: False, lambda found: None) == 31


def test_nothing_is_read_where_everything_is_switched_off(tmp_path: Path) -> None:
    with entries_of(tmp_path / "w", *TALK) as workspace:
        found = source(workspace, Shown(frozenset({"human", "agent", "system", "unit_closed"})))
        assert found.first(10).rows == ()
        assert found.around(5, 10).rows == ()
        assert found.total() == 0


def test_days_and_neighbours_are_known_at_the_edge_of_a_page(tmp_path: Path) -> None:
    late = datetime(2026, 2, 3, 23, 30, tzinfo=UTC)
    payloads = [
        act("one", occurred_at=datetime(2026, 2, 3, 22, 30, tzinfo=UTC)),
        # Half past midnight in Berlin: a new day.
        act("two", occurred_at=late),
        act("three", occurred_at=late),
    ]
    with entries_of(tmp_path / "w", *payloads) as workspace:
        rows = walk(source(workspace), 1)
        assert [row.new_day for row in rows] == [True, True, False]
        assert [row.same_actor for row in rows] == [False, True, True]
        assert [row.first for row in rows] == [True, False, False]


@given(shown_switches)
def test_switches_survive_being_remembered(shown: Shown) -> None:
    assert Shown.from_text(shown.as_text()) == shown
    assert Shown.from_text(shown.as_text() + " something else") == shown
    wanted = shown.wanted()
    assert (wanted is None) == (not shown.acta and not shown.has("unit_closed"))
    for name in (*KINDS, *ACTOR_KINDS):
        assert shown.toggled(name).has(name) != shown.has(name)
        assert shown.toggled(name).toggled(name) == shown


# The source of sessions


def test_sessions_from_either_end_and_around_any(tmp_path: Path) -> None:
    root = make_workspace(tmp_path / "w", {f"s{number}": (act(f"ask {number}"),) for number in range(9)})
    with Workspace.open(root) as workspace:
        for wanted in (SessionFilter(), SessionFilter(text="ask")):
            found = SessionSource(workspace.readers.sessions, wanted)
            ids = [f"s{number}" for number in reversed(range(9))]
            assert [row.id for row in found.first(20).rows] == ids
            assert [row.id for row in found.last(4).rows] == ids[-4:]
            rows = found.first(20).rows
            assert [row.id for row in found.after(rows[2], 3).rows] == ids[3:6]
            assert [row.id for row in found.before(rows[6], 3).rows] == ids[3:6]
            for at, row in enumerate(rows):
                for place in (row, row.id):
                    page = found.around(place, 4)
                    assert page.focus is not None
                    assert page.rows[page.focus].id == row.id
                assert found.position(row) == (None if wanted else at + 1)
        assert found.around("nobody", 4).focus == 0
        assert SessionSource(workspace.readers.sessions, SessionFilter(text="no")).around("s1", 4).rows == []


# Drawing


@given(
    content=texts,
    actor=texts,
    kind=st.sampled_from(KINDS),
    actor_kind=st.sampled_from(ACTOR_KINDS),
    name=texts,
    depth=st.integers(0, 9),
    width=st.integers(24, 130),
    private=st.booleans(),
    folder=texts,
)
def test_entries_never_leave_their_width_and_never_reach_the_terminal_raw(
    content: str,
    actor: str,
    kind: str,
    actor_kind: str,
    name: str,
    depth: int,
    width: int,
    private: bool,
    folder: str,
) -> None:
    row = actum(
        content,
        actor=actor,
        kind=kind,
        actor_kind=actor_kind,
        metadata={"name": name, "cwd": folder, "injected": name, "orphan": True},
        depth=depth,
        private=private,
    )
    rows = EntryRows(ZONE, rewound=(Stretch(1, 9),))
    reply = actum(content, kind="tool_response", metadata={"is_error": private})
    for entry in (Entry(row), Entry(row, reply, new_day=True, first=private)):
        for line in rows.lines(entry, width, RowState()):
            assert cell_len(drawn(line)) <= width
            assert not unseen(drawn(line))


@given(title=texts, actor=texts, folder=texts, width=st.integers(20, 130), acta=st.integers(0, 10**7))
def test_sessions_never_leave_their_width(title: str, actor: str, folder: str, width: int, acta: int) -> None:
    row = session(
        title=title, actors=(actor, "b", "c"), actor_count=9, cwd=folder, acta=acta, forked_from=actor
    )
    lines = SessionRows(lambda: NOW).lines(row, width, RowState())
    assert len(lines) == 2
    for line in (*lines, *head_lines(row, ZONE, gone=True, lines=4, width=width)):
        assert cell_len(drawn(line)) <= width
        assert not unseen(drawn(line))
    document = Document(about_blocks(row, ZONE, NOW, gone=True))
    assert document.length > 0


def test_a_long_text_is_clipped_and_says_by_how_much() -> None:
    rows = EntryRows(ZONE)
    text = "\n".join(f"line {number}" for number in range(40))
    lines = [drawn(line) for line in rows.lines(Entry(actum(text)), 60, RowState())]
    assert lines[-2:] == ["  line 11", "  … 28 more lines, enter opens".ljust(60)]
    clipped = actum("x" * 4000, content_chars=5_000_000)
    last = drawn(rows.lines(Entry(clipped), 60, RowState())[-1])
    assert last.strip() == "… 4\u00a0999\u00a0304 more characters, enter opens"


def test_one_line_more_than_fits_is_shown_instead_of_counted() -> None:
    text = "\n".join(f"line {number}" for number in range(13))
    lines = [drawn(line) for line in EntryRows(ZONE).lines(Entry(actum(text)), 60, RowState())]
    assert lines[-1] == "  line 12"


def test_a_call_is_one_line_with_its_outcome() -> None:
    row = actum('{"command":"git  status\\n--short"}', kind="tool_request", metadata={"name": "Bash"})
    reply = actum("a\nb\n", kind="tool_response")
    [line] = EntryRows(ZONE).lines(Entry(row, reply, after_call=True, same_actor=True), 60, RowState())
    assert drawn(line).split() == ["▸", "Bash", "git", "status", "--short", "✓", "2", "lines", "10:05"]
    assert len(drawn(line)) == 60


def test_marks_are_letters_too() -> None:
    row = actum(private=True, metadata={"orphan": True})
    head = drawn(EntryRows(ZONE, rewound=(Stretch(4, 4),)).lines(Entry(row), 80, RowState())[1])
    for mark in ("P private", "R rewound", "O orphan"):
        assert mark in head


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ('{"command":"ls -la","description":"List"}', "ls -la"),
        ('{"file_path":"/src/atlas/a/b.py","content":"x"}', "a/b.py"),
        ('{"pattern":"x+","path":"/src/atlas/lib"}', "x+ lib"),
        ('{"command":["git","log"]}', "git log"),
        ('{"todos":[]}', '{"todos":[]}'),
        (
            '{"todos":[{"content":"Fix it","status":"pending","activeForm":"Fixing"},{"content":"Test it"}]}',
            "Fix it · Test it",
        ),
        ('{"n":1,"one":"first","two":{"three":["second",{"four":"third"}]}}', "first · second · third"),
        (
            '{"a":{"b":{"c":{"d":{"e":{"f":{"g":"deep"}}}}}}}',
            '{"a":{"b":{"c":{"d":{"e":{"f":{"g":"deep"}}}}}}}',
        ),
        ("{}", ""),
        ("not JSON", "not JSON"),
        ("[1,2]", "[1,2]"),
        ('{"command":7,"url":"http://x"}', "http://x"),
    ],
)
def test_the_most_telling_input_of_a_call(content: str, said: str) -> None:
    assert call_summary(actum(content, kind="tool_request"), "/src/atlas").text == said


def test_the_input_of_a_clipped_call_is_still_read() -> None:
    cut = actum('{"file_path":"/src/a.py","new_string":"begin', kind="tool_request", content_chars=9000)
    assert call_summary(cut, "/src") == ("a.py", "end")
    assert tool_name(cut) == "tool"


def test_how_calls_end() -> None:
    request = actum(kind="tool_request", reply_seq=None)
    assert "".join(span.text for span in outcome(request, None)) == "… no response"
    failed = actum("no", kind="tool_response", metadata={"is_error": True})
    assert "".join(span.text for span in outcome(request, failed)) == "✗ error"
    assert extent(actum("")) == "empty"
    assert extent(actum("a\n")) == "1 line"
    assert extent(actum("abc", content_chars=2_000_000)) == "2.0 MB"


@given(
    counts=st.lists(st.none() | st.integers(0, 10**9), min_size=8, max_size=8),
    width=st.integers(36, 200),
    lines=st.sampled_from([1, 2]),
)
def test_the_switches_fit_and_say_their_state(counts: list[int | None], width: int, lines: int) -> None:
    switches = [
        Switch(name, name[0], name, at % 2 == 0, counts[at]) for at, name in enumerate((*KINDS, *ACTOR_KINDS))
    ]
    bar = bar_lines(switches[:5], switches[5:], width, lines)
    text = "".join(piece.text for line in bar for piece in line)
    assert len(bar) == lines
    assert text.count("●") == 4
    assert text.count("○") == 4
    for line in bar:
        assert sum(cell_len(piece.text) for piece in line) <= width


def test_steps_lead_through_the_sizes_of_a_window() -> None:
    assert [step(20, 1), step(20, -1), step(21, 1), step(21, -1)] == [50, 10, 50, 20]
    assert step(MOST, 1) == MOST
    assert step(1, -1) == 1
    assert list(STEPS) == sorted(STEPS)


def test_names_of_sessions() -> None:
    assert project_of(session(cwd="/src/atlas/")) == "atlas"
    assert project_of(session()) == "recorded"
    assert people_of(session(actors=("a", "b"), actor_count=5), 1) == "a +4"
    assert span_text(session(), ZONE) == "2026-03-01 10:05"
    assert span_text(session(last_at=datetime(2026, 3, 1, 10, 5, tzinfo=UTC)), ZONE).endswith("– 11:05")


# An actum whole


@given(content=texts, name=texts, kind=st.sampled_from(KINDS), raw=st.booleans())
def test_any_actum_opens(content: str, name: str, kind: str, raw: bool) -> None:
    row = actum(content, kind=kind, actor=name, metadata={"name": name, "deep": {"x": [name]}})
    blocks, answer = actum_blocks(row, row, ZONE, raw=raw)
    document = Document(blocks)
    place = document.first()
    for line in document.lines(place, 40):
        assert not unseen(line.text)
    assert (answer is not None) == (kind == "tool_request")


def test_raw_is_what_was_recorded() -> None:
    row = actum('{"a":[1,2],"b":"x\\ny"}', kind="tool_request")
    raw, _ = actum_blocks(row, None, ZONE, raw=True)
    pretty, _ = actum_blocks(row, None, ZONE, raw=False)
    assert '{"a":[1,2],"b":"x\\ny"}' in Document(raw).plain(10_000)[0]
    text = Document(pretty).plain(10_000)[0]
    assert "x\ny" in text
    assert "No response" in text
