"""What screens, dialogs and doors may ask of the program, whatever class it is of.

The program's own classes implement it, each one subject: `failure_funnel` shows errors, `navigation` runs
actions, `themed` has the colours, `app` opens the workspace. All of them know this module; it knows none.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from textual.app import App

from workbench.errors import WorkbenchError
from workbench.tui.access import Access
from workbench.tui.actions import Action, Registry
from workbench.tui.drafts import Decision, Drafts, Verdict
from workbench.tui.failures import Failure
from workbench.tui.keymap import Keymap
from workbench.tui.state import UserState
from workbench.tui.widgets.frame import HeaderState, NavigationEntry

if TYPE_CHECKING:
    from workbench.tui.copying import CopyChoice
    from workbench.tui.destinations import Destination
    from workbench.tui.moments import AsOf
    from workbench.workspace import Workspace


class ShownPage(Protocol):
    """The screen that is shown, as dialogs and actions see it."""

    NAME: ClassVar[str]
    NOWHERE: ClassVar[frozenset[str]]
    """The codes of errors that say that what a person typed for `page.goto` is nowhere."""

    def refuses_place(self, error: WorkbenchError) -> bool:
        """Ask again where to go, with the text that led nowhere and why; whether there is such a text."""
        ...

    def reachable_actions(self) -> Sequence[Action]:
        """The actions that can be reached from where the focus is, nearest first."""
        ...

    def copy_choices(self) -> Sequence[CopyChoice]:
        """The forms in which what is under the cursor can be copied."""
        ...

    def goto(self, text: str) -> None:
        """Go to what `text` names; raises a `WorkbenchError` where there is no such place."""
        ...


class Shell(App[None], inherit_bindings=False):
    """The program as its parts see it."""

    root: Path
    """Where the workspace is, or should be."""
    state: UserState
    """What is remembered for the next run."""
    keymap: Keymap
    access: Access
    """The hold on the workspace."""
    clock: Callable[[], datetime]
    """The moment that ages are counted from."""
    wants_read_only: bool

    def __init__(self) -> None:
        super().__init__()
        self.verdict_drafts: Drafts[Verdict] = Drafts("verdict")
        """By target and line, the verdicts that were begun and left."""
        self.decision_drafts: Drafts[Decision] = Drafts("decision")
        """By scope and slot, what was typed in decisions that were not recorded."""

    def drafts_lost_by_leaving(self) -> list[str]:
        """What leaving the program would lose of what was typed, a sentence each."""
        return [*self.verdict_drafts.lost_by_leaving(), *self.decision_drafts.lost_by_leaving()]

    def say_kept(self, key: str) -> None:
        """Say that what was typed is kept, and which key opens it again."""
        self.notify(f"Kept as a draft: {key} opens it again.")

    @property
    @abstractmethod
    def registry(self) -> Registry:
        """Every action of the program."""

    @property
    def workspace(self) -> Workspace | None:
        """The workspace, once it is open."""
        return self.access.workspace

    @property
    def problem(self) -> Failure | None:
        """Why the workspace could not be opened, or was lost."""
        return self.access.problem

    @property
    @abstractmethod
    def page(self) -> ShownPage | None:
        """The screen that is shown, under any dialog."""

    # The workspace

    @abstractmethod
    def open_workspace(self) -> None:
        """Open the workspace on a thread of its own."""

    @abstractmethod
    async def reopen(self) -> None:
        """Open the workspace anew after it was lost."""

    @abstractmethod
    def save_state(self) -> None:
        """Write what is remembered for the next run."""

    # The moment that is shown

    @property
    @abstractmethod
    def as_of(self) -> AsOf | None:
        """The moment of the past that is shown; None: now."""

    @abstractmethod
    def travel(self, as_of: AsOf | None) -> None:
        """Show the past as of this moment from now on, or (None) what is now."""

    # What is drawn around a screen

    @abstractmethod
    def header_state(self) -> HeaderState:
        """What the header says."""

    @abstractmethod
    def navigation_entries(self) -> list[NavigationEntry]:
        """The screens that exist, as the navigation draws them."""

    @abstractmethod
    def needs_of(self, name: str) -> int | None:
        """How much on a screen waits for a person at the moment that is shown; None: not counted yet."""

    @abstractmethod
    def opening_text(self) -> str:
        """What is going on until the workspace is open."""

    @abstractmethod
    def urgent_text(self) -> str:
        """What a person should know before anything else, for the footer; "" where there is nothing."""

    @abstractmethod
    def status_text(self) -> str:
        """What goes on, for the footer."""

    # Jobs

    @abstractmethod
    def job(self, title: str) -> AbstractContextManager[Callable[[str], None]]:
        """Run a job under a title: the footer shows it, and leaving the program asks first."""

    @abstractmethod
    def running_jobs(self) -> list[str]:
        """What this program runs, one line each."""

    # Messages to a person

    @abstractmethod
    def show_failure(
        self, error: BaseException, title: str = "", retry: Callable[[], object] | None = None
    ) -> None:
        """Show an error as a dialog that can be copied."""

    @abstractmethod
    def showing_failures(self) -> AbstractContextManager[None]:
        """Errors that speak for themselves become a dialog; others pass on."""

    @abstractmethod
    def copy(self, text: str, label: str) -> None:
        """Copy a text out of the terminal, and say what is known about the outcome."""

    # Actions

    @abstractmethod
    def reason_of(self, action_id: str) -> str:
        """Why an action cannot be run now, from a list of all; "" where it can."""

    @abstractmethod
    def has_screen(self, name: str) -> bool:
        """Whether there is a screen of this name."""

    @abstractmethod
    async def begin_others_afresh(self, but: ShownPage) -> None:
        """Build every screen anew but this one and the one that is shown: none keeps a text that went."""

    @abstractmethod
    async def action_open_screen(self, name: str) -> None:
        """Show a screen."""

    @abstractmethod
    async def lead_to(self, destination: Destination) -> None:
        """Show a destination on its screen; esc there comes back to where the person is now."""

    @abstractmethod
    async def action_lead_back(self) -> None:
        """Return to where the person was led from."""

    @abstractmethod
    def back_title(self, page: Any) -> str:
        """Where esc leads from a screen, as the footer says it; "" where nobody led there."""
