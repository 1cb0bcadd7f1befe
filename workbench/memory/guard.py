"""The memory guard: does an agent's prose belong in front of other agents? (contract memory, pipeline 5)

It weighs what makes prose risky to hand on (instructions to agents, claims without a source, chatter) against
what speaks for it. Pure: the same input gives the same verdict.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from workbench.memory.events import GuardVerdict
from workbench.memory.folds import RAW_ONLY

RECENT = 25
"""So many of the newest observations of a domain are compared with."""
ALIKE = 0.85
"""The share of common words from which two texts count as one told twice."""
LONG_WHY = 20
"""Characters from which a reason counts as evidence."""

PROTOCOL_CATEGORIES = frozenset({"note", "state_change", "maintenance", "observation"})
"""Where words about how agents work are no part of the project's own story."""
HIGH_SIGNAL = frozenset(
    {"decision", "milestone", "implementation", "anomaly", "blocker", "architecture_insight", "constraint"}
)


def _words(*phrases: str) -> re.Pattern[str]:
    written = "|".join(re.escape(phrase).replace(r"\ ", r"\s+") for phrase in phrases)
    return re.compile(rf"(?<![\w-])(?:{written})(?![\w-])", re.IGNORECASE)


PROTOCOL = _words(
    "startup_bundle",
    "record_event",
    "activate_agent",
    "system prompt",
    "developer message",
    "tool call",
    "tool calls",
    "mcp",
    "memory protocol",
    "startup protocol",
    "handoff protocol",
    "agent protocol",
    "prompt injection",
    "context window",
    "instructions for agents",
    "as an ai",
)
"""Words about how agents are run rather than about the work."""
NEGATIVE = _words(
    "never",
    "do not",
    "don't",
    "must not",
    "mustn't",
    "should not",
    "shouldn't",
    "avoid",
    "forbidden",
    "refuse to",
    "stop using",
)
POSITIVE = _words(
    "always",
    "must",
    "should",
    "make sure",
    "be sure to",
    "ensure",
    "remember to",
    "you have to",
    "it is required to",
)
ABSOLUTE = _words(
    "always",
    "never",
    "guaranteed",
    "impossible",
    "absolutely",
    "undoubtedly",
    "without exception",
    "in every case",
    "under no circumstances",
    "cannot fail",
    "proven beyond doubt",
)
"""Claims that only a source could carry."""
_BULLET = re.compile(r"^[ \t]*(?:[-*+•]|\d{1,3}[.)])[ \t]+\S", re.MULTILINE)
_TOKEN = re.compile(r"\w+")


def judged(
    text: str,
    *,
    why: str | None,
    category: str,
    project: str | None,
    has_files: bool,
    recent: Iterable[str] = (),
) -> GuardVerdict | None:
    """The verdict on a filtered text; None where no rule has anything against it.

    `recent` are the texts of the newest observations of the domain. `score` is the risk less one for each
    piece of evidence; from 2 on, an observation is withheld from agents (`raw_only`).
    """
    reasons: list[str] = []
    risk = 0

    def against(weight: int, reason: str) -> None:
        nonlocal risk
        risk += weight
        reasons.append(f"{reason} +{weight}")

    if category in PROTOCOL_CATEGORIES and PROTOCOL.search(text):
        against(2, "protocol words")
    if NEGATIVE.search(text) and POSITIVE.search(NEGATIVE.sub(" ", text)):
        # What a prohibition is made of ("must not") is no command of its own.
        against(2, "do's and don'ts")
    if not has_files and ABSOLUTE.search(text):
        against(2, "absolute claim without a source")
    if text.startswith("#") or _bullets(text) >= 2:
        against(1, "markdown chatter")
    if _told_before(text, recent):
        against(1, "told before")
    if not risk:
        return None
    score = risk
    for holds, reason in (
        (why is not None and len(why) >= LONG_WHY, "a reason"),
        (project is not None, "a project"),
        (has_files, "source files"),
        (category in HIGH_SIGNAL, "category"),
    ):
        if holds:
            score -= 1
            reasons.append(f"{reason} -1")
    withheld = risk >= 2 and score >= 2
    return GuardVerdict(
        visibility=RAW_ONLY if withheld else "public", risk=risk, score=score, reasons=reasons
    )


def _bullets(text: str) -> int:
    count = 0
    for _ in _BULLET.finditer(text):
        count += 1
        if count == 2:
            break
    return count


def _told_before(text: str, recent: Iterable[str]) -> bool:
    words = _tokens(text)
    return bool(words) and any(alike(words, _tokens(other)) >= ALIKE for other in recent)


def _tokens(text: str) -> frozenset[str]:
    return frozenset(_TOKEN.findall(text.casefold()))


def alike(one: frozenset[str], other: frozenset[str]) -> float:
    """The Jaccard index of two sets of words: common ones by all of them, 0 to 1."""
    both = len(one & other)
    return both / (len(one) + len(other) - both) if both else 0.0


def withheld(verdict: GuardVerdict | None) -> bool:
    """Whether agents shall not see what was judged."""
    return verdict is not None and verdict.visibility == RAW_ONLY


__all__: Sequence[str] = ("RECENT", "alike", "judged", "withheld")
