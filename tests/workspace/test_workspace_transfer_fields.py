"""An export that was edited: no field of an event may hold what this program would never write there."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from workbench.imports.workspace_jsonl import InvalidLine
from workbench.workspace import Workspace
from workbench.workspace.samples import materialise
from workbench.workspace.transfer import export_file, import_file


@pytest.fixture(scope="module")
def lines(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """The sample with a memory, as an export writes it."""
    folder = tmp_path_factory.mktemp("fields")
    root = materialise(to=folder / "demo").root
    with Workspace.open(root) as workspace:
        export_file(workspace.log, folder / "log.jsonl")
    return [json.loads(line) for line in (folder / "log.jsonl").read_bytes().splitlines()]


def written(events: list[dict[str, Any]]) -> bytes:
    return b"".join(
        json.dumps(event, ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode() + b"\n"
        for event in events
    )


def refused(
    folder: Path, events: list[dict[str, Any]], *, clock: Callable[[], datetime] | None = None
) -> InvalidLine:
    """How an import into a new workspace refuses the events; nothing of them is there then."""
    path = folder / "edited.jsonl"
    path.write_bytes(written(events))
    with Workspace.create(folder / "new", timezone="UTC", owner="maya", clock=clock) as workspace:
        with pytest.raises(InvalidLine) as caught:
            import_file(workspace.log, path)
        assert workspace.log.last_position() == 0
    return caught.value


def _evidence(payload: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = payload["evidence"][0]
    return found


Place = Callable[[dict[str, Any]], dict[str, Any]]


def _itself(payload: dict[str, Any]) -> dict[str, Any]:
    return payload


EDITS: list[tuple[str, Place, str, Any]] = [
    ("actum.recorded", _itself, "kind", "bogus"),
    ("actum.recorded", _itself, "actor_kind", "robot"),
    ("observation.recorded", _itself, "agent_source", "guessed"),
    ("observation.recorded", _itself, "request_hash", "abc"),
    ("observation.recorded", _evidence, "status", "gone"),
    *(
        ("observation.recorded", _evidence, "sha256", text)
        for text in ("../../victim", "/etc/passwd", "..", "", "A" * 64, "a" * 63, "a" * 64 + "\n")
    ),
    ("observation.recorded", _evidence, "size", -1),
    ("fact.asserted", _itself, "kind", "rumour"),
    ("review.recorded", _itself, "verdict", "maybe"),
    ("review.recorded", _itself, "target_kind", "person"),
]


@pytest.mark.parametrize(
    ("type_name", "place", "field", "value"), EDITS, ids=[f"{e[0]}-{e[2]}-{e[3]!r}"[:60] for e in EDITS]
)
def test_a_field_that_holds_something_else(
    lines: list[dict[str, Any]], tmp_path: Path, type_name: str, place: Place, field: str, value: Any
) -> None:
    events: list[dict[str, Any]] = json.loads(json.dumps(lines))
    number, holder = next(
        (number, place(event["payload"]))
        for number, event in enumerate(events, start=1)
        if event["type"] == type_name and (place is _itself or event["payload"].get("evidence"))
        if field in place(event["payload"])
    )
    holder[field] = value
    error = refused(tmp_path, events)
    assert error.message.startswith(f"line {number}: the payload is no {type_name}: ")
    assert "nothing of" in error.hint


def test_an_event_of_the_future_would_stop_every_clock(lines: list[dict[str, Any]], tmp_path: Path) -> None:
    def clock() -> datetime:
        return last - timedelta(days=1, seconds=1)

    last = datetime.fromisoformat(lines[-1]["recorded_at"])
    first_late = next(
        number
        for number, event in enumerate(lines, start=1)
        if datetime.fromisoformat(event["recorded_at"]) > clock() + timedelta(days=1)
    )
    error = refused(tmp_path, lines, clock=clock)
    assert error.message.startswith(f"line {first_late}: it was recorded at ")
    assert "--future" in error.hint
    with Workspace.open(tmp_path / "new", clock=clock) as workspace:
        assert import_file(workspace.log, tmp_path / "edited.jsonl", future=True).events == len(lines)


def test_a_clock_that_is_a_day_behind_is_let_pass(lines: list[dict[str, Any]], tmp_path: Path) -> None:
    last = datetime.fromisoformat(lines[-1]["recorded_at"]).astimezone(UTC)
    (tmp_path / "log.jsonl").write_bytes(written(lines))
    with Workspace.create(
        tmp_path / "new", timezone="UTC", owner="maya", clock=lambda: last - timedelta(days=1)
    ) as workspace:
        assert import_file(workspace.log, tmp_path / "log.jsonl").events == len(lines)
