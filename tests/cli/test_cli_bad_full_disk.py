"""A disk that fills up at any moment of any command: one sentence, nothing lost, nothing half left behind."""

from __future__ import annotations

import contextlib
import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest

from tests.cli.program import Answer
from tests.imports.claude_code_records import SESSION, assistant, text, user, write
from tests.media import Program, fill, medium, open_folder, resize
from tests.thorough import some
from workbench import Actum
from workbench.storage.errors import DiskFull
from workbench.workspace import Workspace

PLENTY = 64 * 1024
PICTURE = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


@pytest.fixture
def home() -> Iterator[Path]:
    with open_folder() as folder:
        yield folder


@pytest.fixture
def disk(home: Path) -> Iterator[tuple[Program, Path]]:
    with medium(home, PLENTY) as lent:
        yield lent


class Tally:
    """How often the disk was large enough, and how often it was not: a loop that saw one alone proved little."""

    def __init__(self) -> None:
        self.went_well = 0
        self.stored = ""
        """What the last one said of what it had stored before."""
        self.full = 0

    def holds(self, answer: Answer, *, says: str = "") -> bool:
        """Whether a command went well; otherwise it must have said in one sentence that there is no room.

        `says` is the beginning of what it says beside its output when all went well.
        """
        if answer.code == 0:
            assert answer.err.startswith(says)
            assert bool(answer.err) == bool(says)
            self.went_well += 1
            return True
        assert answer.code == 1, answer
        error, hint = answer.err.splitlines()
        assert re.fullmatch(r"error: no room left to write .+", error), answer
        plain, _, stored = hint.partition("; ")
        assert plain == "hint: free some space and try again"
        self.stored = stored
        self.full += 1
        return False

    def check(self, least_full: int) -> None:
        assert self.went_well
        assert self.full >= least_full


def names(program: Program, folder: Path) -> list[str]:
    return sorted(path.name for path in program.inside(folder).iterdir())


def healthy(program: Program, root: Path, *, but: tuple[str, ...] = ()) -> None:
    answer = program.run("doctor", "--root", root, "--format", "json")
    assert (answer.code, answer.err) == (0, "")
    assert [each for each in answer.json["findings"] if each["code"] not in but] == []


def acta(program: Program, root: Path, session: str) -> list[str]:
    words = ("--owner", "ada", "--root", root, "--format", "json", "--limit", "100000")
    answer = program.run("sessions", "show", session, *words)
    assert answer.code == 0, answer
    return [each["content"] for each in answer.json["acta"]]


def ballast(program: Program, place: Path, free_kib: int) -> Path:
    """A file that takes all the room but so much."""
    inside = program.inside(place)
    path = inside / "ballast"
    with path.open("wb", buffering=0) as file, contextlib.suppress(OSError):
        while file.write(bytes(65536)):
            pass
    size = path.stat().st_size - free_kib * 1024
    with path.open("r+b") as file:
        file.truncate(max(0, size))
    return path


def record(program: Program, root: Path, words: str) -> Answer:
    asked = (
        "sessions record --owner ada --session s --kind message --actor-kind human --actor ada --content -"
    )
    return program.run(*asked.split(), "--root", root, stdin=words)


def test_init_can_be_repeated_with_more_room(disk: tuple[Program, Path]) -> None:
    program, place = disk
    tally = Tally()
    root = place / "w"
    for kib in some((*range(4, 60, 8), *range(60, 900, 60)), 8):
        fill(program, place, kib)
        went_well = tally.holds(program.run("init", "--root", root, "--timezone", "UTC"))
        resize(program, place, PLENTY)
        if not went_well:
            # What is there is either nothing, or a workspace that says how it is completed.
            status = program.run("status", "--root", root)
            assert (status.code, status.err) == (0, "")
            assert "none yet" in status.out
            again = program.run("init", "--root", root, "--timezone", "UTC")
            assert (again.code, again.err) == (0, "")
        assert not [name for name in names(program, root) if name.startswith(".new-")]
        healthy(program, root)
    tally.check(3)


