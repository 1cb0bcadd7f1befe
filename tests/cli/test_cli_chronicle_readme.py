"""What the README tells somebody to enter about chronicles works, on the sample that it names."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

from tests.cli.program import CHECKOUT, Run


def test_the_block_about_chronicles_goes_through(run: Run, tmp_path: Path) -> None:
    readme = (CHECKOUT / "README.md").read_text("utf-8")
    (block,) = re.findall(
        r"^```sh\n(workbench demo long-negotiation .*?)^```", readme, re.MULTILINE | re.DOTALL
    )
    first, *lines = (line.partition(" #")[0].strip() for line in block.splitlines())
    demo = shlex.split(first.partition(" && ")[0].replace("~", str(tmp_path)))
    assert run(*demo[1:]).code == 0
    said = []
    for line in lines:
        words = shlex.split(line)
        assert words[:2] == ["workbench", "chronicle"]
        answer = run(*words[1:], "--root", tmp_path / "negotiation")
        assert answer.code == 0, answer
        said.append(answer.out)
    consolidated, _, section, brief = said
    assert "78-108" in consolidated
    assert "events 78 to 108" in section and "unit.closed" in section
    assert "Prose is advisory" in brief
