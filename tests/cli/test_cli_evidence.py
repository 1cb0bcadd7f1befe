"""`workbench evidence`: the list, one artifact, and a purge, as text and as JSON."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from tests.cli.program import Run
from tests.workspace.evidence_cases import digest, observe
from workbench.workspace import Workspace

TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8"
HOSTILE = "first\r\n\x1b[2Jcleared \u202eabc\x07\ttab\n"
KEYS = {
    "position",
    "ordinal",
    "observation_id",
    "path",
    "status",
    "sha256",
    "size",
    "original_size",
    "reason",
    "redactions",
    "recorded_at",
    "private",
    "withheld",
    "domain",
    "project",
    "task_id",
    "agent",
}


@pytest.fixture
def names(workspace: Workspace, sealed: Path) -> list[str]:
    """An observation with four source files; the digests of the two that are kept."""
    (sealed / "a.md").write_bytes(HOSTILE.encode())
    (sealed / "keys.md").write_text(f"token: {TOKEN}\n")
    (sealed / "c.bin").write_bytes(b"\0")
    found = observe(workspace, sealed, "a.md", "keys.md", "c.bin", "none\x1b[2J.md", text="seen\x1b[2J")
    return [digest(found, 0), digest(found, 1)]


def test_an_empty_list_says_what_would_be_in_it(workspace: Workspace, run: Run) -> None:
    answer = run("evidence", "list")
    assert answer.code == 0
    assert answer.out.startswith("no evidence\n")
    assert "source_files" in answer.out
    assert run("evidence", "list", "--format", "json").json == {"evidence": [], "counts": {}, "next": None}


def test_the_list_as_text(names: list[str], run: Run) -> None:
    answer = run("evidence", "list")
    assert (answer.code, answer.err) == (0, "")
    for text in (names[0][:12], names[1][:12], "c.bin (extension not allowed)", "missing", "claude"):
        assert text in answer.out
    assert "\x1b" not in answer.out
    assert "in the workspace: archived 2, pointer_only 1, missing 1" in answer.out


def test_the_list_as_json(names: list[str], run: Run) -> None:
    found = run("evidence", "list", "--format", "json").json
    assert found["next"] is None
    assert found["counts"] == {"archived": 2, "pointer_only": 1, "missing": 1}
    assert [set(row) for row in found["evidence"]] == [KEYS] * 4
    keyed = next(row for row in found["evidence"] if row["path"] == "keys.md")
    assert (keyed["sha256"], keyed["redactions"], keyed["reason"]) == (names[1], {"github_token": 1}, None)


def test_the_list_in_pages(names: list[str], run: Run) -> None:
    paths: list[str] = []
    more: list[str] = []
    for _ in range(4):
        page = run("evidence", "list", "--limit", "1", "--format", "json", *more).json
        paths += [row["path"] for row in page["evidence"]]
        more = ["--after", str(page["next"])]
    assert page["next"] is None
    assert paths == ["none\x1b[2J.md", "c.bin", "keys.md", "a.md"]
    assert "more: --after 1.3" in run("evidence", "list", "--limit", "1").out


def test_the_list_narrowed(names: list[str], run: Run) -> None:
    def found(*words: str) -> list[str]:
        return [row["path"] for row in run("evidence", "list", "--format", "json", *words).json["evidence"]]

    assert found("--status", "pointer_only") == ["c.bin"]
    assert found("--path", "KEYS") == ["keys.md"]
    assert found("--digest", names[0][:6].upper()) == ["a.md"]
    assert found("--status", "purged") == []
    assert run("evidence", "list", "--status", "other").code == 2


@pytest.mark.parametrize("place", ["x", "1", "1.2.3", "-1.0", "1." + "9" * 50, "٣.٤", ""])
def test_a_place_that_is_none_is_refused(names: list[str], run: Run, place: str) -> None:
    for words in (("list",), ("show", names[0])):
        answer = run("evidence", *words, "--after", place)
        assert (answer.code, answer.out) == (2, "")


def test_a_text_is_shown_harmless(names: list[str], run: Run) -> None:
    answer = run("evidence", "show", names[0][:10])
    assert (answer.code, answer.err) == (0, "")
    for text in (f"sha256   {names[0]}", "status   archived", "kind     text", "a.md", "global / atlas"):
        assert text in answer.out
    for char in ("\x1b", "\x07", "\u202e"):
        assert char not in answer.out
    assert "cleared" in answer.out


def test_a_text_as_json_is_as_it_is(names: list[str], run: Run) -> None:
    found = run("evidence", "show", names[0], "--format", "json").json
    assert found["content"] == HOSTILE
    assert (found["sha256"], found["status"], found["size"], found["kind"], found["purge"]) == (
        names[0],
        "archived",
        len(HOSTILE.encode()),
        "text",
        None,
    )
    assert [set(row) for row in found["links"]] == [KEYS]
    assert "[REDACTED:github_token]" in run("evidence", "show", names[1], "--format", "json").json["content"]


def test_of_other_files_kind_and_size_are_said(workspace: Workspace, run: Run) -> None:
    name = workspace.evidence.put(b"\x89PNG\r\n\x1a\n" + b"\0" * 2000)
    answer = run("evidence", "show", name)
    assert answer.code == 0
    assert "kind     PNG image" in answer.out
    assert "size     2" in answer.out
    assert run("evidence", "show", name, "--format", "json").json["content"] is None


def test_the_bytes_are_written_out(names: list[str], run: Run, sealed: Path) -> None:
    answer = run("evidence", "show", names[0], "--out", "copy.md")
    assert (answer.code, answer.err) == (0, "")
    assert (sealed / "copy.md").read_bytes() == HOSTILE.encode()
    assert stat.S_IMODE((sealed / "copy.md").stat().st_mode) == 0o600
    again = run("evidence", "show", names[0], "--out", "copy.md")
    assert again.code == 2
    assert "is there already" in again.err
    assert run("evidence", "show", names[0], "--out", "-").out == HOSTILE
    assert run("evidence", "show", names[0], "--out", "no/where.md").code == 1
    assert run("evidence", "show", names[0], "--out", "").code == 2
    assert run("evidence", "show", names[0], "--out", "-", "--format", "json").code == 2
    found = run("evidence", "show", names[0], "--out", "other.md", "--format", "json").json
    assert found == {"sha256": names[0], "size": len(HOSTILE.encode()), "out": "other.md"}


def test_what_is_missing_or_damaged_is_said(names: list[str], run: Run, workspace: Workspace) -> None:
    path = workspace.evidence.path(names[0])
    path.write_bytes(b"other")
    damaged = run("evidence", "show", names[0])
    assert damaged.code == 1
    assert "status   damaged" in damaged.out
    path.unlink()
    missing = run("evidence", "show", names[0], "--format", "json")
    assert missing.code == 1
    assert (missing.json["status"], missing.json["size"], missing.json["content"]) == ("missing", None, None)
    out = run("evidence", "show", names[0], "--out", "copy.md")
    assert out.code == 1
    assert "missing" in out.err


@pytest.mark.parametrize("name", ["abcd", "xyz", "../../etc", "", "0" * 64])
def test_an_unknown_digest_is_refused(names: list[str], run: Run, name: str) -> None:
    for words in (("show", name), ("purge", name, "--reason", "x")):
        answer = run("evidence", *words)
        assert answer.code == 1
        assert answer.err.startswith("error: ")
        assert "evidence list" in answer.err
        assert run("evidence", *words, "--format", "json").json["error_type"] == "evidence_unknown"


def test_a_purge(names: list[str], run: Run, workspace: Workspace) -> None:
    answer = run("evidence", "purge", names[0][:12], "--reason", "not\x1b[2J ours")
    assert answer.code == 0
    assert answer.out == f"purged: {names[0]} (event 2); its bytes are removed\n"
    assert not workspace.evidence.path(names[0]).exists()
    shown = run("evidence", "show", names[0])
    assert shown.code == 0
    assert "status   purged" in shown.out
    assert "by ada: not" in shown.out
    assert "\x1b" not in shown.out
    found = run("evidence", "show", names[0], "--format", "json").json
    assert (found["purge"]["by"], found["purge"]["reason"], found["content"]) == (
        "ada",
        "not\x1b[2J ours",
        None,
    )
    again = run("evidence", "purge", names[0], "--reason", "x", "--format", "json").json
    assert again == {
        "sha256": names[0],
        "position": 2,
        "removed": False,
        "repeated": True,
        "backups": False,
    }
    assert run("evidence", "list", "--status", "purged", "--format", "json").json["counts"]["purged"] == 1


def test_a_purge_tells_of_backups(names: list[str], run: Run, workspace: Workspace) -> None:
    (workspace.root / "backups" / "2031").mkdir(parents=True)
    assert "backups keep" in run("evidence", "purge", names[0], "--reason", "x").err


def test_a_purge_needs_a_reason(names: list[str], run: Run, workspace: Workspace) -> None:
    assert run("evidence", "purge", names[0]).code == 2
    blank = run("evidence", "purge", names[0], "--reason", "  ")
    assert blank.code == 2
    assert "reason" in blank.err
    assert workspace.evidence.path(names[0]).exists()


def test_without_a_workspace_there_is_none(run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("CHRONICLE_ROOT", str(tmp_path / "nowhere"))
    for words in (("list",), ("show", "abcd"), ("purge", "abcd", "--reason", "x")):
        assert run("evidence", *words).code == 2


def test_the_size_is_that_of_the_copy_with_the_files_beside_it(
    names: list[str], run: Run, sealed: Path
) -> None:
    kept = len((sealed / "keys.md").read_text().replace(TOKEN, "[REDACTED:github_token]"))
    original = (sealed / "keys.md").stat().st_size
    assert kept != original
    rows = {row["path"]: row for row in run("evidence", "list", "--format", "json").json["evidence"]}
    assert (rows["keys.md"]["size"], rows["keys.md"]["original_size"]) == (kept, original)
    assert rows["a.md"]["size"] == rows["a.md"]["original_size"] == len(HOSTILE.encode())
    assert (rows["c.bin"]["size"], rows["c.bin"]["original_size"]) == (1, 1)
    assert f"{kept} B (was {original} B)" in run("evidence", "list").out
    shown = run("evidence", "show", names[1])
    assert f"size     {kept} B" in shown.out
    assert f"the file had {original} B" in shown.out
    assert "the file had" not in run("evidence", "show", names[0]).out
    run("evidence", "purge", names[1], "--reason", "x")
    (row,) = run("evidence", "list", "--path", "keys", "--format", "json").json["evidence"]
    assert (row["size"], row["original_size"]) == (original, original)


def test_what_only_withheld_observations_name_is_marked(workspace: Workspace, run: Run, sealed: Path) -> None:
    (sealed / "a.md").write_text("one")
    (sealed / "b.md").write_text("two")
    one = digest(observe(workspace, sealed, "a.md", private=True))
    said = workspace.memory.record_event("two", source_files=[str(sealed / "b.md")])
    two = said.evidence[0].sha256

    def withheld() -> dict[str, bool]:
        rows = run("evidence", "list", "--format", "json").json["evidence"]
        marks = {row["sha256"]: row["withheld"] for row in rows}
        for name, mark in marks.items():
            shown = run("evidence", "show", name)
            assert ("agents   see none" in shown.out) == mark
            assert run("evidence", "show", name, "--format", "json").json["withheld"] == mark
        assert run("evidence", "list").out.count("(withheld)") == sum(
            map(bool, (r["withheld"] for r in rows))
        )
        return marks

    assert withheld() == {one: True, two: False}
    workspace.memory.quarantine(said.observation_id, reason="x", by="ada")
    assert withheld() == {one: True, two: True}
    workspace.memory.release(said.observation_id, reason="x", by="ada")
    observe(workspace, sealed, "a.md")
    assert withheld() == {one: False, two: False}


def test_what_was_taken_out_of_a_copy_is_a_redaction(workspace: Workspace, run: Run, sealed: Path) -> None:
    (sealed / "keys.md").write_text(f"token: {TOKEN}\n")
    receipt = workspace.memory.record_event("kept", source_files=[str(sealed / "keys.md")])
    (row,) = run("redactions", "list", "--format", "json").json["redactions"]
    assert (row["field"], row["kind"], row["count"]) == ("evidence.0", "github_token", 1)
    assert row["position"] == receipt.position
    assert workspace.rescan().found == 0
