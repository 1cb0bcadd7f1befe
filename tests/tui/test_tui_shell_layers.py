"""The shell's modules know each other in one direction only, in their types, too."""

from __future__ import annotations

import ast
from pathlib import Path

import workbench.tui

TUI = Path(workbench.tui.__file__).parent
TOP = (
    "app",
    "doors",
    "failure_funnel",
    "leading",
    "migration_page",
    "navigation",
    "needs",
    "problem_page",
    "themed",
    "time_travel",
)
"""What only the program itself is made of."""


def imports_of(path: Path) -> set[str]:
    """The modules of the program that a file names, anywhere: in functions and for types as well."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
    return {name.removeprefix("workbench.tui.") for name in found if name.startswith("workbench.tui.")}


def shell_modules() -> dict[str, set[str]]:
    """The modules of the shell, its dialogs, widgets and the Jobs screen, with what they import of these."""
    paths = [path for path in TUI.rglob("*.py") if path.parent.name not in ("timeline", "sessions")]
    names = {".".join(path.relative_to(TUI).with_suffix("").parts): path for path in paths}
    return {name: imports_of(path) & names.keys() for name, path in names.items()}


def test_no_module_imports_itself_through_others() -> None:
    modules = shell_modules()
    left = dict(modules)
    while True:
        ends = [name for name, wanted in left.items() if not wanted & left.keys()]
        if not ends:
            break
        for name in ends:
            del left[name]
    assert left == {}, "these are in a circle, or stand above one"
    assert modules["app"] >= {"needs", "doors"}, "the test sees imports"
    assert "dialogs.message" in modules["failure_funnel"], "those in functions, too"
    assert "copying" in modules["asked"], "and those for types"


def test_screens_and_dialogs_know_the_program_as_its_shell_only() -> None:
    for name, wanted in shell_modules().items():
        if name not in (*TOP, "key_sheet"):
            assert not wanted & set(TOP), name


def test_no_module_is_long() -> None:
    for path in TUI.glob("*.py"):
        assert len(path.read_text("utf-8").splitlines()) <= 500, path.name
