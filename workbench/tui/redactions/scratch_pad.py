"""A text to try the secret filter on: what it would remove, as one types. Nothing of it is kept."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.message import Message
from textual.widgets import Static, TextArea
from textual.worker import get_current_worker

from workbench.tui.dialogs.base import Dialog, key_line
from workbench.tui.document import Block, Paragraph, Verbatim
from workbench.tui.present import Line, Span, counted, literal, number, size
from workbench.tui.redactions.markers import marked_lines
from workbench.tui.widgets.text_pane import TextPane

if TYPE_CHECKING:
    from textual.timer import Timer
    from textual.worker import Worker

PAUSE_SECONDS = 0.15
"""Pause in typing after which the text is filtered."""
MOST_TYPED = 40_000
"""Characters that the text area takes; more is held beside it, for it lays out all that it has at once."""
MOST_BYTES = 64 << 20
_SPACES = re.compile("[\n\r\t\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]+")
_ROOMY_ROWS = 24
_MARKED = 40_000
"""Characters of a filtered text up to which its markers stand out."""


class _Filtered(Message, bubble=False):
    """A worker has filtered a text."""

    def __init__(self, turn: int, text: str, counts: dict[str, int]) -> None:
        super().__init__()
        self.turn = turn
        self.text = text
        self.counts = counts


def with_newlines(text: str) -> str:
    """A pasted text with its line ends as files have them: terminals send the key for each."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def editable(text: str) -> bool:
    """Whether a text can stand in a text area: it lays out all that it has, and draws it as it is."""
    return len(text) <= MOST_TYPED and _SPACES.sub("", text).isprintable()


class _Unfiltered(Message, bubble=False):
    """A text could not be filtered; `why` names the kind of error, never the text."""

    def __init__(self, turn: int, why: str) -> None:
        super().__init__()
        self.turn = turn
        self.why = why


