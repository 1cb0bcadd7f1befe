"""What helps, in the program's words: no options of commands, and commands that name their workspace."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import workbench
from tests.tui.jobs_probe import app_on, jobs_shown, make_workspace
from tests.tui.shell_probe import until
from workbench.tui.app import WorkbenchApp
from workbench.tui.chronicle import hints as chronicle_hints
from workbench.tui.dialogs.message import MessageDialog
from workbench.tui.document import Document
from workbench.tui.facts import hints as fact_hints
from workbench.tui.failures import failure_of
from workbench.tui.hints import tui_hint
from workbench.tui.in_shell import filling_blocks, here, is_usual, where
from workbench.tui.present import capital
from workbench.tui.redactions import hints as redaction_hints
from workbench.tui.screens import jobs
from workbench.workspace.errors import WorkspaceMissing
from workbench.workspace.jobs.rows import KINDS

PACKAGE = Path(workbench.__file__).parent
ROOT = Path("/home/ada/my chronicle")
_LOOSE_OPTION = re.compile(r"(?<![\w-])--[a-z]")
_COMMAND = re.compile(r"\bworkbench (?:[a-z-]+ ?)*(?:--root \S+|-?\d+|DIR|FILE|--[a-z-]+|'[^']*'| )*")
_OF_THE_COMMAND_LINE = ("import it with --redact", "look without --fix", "say so: discard_generated")
"""What a call says that this program never makes."""


def _hints() -> Iterator[str]:
    """Every text that is written down as a hint below the faces, with what is filled in left out."""
    for path in sorted(PACKAGE.rglob("*.py")):
        if path.relative_to(PACKAGE).parts[0] in ("cli", "tui"):
            continue
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.keyword) and node.arg == "hint":
                text = "".join(
                    each.value
                    for each in ast.walk(node.value)
                    if isinstance(each, ast.Constant) and isinstance(each.value, str)
                )
                yield text
    yield from (kind.again for kind in KINDS.values())


def test_no_hint_names_an_option_outside_of_a_command() -> None:
    hints = [hint for hint in _hints() if hint]
    assert len(hints) > 80
    assert any("--to" in hint for hint in hints)
    for hint in hints:
        if any(said in hint for said in _OF_THE_COMMAND_LINE):
            continue
        said = tui_hint(hint, ROOT).replace("start this program again without --read-only", "")
        said = said.replace("start this program with --read-only", "").replace("with --root and a", "")
        assert not _LOOSE_OPTION.search(_COMMAND.sub("", said)), said


@pytest.mark.parametrize(
    ("hint", "meant"),
    [
        ("make one with: workbench init", "make one with: workbench init --root '/home/ada/my chronicle'"),
        ("run: workbench migrate", "run: workbench migrate --root '/home/ada/my chronicle'"),
        (
            "name another file with --to; this one was not touched",
            "name another file; this one was not touched",
        ),
        (
            "wait for it, or stop it with: workbench jobs stop 12",
            "wait for it, or stop it on the Jobs screen",
        ),
        ("list them with: workbench jobs", "the Jobs screen lists them"),
        # Elsewhere, or of a workspace that is named.
        (
            "make a workspace beside it with: workbench init",
            "make a workspace beside it with: workbench init",
        ),
        ("lay it out with: workbench init --root /x", "lay it out with: workbench init --root /x"),
        ("look at a sample with: workbench demo", "look at a sample with: workbench demo"),
        ("free some space and try again", "free some space and try again"),
    ],
)
def test_a_hint_in_this_programs_words(hint: str, meant: str) -> None:
    assert tui_hint(hint, ROOT) == meant


def test_a_hint_without_a_workspace_keeps_its_commands() -> None:
    assert tui_hint("run: workbench migrate") == "run: workbench migrate"
    missing = WorkspaceMissing("no", hint="run: workbench migrate")
    assert failure_of(missing).hint == "run: workbench migrate"
    assert failure_of(missing, root=ROOT).hint.endswith(f"--root '{ROOT}'")


async def test_the_page_of_a_folder_without_a_workspace_names_that_folder(tmp_path: Path) -> None:
    """Copied, its command must lay the workspace out there, and not where the shell stands."""
    app = WorkbenchApp(tmp_path / "no such")
    async with app.run_test(size=(100, 30)) as pilot:
        await until(pilot, lambda: app.problem is not None)
        assert app.problem is not None
        assert f"workbench init --root '{tmp_path / 'no such'}'" in app.problem.hint


async def test_an_export_onto_another_file_advises_nothing_that_is_typed_in_a_shell(tmp_path: Path) -> None:
    root = make_workspace(tmp_path / "w")
    mine = tmp_path / "mine.txt"
    mine.write_text("mine\n")
    app = app_on(root)
    async with app.run_test(size=(100, 30)) as pilot:
        await jobs_shown(pilot, app)
        await pilot.press("w")
        await pilot.pause()
        await pilot.press(*str(mine), "enter")
        await until(pilot, lambda: isinstance(app.screen, MessageDialog))
        assert isinstance(app.screen, MessageDialog)
        assert app.screen.failure.hint == "Name another file; this one was not touched"
    assert mine.read_text() == "mine\n"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("workbench doctor says what is broken", "workbench doctor says what is broken"),
        ("sudo chown -- 1000 x hands it to you", "sudo chown -- 1000 x hands it to you"),
        ("/tmp/x is no file", "/tmp/x is no file"),
        ("chronicle.db is gone", "chronicle.db is gone"),
        ("last_seq differs", "last_seq differs"),
        ("free some space", "Free some space"),
        ("run: workbench migrate", "run: workbench migrate"),
        ("read-only, so NOTHING is written", "Read-only, so NOTHING is written"),
        ("", ""),
    ],
)
def test_a_sentence_gets_a_capital_and_a_command_or_a_name_keeps_its_own(text: str, shown: str) -> None:
    assert capital(text) == shown


def test_no_hint_that_begins_with_a_command_is_shown_with_a_capital() -> None:
    commands = [hint for hint in _hints() if hint.startswith("workbench ")]
    assert commands
    for hint in commands:
        assert failure_of(WorkspaceMissing("gone", hint=hint), root=ROOT).hint.startswith("workbench ")


def test_commands_of_empty_screens_name_a_workspace_that_they_would_not_find(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.undo()
    monkeypatch.setenv("CHRONICLE_ROOT", str(tmp_path))
    root, other = tmp_path, tmp_path / "other"
    is_usual.cache_clear()
    assert here("workbench chronicle status", root) == "workbench chronicle status"
    assert here("workbench facts", other) == f"workbench facts --root {other}"
    for place, said in ((root, "In a shell"), (other, "In a shell, in its folder")):
        assert where(place) == said
        filling = [*chronicle_hints.FILLING, *fact_hints.FILLING, *redaction_hints.FILLING, *jobs.FILLING]
        text = Document(filling_blocks(filling, place)).plain(100_000)[0]
        commands = text.count("workbench ")
        assert commands >= 10 and text.count(f"--root {place}") == (0 if place == root else commands)
    is_usual.cache_clear()
