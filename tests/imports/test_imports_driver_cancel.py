"""An import that was stopped between transactions and goes on later gives what one go gives."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.imports.claude_code_records import SESSION, assistant, call, text, user, write
from tests.imports.driver_log import assert_gapless, described, new_workspace, talk, told
from workbench.imports import driver
from workbench.workspace import Workspace

LOOKED_AT = 1
"""Questions that are asked while a single transcript is looked for."""


class StopAfter:
    """Answers yes from the given question on, counted from 0."""

    def __init__(self, questions: int) -> None:
        self.left = questions

    def __call__(self) -> bool:
        self.left -= 1
        return self.left < 0


def bare(workspace: Workspace) -> list[tuple[Any, ...]]:
    return told(workspace)


def assert_same_as_in_one_go(paths: list[Path], stops: list[int], folder: Path) -> None:
    with new_workspace(folder / "one") as workspace:
        workspace.import_claude_code(paths)
        expected, facts = bare(workspace), described(workspace)
    with new_workspace(folder / "many") as workspace:
        for stop in stops:
            report = workspace.import_claude_code(paths, cancelled=StopAfter(stop + LOOKED_AT))
            found = bare(workspace)
            assert found == expected[: len(found)]
            assert report.cancelled or found == expected
        workspace.import_claude_code(paths)
        assert bare(workspace) == expected
        assert described(workspace) == facts
        assert_gapless(workspace)
        report = workspace.import_claude_code(paths)
        assert all(session.unchanged for session in report.sessions)


def write_session(folder: Path) -> Path:
    """A trunk with two sub-agents, one inside the other, messages over several lines and a replay."""
    records: list[dict[str, Any]] = talk(range(700))
    spawn = assistant(700, [text("send"), call("t1", "Task", prompt="Look.")], message_id="m700")
    more = assistant(701, [text("sent")], message_id="m700", usage={"output_tokens": 9})
    path = write(folder / f"{SESSION}.jsonl", [*records, spawn, more, *talk(range(702, 1300)), *records[:9]])
    inner = assistant(901, [call("t2", "Task", prompt="Deeper.")])
    for agent_id, call_id, lines in (
        ("a1", "t1", [user(900, "Look."), inner, *talk(range(902, 1500))]),
        ("a2", "t2", talk(range(900, 1450))),
    ):
        for record in lines:
            record.update(agentId=agent_id, isSidechain=True, uuid=f"{agent_id}-{record['uuid']}")
        place = write(folder / SESSION / "subagents" / f"agent-{agent_id}.jsonl", lines)
        place.with_suffix(".meta.json").write_text(json.dumps({"toolUseId": call_id}))
    return path


@pytest.mark.parametrize("stops", [[0], [1, 1], [2, 2, 2], [3, 4], [5], [8], [1, 2, 3, 4, 5, 6]])
def test_a_session_with_sub_agents(tmp_path: Path, stops: list[int]) -> None:
    path = write_session(tmp_path / "in")
    assert_same_as_in_one_go([path], stops, tmp_path)


@pytest.mark.parametrize("stops", [[2, 2, 2, 2, 2], [3, 3, 3]])
def test_small_transactions(tmp_path: Path, stops: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(driver, "_BATCH_ITEMS", 60)
    path = write_session(tmp_path / "in")
    assert_same_as_in_one_go([path], stops, tmp_path)


def one_record(number: int, shape: int) -> dict[str, Any]:
    if shape == 0:
        return user(number, f"prompt {number}")
    if shape == 1:
        return assistant(number, [text(f"part {number}")], message_id="same", usage={"output_tokens": number})
    if shape == 2:
        return assistant(number, [text(f"{number}.{block}") for block in range(4)], usage={"input_tokens": 1})
    return user(number % 7, f"again {number % 7}")


@settings(max_examples=25, deadline=None)
@given(
    shapes=st.lists(st.integers(0, 3), min_size=1, max_size=40),
    stops=st.lists(st.integers(0, 6), max_size=4),
    batch=st.integers(1, 9),
)
def test_any_file_and_any_stops(shapes: list[int], stops: list[int], batch: int) -> None:
    with tempfile.TemporaryDirectory() as name, pytest.MonkeyPatch.context() as patch:
        patch.setattr(driver, "_BATCH_ITEMS", batch)
        folder = Path(name)
        path = write(
            folder / "in" / f"{SESSION}.jsonl", [one_record(n, shape) for n, shape in enumerate(shapes)]
        )
        assert_same_as_in_one_go([path], stops, folder)


def test_a_stop_at_the_last_question_leaves_nothing_untold(tmp_path: Path) -> None:
    # The file is read to its end, and its description is still to be told.
    records = talk(range(3))
    path = write(tmp_path / f"{SESSION}.jsonl", records)
    with new_workspace(tmp_path / "ws") as workspace:
        workspace.import_claude_code([path])
        write(path, [*records, {"type": "custom-title", "sessionId": SESSION, "customTitle": "Named"}])
        workspace.import_claude_code([path], cancelled=StopAfter(1 + LOOKED_AT))
        workspace.import_claude_code([path])
        assert described(workspace)["title"] == "Named"


def test_a_stop_while_transcripts_are_looked_for_imports_nothing(tmp_path: Path) -> None:
    for name in ("a", "b", "c"):
        write(tmp_path / "in" / f"{name}.jsonl", talk(range(3), name))
    with new_workspace(tmp_path / "ws") as workspace:
        report = workspace.import_claude_code([tmp_path / "in"], cancelled=StopAfter(2))
        assert report.cancelled
        assert bare(workspace) == []
        assert workspace.import_claude_code([tmp_path / "in"]).totals["acta_added"] == 4
