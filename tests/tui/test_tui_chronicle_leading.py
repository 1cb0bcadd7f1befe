"""From an event, an act or a hand-off to the section that stands for it, and with esc back to the same place."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

import pytest
from textual.pilot import Pilot

from tests.tui.chronicle_probe import NOW, SESSION, ChronicleApp, full, make_workspace, named, rows_shown
from tests.tui.shell_probe import until, whole_screen
from workbench.tui.chronicle.leading_page import find_event
from workbench.tui.chronicle.messages import PlaceFound
from workbench.tui.destinations import ToChronicle
from workbench.tui.page import Page
from workbench.tui.screens.chronicle import ChroniclePage
from workbench.tui.screens.facts import FactsPage
from workbench.tui.screens.handoffs import HandoffsPage
from workbench.tui.screens.sessions import SessionsPage
from workbench.tui.screens.timeline import TimelinePage
from workbench.tui.timeline.places import NoSuchPlace
from workbench.workspace import Workspace

TASK = "task/global/atlas/importer"


class LedApp(ChronicleApp):
    """The program with the screens that lead to chronicles."""

    PAGES: ClassVar[tuple[type[Page], ...]] = (
        HandoffsPage,
        SessionsPage,
        TimelinePage,
        FactsPage,
        ChroniclePage,
    )


def led_app(root: Path, screen: str) -> LedApp:
    return LedApp(root, clock=lambda: NOW, screen=screen)


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace that no test writes to."""
    return full(tmp_path_factory.mktemp("chronicle") / "w")


async def arrived(pilot: Pilot[None], app: LedApp, row: str) -> ChroniclePage:
    """Let the program run until the Chronicle screen shows this row under its cursor."""

    def there() -> bool:
        page = app.page
        node = page.cursor_node if isinstance(page, ChroniclePage) else None
        return node is not None and named(node) == row

    await until(pilot, there)
    return await rows_shown(pilot, app)


@pytest.mark.parametrize(("seq", "row"), [(3, "1-8#2"), (8, "1-8#2"), (10, "9-11"), (15, "open 14-16")])
async def test_an_event_leads_to_the_section_that_stands_for_it(kept: Path, seq: int, row: str) -> None:
    app = led_app(kept, "timeline")
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: isinstance(app.page, TimelinePage) and app.page.cursor_event is not None)
        page = app.page
        assert isinstance(page, TimelinePage) and app.workspace is not None
        position = app.workspace.readers.chronicle.position(SESSION, seq)
        assert position is not None
        page.events.go_to(position)
        await until(pilot, lambda: page.cursor_event is not None and page.cursor_event.seq == seq)
        await pilot.press("C")
        led = await arrived(pilot, app, row)
        assert SESSION in led.opened
        await pilot.press("escape")
        await until(pilot, lambda: app.page is page)
        assert page.cursor_event is not None and page.cursor_event.position == position


async def test_a_hand_off_leads_to_the_section_that_it_closed(tmp_path: Path) -> None:
    root = full(tmp_path / "w")
    with Workspace.open(root) as workspace:
        workspace.chronicle(TASK).consolidate()
    app = led_app(root, "handoffs")
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: isinstance(app.page, HandoffsPage) and app.page.cursor_handoff is not None)
        await pilot.press("C")
        page = await arrived(pilot, app, "3-4")
        assert page.cursor_node is not None and page.cursor_node.stream == TASK
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(app.page, HandoffsPage))


async def test_a_fact_leads_to_the_section_that_tells_of_its_event(tmp_path: Path) -> None:
    root = full(tmp_path / "w")
    fact = {"slot": "importer.mode", "value": "streaming", "kind": "observed", "supersedes": None}
    with Workspace.open(root) as workspace:
        receipt = workspace.memory.record_event(
            "measured", project="atlas", task_id="importer", agent="coder", fact=fact
        )
    app = led_app(root, "facts")
    async with app.run_test(size=(120, 40)) as pilot:
        await until(
            pilot,
            lambda: (
                isinstance(app.page, FactsPage)
                and app.page.cursor_fact is not None
                and app.page.cursor_fact.id == receipt.fact_id
                and app.page.target_position > 0
            ),
        )
        await pilot.press("C")
        await until(
            pilot,
            lambda: (
                isinstance(app.page, ChroniclePage)
                and app.page.cursor_node is not None
                and named(app.page.cursor_node).startswith("open")
                and app.page.cursor_node.stream == TASK
            ),
        )
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(app.page, FactsPage))


