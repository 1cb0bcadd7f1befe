"""One event as a summarizer is told it: who did what, in words, and nothing that names a row."""

from __future__ import annotations

import msgspec


class Told(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What is told of one event. Every text is `words.told_text`; what does not apply is not written.

    The same struct, as one line of JSON each, is what a program reads (`prompt`): fields are only added.
    """

    kind: str
    """`message`, `thought`, `tool call`, `tool result`, `session`, `stretch closed`, `observation`, `fact`,
    `checkpoint`, `review`, `visibility`, `purge`, `redaction`; for any other type the words of its name."""
    actor: str = ""
    """By the name that people call it."""
    actor_kind: str = ""
    """`human`, `agent` or `system`, where it is known."""
    sub_agent: bool = False
    """Whether an agent that another one started speaks."""
    category: str = ""
    """Of an observation: `decision`, `anomaly`, `milestone` and so on."""
    text: str = ""
    why: str = ""
    repeated: bool = False
    """Whether it was recorded before, by somebody else or again."""
    evidence: tuple[str, ...] = ()
    """Files, each with what became of it in parentheses."""
    tool: str = ""
    action: str = ""
    """What a tool call does, a verb: `read`, `edited`, `ran`."""
    target: str = ""
    """What it does that to: a path, a command, a question."""
    failed: bool = False
    """Whether a tool's answer is an error."""
    slot: str = ""
    """What a fact is about."""
    value: str = ""
    fact_kind: str = ""
    """`observed`, `decision` or `assumption`."""
    confirmed: bool = False
    """Whether a fact only says once more what was known."""
    replaces: str = ""
    """What the fact said before, where that was told in this stretch."""
    superseded: bool = False
    """Whether the fact replaces an older one."""
    goal: str = ""
    completed: tuple[str, ...] = ()
    verification: tuple[str, ...] = ()
    open_questions: tuple[str, ...] = ()
    next_steps: tuple[str, ...] = ()
    verdict: str = ""
    """`accepted`, `questioned` or `rejected`; `withheld` or `released` for what a person hid or showed."""
    subject: str = ""
    """What a verdict is about."""
    title: str = ""
