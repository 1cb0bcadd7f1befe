"""Reading rows for a list in worker threads, one message for each answer."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from time import monotonic
from typing import Any, Generic, Literal, NamedTuple, TypeAlias

from textual.message import Message
from textual.widget import Widget
from textual.worker import get_current_worker

from workbench.tui.widgets.page_source import Page, PageSource, Row
from workbench.tui.widgets.row_window import Batch, read_batch

Purpose: TypeAlias = Literal["open", "before", "after", "live"]

_PROGRESS_SECONDS = 0.2


class Answer(NamedTuple, Generic[Row]):
    """What a read gives: the page, and for `open` and `live` what there is beyond the newest known row."""

    page: Page[Row]
    newer: Page[Row] | None = None


class RowsRead(Message, bubble=False):
    """A page arrived."""

    def __init__(self, ticket: Ticket, batch: Batch[Any], newer: Page[Any] | None) -> None:
        super().__init__()
        self.ticket = ticket
        self.batch = batch
        self.newer = newer


class ReadFailed(Message, bubble=False):
    """A read, or a count (`ticket` is None), raised."""

    def __init__(self, ticket: Ticket | None, epoch: int, error: Exception) -> None:
        super().__init__()
        self.ticket = ticket
        self.epoch = epoch
        self.error = error


class RowsCounted(Message, bubble=False):
    """A count is done (`total`), or has come so far (`at_least`)."""

    def __init__(self, epoch: int, total: int | None, at_least: int) -> None:
        super().__init__()
        self.epoch = epoch
        self.total = total
        self.at_least = at_least


class Ticket(NamedTuple):
    """One read: which rows it was for, and the row that it started from."""

    generation: int
    purpose: Purpose
    anchor: Hashable


class RowReader(Generic[Row]):
    """Runs one read per purpose and one count at a time, and knows which answers still matter.

    `generation` changes whenever the list's rows are read from scratch, `epoch` with the source.
    """

    def __init__(self, widget: Widget) -> None:
        self._widget = widget
        self.source: PageSource[Row] | None = None
        self.generation = 0
        self.epoch = 0
        self._pending: dict[Purpose, Ticket] = {}
        self._counting = False
        self._count_again = False
        self._count_owed = False
        """A count waits for the first rows: it must not take their time."""

    def start_over(self) -> None:
        """Whatever is being read is for rows that are no longer wanted."""
        self.generation += 1
        self._pending.clear()

    def take_source(self, source: PageSource[Row] | None) -> None:
        """Read from another source from now on."""
        self.source = source
        self.epoch += 1
        self._counting = self._count_again = self._count_owed = False
        self.start_over()

    def is_reading(self, purpose: Purpose) -> bool:
        """Whether an answer for this purpose is to come."""
        return purpose in self._pending

    def read(self, purpose: Purpose, anchor: Hashable, ask: Callable[[], Answer[Row]]) -> None:
        """Ask in a worker thread; `RowsRead` or `ReadFailed` follows."""
        source, epoch = self.source, self.epoch
        if source is None or not self._widget.is_attached:
            return
        ticket = Ticket(self.generation, purpose, anchor)
        self._pending[purpose] = ticket

        def work() -> None:
            message: Message
            try:
                answer = ask()
                message = RowsRead(ticket, read_batch(source, answer.page), answer.newer)
            except Exception as error:  # Whatever a source raises is told; the program goes on.
                message = ReadFailed(ticket, epoch, error)
            self._widget.post_message(message)

        self._run(work, f"rows-{purpose}", "Reading rows")

    def accept(self, ticket: Ticket) -> bool:
        """Whether an answer is the awaited one; it is then no longer awaited."""
        if self._pending.get(ticket.purpose) is not ticket:
            return False
        del self._pending[ticket.purpose]
        if ticket.purpose == "open" and self._count_owed:
            self.count()
        return True

    def count(self) -> None:
        """Find out in a worker thread how many rows there are; while that runs, once more after it.

        While a list is being opened, as soon as it has its first rows.
        """
        source, epoch, widget = self.source, self.epoch, self._widget
        if source is None or not widget.is_attached:
            return
        self._count_owed = self.is_reading("open")
        if self._count_owed:
            return
        if self._counting:
            self._count_again = True
            return
        self._counting = True

        def work() -> None:
            worker = get_current_worker()
            told = monotonic()

            def progress(found: int) -> None:
                nonlocal told
                if monotonic() - told >= _PROGRESS_SECONDS:
                    told = monotonic()
                    widget.post_message(RowsCounted(epoch, None, found))

            try:
                total = source.total()
                if total is None:
                    total = source.count(lambda: worker.is_cancelled or self.epoch != epoch, progress)
                widget.post_message(RowsCounted(epoch, total, total))
            except Exception as error:  # As above.
                widget.post_message(ReadFailed(None, epoch, error))

        self._run(work, "rows-count", "Counting rows")

    def count_ended(self) -> None:
        """The count gave its answer or failed."""
        self._counting = False
        if self._count_again:
            self._count_again = False
            self.count()

    def _run(self, work: Callable[[], None], group: str, description: str) -> None:
        self._widget.run_worker(
            work,
            name=group,
            group=f"{group}-{id(self)}",
            description=description,
            exit_on_error=False,
            exclusive=True,
            thread=True,
        )
