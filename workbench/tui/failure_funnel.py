"""The one funnel for what a person has to be told: toasts, and errors as dialogs that can be copied."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from rich.text import Text
from textual.css.query import NoMatches
from textual.notifications import Notify
from textual.worker import WorkerFailed

from workbench.errors import WorkbenchError
from workbench.tui import failures
from workbench.tui.file_fate import WorkspaceLost
from workbench.tui.present import plain_lines, visible
from workbench.tui.shell import Shell
from workbench.tui.toasts import Notice

if TYPE_CHECKING:
    from textual.message import Message
    from textual.notifications import SeverityLevel
    from textual.worker import Worker


class FailureFunnel(Shell, inherit_bindings=False):
    """Shows what went wrong; nothing that a screen, a worker or an action raises ends the program.

    `unexpected` keeps what was no `WorkbenchError`.
    """

    def __init__(self) -> None:
        super().__init__()
        self.unexpected: list[BaseException] = []
        self._shown_error: BaseException | None = None

    def notify(
        self,
        message: str,
        *,
        title: str = "",
        severity: SeverityLevel = "information",
        timeout: float | None = None,
        markup: bool = False,
    ) -> None:
        """Show a toast; unlike Textual's own, its text is literal unless `markup` is asked for."""
        if not markup:
            message, title = plain_lines(message, 600), visible(title)
        seconds = self.NOTIFICATION_TIMEOUT if timeout is None else timeout
        self.post_message(Notify(Notice(message, title, severity, seconds, markup=markup)))

    def show_failure(
        self, error: BaseException, title: str = "", retry: Callable[[], object] | None = None
    ) -> None:
        """Show an error as a dialog that can be copied; the one way for every error to reach a person.

        `retry` is offered where the error says that the same may work later. What only repeats a dialog
        that is open, or that the workspace is lost, is not shown again.
        """
        if isinstance(error, WorkerFailed) and isinstance(error.error, BaseException):
            error = error.error
        if error is self._shown_error:
            return  # A worker's error comes from the worker and from Textual.
        self._shown_error = error
        if not isinstance(error, WorkbenchError):
            self.unexpected.append(error)
        else:
            if self.page is not None and error.code in self.page.NOWHERE and self.page.refuses_place(error):
                return
            if not error.retryable:
                retry = None
        if self.access.swallows(error):
            # The header and the footer say it already, for as long as it lasts.
            return
        self.show_message(failures.failure_of(error, title, self.root), retry)

    def show_message(self, failure: failures.Failure, retry: Callable[[], object] | None = None) -> None:
        """Show a failure as a dialog, unless one that is open says the same already."""
        from workbench.tui.dialogs.message import MessageDialog

        def again(wanted: str | None) -> None:
            if wanted == "again" and retry is not None:
                retry()

        for screen in self.screen_stack:
            if isinstance(screen, MessageDialog) and failures.repeats(failure, screen.failure):
                if failure.code == WorkspaceLost.code:
                    screen.show(failure)
                screen.show_keys()
                return
        self.push_screen(MessageDialog(failure, retry=retry is not None), again)

    @contextmanager
    def showing_failures(self) -> Iterator[None]:
        """Errors that speak for themselves become a dialog; others pass on."""
        try:
            yield
        except WorkbenchError as error:
            self.show_failure(error)

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        """A worker of the program itself failed: say so, and go on."""
        if event.worker.error is not None and event.state.name == "ERROR":
            self.show_failure(event.worker.error)

    async def run_action(self, action: Any, default_namespace: Any = None, namespaces: Any = None) -> bool:
        """Run a Textual action; what it raises becomes a dialog, and the program goes on."""
        try:
            return await super().run_action(action, default_namespace, namespaces)
        except Exception as error:
            self.show_failure(error)
            return True

    async def _dispatch_message(self, message: Message) -> None:
        # As in `Page`: a refusal while a message is handled is no reason to end the program.
        try:
            await super()._dispatch_message(message)
        except WorkbenchError as error:
            self.show_failure(error)

    def _handle_exception(self, error: Exception) -> None:
        # Textual would print a traceback with local variables, which may hold anything an agent said.
        if isinstance(error, WorkerFailed):
            self.show_failure(error)
            return
        if self._exit and isinstance(error, NoMatches):
            # The program was told to end while a screen was coming: its parts were never made.
            return
        self._return_code = 1
        if self._exception is None:
            self._exception = error
            self._exception_event.set()
        failure = failures.failure_of(error)
        self._exit_renderables.append(
            Text(f"workbench: an unexpected {type(error).__name__} ended the program. {failure.hint}")
        )
        self._close_messages_no_wait()

    def close_stale_message(self) -> None:
        """The workspace is there again: take away the dialog that says it is lost."""
        from workbench.tui.dialogs.message import MessageDialog

        screen = self.screen
        if isinstance(screen, MessageDialog) and screen.failure.code == WorkspaceLost.code:
            screen.dismiss(None)

    def copy(self, text: str, label: str) -> None:
        """Copy a text out of the terminal, and say what is known about the outcome."""
        from workbench.tui.clipboard import copy_text

        if not text:
            self.notify(f"Nothing to copy: {label} is empty.", severity="warning")
            return
        self.notify(copy_text(self, text, label).sentence, timeout=8)
