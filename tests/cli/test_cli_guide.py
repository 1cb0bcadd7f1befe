"""`workbench help`: the pages of the guide in the terminal."""

from __future__ import annotations

import pytest

from tests.cli.program import CHECKOUT, Run

GUIDE = CHECKOUT / "workbench" / "docs"
NAMES = sorted(path.stem for path in GUIDE.glob("*.md"))


def test_without_a_page_all_are_listed(run: Run) -> None:
    answer = run("help")
    assert answer.code == 0
    lines = answer.out.splitlines()
    assert lines[0].split(maxsplit=1) == ["index", "Chronicle Workbench"]
    assert sorted(line.split()[0] for line in lines[: len(NAMES)]) == NAMES
    assert "workbench help PAGE" in lines[-1]
    pages = run("help", "--format", "json").json["pages"]
    assert {"name": "memory", "title": "Shared memory"} in pages
    assert len(pages) == len(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_a_page_is_printed_as_it_is_written(run: Run, name: str) -> None:
    text = (GUIDE / f"{name}.md").read_text("utf-8")
    answer = run("help", name)
    assert (answer.code, answer.err) == (0, "")
    assert answer.out == text.removesuffix("\n") + "\n"
    assert run("help", name.upper(), "--format", "json").json["text"] == text


def test_an_unknown_page_names_those_there_are(run: Run) -> None:
    answer = run("help", "nonsense")
    assert answer.code == 2
    assert "error: the guide has no page 'nonsense'" in answer.err
    assert "memory, names, redactions" in answer.err
    assert "workbench record --help" in run("help", "record").err


@pytest.mark.parametrize("name", ["../README", "docs/memory", "", "memory.md.md", "/etc/passwd"])
def test_only_pages_are_printed(run: Run, name: str) -> None:
    answer = run("help", name)
    assert (answer.code, answer.out) == (2, "")


def test_no_workspace_is_needed(run: Run, sealed: object) -> None:
    assert run("help", "names", "--root", "/nowhere").code == 0
