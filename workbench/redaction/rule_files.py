"""Which files the filter's rules stand in, and their text: all that its version depends on."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from workbench.errors import WorkbenchError

_FOLDER = Path(__file__).parent / "rules"

RULE_FILES = (
    "keys.toml",
    "ai.toml",
    "cloud.toml",
    "code.toml",
    "commerce.toml",
    "messaging.toml",
    "watching.toml",
    "vendor.toml",
    "long.toml",
)
"""Rules that match a secret whole, in the order in which their passes run."""

CONTEXT_FILES = (
    *("headers.toml", "commands.toml", "addresses.toml", "labels.toml", "forms.toml", "near.toml"),
    "syntax.toml",
)
"""Rules whose secret is a part of what they match, in the order in which their passes run."""

COMMAND_FILES = ("commands.toml", "near.toml")
"""Those of them that know commands."""


class RulesError(WorkbenchError):
    """A rules file of the secret filter cannot be used; the message names the file and the rule."""

    code: ClassVar[str] = "redaction_rules_invalid"
    exit_code: ClassVar[int] = 2


def rule_text(name: str) -> str:
    """The text of one shipped rules file, line ends as LF so that its hash is the same on every system."""
    path = _FOLDER / name
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise RulesError(
            f"The secret filter's rules file {name} cannot be read: {error}.",
            hint="Reinstall the program; the file belongs to it.",
        ) from None
    return text.replace("\r\n", "\n")
