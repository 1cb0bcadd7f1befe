"""Leading from one screen to a place on another, and back to exactly where the person came from."""

from __future__ import annotations

from typing import Any, NamedTuple

from workbench.tui.destinations import Destination, screen_of
from workbench.tui.navigation import Navigating
from workbench.tui.page import Page

MOST_STEPS = 50
"""Steps back that are kept."""


class _Left(NamedTuple):
    """A place that the person was led away from."""

    screen: str
    """Its name."""
    bookmark: Any
    """What the screen needs to show it again."""
    arrived: str
    """The name of the screen that the person was led to."""


class Leading(Navigating, inherit_bindings=False):
    """Leads to destinations; each step can be taken back with esc until the person goes elsewhere."""

    def __init__(self) -> None:
        super().__init__()
        self._left: list[_Left] = []
        """The latest last."""

    async def lead_to(self, destination: Destination) -> None:
        """Show a destination on its screen; esc there comes back here.

        Where the program has no such screen it says so and stays.
        """
        name = screen_of(destination)
        page = self.page
        if not self.has_screen(name) or page is None:
            self.notify("There is no screen that shows it.", severity="warning")
            return
        step = _Left(page.NAME, page.bookmark(), name)
        if name != page.NAME:
            await self.show_screen(name)
        self._left = [*self._left[1 - MOST_STEPS :], step]
        shown = self.page
        if shown is not None and name == shown.NAME:
            # Its first time on the screen it has no list yet.
            self.call_after_refresh(shown.arrive, destination)
            shown.update_footer()

    def back_title(self, page: Page) -> str:
        """Where esc leads from this screen, as the footer says it; "" where nobody led here."""
        if not self._left or self._left[-1].arrived != page.NAME:
            return ""
        title = next((each.TITLE for each in self.PAGES if self._left[-1].screen == each.NAME), "")
        return f"back to {title}" if self._left[-1].screen != page.NAME else "back"

    async def action_lead_back(self) -> None:
        """Return to where the person was led from."""
        if not self._left:
            return
        step, left = self._left.pop(), self.page
        if step.screen != step.arrived:
            await self.show_screen(step.screen)
            if left is not None:
                left.ways_ended()
        page = self.page
        if page is not None and step.screen == page.NAME:
            if step.bookmark is not None:
                page.return_to(step.bookmark)
            page.update_footer()

    async def action_open_screen(self, name: str) -> None:
        """Show a screen; the ways back end here, since the person goes their own."""
        self._left.clear()
        if self.page is None or name != self.page.NAME:
            # Who asks for the screen that is shown looks at it: there nothing changes.
            for page in self.built_pages():
                page.ways_ended()
        await super().action_open_screen(name)
