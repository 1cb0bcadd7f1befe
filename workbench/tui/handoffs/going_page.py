"""Going to a task on the Handoffs screen: by its name, to what waits next, from another screen and back."""

from __future__ import annotations

from typing import Any, NamedTuple

from workbench.tui.destinations import Destination, ToTask
from workbench.tui.handoffs.handoff_pane import HISTORY
from workbench.tui.handoffs.handoff_source import HandoffSource
from workbench.tui.handoffs.list_page import HandoffListPage
from workbench.tui.handoffs.messages import NextWaiting, TaskFound
from workbench.tui.timeline.places import NoSuchPlace
from workbench.workspace.readers.handoff_index import place_of
from workbench.workspace.rows import HandoffFilter

GOTO_HINT = "A task, as project/task or by its name alone, or the id of a checkpoint"


class Bookmark(NamedTuple):
    """A place on the screen, to come back to."""

    at: tuple[str, str] | None
    side: str
    in_detail: bool
    wanted: HandoffFilter
    gave_way: HandoffFilter | None


class HandoffGoingPage(HandoffListPage):
    """The list of tasks, and the ways to one of them."""

    GOTO_HINT = GOTO_HINT

    def __init__(self) -> None:
        super().__init__()
        self._earlier = ""
        """The id of the checkpoint that somebody was led to; "" where the latest is meant."""

    def goto(self, text: str) -> None:
        """Go to the task that a text names; where there is none, the text is asked for again."""
        self._look_for(text, led=False)

    def _look_for(self, text: str, *, led: bool) -> None:
        workspace, as_of = self._workspace, self.as_of
        if workspace is None:
            return
        reader = workspace.readers.handoffs

        def find() -> None:
            key = reader.find(text, as_of=as_of)
            row = None if key is None else reader.row(key, as_of=as_of)
            self.post_message(TaskFound(key, row, text, led=led))

        self.in_thread(find, "goto", "Looking for a task")

    def moment_here(self) -> str:
        row = self.cursor_handoff
        return "" if row is None else str(row.position)

    def arrive(self, destination: Destination) -> None:
        """Show a task; an open detail gives way to the list, a filter that hides the task to all tasks."""
        if isinstance(destination, ToTask):
            self._earlier = destination.checkpoint_id
            self._look_for(f"{destination.project}/{destination.task_id}", led=True)

    def bookmark(self) -> Any:
        """The task, the side and whether it had the keys: another task may be shown here meanwhile."""
        return Bookmark(self._at, self.pane.side, self.focused_in_detail(), self.wanted, self._gave_way)

    def return_to(self, bookmark: Any) -> None:
        if not isinstance(bookmark, Bookmark):
            return
        if bookmark.wanted != self.wanted:
            self._at = bookmark.at
            self._apply(bookmark.wanted)
        if bookmark.at is not None and bookmark.at != self.handoffs.cursor_key:
            self.handoffs.go_to(bookmark.at)
        self._gave_way = bookmark.gave_way
        self.pane.show_side(bookmark.side)
        if bookmark.in_detail:
            self.show_detail()

    def ways_ended(self) -> None:
        if self._gave_way is not None:
            self._apply(self._gave_way)

    def on_task_found(self, message: TaskFound) -> None:
        """Go there; a filter that hides it goes, and comes back where the person was led there."""
        row = message.row
        if message.key is None or row is None:
            error = NoSuchPlace(f"no task goes by “{message.again[:80]}”", hint=GOTO_HINT)
            if not self.refuses_place(error):
                self.app.show_failure(error)
            return
        if self._showing_detail:
            self.show_list()
        hidden = row.closed and not self.wanted.closed
        if hidden or self.wanted.waiting or self.wanted.text:
            own = (self._gave_way or self.wanted) if message.led else None
            self._at = message.key
            self._apply(HandoffFilter(closed=self.wanted.closed or row.closed))
            self._gave_way = own
        self.handoffs.go_to(message.key)
        earlier, self._earlier = self._earlier, ""
        if earlier and earlier != row.checkpoint_id:
            # It stands among those that came before the one that is shown.
            self.pane.show_side(HISTORY)

    def action_next_waiting(self, step: int) -> None:
        """The next task that waits for a verdict, or the one before; past the end from the other end."""
        workspace, row, wanted = self._workspace, self.cursor_handoff, self.wanted._replace(waiting=True)
        if workspace is None:
            return
        reader, order, as_of = workspace.readers.handoffs, self.order, self.as_of
        at = None if row is None else place_of(row, order)

        def find() -> None:
            bounds: dict[str, Any] = {"after": at} if step > 0 else {"before": at}
            found = reader.page(wanted, 1, order=order, as_of=as_of, **bounds).rows
            if not found and step > 0:
                found = reader.page(wanted, 1, order=order, as_of=as_of).rows
            elif not found:
                found = list(HandoffSource(reader, wanted, order, as_of).last(1).rows)
            self.post_message(NextWaiting(found[0].key if found else None))

        self.in_thread(find, "next", "Looking for what waits for a verdict")

    def on_next_waiting(self, message: NextWaiting) -> None:
        """Go there."""
        row = self.cursor_handoff
        if message.key is None:
            self.app.notify("Nothing waits for a verdict.")
        elif row is not None and row.key == message.key:
            self.app.notify("No other task waits for a verdict.")
        else:
            self.handoffs.go_to(message.key)
