"""Where a session comes from, what an agent would be handed of it, and how the list takes a new size."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from tests.tui.sessions_probe import TALK, act, app_on, entries_shown, make_workspace, record, rows_shown
from tests.tui.shell_probe import until, whole_screen
from workbench.sessions.events import ChronicumDescribed
from workbench.sessions.model import Actum
from workbench.tui.document import Heading, Paragraph
from workbench.tui.sessions.context_window import Window, window_blocks
from workbench.tui.sessions.session_head import about_blocks, head_lines
from workbench.workspace import Workspace
from workbench.workspace.readers.session_queries import Relative

FORK = ChronicumDescribed(title="The second try", forked_from="s-first", cwd="/src/atlas")
ZONE = ZoneInfo("Europe/Berlin")


@pytest.fixture
def forked(tmp_path: Path) -> Path:
    return make_workspace(
        tmp_path / "w",
        {
            "s-first": (act("The first question"),),
            "s-fork": (FORK, act("Only what is new")),
            "s-lost": (ChronicumDescribed(title="Lost", forked_from="s-nowhere"), act("Alone")),
            "s-agent": (act("Look for it", "coder", parent_session="s-first"),),
        },
    )


def test_the_reader_names_what_a_session_comes_from(forked: Path) -> None:
    with Workspace.open(forked) as workspace:
        reader = workspace.readers.sessions
        found = {}
        for each in ("s-first", "s-fork", "s-lost", "s-agent"):
            row = reader.get(each)
            assert row is not None
            found[each] = reader.lineage(row)
    assert found == {
        "s-first": (),
        "s-fork": (Relative("fork of", "s-first", "The first question"),),
        "s-lost": (Relative("fork of", "s-nowhere", here=False),),
        "s-agent": (Relative("sub-agent of", "s-first", "The first question"),),
    }


@pytest.mark.parametrize("size", [(60, 15), (80, 24), (120, 40), (200, 60)])
async def test_the_head_of_a_fork_says_so(forked: Path, size: tuple[int, int]) -> None:
    app = app_on(forked)
    async with app.run_test(size=size) as pilot:
        page = await rows_shown(pilot, app)
        page.sessions.go_to("s-fork")
        await rows_shown(pilot, app)
        page.show_detail()
        await until(pilot, lambda: "⑂ fork of The first" in whole_screen(app))
        page.detail.choose_side("about")
        await until(pilot, lambda: "s-first" in whole_screen(app))


def test_a_fork_is_named_before_its_parent_was_looked_for(forked: Path) -> None:
    with Workspace.open(forked) as workspace:
        row = workspace.readers.sessions.get("s-fork")
    assert row is not None
    for lines in (2, 4, 5):
        shown = head_lines(row, ZONE, gone=False, lines=lines, width=60)
        assert any("fork of s-first" in "".join(span.text for span in line) for line in shown)
        assert len(shown) <= lines
    assert "fork of" in str(about_blocks(row, ZONE, row.last_at, gone=False))


def test_a_window_tells_when_things_happened() -> None:
    actum = Actum(
        kind="message",
        actor_kind="human",
        actor="maya",
        content="hello",
        at=datetime(2026, 3, 1, 12, tzinfo=UTC),
        occurred_at=datetime(2026, 2, 1, 9, 30, tzinfo=UTC),
    )
    for last_n, said in ((1, "The last actum that"), (2, "The last 2 acta that")):
        blocks = window_blocks(Window((actum,), 5), last_n, ZONE, Path("/w"))
        assert any(isinstance(block, Paragraph) and str(block.text).startswith(said) for block in blocks)
        heads = [block.note for block in blocks if isinstance(block, Heading)]
        assert heads[-1] == "human · message · 2026-02-01 10:30"


async def test_the_list_has_the_lines_that_the_box_leaves_it(tmp_path: Path) -> None:
    app = app_on(make_workspace(tmp_path / "w", {"s1": TALK}))
    async with app.run_test(size=(120, 40)) as pilot:
        page = await rows_shown(pilot, app)
        page.show_detail()
        entries = page.detail.entries
        await until(pilot, lambda: page.focused is entries)
        before = entries.size.height
        page.detail.offer_find("the")
        # Asks for the place of the cursor on the screen while the layout is about to change.
        entries.action_cursor_down()
        await until(pilot, lambda: entries.size.height < before)
        await entries_shown(pilot, page)
        await until(pilot, lambda: entries._view.lines == entries.size.height)


async def test_what_is_known_renews_its_ages_with_the_list(tmp_path: Path) -> None:
    root = make_workspace(tmp_path / "w", {"s1": TALK})
    with Workspace.open(root) as workspace:
        record(workspace, "s1", act("one more"))
    app = app_on(root)
    async with app.run_test(size=(120, 40)) as pilot:
        page = await rows_shown(pilot, app)
        page.detail.choose_side("about")
        await until(pilot, lambda: "What and who" in whole_screen(app))
        app.clock = lambda: datetime(2036, 3, 4, tzinfo=UTC)
        page._renew_ages()
        moment = page._moment
        assert moment == datetime(2036, 3, 4, tzinfo=UTC)
        assert page.detail._now() == moment
        await until(pilot, lambda: whole_screen(app).count("9 y") >= 2)
