"""The order in which files come: together it changes nothing, one by one only whose session holds a record."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.imports import codex_records as codex
from tests.imports.claude_code_records import SESSION, assistant, call, text, user, write
from tests.imports.driver_log import assert_gapless, events, new_workspace, talk, told
from workbench.workspace import Workspace

LONG_AGO = 1_700_000_000
FORK = "99999999-2222-4333-8444-555555555555"
ROOT, CHILD, GRANDCHILD, AGENT = (f"0199a1b{n}-0000-7000-8000-00000000000{n}" for n in range(1, 5))


def claude_code_files(folder: Path) -> list[Path]:
    """A trunk with a sub-agent in its own folder, one beside it, a fork, and the trunk resumed."""
    spawn = assistant(
        4, [text("send"), call("t1", "Task", prompt="Look."), call("t2", "Task", prompt="See.")]
    )
    trunk = [*talk(range(4)), spawn, *talk(range(6, 9))]
    files = [write(folder / f"{SESSION}.jsonl", trunk)]
    for agent_id, call_id, place in (
        ("a1", "t1", folder / SESSION / "subagents"),
        ("a2", "t2", folder),
    ):
        records = [user(0, "Look."), *talk(range(21, 24))]
        for record in records:
            record.update(agentId=agent_id, isSidechain=True, uuid=f"{agent_id}-{record['uuid']}")
        files.append(write(place / f"agent-{agent_id}.jsonl", records))
        files[-1].with_suffix(".meta.json").write_text(f'{{"toolUseId": "{call_id}"}}')
    files.append(write(folder / f"{FORK}.jsonl", [*talk(range(4), FORK), *talk(range(40, 43), FORK)]))
    resumed = [*talk(range(4)), *talk(range(60, 62))]
    files.append(write(folder / "resumed.jsonl", resumed))
    return files


def codex_files(folder: Path) -> list[Path]:
    """A session, its fork, that one's fork, a sub-agent of the first, and the first one's file archived."""
    begin = [
        codex.turn("t1"),
        codex.said("user", "Draw"),
        codex.thought("Hm"),
        codex.said("assistant", "Yes"),
    ]
    more = [codex.turn("t2"), codex.said("user", "Draw"), codex.call("c1"), codex.output("c1", "x")]
    child = [codex.turn("t5"), codex.said("user", "Otherwise"), codex.said("assistant", "Yes")]
    spawn = {"subagent": {"thread_spawn": {"parent_thread_id": ROOT, "agent_path": "/root/scout"}}}
    files = {
        ROOT: [codex.meta(ROOT), *begin, *more],
        CHILD: [codex.meta(CHILD, forked_from_id=ROOT), codex.meta(ROOT), *begin, *child],
        GRANDCHILD: [
            codex.meta(GRANDCHILD, forked_from_id=CHILD),
            codex.meta(CHILD, forked_from_id=ROOT),
            codex.meta(ROOT),
            *begin,
            *child,
            codex.turn("t8"),
            codex.said("user", "Once more"),
        ],
        AGENT: [
            codex.meta(AGENT, source=spawn, parent_thread_id=ROOT),
            codex.turn("t7"),
            codex.said("user", "Scout ahead"),
            codex.said("assistant", "Nothing there"),
        ],
    }
    paths = [
        codex.write(folder / "sessions" / f"rollout-2026-03-04T00-00-00-{name}.jsonl", records)
        for name, records in files.items()
    ]
    archived = [*files[ROOT], codex.turn("t9"), codex.said("user", "Resumed")]
    paths.append(codex.write(folder / "archived" / paths[0].name, archived))
    return paths


def make(kind: str, folder: Path) -> list[Path]:
    files = claude_code_files(folder) if kind == "claude-code" else codex_files(folder)
    for file in files:
        os.utime(file, (LONG_AGO, LONG_AGO))
    return files


def what_is_said(workspace: Workspace) -> list[tuple[Any, ...]]:
    """The acta and units, whichever session holds them, without the marks that tell where they came from."""
    return sorted(
        (
            str(event.payload.get("idempotency_key") or event.payload.get("source_key")),
            str(event.payload.get("kind") or event.payload.get("unit")),
            str(event.payload.get("content")),
        )
        for event in events(workspace)
        if event.envelope.type in ("actum.recorded", "unit.closed")
    )


def imported(root: Path, kind: str, calls: Sequence[Sequence[Path]]) -> tuple[list[Any], list[Any]]:
    with new_workspace(root) as workspace:
        for paths in calls:
            report = workspace.import_transcripts(kind, paths)
            assert report.totals["problems"] == 0
        assert_gapless(workspace)
        everything = [path for paths in calls for path in paths]
        again = workspace.import_transcripts(kind, everything)
        assert again.totals["acta_added"] == 0
        return told(workspace), what_is_said(workspace)


KINDS = st.sampled_from(["claude-code", "codex"])
ORDERS = st.permutations(range(5))


@settings(max_examples=25, deadline=None)
@given(kind=KINDS, order=ORDERS)
def test_files_given_together_give_the_same_sessions_in_any_order(kind: str, order: list[int]) -> None:
    with tempfile.TemporaryDirectory() as name:
        files = make(kind, Path(name) / "in")
        whole, said = imported(Path(name) / "whole", kind, [[Path(name) / "in"]])
        assert imported(Path(name) / "any", kind, [[files[each] for each in order]]) == (whole, said)


@settings(max_examples=40, deadline=None)
@given(kind=KINDS, order=ORDERS)
def test_files_given_one_by_one_give_the_same_acta_each_once(kind: str, order: list[int]) -> None:
    with tempfile.TemporaryDirectory() as name:
        files = make(kind, Path(name) / "in")
        _, said = imported(Path(name) / "whole", kind, [[Path(name) / "in"]])
        assert imported(Path(name) / "any", kind, [[files[each]] for each in order])[1] == said
        assert len({key for key, _, _ in said}) == len(said)


def test_a_parent_stands_before_its_forks_and_a_trunk_before_its_sub_agent(tmp_path: Path) -> None:
    files = make("codex", tmp_path / "in")
    with new_workspace(tmp_path / "ws") as workspace:
        report = workspace.import_codex(files[::-1])
        assert [each.id for each in report.sessions] == [
            f"codex/{name}" for name in (ROOT, ROOT, CHILD, AGENT, GRANDCHILD)
        ]
        # What is shared is held by the session it comes from.
        shared = [e.payload["chronicum_id"] for e in events(workspace) if e.payload.get("content") == "Hm"]
        assert shared == [f"codex/{ROOT}"]
