"""What helps, in this program's words: errors are raised for every face, and some name options."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

_WORDS = (
    (r"name another(?: file)? with --to(?:, or say --force)?", "name another file"),
    (r"a file that “export jsonl --to FILE” wrote", "a file that an export wrote"),
    (r"name another (?:workspace |folder )?with --root", "open another workspace with: workbench --root DIR"),
    (r"name another --root", "open another workspace with: workbench --root DIR"),
    (r"name it with --root or CHRONICLE_ROOT", "open one with: workbench --root DIR"),
    (r"choose a shorter path with --root", "open it by a shorter path with: workbench --root DIR"),
    (r"name the workspace with --root and a", "open the workspace with --root and a"),
    (r"open it without --read-only", "start this program again without --read-only"),
    (
        r"or only look at it: workbench --read-only opens it without writing",
        "or start this program with --read-only, which opens it without writing",
    ),
    (r"stop it with: workbench jobs stop \d+", "stop it on the Jobs screen"),
    (r"list them with: workbench jobs\b(?! [a-z])", "the Jobs screen lists them"),
    (r"look again with: workbench redactions rescan", "look again from the Redactions screen"),
    (
        r"end it with: workbench redactions scrub --confirm",
        "scrub again from the Redactions screen: that ends it",
    ),
    (r"open it again(?=;|$)", "open it again with R"),
    (r"examine again with: workbench doctor", "examine again from the Jobs screen"),
)
"""What a hint says to somebody at a command line, and what helps somebody in this program."""

_COMMAND = re.compile(
    r"(?<!beside it with: )\bworkbench "
    r"(?>redactions (?:rescan|scrub|test|list)(?: --confirm)?"
    r"|(?:sessions|import|export|jobs|chronicle|evidence|names|manifest) [a-z][a-z-]*(?: -?\d+)?"
    r"|(?:init|status|trust|migrate|doctor|timeline|jobs|open|record|facts|tasks|reviews|--read-only)\b)"
    r"(?! --root)"
)
"""A command that acts on the workspace in which it is entered, and names none."""


def tui_hint(hint: str, root: Path | None = None) -> str:
    """A hint for somebody in this program: its keys and screens instead of options, and whole commands.

    A command that is left in it names the workspace at `root`, for the shell in which it is entered may
    stand in any folder; one that is to happen elsewhere, or names a workspace already, stays as it is.
    """
    for said, meant in _WORDS:
        hint = re.sub(said, meant, hint)
    if root is None:
        return hint
    named = f" --root {shlex.quote(str(root))}"
    return _COMMAND.sub(lambda found: found[0] + named, hint)
