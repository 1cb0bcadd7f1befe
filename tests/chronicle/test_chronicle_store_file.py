"""A chronicle's export as a file: what it holds, and that no other file is taken for one (contract, §8 "Ours")."""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from uuid import UUID

import pytest

from tests.chronicle.store_cases import STREAM, Said, a_section, open_log, say, stored
from workbench.chronicle import export_file
from workbench.chronicle.boundaries import EventTypes
from workbench.chronicle.errors import ChronicleError, ChronicleFork, InvalidExport, InvalidSection
from workbench.chronicle.export_file import Loaded, load_export, write_export
from workbench.chronicle.limits import MAX_AUTHOR, MAX_PIN_KEY, MAX_PINS, MAX_PROSE
from workbench.chronicle.sections import Section, Written
from workbench.chronicle.sqlite import SQLiteChronicleStore
from workbench.log.registry import PendingEvent

Store = SQLiteChronicleStore
SECTIONS = [
    a_section(1, 3, "erste\nZeile \u2028 «ё»", pins=("p1:a:1", "b"), written=Written(30, 99, "command", "2")),
    a_section(1, 3, generation=2),
    a_section(4, 6),
    a_section(9, 9),
]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """A chronicle of four sections with a hole."""
    with stored(tmp_path) as (_, store):
        store.load(SECTIONS)
        yield store


def exported(store: Store, *, times: bool = False) -> bytes:
    """The file."""
    chunks: list[bytes] = []
    assert write_export(store, chunks.append, times=times) == store.count(current=False)
    return b"".join(chunks)


def load(store: Store, content: bytes) -> Loaded:
    """Load the file."""
    loaded = load_export(store, io.BytesIO(content))
    assert loaded is not None
    return loaded


def chained(lines: list[dict[str, object]]) -> bytes:
    """Lines as whoever makes such a file by hand would chain them."""
    digest, content = b"", b""
    for line in lines:
        line = {key: value for key, value in line.items() if key != "chain"}
        body = json.dumps(line, ensure_ascii=False, separators=(",", ":")).encode()[:-1]
        digest = hashlib.sha256(digest + body).hexdigest().encode()
        content += body + b',"chain":"' + digest + b'"}\n'
    return content


def test_an_export_lands_in_an_empty_chronicle_and_gives_the_same_file(store: Store) -> None:
    content = exported(store)
    before = store.export()
    assert load(store, content) == Loaded(4, 0)
    store.reset()
    assert load(store, content) == Loaded(4, 4)
    assert exported(store) == content
    assert [each._replace(written=Written()) for each in store.export()] == [
        each._replace(written=Written()) for each in before
    ]
    assert store.export()[0].written == Written(0, 0, "command", "2")


def test_when_each_was_written_travels_if_it_is_asked_for(store: Store) -> None:
    before = store.export()
    content = exported(store, times=True)
    store.reset()
    load(store, content)
    assert store.export() == before


def test_the_same_sections_written_at_another_time_give_the_same_bytes(store: Store) -> None:
    content = exported(store)
    store.reset()
    for section in SECTIONS:
        store.append(section._replace(written=section.written._replace(position=77, at=5)))
    assert exported(store) == content
    assert exported(store, times=True) != content


def test_every_line_is_json_and_ends_with_the_digest_of_everything_up_to_it(store: Store) -> None:
    content = exported(store)
    lines = [json.loads(line) for line in content.splitlines() if line.startswith(b"{")]
    assert chained(lines) == content
    assert lines[0]["chronicle"] == 1
    assert lines[0]["stream"] == STREAM
    assert UUID(lines[0]["begins_with"]) == UUID(lines[1]["first_event"])
    assert lines[-1]["sections"] == 4
    assert [line["section_id"] for line in lines[1:-1]] == ["1-3", "1-3#2", "4-6", "9-9"]


def test_an_empty_chronicle_is_a_file_too(tmp_path: Path) -> None:
    with stored(tmp_path, events=0) as (log, store):
        content = exported(store)
        assert load(store, content) == Loaded(0, 0)
        say(log, 2)
        assert load(store, content) == Loaded(0, 0)


