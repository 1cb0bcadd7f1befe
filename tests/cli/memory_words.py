"""What the tests of shared memory on the command line say."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.cli.program import Answer, Run

SHIP = ("--project", "atlas", "--task-id", "ship")
JSON = ("--format", "json")
HANDOFF: dict[str, Any] = {
    "goal": "Ship the search",
    "completed": ["Index the notes"],
    "verification": ["41 tests passed"],
    "open_questions": ["Which stemmer?"],
    "next_steps": ["Measure recall", "Write the page", "Tag it", "Announce it"],
}


def say(run: Run, text: str, *words: str | Path, stdin: bytes = b"") -> Any:
    """Record and give back the receipt."""
    answer = run("record", text, *words, *JSON, stdin=stdin)
    assert answer.code == 0, answer
    return answer.json


def hand_off(run: Run, *words: str, text: str = "Handing off", **changed: Any) -> Any:
    """Record a checkpoint of `atlas / ship`, or of what `words` name, and give back the receipt."""
    body = json.dumps(HANDOFF | changed).encode()
    return say(run, text, *(words or SHIP), "--checkpoint-file", "-", stdin=body)


def assertion(slot: str, value: str, kind: str = "observed", **more: Any) -> bytes:
    """A fact as its file has it."""
    return json.dumps({"slot": slot, "value": value, "kind": kind, **more}).encode()


def fact(run: Run, slot: str, value: str, *words: str, kind: str = "observed", **more: Any) -> Answer:
    """Record a fact of the project atlas, or of what `words` name."""
    return run(
        "record",
        f"{slot} is {value}",
        *(words or SHIP[:2]),
        "--fact-file",
        "-",
        *JSON,
        stdin=assertion(slot, value, kind, **more),
    )


def facts(run: Run, *words: str) -> list[Any]:
    """The current facts."""
    answer = run("facts", *words, *JSON)
    assert answer.code == 0, answer
    found: list[Any] = answer.json["facts"]
    return found


def startup(run: Run, *words: str) -> Any:
    """The bundle."""
    answer = run("startup", *words, *JSON)
    assert answer.code == 0, answer
    return answer.json
