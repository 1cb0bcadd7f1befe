"""Finding rollouts, compressed ones too."""

from __future__ import annotations

import importlib
import importlib.util
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tests.imports.codex_records import (
    OWNER,
    SESSION,
    acta,
    event,
    lines,
    meta,
    read,
    said,
    state_of,
    turn,
    write,
)
from workbench.imports.codex import config_folder, discover, read_rollout
from workbench.imports.codex.compressed import NOT_READ
from workbench.imports.codex.lineage import session_in_name
from workbench.imports.transcript.placed import FileUnreadable, placed

NAME = f"rollout-2026-03-04T00-00-00-{SESSION}"
TALK = [
    meta(),
    turn("t"),
    said("user", "<environment_context></environment_context>"),
    said("user", "Draw it"),
]
HAS_ZSTANDARD = importlib.util.find_spec("zstandard") is not None


def refusals(folder: Path) -> dict[str, str]:
    return {each.path.name: each.reason for each in discover([folder]).refused}


def test_the_programs_folder_is_named_by_the_environment(tmp_path: Path) -> None:
    assert config_folder({"CODEX_HOME": str(tmp_path)}) == tmp_path
    assert config_folder({}) == Path.home() / ".codex"


def test_without_a_path_dated_flat_and_archived_files_are_found(tmp_path: Path) -> None:
    for place in ("sessions/2026/03/04/a", "sessions/b", "archived_sessions/c", "elsewhere/d"):
        write(tmp_path / f"{place}.jsonl", [meta(place.replace("/", "-")), said("user", "x")])
    write(tmp_path / "session_index.jsonl", [{"id": "x", "thread_name": "y"}])
    found = discover(environment={"CODEX_HOME": str(tmp_path)})
    names = [each.path.stem for each in found.candidates]
    assert sorted(names) == ["a", "b", "c"]
    assert not found.refused


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    [refused] = discover(environment={"CODEX_HOME": str(tmp_path)}).refused
    assert (refused.path, refused.reason) == (tmp_path / "sessions", "not found")


def test_a_candidate_says_what_it_is(tmp_path: Path) -> None:
    path = write(tmp_path / f"{NAME}.jsonl", [*TALK, event("token_count", 90)])
    os.utime(path, (1_000_000, 1_000_000))
    [found] = discover([tmp_path]).candidates
    assert found.session_id == SESSION
    assert (found.cwd, found.title) == ("/home/ada/atlas", "Draw it")
    assert (found.size, found.modified) == (path.stat().st_size, 1_000_000)
    assert found.first_at == datetime(2026, 3, 4, 0, 0, 0, 7000, UTC)
    assert found.last_at == datetime(2026, 3, 4, 0, 1, 30, 7000, UTC)
    assert (found.agents, found.orphan) == ((), False)


def test_what_is_no_rollout_is_refused_with_its_reason(tmp_path: Path) -> None:
    (tmp_path / "empty.jsonl").write_bytes(b" \n\0")
    (tmp_path / "text.jsonl").write_bytes(b"hello\nworld\n")
    write(tmp_path / "history.jsonl", [{"session_id": "x", "ts": 1, "text": "hi"}])
    write(tmp_path / "other.jsonl", [{"type": "user", "message": {"content": "x"}}])
    (tmp_path / "notes.txt").write_text("x")
    os.mkfifo(tmp_path / "pipe.jsonl")
    (tmp_path / "out.jsonl").symlink_to(tmp_path.parent / "gone.jsonl")
    assert refusals(tmp_path) == {
        "empty.jsonl": "empty",
        "text.jsonl": "not JSON lines",
        "history.jsonl": "prompt history",
        "other.jsonl": "no session records",
        "pipe.jsonl": "not a regular file",
        "out.jsonl": "a link out of its folder",
    }
    assert not discover([tmp_path]).candidates
    assert [each.reason for each in discover([tmp_path / "none", tmp_path / "pipe.jsonl"]).refused] == [
        "not found",
        "not a regular file",
    ]


@pytest.mark.parametrize(
    ("name", "session"),
    [
        (f"{NAME}.jsonl", SESSION),
        (f"{NAME}.jsonl.zst", SESSION),
        ("saved.jsonl", "saved"),
        (".jsonl", "unknown"),
        ("x" * 250 + ".jsonl", "unknown"),
        ("\udcff.jsonl", "\ufffd"),
    ],
)
def test_names_give_a_session_where_records_do_not(name: str, session: str) -> None:
    assert session_in_name(Path(name)) == session


def test_the_plain_file_wins_over_its_compressed_sibling(tmp_path: Path) -> None:
    plain = write(tmp_path / f"{NAME}.jsonl", TALK)
    beside = tmp_path / f"{NAME}.jsonl.zst"
    beside.write_bytes(b"whatever")
    for given in ([tmp_path], [beside], [beside, plain]):
        found = discover(given)
        assert [each.path for each in found.candidates] == [plain]
        assert not found.refused


def test_a_compressed_file_is_read_where_that_is_installed_and_else_refused_by_name(tmp_path: Path) -> None:
    path = tmp_path / f"{NAME}.jsonl.zst"
    if not HAS_ZSTANDARD:
        path.write_bytes(b"\x28\xb5\x2f\xfd")
        assert refusals(tmp_path) == {path.name: NOT_READ}
        [unread] = list(placed(path, read_rollout(path, owner=OWNER)))
        assert unread == FileUnreadable(path, NOT_READ)
        return
    path.write_bytes(_compress(lines(TALK[:3])) + _compress(lines(TALK[3:])))
    [found] = discover([tmp_path]).candidates
    assert (found.session_id, found.title) == (SESSION, "Draw it")
    items = read(path)
    plain = read(write(tmp_path / "plain" / f"{NAME}.jsonl", TALK))
    assert [each.source_key for each in acta(items)] == [each.source_key for each in acta(plain)]
    path.write_bytes(_compress(lines([*TALK, said("assistant", "Drawn")])))
    assert [each.content for each in acta(read(path, state_of(items)))] == ["Drawn"]
    path.write_bytes(_compress(lines(TALK) * 500)[:-40])
    *_, end = placed(path, read_rollout(path, owner=OWNER))
    assert isinstance(end, FileUnreadable) or acta([end.item]) == []
    path.write_bytes(b"\x28\xb5\x2f\xfd" + b"\xff" * 50)
    assert refusals(tmp_path) == {path.name: "the compressed file is damaged"}


def test_without_the_library_a_compressed_file_is_refused_by_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name == "zstandard" else found(name)
    )
    (tmp_path / f"{NAME}.jsonl.zst").write_bytes(b"x")
    assert list(refusals(tmp_path).values()) == [NOT_READ]


def _compress(data: bytes) -> bytes:
    zstandard: Any = importlib.import_module("zstandard")
    return bytes(zstandard.ZstdCompressor().compress(data))
