"""A workspace on a medium that cannot be written: what its header says, as words and as pictures."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual.pilot import Pilot

from tests.tui.jobs_probe import NOW, JobsApp, fill, jobs_shown
from tests.tui.shell_probe import work_done
from workbench.tui.widgets.frame import HeaderState, header_content

STILL = HeaderState(path="~/chronicle", schema=2, live="still", read_only=True)


class StillApp(JobsApp):
    """The program on such a workspace, wherever the tests run: the superuser can write everywhere."""

    def header_state(self) -> HeaderState:
        state = super().header_state()
        return replace(state, live="still") if state.live == "live" else state


@given(st.integers(40, 220))
def test_what_is_not_live_is_never_said_to_be_now(width: int) -> None:
    content = header_content(STILL, width)
    assert content.cell_length == width
    assert "○ not live" in content.plain
    assert content.plain.endswith(" read-only ")
    assert "now" not in content.plain
    assert "schema 2" in content.plain or "as opened" not in content.plain
    assert ("as opened" in content.plain) == (width >= 85)


def test_only_one_thing_in_the_header_asks_for_attention() -> None:
    content = header_content(STILL, 120)
    alarming = [
        content.plain[span.start : span.end] for span in content.spans if "attention" in str(span.style)
    ]
    assert alarming == ["read-only"]


@pytest.mark.parametrize("size", [(60, 15), (80, 24), (120, 40), (200, 60)])
def test_not_live(snap_compare: Callable[..., bool], tmp_path: Path, size: tuple[int, int]) -> None:
    app = StillApp(fill(tmp_path / "w"), read_only=True, clock=lambda: NOW, screen="jobs")

    async def settle(pilot: Pilot[None]) -> None:
        await jobs_shown(pilot, app)
        await work_done(pilot)
        await pilot.pause()
        await pilot.pause()

    assert snap_compare(app, terminal_size=size, run_before=settle)