class PadArea(TextArea):
    """Takes what is typed and what is pasted, but hands on what cannot be edited."""

    class Unfit(Message):
        """A text was pasted that cannot be edited: the whole text as it would be with it."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    async def _on_paste(self, event: events.Paste) -> None:
        event.text = with_newlines(event.text)
        if len(event.text) + len(self.text) > MOST_TYPED or not editable(event.text):
            # Textual goes on with the base class by itself, with the text as it is now.
            text, event.text = event.text, ""
            event.stop()
            start, end = sorted(self.selection)
            before = self.get_text_range((0, 0), start)
            self.post_message(self.Unfit(before + text + self.get_text_range(end, self.document.end)))


class ScratchPad(Dialog[None]):
    """Shows the filtered text and the counts by kind beside what was typed; esc closes and forgets all."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+l", "clear", "clear", show=False, priority=True),
        Binding("ctrl+y", "copy", "copy", show=False, priority=True),
        Binding("escape", "cancel", "close", show=False, priority=True),
        Binding("j,down", "move('scroll_down')", "down", show=False),
        Binding("k,up", "move('scroll_up')", "up", show=False),
        Binding("pagedown,full_stop", "move('page_down')", "page down", show=False),
        Binding("pageup,comma", "move('page_up')", "page up", show=False),
        Binding("g,home", "move('scroll_home')", "top", show=False),
        Binding("G,end", "move('scroll_end')", "end", show=False),
    ]

    AUTO_FOCUS = "PadArea"
    DEFAULT_CSS = """
    ScratchPad > .panel { width: 110; height: 90%; }
    ScratchPad TextArea, ScratchPad TextArea:focus {
        height: 1fr; border: none; padding: 0; background: $cursor; color: $ink;
        scrollbar-size-vertical: 1;
    }
    ScratchPad TextArea:focus { background-tint: $cursor 0%; }
    ScratchPad TextArea .text-area--cursor-line { background: $cursor; }
    ScratchPad TextArea .text-area--placeholder { color: $quiet; }
    ScratchPad #held { display: none; height: auto; background: $cursor; color: $quiet; }
    ScratchPad.-held TextArea { display: none; }
    ScratchPad.-held #held { display: block; }
    ScratchPad #counts { height: auto; max-height: 3; margin: 1 0; }
    ScratchPad TextPane { background: $raised; height: 2fr; padding: 0; }
    ScratchPad .keys { margin-top: 0; }
    ScratchPad.-roomy .keys { margin-top: 1; }
    """

    def __init__(self) -> None:
        super().__init__()
        self._held = ""
        """A text that the text area cannot take."""
        self._turn = 0
        self._failed = ""
        """Why the text could not be filtered: the name of the error."""
        self._pausing: Timer | None = None
        self.counts: dict[str, int] | None = None
        """What would be removed from the text as it is now; None while that is not known."""
        self.filtered = ""

    def compose(self) -> ComposeResult:
        with Vertical(classes="panel") as panel:
            panel.border_title = "Try the filter"
            panel.border_subtitle = "nothing is stored"
            yield PadArea(
                id="text",
                placeholder="Type or paste a text: below it stands what would be stored.",
                compact=True,
                highlight_cursor_line=False,
                max_checkpoints=10,
            )
            yield Static("", id="held", markup=False)
            yield Static("", id="counts", markup=False)
            yield TextPane(id="filtered")
            yield Static(
                key_line(("ctrl-l", "clear"), ("ctrl-y", "copy"), ("tab", "switch"), ("esc", "close")),
                classes="keys",
            )

    def on_resize(self) -> None:
        """On a small screen every line counts."""
        self.set_class(self.size.height >= _ROOMY_ROWS, "-roomy")

    def on_mount(self) -> None:
        """Say that there is no text yet."""
        self._say()

    def on_unmount(self) -> None:
        """Keep nothing."""
        self._turn += 1
        self._held = self.filtered = ""
        self.counts = None

    # What comes in

    @on(TextArea.Changed)
    def _typed(self, event: TextArea.Changed) -> None:
        event.stop()
        if not editable(event.text_area.text):
            # However it came in.
            self._hold(event.text_area.text)
            return
        self.counts = None
        if self._pausing is not None:
            self._pausing.stop()
        self._pausing = self.set_timer(PAUSE_SECONDS, self._filter)

    @on(PadArea.Unfit)
    def _pasted(self, event: PadArea.Unfit) -> None:
        event.stop()
        self._hold(event.text)

    def on_paste(self, event: events.Paste) -> None:
        """A paste while a long text is held replaces it."""
        if self._held:
            event.stop()
            self._hold(with_newlines(event.text))

    def _hold(self, text: str) -> None:
        self._held = text
        self.set_class(True, "-held")
        lines = text.count("\n") + 1
        why = (
            "too long to be edited here"
            if len(text) > MOST_TYPED
            else "it has signs that cannot be edited; they are marked below"
        )
        self.query_one("#held", Static).update(
            literal(f"{counted(len(text), 'character')} in {counted(lines, 'line')}: {why}")
        )
        # What is no longer seen is not kept twice.
        area = self.query_one(PadArea)
        with area.prevent(TextArea.Changed):
            area.load_text("")
        self.query_one(TextPane).focus()
        self._filter()

    # Filtering

    def _filter(self) -> None:
        self._turn += 1
        turn, text = self._turn, self._held or self.query_one(PadArea).text
        self.counts, self._failed = None, ""
        if len(text) > MOST_BYTES:
            self._turn += 1
            self.filtered = ""
            self.query_one(TextPane).set_blocks(())
            self._tell(
                (Span("! ", "warning"), Span(f"longer than {size(MOST_BYTES)}: try a part of it", "text"))
            )
            return
        self._say()

        def work() -> None:
            from workbench.redaction import redact

            if get_current_worker().is_cancelled:
                return
            try:
                done = redact(text)
            except Exception as error:
                # Whatever it is: an error may quote the text, and nothing of that is kept or written down.
                self.post_message(_Unfiltered(turn, getattr(error, "code", type(error).__name__)))
                return
            self.post_message(_Filtered(turn, done.text, done.counts))

        self.run_worker(
            work,
            group="scratch-pad",
            description="Trying the filter",
            exclusive=True,
            exit_on_error=False,
            thread=True,
        )

    def on__filtered(self, message: _Filtered) -> None:
        """Show what would be stored."""
        if message.turn != self._turn or not self.is_mounted:
            return
        self.counts, self.filtered = message.counts, message.text
        pane = self.query_one(TextPane)
        pane.set_blocks(_blocks(message.text), keep_place=True)
        self._say()

    def on__unfiltered(self, message: _Unfiltered) -> None:
        """Say that it could not be filtered; what was shown of it goes."""
        if message.turn != self._turn or not self.is_mounted:
            return
        self.counts, self.filtered, self._failed = None, "", message.why
        self.query_one(TextPane).set_blocks(())
        self._say()

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        """The filter failed: say so, and go on."""
        if event.worker.error is not None and event.state.name == "ERROR":
            self.app.show_failure(event.worker.error)

    # Saying

    def _say(self) -> None:
        if not (self._held or self.query_one(PadArea).text):
            self._tell((Span("There is no text yet.", "dim"),))
        elif self._failed:
            said = f"This text could not be filtered ({self._failed}); nothing of it is kept."
            self._tell((Span("✕ ", "error"), Span(said, "text")))
        elif self.counts is None:
            self._tell((Span("filtering …", "dim"),))
        elif not self.counts:
            self._tell((Span("✓ ", "success"), Span("Nothing would be removed.", "text")))
        else:
            kinds = ", ".join(
                f"{kind} {number(count)}"
                for kind, count in sorted(self.counts.items(), key=lambda each: (-each[1], each[0]))
            )
            total = sum(self.counts.values())
            self._tell(
                (Span("! ", "warning"), Span(f"{counted(total, 'secret')} would be removed: {kinds}", "text"))
            )

    def _tell(self, line: Line) -> None:
        from textual.content import Content

        colours = {
            "warning": "$attention",
            "success": "$kept",
            "error": "$broken",
            "dim": "$quiet",
            "text": "$body",
        }
        parts = [(literal(text).plain, colours[role]) for text, role in line]
        self.query_one("#counts", Static).update(Content.assemble(*parts))

    # Keys

    def action_clear(self) -> None:
        """Begin with an empty text."""
        self._held = ""
        self.set_class(False, "-held")
        area = self.query_one(PadArea)
        area.load_text("")
        area.focus()
        self._filter()

    def action_move(self, how: str) -> None:
        """Scroll the filtered text, while it has the keys."""
        getattr(self.query_one(TextPane), f"action_{how}")()

    def action_copy(self) -> None:
        """Copy the filtered text."""
        if self.filtered:
            self.app.copy(self.filtered, "the filtered text")


def _blocks(text: str) -> list[Block]:
    """The filtered text with its markers standing out, as far as it is short enough for that."""
    if len(text) > _MARKED:
        return [Verbatim(text)]
    return [Paragraph(line or "") for line in marked_lines(text)] if text else []
