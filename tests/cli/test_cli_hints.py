"""Hints name the workspace that was named, tables fit the line, and a newcomer is told what to do next."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest
from hypothesis import given as always
from hypothesis import strategies

from tests.cli.program import Run
from workbench.cli.errors import report, with_root
from workbench.cli.given import Given
from workbench.cli.output import Column, table
from workbench.errors import WorkbenchError
from workbench.sessions.model import Actum
from workbench.storage.errors import DatabaseReplaced
from workbench.workspace import Workspace


def named(root: str | None) -> Given:
    given = Given()
    given.root = root
    return given


@pytest.mark.parametrize(
    ("hint", "with_it"),
    [
        ("run: workbench migrate", "run: workbench migrate --root 'a b'"),
        ("see: workbench doctor; or not", "see: workbench doctor --root 'a b'; or not"),
        ("workbench doctor says what is", "workbench doctor --root 'a b' says what is"),
        ("workbench doctor --fix", "workbench doctor --root 'a b' --fix"),
        ("list them with: workbench jobs", "list them with: workbench jobs --root 'a b'"),
        ("with: workbench jobs stop 12", "with: workbench jobs stop 12 --root 'a b'"),
        ("with: workbench jobs show -3.", "with: workbench jobs show -3 --root 'a b'."),
        ("workbench sessions list --format json", "workbench sessions list --root 'a b' --format json"),
        ("workbench import claude-code", "workbench import claude-code --root 'a b'"),
        ("workbench export jsonl --to FILE", "workbench export jsonl --root 'a b' --to FILE"),
        ("take the id from: workbench recent", "take the id from: workbench recent --root 'a b'"),
        (
            "see: workbench tasks, workbench facts",
            "see: workbench tasks --root 'a b', workbench facts --root 'a b'",
        ),
        ("workbench startup --project a", "workbench startup --root 'a b' --project a"),
        (
            "workbench reviews; or workbench brief",
            "workbench reviews --root 'a b'; or workbench brief --root 'a b'",
        ),
        ("see: workbench chronicle status", "see: workbench chronicle status --root 'a b'"),
        ("workbench chronicle section 1-3#2 x", "workbench chronicle section 1-3#2 --root 'a b' x"),
        ("workbench chronicle export --to F", "workbench chronicle export --root 'a b' --to F"),
        ("then: workbench trust", "then: workbench trust --root 'a b'"),
        ("workbench record -", "workbench record --root 'a b' -"),
        ("workbench --read-only opens it", "workbench --read-only --root 'a b' opens it"),
        (
            "make one with: workbench init, or look at a sample with: workbench demo",
            "make one with: workbench init --root 'a b', or look at a sample with: workbench demo",
        ),
        (
            "workbench status and workbench jobs",
            "workbench status --root 'a b' and workbench jobs --root 'a b'",
        ),
    ],
)
def test_commands_in_hints_name_the_workspace(hint: str, with_it: str) -> None:
    assert with_root(hint, named("a b")) == with_it
    assert with_root(hint, named(None)) == hint


@pytest.mark.parametrize(
    "hint",
    [
        "lay it out with: workbench init --root elsewhere",
        "workbench jobs stop 12 --root elsewhere",
        "workbench import jsonl --root elsewhere FILE",
        "make a workspace beside it with: workbench init",
        "look at a sample with: workbench demo",
        "the workbench database of another",
        "workbench statuses",
        "workbench recently",
        "see: workbench sessions --help",
    ],
)
def test_what_is_no_command_on_the_workspace_is_left_alone(hint: str) -> None:
    assert with_root(hint, named("a b")) == hint


@always(strategies.text(min_size=1))
def test_any_root_is_one_word_of_the_command(root: str) -> None:
    told = with_root("workbench jobs stop 3", named(root))
    assert shlex.split(told) == ["workbench", "jobs", "stop", "3", "--root", root]


def test_a_missing_session_is_named_with_its_workspace(run: Run, workspace: Workspace) -> None:
    answer = run("sessions", "show", "no such\x1b[2J", "--root", workspace.root)
    assert answer.code == 1
    error, hint = answer.err.splitlines()
    assert error.startswith("error: there is no session no such")
    assert "\x1b" not in error
    assert f"workbench sessions list --root {workspace.root}" in hint
    assert "--owner" in hint


def test_jobs_name_the_workspace_in_what_they_advise(run: Run, workspace: Workspace) -> None:
    at = f"--root {workspace.root}"
    assert f"workbench import claude-code {at}" in run("jobs", "--root", workspace.root).out
    missing = run("jobs", "show", "77", "--root", workspace.root)
    assert f"workbench jobs {at}" in missing.err
    try:
        with workspace.jobs.run("doctor", "examine the workspace") as job:
            number = job.id
            raise WorkbenchError("it broke", hint="look closer with: workbench doctor")
    except WorkbenchError:
        pass
    shown = run("jobs", "show", str(number), "--root", workspace.root)
    assert f"workbench doctor {at}" in shown.out


def test_init_names_every_kind_of_import(run: Run, tmp_path: Path) -> None:
    from workbench.cli.imports import command as imports

    root = tmp_path / "a b"
    steps = run("init", "--root", root, "--format", "json").json["next_steps"]
    for step in steps:
        assert shlex.split(step)[-2:] == ["--root", str(root)]
    for kind in imports.commands:
        assert [step for step in steps if step.startswith(f"workbench import {kind} ")] != []
    said = run("init", "--root", root).out
    for step in steps:
        assert f"  {step} " in said
    assert "transcripts of Codex" in said


def test_a_database_that_was_cut_while_it_was_open(
    workspace: Workspace, capsys: pytest.CaptureFixture[str]
) -> None:
    path = workspace.layout.database
    actum = Actum(chronicum_id="s", kind="message", actor_kind="human", actor="ada", content="hello")
    workspace.close()
    with Workspace.open(workspace.root) as opened:
        with path.open("r+b") as file:
            file.truncate(8192)
        with pytest.raises(DatabaseReplaced) as refused:
            opened.sessions.record_actum("ada", actum)
    assert report(refused.value, named(str(workspace.root)), []) == refused.value.exit_code
    error, hint = capsys.readouterr().err.splitlines()
    assert error.startswith(f"error: {path} was cut from ")
    assert hint.startswith("hint: restore it from a backup")


# -- tables ------------------------------------------------------------------------------------


@pytest.mark.parametrize("width", [60, 80, 120, 200])
def test_what_is_copied_is_whole_and_what_is_read_keeps_room(
    monkeypatch: pytest.MonkeyPatch, width: int
) -> None:
    monkeypatch.setattr("workbench.cli.output.line_width", lambda: width)
    columns = (Column("id", most=40), Column("actors", most=32, least=8), Column("title"))
    rows = [("i" * 20, "a" * 32, "t" * 90), ("j", "b", "u")]
    heads, first, _ = table(columns, rows)
    assert len(first) <= width
    assert heads.split() == ["id", "actors", "title"]
    assert first.startswith("i" * 20 + "  ")
    title = first.split()[-1]
    assert len(title) >= 24
    assert ("a" * 32 in first) == (width >= 80)
    if width == 80:
        assert len(title) == 80 - 20 - 32 - 4


@always(
    strategies.lists(strategies.tuples(*[strategies.text("ab界\x1b ", max_size=50)] * 3), max_size=4),
    strategies.integers(40, 200),
)
def test_lines_are_cut_where_the_columns_allow_it(rows: list[tuple[str, str, str]], width: int) -> None:
    from rich.cells import cell_len

    columns = (Column("one", most=10), Column("two", most=50, least=6), Column("three"))
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("workbench.cli.output.line_width", lambda: width)
        drawn = list(table(columns, rows))
    assert len(drawn) == len(rows) + 1
    assert all(cell_len(line) <= width for line in drawn)
