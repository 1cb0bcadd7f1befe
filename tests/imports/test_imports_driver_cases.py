"""Whole files through a real workspace: counts, order, nothing twice, dry runs, the report's sums."""

from __future__ import annotations

import json
import os
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.imports.claude_code_records import (
    SESSION,
    answer,
    assistant,
    call,
    envelope,
    lines,
    text,
    user,
    write,
)
from tests.imports.driver_log import (
    CHRONICUM,
    acta_of_talk,
    assert_adds_up,
    assert_gapless,
    contents,
    described,
    events,
    keys,
    new_workspace,
    numbers,
    problems,
    talk,
)
from workbench.imports.report import ImportReport

DATA = Path(__file__).parent / "data"
SHARED = Path(__file__).parents[3] / "shared" / "cases" / "transcripts"
KINDS = ("claude-code", "codex")


def cases() -> list[Any]:
    found = []
    for folder in (DATA / "claude_code", DATA / "codex", SHARED):
        expected = folder / "EXPECTED.json"
        if expected.is_file():
            for name, counts in json.loads(expected.read_text()).items():
                kind = name.partition("/")[0]
                found.append(pytest.param(kind, folder / name, counts, id=f"{folder.name}-{name}"))
    return found


def test_the_repository_has_cases_of_its_own_for_each_kind() -> None:
    own = {case.values[0] for case in cases() if case.values[1].is_relative_to(DATA)}
    assert own == set(KINDS)


def settled_copy(source: Path, folder: Path) -> Path:
    """A copy of a case that counts as left alone, whenever the checkout was made."""
    folder.mkdir(exist_ok=True)
    copy = folder / source.name
    if source.is_dir():
        shutil.copytree(source, copy)
    else:
        shutil.copy(source, copy)
    for path in [copy, *copy.rglob("*")]:
        os.utime(path, (1_700_000_000, 1_700_000_000))
    return copy


def summed(report: ImportReport) -> dict[str, Counter[str]]:
    sessions: dict[str, Counter[str]] = {}
    for session in report.sessions:
        if session.added:
            sessions.setdefault(session.id, Counter()).update(session.added)
    return sessions


@pytest.mark.parametrize(("kind", "source", "expected"), cases())
def test_a_case_gives_its_counts_and_again_gives_no_event(
    kind: str, source: Path, expected: dict[str, Any], tmp_path: Path
) -> None:
    folder = settled_copy(source, tmp_path / "in")
    with new_workspace(tmp_path / "ws") as workspace:
        foreseen = workspace.import_transcripts(kind, [folder], dry_run=True)
        assert events(workspace) == []
        report = workspace.import_transcripts(kind, [folder])
        assert numbers(foreseen) == numbers(report)
        assert summed(report) == expected["sessions"]
        assert report.ignored == expected["ignored"]
        assert [[name, line] for name, line, _ in problems(report)] == expected["problems"]
        assert_adds_up(report)
        assert_gapless(workspace)
        before = events(workspace)
        stored: dict[str, Counter[str]] = {}
        for event in before:
            if event.envelope.type == "actum.recorded":
                counts = stored.setdefault(event.payload["chronicum_id"], Counter())
                counts[event.payload["kind"]] += 1
            elif event.envelope.type == "unit.closed":
                stored.setdefault(event.payload["chronicum_id"], Counter())["unit_closed"] += 1
        assert stored == expected["sessions"]

        again = workspace.import_transcripts(kind, [folder])
        assert all(session.unchanged for session in again.sessions)
        assert again.totals["acta_added"] == 0
        assert not any(found.is_new for found in workspace.find_transcripts(kind, [folder]).transcripts)
        assert events(workspace) == before

        # The same files at another place are read from their start, and still give nothing.
        copy = settled_copy(source, tmp_path / "copy")
        third = workspace.import_transcripts(kind, [copy])
        assert third.totals["acta_added"] == 0
        assert third.totals["duplicates"] > 0
        assert keys(workspace) == [
            str(event.payload.get("idempotency_key") or event.payload.get("source_key"))
            for event in before
            if "idempotency_key" in event.payload or "source_key" in event.payload
        ]


