"""Every code that a person may be shown stands in the user guide, and the guide names none that is not there."""

from __future__ import annotations

import ast
import importlib
import pkgutil
import re
from collections.abc import Iterator
from pathlib import Path

import workbench
from workbench.errors import WorkbenchError
from workbench.workspace.doctor import objects

PACKAGE = Path(workbench.__file__).parent
DOCS = PACKAGE / "docs"
PAGE = (DOCS / "codes.md").read_text("utf-8")
_CODE = re.compile(r"[a-z]+(?:_[a-z]+)*")


def _errors(parent: type[WorkbenchError] = WorkbenchError) -> Iterator[type[WorkbenchError]]:
    yield parent
    for each in parent.__subclasses__():
        yield from _errors(each)


def _error_codes() -> set[str]:
    for module in pkgutil.walk_packages(workbench.__path__, "workbench."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    # Those that tests define themselves are nobody's to document.
    ours = (each for each in _errors() if each.__module__.startswith("workbench."))
    return {each.code for each in ours} | {"internal"}


def _finding_codes() -> set[str]:
    """The second argument of each `Finding(…)`, and those that the comparison of layouts gives out."""
    # What is none of ours is called after what it is.
    codes: set[str] = {*objects.CODES, "foreign_table", "foreign_view"}
    for path in (PACKAGE / "workspace" / "doctor").glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Finding":
                code = node.args[1]
                if isinstance(code, ast.Constant) and isinstance(code.value, str):
                    codes.add(code.value)
    return codes


def _listed() -> set[str]:
    """The codes at the beginning of the page's table lines."""
    lines = (line.strip() for line in PAGE.splitlines() if re.match(r"    \S", line))
    return {word for line in lines for word in re.split(r",\s*", re.split(r"\s{2,}", line)[0])}


def test_every_code_of_an_error_is_explained() -> None:
    assert _error_codes() - _listed() == set()


def test_every_code_of_a_finding_is_explained() -> None:
    found = _finding_codes()
    assert len(found) > 25
    assert found - _listed() == set()


def test_no_code_is_explained_that_nothing_has() -> None:
    listed = _listed()
    assert all(_CODE.fullmatch(code) for code in listed)
    assert listed - _error_codes() - _finding_codes() == set()


def test_what_doctor_mends_is_told_where_trouble_is_described() -> None:
    said = (DOCS / "troubleshooting.md").read_text("utf-8")
    for code in ("permissions_open", "permissions_locked", "job_unreadable", *objects.CODES):
        assert code in said
