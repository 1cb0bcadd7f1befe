"""A log out of one workspace and into another."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path

import apsw
import pytest

from tests.benchmarks.large_workspace import fill
from workbench.data import data_folder
from workbench.imports.workspace_jsonl import STREAM_RULES, InvalidLine, LogNotEmpty
from workbench.storage.errors import DatabaseReadOnly
from workbench.workspace import Workspace, transfer
from workbench.workspace.folds import event_types
from workbench.workspace.layout import Layout
from workbench.workspace.own_files import OwnFile
from workbench.workspace.samples import materialise
from workbench.workspace.transfer import (
    FileFailed,
    TransferStopped,
    UnreadableEvent,
    export_file,
    export_jsonl,
    import_file,
)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """The root of a workspace of 700 events, more than a page."""
    root = tmp_path / "source"
    with Workspace.create(root, title="Load", timezone="UTC", owner="maya") as workspace:
        fill(workspace, 700, sessions=3)
    return root


@pytest.fixture
def target(tmp_path: Path) -> Path:
    """The root of a workspace without events."""
    root = tmp_path / "target"
    Workspace.create(root, title="New", timezone="UTC", owner="maya").close()
    return root


def export(root: Path, path: Path) -> bytes:
    with Workspace.open(root, read_only=True) as workspace:
        events = export_file(workspace.log, path)
        assert events == workspace.log.last_position()
    written = path.read_bytes()
    assert written.count(b"\n") == events
    return written


def test_every_event_type_that_may_begin_a_stream_has_a_rule() -> None:
    fields = {fields[0] for fields, _ in STREAM_RULES}
    without = [each.type for each in event_types().all() if not fields & set(each.model.__struct_fields__)]
    # Only follows others; a type that is added here must do the same.
    assert without == ["chronicum.described"]


def test_out_and_in_and_out_again(source: Path, target: Path, tmp_path: Path) -> None:
    first = export(source, tmp_path / "a.jsonl")
    seen: list[tuple[int, int | None]] = []
    with Workspace.open(target) as workspace:
        done = import_file(
            workspace.log,
            tmp_path / "a.jsonl",
            progress=lambda count, total, note: seen.append((count, total)),
        )
        assert done == (700, {})
        assert workspace.log.last_position() == 700
    assert seen == sorted(seen)
    assert {total for _, total in seen} == {len(first)}
    assert export(target, tmp_path / "b.jsonl") == first


def test_a_sample_comes_out_as_it_ships(tmp_path: Path) -> None:
    root = materialise(to=tmp_path / "demo", keep_times=True).root
    shipped = data_folder("sample_workspaces") / "atlas-handoff" / "log.jsonl"
    assert export(root, tmp_path / "a.jsonl") == shipped.read_bytes()


@pytest.mark.parametrize("blanks", [b"", b"\n", b" \r\n\t\n" * 1000, b"\n" * 3_000_000])
def test_nothing_comes_out_of_nothing_and_is_no_import(target: Path, tmp_path: Path, blanks: bytes) -> None:
    path = tmp_path / "a.jsonl"
    assert export(target, path) == b""
    path.write_bytes(blanks)
    with Workspace.open(target) as workspace:
        with pytest.raises(FileFailed, match=r"a\.jsonl is empty: .*nothing was imported") as caught:
            import_file(workspace.log, path)
        assert "“export jsonl --to FILE”" in caught.value.hint
        assert workspace.log.last_position() == 0


def test_blank_lines_before_events_are_a_bad_line(source: Path, target: Path, tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"\n" * 3_000_000 + export(source, path))
    with Workspace.open(target) as workspace, pytest.raises(InvalidLine, match=r"^line 1: not an event"):
        import_file(workspace.log, path)


def test_only_the_owner_may_read_it(source: Path, tmp_path: Path) -> None:
    export(source, tmp_path / "a.jsonl")
    assert (tmp_path / "a.jsonl").stat().st_mode & 0o777 == 0o600


def test_what_is_appended_meanwhile_is_left_out(source: Path) -> None:
    chunks: list[bytes] = []
    with Workspace.open(source) as workspace:

        def write(lines: bytes) -> None:
            chunks.append(lines)
            fill(workspace, 2)

        assert export_jsonl(workspace.log, write) == 700
    assert b"".join(chunks).count(b"\n") == 700


def test_an_earlier_export_is_replaced_and_anything_else_is_not(source: Path, tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    first = export(source, path)
    assert export(source, path) == first
    # Of another log, and shorter.
    path.write_bytes(b"".join(first.splitlines(keepends=True)[:300]))
    assert export(source, path) == first
    link = tmp_path / "link.jsonl"
    link.symlink_to(path)
    path.write_bytes(b"")
    assert export(source, link) == first
    assert link.is_symlink()
    with Workspace.open(source, read_only=True) as workspace:
        for other in (workspace.layout.database, workspace.layout.manifest, source, Path("/dev/null")):
            before = other.read_bytes() if other.is_file() else None
            with pytest.raises((FileFailed, OwnFile)):
                export_file(workspace.log, other)
            assert (other.read_bytes() if other.is_file() else None) == before
        with pytest.raises(FileFailed, match="cannot be written"):
            export_file(workspace.log, tmp_path / "none" / "a.jsonl")


def _lines_of(*numbers: int) -> Callable[[bytes], bytes]:
    """Those lines of a file, counted from 1."""

    def taken(whole: bytes) -> bytes:
        lines = whole.splitlines(keepends=True)
        return b"".join(lines[number - 1] for number in numbers)

    return taken


_NOTES = b'{"causation_id":null,"note":"mine"}\n'
PRECIOUS: dict[str, Callable[[bytes], bytes]] = {
    "notes behind one line": lambda whole: _lines_of(1)(whole) + b"precious notes\n",
    "notes behind all": lambda whole: whole + b"precious notes",
    "notes that begin alike": lambda whole: _lines_of(1)(whole) + _NOTES,
    "notes among the lines": lambda whole: whole.replace(b"\n", b"\nmine\n", 3),
    "notes alike among the lines": lambda whole: whole.replace(b"\n", b"\n" + _NOTES, 3),
    "only notes that begin alike": lambda whole: _NOTES,
    "a blank line behind": lambda whole: whole + b"\n",
    "blanks": lambda whole: b"\n\n",
    "a line left out": lambda whole: _lines_of(1, 2, 4)(whole),
    "the first left out": lambda whole: _lines_of(2, 3)(whole),
    "no line end": lambda whole: whole[:-1],
    "cut off": lambda whole: whole[:-40],
    "only begun": lambda whole: whole[:100],
    "carriage returns": lambda whole: whole.replace(b"\n", b"\r\n"),
    "a very long line": lambda whole: whole + b'{"causation_id":' + b"x" * 3_000_000 + b"\n",
}


@pytest.mark.parametrize("what", PRECIOUS)
def test_what_is_no_whole_export_is_not_written_over(source: Path, tmp_path: Path, what: str) -> None:
    path = tmp_path / "a.jsonl"
    precious = PRECIOUS[what](export(source, path))
    path.write_bytes(precious)
    with (
        Workspace.open(source, read_only=True) as workspace,
        pytest.raises(FileFailed, match=r"a\.jsonl exists and is no (whole )?export") as caught,
    ):
        export_file(workspace.log, path)
    assert "this one was not touched" in caught.value.hint
    assert path.read_bytes() == precious
    assert [each.name for each in tmp_path.iterdir() if each.name.startswith(".export")] == []


def test_an_export_with_a_long_line_is_replaced(tmp_path: Path) -> None:
    root = tmp_path / "long"
    with Workspace.create(root, title="Long", timezone="UTC", owner="maya") as workspace:
        fill(workspace, 3, sessions=1, words=400_000)
    first = export(root, tmp_path / "a.jsonl")
    assert export(root, tmp_path / "a.jsonl") == first


@pytest.mark.parametrize("exists", [False, True])
def test_a_stopped_export_leaves_no_trace(source: Path, tmp_path: Path, exists: bool) -> None:
    folder = tmp_path / "out"
    folder.mkdir()
    if exists:
        export(source, folder / "a.jsonl")
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    asked: list[int] = []

    def stop_at_the_second() -> bool:
        asked.append(1)
        return len(asked) == 2

    with Workspace.open(source, read_only=True) as workspace, pytest.raises(TransferStopped):
        export_file(workspace.log, folder / "a.jsonl", cancelled=stop_at_the_second)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        ("DELETE FROM events WHERE position = 300", "position 300 .*missing"),
        ("DELETE FROM events WHERE position BETWEEN 300 AND 699", "position 300 .*missing"),
        ("UPDATE events SET payload = '{' WHERE position = 300", "position 300 "),
        ("UPDATE events SET payload = '[1]' WHERE position = 300", "position 300 "),
        ("UPDATE events SET payload = payload || x'0a' WHERE position = 300", "position 300 "),
        ("UPDATE events SET event_id = x'00' WHERE position = 300", "position 300 "),
        ("UPDATE events SET occurred_at = 9e17 WHERE position = 300", "position 300 "),
    ],
)
def test_damage_is_named_by_its_position(source: Path, tmp_path: Path, damage: str, said: str) -> None:
    connection = apsw.Connection(str(Layout(source).database))
    connection.execute(damage)
    connection.close()
    with (
        Workspace.open(source, read_only=True) as workspace,
        pytest.raises(UnreadableEvent, match=said),
    ):
        export_file(workspace.log, tmp_path / "a.jsonl")
    assert not (tmp_path / "a.jsonl").exists()


def test_a_log_with_events_takes_no_import(source: Path, tmp_path: Path) -> None:
    export(source, tmp_path / "a.jsonl")
    with Workspace.open(source) as workspace:
        with pytest.raises(LogNotEmpty, match=r"the workspace at .*source holds events already"):
            import_file(workspace.log, tmp_path / "a.jsonl")
        assert workspace.log.last_position() == 700


@pytest.mark.parametrize("line", [1, 399, 700])
def test_a_refused_import_keeps_nothing_and_can_be_made_again(
    source: Path, target: Path, tmp_path: Path, line: int
) -> None:
    path = tmp_path / "a.jsonl"
    whole = export(source, path)
    lines = whole.splitlines(keepends=True)
    lines[line - 1] = lines[line - 1].replace(b'"visibility":"public"', b'"visibility":"secret"')
    path.write_bytes(b"".join(lines))
    with Workspace.open(target) as workspace:
        with pytest.raises(InvalidLine, match=f"^line {line}: "):
            import_file(workspace.log, path)
        assert workspace.log.last_position() == 0
        path.write_bytes(whole)
        assert import_file(workspace.log, path).events == 700


def test_a_stopped_import_keeps_nothing(source: Path, target: Path, tmp_path: Path) -> None:
    export(source, tmp_path / "a.jsonl")
    asked: list[int] = []

    def stop_at_the_third() -> bool:
        asked.append(1)
        return len(asked) == 3

    with Workspace.open(target) as workspace:
        with pytest.raises(TransferStopped):
            import_file(workspace.log, tmp_path / "a.jsonl", cancelled=stop_at_the_third)
        assert workspace.log.last_position() == 0


def test_a_line_without_end_is_not_read_into_memory(
    target: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transfer, "MAX_LINE_BYTES", 1000)
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"x" * 5000)
    with Workspace.open(target) as workspace, pytest.raises(InvalidLine, match=r"^line 1: longer"):
        import_file(workspace.log, path)


@pytest.mark.parametrize("make", [Path.mkdir, lambda path: None])
def test_a_file_that_cannot_be_read_is_named(
    target: Path, tmp_path: Path, make: Callable[[Path], None]
) -> None:
    path = tmp_path / "a.jsonl"
    make(path)
    with Workspace.open(target) as workspace, pytest.raises(FileFailed, match=r"a\.jsonl cannot be read"):
        import_file(workspace.log, path)


def test_a_read_only_workspace_takes_no_import(source: Path, target: Path, tmp_path: Path) -> None:
    export(source, tmp_path / "a.jsonl")
    with Workspace.open(target, read_only=True) as workspace, pytest.raises(DatabaseReadOnly):
        import_file(workspace.log, tmp_path / "a.jsonl")


def _cut(place: float) -> Callable[[bytes], bytes]:
    return lambda whole: whole[: int(place * len(whole))]


def _line(number: int, change: Callable[[bytes], bytes]) -> Callable[[bytes], bytes]:
    def changed(whole: bytes) -> bytes:
        lines = whole.splitlines(keepends=True)
        lines[number - 1] = change(lines[number - 1])
        return b"".join(lines)

    return changed


def _reordered(whole: bytes) -> bytes:
    lines = whole.splitlines(keepends=True)
    return b"".join([*lines[:9], lines[10], lines[9], *lines[11:]])


BROKEN: dict[str, tuple[Callable[[bytes], bytes], str]] = {
    "in the first line": (_cut(0.0001), "line 1: "),
    "in the middle": (_cut(0.5), "line "),
    "in the last line": (lambda whole: whole[:-40], "line 700: "),
    "without its last byte": (lambda whole: whole[:-1], "line 700: the file ends before"),
    "reordered": (_reordered, "line 10: position 11, "),
    "a line twice": (_line(10, lambda line: line + line), "line 11: .*stored already"),
    "a line gone": (_line(10, lambda line: b""), "line 10: position 11, "),
    "a position": (_line(10, lambda line: line.replace(b'"position":10', b'"position":11')), "line 10: "),
    "a wrong type": (
        _line(10, lambda line: line.replace(b'"seq":10', b'"seq":"10"')),
        "line 10: not an event",
    ),
    "a foreign field": (
        _line(10, lambda line: line.replace(b'"seq":', b'"sea":1,"seq":')),
        "line 10: not an event",
    ),
    "a line of blanks": (_line(10, lambda line: b"   \n" + line), "line 10: not an event"),
    "a line of zeros": (_line(10, lambda line: bytes(len(line) - 1) + b"\n"), "line 10: not an event"),
    "not UTF-8": (_line(10, lambda line: line.replace(b'"content":"', b'"content":"\xff')), "line 10: "),
    "a very long line": (
        _line(10, lambda line: b"x" * 3_000_000 + b"\n"),
        "line 10: not an event, and longer",
    ),
    "a byte order mark": (lambda whole: b"\xef\xbb\xbf" + whole, "line 1: .*byte order mark"),
    "UTF-16": (lambda whole: whole.decode().encode("utf-16"), "line 1: .*UTF-16"),
    "carriage returns": (lambda whole: whole.replace(b"\n", b"\r\n"), "line 1: it is not written as"),
    "old carriage returns": (lambda whole: whole.replace(b"\n", b"\r"), "line 1: "),
    "gzip": (gzip.compress, "line 1: the file is packed"),
    "something behind it": (lambda whole: whole + b"\n", "line 701: not an event"),
    "another program's": (lambda whole: b'{"type":"user","message":"hi"}\n', "line 1: not an event"),
}


@pytest.mark.parametrize("how", BROKEN)
def test_a_broken_export_is_refused_with_its_line(
    source: Path, target: Path, tmp_path: Path, how: str
) -> None:
    """File, line, what is wrong and what to do are said, and nothing is written."""
    change, said = BROKEN[how]
    path = tmp_path / "a.jsonl"
    whole = export(source, path)
    broken = change(whole)
    assert broken != whole
    path.write_bytes(broken)
    with Workspace.open(target) as workspace:
        with pytest.raises(InvalidLine, match=f"^{said}") as caught:
            import_file(workspace.log, path)
        assert str(path) in caught.value.hint
        assert not caught.value.hint.startswith(";")
        assert workspace.log.last_position() == 0
        with workspace.log.reader() as connection:
            for table in ("streams", "event_types", "chronica", "activity_hours"):
                assert connection.execute(f"SELECT count(*) FROM {table}").fetchone() == (0,)
        path.write_bytes(whole)
        assert import_file(workspace.log, path).events == 700
    assert export(target, tmp_path / "b.jsonl") == whole


def test_a_database_in_the_place_of_an_export_is_told(source: Path, target: Path) -> None:
    with (
        Workspace.open(target) as workspace,
        pytest.raises(InvalidLine, match="line 1: the file is a database"),
    ):
        import_file(workspace.log, Layout(source).database)


def test_a_line_longer_than_is_read_at_a_time_comes_back(target: Path, tmp_path: Path) -> None:
    root = tmp_path / "long"
    with Workspace.create(root, title="Long", timezone="UTC", owner="maya") as workspace:
        fill(workspace, 5)
        fill(workspace, 3, sessions=1, words=400_000)
    whole = export(root, tmp_path / "a.jsonl")
    assert max(map(len, whole.splitlines())) > 2 * transfer._FIRST_READ
    with Workspace.open(target) as workspace:
        assert import_file(workspace.log, tmp_path / "a.jsonl").events == 8
    assert export(target, tmp_path / "b.jsonl") == whole
