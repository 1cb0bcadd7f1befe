"""One scripted review, the ways in which it can be done, and what it leaves in the log.

A way is a function that does the whole script on a workspace: on the command line, or in a program. What they
leave must be the same but for the ids and times of the new events.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from workbench.cli import main
from workbench.workspace import Workspace
from workbench.workspace.samples import materialise


class Verdict(NamedTuple):
    """What a person says of a checkpoint, one line of it, a fact or an observation."""

    kind: str
    target: str
    verdict: str
    comment: str = ""
    line: tuple[str, int] | None = None


class Withheld(NamedTuple):
    """An observation that no agent is to see, and why."""

    observation: str
    reason: str


class Released(NamedTuple):
    """It may be seen again, and why."""

    observation: str
    reason: str


class AcceptedTogether(NamedTuple):
    """Checkpoints that are accepted after one question, in this order."""

    checkpoints: tuple[str, ...]


class Superseded(NamedTuple):
    """What the slot of a fact of the project holds from now on, as the person decides, and why."""

    fact: str
    slot: str
    value: str
    why: str


Step: TypeAlias = Verdict | Withheld | Released | AcceptedTogether | Superseded

LISBON = "019cc725-7358-7348-99bb-3dc62fd34599"
"""The checkpoint of the task lisbon-encoding."""
KYOTO = "019cc725-d019-7135-88ab-5b44427ef498"
"""The checkpoint of the task kyoto-rollout, which the sample's owner has questioned."""
ALEXANDRIA = "019cc725-3100-7178-91a2-5762926e9378"
LINE = "019cc725-3100-7176-b4a8-e3bfd0801e63"
"""The observation that made it."""
PRINTED = "019cc72b-eaae-70e0-a795-332989731826"
"""The fact that ten printed ids were checked."""
ENCODING = "019cc724-b8bd-730f-9325-7eac20d03ec2"
"""The assumption of the whole project that Lisbon writes UTF-8."""
DECIDED = "UTF-8, or “replace” on the night’s log [/b] 例"
"""What its slot holds after the review."""
PROJECT = "atlas"
COMMENT = "Which seven nights? “Count” [b]says[/b] little: 日本語"

SCRIPT: tuple[Step, ...] = (
    Verdict("checkpoint", LISBON, "questioned", COMMENT, ("next_steps", 0)),
    Verdict("checkpoint", ALEXANDRIA, "accepted"),
    Verdict("fact", PRINTED, "rejected", "Nine were checked."),
    Verdict("fact", PRINTED, "accepted", "Ten after all."),
    Withheld(LINE, "Who are “they”?"),
    Released(LINE, "The map room; it says so above."),
    AcceptedTogether((KYOTO, ALEXANDRIA)),
    Superseded(ENCODING, "lisbon.encoding", DECIDED, "One bad night must not stop the run."),
)


def sample(root: Path) -> int:
    """The workspace that is reviewed, with the sample's own times; where its log ends before the review."""
    materialise("atlas-handoff", root, keep_times=True)
    with Workspace.open(root, read_only=True) as workspace:
        return workspace.log.last_position()


def on_the_command_line(root: Path, script: Sequence[Step]) -> None:
    """Every step as a command of its own, as a person types it."""
    for step in script:
        for words in _commands(step, root):
            assert main([*words, "--root", str(root)]) == 0


def _commands(step: Step, root: Path) -> Iterator[list[str]]:
    match step:
        case Verdict(kind, target, verdict, comment, line):
            words = ["review", kind, target, "--verdict", verdict]
            words += ["--comment", comment] if comment else []
            yield [*words, "--item", f"{line[0]}:{line[1]}"] if line else words
        case Withheld(observation, reason):
            yield ["quarantine", observation, "--reason", reason]
        case Released(observation, reason):
            yield ["release", observation, "--reason", reason]
        case AcceptedTogether(checkpoints):
            yield from (["review", "checkpoint", each, "--verdict", "accepted"] for each in checkpoints)
        case Superseded(fact, slot, value, why):
            given = root.parent / "decision.json"
            decision = {"slot": slot, "value": value, "kind": "decision", "supersedes": fact}
            given.write_text(json.dumps(decision), "utf-8")
            words = ["record", f"{slot} = {value}", "--as-owner", "--category", "decision", "--why", why]
            yield [*words, "--project", PROJECT, "--fact-file", str(given)]


def left_by(root: Path, base: int) -> list[dict[str, Any]]:
    """The events after a position, without their times; each new id is named by the order of its event."""
    with Workspace.open(root, read_only=True) as workspace:
        events = list(workspace.log.read(base))
    names = {str(event.envelope.event_id): f"new {number}" for number, event in enumerate(events, 1)}
    return [
        {
            "position": event.position,
            "stream": event.stream,
            "type": event.envelope.type,
            "schema_version": event.envelope.schema_version,
            "visibility": event.envelope.visibility,
            "causation": _named(_text(event.envelope.causation_id), names),
            "correlation": _named(_text(event.envelope.correlation_id), names),
            "payload": _named(event.payload, names),
        }
        for event in events
    ]


def _text(value: object) -> str | None:
    return None if value is None else str(value)


def _named(value: Any, names: dict[str, str]) -> Any:
    if isinstance(value, dict):
        return {key: _named(each, names) for key, each in value.items()}
    if isinstance(value, list):
        return [_named(each, names) for each in value]
    return names.get(value, value) if isinstance(value, str) else value
