"""The detail of a session: what the screen and the person ask of its sides."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from textual import on

from workbench.log.times import Clock
from workbench.tui.document import Block
from workbench.tui.present import number
from workbench.tui.sessions.context_window import step
from workbench.tui.sessions.detail_messages import Moved, Reading
from workbench.tui.sessions.detail_sides import SIDES, SessionSides
from workbench.tui.sessions.entry_source import Entry
from workbench.tui.sessions.find_bar import FindBar, Way
from workbench.tui.sessions.switch_bar import SwitchBar
from workbench.tui.widgets.list_messages import Highlighted, NewRows, Opened
from workbench.tui.widgets.tab_line import TabLine

if TYPE_CHECKING:
    from workbench.workspace import Workspace
    from workbench.workspace.rows import SessionRow

_PLACES_KEPT = 200


class SessionDetail(SessionSides):
    """Shows one session; stays where it is while the session grows."""

    # What the screen asks

    def open_workspace(self, workspace: Workspace, now: Clock, as_of: int | None = None) -> None:
        """Read from this workspace from now on, as of a position; ages are counted from `now`."""
        self._workspace, self._now, self._as_of = workspace, now, as_of
        self._zone = ZoneInfo(workspace.timezone)

    def travel(self, as_of: int | None) -> None:
        """Show sessions as they were at this position from now on; None: as they are.

        The next `show` draws the session afresh, the cursor on the entry where it was, or before it.
        """
        self._as_of = as_of
        at = self.entries.cursor_key
        if self.session is not None and isinstance(at, int):
            self.places[self.session.id] = at
        self.show(None)

    def renew_ages(self) -> None:
        """The list's ages were renewed: those here are, too, unless somebody selects text among them."""
        if self._body() is self._about_pane and self._about_pane.text_selection is None:
            self._show_about()

    @property
    def looked(self) -> bool:
        """Whether the session's entries were counted."""
        return self._breakdown is not None

    @property
    def entry(self) -> Entry | None:
        """The entry under the cursor, or the one that is open."""
        return self.entries.cursor_row if self.side == "acta" and self.session is not None else None

    def show(self, row: SessionRow | None) -> None:
        """Show this session; the same one again, with news, stays where it is."""
        before = self.session
        self.session = row
        if row is None or before is None or before.id != row.id:
            self.close_reader(focus=False)
            self._breakdown, self._gone, self._window, self._new = None, None, None, ""
            self._rewound, self._lineage, self._going = (), (), None
            if row is not None:
                self.entries.renderer = self._renderer()
            self._set_entries(None if row is None else self.places.get(row.id))
            self._show_side(focus=self._has_keys())
        if row != before:
            self._look()
            self._read_side()
        self._draw()

    def show_guidance(self, blocks: Sequence[Block]) -> None:
        """Show this as long as no session is open."""
        self._guidance = blocks
        if self.session is None:
            self._show_about()

    def committed(self) -> None:
        """Something was committed: ask again, moving nothing."""
        if self.session is not None:
            self.entries.refresh_live()
            self.finder.look_again()
            self._look()
            if self.side == "window":
                self._read_window()

    def turn(self, direction: int) -> None:
        """Show the next side, or (negative) the previous one."""
        names = [tab.name for tab in SIDES]
        self.choose_side(names[(names.index(self.side) + direction) % len(names)])

    def choose_side(self, name: str) -> None:
        """Show a side by name; an unknown one changes nothing."""
        for side in ("acta", "window", "about"):
            if side == name:
                self.side = side
        self.close_reader(focus=False)
        self._read_side()
        self._show_side(focus=self._has_keys())
        self._draw()

    def toggle(self, name: str) -> None:
        """Show or hide a kind or an actor kind."""
        self._show_others(self.shown.toggled(name))

    def refold(self) -> None:
        """Fold responses into their calls, or show each by itself; in an open actum: its raw form."""
        if self.reading is not None:
            self._raw = not self.reading.raw
            self._read(replace(self.reading, raw=self._raw))
        else:
            self._show_others(self.shown.refolded())

    def set_last_n(self, last_n: int) -> None:
        """Look at the last `last_n` acta."""
        self.last_n = last_n
        if self.side != "window":
            self.choose_side("window")
        else:
            self._read_window()
        self._draw()

    def step_last_n(self, direction: int) -> None:
        """Look at more acta, or (negative) at fewer."""
        self.set_last_n(step(self.last_n, direction))

    def go_to(self, seq: int) -> None:
        """Put the cursor on the entry with this seq, or the nearest one."""
        if self.side != "acta":
            self.choose_side("acta")
        self.close_reader(focus=False)
        self._going = None
        self.entries.go_to(seq)

    def open_actum(self, *, at_answer: bool = False) -> None:
        """Open the actum under the cursor whole."""
        entry, session = self.entry, self.session
        if entry is None or session is None:
            return
        at_hit = 0 if at_answer or self._words is None else 1
        self._read(Reading(session.id, entry.seq, self._raw, at_answer, at_hit, self._words))

    def close_reader(self, *, focus: bool = True) -> bool:
        """Go from an open actum back to the list; false if none was open."""
        if self.reading is None:
            return False
        self.reading = None
        self._reader.set_blocks(())
        self._show_side(focus=focus)
        self._draw()
        return True

    # Finding

    async def open_find(self) -> None:
        """Ask what to look for in this session."""
        await self.finder.ask(self.app.keymap.shown("page.filter"))

    def offer_find(self, text: str) -> None:
        """Look for what found this session, if it is in its acta too and nothing else is looked for."""
        if self.can_find:
            self.finder.offer(text, self.app.keymap.shown("page.filter"))

    def find_next(self, direction: int) -> None:
        """Go to the next hit, or (negative) to the previous one: in an open actum, then in others."""
        if self.reading is not None and self._reader.step(direction):
            return
        here = self.entries.cursor_key if self._going is None else self._going
        row = here if self.reading is None else self.reading.seq
        at = row if isinstance(row, int) else 0
        # A row that shows a call's response too may have two hits.
        hit = self.finder.hit if at == self._hit_row else None
        beside = None if self.reading is None else at
        self.finder.go(Way(direction, at if hit is None else hit, beside=beside))

    def stop_asking(self) -> bool:
        """Leave the box for what is shown; false if it was not open."""
        left = self.finder.stop_editing()
        if left:
            self.focus_body()
        return left

    @on(FindBar.Left)
    def _find_left(self, message: FindBar.Left) -> None:
        message.stop()
        self.focus_body()
        at = self.entries.cursor_key
        if self.reading is not None and self._reader.step(1):
            return
        self.finder.go(Way(1, at if isinstance(at, int) else 0, inclusive=True))

    @on(FindBar.Reached)
    def _hit_reached(self, message: FindBar.Reached) -> None:
        message.stop()
        if not self.finder.accept(message):
            return
        self._hit_row = self._going = message.row
        self.entries.renderer = self._renderer()
        # The box takes lines from the list: how much of it shows is known once it is laid out and has heard
        # so, and where the hit comes to stand depends on that.
        self.call_after_refresh(self.entries.call_later, self._show_hit, message.row)
        if self.reading is not None and self.session is not None:
            in_answer = message.seq != message.row
            self._read(
                Reading(
                    self.session.id, message.row, self._raw, in_answer, message.way.direction, self._words
                )
            )

    def _show_hit(self, row: int) -> None:
        if row == self._going:
            self._going = None
            self.entries.go_to(row)

    @on(FindBar.WordsChanged)
    def _words_changed(self, message: FindBar.WordsChanged) -> None:
        message.stop()
        self._words = self.entries.words = message.words
        self._hit_row = self._going = None
        self.entries.renderer = self._renderer()
        reading = self.reading
        if reading is not None:
            self._read(replace(reading, at_answer=False, at_hit=0, words=message.words))

    def focus_body(self) -> None:
        """Give the keys to what is shown."""
        self._body().focus()

    # Messages

    @on(Highlighted, "#entries")
    def _entry_changed(self, message: Highlighted) -> None:
        if self.session is not None and isinstance(message.key, int):
            self.places.pop(self.session.id, None)
            self.places[self.session.id] = message.key
            if len(self.places) > _PLACES_KEPT:
                del self.places[next(iter(self.places))]
        self._draw_note()
        self.post_message(Moved())

    @on(NewRows, "#entries")
    def _entries_came(self, message: NewRows) -> None:
        more = "+" if message.more else ""
        self._new = f"{number(message.count)}{more} new ↓" if message.count else ""
        self._draw_note()

    @on(Opened, "#entries")
    def _entry_opened(self, message: Opened) -> None:
        message.stop()
        self.open_actum()

    @on(TabLine.Chosen)
    def _tab_chosen(self, message: TabLine.Chosen) -> None:
        message.stop()
        self.choose_side(message.name)

    @on(SwitchBar.Turned)
    def _switch_turned(self, message: SwitchBar.Turned) -> None:
        message.stop()
        self.toggle(message.name)
