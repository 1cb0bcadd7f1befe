"""What processes that are killed, that refuse and that sweep do to each other's copies: nothing."""

from __future__ import annotations

import fcntl
import hashlib
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.evidence.staging_cases import TOKEN, below, stager
from workbench.evidence import EvidenceStore, places
from workbench.evidence.places import STAGING, PrivateFolder, alone, held, leftovers, sweep, wiped
from workbench.redaction import default_filter

WORDS = b"what was seen\n" * 4000
DIGEST = hashlib.sha256(WORDS).hexdigest()
STEPS = frozenset({"open", "os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.utime"})


def forked(work: Callable[[], object]) -> int:
    """A child that does some work; its process number."""
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            work()
            code = 0
        except BaseException:
            import traceback

            traceback.print_exc()
        finally:
            os._exit(code)
    return pid


def ended(pid: int) -> int:
    """How a child ended: its exit code, or minus the signal that killed it."""
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def killed_at(step: int) -> Callable[[str, tuple[Any, ...]], None]:
    """Kills its process at its so many-th change of files."""
    count = 0

    def audit(name: str, given: tuple[Any, ...]) -> None:
        nonlocal count
        if name in STEPS:
            count += 1
            if count == step:
                os.kill(os.getpid(), signal.SIGKILL)

    return audit


def artifacts(folder: Path) -> list[Path]:
    """Files at the places of digests."""
    return [
        path for path in (folder / "artifacts").rglob("*") if path.is_file() and STAGING not in path.parts
    ]


def test_a_kill_at_any_point_leaves_whole_artifacts_and_what_a_sweep_takes(tmp_path: Path) -> None:
    other = b"and more\n"
    (tmp_path / "a.md").write_bytes(WORDS)
    (tmp_path / "b.md").write_bytes(other)
    whole = {DIGEST, hashlib.sha256(other).hexdigest()}
    # Loaded once, not in each child.
    default_filter().redact_text(f"token: {TOKEN}")
    seen: set[tuple[int, int]] = set()
    for step in range(1, 400):
        folder = tmp_path / str(step)
        folder.mkdir()

        def work(folder: Path = folder, step: int = step) -> None:
            taken = stager(folder)
            sys.addaudithook(killed_at(step))
            with taken.stage([str(tmp_path / "a.md"), str(tmp_path / "b.md")]) as staging:
                staging.keep()

        code = ended(forked(work))
        kept = artifacts(folder)
        for path in kept:
            assert hashlib.sha256(path.read_bytes()).hexdigest() == path.name
        left = stager(folder).leftovers()
        seen.add((len(kept), len(left)))
        if code == 0:
            assert {path.name for path in kept} == whole
            assert not left
            break
        assert code == -signal.SIGKILL
        assert stager(folder).sweep() == len(left)
        assert not (folder / "artifacts" / STAGING).exists()
        assert artifacts(folder) == kept
    else:
        pytest.fail("it never came to its end")
    # Before anything, with copies, with one of them in its place, with both.
    assert {(0, 0), (0, 1), (1, 1), (2, 1)} <= seen