def test_a_copy_of_the_log_takes_it_and_another_log_does_not(store: Store, tmp_path: Path) -> None:
    content = exported(store)
    (tmp_path / "other").mkdir()
    with stored(tmp_path / "other") as (_, other):
        with pytest.raises(InvalidExport, match=r"line 1: the file is of another log"):
            load(other, content)
        assert other.export() == []


def test_a_log_that_went_another_way_after_its_beginning_is_refused_by_line(tmp_path: Path) -> None:
    def lay_out(name: str, rest: int) -> bytes:
        (tmp_path / name).mkdir()
        with open_log(tmp_path / name / "log.db") as log:
            for number in (1, 2, 3, 4 + rest, 5 + rest):
                said = PendingEvent(payload=Said(content="x"), event_id=UUID(int=number))
                log.stream(STREAM).append([said])
            store = Store(log, STREAM)
            store.append(a_section(1, 3))
            store.append(a_section(4, 5))
            return exported(store)

    content = lay_out("one", 0)
    lay_out("two", 10)
    with open_log(tmp_path / "two" / "log.db") as log:
        store = Store(log, STREAM)
        store.reset()
        with pytest.raises(InvalidExport, match=r"line 3: .*event 4 is another one there"):
            load(store, content)
        assert store.export() == []


def test_an_export_of_a_later_state_of_the_log_is_refused_by_line(store: Store) -> None:
    lines = [json.loads(line) for line in exported(store).split(b"\n") if line]
    lines[4].update(section_id="31-31", from_seq=31, to_seq=31, unit=31)
    with pytest.raises(InvalidExport, match=r"line 5: .*there is no event 31 here"):
        load(store, chained(lines))


def test_another_streams_chronicle_is_refused(store: Store, tmp_path: Path) -> None:
    content = exported(store)
    (tmp_path / "b").mkdir()
    with stored(tmp_path / "b") as (log, _):
        other = Store(log, "session/other")
        with pytest.raises(InvalidExport, match=r"line 1: .*session/plan, not of session/other"):
            load(other, content)


EDITS: dict[str, tuple[int, Callable[[list[bytes]], list[bytes]]]] = {
    "a word of the prose": (3, lambda lines: [*lines[:2], lines[2].replace(b"prose", b"Prose"), *lines[3:]]),
    "a digest": (2, lambda lines: [lines[0], lines[1][:-10] + b"0000000" + lines[1][-3:], *lines[2:]]),
    "a line taken out": (4, lambda lines: [*lines[:3], *lines[4:]]),
    "a line twice": (4, lambda lines: [*lines[:3], lines[2], *lines[3:]]),
    "two lines the other way round": (4, lambda lines: [*lines[:3], lines[4], lines[3], lines[5]]),
    "the stream": (1, lambda lines: [lines[0].replace(b"session/plan", b"session/Plan"), *lines[1:]]),
    "the count": (6, lambda lines: [*lines[:5], lines[5].replace(b'"sections":4', b'"sections":5')]),
    "other line ends": (1, lambda lines: [line.replace(b"\n", b"\r\n") for line in lines]),
    "a line behind the end": (7, lambda lines: [*lines, b"{}\n"]),
    "a blank line": (2, lambda lines: [lines[0], b"\n", *lines[1:]]),
    "something in between": (3, lambda lines: [*lines[:2], b"\xff\xfe\n", *lines[2:]]),
}


@pytest.mark.parametrize("name", EDITS)
def test_what_was_edited_is_refused_by_line(store: Store, name: str) -> None:
    number, edit = EDITS[name]
    content = b"".join(edit(exported(store).splitlines(keepends=True)))
    store.reset()
    with pytest.raises(InvalidExport) as caught:
        load(store, content)
    assert caught.value.message.startswith(f"line {number}")
    assert store.export() == []


