"""What a start loads: no heavy widget, no Markdown parser."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

HEAVY = (
    "textual.widgets._markdown",
    "textual.widgets._data_table",
    "textual.widgets._text_area",
    "markdown_it",
    "tree_sitter",
)


@pytest.fixture(scope="module")
def loaded() -> set[str]:
    code = "import json, sys, workbench.tui.app; print(json.dumps(list(sys.modules)))"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    names: list[str] = json.loads(ran.stdout)
    return set(names)


@pytest.mark.parametrize("module", HEAVY)
def test_the_program_starts_without(loaded: set[str], module: str) -> None:
    assert module not in loaded
