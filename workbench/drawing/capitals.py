"""Sentences that stand by themselves: with a capital, unless they begin with what must be copied as it is."""

from __future__ import annotations

_COMMANDS = frozenset({"chmod", "chown", "cp", "ls", "mv", "pip", "rm", "sqlite3", "sudo", "workbench"})
"""Commands that texts of this program begin with: a shell tells capitals apart."""


def capital(text: str) -> str:
    """The text with a capital at its beginning; the rest stays as it is.

    A text that begins with a command, a path or a name with other signs than letters and hyphens stays whole.
    """
    word = text.split(" ", 1)[0].rstrip(".,;")
    if not (word.isascii() and word.replace("-", "").isalpha()) or word in _COMMANDS:
        return text
    return text[0].upper() + text[1:]