def test_a_file_that_ends_too_early_is_refused_wherever_that_is(store: Store) -> None:
    content = exported(store)
    store.reset()
    for size in range(0, len(content), 7):
        with pytest.raises(InvalidExport):
            load(store, content[:size])
    with pytest.raises(InvalidExport, match=r"line 6: the file ends before the end .* cut off"):
        load(store, b"".join(content.splitlines(keepends=True)[:-1]))
    assert store.export() == []


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\n",
        b"PK\x03\x04",
        b"{}\n",
        b"[1]\n",
        b'{"chronicle":"1"}\n',
        b'{"chronicle":true}\n',
        b'{"chronicle":1',
    ],
)
def test_what_is_no_export_is_refused(store: Store, content: bytes) -> None:
    with pytest.raises(InvalidExport) as caught:
        load(store, content)
    assert caught.value.message


def test_another_version_of_the_format_is_refused_with_advice(store: Store) -> None:
    lines = [json.loads(line) for line in exported(store).split(b"\n") if line]
    lines[0]["chronicle"] = 2
    with pytest.raises(InvalidExport, match="version 2") as caught:
        load(store, chained(lines))
    assert "newest" in caught.value.hint


def test_a_line_without_end_is_not_read_into_memory(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(export_file, "MAX_LINE_BYTES", 1000)
    content = exported(store).split(b"\n")[0] + b"\n" + b"x" * 2000
    with pytest.raises(InvalidExport, match="line 2"):
        load(store, content)


def forged(store: Store, change: Callable[[list[dict[str, object]]], object]) -> bytes:
    """An export whose sections were changed by somebody who chained it again."""
    lines = [json.loads(line) for line in exported(store).split(b"\n") if line]
    sections = lines[1:-1]
    change(sections)
    return chained([lines[0], *sections, {"sections": len(sections)}])


FORGED: dict[str, tuple[str, type[ChronicleError], Callable[[list[dict[str, object]]], object]]] = {
    "a fork": (
        "line 4",
        ChronicleFork,
        lambda s: s[2].update(section_id="3-6", from_seq=3, first_event=s[0]["last_event"]),
    ),
    "a cycle": ("line 2", ChronicleFork, lambda s: s[0].update(supersedes="1-3#2")),
    "empty prose": ("line 5", InvalidSection, lambda s: s[3].update(prose="")),
    "a unit outside": ("line 4", InvalidSection, lambda s: s[2].update(unit=7)),
    "a field too much": ("line 3", InvalidExport, lambda s: s[1].update(more=1)),
    "a field of another kind": ("line 3", InvalidExport, lambda s: s[1].update(from_seq="1")),
    "a number beyond all": ("line 4", InvalidExport, lambda s: s[2].update(to_seq=10**30)),
    "prose longer than a summarizer may write": (
        "line 4: section 4-6 ",
        InvalidSection,
        lambda s: s[2].update(prose="x" * (MAX_PROSE + 1)),
    ),
    "more pins than a section holds": (
        "line 4: section 4-6 ",
        InvalidSection,
        lambda s: s[2].update(pins=["p"] * (MAX_PINS + 1)),
    ),
    "a pin that is no key": (
        "line 4: section 4-6 ",
        InvalidSection,
        lambda s: s[2].update(pins=["a", "x" * (MAX_PIN_KEY + 1)]),
    ),
    "a summarizer with an endless name": (
        "line 4: section 4-6 ",
        InvalidSection,
        lambda s: s[2].update(summarizer="x" * (MAX_AUTHOR + 1)),
    ),
    "a version without end": (
        "line 4: section 4-6 ",
        InvalidSection,
        lambda s: s[2].update(summarizer_version="x" * (MAX_AUTHOR + 1)),
    ),
    "a range that goes backwards": (
        "line 4: section 4-6 ",
        InvalidSection,
        lambda s: s[2].update(from_seq=6, to_seq=4, unit=6),
    ),
    "a range from nothing": ("line 4: section 4-6 ", InvalidSection, lambda s: s[2].update(from_seq=0)),
    "a range of negative events": (
        "line 4: section 4-6 ",
        InvalidSection,
        lambda s: s[2].update(from_seq=-6, to_seq=-4, unit=-4),
    ),
    "a range beyond the log": ("line 4: ", InvalidExport, lambda s: s[2].update(to_seq=99, unit=99)),
    "a unit of no event": ("line 4: section 4-6 ", InvalidSection, lambda s: s[2].update(unit=0)),
    "a field too few": ("line 3", InvalidExport, lambda s: s[1].pop("prose")),
}


@pytest.mark.parametrize("name", FORGED)
def test_what_was_chained_again_is_checked_like_every_write(store: Store, name: str) -> None:
    line, error, change = FORGED[name]
    content = forged(store, change)
    store.reset()
    with pytest.raises(error) as caught:
        load(store, content)
    assert caught.value.message.startswith(line)
    assert store.export() == []


def test_what_is_as_large_as_a_summarizer_may_write_is_loaded(store: Store) -> None:
    largest = {
        "prose": "x" * MAX_PROSE,
        "pins": [f"{at:0>{MAX_PIN_KEY}}" for at in range(3)],
        "summarizer": "s" * MAX_AUTHOR,
        "summarizer_version": "v" * MAX_AUTHOR,
    }
    content = forged(store, lambda s: s[2].update(largest))
    store.reset()
    assert load(store, content) == Loaded(4, 4)
    [section] = store.generations(4, 6)
    assert len(section.prose) == MAX_PROSE and list(section.pins) == largest["pins"]


def test_what_an_event_inside_is_said_to_have_closed_it_must_have_closed(store: Store) -> None:
    """The last event of a range may be one that closes nothing: between two sections it is (§9 "Ours")."""
    content, plain = forged(store, lambda s: s[2].update(unit=5)), exported(store)
    store.reset()
    closes = EventTypes(("workbench", "closed"))
    with pytest.raises(InvalidSection, match=r"line 4: section 4-6 .* event 5.*\(workbench:said\)"):
        load_export(store, io.BytesIO(content), boundary=closes)
    assert store.export() == []
    said = EventTypes(("workbench", "said"))
    assert load_export(store, io.BytesIO(content), boundary=said) == Loaded(4, 4)
    store.reset()
    assert load_export(store, io.BytesIO(plain), boundary=closes) == Loaded(4, 4)


@pytest.mark.parametrize("change", [{"prose": "other words"}, {"pins": ["p1:other:1"]}])
def test_what_says_something_else_under_a_stored_anchor_is_named_and_stays_out(
    store: Store, change: dict[str, object]
) -> None:
    """71: the same anchor is silent and the stored prose stays; whoever loads is told which sections."""
    before = store.export()
    content = forged(store, lambda s: s[2].update(change))
    assert load(store, content) == Loaded(4, 0, ("4-6",))
    assert store.export() == before
    store.reset()
    assert load(store, content) == Loaded(4, 4)


def test_reading_and_writing_can_be_stopped_and_tell_how_far_they_are(store: Store) -> None:
    told: list[int] = []
    assert write_export(store, lambda _: None, progress=lambda done, total, note: told.append(done)) == 4
    assert told == [4]
    assert write_export(store, lambda _: None, cancelled=lambda: True) is None
    content = exported(store)
    store.reset()
    assert load_export(store, io.BytesIO(content), cancelled=lambda: True) is None
    assert store.export() == []


def test_what_is_written_meanwhile_is_in_the_file_whole_or_not_at_all(store: Store, tmp_path: Path) -> None:
    with open_log(tmp_path / "log.db") as other:
        chunks: list[bytes] = []

        def write(chunk: bytes) -> None:
            if not chunks:
                Store(other, STREAM).append(a_section(4, 6, generation=2))
            chunks.append(chunk)

        assert write_export(store, write) == 4
    again: Section | None = store.section("4-6#2")
    assert again is not None
    assert load(store, b"".join(chunks)) == Loaded(4, 0)
