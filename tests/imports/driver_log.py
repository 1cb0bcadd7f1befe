"""A workspace for the tests of the import, and what stands in its log afterwards."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tests.imports.claude_code_records import OWNER, SESSION, assistant, text, user
from workbench.imports.report import ImportReport
from workbench.log.registry import StoredEvent
from workbench.workspace import Workspace

CHRONICUM = f"claude-code/{SESSION}"


def new_workspace(root: Path) -> Workspace:
    return Workspace.create(root, title="Test", timezone="UTC", owner=OWNER)


def events(workspace: Workspace) -> list[StoredEvent]:
    return list(workspace.log.read())


def described(workspace: Workspace, chronicum_id: str = CHRONICUM) -> dict[str, Any]:
    """What the log says of a session, the latest of each field."""
    fields: dict[str, Any] = {}
    for event in events(workspace):
        if event.envelope.type == "chronicum.described" and event.stream == stream(chronicum_id):
            fields.update(event.payload)
    return fields


def stream(chronicum_id: str) -> str:
    return "session/" + chronicum_id.replace("/", "%2F")


def keys(workspace: Workspace) -> list[str]:
    """The source key of every imported actum and unit, in order of position."""
    found = []
    for event in events(workspace):
        key = event.payload.get("idempotency_key") or event.payload.get("source_key")
        if key:
            found.append(str(key))
    return found


def told(workspace: Workspace) -> list[tuple[Any, ...]]:
    """Everything of the acta and units that two imports must have in common, in order."""
    names = ("chronicum_id", "kind", "actor_kind", "actor", "content", "metadata", "unit", "note")
    return [
        (*(event.payload.get(name) for name in names), event.envelope.occurred_at)
        for event in events(workspace)
        if event.envelope.type in ("actum.recorded", "unit.closed")
    ]


def contents(workspace: Workspace) -> list[str]:
    return [
        str(event.payload["content"])
        for event in events(workspace)
        if event.envelope.type == "actum.recorded"
    ]


def assert_gapless(workspace: Workspace) -> None:
    found = events(workspace)
    assert [event.position for event in found] == list(range(1, len(found) + 1))
    seqs: dict[str, list[int]] = {}
    for event in found:
        seqs.setdefault(event.stream, []).append(event.seq)
    for numbers in seqs.values():
        assert numbers == list(range(1, len(numbers) + 1))
    counted = Counter(keys(workspace))
    assert not [key for key, count in counted.items() if count > 1]


def problems(report: ImportReport) -> list[tuple[str, int, str]]:
    return [
        (Path(problem.file).name, problem.line, problem.reason)
        for session in report.sessions
        for problem in session.problems
    ]


def numbers(report: ImportReport) -> list[tuple[Any, ...]]:
    """What a dry run has to foresee."""
    return [
        (
            session.id,
            session.source,
            session.acta_added,
            session.acta_total,
            session.added,
            session.duplicates,
            session.ignored,
            session.redactions,
            session.repaired,
            len(session.problems),
        )
        for session in report.sessions
    ]


def assert_adds_up(report: ImportReport) -> None:
    ignored: Counter[str] = Counter()
    for session in report.sessions:
        ignored.update(session.ignored)
        acta = sum(count for kind, count in session.added.items() if kind != "unit_closed")
        assert session.acta_added == acta
        assert session.acta_added <= session.acta_total
    assert report.ignored == ignored
    assert report.totals == {
        "files": len({session.source for session in report.sessions if session.was_read}),
        "sessions": len({session.id for session in report.sessions if not session.refused} - {""}),
        "acta_added": sum(session.acta_added for session in report.sessions),
        "duplicates": sum(session.duplicates for session in report.sessions),
        "problems": sum(len(session.problems) + session.problems_more for session in report.sessions),
        "unread_before": sum(session.unread_before for session in report.sessions),
        "waiting_lines": len({session.source for session in report.sessions if session.waiting}),
    }


def talk(numbers: Iterable[int], session: str = SESSION) -> list[dict[str, Any]]:
    """Records that alternate between a person and the agent; even ones give one actum, odd ones two."""
    return [
        user(number, f"prompt {number}", sessionId=session)
        if number % 2 == 0
        else assistant(
            number,
            [{"type": "thinking", "thinking": f"thought {number}"}, text(f"reply {number}")],
            sessionId=session,
            usage={"input_tokens": number, "output_tokens": 1},
        )
        for number in numbers
    ]


def acta_of_talk(numbers: Iterable[int]) -> list[str]:
    found = []
    for number in numbers:
        found += [f"prompt {number}"] if number % 2 == 0 else [f"thought {number}", f"reply {number}"]
    return found