@pytest.mark.parametrize(("kind", "source", "expected"), cases())
def test_a_case_gives_the_same_where_nobody_says_what_it_is(
    kind: str, source: Path, expected: dict[str, Any], tmp_path: Path
) -> None:
    with new_workspace(tmp_path / "ws") as workspace:
        report = workspace.import_transcripts(None, [settled_copy(source, tmp_path / "in")])
        assert summed(report) == expected["sessions"]
        assert report.ignored == expected["ignored"]
        assert [[name, line] for name, line, _ in problems(report)] == expected["problems"]


def test_acta_stand_in_file_order_whatever_their_times(tmp_path: Path) -> None:
    records = talk(range(1300))
    for number, record in enumerate(records):
        record["timestamp"] = f"20{99 - number % 90:02}-01-01T00:00:00.000Z"
    path = write(tmp_path / f"{SESSION}.jsonl", records)
    with new_workspace(tmp_path / "ws") as workspace:
        report = workspace.import_claude_code([path])
        assert contents(workspace) == acta_of_talk(range(1300))
        assert report.sessions[0].acta_added == report.sessions[0].acta_total == 1950
        assert_gapless(workspace)


def test_usage_stands_once_per_message(tmp_path: Path) -> None:
    usage = {"input_tokens": 7, "output_tokens": 3}
    records = [
        assistant(n, [text(f"part {n}")], message_id="m1", usage=usage | {"output_tokens": n})
        for n in range(1, 4)
    ]
    path = write(tmp_path / f"{SESSION}.jsonl", [*records, user(9, "thanks")])
    with new_workspace(tmp_path / "ws") as workspace:
        workspace.import_claude_code([path])
        told = [e.payload["metadata"].get("usage") for e in events(workspace) if "content" in e.payload]
        assert told == [None, None, {"input_tokens": 7, "output_tokens": 3}, None]


def test_a_compaction_closes_a_unit_once(tmp_path: Path) -> None:
    boundary = envelope("system", 2, subtype="compact_boundary", compactMetadata={"trigger": "auto"})
    path = write(tmp_path / f"{SESSION}.jsonl", [*talk(range(2)), boundary, boundary, user(3, "on")])
    with new_workspace(tmp_path / "ws") as workspace:
        report = workspace.import_claude_code([path])
        assert report.sessions[0].added["unit_closed"] == 1
        assert report.sessions[0].duplicates == 1
        assert report.sessions[0].acta_added == 4
        path.write_bytes(b"\n" + path.read_bytes())
        assert workspace.import_claude_code([path]).totals["duplicates"] == 5
        closed = [e for e in events(workspace) if e.envelope.type == "unit.closed"]
        assert [(e.payload["unit"], e.payload["source_key"]) for e in closed] == [
            ("compaction", "claude-code:u2:0")
        ]


def place_agent(folder: Path, agent_id: str, records: list[dict[str, Any]], call_id: str = "") -> Path:
    for number, record in enumerate(records):
        record.update(agentId=agent_id, isSidechain=True, uuid=f"{agent_id}-{number}")
    path = write(folder / SESSION / "subagents" / f"agent-{agent_id}.jsonl", records)
    if call_id:
        path.with_suffix(".meta.json").write_text(json.dumps({"toolUseId": call_id}))
    return path