def test_renewing_the_starters_never_empties_them(disk: tuple[Program, Path]) -> None:
    program, place = disk
    tally = Tally()
    root = place / "w"
    assert program.run("init", "--root", root, "--timezone", "UTC").code == 0
    manifest = program.inside(root) / "SSOT_MANIFEST.toml"
    text_before = manifest.read_text()
    for free in (0, 4, 8, 12, 64, 512):
        stone = ballast(program, place, free)
        tally.holds(program.run("init", "--root", root, "--timezone", "UTC", "--force"))
        stone.unlink()
        assert manifest.read_text() == text_before
        healthy(program, root)
    tally.check(1)


def test_a_sample_is_there_whole_or_not_at_all(disk: tuple[Program, Path]) -> None:
    program, place = disk
    tally = Tally()
    sizes = (4, 40, 100, 200, 300, 400, 600, 800, 1000, 1500, 2000, 3000, 9000, 16000)
    for number, kib in enumerate(some(sizes, 6)):
        fill(program, place, kib)
        occupied = number % 2 == 0
        if occupied:
            (program.inside(place) / "w").mkdir(mode=0o700)
        answer = program.run("demo", "--to", place / "w", "--no-open")
        went_well = tally.holds(answer, says="the sample is dated so that it ends today")
        resize(program, place, PLENTY)
        if went_well:
            assert names(program, place) == ["w"]
        else:
            assert names(program, place) == (["w"] if occupied else [])
            assert not occupied or names(program, place / "w") == []
            assert program.run("demo", "--to", place / "w", "--no-open").code == 0
        healthy(program, place / "w")
    tally.check(2)


def test_what_was_recorded_before_is_there(disk: tuple[Program, Path]) -> None:
    program, place = disk
    tally = Tally()
    root = place / "w"
    assert program.run("init", "--root", root, "--timezone", "UTC").code == 0
    kept: list[str] = []
    for free in some((0, 4, 8, 20, 36, 68, 132, 200, 300, 420), 5):
        stone = ballast(program, place, free)
        for number in range(6):
            words = f"{free} {number} " + "word " * (20 if number % 2 else 6000)
            if not tally.holds(record(program, root, words)):
                break
            kept.append(words.strip())
        listed = program.run("sessions", "list", "--root", root)
        assert listed.code == 0 or "no room" in listed.err
        stone.unlink()
        assert [words.strip() for words in (acta(program, root, "s") if kept else [])] == kept
    healthy(program, root)
    assert tally.holds(record(program, root, "room again"))
    tally.check(2)


def record_batches(root: str, batches: str) -> list[object]:
    """Called in the program's place: record batches of 50; how many were acknowledged, and the error's code."""
    done = 0
    try:
        with Workspace.open(root) as workspace:
            for batch in range(int(batches)):
                with workspace.log.transaction():
                    for number in range(50):
                        workspace.sessions.record_actum(
                            "ada",
                            Actum(
                                chronicum_id="b",
                                kind="message",
                                actor_kind="agent",
                                actor="coder",
                                content=f"{batch} {number} " + "text " * 200,
                            ),
                        )
                done += 1
    except DiskFull as error:
        return [done, error.code]
    return [done, ""]


def test_an_import_goes_on_where_it_stopped(disk: tuple[Program, Path], home: Path) -> None:
    program, place = disk
    picture = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PICTURE}}
    talk = [
        user(n, [text(f"ask {n} " + "why " * 40), picture] if n % 10 == 0 else f"ask {n}")
        if n % 2 == 0
        else assistant(n, [text(f"answer {n} " + "because " * 60)])
        for n in range(400)
    ]
    transcript = write(home / "transcripts" / f"{SESSION}.jsonl", talk)
    tally = Tally()
    root = place / "w"
    command = ("import", "claude-code", transcript, "--yes", "--owner", "ada", "--root", root)

    def everything() -> list[str]:
        return acta(program, root, f"claude-code/{SESSION}")

    whole: list[str] = []
    for kib in (PLENTY, *some((0, 12, 40, 90, 160, 260, 400, 600, 900, 1300, 1800), 5)):
        fill(program, place, PLENTY)
        assert program.run("init", "--root", root, "--timezone", "UTC").code == 0
        stone = None if kib == PLENTY else ballast(program, place, kib)
        went_well = tally.holds(program.run(*command))
        if stone is not None:
            stone.unlink()
        if not went_well:
            # What is said to be stored is what is there; nothing is said where not even the job could begin.
            status = program.run("status", "--root", root, "--format", "json").json
            stored = status["summary"]["acta"]
            said = f"{stored} act" if stored else "nothing was stored so far"
            assert tally.stored.startswith(said) or (tally.stored, stored) == ("", 0)
            # A picture is kept before what names it.
            healthy(program, root, but=("artifact_orphaned",))
            assert tally.holds(program.run(*command))
        whole = whole or everything()
        assert len(whole) >= 400
        assert everything() == whole
        healthy(program, root)
    tally.check(2)


