"""What a new user does with the chronicle of the sample `long-negotiation`, one command after the other."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from tests.cli.program import CHECKOUT, Run

NAME = "long-negotiation"
SESSION = ("--session", "lamp-glass-contract")
TASK = ("--stream", "task/supply/lamp-glass/contract")
README = CHECKOUT / "sample_workspaces" / NAME / "README.md"


@pytest.fixture
def root(run: Run, tmp_path: Path) -> Path:
    """A workspace made of the sample."""
    assert run("demo", NAME, "--no-open", "--to", tmp_path / "demo").code == 0
    return tmp_path / "demo"


def test_from_the_hole_to_a_copy_that_replays(run: Run, root: Path, tmp_path: Path) -> None:
    def chronicle(*words: object, at: Path = root) -> str:
        answer = run("chronicle", *words, "--root", at)
        assert answer.code == 0, answer.err
        return answer.out + answer.err

    assert "wrote 2 sections" in chronicle("consolidate")
    shown = chronicle("section", *SESSION, "78-108")
    assert "events 78 to 108" in shown and "advisory prose" in shown and "1.8 per hundred" in shown
    events = chronicle("section", *SESSION, "78-108", "--events")
    assert "I have to correct myself" in events and "unit.closed" in events
    again = chronicle("reconsolidate", *SESSION, "78-108")
    assert "writes section 78-108 again, as 78-108#2" in again and "diverge on replay" in again
    file = tmp_path / "negotiation.jsonl"
    chronicle("export", *SESSION, "--to", file)
    copy = tmp_path / "copy"
    assert run("demo", NAME, "--no-open", "--to", copy).code == 0
    assert "loaded 2 sections" in chronicle("load", file, at=copy)
    exported = []
    for place in (root, copy):
        assert "no model was asked" in chronicle(
            "rebuild", *SESSION, "--replay", "--discard-generated", at=place
        )
        target = tmp_path / f"{place.name}.jsonl"
        chronicle("export", *SESSION, "--to", target, at=place)
        exported.append(target.read_bytes())
    assert exported[0] == exported[1]
    # Two lines that are no section: whose chronicle it is, and how many there are.
    assert exported[0].count(b"\n") == 10 + 2


def test_a_section_that_was_withheld_is_for_agents_again_once_it_is_written_again(
    run: Run, root: Path
) -> None:
    rumour = "mortgaged"
    at = ("--root", root)
    assert rumour in run("chronicle", "section", *TASK, "8-13", *at).out
    before = run("chronicle", "brief", *TASK, *at).out
    assert rumour not in before and "8-13#2" not in before
    assert run("chronicle", "reconsolidate", *TASK, "8-13", *at).code == 0
    after = run("chronicle", "brief", *TASK, *at).out
    assert rumour not in after and "8-13#2" in after


def test_every_command_of_its_readme_works_in_the_order_in_which_it_stands(run: Run, root: Path) -> None:
    lines = re.findall(r"^ {4,}workbench (.+)$", README.read_text("utf-8"), re.MULTILINE)
    assert len(lines) >= 6
    for line in lines:
        answer = run(*shlex.split(line), "--root", root)
        assert answer.code == 0 and answer.out, (line, answer.err)
