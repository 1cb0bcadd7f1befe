"""`manifest check`, and what every other command says of a manifest that is wrong."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.cli.program import Run
from workbench.workspace import Workspace

TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8"
"""Put together here, so that nothing in the repository looks like a key."""


def _manifest(workspace: Workspace, text: str) -> Path:
    workspace.layout.manifest.write_text(text)
    return workspace.layout.manifest


def test_a_new_workspaces_manifest_is_fine(workspace: Workspace, run: Run) -> None:
    answer = run("manifest", "check", "--format", "json")
    path = str(workspace.layout.manifest)
    assert (answer.code, answer.json) == (0, {"ok": True, "path": path, "problems": []})
    assert run("manifest", "check").out == f"{path}: nothing is wrong\n"


def test_all_that_is_wrong_is_said_with_line_and_key(workspace: Workspace, run: Run) -> None:
    path = _manifest(workspace, "title = 3\nmood = 1\n[[projects]]\nid = 'a'\naliases = 'b'\n")
    answer = run("manifest", "check", "--format", "json")
    assert answer.code == 1
    assert answer.json["ok"] is False
    assert [(each["line"], each["key"], each["severity"]) for each in answer.json["problems"]] == [
        (1, "title", "error"),
        (2, "mood", "warning"),
        (5, "projects[0].aliases", "error"),
    ]
    assert all(each["message"] for each in answer.json["problems"])
    text = run("manifest", "check")
    assert text.code == 1
    assert text.out.splitlines() == [
        f"{path}:1: error: title: expected text in quotes",
        f"{path}:2: warning: mood: this program does not know the key",
        f"{path}:5: error: projects[0].aliases: must be a list of names: write it in brackets",
    ]


def test_warnings_alone_are_no_failure(workspace: Workspace, run: Run) -> None:
    _manifest(workspace, "tilte = 'x'\n")
    answer = run("manifest", "check", "--format", "json")
    assert (answer.code, answer.json["ok"]) == (0, True)
    (problem,) = answer.json["problems"]
    assert problem["message"].endswith("did you mean title?")


@pytest.mark.parametrize(
    ("text", "line", "key"),
    [
        ("title = 'x'\n[settings\n", 2, ""),
        ("[[projects]]\nid = 'a'\n[[projects]]\nid = 'b'\naliases = ['A']\n", 5, "projects[1].aliases[0]: "),
        ("[settings]\ntimezone = 3\n", 2, "settings.timezone: "),
    ],
)
@pytest.mark.parametrize("words", [("status",), ("names", "list"), ("sessions", "list")])
def test_other_commands_name_line_and_key_and_end_with_2(
    workspace: Workspace, run: Run, words: tuple[str, ...], text: str, line: int, key: str
) -> None:
    path = _manifest(workspace, text)
    answer = run(*words, "--format", "json")
    assert (answer.code, answer.json["error_type"]) == (2, "manifest")
    assert answer.json["error"].startswith(f"{path}:{line}: {key}")


def test_more_than_one_error_leads_to_the_check(workspace: Workspace, run: Run) -> None:
    _manifest(workspace, "title = 3\n[mem0]\nenabled = 3\n")
    answer = run("status", "--root", workspace.root)
    assert f"workbench manifest check --root {workspace.root}" in answer.err


def test_a_name_is_drawn_and_never_acted_on(workspace: Workspace, run: Run) -> None:
    _manifest(workspace, '"\\u001b[31m\\u202e" = 1\n')
    answer = run("manifest", "check")
    assert answer.code == 0
    assert not set("\x1b\u202e") & set(answer.out)


def test_what_is_no_manifest_is_said(tmp_path: Path, run: Run) -> None:
    answer = run("manifest", "check", "--root", tmp_path, "--format", "json")
    assert (answer.code, answer.json["error_type"]) == (2, "workspace_missing")
    path = tmp_path / "SSOT_MANIFEST.toml"
    path.mkdir()
    answer = run("manifest", "check", "--root", tmp_path, "--format", "json")
    assert answer.code == 1
    assert [(each["line"], each["key"]) for each in answer.json["problems"]] == [(0, "")]
    path.rmdir()
    os.mkfifo(path)
    assert "a named pipe" in run("manifest", "check", "--root", tmp_path).out


_ODD = """\
[session]
owner = " "
[[projects]]
id = "atlas"
roots = ["sub", "/no/such/folder", "{there}"]
[[projects]]
id = "Atlas"
roots = ["{there}/"]
[[projects]]
id = "beacon"
roots = ["{there}/../{name}"]
aliases = ["{token}"]
[[agents]]
id = "helper"
contains = ["h", "hel"]
prefixes = ["a_"]
"""


def test_what_can_be_meant_and_hardly_is_gets_a_warning(
    workspace: Workspace, run: Run, tmp_path: Path
) -> None:
    there = tmp_path / "there"
    there.mkdir()
    _manifest(workspace, _ODD.format(there=there, name=there.name, token=TOKEN))
    answer = run("manifest", "check", "--format", "json")
    assert (answer.code, answer.json["ok"]) == (0, True)
    told = [(each["line"], each["key"], each["severity"]) for each in answer.json["problems"]]
    assert told == [
        (2, "session.owner", "warning"),
        (5, "projects[0].roots[0]", "warning"),
        (5, "projects[0].roots[0]", "warning"),
        (5, "projects[0].roots[1]", "warning"),
        (7, "projects[1].id", "info"),
        (11, "projects[2].roots[0]", "warning"),
        (12, "projects[2].aliases[0]", "warning"),
        (15, "agents[0].contains[0]", "warning"),
        (16, "agents[0].prefixes[0]", "warning"),
    ]
    messages = [each["message"] for each in answer.json["problems"]]
    for number, part in enumerate(
        ("blank", "from the manifest's", "no such folder", "no such folder", "add up", "'atlas'", "secret")
    ):
        assert part in messages[number]
    text = run("manifest", "check")
    assert "ghp_" not in answer.out + text.out + text.err
    assert f"{workspace.layout.manifest}:7: info: projects[1].id: " in text.out
    assert run("status").code == 0


def test_an_id_with_a_secret_is_not_said_where_another_entry_is_meant(
    workspace: Workspace, run: Run, tmp_path: Path
) -> None:
    token = TOKEN
    text = f'[[projects]]\nid = "{token}"\nroots = ["{tmp_path}"]\n[[projects]]\nid = "b"\nroots = ["{tmp_path}"]\n'
    _manifest(workspace, text)
    answer = run("manifest", "check", "--format", "json")
    assert [each["line"] for each in answer.json["problems"]] == [2, 6]
    assert token not in answer.out


def test_advice_stands_beside_errors(workspace: Workspace, run: Run) -> None:
    _manifest(workspace, 'title = 3\n[session]\nowner = ""\n[[projects]]\nid = 4\nroots = "x"\n')
    answer = run("manifest", "check", "--format", "json")
    assert answer.code == 1
    assert [(each["line"], each["severity"]) for each in answer.json["problems"]] == [
        (1, "error"),
        (3, "warning"),
        (5, "error"),
        (6, "error"),
    ]