def test_what_was_stored_before_the_disk_was_full_is_counted(disk: tuple[Program, Path], home: Path) -> None:
    program, place = disk
    other = SESSION.replace("1111", "2222", 1)
    write(home / "transcripts" / f"{SESSION}.jsonl", [user(0, "small"), user(1, "and first")])
    write(
        home / "transcripts" / f"{other}.jsonl",
        [user(n, f"{n} {'why ' * 400}", sessionId=other) for n in range(2, 3000)],
    )
    root = place / "w"
    assert program.run("init", "--root", root, "--timezone", "UTC").code == 0
    stone = ballast(program, place, 1000)
    command = ("import", "claude-code", home / "transcripts", "--yes", "--owner", "ada", "--root", root)
    answer = program.run(*command)
    stone.unlink()
    assert answer.code == 1, answer
    stored = program.run("status", "--root", root, "--format", "json").json["summary"]["acta"]
    assert stored
    assert answer.err.splitlines()[-1] == (
        f"hint: free some space and try again; {stored:,} acta are stored and stay, "
        "and the next import goes on from there"
    )
    again = program.run(*command, "--format", "json").json
    assert again["totals"]["acta_added"] == 3000 - stored


@pytest.fixture(scope="module")
def batches_of_20(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace large enough to fill pages of an export, for copies."""
    root = tmp_path_factory.mktemp("batches") / "w"
    Workspace.create(root, timezone="UTC", owner="ada").close()
    assert record_batches(str(root), "20") == [20, ""]
    return root


@pytest.fixture
def filled(disk: tuple[Program, Path], batches_of_20: Path) -> tuple[Program, Path, Path]:
    """That workspace on the medium."""
    program, place = disk
    root = place / "w"
    shutil.copytree(batches_of_20, program.inside(root))
    return program, place, root


def test_batches_are_kept_whole(disk: tuple[Program, Path]) -> None:
    program, place = disk
    root = place / "w"
    assert program.run("init", "--root", root, "--timezone", "UTC").code == 0
    kept = refused = 0
    for free in some((0, 24, 80, 150, 280, 500, 900), 4):
        stone = ballast(program, place, free)
        done = program.run(root, "20", call="tests.cli.test_cli_bad_full_disk:record_batches")
        stone.unlink()
        acknowledged, code = done.json
        kept += acknowledged
        refused += code == "disk_full"
        assert len(acta(program, root, "b") if kept else []) == kept * 50
    assert refused >= 3
    assert kept
    healthy(program, root)


@pytest.mark.parametrize("earlier", [False, True])
def test_an_export_is_whole_or_as_it_was(filled: tuple[Program, Path, Path], earlier: bool) -> None:
    program, place, root = filled
    target = place / "out" / "log.jsonl"
    program.inside(target.parent).mkdir()
    command = ("export", "jsonl", "--to", target, "--root", root)
    assert program.run(*command).code == 0
    whole = program.inside(target).read_bytes()
    before = whole.splitlines(keepends=True)[0]
    tally = Tally()
    for free in some((0, 4, 100, 500, 1000, 1400, 3000, 5000), 5):
        program.inside(target).unlink()
        if earlier:
            program.inside(target).write_bytes(before)
        stone = ballast(program, place, free)
        went_well = tally.holds(program.run(*command))
        stone.unlink()
        if went_well:
            assert program.inside(target).read_bytes() == whole
        elif earlier:
            assert program.inside(target).read_bytes() == before
        assert names(program, target.parent) == (["log.jsonl"] if earlier or went_well else [])
        program.inside(target).touch()
    tally.check(3)


def test_output_that_goes_to_a_full_disk(filled: tuple[Program, Path, Path]) -> None:
    program, place, root = filled
    stone = ballast(program, place, 64)
    for words in (
        ("export", "jsonl"),
        ("timeline", "--limit", "2000"),
        ("sessions", "show", "b", "--owner", "ada", "--limit", "2000", "--format", "json"),
    ):
        answer = program.run(*words, "--root", root, stdout=place / "out")
        assert answer.code == 1, answer
        if "json" not in words:
            assert answer.err.startswith("error: no room left to write the output\n"), answer
    stone.unlink()
    healthy(program, root)


def test_a_loaded_log_is_whole_or_not_there(filled: tuple[Program, Path, Path], home: Path) -> None:
    program, place, root = filled
    exported = place / "log.jsonl"
    assert program.run("export", "jsonl", "--to", exported, "--root", root).code == 0
    lines = program.inside(exported).read_bytes()
    (home / "log.jsonl").write_bytes(lines)
    tally = Tally()
    for free in some((0, 40, 200, 700, 1500, 3000, 6000, 16000), 5):
        fill(program, place, PLENTY)
        assert program.run("init", "--root", root, "--timezone", "UTC").code == 0
        stone = ballast(program, place, free)
        went_well = tally.holds(program.run("import", "jsonl", home / "log.jsonl", "--root", root))
        stone.unlink()
        if not went_well:
            assert program.run("status", "--root", root, "--format", "json").json["summary"]["events"] == 0
            assert program.run("import", "jsonl", home / "log.jsonl", "--root", root).code == 0
        again = program.run("export", "jsonl", "--root", root)
        assert again.out.encode() == lines
        healthy(program, root)
    tally.check(2)


@pytest.mark.parametrize("left_in_wal", [False, True])
def test_a_full_disk_can_be_read(filled: tuple[Program, Path, Path], left_in_wal: bool) -> None:
    """Reading needs a little room beside the file, and where there is none goes without."""
    program, place, root = filled
    if left_in_wal:
        assert program.run(root, call="tests.cli.test_cli_bad_full_disk:leave_wal").code == 0
    stone = ballast(program, place, 0)
    before = [name for name in names(program, root) if not name.startswith("chronicle.db-")]
    for words in (
        ("status",),
        ("sessions", "list"),
        ("timeline",),
        ("sessions", "show", "b", "--owner", "ada"),
        ("doctor",),
        ("export", "jsonl"),
    ):
        answer = program.run(*words, "--root", root)
        assert (answer.code, answer.err) == (0, ""), (words, answer)
    assert program.run("status", "--root", root, "--format", "json").json["summary"]["acta"] == 1000
    assert [name for name in names(program, root) if not name.startswith("chronicle.db-")] == before
    if left_in_wal:
        # The copy that is read goes where there is room, whatever the environment names.
        full = {**program.env, "TMPDIR": str(place)}
        answer = program.run("status", "--root", root, env=full)
        assert (answer.code, answer.err) == (0, "")
    stone.unlink()
    healthy(program, root)


def leave_wal(root: str) -> None:
    """Called in the program's place: leave the files as a killed program does, a filled log and no index."""
    database = Path(root) / "chronicle.db"
    files = [database, database.with_name("chronicle.db-wal")]
    connection = apsw.Connection(str(database))
    connection.execute("UPDATE streams SET last_seq = last_seq + 1")
    connection.execute("UPDATE streams SET last_seq = last_seq - 1")
    copies = [file.read_bytes() for file in files]
    assert all(copies)
    connection.close()
    for file, content in zip(files, copies, strict=True):
        file.write_bytes(content)
        file.chmod(0o600)


def test_the_details_of_an_error_find_no_room(disk: tuple[Program, Path], home: Path) -> None:
    program, place = disk
    ballast(program, place, 0)
    env = {**program.env, "WORKBENCH_STATE_DIR": str(place / "state")}
    answer = program.run(call="tests.cli.test_cli_bad_full_disk:write_details_", env=env)
    assert "could not be written" in json.loads(answer.out)


def write_details_() -> str:
    """Called in the program's place."""
    from workbench.error_log import write_details

    return write_details(ValueError("unforeseen"))
