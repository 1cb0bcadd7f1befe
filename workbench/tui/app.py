"""The terminal program: opens a workspace, keeps one page per screen, and says how it stands."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from textual import events
from textual.binding import BindingType
from textual.widgets import Input

from workbench import locations
from workbench.errors import WorkbenchError
from workbench.tui import failures, terminal
from workbench.tui.access import Access
from workbench.tui.actions import APP, BASE_ACTIONS, Registry, bindings, screen_action
from workbench.tui.chronicler import Chronicler
from workbench.tui.doors import DOORS, MIGRATION_MODE, PROBLEM_MODE
from workbench.tui.jobs.words import footer_text, percent
from workbench.tui.keymap import Keymap, UnusableKeys, load_keymap
from workbench.tui.needs import Needing
from workbench.tui.page import Page
from workbench.tui.pastes import drawable, take_pastes_as_they_are
from workbench.tui.screens.catalog import installed_pages
from workbench.tui.state import load_state, save_state, state_file
from workbench.tui.watch import (
    Committed,
    JobsMoved,
    LiveAgain,
    LiveLost,
    Opened,
    OpenFailed,
    WriteWaits,
    workspace_opener,
)
from workbench.tui.widgets.frame import HeaderState, NavigationEntry

if TYPE_CHECKING:
    from textual.driver import Driver
    from textual.timer import Timer

    from workbench.workspace import Workspace

SLOW_SECONDS = 2.0
"""After this long the page says that opening takes long, and what a person can do."""

LEAVE_SECONDS = 2.0
"""How long leaving the program waits for its jobs to stop in an orderly way."""

WAIT_TICK_SECONDS = 0.5
"""How often the footer counts on while a write waits."""

KEYMAP_PROBLEMS_SHOWN = 2
"""Problems of the keymap that the toast names; the log file has all."""


def registry_of(pages: tuple[type[Page], ...]) -> Registry:
    """Every action of a program with these screens; a shared one that no screen offers is not there."""
    screens = [screen_action(page.NAME, page.TITLE, page.NUMBER) for page in pages]
    offered = frozenset[str]().union(*(page.OFFERS for page in pages))
    shared = [action for action in BASE_ACTIONS if not action.optional or action.id in offered]
    own = [action for page in pages for action in page.ACTIONS]
    return Registry([*screens, *shared, *own])


def _home_relative(path: Path) -> str:
    try:
        return str(Path("~") / path.relative_to(Path.home()))
    except (ValueError, RuntimeError):
        return str(path)


class WorkbenchApp(Needing, inherit_bindings=False):
    """The program on one workspace.

    `root` need not exist: then the first page says so. `clock` gives the moment that relative ages are
    counted from; `screen` names the first screen (default: the one that was open last, else the first).
    """

    TITLE = "Chronicle Workbench"
    ENABLE_COMMAND_PALETTE = False
    PAGES: ClassVar[tuple[type[Page], ...]] = installed_pages()
    REGISTRY: ClassVar[Registry] = registry_of(PAGES)
    BINDINGS: ClassVar[list[BindingType]] = [*bindings(REGISTRY.of(APP))]

    def __init_subclass__(cls, **options: Any) -> None:
        if "PAGES" in cls.__dict__:
            cls.REGISTRY = registry_of(cls.PAGES)
            cls.BINDINGS = [*bindings(cls.REGISTRY.of(APP))]
            # The keys of screens that it does not have would lead nowhere.
            options.setdefault("inherit_bindings", False)
        super().__init_subclass__(**options)

    def __init__(
        self,
        root: Path,
        read_only: bool = False,
        clock: Callable[[], datetime] | None = None,
        screen: str | None = None,
    ) -> None:
        self.root = root.expanduser().absolute()
        self._state_path = state_file(locations.state_dir(), self.root)
        self.state, state_problem = load_state(self._state_path)
        self.state.root = str(self.root)
        self._first, screen_problem = self._first_screen(screen or self.state.screen)
        # Textual takes the first mode from its class; here it is a matter of the person's state.
        vars(self)["DEFAULT_MODE"] = self._first
        super().__init__()
        self.greet(state_problem)
        self.greet(screen_problem)
        self.animation_level = "none"
        self.wants_read_only = read_only
        self.clock = clock or (lambda: datetime.now(UTC))
        take_pastes_as_they_are(self)
        self.access = Access(self.post_message, self.root, read_only=read_only)
        self._waiting: Timer | None = None
        self.chronicler = Chronicler(self)
        self._begun = False
        self._end_with: int | None = None
        self._jobs: dict[int, str] = {}
        self._job_numbers = count(1)

        self.keymap: Keymap = load_keymap(locations.keymap_file(), self.registry)
        self.greet(self._keymap_summary())
        self.set_keymap(self.keymap.for_textual())
        self.apply_themes()
        for page in self.PAGES:
            self.add_mode(page.NAME, page)
        for name, door in DOORS.items():
            self.add_mode(name, door)

    def _keymap_summary(self) -> str:
        """What was wrong with the user's keymap in one text: the first two problems, all in the log file."""
        problems = self.keymap.problems
        if len(problems) <= KEYMAP_PROBLEMS_SHOWN:
            return "\n".join(problems)
        where = failures.write_log(UnusableKeys("\n".join(problems)))
        shown = [f"{len(problems)} lines of the keymap cannot be used:", *problems[:KEYMAP_PROBLEMS_SHOWN]]
        return "\n".join([*shown, f"and {len(problems) - KEYMAP_PROBLEMS_SHOWN} more. {where}"])

    def _first_screen(self, wanted: str) -> tuple[str, str]:
        """The first screen, and a sentence where it is not the one that is wanted."""
        names = [page.NAME for page in self.PAGES]
        if wanted in names:
            return wanted, ""
        return names[0] if names else PROBLEM_MODE, f"There is no screen “{wanted}”." if wanted else ""

    # Start and end

    async def on_event(self, event: events.Event) -> None:
        """What is pasted into one line is what that line can draw: it does not mark signs that it cannot."""
        if isinstance(event, events.Paste) and isinstance(self.focused, Input):
            event.text = drawable(event.text)
        await super().on_event(event)

    def on_load(self) -> None:
        """The last moment before the terminal is switched: from here on a signal must switch it back."""
        terminal.end_on_signals(self._end)

    def get_driver_class(self) -> type[Driver]:
        """The driver of the platform; where the terminal dies under it the program ends."""
        return terminal.mortal(super().get_driver_class(), self._end)

    def _end(self, return_code: int) -> None:
        """A signal asks the program to end; one that comes while the first screen is made waits for that."""
        if self._begun:
            self.exit(return_code=return_code)
        else:
            self._end_with = return_code

    def on_mount(self) -> None:
        """Say what was wrong with the user's files, and begin to open the workspace."""
        self.call_after_refresh(self._begin)

    def _begin(self) -> None:
        self._begun = True
        if self._end_with is not None:
            self.exit(return_code=self._end_with)
            return
        for text, severity in self.greetings:
            self.notify(text, severity=severity, timeout=12)
        self.greetings.clear()
        self.open_workspace()

    def open_workspace(self) -> None:
        """Open the workspace on a thread of its own; `Opened` or `OpenFailed` follows."""
        self.access.open(self.workspace_opener())
        self.set_timer(SLOW_SECONDS, self._say_slow)
        self._update_doors()

    def workspace_opener(self) -> Callable[[], Workspace]:
        """What opens the workspace, on the watch's thread."""
        return workspace_opener(self.root, read_only=self.wants_read_only)

    def _say_slow(self) -> None:
        page = self.page
        if self.access.live == "opening" and page is not None:
            quit_key = self.keymap.shown("app.quit")
            page.set_notice(
                f"{self.opening_text()}\n\nThis takes long: another program may hold the database, "
                f"or the disk is slow.\n{quit_key} leaves at any time."
            )

    def opening_text(self) -> str:
        """What is going on until the workspace is open."""
        return f"◌ Opening the workspace {_home_relative(self.root)} …"

    def on_unmount(self) -> None:
        """Remember where the person was; end the watch; close the workspace."""
        self.save_state()
        self.chronicler.end(0)
        if self.workspace is not None:
            # What a job has committed stays; that it was stopped should be known, too.
            self.workspace.jobs.leave(LEAVE_SECONDS)
        self.chronicler.end(LEAVE_SECONDS)
        self.access.close()

    def save_state(self) -> None:
        """Write what is remembered for the next run."""
        for page in self.built_pages():
            if page.is_mounted:
                page.state_to_remember()
        save_state(self._state_path, self.state)

    # The workspace

    async def on_opened(self, message: Opened) -> None:
        """The workspace is open: every page begins to read, what is now."""
        self.travel(None)
        self.access.opened(message.workspace)
        self.forget_needs()
        message.workspace.log.database.on_wait = lambda seconds: self.post_message(WriteWaits(seconds))
        if self.current_mode in DOORS:
            await self.switch_mode(self._first)
        message.workspace.jobs.listen(lambda: self.post_message(JobsMoved()))
        self.chronicler.begin(message.workspace)
        for page in self.built_pages():
            page.enter_workspace()
            page.update_header()
        self.count_needs_soon()

    async def on_open_failed(self, message: OpenFailed) -> None:
        """The workspace cannot be opened: one page says so, or offers to migrate it."""
        self.access.refused(message.error)
        if not isinstance(message.error, WorkbenchError):
            self.unexpected.append(message.error)
        await self.show_door(MIGRATION_MODE if self.access.migratable else PROBLEM_MODE)

    async def show_door(self, mode: str) -> None:
        """Show one of the pages that stand before a workspace that is not open."""
        if self.current_mode != mode:
            await self.switch_mode(mode)
        self._update_doors()

    def _update_doors(self) -> None:
        door = self.door
        if door is not None and door.is_mounted:
            door.update()

    async def reopen(self) -> None:
        """Open the workspace anew after it was lost; every screen begins afresh where it was."""
        if self.running_jobs():
            self.notify("A job still runs on the workspace that was lost; stop it first.", severity="warning")
            return
        for dialog in self.open_dialogs():
            dialog.keep_words()
        self.save_state()
        self._first = self.current_mode if self.current_mode not in DOORS else self._first
        await self.show_door(PROBLEM_MODE)
        for page in self.built_pages():
            await self.remove_mode(page.NAME)
            self.add_mode(page.NAME, type(page))
        self.open_workspace()

    def on_committed(self, message: Committed) -> None:
        """Something was committed: the page that is shown asks again, the others when they are shown."""
        if not self.is_running:
            # The program is ending: the parts of a screen go before it, and cannot be drawn any more.
            return
        for page in self.built_pages():
            page.note_commit(shown=page is self.page)
        for dialog in self.open_dialogs():
            dialog.note_commit()
        self.count_needs_again()

    def on_live_lost(self, message: LiveLost) -> None:
        """The database does not answer, or its file is another one: say so once, and in the header."""
        news = self.access.lost(message.error)
        self._update_footer()
        self._update_headers()
        if news and self.access.problem is not None:
            self.show_message(self.access.problem)

    def on_live_again(self, message: LiveAgain) -> None:
        """The database answers again."""
        if self.access.found():
            self.close_stale_message()
            self.notify("The workspace is there again.")
        self._update_footer()
        self._update_headers()

    def on_write_waits(self, message: WriteWaits) -> None:
        """A write of this program waits for another program: the footer says so while it does."""
        self.access.write_waits(message.seconds)
        self._update_footer()
        if self._waiting is None:
            self._waiting = self.set_interval(WAIT_TICK_SECONDS, self._count_wait)

    def _count_wait(self) -> None:
        if not self.access.waiting and self._waiting is not None:
            self._waiting.stop()
            self._waiting = None
        self._update_footer()

    def _update_headers(self) -> None:
        for page in self.built_pages():
            page.update_header()
        # Of several dialogs over a screen the lower ones would go on showing what it was when they came.
        for dialog in self.screen_stack[1:]:
            dialog.refresh()

    # What pages draw from

    def header_state(self) -> HeaderState:
        """What the header says."""
        workspace = self.workspace
        return HeaderState(
            path=_home_relative(self.root),
            schema=workspace.schema_version if workspace is not None else None,
            live=self.access.shown,
            reason=self.access.reason,
            read_only=self.access.read_only,
            past=self.as_of_texts(),
        )

    def navigation_entries(self) -> list[NavigationEntry]:
        """The screens that exist, as the navigation draws them."""
        return [
            NavigationEntry(
                page.NAME,
                page.TITLE,
                page.NUMBER,
                self.keymap.shown(f"screen.{page.NAME}"),
                self.needs_of(page.NAME) or 0,
            )
            for page in self.PAGES
        ]

    def urgent_text(self) -> str:
        """What a person should know before anything else, for the footer; "" where there is nothing."""
        if self.access.live == "lost":
            return f"{self.access.reason}: {self.keymap.shown('page.refresh')} opens it again"
        return self.access.waiting

    def status_text(self) -> str:
        """What goes on, for the footer."""
        if self.workspace is None:
            return footer_text((), list(self._jobs.values()))
        return footer_text(self.workspace.jobs.live(), list(self._jobs.values()))

    # Jobs

    @contextmanager
    def job(self, title: str) -> Iterator[Callable[[str], None]]:
        """Run a job under a title: the footer shows it, and leaving the program asks first.

        Yields a function that changes the title (to show progress); call it on the UI thread only.
        """
        number = next(self._job_numbers)

        def say(text: str) -> None:
            self._jobs[number] = text
            self._update_footer()

        say(title)
        try:
            yield say
        finally:
            del self._jobs[number]
            self._update_footer()

    def running_jobs(self) -> list[str]:
        """What this program runs, one line each."""
        live = () if self.workspace is None else self.workspace.jobs.live()
        return [*(f"{row.title} {percent(row)}".rstrip() for row in live), *self._jobs.values()]

    def on_jobs_moved(self, message: JobsMoved) -> None:
        """A job of this program began, moved or ended."""
        self._update_footer()
        for page in self.built_pages():
            page.jobs_moved()

    def _update_footer(self) -> None:
        if self.page is not None:
            self.page.update_footer()

    # Messages to a person
