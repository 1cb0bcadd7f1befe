"""`workbench evidence show --diff`, and what `show` says of images, bytes and texts in other encodings."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.program import Run
from tests.workspace.evidence_cases import digest, observe
from workbench.workspace import Workspace

TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8"


@pytest.fixture
def kept(workspace: Workspace, sealed: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A copy of `a.md` in the current folder; its digest."""
    monkeypatch.chdir(sealed)
    (sealed / "a.md").write_text("one\ntwo\nthree\n")
    return digest(observe(workspace, sealed, "a.md"))


def test_the_same_file_ends_with_0(kept: str, run: Run, sealed: Path) -> None:
    answer = run("evidence", "show", kept, "--diff")
    assert (answer.code, answer.err) == (0, "")
    assert answer.out.startswith("the file on the disk is the same as the copy\nfile ")
    assert str(sealed / "a.md") in answer.out


def test_a_difference_is_unified_and_without_secrets(kept: str, run: Run, sealed: Path) -> None:
    (sealed / "a.md").write_text(f"one\n\x1b[31mtoken: {TOKEN}\nthree\n")
    answer = run("evidence", "show", kept[:8], "--diff")
    assert answer.code == 1
    assert "1 secret on the disk not shown here" in answer.out
    assert f"--- {kept[:12]} a.md\n" in answer.out
    assert "@@ -1,3 +1,3 @@\n one\n-two\n+␛[31mtoken: [REDACTED:github_token]\n three\n" in answer.out
    assert TOKEN not in answer.out and "\x1b" not in answer.out


def test_a_difference_as_json(kept: str, run: Run, sealed: Path) -> None:
    (sealed / "a.md").write_text("one\nthree\n")
    answer = run("evidence", "show", kept, "--diff", "--format", "json")
    assert answer.code == 1
    found = answer.json
    assert (found["sha256"], found["path"], found["state"]) == (kept, "a.md", "differs")
    assert (found["file"], found["size"], found["redactions"]) == (str(sealed / "a.md"), 10, {})
    assert [hunk["lines"] for hunk in found["hunks"]] == [[" one", "-two", " three"]]


def test_another_file_can_be_named(kept: str, run: Run, sealed: Path) -> None:
    (sealed / "a.md").rename(sealed / "b.md")
    gone = run("evidence", "show", kept, "--diff")
    assert (gone.code, gone.out.splitlines()[0]) == (1, "the file is gone from the disk")
    assert run("evidence", "show", kept, "--diff", "--file", "b.md").code == 0
    (sealed / "link.md").symlink_to("b.md")
    assert run("evidence", "show", kept, "--diff", "--file", "link.md").code == 0
    assert "not opened" in run("evidence", "show", kept, "--diff", "--file", str(sealed)).out


def test_a_copy_that_no_observation_names_needs_a_file(workspace: Workspace, run: Run, sealed: Path) -> None:
    name = workspace.evidence.put(b"one\n")
    answer = run("evidence", "show", name, "--diff")
    assert (answer.code, answer.out) == (1, "no observation names it: name the file with --file\n")
    (sealed / "x.md").write_text("one\n")
    assert run("evidence", "show", name, "--diff", "--file", str(sealed / "x.md")).code == 0


@pytest.mark.parametrize("words", [("--file", "x"), ("--diff", "--out", "x"), ("--diff", "--after", "1.0")])
def test_what_does_not_go_together_is_refused(kept: str, run: Run, words: tuple[str, ...]) -> None:
    answer = run("evidence", "show", kept, *words)
    assert (answer.code, answer.out) == (2, "")
    assert "--diff" in answer.err


def test_bytes_are_dumped_and_images_described(workspace: Workspace, run: Run) -> None:
    head = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\2\x80\0\0\1\x90\x08\2\0\0\0"
    name = workspace.evidence.put(head)
    answer = run("evidence", "show", name)
    assert "kind     PNG image, 640 × 400 pixels, RGB, 8 bits a channel\n" in answer.out
    assert "00000000  89 50 4e 47 0d 0a 1a 0a  00 00 00 0d 49 48 44 52  .PNG........IHDR\n" in answer.out
    found = run("evidence", "show", name, "--format", "json").json
    assert found["image"] == {
        "format": "PNG",
        "width": 640,
        "height": 400,
        "colours": "RGB, 8 bits a channel",
    }
    assert (found["content"], found["encoding"]) == (None, None)


def test_a_text_in_another_encoding_is_a_text(workspace: Workspace, run: Run) -> None:
    wide = run("evidence", "show", workspace.evidence.put("née\n".encode("utf-16")), "--format", "json").json
    assert (wide["kind"], wide["content"], wide["encoding"], wide["exact"]) == (
        "text",
        "née\n",
        "utf-16-le",
        True,
    )
    latin = run("evidence", "show", workspace.evidence.put(b"a long line about a caf\xe9\n"))
    assert "kind     text (utf-8, bytes that are none spelled out)\n" in latin.out
    assert "a long line about a caf\\xe9" in latin.out
