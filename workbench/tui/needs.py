"""What waits for a person on the screens that say so, counted beside the program and shown in its navigation.

It is counted for every screen, whether it was shown yet or not: soon after the start, after commits, and when
another moment is shown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from time import monotonic
from typing import TYPE_CHECKING

from textual.message import Message
from textual.worker import get_current_worker

from workbench.tui.time_travel import Travelling

if TYPE_CHECKING:
    from textual.timer import Timer

    from workbench.tui.moments import AsOf
    from workbench.workspace import Workspace

FIRST_SECONDS = 0.3
"""After the workspace is open or another moment is shown; the screen has its first rows by then."""
AGAIN_SECONDS = 0.5
"""After a commit what waits is counted again at most so often, while its screen is shown."""
ELSEWHERE_SECONDS = 2.0
"""And while another screen is shown, which is read after each commit itself."""


class NeedsCounted(Message):
    """By screen, how much of it waits for a person; what could not be counted is not there."""

    def __init__(self, as_of: int | None, needs: Mapping[str, int]) -> None:
        super().__init__()
        self.as_of = as_of
        self.needs = needs

    def can_replace(self, message: Message) -> bool:
        """The latest is as good as all."""
        return isinstance(message, NeedsCounted)


class Needing(Travelling, inherit_bindings=False):
    """Counts with `Page.count_needs` of each screen in `PAGES` that has it."""

    def __init__(self) -> None:
        super().__init__()
        self._needs: dict[str, int] = {}
        self._counted_at = 0.0
        self._counting: Timer | None = None

    def travel(self, as_of: AsOf | None) -> None:
        """As above; what waited then is counted."""
        moved = as_of != self.as_of
        super().travel(as_of)
        if moved:
            self._count_after(FIRST_SECONDS)

    def needs_of(self, name: str) -> int | None:
        """How much on this screen waits for a person at the moment that is shown; None: not counted yet."""
        return self._needs.get(name)

    def forget_needs(self) -> None:
        """Another workspace was opened."""
        self._needs = {}

    def count_needs_soon(self) -> None:
        """Count once the screen that is shown has been read; at once where that screen says it itself."""
        if self.page is not None and self.page.COUNTS_NEEDS:
            self.count_needs()
        else:
            self._count_after(FIRST_SECONDS)

    def count_needs_again(self) -> None:
        """Something was committed: of many commits in a row some are followed. The past stays what it was."""
        if self.as_of is None:
            shown = self.page is not None and self.page.COUNTS_NEEDS
            pause = AGAIN_SECONDS if shown else ELSEWHERE_SECONDS
            self._count_after(self._counted_at + pause - monotonic())

    def _count_after(self, seconds: float) -> None:
        if seconds <= 0:
            self.count_needs()
        elif self._counting is None:
            self._counting = self.set_timer(seconds, self.count_needs)

    def count_needs(self) -> None:
        """Count now, on a thread."""
        if self._counting is not None:
            self._counting.stop()
            self._counting = None
        self._counted_at = monotonic()
        workspace, as_of = self.workspace, None if self.as_of is None else self.as_of.position
        counts = {page.NAME: page.count_needs for page in self.PAGES if page.COUNTS_NEEDS}
        if workspace is None or not counts:
            return

        def work() -> None:
            needs = dict(_counted(counts, workspace, as_of))
            if not get_current_worker().is_cancelled:
                self.post_message(NeedsCounted(as_of, needs))

        self.run_worker(
            work,
            group="needs",
            description="Counting what waits for a person",
            exclusive=True,
            exit_on_error=False,
            thread=True,
        )

    def on_needs_counted(self, message: NeedsCounted) -> None:
        """Say how much."""
        if message.as_of != (None if self.as_of is None else self.as_of.position):
            return
        if message.needs != self._needs:
            self._needs = dict(message.needs)
            for page in self.built_pages():
                page.needs_counted()
            if self.page is not None:
                self.page.update_navigation()


def _counted(
    counts: Mapping[str, Callable[[Workspace, int | None], int]], workspace: Workspace, as_of: int | None
) -> Iterator[tuple[str, int]]:
    for name, count in counts.items():
        # A number beside a title is nothing to be interrupted for: the screen says what is wrong with it.
        with suppress(Exception):
            found = count(workspace, as_of)
            yield name, found