async def test_a_session_leads_to_its_chronicle_and_an_act_to_its_section(kept: Path) -> None:
    app = led_app(kept, "sessions")
    async with app.run_test(size=(120, 40)) as pilot:
        await until(
            pilot,
            lambda: (
                isinstance(app.page, SessionsPage)
                and app.page.detail.session is not None
                and app.page.detail.entry is not None
            ),
        )
        page = app.page
        assert isinstance(page, SessionsPage)
        await pilot.press("C")
        await arrived(pilot, app, SESSION)
        await pilot.press("escape")
        await until(pilot, lambda: app.page is page)
        page.show_entry("s1", 9)
        await until(pilot, lambda: page.detail.entry is not None and page.detail.entry.actum.seq == 9)
        await until(pilot, page.focused_in_detail)
        await pilot.press("C")
        await arrived(pilot, app, "9-11")


async def test_a_search_gives_way_and_comes_back(kept: Path) -> None:
    app = led_app(kept, "chronicle")
    async with app.run_test(size=(120, 40)) as pilot:
        page = await rows_shown(pilot, app)
        page.apply("importer")
        await until(pilot, lambda: [named(row) for row in page.tree_list.visible_rows] == ["1-8#2"])
        await app.lead_to(ToChronicle(SESSION, 10))
        await arrived(pilot, app, "9-11")
        assert page.wanted == ""
        await pilot.press("escape")
        await until(pilot, lambda: page.wanted == "importer")
        await arrived(pilot, app, "1-8#2")
        await app.lead_to(ToChronicle(SESSION, 10))
        await arrived(pilot, app, "9-11")
        page.ways_ended()
        await until(pilot, lambda: page.wanted == "importer")


async def test_what_is_in_no_chronicle_is_said_and_esc_leads_back(tmp_path: Path) -> None:
    def fill(workspace: Workspace) -> None:
        workspace.memory.record_event("of the whole project", project="atlas", agent="coder")

    root = make_workspace(tmp_path / "w", fill)
    app = led_app(root, "timeline")
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: isinstance(app.page, TimelinePage) and app.page.cursor_event is not None)
        await pilot.press("C")
        await until(pilot, lambda: "are in no chronicle" in whole_screen(app))
        await pilot.press("escape", "escape")
        await until(pilot, lambda: isinstance(app.page, TimelinePage))


def test_an_event_is_found_by_its_position_too(kept: Path) -> None:
    with Workspace.open(kept, read_only=True) as workspace:
        position = workspace.readers.chronicle.position(SESSION, 10)
        assert position is not None
        found = find_event(workspace, ToChronicle("", position=position), None)
        assert isinstance(found, PlaceFound)
        assert (found.stream, found.key, found.opens) == (SESSION, ("range", SESSION, 9), True)
        for nowhere in (ToChronicle("", position=10_000), ToChronicle("session/none", 1)):
            with pytest.raises(NoSuchPlace):
                find_event(workspace, nowhere, None)


def test_an_earlier_moment_leads_to_what_there_was_then(kept: Path) -> None:
    with Workspace.open(kept, read_only=True) as workspace:
        chronicle = workspace.readers.chronicle
        section = chronicle.covering(SESSION, 5)
        assert section is not None
        first = chronicle.generations(SESSION, section.anchor.from_seq, section.anchor.to_seq)[0]
        for as_of, key in (
            (section.written.position, ("range", SESSION, 1)),
            (first.written.position, ("range", SESSION, 1)),
            (first.written.position - 1, ("stream", SESSION)),
        ):
            assert find_event(workspace, ToChronicle(SESSION, 5), as_of).key == key
