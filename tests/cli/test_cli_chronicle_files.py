"""`chronicle export`, `load` and `recording`: files that travel between copies of a workspace."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.chronicle_words import DINNER, JSON, rounds, say, script, summarized_by
from tests.cli.memory_words import SHIP, hand_off
from tests.cli.program import Run
from workbench.workspace import Workspace


@pytest.fixture
def written(workspace: Workspace) -> Workspace:
    """Two sections, the first of two generations."""
    rounds(workspace, 2)
    workspace.chronicle("dinner").consolidate()
    workspace.chronicle("dinner").reconsolidate("1-3")
    return workspace


@pytest.fixture
def copy(run: Run, written: Workspace, tmp_path: Path) -> Path:
    """The root of a workspace with the same events and no sections."""
    root, log = tmp_path / "copy", tmp_path / "log.jsonl"
    Workspace.create(root, title="Copy", timezone="UTC", owner="ada").close()
    assert run("export", "jsonl", "--to", log).code == 0
    assert run("import", "jsonl", log, "--root", root).code == 0
    return root


def drawn_again(workspace: Workspace, tmp_path: Path) -> None:
    """Let a program, whose answers are recorded, write the second section again."""
    summarized_by(workspace, script(tmp_path / "program", "echo Good."))
    workspace.chronicles.trust()
    workspace.chronicle("dinner").reconsolidate("4-5")


def test_sections_travel_with_all_their_generations(
    run: Run, written: Workspace, copy: Path, tmp_path: Path
) -> None:
    path, again = tmp_path / "a.chronicle", tmp_path / "b.chronicle"
    answer = run("chronicle", "export", *DINNER, "--to", path, *JSON)
    assert (answer.code, answer.json) == (0, {"stream": "session/dinner", "count": 3})
    assert path.stat().st_mode & 0o777 == 0o600
    loaded = run("chronicle", "load", path, "--root", copy, *JSON)
    assert loaded.json == {"stream": "session/dinner", "loaded": 3, "sections": 3, "other_words": []}
    assert run("chronicle", "load", path, "--root", copy, *JSON).json["loaded"] == 0
    assert "were there already" in run("chronicle", "load", path, "--root", copy).out
    assert run("chronicle", "export", *DINNER, "--to", again, "--root", copy).code == 0
    assert again.read_bytes() == path.read_bytes()


def test_a_section_that_says_something_else_in_the_file_is_named_and_stays_out(
    run: Run, written: Workspace, tmp_path: Path
) -> None:
    path = tmp_path / "a.chronicle"
    assert run("chronicle", "export", *DINNER, "--to", path).code == 0
    store = written.chronicle("dinner").store
    kept = store.export()
    store.reset()
    store.load([kept[0]._replace(prose="Something else."), *kept[1:]])
    answer = run("chronicle", "load", path)
    assert answer.code == 0 and "the file's 1-3 says something else than here" in answer.out
    assert run("chronicle", "load", path, *JSON).json["other_words"] == ["1-3"]
    first = store.section("1-3")
    assert first is not None and first.prose == "Something else."


def test_dashes_are_the_standard_streams(run: Run, written: Workspace, copy: Path, tmp_path: Path) -> None:
    path = tmp_path / "a.chronicle"
    assert run("chronicle", "export", *DINNER, "--to", path).code == 0
    for words in ((), ("--to", "-")):
        assert run("chronicle", "export", *DINNER, *words).out == path.read_text()
    piped = run("chronicle", "load", "-", "--root", copy, *JSON, stdin=path.read_bytes())
    assert piped.json["loaded"] == 3
    assert run("chronicle", "export", *DINNER, *JSON).json["error_type"] == "usage"
    drawn_again(written, tmp_path)
    for to in ((), ("-",), ("--to", "-")):
        recorded = run("chronicle", "recording", "write", *to, *DINNER)
        assert json.loads(recorded.out.splitlines()[0])["stream"] == "session/dinner"
        assert recorded.err.replace("\u00a0", " ") == "recorded 1 answer for session/dinner\n"
    shown = run("chronicle", "recording", "read", "-", *JSON, stdin=recorded.out.encode())
    header = shown.json["header"]
    assert (header["stream"], header["drawn_by"][:7], shown.json["pins"]) == ("session/dinner", "command", 1)


WRITERS = [
    ("export", *DINNER, "--to", "{}"),
    ("export", *DINNER, "{}"),
    ("recording", "write", "{}", *DINNER),
    ("recording", "write", *DINNER, "--to", "{}"),
]


@pytest.mark.parametrize("words", WRITERS, ids=" ".join)
def test_no_other_file_is_written_over_without_force(
    run: Run, written: Workspace, tmp_path: Path, words: tuple[str, ...]
) -> None:
    drawn_again(written, tmp_path)
    path = tmp_path / "notes.txt"
    path.write_text("precious\n")
    command = ["chronicle", *(word.format(path) for word in words)]
    answer = run(*command)
    assert answer.code == 2
    assert f"{path} exists and is no" in answer.err and "say --force" in answer.err
    assert path.read_text() == "precious\n"
    assert run(*command, "--force").code == 0
    first = path.read_bytes()
    assert b"precious" not in first and path.stat().st_mode & 0o777 == 0o600
    # An earlier file of the same kind, and an empty one, need no force.
    assert run(*command).code == 0
    path.write_bytes(b"")
    assert run(*command).code == 0
    assert path.read_bytes() == first
    assert [each.name for each in tmp_path.iterdir() if each.name.startswith(".")] == []


@pytest.mark.parametrize("words", [WRITERS[0], WRITERS[3]], ids=["export", "recording"])
def test_a_file_is_named_once_and_its_help_says_one_way(
    run: Run, written: Workspace, tmp_path: Path, words: tuple[str, ...]
) -> None:
    answer = run("chronicle", *(word.format(tmp_path / "a") for word in words), tmp_path / "b", *JSON)
    assert (answer.code, answer.json["error_type"]) == (2, "usage")
    assert list(tmp_path.glob("[ab]")) == []
    assert "[OPTIONS]\n" in run("chronicle", *words[: words.index("--stream")], "--help").out


@pytest.mark.parametrize("words", WRITERS, ids=" ".join)
def test_a_file_that_would_hold_nothing_is_not_written(
    run: Run, workspace: Workspace, tmp_path: Path, words: tuple[str, ...]
) -> None:
    rounds(workspace, 1)
    path = tmp_path / "out"
    command = ["chronicle", *(word.format(path) for word in words)]
    answer = run(*command, "--root", workspace.root)
    assert (answer.code, answer.out, path.exists()) == (1, "", False)
    assert "there is nothing to" in answer.err
    assert f"--root {workspace.root} --stream session/dinner" in answer.err
    path.write_text("precious\n")
    assert run(*command, *JSON).json["error_type"] == "nothing_to_write"
    assert run(*command, "--force").code == 1
    assert path.read_text() == "precious\n"


def test_a_forced_file_that_fails_leaves_what_was_there(run: Run, written: Workspace, tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    answer = run("chronicle", "export", *DINNER, "--to", folder, "--force")
    assert (answer.code, folder.is_dir()) == (2, True)
    assert run("chronicle", "export", *DINNER, "--to", folder).code == 2
    answer = run("chronicle", "export", *DINNER, "--to", tmp_path / "no" / "such", *JSON)
    assert (answer.code, answer.json["error_type"]) == (2, "file_failed")
    assert run("chronicle", "export", *DINNER, "--to", "").code == 2


def test_a_link_stays_a_link(run: Run, written: Workspace, tmp_path: Path) -> None:
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_text("something else\n")
    link.symlink_to(target)
    assert run("chronicle", "export", *DINNER, "--to", link, "--force").code == 0
    assert link.is_symlink() and target.read_text().startswith('{"chronicle":')


def test_a_changed_line_is_named_and_nothing_is_loaded(
    run: Run, written: Workspace, copy: Path, tmp_path: Path
) -> None:
    path = tmp_path / "a.chronicle"
    assert run("chronicle", "export", *DINNER, "--to", path).code == 0
    lines = path.read_text().splitlines(keepends=True)
    for number, changed in (
        (3, [*lines[:2], lines[2].replace("round", "found"), *lines[3:]]),
        (5, lines[:-1]),
        (2, [lines[0], *lines[2:]]),
    ):
        path.write_text("".join(changed))
        answer = run("chronicle", "load", path, "--root", copy)
        assert answer.code == 1
        assert f"line {number}" in answer.err, answer
    assert run("chronicle", "sections", *DINNER, "--root", copy, *JSON).json["sections"] == []


def test_what_is_no_export_of_this_log_is_refused(run: Run, written: Workspace, tmp_path: Path) -> None:
    path = tmp_path / "a.chronicle"
    assert run("chronicle", "export", *DINNER, "--to", path).code == 0
    other = tmp_path / "other"
    with Workspace.create(other, title="Other", timezone="UTC", owner="ada") as opened:
        say(opened, "another dinner")
    foreign = run("chronicle", "load", path, "--root", other, *JSON)
    assert (foreign.code, foreign.json["error_type"]) == (1, "invalid_chronicle_export")
    rounds(written, 1, "lunch")
    wrong = run("chronicle", "load", path, "--session", "lunch")
    assert (wrong.code, "not of session/lunch" in wrong.err) == (1, True)
    path.write_text("notes\n")
    assert "no export of a chronicle" in run("chronicle", "load", path).err
    path.write_text("")
    assert "the file is empty" in run("chronicle", "load", path).err
    for place in (tmp_path, Path("/dev/zero")):
        assert run("chronicle", "load", place, *JSON).json["error_type"] == "file_failed"
    missing = run("chronicle", "load", tmp_path / "missing", *JSON)
    assert (missing.code, missing.json["error_type"]) == (2, "file_failed")


def test_a_stream_in_a_file_that_is_not_here_is_named(run: Run, written: Workspace, tmp_path: Path) -> None:
    path, other = tmp_path / "a.chronicle", tmp_path / "other"
    assert run("chronicle", "export", *DINNER, "--to", path).code == 0
    Workspace.create(other, title="Other", timezone="UTC", owner="ada").close()
    answer = run("chronicle", "load", path, "--root", other)
    assert (answer.code, "there is no stream 'session/dinner'" in answer.err) == (1, True)


def test_times_are_in_the_file_only_where_they_are_asked_for(
    run: Run, written: Workspace, tmp_path: Path
) -> None:
    plain, timed = (run("chronicle", "export", *DINNER, *words).out for words in ((), ("--times",)))
    assert "written_at" in timed and "written_at" not in plain


def test_a_recording_says_whose_it_is_and_how_much_it_holds(
    run: Run, workspace: Workspace, tmp_path: Path
) -> None:
    rounds(workspace, 2)
    summarized_by(workspace, script(tmp_path / "program", "echo Good."))
    workspace.chronicles.trust()
    assert run("chronicle", "consolidate").code == 0
    path = tmp_path / "pins"
    answer = run("chronicle", "recording", "write", path, *DINNER, *JSON)
    assert answer.json == {"stream": "session/dinner", "pins": 2}
    [who, by, answers] = run("chronicle", "recording", "read", path).out.splitlines()
    assert (who, answers) == ("stream    session/dinner", "answers   2")
    [section, *_] = workspace.chronicle("dinner").store.sections()
    assert by == f"drawn by  {section.written.summarizer} {section.written.summarizer_version}"
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join([*lines[:2], "{}\n"]))
    broken = run("chronicle", "recording", "read", path)
    assert (broken.code, "line 3 of the recording" in broken.err) == (2, True)
    for text in ("", "notes\n", '{"workbench.recording":2}\n'):
        path.write_text(text)
        assert run("chronicle", "recording", "read", path, *JSON).json["error_type"] == "file_failed"
    assert run("chronicle", "recording", "read", tmp_path, *JSON).json["error_type"] == "file_failed"


OWN = ["SSOT_MANIFEST.toml", "chronicle.db", "chronicle.db-wal", "chronicle.db-shm", "chronicle.db-journal"]


@pytest.mark.parametrize("words", [WRITERS[0], WRITERS[3]], ids=["export", "recording"])
@pytest.mark.parametrize("force", [(), ("--force",)], ids=["plain", "forced"])
def test_no_export_replaces_a_file_of_this_or_another_workspace(
    run: Run, written: Workspace, tmp_path: Path, words: tuple[str, ...], force: tuple[str, ...]
) -> None:
    drawn_again(written, tmp_path)
    root = written.root
    other = tmp_path / "other"
    Workspace.create(other, title="Other", timezone="UTC", owner="ada").close()
    link, hard = tmp_path / "link", tmp_path / "hard"
    link.symlink_to(root / "chronicle.db")
    hard.hardlink_to(root / "SSOT_MANIFEST.toml")
    backup = root / "backups" / "old"
    backup.write_bytes(b"\x1f\x8b packed")
    copied = tmp_path / "copied.sqlite"
    copied.write_bytes(b"SQLite format 3\x00 and so on")
    places = [
        *(root / name for name in OWN),
        *(other / name for name in OWN),
        link,
        hard,
        backup,
        copied,
        root / "artifacts" / "new",
        other / "artifacts" / "new",
        root / "notes" / "README.md",
        root / "notes" / ".." / "status.md",
    ]
    before = {
        place: place.read_bytes() if place.exists() else None for place in places if "-" not in place.name
    }
    for place in places:
        answer = run("chronicle", *(word.format(place) for word in words), *force, *JSON)
        assert (answer.code, answer.json["error_type"]) == (2, "own_file"), (place, answer)
        assert str(place) in answer.json["error"] and "--to" in answer.json["hint"]
    assert before == {place: place.read_bytes() if place.exists() else None for place in before}
    # An export may lie among the backups, and be written there again.
    for _ in range(2):
        assert run("chronicle", *(word.format(root / "backups" / "a.jsonl") for word in words)).code == 0


def test_neither_does_an_export_of_events(run: Run, workspace: Workspace) -> None:
    rounds(workspace, 1)
    for name in ("chronicle.db-journal", "artifacts/new", "chronicle.db"):
        answer = run("export", "jsonl", "--to", workspace.root / name, *JSON)
        assert (answer.code, answer.json["error_type"]) == (2, "own_file"), name


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ('{"chronicle":"1"}', "line 1: chronicle must be a number"),
        ('{"chronicle":null}', "line 1: chronicle must be a number"),
        ('{"chronicle":', "line 1: it is no line of JSON"),
    ],
)
def test_what_is_wrong_with_a_header_is_said_in_our_words(
    run: Run, written: Workspace, tmp_path: Path, line: str, why: str
) -> None:
    path = tmp_path / "a"
    path.write_text(line + "\n")
    answer = run("chronicle", "load", path, *JSON)
    assert (answer.code, answer.json["error"]) == (1, why)


@pytest.mark.parametrize("words", [WRITERS[0], WRITERS[3]], ids=["export", "recording"])
def test_a_file_of_a_stream_with_withheld_sections_is_warned_of(
    run: Run, workspace: Workspace, tmp_path: Path, words: tuple[str, ...]
) -> None:
    summarized_by(workspace, script(tmp_path / "program", "echo Good."))
    workspace.chronicles.trust()
    said = hand_off(run, *SHIP, text="The merger is on")
    assert run("chronicle", "consolidate").code == 0
    named = [
        "task/global/atlas/ship" if word == DINNER[1] else word.format(tmp_path / "out") for word in words
    ]
    assert "withheld" not in run("chronicle", *named).err
    assert run("quarantine", said["observation_id"], "--reason", "not public").code == 0
    answer = run("chronicle", *named)
    assert answer.code == 0
    assert "1 section of task/global/atlas/ship is withheld from agents" in answer.err.replace("\u00a0", " ")
