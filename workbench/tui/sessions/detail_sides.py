"""The sides of a session's detail: its acta, one of them whole, its context window, what is known of it."""

from __future__ import annotations

from collections.abc import Sequence
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
from workbench.tui.sessions.context_window import DEFAULT_LAST_N, Window, read_window, window_blocks
from workbench.tui.sessions.detail_messages import ActumRead, Looked, Moved, Reading, WindowRead
from workbench.tui.sessions.entry_rows import EntryRows
from workbench.tui.sessions.entry_source import Entry, EntrySource
from workbench.tui.sessions.find_bar import Field, FindBar
from workbench.tui.sessions.find_panes import ActumPane, EntryList
from workbench.tui.sessions.found_words import Words, hit_places
from workbench.tui.sessions.session_head import SessionHead, about_blocks
from workbench.tui.sessions.shown import ACTOR_KINDS, KINDS, Shown
from workbench.tui.sessions.switch_bar import Switch, SwitchBar
from workbench.tui.sessions.whole_actum import actum_blocks, whole
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

_TALL, _MIDDLING = 30, 18
"""Lines of the pane from which its head takes four lines, or three."""


class SessionSides(Vertical):
    """Reads and draws one session. Everything is read in worker threads; messages bring it."""

    DEFAULT_CSS = """
    SessionSides { height: 1fr; }
    SessionSides TabLine { margin: 1 0 1 0; }
    SessionSides SwitchBar { margin: 0 0 1 0; height: 2; }
    SessionSides #entries {
        & > .rows--cursor { background: $cursor-blurred; }
        & > .rows--cursor-blurred { background: $ground; }
        & > .rows--bar-blurred { color: $line; }
    }
    SessionSides.-short SwitchBar { height: 1; }
    SessionSides.-short SessionHead { height: 3; }
    SessionSides.-short SessionHead.-related { height: 4; }
    SessionSides.-tiny SessionHead, SessionDetail.-tiny SessionHead.-related { height: 2; }
    SessionSides.-tiny TabLine, SessionDetail.-tiny SwitchBar, SessionDetail.-tiny FindBar { margin: 0; }
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

    # Sides

    @property
    def can_find(self) -> bool:
        """Whether acta are shown, as a list or one whole."""
        return self.session is not None and self.side == "acta"

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
            return WindowRead(row.id, window, window_blocks(window, last_n, zone, workspace.root))

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
