"""Every file beside the database is cleaned, or named as one that may still hold something; none is passed over."""

from __future__ import annotations

import bz2
import gzip
import shutil
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from uuid import uuid4

import apsw
import pytest

from tests.workspace.redaction_cases import (
    act,
    begin,
    codes,
    copy_of,
    holders,
    keep,
    new_root,
    token,
    unfiltered,
)
from workbench.chronicle.export_file import write_export
from workbench.chronicle.sections import Anchor, Section
from workbench.chronicle.sqlite import SQLiteChronicleStore
from workbench.log.pins.recording import write_recording
from workbench.log.registry import Envelope, StoredEvent
from workbench.log.streams import session_stream
from workbench.workspace import Workspace
from workbench.workspace.redactions import files, places
from workbench.workspace.redactions.outcomes import other_words
from workbench.workspace.redactions.scrub import unfinished
from workbench.workspace.transfer import export_file


@pytest.fixture(autouse=True)
def no_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("CHRONICLE_AUTO_MIGRATE", "CHRONICLE_DB"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return new_root(tmp_path / "w")


def write(path: Path, content: bytes) -> None:
    for folder in reversed(path.relative_to(path.parents[1]).parents):
        (path.parents[1] / folder).mkdir(mode=0o700, parents=True, exist_ok=True)
    path.write_bytes(content)
    path.chmod(0o600)


SAID = f"error: 401 for {token(1)}\nretrying\n"
CLEAN = "error: 401 for [REDACTED:anthropic_key]\nretrying\n"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32"])
@pytest.mark.parametrize(
    "place", ["logs/run.log", "exports/own.jsonl", "logs/deep/.hidden/x", "artifacts/stray"]
)
def test_texts_in_the_programs_folders_are_cleaned_in_their_encoding(
    root: Path, place: str, encoding: str
) -> None:
    write(root / place, SAID.encode(encoding))
    with Workspace.open(root) as workspace:
        assert workspace.rescan().found == 1
        report = workspace.scrub()
        assert (report.files, report.is_whole) == (1, True)
    assert (root / place).read_bytes() == CLEAN.encode(encoding)


def test_half_a_character_at_the_end_of_a_text_stays(root: Path) -> None:
    log = root / "logs" / "run.log"
    write(log, SAID.encode("utf-16-le") + b"x")
    with Workspace.open(root) as workspace:
        workspace.scrub()
    assert log.read_bytes() == CLEAN.encode("utf-16-le") + b"x"


BINARY = b"\0\1\2\3\xff\xfe" * 9


def database(path: Path) -> None:
    write(path, b"")
    connection = apsw.Connection(str(path))
    connection.execute("CREATE TABLE lost_and_found(x)")
    connection.execute("INSERT INTO lost_and_found VALUES(?)", (SAID,))
    connection.close()


@pytest.mark.parametrize(
    ("place", "make"),
    [
        ("chronicle.db-wal.other", lambda path: write(path, b"\x37\x7f\x06\x82" + bytes(28) + SAID.encode())),
        ("chronicle.db-wal.other2", lambda path: write(path, b"\x37\x7f\x06\x82" + bytes(60))),
        ("chronicle.db.recovered", database),
        ("chronicle.db.bak", lambda path: write(path, BINARY + SAID.encode())),
        ("chronicle.db.txt", lambda path: write(path, SAID.encode())),
        ("old.part", lambda path: write(path, SAID.encode())),
        (".new-x", lambda path: write(path, SAID.encode("utf-16"))),
        ("exports/e.jsonl.gz", lambda path: write(path, gzip.compress(SAID.encode()))),
        ("exports/e.jsonl.bz2", lambda path: write(path, bz2.compress(SAID.encode()))),
        ("exports/e.jsonl.zst", lambda path: write(path, b"\x28\xb5\x2f\xfd" + bytes(9))),
        ("logs/cut.gz", lambda path: write(path, gzip.compress(SAID.encode())[:-20])),
        ("logs/core", lambda path: write(path, BINARY + SAID.encode() + BINARY)),
        ("logs/wide", lambda path: write(path, BINARY + SAID.encode("utf-16-le") + BINARY)),
        (f"logs/{token(1)}.log", lambda path: write(path, b"nothing\n")),
        (f"exports/{token(1)}", lambda path: write(path, b"nothing\n")),
    ],
)
def test_what_cannot_be_cleaned_is_named(root: Path, place: str, make: Callable[[Path], None]) -> None:
    make(root / place)
    before = (root / place).read_bytes()
    with Workspace.open(root) as workspace:
        for report in (workspace.rescan(), workspace.scrub()):
            (other,) = report.others
            assert not report.is_whole
            assert token(1) not in other_words(other)
            assert other.place == place.replace(token(1), "[REDACTED:anthropic_key]")
    assert (root / place).read_bytes() == before


def test_files_that_hold_nothing_and_a_persons_own_are_passed_over(root: Path) -> None:
    write(root / "exports" / "e.jsonl.gz", gzip.compress(b"nothing"))
    write(root / "logs" / "core", BINARY)
    write(root / "chronicle.db.txt", b"nothing\n")
    write(root / "notes" / "mine.md", SAID.encode())
    write(root / "src" / "mine.gz", gzip.compress(SAID.encode()))
    copy_of(root, root / "backups" / "a.db")
    (root / "backups" / "a.db").chmod(0o600)
    with Workspace.open(root) as workspace:
        for report in (workspace.rescan(), workspace.scrub()):
            assert (report.found, report.others, report.closed) == (0, [], [])
    assert codes(root) == []


def recording_of(path: Path, text: str) -> None:
    event = StoredEvent(
        stream="pins/session/s",
        seq=1,
        position=1,
        envelope=Envelope(
            event_id=uuid4(),
            namespace="pins",
            type="pin.promoted",
            schema_version=1,
            recorded_at=datetime(2031, 1, 2, tzinfo=UTC),
        ),
        payload={
            "drawn_for": "session/s",
            "unit_id": "u",
            "key": "p1:model_call:" + "0" * 64,
            "kind": "model_call",
            "result": {"text": text},
            "attempts": 1,
        },
    )
    write_recording(path, [event], header={"stream": "session/s"})


def chronicle_of(root: Path, path: Path, text: str, session: str) -> None:
    with unfiltered(root) as log:
        begin(log, session)
        log.append(session_stream(session), [act(session, 1, "said")])
        store = SQLiteChronicleStore(log, session_stream(session).name)
        store.append(Section(Anchor("1-2", 1, 2, 2), text))
        with path.open("wb") as file:
            write_export(store, file.write)
        store.reset()


@pytest.mark.parametrize("place", ["mine.chronicle", "exports/mine.chronicle", "notes/deep/mine.chronicle"])
@pytest.mark.parametrize("kind", ["chronicle", "recording"])
def test_exports_of_chronicles_and_recordings_are_named_wherever_they_lie(
    root: Path, place: str, kind: str
) -> None:
    """Taken out of one, a secret would leave a file whose digests are wrong."""
    for seed, found in ((0, []), (1, [place])):
        text = SAID if seed else "nothing"
        (root / place).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if kind == "chronicle":
            chronicle_of(root, root / place, text, f"s{seed}")
        else:
            recording_of(root / place, text)
        before = (root / place).read_bytes()
        with Workspace.open(root) as workspace:
            for report in (workspace.rescan(), workspace.scrub()):
                assert [other.place for other in report.others] == found
                assert report.is_whole == (not found)
        assert (root / place).read_bytes() == before


def test_an_image_among_the_artifacts_stays_and_is_named(root: Path) -> None:
    content = b"\x89PNG\r\n\x1a\n\0\0\0\rtEXt" + SAID.encode() + b"\xff\xd9"
    digest = keep(root, content)
    with Workspace.open(root) as workspace:
        report = workspace.scrub()
        assert [other.place for other in report.others] == [f"artifacts/{digest[:2]}/{digest[2:4]}/{digest}"]
        assert workspace.evidence.get(digest) == content
        assert f"workbench evidence purge {digest} --reason" in other_words(report.others[0])
    assert "secrets_stored" in codes(root)


# -- what cannot be read -------------------------------------------------------------------


@pytest.mark.parametrize("folder", ["logs", "artifacts", "backups/b1", "exports", "artifacts/aa", "mine"])
def test_a_folder_that_cannot_be_read_is_named_and_the_scrub_stays_unfinished(
    root: Path, folder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    closed = root / folder
    closed.mkdir(mode=0o700, parents=True, exist_ok=True)
    # Whoever runs the tests may be the superuser, whom no permission keeps out: the system is asked to refuse.
    listed = places.os.scandir  # type: ignore[attr-defined]

    def refusing(path: str) -> object:
        if Path(path) == closed:
            raise PermissionError(13, "Permission denied", str(path))
        return listed(path)

    with Workspace.open(root) as workspace:
        with monkeypatch.context() as patched:
            patched.setattr("os.scandir", refusing)
            report = workspace.rescan()
            assert (report.closed, report.is_whole) == ([folder], False)
            scrubbed = workspace.scrub()
            assert (scrubbed.closed, scrubbed.is_whole) == ([folder], False)
            assert unfinished(workspace.log) == 1
        assert "scrub_unfinished" in codes(root)
        again = workspace.scrub()
        assert (again.closed, again.resumed) == ([], True)
        assert unfinished(workspace.log) == 0
    assert codes(root) == []


def test_between_two_steps_it_is_noted_that_something_is_open(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From the commit on, until the last file is clean, whenever it is asked."""
    with unfiltered(root) as log:
        begin(log, "s")
        log.append(session_stream("s"), [act("s", 1, f"key {token(1)}")])
        export_file(log, root / "before.jsonl")
    (root / "backups").chmod(0o700)
    write(root / "logs" / "a.log", SAID.encode())
    asked: list[tuple[str, bool, bool]] = []
    with Workspace.open(root) as workspace:

        def progress(done: int, total: int | None, note: str) -> None:
            soiled = bool(holders(root, 1))
            asked.append((note, soiled, unfinished(workspace.log) > 0))

        replaced = files.clean_loose

        def clean(path: Path, *given: object) -> None:
            progress(0, None, "cleaning")
            replaced(path, *given)  # type: ignore[arg-type]
            progress(0, None, "cleaned")

        monkeypatch.setattr(files, "clean_loose", clean)
        workspace.scrub(progress=progress)
    behind = asked[next(at for at, (note, _, _) in enumerate(asked) if note == "old text") :]
    assert {"files", "cleaning", "cleaned"} <= {note for note, _, _ in behind}
    assert all(noted for _, soiled, noted in behind if soiled)
    assert holders(root, 1) == []
    assert codes(root) == []


def test_a_copy_of_a_workspace_is_looked_at_as_the_first_one(root: Path, tmp_path: Path) -> None:
    write(root / "logs" / "a.log", SAID.encode())
    other = Path(shutil.copytree(root, tmp_path / "other"))
    found = []
    for each in (root, other):
        with Workspace.open(each) as workspace:
            found.append(workspace.rescan().hits)
    assert found[0] == found[1] != []


def test_a_damaged_artifact_is_left_alone_and_named(root: Path) -> None:
    with Workspace.open(root) as workspace:
        digest = workspace.evidence.put(b"what was kept once")
        path = workspace.evidence.path(digest)
        damage = f"password = {token(8)}\n".encode()
        path.write_bytes(damage)
        for report in (workspace.rescan(), workspace.scrub()):
            (other,) = report.others
            assert (other.place, other.damaged) == (str(path.relative_to(root)), True)
            assert (report.found, report.is_whole) == (0, False)
            said = other_words(other)
            assert "is damaged" in said
            assert f"workbench evidence purge {digest}" in said
        assert path.read_bytes() == damage
        assert [each for each in path.parents[2].rglob("*") if each.is_file()] == [path]
