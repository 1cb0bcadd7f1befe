"""The base of every screen: navigation, a list, the detail of its row, and the lines around them.

A screen subclasses `Page`, names itself, contributes its actions and fills two panes:

    class SessionsPage(Page):
        NAME, TITLE, NUMBER = "sessions", "Sessions", 2
        ACTIONS = (Action("sessions.import", …),)
        OFFERS = frozenset({"page.filter", "page.goto", "page.copy"})

        def compose_list(self) -> ComposeResult: ...
        def compose_detail(self) -> ComposeResult: ...
        def on_workspace_ready(self, workspace: Workspace) -> None: ...
        def on_committed(self) -> None: ...

Three forms by size: from 120 columns on the navigation is a column; from 80 it is a line; below 80
columns or 24 rows list and detail are two pages, entered with enter and left with esc.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from typing import TYPE_CHECKING, Any, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingsMap, BindingType
from textual.containers import Vertical
from textual.css.query import NoMatches
from textual.message import Message
from textual.widgets import Static

from workbench.errors import WorkbenchError
from workbench.tui.actions import APP, LIST, PAGE, PANE, Action, bindings
from workbench.tui.actions import PAGE_ACTIONS as SHARED_ACTIONS
from workbench.tui.asking_page import Asking
from workbench.tui.footer_items import footer_items
from workbench.tui.live_keys import ListKeys, PaneKeys
from workbench.tui.present import literal_lines
from workbench.tui.sizes import LEAST
from workbench.tui.widgets.frame import FooterLine, HeaderLine, Navigation
from workbench.tui.widgets.list_bar import ListBar
from workbench.tui.widgets.list_messages import Failed, Highlighted, Opened, StatusChanged
from workbench.tui.widgets.virtual_list import VirtualList

if TYPE_CHECKING:
    from textual.worker import Worker

    from workbench.tui.destinations import Destination
    from workbench.tui.moments import AsOf
    from workbench.tui.state import ScreenState
    from workbench.workspace import Workspace


class Page(Asking, inherit_bindings=False):
    """One screen of the program. Built once and kept; hidden while another is shown."""

    NAME: ClassVar[str] = ""
    """The name in `--screen`, in action ids and in the remembered state."""
    TITLE: ClassVar[str] = ""
    NUMBER: ClassVar[int] = 0
    """The digit that opens it."""
    ACTIONS: ClassVar[tuple[Action, ...]] = ()
    """What only this screen can do; context is `NAME`, `LIST` or `PANE`."""
    OFFERS: ClassVar[frozenset[str]] = frozenset()
    """The ids of the optional shared actions that this screen has."""
    ON_SELECTION: ClassVar[tuple[tuple[str, str], ...]] = ()
    """What the footer names first while rows are selected: actions, each with a title; `{}` is how many."""
    COUNTS_NEEDS: ClassVar[bool] = False
    """Whether something may wait for a person here: what `count_needs` counts."""
    FOLLOWS_AS_OF: ClassVar[bool] = False
    """Whether it shows the past while `app.as_of` is set; a screen that does not is about now only."""
    BINDINGS: ClassVar[list[BindingType]] = [
        *bindings(SHARED_ACTIONS),
        Binding("ctrl+c,super+c", "screen.copy_text", "Copy selected text", show=False),
    ]

    def __init_subclass__(cls, **options: Any) -> None:
        if cls.__dict__.get("ACTIONS"):
            own = [action for action in cls.ACTIONS if action.context not in (LIST, PANE)]
            cls.BINDINGS = [*bindings(own), *cls.__dict__.get("BINDINGS", ())]
        super().__init_subclass__(**options)

    def __init__(self) -> None:
        super().__init__(f"page-{self.NAME}")
        self._stale = False
        self._moment_read: AsOf | None = None
        """The moment that this screen shows: another than the program's where it was hidden meanwhile."""
        self._status = ""
        self._footer_selected = 0
        """Rows that were selected when the footer was drawn."""
        self._main_list: VirtualList[Any] | None = None
        # What no screen of the program offers has no key, so that one can be given another meaning.
        registry = self.app.registry
        self._bindings = BindingsMap(
            binding for _, binding in self._bindings if binding.id is None or binding.id in registry
        )

    # What a screen fills in

    def compose_list(self) -> ComposeResult:
        """The widgets of the list pane, under its filter line."""
        yield from ()

    def compose_detail(self) -> ComposeResult:
        """The widgets of the detail pane."""
        yield from ()

    def on_workspace_ready(self, workspace: Workspace) -> None:
        """The workspace is open: begin to read. Called once."""

    def on_committed(self) -> None:
        """Something was committed to the workspace, maybe by another process: ask again.

        Called while the screen is shown, or when it is shown again after having missed some.
        """

    def on_as_of_changed(self) -> None:
        """The program shows another moment, `app.as_of` (None: now): read what was known then.

        Called for a screen with `FOLLOWS_AS_OF` while it is shown, or when it is shown again; the cursor
        should stay where it is as near as can be. While a moment is set no commit is told: the past stays
        what it was.
        """

    def moment_here(self) -> str:
        """The moment under the cursor as time travel takes it, such as a position; "" for none."""
        return ""

    def arrive(self, destination: Destination) -> None:
        """Show a destination that the person was led to (`app.lead_to`); called once the screen is shown."""

    def bookmark(self) -> Any:
        """What `return_to` needs to show this very place again; None where nothing moves meanwhile.

        A screen is kept while another is shown, with row, tab and scroll: only what a later `arrive` on
        the same screen changes has to be remembered.
        """
        return None

    def return_to(self, bookmark: Any) -> None:
        """Show a place again that `bookmark` remembered."""

    def ways_ended(self) -> None:
        """Nobody returns to where the person was led on this screen: put back what gave way for it."""

    def jobs_moved(self) -> None:
        """A job of this program began, moved or ended; at most some ten times a second."""

    def on_filter(self, text: str) -> None:
        """The filter is now `text`; called at each keystroke."""

    @staticmethod
    def count_needs(workspace: Workspace, as_of: int | None) -> int:
        """How much waits for a person here, as of a position or now; called on a thread."""
        return 0

    def needs_counted(self) -> None:
        """What waits for a person here was counted anew: `app.needs_of`."""

    def leave_transient(self) -> bool:
        """Leave the innermost transient state of this screen, here a selection; whether there was one."""
        rows = self.rows
        return rows is not None and rows.cancel_selection()

    def restore(self, state: ScreenState) -> None:
        """Take up what was remembered; called once, before `on_workspace_ready`."""

    def remember(self, state: ScreenState) -> None:
        """Put what should be remembered into `state`."""

    # What a screen may call

    def set_count(self, text: str) -> None:
        """Show count and position of the list, such as `1–9 of 214`."""
        self.query_one("#list-bar", ListBar).set_count(text)

    def set_status(self, text: str) -> None:
        """Show at the right of the footer what goes on; empty clears it."""
        if text != self._status:
            self._status = text
            self.update_footer()

    def set_filter(self, text: str) -> None:
        """Show this filter as the one that is set."""
        self.query_one("#list-bar", ListBar).set_filter(text)

    @property
    def filter_text(self) -> str:
        """The filter that is set."""
        return self.query_one("#list-bar", ListBar).filter_text

    @property
    def rows(self) -> VirtualList[Any] | None:
        """The list of the list pane, if the screen has one."""
        # Every action of the footer asks for it at every move: it is looked for once.
        found = self._main_list
        if found is None or not found.is_attached:
            found = next(iter(self.query("#list-content VirtualList").results(VirtualList)), None)
            self._main_list = found
        return found

    @property
    def cursor_row(self) -> Any:
        """The row under the list's cursor; None too where the parts of the screen are not there yet."""
        rows = self.rows
        return None if rows is None else rows.cursor_row

    # The frame

    def compose(self) -> ComposeResult:
        self._apply_form()
        if self.app.workspace is None:
            # Before there are parts whose styles would have to be looked up again.
            self.add_class("-opening")
        entries = self.app.navigation_entries()
        yield HeaderLine(id="header")
        yield Navigation(entries, self.NAME, column=False, css_id="navigation-line")
        with PaneKeys(id="body"), ListKeys(id="panes"):
            yield Navigation(entries, self.NAME, column=True, css_id="navigation-column")
            with Vertical(id="list-pane"):
                yield ListBar(self._filter_key(), css_id="list-bar")
                yield Static(id="now-only", markup=False)
                yield Static(id="notice", markup=False)
                with Vertical(id="list-content"):
                    yield from self.compose_list()
            with Vertical(id="detail-pane"):
                yield from self.compose_detail()
        yield Static(
            f"The program needs {LEAST[0]} columns and {LEAST[1]} rows.", id="too-small", markup=False
        )
        yield FooterLine(id="footer")

    def on_mount(self) -> None:
        """Show the frame; take up the remembered state, and the workspace if it is open already."""
        state = self.app.state.of(self.NAME)
        self._set_share(state.share or self.LIST_SHARE)
        self.query_one(HeaderLine).show(self.app.header_state())
        if self.app.workspace is None:
            self.set_notice(self.app.opening_text())
        else:
            self.remove_class("-opening")
        self.restore(state)
        self.enter_workspace()
        self._say_now_only()
        self.update_footer()

    def enter_workspace(self) -> None:
        """Hand the open workspace to the screen; does nothing before it is open or after the first time."""
        workspace = self.app.workspace
        if workspace is None or self._ready or not self.is_mounted:
            return
        self._ready = True
        self._moment_read = self.app.as_of
        self.remove_class("-opening")
        self._focus_in("#list-content")
        self.on_workspace_ready(workspace)
        self.update_footer()

    def set_notice(self, text: str) -> None:
        """What the list pane says while the workspace is being opened."""
        self.query_one("#notice", Static).update(literal_lines(text))

    def update_header(self) -> None:
        """Draw the header from the program's state."""
        self.query_one(HeaderLine).show(self.app.header_state())

    def update_footer(self) -> None:
        """Draw the footer from the registry, the live keys and what has the focus."""
        # A clock may ask between the mounting of a screen and that of its parts.
        if not self.is_mounted or not self.query("#list-bar"):
            return
        editing = self.query_one("#list-bar", ListBar).editing
        in_detail = self.focused_in_detail() or (self._showing_detail and self.has_class("-narrow"))
        selected = self._footer_selected = 0 if self.rows is None else self.rows.status.selected
        items = footer_items(
            self.app,
            self.reachable_actions(),
            selected,
            self.ON_SELECTION,
            self.app.back_title(self),
            editing=editing,
            in_detail=in_detail,
        )
        urgent = self.app.urgent_text()
        self.query_one(FooterLine).show(
            items, urgent or self._status or self.app.status_text(), urgent=bool(urgent)
        )

    def update_navigation(self) -> None:
        """Draw the navigation from the program's state."""
        entries = self.app.navigation_entries()
        for navigation in self.query(Navigation):
            navigation.show(entries)

    def reachable_actions(self) -> list[Action]:
        """The actions that can be reached from where the focus is, nearest first."""
        focus = self.focused_context()
        order = {context: rank for rank, context in enumerate((focus, self.NAME, PAGE, APP)) if context}
        reachable = [
            action
            for action in self.app.registry
            if action.context in order and (not action.optional or action.id in self.OFFERS)
        ]
        return sorted(reachable, key=lambda action: order[action.context])

    def on_screen_resume(self) -> None:
        """Catch up with what happened while another screen was shown."""
        self._apply_form()
        if self.is_mounted:
            self.enter_workspace()
            self.update_header()
            self.update_navigation()
            self.update_footer()
            self._follow_moment()
            if self._stale and self._ready and not self._in_past:
                self._stale = False
                self.on_committed()

    def note_commit(self, *, shown: bool) -> None:
        """Something was committed: ask again now, or when the screen is shown again."""
        if not self._ready:
            return
        if shown and not self._in_past:
            self.on_committed()
        else:
            self._stale = True

    def note_as_of(self) -> None:
        """The program shows another moment: follow it now, or when the screen is shown again."""
        if not self.is_mounted:
            return
        self._say_now_only()
        if not self._ready or not self.FOLLOWS_AS_OF:
            return
        if self.app.page is self:
            self._follow_moment()
            if self._stale and not self._in_past:
                self._stale = False
                self.on_committed()

    def _follow_moment(self) -> None:
        """Show the program's moment; who went and came back while this was hidden finds it as it was."""
        if self._ready and self.FOLLOWS_AS_OF and self._moment_read != self.app.as_of:
            self._moment_read = self.app.as_of
            self.on_as_of_changed()

    @property
    def _in_past(self) -> bool:
        return self.FOLLOWS_AS_OF and self.app.as_of is not None

    def _say_now_only(self) -> None:
        said = self.app.as_of is not None and not self.FOLLOWS_AS_OF
        self.set_class(said, "-now-only")
        if said:
            key = self.app.keymap.shown("app.now")
            text = f"▲ About now only: {self.TITLE} show no past. {key} comes back to now."
            self.query_one("#now-only", Static).update(literal_lines(text))

    # Actions that every screen has

    def action_back(self) -> None:
        """Leave the innermost transient state."""
        bar = self.query_one("#list-bar", ListBar)
        if bar.editing:
            bar.close()
            self.update_footer()
            self._focus_in("#list-content")
        elif self.leave_transient():
            pass
        elif self.app.back_title(self):
            self.run_worker(self.app.action_lead_back(), exit_on_error=False)
        elif self.focused_in_detail() or self._showing_detail:
            self.show_list()
        elif bar.filter_text:
            bar.set_filter("")
            self.on_filter("")
        elif self.has_class("-only-list"):
            self._set_share(self.LIST_SHARE)

    async def action_refresh_page(self) -> None:
        """Read the screen again; open the workspace again where it was lost."""
        if self.app.access.live == "lost":
            await self.app.reopen()
        elif self._ready:
            self.on_committed()

    async def action_filter(self) -> None:
        """Open the filter of the list."""
        if self._showing_detail:
            self.show_list()
        await self.query_one("#list-bar", ListBar).open()

    def action_select(self) -> None:
        """Select the row under the cursor, or drop it from the selection."""
        node = self.node_of(LIST)
        if isinstance(node, VirtualList):
            node.toggle_select()

    def action_select_range(self) -> None:
        """Start a selection that moves with the cursor, or keep it."""
        node = self.node_of(LIST)
        if isinstance(node, VirtualList):
            node.toggle_range()

    # Messages

    @on(StatusChanged)
    def _list_moved(self, message: StatusChanged) -> None:
        """Show where the list stands."""
        if message.list is self.rows:
            self.set_count(message.status.text())
            if message.status.selected != self._footer_selected:
                self.update_footer()

    @on(Highlighted)
    def _row_changed(self, message: Highlighted) -> None:
        # What can be done may depend on the row.
        self.update_footer()

    @on(Failed)
    def _list_failed(self, message: Failed) -> None:
        """A list could not be read: say so, and go on."""
        self.app.show_failure(message.error)

    @on(Opened)
    def _list_opened(self, message: Opened) -> None:
        """Go from the list into the detail."""
        if message.list is self.rows:
            self.show_detail()

    def on_list_bar_filter_changed(self, message: ListBar.FilterChanged) -> None:
        """Hand the filter to the screen."""
        message.stop()
        self.on_filter(message.text)

    def on_list_bar_filter_done(self, message: ListBar.FilterDone) -> None:
        """The list has the keys again."""
        message.stop()
        self._focus_in("#list-content")

    async def on_navigation_chosen(self, message: Navigation.Chosen) -> None:
        """Open the screen that was clicked."""
        message.stop()
        await self.app.action_open_screen(message.name)

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        """A worker of this screen failed: say so, and go on."""
        if event.worker.error is not None and event.state.name == "ERROR":
            self.app.show_failure(event.worker.error)

    async def _dispatch_message(self, message: Message) -> None:
        # Textual ends the whole program for an error in a handler. One that speaks for itself is shown.
        try:
            await super()._dispatch_message(message)
        except WorkbenchError as error:
            self.app.show_failure(error)

    def _filter_key(self) -> str:
        return self.app.keymap.shown("page.filter") if "page.filter" in self.OFFERS else ""

    def on_unmount(self) -> None:
        """The program ends: this is the last moment to say where the person was."""
        # The widgets are gone by now; a screen that would ask them has said it before.
        with suppress(NoMatches):
            self.state_to_remember()

    def state_to_remember(self) -> None:
        """Put the screen's state where it is saved from."""
        state = self.app.state.of(self.NAME)
        state.share = 0 if self._share == self.LIST_SHARE else self._share
        self.remember(state)


def pages_in_order(pages: Iterable[type[Page]]) -> tuple[type[Page], ...]:
    """Screens as the navigation lists them: 1 to 9, then 0."""
    return tuple(sorted(pages, key=lambda page: page.NUMBER or 10))