def test_what_lives_is_not_swept(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_bytes(WORDS)
    with stager(tmp_path).stage(["a.md"]) as staging:
        assert stager(tmp_path).leftovers() == []
        assert stager(tmp_path).sweep() == 0

        def sweeps() -> None:
            assert stager(tmp_path).sweep() == 0

        assert ended(forked(sweeps)) == 0
        staging.keep()
    assert EvidenceStore(tmp_path / "artifacts").get(DIGEST) == WORDS


def test_what_does_not_belong_there_is_swept(tmp_path: Path) -> None:
    place = tmp_path / "artifacts" / STAGING
    (place / "old" / "deep").mkdir(parents=True)
    (place / "old" / "deep" / "file").write_bytes(b"x")
    (place / "old" / "link").symlink_to(tmp_path)
    (place / "file").write_bytes(b"x")
    (tmp_path / "stays").touch()
    assert leftovers(tmp_path / "artifacts") == [place / "file", place / "old"]
    assert sweep(tmp_path / "artifacts") == [place / "file", place / "old"]
    assert below(tmp_path) == ["artifacts", "stays"]
    assert sweep(tmp_path / "artifacts") == []
    assert sweep(tmp_path / "nothing") == leftovers(tmp_path / "nothing") == []


def test_without_locks_a_folder_counts_as_left_after_a_day(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unsupported(descriptor: int, operation: int) -> None:
        raise OSError(95, "no locks here")

    monkeypatch.setattr(fcntl, "flock", unsupported)
    (tmp_path / "a.md").write_bytes(WORDS)
    with stager(tmp_path).stage(["a.md"]) as staging:
        assert stager(tmp_path).sweep() == 0
        staging.keep()
    assert artifacts(tmp_path)[0].read_bytes() == WORDS
    old = tmp_path / "artifacts" / STAGING / "old"
    old.mkdir(parents=True)
    assert stager(tmp_path).leftovers() == []
    long_ago = time.time() - places.UNLOCKED_SECONDS - 60
    os.utime(old, (long_ago, long_ago))
    assert stager(tmp_path).sweep() == 1
    with alone(tmp_path / "artifacts") as unheld:
        assert not unheld


def test_forty_keeps_of_the_same_bytes_lose_none(tmp_path: Path) -> None:
    """Four processes with ten threads each take in the same file; one of them refuses all of its own."""
    (tmp_path / "a.md").write_bytes(WORDS)
    reading, writing = os.pipe()

    def work(refuses: bool) -> None:
        os.close(writing)
        taken = stager(tmp_path)
        failures: list[BaseException] = []

        def run() -> None:
            try:
                for _ in range(5):
                    with taken.stage(["a.md"]) as staging:
                        if not refuses:
                            staging.keep()
                            assert EvidenceStore(tmp_path / "artifacts").get(DIGEST) == WORDS
            except BaseException as error:
                failures.append(error)

        threads = [threading.Thread(target=run) for _ in range(10)]
        os.read(reading, 1)
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if failures:
            raise failures[0]

    children = [forked(lambda refuses=number == 0: work(refuses)) for number in range(4)]  # type: ignore[misc]
    os.close(reading)
    os.close(writing)
    assert [ended(pid) for pid in children] == [0] * 4
    assert [path.name for path in artifacts(tmp_path)] == [DIGEST]
    assert EvidenceStore(tmp_path / "artifacts").get(DIGEST) == WORDS
    assert not (tmp_path / "artifacts" / STAGING).exists()


def test_sweeps_and_stagings_do_not_meet(tmp_path: Path) -> None:
    """Whoever sweeps all the time takes nothing from those who come and go."""
    (tmp_path / "a.md").write_bytes(b"short\n")

    def come_and_go() -> None:
        for number in range(60):
            with stager(tmp_path).stage(["a.md"]) as staging:
                if number % 3 == 0:
                    staging.keep()

    children = [forked(come_and_go) for _ in range(3)]
    left = set(children)
    swept: list[Path] = []
    while left:
        swept += sweep(tmp_path / "artifacts")
        pid, status = os.waitpid(-1, os.WNOHANG)
        if pid:
            assert os.waitstatus_to_exitcode(status) == 0
            left.discard(pid)
    assert len(artifacts(tmp_path)) == 1
    assert not (tmp_path / "artifacts" / STAGING).exists()


def test_who_holds_the_folder_is_seen(tmp_path: Path) -> None:
    store = EvidenceStore(tmp_path / "artifacts")
    store.put(b"x")
    with alone(tmp_path / "artifacts") as unheld:
        assert not unheld
    del store
    with alone(tmp_path / "artifacts") as unheld:
        assert unheld
    first, second = held(tmp_path / "artifacts"), held(tmp_path / "artifacts")
    first()
    with alone(tmp_path / "artifacts") as unheld:
        assert not unheld
    second()
    with alone(tmp_path / "artifacts") as unheld:
        assert unheld


def test_keeping_an_old_artifact_again_makes_it_young(tmp_path: Path) -> None:
    store = EvidenceStore(tmp_path / "artifacts")
    path = store.path(store.put(b"x"))
    long_ago = time.time() - 2 * places.ORPHAN_SECONDS
    os.utime(path, (long_ago, long_ago))
    inode = path.stat().st_ino
    store.put(b"x")
    assert path.stat().st_mtime > time.time() - places.ORPHAN_SECONDS
    assert path.stat().st_ino == inode


def test_withdrawn_bytes_are_gone_from_the_blocks(tmp_path: Path) -> None:
    store = EvidenceStore(tmp_path / "artifacts")
    digest = store.put(WORDS)
    with store.path(digest).open("rb") as still_open:
        withdrawn = store.withdraw([digest, "0" * 64])
        assert len(withdrawn) == 1
        assert not store.path(digest).exists()
        withdrawn.wipe()
        assert still_open.read().strip(b"\0") == b""
    assert not (tmp_path / "artifacts" / STAGING).exists()


def test_another_name_of_a_file_keeps_its_bytes(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"mine")
    (tmp_path / "b").hardlink_to(tmp_path / "a")
    wiped(tmp_path / "a")
    assert below(tmp_path) == ["b"]
    assert (tmp_path / "b").read_bytes() == b"mine"


def test_a_private_folder_is_closed_twice_without_harm(tmp_path: Path) -> None:
    folder = PrivateFolder(tmp_path)
    folder.close()
    descriptor, path = folder.new_file()
    os.close(descriptor)
    folder.close()
    folder.close()
    assert not path.exists()