def test_sub_agents_stand_behind_the_line_that_spawned_them(tmp_path: Path) -> None:
    spawn = assistant(1, [text("sending"), call("t1", "Task", prompt="Look."), text("sent")])
    trunk = write(
        tmp_path / f"{SESSION}.jsonl", [user(0, "go"), spawn, user(2, [answer("t1", "seen")]), user(3, "on")]
    )
    place_agent(tmp_path, "a1", [user(0, "Look."), *talk([5, 7])], "t1")
    place_agent(tmp_path, "a2", [user(0, "Lost.")])
    with new_workspace(tmp_path / "ws") as workspace:
        foreseen = workspace.import_claude_code([tmp_path], dry_run=True)
        report = workspace.import_claude_code([trunk])
        assert numbers(foreseen) == numbers(report)
        assert contents(workspace) == [
            "go",
            "sending",
            '{"prompt":"Look."}',
            "sent",
            "Look.",
            *acta_of_talk([5, 7]),
            "seen",
            "on",
            "Lost.",
        ]
        assert (report.sessions[0].sub_agents_linked, report.sessions[0].sub_agents_orphaned) == (1, 1)
        inside = [e.payload for e in events(workspace) if e.payload.get("actor") == "claude-code/a1"]
        assert len(inside) == 4
        assert {payload["metadata"]["parent"] for payload in inside} == {"t1"}
        # Only one of the files grows: the trunk's old lines are not read as new.
        with (tmp_path / SESSION / "subagents" / "agent-a1.jsonl").open("ab") as file:
            file.write(lines([user(20, "More.", uuid="a1-20", agentId="a1", isSidechain=True)]))
        grown = workspace.import_claude_code([trunk])
        assert grown.totals["acta_added"] == 1
        assert events(workspace)[-1].payload["metadata"]["parent"] == "t1"


def test_an_orphan_is_imported_under_its_session_and_reported(tmp_path: Path) -> None:
    place_agent(tmp_path, "a1", [user(0, "Look."), *talk([5])])
    with new_workspace(tmp_path / "ws") as workspace:
        report = workspace.import_claude_code([tmp_path])
        assert [(s.id, s.sub_agents_orphaned, s.acta_added) for s in report.sessions] == [(CHRONICUM, 1, 3)]
        acta = [e for e in events(workspace) if "content" in e.payload]
        assert all(e.payload["metadata"]["orphan"] for e in acta)
        # The trunk turns up: it keeps the session, the sub-agent's records stay where they are.
        write(tmp_path / f"{SESSION}.jsonl", [user(100, "trunk")])
        workspace.import_claude_code([tmp_path])
        assert len(keys(workspace)) == 4
        assert_gapless(workspace)


def test_a_session_is_described_when_something_changed_and_only_then(tmp_path: Path) -> None:
    path = write(tmp_path / f"{SESSION}.jsonl", talk(range(4)))
    with new_workspace(tmp_path / "ws") as workspace:
        workspace.import_claude_code([path])
        first = described(workspace)
        assert (first["title"], first["source"], first["cwd"]) == ("prompt 0", str(path), "/home/ada/atlas")
        count = len(events(workspace))
        with path.open("ab") as file:
            file.write(lines([{"type": "custom-title", "sessionId": SESSION, "customTitle": "Named"}]))
        report = workspace.import_claude_code([path])
        assert report.totals["acta_added"] == 0
        assert [e.payload for e in events(workspace)[count:]] == [{"title": "Named"}]
        count = len(events(workspace))
        path.write_bytes(b"\n" + path.read_bytes())
        assert workspace.import_claude_code([path]).totals["duplicates"] == 4
        assert len(events(workspace)) == count


def test_progress_never_falls_and_ends_at_its_total(tmp_path: Path) -> None:
    for name in ("a", "b", "c"):
        write(tmp_path / "in" / f"{name}.jsonl", talk(range(700), name))
    place_agent(tmp_path / "in", "x1", talk(range(5)))
    seen: list[tuple[int, int | None, str]] = []

    def watch(done: int, total: int | None, note: str) -> None:
        seen.append((done, total, note))
        if len(seen) == 2:
            # A file that grows and one that goes while they are being imported.
            with (tmp_path / "in" / "a.jsonl").open("ab") as file:
                file.write(lines(talk(range(700, 900), "a")))
            (tmp_path / "in" / "c.jsonl").unlink()

    with new_workspace(tmp_path / "ws") as workspace:
        report = workspace.import_claude_code([tmp_path / "in"], progress=watch)
    done = [each[0] for each in seen]
    assert done == sorted(done)
    assert {each[1] for each in seen} == {done[-1]}
    assert len(done) >= 6
    assert ("c.jsonl", 0, "No such file or directory") in problems(report)
    assert_adds_up(report)
