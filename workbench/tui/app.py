"""The terminal program: opens a workspace, keeps one page per screen, and is the one funnel for errors."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from rich.text import Text
from textual.app import App
from textual.binding import BindingType
from textual.worker import WorkerFailed

from workbench import locations
from workbench.data import DataMissing, data_folder
from workbench.errors import WorkbenchError
from workbench.tui import failures, terminal
from workbench.tui.access import Access
from workbench.tui.actions import APP, BASE_ACTIONS, Registry, bindings, screen_action
from workbench.tui.file_fate import WorkspaceLost
from workbench.tui.jobs.words import footer_text, percent
from workbench.tui.keymap import Keymap, UnusableKeys, load_keymap
from workbench.tui.migration_page import MigrationPage
from workbench.tui.page import Page
from workbench.tui.present import plain_lines, visible
from workbench.tui.problem_page import ProblemPage
from workbench.tui.screens.catalog import installed_pages
from workbench.tui.state import load_state, save_state, state_file
from workbench.tui.themes import DEFAULT_THEME, ThemeFile, choose_theme, load_themes, try_theme, variables_of
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
    from textual.message import Message
    from textual.notifications import SeverityLevel
    from textual.timer import Timer
    from textual.worker import Worker

    from workbench.workspace import Workspace

SLOW_SECONDS = 2.0
"""After this long the page says that opening takes long, and what a person can do."""

PROBLEM_MODE = "problem"
MIGRATION_MODE = "migration"
DOORS: dict[str, type[ProblemPage | MigrationPage]] = {
    PROBLEM_MODE: ProblemPage,
    MIGRATION_MODE: MigrationPage,
}
"""The pages that stand before a workspace that is not open."""

LEAVE_SECONDS = 2.0
"""How long leaving the program waits for its jobs to stop in an orderly way."""

WAIT_TICK_SECONDS = 0.5
"""How often the footer counts on while a write waits."""

KEYMAP_PROBLEMS_SHOWN = 2
"""Problems of the keymap that the toast names; the log file has all."""


def registry_of(pages: tuple[type[Page], ...]) -> Registry:
    """Every action of a program with these screens; a shared one that no screen offers is not there."""
    screens = [screen_action(page.NAME, page.TITLE, page.NUMBER) for page in pages]
    # The page of a workspace that cannot be opened has a copy of its own.
    offered = frozenset({"page.copy"}).union(*(page.OFFERS for page in pages))
    shared = [action for action in BASE_ACTIONS if not action.optional or action.id in offered]
    own = [action for page in pages for action in page.ACTIONS]
    return Registry([*screens, *shared, *own])


def _home_relative(path: Path) -> str:
    try:
        return str(Path("~") / path.relative_to(Path.home()))
    except (ValueError, RuntimeError):
        return str(path)


class WorkbenchApp(App[None], inherit_bindings=False):
    """The program on one workspace.

    `root` need not exist: then the first page says so. `clock` gives the moment that relative ages are
    counted from; `screen` names the first screen (default: the one that was open last, else the first).
    """

    TITLE = "Chronicle Workbench"
    CSS_PATH: ClassVar[Path] = Path(__file__).with_name("page.tcss")
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
        self._greetings: list[tuple[str, SeverityLevel]] = []
        self.root = root.expanduser().absolute()
        self._state_path = state_file(locations.state_dir(), self.root)
        self.state, problem = load_state(self._state_path)
        self._greet(problem)
        self.state.root = str(self.root)
        self._first = self._first_screen(screen or self.state.screen)
        # Textual takes the first mode from its class; here it is a matter of the person's state.
        vars(self)["DEFAULT_MODE"] = self._first
        super().__init__()
        self.animation_level = "none"
        self.wants_read_only = read_only
        self.clock = clock or (lambda: datetime.now(UTC))
        self.access = Access(self.post_message, read_only=read_only)
        self.takes_mouse = True
        self.unexpected: list[BaseException] = []
        self._shown_error: BaseException | None = None
        self._waiting: Timer | None = None
        self._begun = False
        self._end_with: int | None = None
        self._jobs: dict[int, str] = {}
        self._job_numbers = count(1)

        self.keymap: Keymap = load_keymap(locations.keymap_file(), self.registry)
        self._greet(self._keymap_summary())
        self.set_keymap(self.keymap.for_textual())
        self._shipped_themes: Path | None = None
        self._load_themes()
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

    def _first_screen(self, wanted: str) -> str:
        names = [page.NAME for page in self.PAGES]
        if wanted and wanted not in names:
            self._greet(f"There is no screen “{wanted}”.")
        return wanted if wanted in names else (names[0] if names else PROBLEM_MODE)

    # Start and end

    def on_load(self) -> None:
        """The last moment before the terminal is switched: from here on a signal must switch it back."""
        terminal.end_on_signals(self._end)

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
        for text, severity in self._greetings:
            self.notify(text, severity=severity, timeout=12)
        self._greetings.clear()
        self.open_workspace()

    @property
    def workspace(self) -> Workspace | None:
        """The workspace, once it is open."""
        return self.access.workspace

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
        if self.workspace is not None:
            # What a job has committed stays; that it was stopped should be known, too.
            self.workspace.jobs.leave(LEAVE_SECONDS)
        self.access.close()

    def save_state(self) -> None:
        """Write what is remembered for the next run."""
        for page in self.built_pages():
            if page.is_mounted:
                page.state_to_remember()
        save_state(self._state_path, self.state)

    # The workspace

    async def on_opened(self, message: Opened) -> None:
        """The workspace is open: every page begins to read."""
        self.access.opened(message.workspace)
        message.workspace.log.database.on_wait = lambda seconds: self.post_message(WriteWaits(seconds))
        if self.current_mode in DOORS:
            await self.switch_mode(self._first)
        message.workspace.jobs.listen(lambda: self.post_message(JobsMoved()))
        for page in self.built_pages():
            page.enter_workspace()
            page.update_header()

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
        if self.current_mode in DOORS:
            door = self.screen_stack[0]
            if isinstance(door, ProblemPage | MigrationPage) and door.is_mounted:
                door.update()

    async def reopen(self) -> None:
        """Open the workspace anew after it was lost; every screen begins afresh where it was."""
        if self.running_jobs():
            self.notify("A job still runs on the workspace that was lost; stop it first.", severity="warning")
            return
        self.save_state()
        self._first = self.current_mode if self.current_mode not in DOORS else self._first
        await self.show_door(PROBLEM_MODE)
        for page in self.built_pages():
            await self.remove_mode(page.NAME)
            self.add_mode(page.NAME, type(page))
        self.open_workspace()

    @property
    def problem(self) -> failures.Failure | None:
        """Why the workspace could not be opened, or was lost."""
        return self.access.problem

    def on_committed(self, message: Committed) -> None:
        """Something was committed: the page that is shown asks again, the others when they are shown."""
        for page in self.built_pages():
            page.note_commit(shown=page is self.page)

    def on_live_lost(self, message: LiveLost) -> None:
        """The database does not answer, or its file is another one: say so once, and in the header."""
        news = self.access.lost(message.error)
        self._update_headers()
        self._update_footer()
        if news and self.access.problem is not None:
            self._show_message(self.access.problem)

    def on_live_again(self, message: LiveAgain) -> None:
        """The database answers again."""
        if self.access.found():
            self._close_stale_message()
            self.notify("The workspace is there again.")
        self._update_headers()
        self._update_footer()

    def _close_stale_message(self) -> None:
        from workbench.tui.dialogs.message import MessageDialog

        screen = self.screen
        if isinstance(screen, MessageDialog) and screen.failure.code == WorkspaceLost.code:
            screen.dismiss(None)

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

    # What pages draw from

    @property
    def registry(self) -> Registry:
        """Every action of the program."""
        return self.REGISTRY

    @property
    def page(self) -> Page | None:
        """The screen that is shown, under any dialog."""
        stack = self.screen_stack
        return stack[0] if stack and isinstance(stack[0], Page) else None

    def built_pages(self) -> list[Page]:
        """The screens that have been shown at least once."""
        return [stack[0] for stack in self._screen_stacks.values() if stack and isinstance(stack[0], Page)]

    def header_state(self) -> HeaderState:
        """What the header says."""
        workspace = self.workspace
        return HeaderState(
            path=_home_relative(self.root),
            schema=workspace.schema_version if workspace is not None else None,
            live=self.access.shown,
            reason=self.access.reason,
            read_only=self.access.read_only,
        )

    def navigation_entries(self) -> list[NavigationEntry]:
        """The screens that exist, as the navigation draws them."""
        return [
            NavigationEntry(page.NAME, page.TITLE, page.NUMBER, self.keymap.shown(f"screen.{page.NAME}"))
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
        super().notify(message, title=title, severity=severity, timeout=timeout, markup=markup)

    def _greet(self, text: str, severity: SeverityLevel = "warning") -> None:
        if text:
            self._greetings.append((text, severity))

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
        elif not error.retryable:
            retry = None
        if self.access.swallows(error):
            self.notify(self.urgent_text(), severity="warning")
            return
        self._show_message(failures.failure_of(error, title), retry)

    def _show_message(self, failure: failures.Failure, retry: Callable[[], object] | None = None) -> None:
        from workbench.tui.dialogs.message import MessageDialog

        def again(wanted: str | None) -> None:
            if wanted == "again" and retry is not None:
                retry()

        for screen in self.screen_stack:
            if isinstance(screen, MessageDialog) and failures.repeats(failure, screen.failure):
                if failure.code == WorkspaceLost.code:
                    screen.show(failure)
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
        self._return_code = 1
        if self._exception is None:
            self._exception = error
            self._exception_event.set()
        failure = failures.failure_of(error)
        self._exit_renderables.append(
            Text(f"workbench: an unexpected {type(error).__name__} ended the program. {failure.hint}")
        )
        self._close_messages_no_wait()

    # Themes

    def read_themes(self) -> tuple[dict[str, ThemeFile], list[str]]:
        """The themes by name, shipped and the user's, and a sentence for each file that is none."""
        folders = [locations.themes_dir()]
        try:
            self._shipped_themes = data_folder("themes")
        except DataMissing as error:
            self._greet(error.message)
        else:
            folders.insert(0, self._shipped_themes)
        return load_themes(folders)

    def _load_themes(self) -> None:
        self.themes, problems = self.read_themes()
        for problem in problems:
            self._greet(problem)
        for theme in self.themes.values():
            self.register_theme(theme.theme)
        name, problem = choose_theme(self.state.theme or DEFAULT_THEME, self.themes, no_color=self.no_color)
        self._greet(problem)
        # Shipped themes are known to work; trying one costs a moment of every start.
        if name in self.themes and not self._is_shipped(self.themes[name]):
            name, problem = self._applicable(name)
            self._greet(problem)
        self.theme = name
        self.stylesheet.set_variables(self.get_css_variables())

    def _is_shipped(self, theme: ThemeFile) -> bool:
        return theme.path is not None and theme.path.parent == self._shipped_themes

    def _applicable(self, name: str) -> tuple[str, str]:
        """The theme itself where it can be applied, else the default, with the sentence that says so."""
        error = try_theme(self.themes[name].theme, self.get_theme_variable_defaults(), self.CSS_PATH)
        if error is None:
            return name, ""
        if self.state.theme == name:
            self.state.theme = ""
        fallback, _ = choose_theme(DEFAULT_THEME, self.themes, no_color=self.no_color)
        fallback = fallback if fallback != name else "textual-dark"
        where = failures.write_log(error)
        return fallback, f"The theme “{name}” cannot be applied; using “{fallback}”. {where}"

    def get_theme_variable_defaults(self) -> dict[str, str]:
        """Our tokens for a theme that does not have them: the style sheet must always be readable."""
        return variables_of(_FALLBACK_TOKENS)

    def use_theme(self, name: str) -> None:
        """Change the theme and remember it."""
        chosen, problem = choose_theme(name, self.themes, no_color=self.no_color)
        if problem:
            self.notify(problem, severity="warning")
            return
        self.theme, problem = self._applicable(chosen)
        if problem:
            self.notify(problem, severity="warning")
        else:
            self.state.theme = chosen
        self.save_state()

    # Actions

    async def action_perform(self, action_id: str) -> None:
        """Run an action of the registry where it lives, or say why it cannot run now."""
        action = self.registry[action_id]
        reason = self.reason_of(action_id)
        if reason:
            self.notify(f"“{action.title}” cannot run now: {reason}.", severity="warning")
            return
        page = self.page
        if action.context == APP or page is None:
            await self.run_action(action.run, self)
        else:
            await self.run_action(action.run, page.node_of(action.context))

    def reason_of(self, action_id: str) -> str:
        """Why an action cannot be run now, from a list of all; "" where it can."""
        action = self.registry[action_id]
        page = self.page
        if page is None:
            return action.reason(self) if action.context == APP else "no workspace is open"
        if action.optional and action_id not in page.OFFERS:
            return "this screen does not have it"
        return self._unreachable(page, action.context) or action.reason(self)

    def _unreachable(self, page: Page, context: str) -> str:
        for other in self.PAGES:
            if context == other.NAME and other.NAME != page.NAME:
                return f"it belongs to the {other.TITLE} screen"
        return ""

    async def action_open_screen(self, name: str) -> None:
        """Show a screen."""
        if self.current_mode in DOORS:
            self.notify("No workspace is open.", severity="warning")
            return
        self.state.screen = name
        await self.switch_mode(name)
        self.save_state()

    def action_help(self) -> None:
        """Show what can be done here."""
        from workbench.tui.dialogs.help import HelpDialog, help_entries

        self.push_screen(HelpDialog(help_entries(self)), self._run_chosen)

    def action_palette(self) -> None:
        """Find any action by name."""
        from workbench.tui.dialogs.palette import palette_dialog

        self.push_screen(palette_dialog(self), self._run_chosen)

    async def _run_chosen(self, action_id: str | None) -> None:
        if action_id is not None:
            await self.action_perform(action_id)

    def action_choose_theme(self) -> None:
        """Offer the themes."""
        from workbench.tui.dialogs.choose import Choice, ChooseDialog

        choices = [
            Choice(theme.name, theme.title, "in use" if theme.name == self.theme else "")
            for theme in self.themes.values()
        ]

        def use(name: str | None) -> None:
            if name is not None:
                self.use_theme(name)

        self.push_screen(ChooseDialog("Theme", choices, selected=self.theme), use)

    def action_toggle_mouse(self) -> None:
        """Hand the mouse to the terminal, or take it back."""
        self.takes_mouse = not self.takes_mouse
        terminal.capture_mouse_reports(self, self.takes_mouse)
        key = self.keymap.shown("app.mouse")
        self.notify(
            "The mouse works in the program again."
            if self.takes_mouse
            else f"The mouse belongs to the terminal: select text its way. {key} takes it back."
        )

    def action_leave(self) -> None:
        """Leave the program; asks first while a job runs."""
        jobs = self.running_jobs()
        if not jobs:
            self.exit()
            return
        from workbench.tui.dialogs.confirm import ConfirmDialog

        running = "\n".join(jobs)

        def leave(sure: bool | None) -> None:
            if sure:
                self.exit()

        self.push_screen(ConfirmDialog("Leave while this runs?", running, yes="leave", no="stay"), leave)

    def action_help_quit(self) -> None:
        """Say how to leave, to a person who pressed what leaves other programs."""
        self.notify(f"{self.keymap.shown('app.quit')} leaves the program.")

    def copy(self, text: str, label: str) -> None:
        """Copy a text out of the terminal, and say what is known about the outcome."""
        from workbench.tui.clipboard import copy_text

        if not text:
            self.notify(f"Nothing to copy: {label} is empty.", severity="warning")
            return
        self.notify(copy_text(self, text, label).sentence, timeout=8)


_FALLBACK_TOKENS = {
    "ground": "#15161c",
    "raised": "#191c26",
    "line": "#2c303d",
    "cursor": "#232937",
    "cursor_blurred": "#1d212c",
    "ink": "#e6e8ef",
    "body": "#b9bfcd",
    "quiet": "#959cae",
    "faint": "#8c95a8",
    "accent": "#7aa2f7",
    "attention": "#e0af68",
    "broken": "#f7768e",
    "kept": "#9ece6a",
}
