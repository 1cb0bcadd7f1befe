"""What a job says of itself, made fit for storing."""

from __future__ import annotations

from workbench.log.ports import Redactor

LINE_CHARS = 500
OUTCOME_CHARS = 20_000


def stored(text: str, redactor: Redactor, most: int = LINE_CHARS) -> str:
    """Filtered, without what is no Unicode, at most `most` characters.

    It is cut after it was filtered: half a secret might pass.
    """
    clean = text.encode("utf-8", "replace").decode("utf-8")
    if len(clean) > 8 * most:
        clean = clean[: 8 * most]
    filtered = redactor.redact_text(clean)[0]
    return filtered if len(filtered) <= most else filtered[: most - 1] + "…"


def line(text: str) -> str:
    """Everything on one line."""
    return " ".join(text.split())
