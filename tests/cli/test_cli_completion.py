"""Shell completion: the scripts in real shells, the values, and that nothing goes wrong without a workspace."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.cli.program import CHECKOUT, Run
from workbench.cli.candidates import OFFERED
from workbench.cli.completion import SHELLS
from workbench.cli.group import COMMANDS
from workbench.sessions.model import ActorKind, Actum, ActumKind
from workbench.workspace import Workspace

INSTALLED = [shell for shell in SHELLS if shutil.which(shell)]

BASH = """
set -- # no arguments
source {script}
COMP_WORDS=({words})
COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))
_workbench_completion workbench
printf '%s\\n' "${{COMPREPLY[@]}}"
"""

ZSH = """
compdef() {{ : }}
_describe() {{ local -a all; all=("${{(@P)3}}"); printf '%s\\n' "${{all[@]%%:*}}" }}
compadd() {{ for word in "${{(@P)${{@[-1]}}}}"; do printf '%s\\n' "$word"; done }}
source {script}
words=({words})
CURRENT=${{#words[@]}}
_workbench_completion
"""

FISH = """
source {script}
complete --do-complete "{line}"
"""


def record(workspace: Workspace, *sessions: str, actor: str = "ada") -> None:
    for session in sessions:
        workspace.sessions.record_actum(
            "ada",
            Actum(
                chronicum_id=session,
                kind=ActumKind.MESSAGE,
                actor_kind=ActorKind.HUMAN,
                actor=actor,
                content="hello",
                at=datetime(2030, 1, 1, tzinfo=UTC),
            ),
        )


def asked(*words: str, env: dict[str, str] | None = None) -> list[str]:
    """What the program offers in bash for the last word."""
    done = subprocess.run(
        [sys.executable, "-m", "workbench"],
        capture_output=True,
        text=True,
        env={
            **os.environ,
            "PYTHONPATH": str(CHECKOUT),
            "_WORKBENCH_COMPLETE": "bash_complete",
            "COMP_WORDS": "\n".join(["workbench", *words]),
            "COMP_CWORD": str(len(words)),
            **(env or {}),
        },
        check=False,
        timeout=60,
    )
    assert done.stderr == ""
    return done.stdout.splitlines()


def offered(*words: str, env: dict[str, str] | None = None) -> list[str]:
    return [line.partition(",")[2] for line in asked(*words, env=env) if line.startswith("plain,")]


def in_shell(shell: str, folder: Path, words: list[str]) -> list[str]:
    """What a real shell would offer for the last of the words."""
    bin_ = folder / "bin"
    bin_.mkdir(exist_ok=True)
    program = bin_ / "workbench"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m workbench "$@"\n')
    program.chmod(0o755)
    env = {**os.environ, "PYTHONPATH": str(CHECKOUT), "PATH": f"{bin_}:{os.environ['PATH']}"}
    script = folder / f"complete.{shell}"
    made = subprocess.run([program, "completion", shell], capture_output=True, env=env, check=True)
    script.write_bytes(made.stdout)
    quoted = " ".join(f"'{word}'" for word in words)
    code = {"bash": BASH, "zsh": ZSH, "fish": FISH}[shell].format(
        script=script, words=quoted, line=" ".join(words)
    )
    flags = {"bash": ["--norc"], "zsh": ["-f"], "fish": ["--no-config"]}[shell]
    done = subprocess.run(
        [shell, *flags, "-c", code], capture_output=True, text=True, env=env, check=False, timeout=60
    )
    # Bash has nowhere to set the options of a completion that nobody asked for with a key.
    assert [line for line in done.stderr.splitlines() if "compopt" not in line] == []
    return [line.partition("\t")[0] for line in done.stdout.splitlines() if line]


@pytest.mark.parametrize("shell", SHELLS)
def test_each_script_names_the_program_and_asks_it(run: Run, shell: str) -> None:
    answer = run("completion", shell)
    assert answer.code == 0
    assert f"_WORKBENCH_COMPLETE={shell}_complete" in answer.out
    assert "workbench" in answer.out


def test_bash_is_here_to_be_asked() -> None:
    assert "bash" in INSTALLED


@pytest.mark.parametrize("shell", INSTALLED)
def test_a_real_shell_completes_commands_sessions_and_screens(
    tmp_path: Path, workspace: Workspace, shell: str
) -> None:
    record(workspace, "planning", "claude-code/0b1c", "review")
    assert {"sessions", "status"} <= set(in_shell(shell, tmp_path, ["workbench", "s"]))
    assert "show" in in_shell(shell, tmp_path, ["workbench", "sessions", "sh"])
    assert in_shell(shell, tmp_path, ["workbench", "sessions", "show", "cla"]) == ["claude-code/0b1c"]
    assert in_shell(shell, tmp_path, ["workbench", "--screen", "jo"]) == ["jobs"]


def test_commands_options_and_choices(workspace: Workspace) -> None:
    assert offered("") == list(COMMANDS)
    assert offered("se") == ["sessions"]
    assert {"list", "show", "context"} <= set(offered("sessions", ""))
    assert "--root" in offered("sessions", "list", "--")
    assert "--read-only" in offered("--r")
    assert offered("--format", "") == ["text", "json"]
    assert offered("completion", "") == list(SHELLS)


@pytest.mark.parametrize("command", ["show", "context", "close-unit"])
def test_sessions_that_begin_so_the_latest_first(workspace: Workspace, command: str) -> None:
    record(workspace, "planning", "plain", "review")
    assert offered("sessions", command, "pl") == ["plain", "planning"]
    assert offered("sessions", command, "x") == []
    other = {"CHRONICLE_ROOT": "/nowhere"}
    assert offered("--root", str(workspace.root), "sessions", command, "rev", env=other) == ["review"]


def test_nothing_is_offered_that_a_shell_would_act_on(workspace: Workspace) -> None:
    record(
        workspace,
        "fine",
        "$(reboot)",
        "a b",
        "x;y",
        "`z`",
        "-n",
        "~",
        "q'",
        'w"',
        "n\nl",
        "*",
        "\x1b[31m",
        "é",
    )
    assert offered("sessions", "show", "") == ["fine"]


def test_many_sessions_are_offered_in_part(workspace: Workspace) -> None:
    record(workspace, *(f"s{number:03}" for number in range(70)))
    names = offered("sessions", "show", "")
    assert len(names) == 50
    assert names[0] == "s069"
    # Behind those that are offered where nothing was typed.
    assert offered("sessions", "show", "s018") == ["s018"]


def test_screens_samples_jobs_files_and_folders(workspace: Workspace) -> None:
    from workbench.tui.screens.catalog import installed_pages
    from workbench.workspace.samples import samples

    assert set(offered("--screen", "")) == {page.NAME for page in installed_pages()}
    assert set(offered("open", "--screen", "")) == {page.NAME for page in installed_pages()}
    assert offered("demo", "") == [sample.name for sample in samples()]
    assert asked("--root", "") == ["dir,"]
    assert asked("export", "jsonl", "--to", "x") == ["file,x"]
    with workspace.jobs.run("import", "import") as job:
        assert offered("jobs", "stop", "") == [str(job.id)]
    assert offered("jobs", "stop", "") == []


def test_event_types_actors_streams_and_kinds(workspace: Workspace) -> None:
    record(workspace, "planning", "plain")
    for _ in range(3):
        record(workspace, "planning", actor="coder")
    types = ["actum.recorded", "chronicum.created"]
    assert offered("timeline", "--type", "") == types
    assert offered("timeline", "--type", types[0], "--type", "chr") == types[1:]
    # The most active first.
    assert offered("timeline", "--actor", "") == ["coder", "ada"]
    assert offered("timeline", "--actor", "a") == ["ada"]
    assert offered("sessions", "record", "--actor", "co") == ["coder"]
    assert offered("sessions", "record", "--session", "pla") == ["planning", "plain"]
    assert offered("timeline", "--stream", "") == ["session/planning", "session/plain"]
    assert offered("timeline", "--stream", "ses") == ["session/planning", "session/plain"]
    assert offered("timeline", "--stream", "session/plai") == ["session/plain"]
    assert offered("timeline", "--stream", "other/") == []
    for command in (("sessions", "context", "plain"), ("sessions", "record")):
        assert offered(*command, "--kind", "tool_req") == ["tool_request"]
        assert offered(*command, "--actor-kind", "") == list(map(str, ActorKind))


def test_actors_and_types_that_a_shell_would_act_on_are_left_out(workspace: Workspace) -> None:
    for actor in ("ok", "$(reboot)", "`id`", "a;b", "a b", "-rf", "n\nplain,x", "\x1b[2J", "'", "\u202ee"):
        record(workspace, "s", actor=actor)
    assert offered("timeline", "--actor", "") == ["ok"]
    assert asked("timeline", "--actor", "") == ["plain,ok"]


def test_many_actors_are_offered_in_part(workspace: Workspace) -> None:
    for number in range(60):
        record(workspace, "s", actor=f"a{number:03}")
    assert len(offered("timeline", "--actor", "")) == OFFERED
    assert offered("timeline", "--actor", "a059") == ["a059"]


def test_ended_jobs_can_be_shown_and_not_stopped(workspace: Workspace) -> None:
    numbers = []
    for _ in range(2):
        with workspace.jobs.run("import", "import") as job:
            numbers.append(str(job.id))
            job.finish("done")
    assert offered("jobs", "show", "") == numbers[::-1]
    assert offered("jobs", "stop", "") == []


def test_a_damaged_database_offers_nothing_and_says_nothing(workspace: Workspace) -> None:
    record(workspace, "planning")
    path = workspace.layout.database
    workspace.close()
    whole = path.read_bytes()
    for broken in (b"", b"no database", whole[:5000], whole[:100] + b"\x55" * (len(whole) - 100)):
        path.write_bytes(broken)
        for words in (
            ("timeline", "--type"),
            ("timeline", "--actor"),
            ("jobs", "show"),
            ("sessions", "show"),
        ):
            assert offered(*words, "") == []


def test_candidates_are_found_without_the_options() -> None:
    code = "import sys, workbench.cli.candidates; print('workbench.cli.options' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(CHECKOUT)},
        check=True,
    )
    assert done.stdout.strip() == "False"


def test_without_a_workspace_nothing_is_said(tmp_path: Path) -> None:
    broken = tmp_path / "broken"
    broken.mkdir()
    (broken / "SSOT_MANIFEST.toml").write_text("not = [toml")
    for root in (str(tmp_path / "none"), str(broken), "/dev/null", "\x00", ""):
        env = {"CHRONICLE_ROOT": root.replace("\x00", "?")}
        assert offered("sessions", "show", "", env=env) == []
        assert offered("jobs", "stop", "", env=env) == []


def test_completing_writes_nothing(workspace: Workspace) -> None:
    record(workspace, "planning")
    workspace.close()
    before = {path: path.read_bytes() for path in workspace.root.rglob("*") if path.is_file()}
    env = {"CHRONICLE_AUTO_MIGRATE": "1"}
    assert offered("sessions", "show", "", env=env) == ["planning"]
    assert {path: path.read_bytes() for path in before} == before


def test_commands_are_listed_without_loading_them() -> None:
    code = (
        "import sys\nfrom workbench.cli import main\n"
        "try:\n    main([])\nexcept SystemExit:\n    pass\n"
        "print([m for m in sys.modules if m.startswith(('workbench.workspace', 'workbench.cli.s'))])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env={
            **os.environ,
            "PYTHONPATH": str(CHECKOUT),
            "_WORKBENCH_COMPLETE": "bash_complete",
            "COMP_WORDS": "workbench s",
            "COMP_CWORD": "1",
        },
        check=True,
    )
    assert done.stdout.splitlines()[-1] == "[]"
    assert "plain,sessions" in done.stdout


def test_streams_and_sections_of_chronicles(workspace: Workspace) -> None:
    record(workspace, "planning", "plain")
    assert offered("chronicle", "sections", "--stream", "session/pl") == ["session/plain", "session/planning"]
    workspace.close_unit("ada", "plain", "one")
    workspace.chronicle("plain").consolidate()
    assert offered("chronicle", "section", "--stream", "plain", "") == ["1-3"]
    assert offered("chronicle", "section", "") == []
    assert "consolidate" in offered("chronicle", "con")
