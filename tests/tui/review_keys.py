"""The review done with the keys of the program's screens, as a person does it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import TypeVar

from textual.pilot import Pilot

from tests.tui.review_script import AcceptedTogether, Released, Step, Superseded, Verdict, Withheld
from tests.tui.shell_probe import until
from workbench.tui.app import WorkbenchApp
from workbench.tui.dialogs.confirm import ConfirmDialog
from workbench.tui.dialogs.prompt import PromptDialog
from workbench.tui.dialogs.verdict import VerdictDialog
from workbench.tui.facts.supersede_dialog import SupersedeDialog
from workbench.tui.handoffs.desk_rows import LinePick
from workbench.tui.page import Page
from workbench.tui.pastes import PasteParser
from workbench.tui.screens.facts import FactsPage
from workbench.tui.screens.handoffs import HandoffsPage
from workbench.tui.screens.timeline import TimelinePage
from workbench.tui.timeline.withholding import WithholdDialog

Shown = TypeVar("Shown", bound=Page)

_MOST_LINES = 80
"""Lines of a detail that are gone through for one of them."""


def through_the_keys(root: Path, script: Sequence[Step]) -> None:
    """Every step in one run of the program."""
    asyncio.run(_pressed(root, script))


async def _pressed(root: Path, script: Sequence[Step]) -> None:
    app = WorkbenchApp(root, screen="handoffs")
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: app.workspace is not None and isinstance(app.page, HandoffsPage))
        keys = _Keys(app, pilot)
        for step in script:
            match step:
                case Verdict("fact", target, verdict, comment):
                    await keys.on_fact(target)
                    await keys.judge(verdict, comment)
                case Verdict(_, target, verdict, comment, line):
                    page = await keys.on_task(target)
                    if line is not None:
                        await keys.into_line(page, *line)
                    await keys.judge(verdict, comment)
                case Withheld(observation, reason) | Released(observation, reason):
                    await keys.on_event(observation)
                    await keys.withhold(reason)
                case AcceptedTogether(checkpoints):
                    for each in checkpoints:
                        await keys.on_task(each)
                        await pilot.press("space")
                    await keys.accept()
                case Superseded(fact, _, value, why):
                    await keys.on_fact(fact)
                    await keys.decide(value, why)


class _Keys:
    """Presses keys and waits for what they do."""

    def __init__(self, app: WorkbenchApp, pilot: Pilot[None]) -> None:
        self.app = app
        self.pilot = pilot

    # To what is judged

    async def on_task(self, checkpoint: str) -> HandoffsPage:
        """The cursor on the task of a checkpoint, its detail read."""
        page = await self._screen("1", HandoffsPage)
        await self._go_to(checkpoint)
        await until(
            self.pilot,
            lambda: page.cursor_handoff is not None and page.cursor_handoff.checkpoint_id == checkpoint,
        )
        await until(self.pilot, lambda: page.pane.row == page.cursor_handoff and page.pane.ready)
        return page

    async def into_line(self, page: HandoffsPage, name: str, index: int) -> None:
        """The cursor in the detail, on a line of the checkpoint."""
        await self.pilot.press("enter")
        for _ in range(_MOST_LINES):
            picked = page.picked
            if isinstance(picked, LinePick) and (picked.where, picked.line) == (name, index):
                return
            await self.pilot.press("j")
        raise AssertionError(f"no line {index} of {name} can be reached")

    async def on_fact(self, fact: str) -> None:
        """The cursor on a fact that holds now, its chain read."""
        page = await self._screen("4", FactsPage)
        await self._go_to(fact)
        await until(self.pilot, lambda: page.cursor_fact is not None and page.cursor_fact.id == fact)
        await until(self.pilot, lambda: page.pane.row == page.cursor_fact and page.pane.stop is not None)

    async def on_event(self, event: str) -> None:
        """The cursor on an event, and what it belongs to read."""
        page = await self._screen("3", TimelinePage)
        await self._go_to(event)
        await until(self.pilot, lambda: page.links is not None and page.links.observation_id == event)

    async def _screen(self, key: str, kind: type[Shown]) -> Shown:
        await self.pilot.press(key)
        await until(self.pilot, lambda: isinstance(self.app.page, kind))
        page = self.app.page
        assert isinstance(page, kind)
        await self._settled()
        return page

    async def _go_to(self, text: str) -> None:
        await self.pilot.press("colon")
        await until(self.pilot, lambda: isinstance(self.app.screen, PromptDialog))
        await self._type(text)
        await self.pilot.press("enter")
        await self._done()

    # What is said of it

    async def judge(self, verdict: str, comment: str) -> None:
        """A verdict by its letter, and a comment where there is one."""
        await self.pilot.press("r")
        await until(
            self.pilot,
            lambda: isinstance(self.app.screen, VerdictDialog) and bool(self.app.screen.query("#said")),
        )
        await self.pilot.press(verdict[0])
        if comment:
            await self.pilot.press("tab")
            await self._type(comment)
            await self.pilot.press("ctrl+s")
        else:
            await self.pilot.press("enter")
        await self._done()

    async def accept(self) -> None:
        """All that are selected, and yes."""
        await self.pilot.press("A")
        await until(self.pilot, lambda: isinstance(self.app.screen, ConfirmDialog))
        await self.pilot.press("y")
        await self._done()

    async def withhold(self, reason: str) -> None:
        """Withhold the observation, or release it."""
        await self.pilot.press("x")
        await until(self.pilot, lambda: isinstance(self.app.screen, WithholdDialog))
        await self._type(reason)
        await self.pilot.press("enter")
        await self._done()

    async def decide(self, value: str, why: str) -> None:
        """What is offered is selected: it is typed over."""
        await self.pilot.press("S")
        await until(
            self.pilot,
            lambda: isinstance(self.app.screen, SupersedeDialog) and bool(self.app.screen.query("#why")),
        )
        await self._type(value)
        await self.pilot.press("tab")
        await self._type(why)
        await self.pilot.press("ctrl+s")
        await self._done()

    async def _type(self, text: str) -> None:
        """As a terminal sends it: a pilot knows no keys for “ and ’."""
        for message in PasteParser().feed(text):
            self.app.post_message(message)
        await self.pilot.pause()

    async def _done(self) -> None:
        """No dialog is open any more, and what it wrote is written and shown."""
        await until(self.pilot, lambda: self.app.screen is self.app.page)
        await self._settled()

    async def _settled(self) -> None:
        await until(self.pilot, lambda: all(worker.is_finished for worker in self.app.workers))
        await self.pilot.pause()
