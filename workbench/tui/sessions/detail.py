"""The detail of a session: its head, its acta, one of them whole, its context window, what is known of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import tzinfo
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias
from zoneinfo import ZoneInfo

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.message import Message
from textual.widget import Widget
from textual.worker import get_current_worker

from workbench.log.times import Clock, now
from workbench.tui.document import Block, note
from workbench.tui.present import ELLIPSIS, Line, Span, number
from workbench.tui.sessions.asking import ask
from workbench.tui.sessions.context_window import DEFAULT_LAST_N, Window, read_window, step, window_blocks
from workbench.tui.sessions.detail_messages import ActumRead, Looked, Moved, Reading, WindowRead
from workbench.tui.sessions.entry_rows import EntryRows
from workbench.tui.sessions.entry_source import Entry, EntrySource
from workbench.tui.sessions.find_bar import Field, FindBar, Way
from workbench.tui.sessions.find_panes import ActumPane, EntryList
from workbench.tui.sessions.found_words import Words, hit_places
from workbench.tui.sessions.session_head import SessionHead, about_blocks
from workbench.tui.sessions.shown import ACTOR_KINDS, KINDS, Shown
from workbench.tui.sessions.switch_bar import Switch, SwitchBar
from workbench.tui.sessions.whole_actum import actum_blocks, whole
from workbench.tui.widgets.list_messages import Highlighted, NewRows, Opened
from workbench.tui.widgets.tab_line import Tab, TabLine
from workbench.tui.widgets.text_pane import TextPane

if TYPE_CHECKING:
    from workbench.tui.app import WorkbenchApp
    from workbench.workspace import Workspace
    from workbench.workspace.readers.entry_queries import Breakdown
    from workbench.workspace.readers.rewinds import Stretch
    from workbench.workspace.readers.session_queries import Relative
    from workbench.workspace.rows import SessionRow

Side: TypeAlias = Literal["acta", "window", "about"]

SIDES = (Tab("acta", "Acta"), Tab("window", "Context window"), Tab("about", "About"))

SWITCHES: dict[str, tuple[str, str]] = {
    "message": ("sessions.messages", "messages"),
    "thought": ("sessions.thoughts", "thoughts"),
    "tool_request": ("sessions.calls", "calls"),
    "tool_response": ("sessions.results", "results"),
    "unit_closed": ("sessions.units", "units"),
    "human": ("sessions.people", "people"),
    "agent": ("sessions.agents", "agents"),
    "system": ("sessions.system", "system"),
}
"""For each kind and actor kind: the action that turns it, and what it is called."""

_PLACES_KEPT = 200
_TALL, _MIDDLING = 30, 18
"""Lines of the pane from which its head takes four lines, or three."""


class SessionDetail(Vertical):
    """Shows one session. Everything is read in worker threads; messages bring it."""

    DEFAULT_CSS = """
    SessionDetail { height: 1fr; }
    SessionDetail TabLine { margin: 1 0 1 0; }
    SessionDetail SwitchBar { margin: 0 0 1 0; height: 2; }
    SessionDetail #entries {
        & > .rows--cursor { background: $cursor-blurred; }
        & > .rows--cursor-blurred { background: $ground; }
        & > .rows--bar-blurred { color: $line; }
    }
    SessionDetail.-short SwitchBar { height: 1; }
    SessionDetail.-short SessionHead { height: 3; }
    SessionDetail.-short SessionHead.-related { height: 4; }
    SessionDetail.-tiny SessionHead, SessionDetail.-tiny SessionHead.-related { height: 2; }
    SessionDetail.-tiny TabLine, SessionDetail.-tiny SwitchBar, SessionDetail.-tiny FindBar { margin: 0; }
    """

    app: WorkbenchApp

    def __init__(self, *, css_id: str) -> None:
        super().__init__(id=css_id)
        # Kept, not looked for: what still comes in while the program ends finds no widgets.
        self._head = SessionHead(css_id="session-head")
        self._tabs = TabLine(SIDES, css_id="session-tabs")
        self._switches = SwitchBar(css_id="session-switches")
        self.finder = FindBar(css_id="session-find")
        """What is looked for in the session."""
        self.entries = EntryList(EntryRows(ZoneInfo("UTC")), id="entries", newest="last")
        """The list of acta."""
        self._window_pane = TextPane(id="window")
        self._about_pane = TextPane(id="about")
        self._reader = ActumPane(id="reader")
        self._bodies: tuple[Widget, ...] = (
            self.entries,
            self._window_pane,
            self._about_pane,
            self._reader,
        )
        self.session: SessionRow | None = None
        self.shown = Shown()
        self.side: Side = "acta"
        self.last_n = DEFAULT_LAST_N
        self.reading: Reading | None = None
        self.places: dict[str, int] = {}
        """Where the cursor was last in each session, by seq."""
        self._guidance: Sequence[Block] = ()
        self._raw = False
        self._workspace: Workspace | None = None
        self._as_of: int | None = None
        self._zone: tzinfo = ZoneInfo("UTC")
        self._breakdown: Breakdown | None = None
        self._rewound: tuple[Stretch, ...] = ()
        self._lineage: tuple[Relative, ...] = ()
        self._now: Clock = now
        self._gone: bool | None = None
        self._window: Window | None = None
        self._new = ""
        self._words: Words | None = None
        self._hit_row: int | None = None
        self._going: int | None = None
        """The row that is being gone to."""

    def compose(self) -> ComposeResult:
        yield self._head
        yield self._tabs
        yield self._switches
        yield self.finder
        yield from self._bodies

    def on_mount(self) -> None:
        """Nothing is open yet."""
        self._show_side()
        self._draw()

    def on_resize(self) -> None:
        """A low pane keeps its lines for the acta."""
        height = self.size.height
        self.set_class(height < _TALL, "-short")
        self.set_class(height < _MIDDLING, "-tiny")
        self._draw_note()

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

    @property
    def can_find(self) -> bool:
        """Whether acta are shown, as a list or one whole."""
        return self.session is not None and self.side == "acta"

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

    # Sides

    def _body(self) -> Widget:
        if self.session is None:
            return self._about_pane
        if self.reading is not None:
            return self._reader
        if self.side == "window":
            return self._window_pane
        return self._about_pane if self.side == "about" else self.entries

    def _has_keys(self) -> bool:
        focused = self.screen.focused if self.is_attached else None
        return focused is not None and self in focused.ancestors

    def _show_side(self, *, focus: bool = False) -> None:
        body = self._body()
        for widget in self._bodies:
            widget.display = widget is body
            # What is not shown must not be given the keys when the pane is entered.
            widget.can_focus = widget is body
        self._switches.display = body in (self.entries, self._window_pane)
        self.finder.set_class(self.finder.active and self.can_find, "-open")
        if focus:
            body.focus()

    def _show_others(self, shown: Shown) -> None:
        self.shown = shown
        self._set_entries(self.entries.cursor_key)
        self._read_side()
        self._draw()

    def _set_entries(self, at: object) -> None:
        entries, row, workspace = self.entries, self.session, self._workspace
        if row is None or workspace is None:
            entries.set_source(None)
            self.finder.look_in(None)
            return
        entries.empty_lines = self._nothing()
        reader = workspace.readers.entries.as_of(self._as_of)
        source = EntrySource(reader, row.id, self.shown, self._zone)
        entries.set_source(source, at=at)
        self.finder.look_in(Field(reader.search, row.id, self.shown.wanted(), source.row_of))

    def _nothing(self) -> tuple[Line, ...]:
        if self.shown.everything:
            return ((Span("  Nothing was recorded in this session yet.", "dim"),),)
        keys = ", ".join(
            self.app.keymap.shown(SWITCHES[name][0]) for name in SWITCHES if not self.shown.has(name)
        )
        return (
            (Span("  Everything in this session is switched off.", "text"),),
            (),
            (Span(f"  {keys}", "accent"), Span(" switch it on again", "dim")),
        )

    def _renderer(self) -> EntryRows:
        folder = "" if self.session is None else self.session.cwd
        key = self.app.keymap.shown("list.open")
        return EntryRows(self._zone, folder, key, self._rewound, self._words, self.finder.hit)

    # Reading

    def _look(self) -> None:
        row, workspace = self.session, self._workspace
        if row is None or workspace is None:
            return
        entries = workspace.readers.entries.as_of(self._as_of)
        sessions = workspace.readers.sessions.as_of(self._as_of)
        before, rewound_before = self._breakdown, self._rewound

        def work() -> Message:
            worker = get_current_worker()
            gone = bool(row.source_path) and not Path(row.source_path).exists()
            found = entries.breakdown(row.id)
            rewound = rewound_before
            # Only another prompt of a person can take something back.
            if before is None or found.by_actor_kind.get("human") != before.by_actor_kind.get("human"):
                rewound = tuple(entries.rewound(row.id, lambda: worker.is_cancelled))
            return Looked(row, found, gone, rewound, sessions.lineage(row))

        ask(self, "session-look", "Counting a session's acta", work)

    @on(Looked)
    def _looked(self, message: Looked) -> None:
        message.stop()
        if self.session is None or self.session.id != message.row.id:
            return
        self._breakdown, self._gone = message.breakdown, message.gone
        self._rewound, self._lineage = message.rewound, message.lineage
        renderer = self._renderer()
        if renderer != self.entries.renderer:
            self.entries.renderer = renderer
        if self.side == "about":
            self._show_about()
        self._draw()

    def _read_side(self) -> None:
        if self.session is not None and self.side == "window":
            self._read_window()
        elif self.session is None or self.side == "about":
            self._show_about()

    def _show_about(self) -> None:
        pane, row = self._about_pane, self.session
        if row is None:
            pane.set_blocks(self._guidance)
        else:
            blocks = about_blocks(row, self._zone, self._now(), gone=self._gone, lineage=self._lineage)
            pane.set_blocks(blocks, keep_place=True)

    def _read_window(self) -> None:
        as_of = self._as_of
        row, workspace, shown, last_n, zone = (
            self.session,
            self._workspace,
            self.shown,
            self.last_n,
            self._zone,
        )
        if row is None or workspace is None:
            self._window_pane.set_blocks(())
            return
        if self._window is None:
            self._window_pane.set_blocks([note(ELLIPSIS)])

        def work() -> Message:
            window = read_window(workspace, row.owner_id, row.id, shown, last_n, as_of)
            return WindowRead(row.id, window, window_blocks(window, last_n, zone))

        ask(self, "session-window", "Reading a context window", work)

    @on(WindowRead)
    def _window_read(self, message: WindowRead) -> None:
        message.stop()
        if self.session is None or self.session.id != message.session_id:
            return
        fresh = self._window is None
        self._window = message.window
        self._window_pane.set_blocks(message.blocks, keep_place=not fresh)
        self._draw_note()

    def _read(self, reading: Reading) -> None:
        workspace, zone = self._workspace, self._zone
        if workspace is None:
            return
        again = self.reading is not None and self.reading.seq == reading.seq
        self.reading = reading
        pane = self._reader
        if not again:
            pane.set_blocks([note(ELLIPSIS)])
        entries = workspace.readers.entries.as_of(self._as_of)

        def work() -> Message:
            actum, reply = whole(entries.entry, reading.session_id, reading.seq)
            act = entries.act_numbers(reading.session_id, [reading.seq])[reading.seq]
            blocks, answer = actum_blocks(actum, reply, zone, raw=reading.raw, act=act)
            return ActumRead(reading, blocks, answer, hit_places(blocks, reading.words))

        ask(self, "session-actum", "Reading an actum", work)
        self._show_side(focus=not self.finder.editing)
        self._draw()

    @on(ActumRead)
    def _actum_read(self, message: ActumRead) -> None:
        message.stop()
        if message.ticket != self.reading:
            return
        pane, ticket, answer = self._reader, message.ticket, message.answer
        again = pane.blocks == tuple(message.blocks)
        pane.set_hits(ticket.words, message.places)
        if not again or ticket.at_hit or ticket.at_answer:
            pane.open_at(message.blocks, message.first_place())
        if ticket.at_answer and answer is not None and not ticket.at_hit:
            pane.go_to_block(answer)
        self._draw_note()

    # Drawing

    def _draw(self) -> None:
        self._head.show(self.session, self._zone, gone=bool(self._gone), lineage=self._lineage)
        self._head.display = self._tabs.display = self.session is not None
        self._switches.show(
            [self._switch(name) for name in KINDS], [self._switch(name) for name in ACTOR_KINDS]
        )
        self._draw_note()
        self.post_message(Moved())

    def _switch(self, name: str) -> Switch:
        action, title = SWITCHES[name]
        count: int | None = None
        found = self._breakdown
        if found is not None:
            count = found.units if name == "unit_closed" else found.by_kind.get(name)
            if count is None:
                count = found.by_actor_kind.get(name, 0)
        return Switch(name, self.app.keymap.shown(action), title, self.shown.has(name), count)

    def _draw_note(self) -> None:
        notes: tuple[str, ...] = ()
        row = self.entries.cursor_row
        if self.side == "window" and self._window is not None:
            notes = self._window.notes
        elif self.side == "acta" and self.reading is not None:
            notes = ("raw",) if self.reading.raw else ()
        elif self.side == "acta" and row is not None and self.session is not None:
            place = self._place(row)
            notes = (f"{self._new} · {place}", self._new) if self._new else (place,)
        self._tabs.show(self.side, *notes)

    def _place(self, row: Entry) -> str:
        """Where an entry stands among the acta that the head counts."""
        acta = self.session.acta if self.session is not None else 0
        place = f"act {number(row.number)} of {number(max(acta, row.number))}"
        return place if row.actum.kind != "unit_closed" else f"after {place}"

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
