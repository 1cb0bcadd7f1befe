"""How a row of the facts says where it is of, in whatever room there is."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from workbench.tui.facts.fact_rows import FactRows, _where
from workbench.tui.present import line_width
from workbench.tui.widgets.row_renderer import RowState
from workbench.workspace.fact_rows import FactPlace, FactRow

NOW = datetime(2026, 3, 1, tzinfo=UTC)


def row(
    task: str, *, project: str = "atlas", value: str = "a value with more words than there is room for"
) -> FactRow:
    return FactRow(
        id="f",
        slot="release.day",
        value=value,
        kind="decision",
        agent="planner",
        domain="global",
        project=project,
        task_id=task,
        recorded_at=NOW,
        place=FactPlace(position=4),
    )


def second(fact: FactRow, width: int) -> str:
    line = FactRows(lambda: NOW).lines(fact, width, RowState())[1]
    assert line_width(line) <= width
    return "".join(text for text, _ in line).rstrip()


@pytest.mark.parametrize("width", range(14, 90))
def test_a_fact_of_a_task_never_looks_like_one_of_the_whole_project(width: int) -> None:
    of_task, of_project = second(row("kyoto-rollout"), width), second(row(""), width)
    where = of_task.split("  ")[-1]
    assert "/k" in where
    assert "/" not in of_project.split("  ")[-1]


@pytest.mark.parametrize(
    ("most", "said"),
    [
        (40, "atlas/kyoto-rollout · planner"),
        (28, "atlas/kyoto-rollout"),
        (14, "atlas/kyoto-r…"),
        (9, "atlas/ky…"),
        (7, "at…/ky…"),
    ],
)
def test_the_agent_gives_way_first_then_the_task_then_the_project(most: int, said: str) -> None:
    assert _where(row("kyoto-rollout"), most) == said
