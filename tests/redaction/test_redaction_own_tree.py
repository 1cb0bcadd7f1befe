"""The program's own files hold nothing that could be taken for somebody's key: tests make theirs at run time."""

from __future__ import annotations

from pathlib import Path

import pytest

from workbench.redaction import default_filter

TREE = Path(__file__).parents[2]
WORDS = frozenset({"assigned_secret", "url_password", "command_password", "netrc_password", "cookie"})
"""Kinds whose secret is a word that somebody chose: `hunter2` in a test is nobody's."""
EXAMPLES = (TREE / "workbench/redaction/rules", TREE / "tests/redaction")
"""Where pieces of keys stand as what they are: what a rule finds, written so that none is one."""
READ = frozenset({".py", ".md", ".toml", ".sql", ".json", ".jsonl", ".tcss", ".txt"})


@pytest.mark.parametrize("folder", ["workbench", "tests", "themes"])
def test_no_token_stands_in_a_file(folder: str) -> None:
    secrets = default_filter()
    found: list[str] = []
    for path in sorted((TREE / folder).rglob("*")):
        if path.suffix not in READ or not path.is_file() or any(map(path.is_relative_to, EXAMPLES)):
            continue
        text = path.read_text(encoding="utf-8", errors="replace")
        shown, counts = secrets.redact_text(text)
        if counts.keys() - WORDS:
            marked = [
                f"{path.relative_to(TREE)}:{number}: {after.strip()[:120]}"
                for number, (before, after) in enumerate(
                    zip(text.split("\n"), shown.split("\n"), strict=True), 1
                )
                if before != after
            ]
            found.extend(marked)
    assert not found, "\n".join(found)
