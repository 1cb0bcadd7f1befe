"""What the passes over tables share: which titles name passwords, and which cells hold one."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.redaction.engine import Pass
from workbench.redaction.quoted import is_quoted_secret
from workbench.redaction.values import SHORTEST, Place, is_secret

KIND = "assigned_secret"
MOST_ROWS = 5000
LONGEST_LINE = 2000

WORDS = (
    r"password|passwd|passwort|kennwort|pass|pwd|passphrase|secret|token|api[_ -]?key|contrase(?:\xc3\xb1|n)a"
)
"""Titles of columns of passwords."""

_NAME = b"password"


class TablePass(Pass):
    """A pass that begins where a title names passwords."""

    # A title, what goes with it, and a row.
    shortest = 16

    @property
    def probes(self) -> Sequence[str]:
        return [rf"(?i:{WORDS})"]


def is_password(value: bytes, *, sentences: bool) -> bool:
    """Whether a cell under such a title holds a password; with `sentences` one of several words may be it."""
    if len(value) < SHORTEST or value.isalpha() or b"[REDACTED:" in value:
        return False
    if b" " not in value and is_secret(value, Place(_NAME, True, False, b"")):
        return True
    return sentences and is_quoted_secret(value, _NAME)
