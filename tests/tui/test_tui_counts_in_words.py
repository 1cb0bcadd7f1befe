"""What screens say of how many: no word may be another than the signs beside it."""

from __future__ import annotations

import pytest

from workbench.memory.views import ListChange
from workbench.tui.chronicle.sides import _behind
from workbench.tui.handoffs.history_side import _remark
from workbench.workspace.readers.chronicle_queries import StreamRow


@pytest.mark.parametrize(
    ("gone", "dropped", "said"),
    [
        (["a", "b"], frozenset(), "1 added, 2 done"),
        (["a", "b"], frozenset({"b"}), "1 added, 1 done, 1 gone"),
        (["a", "b"], frozenset({"a", "b"}), "1 added, 2 gone"),
        (["a", "b"], None, "1 added, 2 gone"),
    ],
)
def test_next_steps_that_were_done_are_counted_as_done(
    gone: list[str], dropped: frozenset[str] | None, said: str
) -> None:
    assert _remark(ListChange(kept=[], added=["c"], gone=gone), dropped) == said


@pytest.mark.parametrize(
    ("lag", "due", "said"),
    [
        (0, 0, "✓ every event is in a section"),
        (1, 0, "1 event, not closed"),
        (7, 0, "7 events, none of them closed"),
        (7, 1, "7 events, 1 closed stretch to write up"),
    ],
)
def test_how_far_the_chronicle_is_behind(lag: int, due: int, said: str) -> None:
    row = StreamRow(
        stream_id=1,
        stream="task:atlas/a",
        kind="task",
        title="a",
        domain="",
        project="atlas",
        task_id="a",
        sections=1,
        consolidated_through=1,
        last_seq=8,
        lag_events=lag,
        due_units=due,
        withheld=0,
        consolidated=True,
    )
    assert "".join(text for text, _ in _behind(row)) == said
