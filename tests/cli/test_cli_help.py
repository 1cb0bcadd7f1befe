"""Help, version, and options in any place."""

from __future__ import annotations

import subprocess
import sys

import pytest

import workbench
from tests.cli.program import CHECKOUT, Run
from workbench.cli.group import COMMANDS
from workbench.workspace import Workspace

EVERY_COMMAND = [
    (),
    *((name,) for name in COMMANDS),
    *(("sessions", name) for name in ("list", "show", "context", "record", "close-unit")),
    ("import", "claude-code"),
    ("import", "jsonl"),
    ("export", "jsonl"),
    *(("chronicle", name) for name in ("status", "consolidate", "sections", "section", "reconsolidate")),
    *(("chronicle", name) for name in ("brief", "export", "load", "rebuild", "recording")),
    *(("chronicle", "recording", name) for name in ("write", "read")),
]


@pytest.mark.parametrize("words", EVERY_COMMAND, ids=" ".join)
@pytest.mark.parametrize("flag", ["--help", "-h"])
def test_every_command_explains_itself(run: Run, words: tuple[str, ...], flag: str) -> None:
    answer = run(*words, flag)
    assert answer.code == 0
    assert answer.err == ""
    assert f"Usage: {' '.join(('workbench', *words))} " in answer.out
    assert "--root" in answer.out
    assert "--format" in answer.out


def test_the_program_lists_every_command_with_a_line(run: Run) -> None:
    out = run("--help").out
    for name, entry in COMMANDS.items():
        assert f"  {name} " in out
        assert entry.summary in " ".join(out.split())


@pytest.mark.parametrize("name", COMMANDS)
def test_the_table_says_what_the_commands_are(name: str) -> None:
    from workbench.cli.group import Program

    command = Program().get_command(None, name)  # type: ignore[arg-type]
    assert command is not None
    assert command.name == name


def test_help_imports_no_command() -> None:
    code = (
        "import sys\nfrom workbench.cli import main\nmain(['--help'])\n"
        "named = [m for m in sys.modules if m.startswith(('workbench.cli.s', 'workbench.workspace'))]\n"
        "print(sorted({*named} - {'workbench.cli.shown', 'workbench.cli.streams'}))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env={"PYTHONPATH": str(CHECKOUT)},
        check=True,
    )
    assert done.stdout.splitlines()[-1] == "[]"


def test_version(run: Run) -> None:
    answer = run("--version")
    assert (answer.code, answer.out) == (0, f"workbench, version {workbench.__version__}\n")


def test_root_and_format_stand_before_or_behind_the_command(run: Run, workspace: Workspace) -> None:
    root = ("--root", workspace.root)
    as_json = ("--format", "json")
    answers = [
        run(*root, *as_json, "sessions", "list"),
        run(*root, "sessions", *as_json, "list"),
        run("sessions", "list", *root, *as_json),
        run("--format", "text", "sessions", "list", *root, *as_json),
    ]
    assert [answer.json for answer in answers] == [{"sessions": [], "next": None}] * 4


def test_of_two_roots_the_last_one_counts(run: Run, workspace: Workspace) -> None:
    answer = run("--root", "/nowhere", "status", "--root", workspace.root, "--format", "json")
    assert answer.json["root"] == str(workspace.root)


def test_a_near_miss_is_suggested(run: Run) -> None:
    answer = run("sesions")
    assert answer.code == 2
    assert "Did you mean 'sessions'?" in answer.err
