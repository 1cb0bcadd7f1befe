"""Events in words: every type, types that nobody knows, and texts that break programs."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from tests.tui.hostile_text import HOSTILE, unseen
from workbench.redaction import events as redaction_events
from workbench.sessions import events as session_events
from workbench.tui.document import Document
from workbench.tui.present import line_width, number
from workbench.tui.timeline.bars import filter_words
from workbench.tui.timeline.detail import event_blocks, event_object, json_line, json_text
from workbench.tui.timeline.event_rows import event_rows, position_width
from workbench.tui.timeline.event_words import TYPE_TITLES, event_line, kind_of, type_title
from workbench.tui.widgets.columns import place
from workbench.tui.widgets.row_renderer import RowState
from workbench.workspace.rows import EventRow, TimelineFilter

NOW = datetime(2026, 3, 4, 12, tzinfo=UTC)


def event(type_name: str, /, actor: str = "", position: int = 7, **payload: Any) -> EventRow:
    return EventRow(
        position=position,
        stream="session/s1",
        seq=3,
        event_id="019cad9a-b896-7196-b326-7160dd768aca",
        namespace="workbench",
        type=type_name,
        schema_version=1,
        recorded_at=NOW - timedelta(hours=2),
        occurred_at=None,
        private=False,
        actor=actor,
        payload=payload,
        payload_bytes=100,
    )


def entry(kind: str, content: str, actor_kind: str = "agent", **metadata: Any) -> EventRow:
    return event(
        "actum.recorded", "ann", kind=kind, actor_kind=actor_kind, content=content, metadata=metadata
    )


def scrubbed(**payload: object) -> EventRow:
    return replace(event("redaction.applied"), payload={"domain": "d", **payload})


def receipt(kind: str, count: int) -> dict[str, object]:
    return {"field": "content", "kind": kind, "count": count, "filter_version": "1-00"}


def drawn(row: EventRow) -> str:
    return "".join(span.text for span in event_line(row))


def detail(row: EventRow, width: int = 60) -> list[str]:
    document = Document(event_blocks(row, None, now=NOW, zone=UTC))
    lines: list[str] = []
    place: Any = document.first()
    while place is not None:
        lines += ["".join(s.text for s in line.line) for line in document.lines(place, width)]
        place = document.next(place)
    return lines


def test_one_age_is_told_for_each_time() -> None:
    """The heading's is that of the list; the other time's stands beside it."""
    row = replace(event("unit.closed", unit="u"), occurred_at=NOW - timedelta(hours=5))
    by_recorded = Document(event_blocks(row, None, now=NOW, zone=UTC)).plain(10_000)[0]
    by_happened = Document(event_blocks(row, None, now=NOW, zone=UTC, order="happened")).plain(10_000)[0]
    said = [line for line in by_recorded.replace("\u00a0", " ").splitlines() if "ago" in line]
    assert [line.rsplit("  ", 1)[1] for line in said] == ["2 h ago", "5 h ago"]
    assert said[1].startswith("happened")
    said = [line for line in by_happened.replace("\u00a0", " ").splitlines() if "ago" in line]
    assert [line.rsplit("  ", 1)[1] for line in said] == ["5 h ago", "2 h ago"]
    assert said[1].startswith("recorded")


@pytest.mark.parametrize("width", [24, 30, 33, 40])
def test_a_narrow_pane_cuts_no_name_of_a_field(width: int) -> None:
    row = event(
        "chronicum.described",
        title="t",
        cwd="/src",
        git_branch="main",
        client_version="2.1",
        forked_from="claude-code/a",
        source="/a.jsonl",
        models=["m"],
    )
    assert not any("…" in line for line in detail(row, width))


@pytest.mark.parametrize(
    ("row", "mark", "word", "line"),
    [
        (entry("message", "Two\n\nlines", "human"), "●", "message", "Two lines"),
        (entry("message", "hello"), "●", "message", "hello"),
        (entry("thought", "hm"), "◌", "thought", "hm"),
        (entry("tool_request", '{"command": "ls\\n-l"}', name="Bash"), "→", "tool call", "Bash  ls -l"),
        (
            entry("tool_request", '{"content": "text", "file_path": "/a/b"}', name="Write"),
            "→",
            "tool call",
            "Write  /a/b",
        ),
        (entry("tool_request", '{"a": 1, "b": "two"}', name="T"), "→", "tool call", "T  two"),
        (entry("tool_request", '{"a": [1]}', name="T"), "→", "tool call", 'T  {"a": [1]}'),
        (entry("tool_request", "no json", name="T"), "→", "tool call", "T  no json"),
        (entry("tool_request", '{"command": "' + "x" * 9000, name="T"), "→", "tool call", ...),
        (entry("tool_response", "done"), "←", "tool result", "done"),
        (entry("new_kind", "text"), "·", "new kind", "text"),
        (event("chronicum.created", chronicum_id="s1", owner_id="maya"), "◆", "session", "begun for maya"),
        (event("chronicum.described", title="A title"), "◇", "described", "A title"),
        (event("chronicum.described", cwd="/x", models=["m", "n"]), "◇", "described", "cwd /x · models m, n"),
        (event("unit.closed", unit="plan", note="agreed"), "■", "unit closed", "plan  agreed"),
        (event("fact.recorded", slot="a", value=1), "·", "fact recorded", '{"slot":"a","value":1}'),
        (
            event("chronicum.described", redactions=[receipt("github_token", 1), receipt("jwt", 2)]),
            "◇",
            "described",
            "3 secrets removed (github_token, jwt)",
        ),
        (
            scrubbed(field="content", kind="jwt", count=2, position=1234),
            "◈",
            "scrubbed",
            f"2 secrets removed (jwt)  content of event {number(1234)}",
        ),
        (
            scrubbed(field="exports/a.jsonl", kind="jwt", count=1),
            "◈",
            "scrubbed",
            "1 secret removed (jwt)  exports/a.jsonl",
        ),
        (scrubbed(count="x", kind=[], position=True), "◈", "scrubbed", "1 secret removed"),
    ],
)
def test_an_event_on_one_line(row: EventRow, mark: str, word: str, line: Any) -> None:
    kind = kind_of(row)
    assert (kind.mark, kind.word) == (mark, word)
    assert line is ... or drawn(row) == line


@pytest.mark.parametrize("text", HOSTILE)
@pytest.mark.parametrize("width", [28, 42, 56, 120])
def test_hostile_rows_keep_their_columns(text: str, width: int) -> None:
    rows = event_rows(position_width(7), lambda: NOW)
    for row in (
        entry("message", text),
        entry("tool_request", text, name=text),
        entry(text, text),
        event("unit.closed", text, unit=text, note=text),
        event("chronicum.described", title=text, cwd=text),
        event(text, text),
    ):
        (line,) = rows.lines(row, width, RowState())
        assert line_width(line) == width
        assert unseen("".join(span.text for span in line)) == []


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_details_are_literal(text: str) -> None:
    for row in (
        entry("message", text),
        entry("tool_request", text, name=text),
        event("unit.closed", chronicum_id=text, unit=text, note=text),
        event("chronicum.described", title=text, cwd=text, models=[text.encode("utf-8", "replace").decode()]),
    ):
        assert all(unseen(line) == [] for line in detail(row))


def test_detail_says_what_who_and_when() -> None:
    lines = detail(entry("tool_request", '{"command":"ls"}', name="Bash"))
    assert lines[0] == "→ Tool call Bash  ann · agent · 2\u00a0h\u00a0ago"
    assert "recorded  2026-03-04 10:00:00 UTC" in lines
    assert '  "command": "ls"' in lines
    assert "id     019cad9a-b896-7196-b326-7160dd768aca" in lines
    assert not any(line.startswith("happened") for line in lines)
    happened = msgspec.structs.replace(entry("message", "x"), occurred_at=NOW - timedelta(days=1))
    assert any(line.startswith("happened  2026-03-03 12:00:00 UTC") for line in detail(happened))


def test_a_place_in_a_session_is_the_number_of_an_act() -> None:
    row = event("actum.recorded", "ann", chronicum_id="s1", kind="message", content="x", metadata={})
    for which, act, said in (
        (row, 2, True),
        (row, None, False),
        (event("unit.closed", chronicum_id="s1"), 2, False),
    ):
        document = Document(event_blocks(which, None, now=NOW, zone=UTC, act=act))
        first = document.first()
        assert first is not None
        text = ""
        place: Any = first
        while place is not None:
            text += "".join(s.text for line in document.lines(place, 90) for s in line.line)
            place = document.next(place)
        assert ("act\u00a02 of the session" in text) is said


@pytest.mark.parametrize(
    ("width", "titles"),
    [
        (70, ["event", "recorded", "type", "actor", "text"]),
        (58, ["event", "recorded", "actor", "text"]),
        (43, ["event", "actor", "text"]),
        (36, ["event", "actor", "text"]),
    ],
)
def test_who_did_it_is_shown_before_anything_else_gives_way(width: int, titles: list[str]) -> None:
    rows = event_rows(position_width(7), lambda: NOW)
    header = rows.header(width)
    assert header is not None
    assert "".join(span.text for span in header).split() == titles
    (line,) = rows.lines(entry("message", "some words that are said here"), width, RowState())
    assert "ann" in "".join(span.text for span in line)
    assert "some words t"[:11] in "".join(span.text for span in line)


@pytest.mark.parametrize("last", [7, 1_000_000])
@pytest.mark.parametrize("width", [40, 43, 48, 53, 58, 70, 90])
def test_the_text_has_room_before_the_time_has_some(width: int, last: int) -> None:
    rows = event_rows(position_width(last), lambda: NOW)
    (text,) = [each.width for each in place(rows.columns, width) if rows.columns[each.index].title == "text"]
    assert text >= 16, f"{text} cells of {width}"


def test_an_unknown_type_is_shown_as_it_is() -> None:
    lines = detail(event("fact.recorded", slot="a", value={"x": [1, 2]}))
    assert lines[0].startswith("· Fact recorded")
    assert '  "slot": "a",' in lines


def test_every_type_of_the_log_has_words() -> None:
    """What is stored today is called something else than its name in the log."""
    for each in (*session_events.EVENT_TYPES, *redaction_events.EVENT_TYPES):
        assert each.type in TYPE_TITLES
        assert "." not in type_title(each.type) and "." not in kind_of(event(each.type, kind="x")).word
    assert type_title("fact.recorded") == "Fact recorded"


def test_a_receipt_is_told_in_words_in_the_detail() -> None:
    described = event("chronicum.described", title="t", redactions=[receipt("github_token", 2)])
    said = entry("message", "text")
    for row in (
        described,
        replace(said, payload={**said.payload, "redactions": [receipt("github_token", 2)]}),
    ):
        text = "\n".join(detail(row, 90))
        assert "2 secrets removed (github_token)" in text
        assert "{" not in text


def test_a_scrub_is_told_in_words() -> None:
    row = scrubbed(field="metadata.env", kind="jwt", count=2, position=8)
    lines = detail(row, 60)
    assert lines[0].startswith("◈ Secret scrubbed")
    assert [
        line.split(None, 1)[1] for line in lines if line.split(" ")[0] in ("kind", "removed", "from")
    ] == [
        "jwt",
        "2",
        "metadata.env of event 8",
    ]
    assert not any("{" in line for line in lines)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.text(st.characters(codec="utf-8")),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@given(
    payload=st.dictionaries(
        st.sampled_from(
            [
                "content",
                "metadata",
                "kind",
                "unit",
                "title",
                "owner_id",
                "chronicum_id",
                "redactions",
                "count",
                "other",
            ]
        ),
        VALUES,
    ),
    type_name=st.sampled_from(
        [
            "actum.recorded",
            "chronicum.created",
            "chronicum.described",
            "unit.closed",
            "redaction.applied",
            "x",
        ]
    ),
)
def test_any_payload_can_be_shown(payload: dict[str, Any], type_name: str) -> None:
    row = event(type_name, **payload)
    assert "\n" not in drawn(row)
    assert detail(row, 20)


def test_raw_has_every_field() -> None:
    row = entry("message", "żółć \u202e")
    for text in (json_line(row), json_text(row)):
        assert json.loads(text) == json.loads(json.dumps(event_object(row)))
    assert "\n" not in json_line(row)
    assert set(event_object(row)) >= {
        "position", "stream", "seq", "event_id", "type", "recorded_at", "occurred_at", "actor", "payload",
        "causation_id", "correlation_id", "visibility", "namespace", "schema_version",
    }  # fmt: skip


def test_a_filter_in_words() -> None:
    def words(**parts: Any) -> str:
        return "".join(span.text for span in filter_words(TimelineFilter(**parts)))

    assert words() == ""
    assert words(text="flag") == "“flag”"
    assert (
        words(types=("unit.closed", "x.y"), actors=("a", "b", "c")) == "by a, b or c  ·  units closed or X y"
    )
    assert words(actors=tuple("abcdefg")) == "by a, b, c, d or 3 more"
