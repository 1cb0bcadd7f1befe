"""Evidence: whole or not at all, once, and only for its owner."""

from __future__ import annotations

import hashlib
import os
import stat
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from workbench.evidence import EvidenceError, EvidenceStore

CONTENT = b"a picture of nothing"
DIGEST = hashlib.sha256(CONTENT).hexdigest()


def files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


@pytest.fixture
def store(tmp_path: Path) -> EvidenceStore:
    return EvidenceStore(tmp_path / "artifacts")


def test_what_is_kept_comes_back_under_its_digest(store: EvidenceStore, tmp_path: Path) -> None:
    assert store.put(CONTENT) == DIGEST
    assert store.get(DIGEST) == CONTENT
    assert files(tmp_path) == [store.path(DIGEST)]
    assert store.path(DIGEST) == tmp_path / "artifacts" / DIGEST[:2] / DIGEST[2:4] / DIGEST


@settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(content=st.binary(max_size=3000))
def test_any_bytes_come_back(store: EvidenceStore, content: bytes) -> None:
    assert store.get(store.put(content)) == content


def test_nothing_is_content_too(store: EvidenceStore) -> None:
    assert store.get(store.put(b"")) == b""


def test_files_and_folders_are_their_owners_alone(store: EvidenceStore, tmp_path: Path) -> None:
    old = os.umask(0)
    try:
        store.put(CONTENT)
    finally:
        os.umask(old)
    for path in (tmp_path / "artifacts", *(tmp_path / "artifacts").rglob("*")):
        assert stat.S_IMODE(path.stat().st_mode) == (0o600 if path.is_file() else 0o700), path


def test_keeping_again_touches_nothing(store: EvidenceStore) -> None:
    path = store.path(store.put(CONTENT))
    before = path.stat()
    assert store.put(CONTENT) == DIGEST
    after = path.stat()
    assert (after.st_ino, after.st_mtime_ns, after.st_ctime_ns) == (
        before.st_ino,
        before.st_mtime_ns,
        before.st_ctime_ns,
    )


@pytest.mark.parametrize("damage", [b"", CONTENT[:-1], CONTENT + b"!", b"x" * len(CONTENT)])
def test_damage_is_found(store: EvidenceStore, damage: bytes) -> None:
    path = store.path(store.put(CONTENT))
    path.write_bytes(damage)
    with pytest.raises(EvidenceError, match="damaged"):
        store.get(DIGEST)


@pytest.mark.parametrize("damage", [b"", CONTENT[:-1], CONTENT + b"!"])
def test_keeping_again_mends_a_file_of_the_wrong_length(store: EvidenceStore, damage: bytes) -> None:
    store.path(store.put(CONTENT)).write_bytes(damage)
    store.put(CONTENT)
    assert store.get(DIGEST) == CONTENT


def test_what_is_gone_is_missing(store: EvidenceStore) -> None:
    with pytest.raises(EvidenceError, match="missing"):
        store.get(DIGEST)
    store.path(store.put(CONTENT)).unlink()
    with pytest.raises(EvidenceError, match="missing"):
        store.get(DIGEST)


@pytest.mark.parametrize(
    "digest",
    [
        "",
        "abc",
        DIGEST[:-1],
        DIGEST + "0",
        DIGEST.upper(),
        "../" * 21 + "x",
        "g" * 64,
        "\ud800" * 64,
        "٣" * 64,
    ],
)
def test_what_is_no_digest_leads_nowhere(store: EvidenceStore, digest: str) -> None:
    with pytest.raises(EvidenceError, match="64 hexadecimal"):
        store.path(digest)
    with pytest.raises(EvidenceError):
        store.get(digest)


def test_many_threads_keep_the_same_and_different_things(store: EvidenceStore, tmp_path: Path) -> None:
    start = threading.Barrier(16)
    contents = [bytes([n]) * 50_000 for n in range(4)]

    def keep(me: int) -> list[str]:
        start.wait()
        return [store.put(contents[(me + n) % 4]) for n in range(8)]

    with ThreadPoolExecutor(16) as pool:
        digests = {digest for result in pool.map(keep, range(16)) for digest in result}
    assert digests == {hashlib.sha256(content).hexdigest() for content in contents}
    assert sorted(store.get(digest)[0] for digest in digests) == [0, 1, 2, 3]
    assert len(files(tmp_path)) == 4


def test_a_reader_never_sees_half_a_file(store: EvidenceStore) -> None:
    content = os.urandom(4_000_000)
    digest = hashlib.sha256(content).hexdigest()
    with ThreadPoolExecutor(1) as pool:
        for _ in range(5):
            writing = pool.submit(store.put, content)
            while not writing.done():
                path = store.path(digest)
                if path.exists():
                    assert path.stat().st_size == len(content)
            writing.result()
            assert store.get(digest) == content
            path.unlink()


def test_a_place_that_cannot_be_written_is_named_and_left_clean(tmp_path: Path) -> None:
    occupied = tmp_path / "artifacts"
    occupied.write_text("a file where the folder should be")
    with pytest.raises(EvidenceError) as caught:
        EvidenceStore(occupied).put(CONTENT)
    assert str(occupied) in caught.value.message
    assert caught.value.hint
    # The name itself taken by a folder: the temporary file does not stay behind.
    store = EvidenceStore(tmp_path / "other")
    store.path(DIGEST).mkdir(parents=True)
    with pytest.raises(EvidenceError):
        store.put(CONTENT)
    assert files(tmp_path / "other") == []
