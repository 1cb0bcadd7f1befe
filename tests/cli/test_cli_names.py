"""`names` and `manifest check`: what people read and what scripts get."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.program import CHECKOUT, Run
from tests.workspace.name_cases import observe
from workbench.workspace import Workspace


def _add_to_manifest(workspace: Workspace, text: str) -> None:
    path = workspace.layout.manifest
    path.write_text(path.read_text() + text)


def test_names_are_listed_with_what_they_mean(workspace: Workspace, run: Run) -> None:
    for spelling in ("atlas", "ATLAS", "ATLAS", "status"):
        observe(workspace.log, spelling, agent="Codex CLI")
    _add_to_manifest(workspace, "[[projects]]\nid = 'atlas'\naliases = ['Status', 'never']\n")
    answer = run("names", "list", "--format", "json")
    assert answer.code == 0
    names = answer.json["names"]
    assert [(each["kind"], each["spelling"], each["canonical"], each["count"]) for each in names] == [
        ("project", "ATLAS", "atlas", 2),
        ("project", "atlas", "atlas", 1),
        ("project", "status", "atlas", 1),
        ("project", "Status", "atlas", 0),
        ("project", "never", "atlas", 0),
        ("domain", "global", "global", 4),
        ("agent", "Codex CLI", "codex", 4),
        ("agent", "codex", "codex", 0),
    ]
    assert names[0]["first"] < names[0]["last"]
    assert names[0]["first"].endswith("+00:00")
    assert names[4]["first"] is names[4]["last"] is None
    agents = run("names", "list", "--kind", "agent", "--format", "json").json["names"]
    assert {each["kind"] for each in agents} == {"agent"}
    text = run("names", "list")
    assert "ATLAS" in text.out
    assert "not declared" not in text.out


def test_an_empty_workspace_has_no_names(workspace: Workspace, run: Run) -> None:
    assert run("names", "list", "--format", "json").json == {"names": []}
    assert "no name was used yet" in run("names", "list").out
    assert run("names", "check", "--format", "json").json == {"ok": True, "alike": []}
    answer = run("names", "check")
    assert (answer.code, answer.out) == (0, "no names look alike\n")


def test_an_alias_is_written_and_counts_at_once(workspace: Workspace, run: Run) -> None:
    observe(workspace.log, "atlas-app")
    before = workspace.layout.manifest.read_text()
    answer = run("names", "alias", "project", "atlas-app", "--of", "Atlas", "--new", "--format", "json")
    assert answer.code == 0
    done = answer.json
    assert done["changed"] is True
    assert (done["kind"], done["spelling"], done["canonical"]) == ("project", "atlas-app", "Atlas")
    assert Path(done["path"]) == workspace.layout.manifest
    assert Path(done["backup"]).read_text() == before
    text = workspace.layout.manifest.read_text()
    assert text.startswith(before)
    assert "atlas-app" in text.splitlines()[done["line"] - 1]
    (row,) = [
        each
        for each in run("names", "list", "--format", "json").json["names"]
        if each["spelling"] == "atlas-app"
    ]
    assert (row["canonical"], row["count"], row["declared"]) == ("Atlas", 1, True)
    again = run("names", "alias", "project", "ATLAS_APP", "--of", "atlas")
    assert again.code == 0
    assert "already" in again.out
    assert workspace.layout.manifest.read_text() == text


def test_an_alias_can_be_given_in_a_workspace_without_a_database(tmp_path: Path, run: Run) -> None:
    path = tmp_path / "SSOT_MANIFEST.toml"
    path.write_text("")
    assert run("names", "alias", "agent", "ann", "--of", "claude", "--root", tmp_path).code == 0
    assert "operator" in path.read_text()
    assert not (tmp_path / "chronicle.db").exists()


@pytest.mark.parametrize(
    ("words", "code", "kind", "said"),
    [
        (("project", "status", "--of", "beacon", "--new"), 1, "name_clash", "an alias of the project"),
        (("project", "a", "--of", "beacon"), 1, "name_unknown", "no project is called so"),
        (("project", " ", "--of", "beacon"), 2, "invalid_argument", "blank"),
        (("project", "x" * 201, "--of", "beacon"), 2, "invalid_argument", "at most 200"),
        (("project", "a\x1bb", "--of", "beacon"), 2, "invalid_argument", "control characters"),
        (("task", "a", "--of", "beacon"), 2, "usage", "'project', 'domain', 'agent'"),
        (("project", "a"), 2, "usage", "--of"),
        (
            ("project", "ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8", "--of", "x"),
            1,
            "secret_in_identifier",
            "secret",
        ),
    ],
)
def test_an_alias_that_cannot_be_is_refused(
    workspace: Workspace, run: Run, words: tuple[str, ...], code: int, kind: str, said: str
) -> None:
    _add_to_manifest(workspace, "[[projects]]\nid = 'atlas'\naliases = ['Status']\n")
    before = workspace.layout.manifest.read_bytes()
    answer = run("names", "alias", *words, "--format", "json")
    assert (answer.code, answer.json["error_type"]) == (code, kind)
    assert said in answer.json["error"]
    assert "ghp_" not in answer.out + answer.err
    assert workspace.layout.manifest.read_bytes() == before
    assert not list((workspace.root / "backups").iterdir())


def test_names_that_look_alike_are_found_with_a_command_to_copy(
    workspace: Workspace, run: Run, process: Run
) -> None:
    for spelling in ("atlas", "atlas", "Atlas App", "at\u202elas", "beacon"):
        observe(workspace.log, spelling)
    answer = run("names", "check", "--format", "json")
    assert answer.code == 1
    assert answer.json["ok"] is False
    assert [
        (each["spelling"], each["like"], each["count"], each["like_count"]) for each in answer.json["alike"]
    ] == [
        ("Atlas App", "atlas", 1, 2),
        ("at\u202elas", "atlas", 1, 2),
    ]
    text = run("names", "check")
    assert text.code == 1
    assert "\u202e" not in text.out
    (command,) = [line.split(": ", 1)[1] for line in text.out.splitlines() if "names alias" in line]
    assert command == "workbench names alias --of atlas -- project 'Atlas App'"
    done = subprocess.run(
        command.replace("workbench", f"{sys.executable} -m workbench", 1),
        shell=True,
        env={**os.environ, "PYTHONPATH": str(CHECKOUT)},
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert "Atlas App means the project atlas now" in done.stdout
    assert [each["spelling"] for each in run("names", "check", "--format", "json").json["alike"]] == [
        "at\u202elas"
    ]


def test_odd_names_are_drawn_and_never_acted_on(workspace: Workspace, run: Run) -> None:
    for spelling in ("../../etc/passwd", "a\x1b[31mb", "a\0b", "x\u202ey"):
        observe(workspace.log, spelling)
    answer = run("names", "list")
    assert answer.code == 0
    assert not set("\x1b\0\u202e") & set(answer.out)
    assert "../../etc/passwd" in answer.out
    names = run("names", "list", "--kind", "project", "--format", "json").json["names"]
    assert {each["spelling"] for each in names} == {"../../etc/passwd", "a\x1b[31mb", "a\0b", "x\u202ey"}


def test_a_shell_is_offered_spellings_of_the_kind(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch, process: Run
) -> None:
    observe(workspace.log, "atlas", agent="arbiter")
    observe(workspace.log, "a b; rm", agent="arbiter")
    monkeypatch.setenv("_WORKBENCH_COMPLETE", "bash_complete")
    monkeypatch.setenv("COMP_WORDS", "workbench names alias project a")
    monkeypatch.setenv("COMP_CWORD", "4")
    answer = process()
    assert "atlas" in answer.out
    assert "arbiter" not in answer.out
    assert "rm" not in answer.out


def test_a_name_that_nobody_knows_is_refused_with_the_nearest(workspace: Workspace, run: Run) -> None:
    observe(workspace.log, "River Walk", agent="night-helper")
    _add_to_manifest(workspace, "[[projects]]\nid = 'atlas'\naliases = ['status']\n")
    before = workspace.layout.manifest.read_bytes()
    for slip, near in (("atlass", "atlas"), ("statsu", "atlas"), ("river-wlak", "River Walk")):
        answer = run("names", "alias", "project", "other", "--of", slip, "--format", "json")
        assert (answer.code, answer.json["error_type"]) == (1, "name_unknown")
        assert answer.json["error"].endswith(f"nearest known: {near}")
        assert "--new" in answer.json["hint"]
    assert "nearest" not in run("names", "alias", "project", "other", "--of", "zzzz").err
    assert workspace.layout.manifest.read_bytes() == before
    for kind, known in (
        ("project", "Status"),
        ("project", "river_walk"),
        ("agent", "night helper"),
        ("agent", "claude-of-ann"),
        ("agent", "mcp"),
        ("domain", "Global"),
    ):
        answer = run("names", "alias", kind, f"other {known}", "--of", known)
        assert (answer.code, answer.err) == (0, "")
    assert run("names", "alias", "project", "b", "--of", "zzzz", "--new").code == 0
    assert run("names", "alias", "project", "c", "--of", "zzzz").code == 0


def test_an_unknown_name_without_a_database_is_refused_as_well(tmp_path: Path, run: Run) -> None:
    path = tmp_path / "SSOT_MANIFEST.toml"
    path.write_text("")
    answer = run("names", "alias", "project", "ann", "--of", "atlas", "--root", tmp_path)
    assert answer.code == 1
    assert path.read_text() == ""
    assert not (tmp_path / "chronicle.db").exists()


def test_a_secret_in_the_manifest_is_listed_as_a_marker(workspace: Workspace, run: Run) -> None:
    token = "ghp_" + "a1B2" * 9
    _add_to_manifest(
        workspace,
        f"[[domains]]\nid = '{token}'\naliases = ['area']\n"
        f"[[projects]]\nid = '{token}'\naliases = ['plain']\n[[agents]]\nid = 'bot'\naliases = ['{token}']\n",
    )
    for words in (
        ("names", "list"),
        ("names", "list", "--format", "json"),
        ("names", "check"),
        ("names", "alias", "project", "other", "--of", "plain"),
        ("names", "alias", "project", "other", "--of", "plain", "--format", "json"),
        ("startup", "--domain", "area"),
        ("timeline", "--at", "now", "--domain", "area"),
    ):
        answer = run(*words)
        assert answer.code == 0, answer
        assert token.lower() not in f"{answer.out}{answer.err}".lower()
    names = run("names", "list", "--format", "json").json["names"]
    marker = "[REDACTED:github_token]"
    assert ("plain", marker) in {(each["spelling"], each["canonical"]) for each in names}
    assert (marker, "bot") in {(each["spelling"], each["canonical"]) for each in names}


def test_an_alias_with_unseen_characters_is_written_with_a_warning(workspace: Workspace, run: Run) -> None:
    observe(workspace.log, "atlas")
    answer = run("names", "alias", "project", "\u202eatlas-app", "--of", "atlas", "--format", "json")
    assert (answer.code, answer.json["changed"]) == (0, True)
    assert "warning: the new spelling holds characters that cannot be seen" in answer.err
    assert run("names", "alias", "project", "atlas-two", "--of", "atlas").err == ""


def test_a_built_in_agent_is_called_so(workspace: Workspace, run: Run) -> None:
    answer = run("names", "alias", "agent", "codex", "--of", "coder", "--new")
    assert answer.code == 1
    assert "'codex' is the id of the built-in agent 'codex', and an id cannot mean another name" in answer.err
    assert "workbench names alias agent coder --of codex" in answer.err
    assert 'an [[agents]] entry with id = "codex" replaces what is built in' in answer.err
    _add_to_manifest(workspace, "[[agents]]\nid = 'coder'\naliases = ['operator']\n")
    said = run("manifest", "check").out
    assert "'claude' is built in, and an entry with that id replaces it" in said
