"""A screen of what was read: it is read on threads, and its ages grow while the screen is shown.

Every age on the screen, in the list as in the detail, is counted from one moment, so that none is newer
than its neighbours; the moment is renewed by a clock, by a commit, and when the screen is shown again.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING, Any

from workbench.tui.page import Page
from workbench.tui.present import number

if TYPE_CHECKING:
    from textual.timer import Timer

AGES_SECONDS = 30.0
"""How often the moment is renewed while nothing else renews it."""
TYPING_SECONDS = 0.03
"""Pause in typing after which a filter is applied."""


class ReadingPage(Page):
    """A page whose rows have ages, and that reads beside the screen."""

    def __init__(self) -> None:
        super().__init__()
        self._moment: datetime | None = None
        """From which every age is counted; None before anything was read."""
        self._typing: Timer | None = None
        self._unsearched: Any = None
        """Where the cursor stood before anything was searched for."""

    @property
    def as_of(self) -> int | None:
        """The position of the log that the program shows; None for now."""
        found = self.app.as_of
        return None if found is None else found.position

    # What a screen fills in

    def filter_typed(self) -> None:
        """Who types the filter has paused: apply `filter_text`."""

    def redraw_ages(self) -> None:
        """Ages are counted from another moment: draw those of list and detail, and move nothing."""

    # What a screen calls

    def on_filter(self, text: str) -> None:
        """Wait for a pause: every letter of a quick word would be looked for otherwise."""
        if self._typing is not None:
            self._typing.stop()
        self._typing = self.set_timer(TYPING_SECONDS, self.filter_typed)

    def back_from_search(self, before: str, after: str, at: Any, *, chosen: bool) -> Any:
        """Where a list opens whose search goes from one text to another: at `at`, None for its beginning.

        Who ends a search and has `chosen` none of what it found returns to the row they came from.
        """
        if after:
            if not before:
                self._unsearched = at
            return at
        came_from, self._unsearched = self._unsearched, None
        return came_from if before and not chosen and came_from is not None else at

    def new_rows_words(self, count: int, more: bool) -> str:
        """What came in above the list while it is read further down, and the key that leads there; or ""."""
        if not count:
            return ""
        key = self.app.keymap.shown("list.first").split(" ")[0]
        return f"{number(count)}{'+' if more else ''} new ↑ {key}"

    def _now(self) -> datetime:
        return self._moment or self.app.clock()

    def _begin_ages(self) -> None:
        """From now on ages are renewed by themselves; called once, when the workspace is ready."""
        self._renew_ages()
        self.set_interval(AGES_SECONDS, self._ages_passed)

    def _renew_ages(self) -> None:
        self._moment = self.app.clock()
        self.redraw_ages()

    def _ages_passed(self) -> None:
        if self.app.page is self:
            self._renew_ages()

    def on_screen_resume(self) -> None:
        """What was not shown has not aged."""
        if self._moment is not None:
            self._renew_ages()

    def in_thread(self, work: Callable[[], object], group: str, description: str) -> None:
        """Do it beside the screen; a later question of the group takes the place of an earlier one."""
        self.run_worker(
            work,
            group=f"{self.NAME}-{group}",
            description=description,
            exclusive=True,
            exit_on_error=False,
            thread=True,
        )
