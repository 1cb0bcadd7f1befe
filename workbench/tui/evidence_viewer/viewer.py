"""One piece of evidence, whole: the copy, the file on the disk beside it, and who recorded it."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar
from zoneinfo import ZoneInfo

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.message import Message
from textual.widgets import Input, Static
from textual.worker import get_current_worker

from workbench.tui.copying import CopyChoice
from workbench.tui.dialogs.base import Dialog, key_line
from workbench.tui.document import note
from workbench.tui.evidence_viewer import reading, sides
from workbench.tui.evidence_viewer.colours import lacks_lexer
from workbench.tui.evidence_viewer.copies import copy_choices
from workbench.tui.evidence_viewer.head import EvidenceHead, head_lines
from workbench.tui.evidence_viewer.picture import PictureView
from workbench.tui.evidence_viewer.reading import Asked, Body, ColoursLoaded, DiskRead, HitsFound, ItemRead
from workbench.tui.evidence_viewer.sides import COPY, DISK, SIDES
from workbench.tui.evidence_viewer.text_view import EvidenceText
from workbench.tui.present import counted, literal
from workbench.tui.sessions.found_words import hit_places
from workbench.tui.widgets.tab_line import TabLine

if TYPE_CHECKING:
    from textual.worker import Worker

    from workbench.workspace import Workspace
    from workbench.workspace.evidence_disk import OnDisk
    from workbench.workspace.evidence_item import EvidenceItem

_ROOMY_ROWS = 24
_WIDE = 100
_PICTURE_ROWS = 20


class EvidenceViewer(Dialog[None]):
    """Shows the evidence whose copy has this digest, or that was recorded with this path, or by an event.

    See `open_evidence` for what the three mean together. Everything is read on threads. Ends with None.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j,down", "move('scroll_down')", "down", show=False),
        Binding("k,up", "move('scroll_up')", "up", show=False),
        Binding("pagedown,full_stop", "move('page_down')", "page down", show=False),
        Binding("pageup,comma", "move('page_up')", "page up", show=False),
        Binding("g,home", "move('scroll_home')", "top", show=False),
        Binding("G,end", "move('scroll_end')", "end", show=False),
        Binding("l,right", "sideways(1)", "right", show=False),
        Binding("h,left", "sideways(-1)", "left", show=False),
        Binding("right_square_bracket", "turn(1)", "next side", show=False),
        Binding("left_square_bracket", "turn(-1)", "previous side", show=False),
        Binding("greater_than_sign", "other(1)", "next file", show=False),
        Binding("less_than_sign", "other(-1)", "previous file", show=False),
        Binding("d", "disk", "on disk now", show=False),
        Binding("m", "source", "Markdown or source", show=False),
        Binding("w", "wrap", "wrap lines", show=False),
        Binding("number_sign", "numbers", "line numbers", show=False),
        Binding("slash", "find", "find", show=False),
        Binding("n", "hit(1)", "next hit", show=False),
        Binding("N", "hit(-1)", "previous hit", show=False),
        Binding("y", "copy", "copy", show=False),
        Binding("R", "read", "read again", show=False),
    ]

    AUTO_FOCUS = "EvidenceText"
    DEFAULT_CSS = """
    EvidenceViewer > .panel { width: 160; height: 94%; max-height: 94%; }
    EvidenceViewer.-small > .panel { width: 100%; max-width: 100%; height: 100%; max-height: 100%; }
    EvidenceViewer TabLine { margin: 0 0 1 0; background: $raised; }
    EvidenceViewer.-low TabLine, EvidenceViewer.-low EvidenceHead, EvidenceViewer.-low .keys { margin: 0; }
    EvidenceViewer EvidenceText { height: 1fr; background: $raised; }
    EvidenceViewer Input { display: none; margin: 0; }
    EvidenceViewer.-finding Input { display: block; }
    """

    def __init__(
        self, workspace: Workspace, *, sha256: str = "", path: str = "", position: int | None = None
    ) -> None:
        super().__init__()
        self._workspace = workspace
        self._asked = Asked(sha256, path, position)
        self._zone = ZoneInfo(workspace.timezone)
        self.item: EvidenceItem | None = None
        """What was read; None while it is being read."""
        self.body = Body()
        self.on_disk: OnDisk | None = None
        """The file on the disk; None while nobody has asked, or while it is being read."""
        self._as_markdown = True
        self._finding = ""
        self._turn = 0
        self._hits: int | None = None

    def compose(self) -> ComposeResult:
        # Read while the panel is being made: mostly the first that is painted has the text already.
        self.action_read()
        with Vertical(classes="panel") as panel:
            panel.border_title = "Evidence"
            yield EvidenceHead(css_id="evidence-head", height=3 if self._roomy else 2)
            yield TabLine(SIDES, css_id="evidence-tabs")
            yield PictureView(css_id="evidence-picture")
            yield EvidenceText(css_id="evidence-text")
            yield Input(placeholder="find in this text", id="evidence-find")
            yield Static("", classes="keys", markup=False)

    def on_mount(self) -> None:
        """Say that it is being read."""
        self.pane.set_blocks([note("reading …")])

    def on_resize(self) -> None:
        """A small terminal is given to it whole; bytes stand in lines of as many as there is room for."""
        size = self.app.size
        self.set_class(size.width < _WIDE or size.height < _ROOMY_ROWS, "-small")
        self.set_class(size.height < _ROOMY_ROWS, "-low")
        self.call_after_refresh(self._draw, keep_place=True)

    @property
    def pane(self) -> EvidenceText:
        """The text."""
        return self.query_one(EvidenceText)

    @property
    def side(self) -> str:
        """Which side is shown: `copy`, `disk` or `records`."""
        return self.query_one(TabLine).active

    # Reading

    def action_read(self) -> None:
        """Read the item, and the file on the disk where that is shown."""
        workspace, asked, pictures = self._workspace, self._asked, not self.app.no_color

        def work() -> None:
            item, body = reading.read_item(workspace, asked, pictures=pictures)
            self._tell(ItemRead(item, body))

        self.on_disk = None
        self._in_thread(work, "item", "Reading evidence")

    def on_item_read(self, message: ItemRead) -> None:
        """Show it."""
        self.item, self.body = message.item, message.body
        if self.side == DISK:
            self._look_at_disk()
        self._draw()
        self._find_again()
        source = message.body.source
        if source is not None and lacks_lexer(source.language):
            # The text is there before its colours are: to load them takes time from painting it.
            self.call_after_refresh(self._load_colours, source.language)

    def _load_colours(self, language: str) -> None:
        self._in_thread(lambda: reading.load_colours(language, self._tell), "colours", "Loading colours")

    def on_colours_loaded(self, message: ColoursLoaded) -> None:
        """Draw them."""
        self._draw(keep_place=True)

    def _look_at_disk(self) -> None:
        item = self.item
        if item is None or item.row is None:
            return
        workspace, path, copy = self._workspace, item.row.path, item.copy

        def work() -> None:
            from workbench.workspace.evidence_disk import on_disk

            follow = workspace.manifest.artifacts.follow_symlinks
            self._tell(DiskRead(item, on_disk(path, copy, workspace.log.redactor, follow=follow)))

        self._in_thread(work, "disk", "Reading the file on the disk")

    def on_disk_read(self, message: DiskRead) -> None:
        """Show what is there, unless another file is shown by now."""
        if message.item is not self.item:
            return
        self.on_disk = message.found
        if self.side == DISK:
            self._draw()
            self._find_again()

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        """What could not be read says why."""
        if event.worker.error is not None and event.state.name == "ERROR":
            self.app.show_failure(event.worker.error, "The evidence could not be read", self.action_read)
            if self.item is None:
                self.pane.set_blocks([note("It could not be read; R tries again.")])

    def _tell(self, message: Message) -> None:
        """Post what a thread has found, unless something else was asked meanwhile."""
        if not get_current_worker().is_cancelled:
            self.post_message(message)

    def _in_thread(self, work: Callable[[], None], group: str, description: str) -> None:
        self.run_worker(
            work,
            group=f"evidence-{group}",
            description=description,
            exit_on_error=False,
            exclusive=True,
            thread=True,
        )

    # Drawing

    def _draw(self, *, keep_place: bool = False) -> None:
        item = self.item
        if item is None or not self.is_mounted or not self.query(EvidenceText):
            return
        roomy, now = self._roomy, self.app.clock()
        self.query_one(EvidenceHead).show(
            lambda width: head_lines(item, width, now, self._zone, roomy=roomy), 3 if roomy else 2
        )
        picture = self.body.picture if self.side == COPY and self.app.size.height >= _PICTURE_ROWS else None
        self.query_one(PictureView).show(picture)
        view = self._view
        source = sides.shown_source(view)
        if source is not None:
            self.pane.show_source(source.text, source.index, source.colours, keep_place=keep_place)
        else:
            self.pane.set_blocks(sides.blocks(view, self.pane.size.width - 3), keep_place=keep_place)
        self.query_one(TabLine).show(self.side, *self._notes())
        self._say_keys()

    @property
    def _roomy(self) -> bool:
        return self.app.size.height >= _ROOMY_ROWS

    @property
    def _view(self) -> sides.View:
        """What the side that is shown is made of."""
        return sides.View(
            self.item, self.body, self.on_disk, self.side, self._as_markdown, self._zone, self.app.root
        )

    def _notes(self) -> tuple[str, ...]:
        if self._hits is not None:
            return (f"{counted(self._hits, 'hit')} of “{self._finding[:30]}”", counted(self._hits, "hit"))
        return sides.notes(self._view)

    def _say_keys(self) -> None:
        if "-finding" in self.classes:
            pairs = [("enter", "find"), ("esc", "no more")]
        else:
            pairs = sides.key_pairs(self._view, hits=bool(self._hits), wraps=self.pane.wraps)
        line = self.query_one(".keys", Static)
        kept = sides.fitting(pairs, line.size.width or self.app.size.width - 6)
        line.update(key_line(*kept), layout=False)

    def action_other(self, step: int) -> None:
        """Show the next or the previous file of the same record."""
        item = self.item
        if item is None or item.row is None or len(item.beside) < 2:
            return
        at = next((n for n, each in enumerate(item.beside) if each.place == item.row.place), 0)
        row = item.beside[(at + step) % len(item.beside)]
        self._asked = Asked(row.digest, row.path, row.position, row.ordinal)
        self.action_read()

    # Sides and looks

    def action_turn(self, sides: int) -> None:
        """Show another side."""
        names = [tab.name for tab in SIDES]
        self._show_side(names[(names.index(self.side) + sides) % len(names)])

    def action_disk(self) -> None:
        """Show the file on the disk beside the copy, or the copy again."""
        self._show_side(COPY if self.side == DISK else DISK)

    def on_tab_line_chosen(self, message: TabLine.Chosen) -> None:
        """A side was clicked."""
        message.stop()
        self._show_side(message.name)

    def _show_side(self, name: str) -> None:
        if name == self.side:
            return
        self.query_one(TabLine).show(name)
        if name == DISK and self.on_disk is None:
            self._look_at_disk()
        self._draw()
        self._find_again()

    def action_source(self) -> None:
        """Markdown with its look, or as it was written."""
        if self.body.markdown is not None:
            self._as_markdown = not self._as_markdown
            self._draw()
            self._find_again()

    def action_wrap(self) -> None:
        """Wrap long lines, or let them run on behind the edge."""
        self.pane.look_like(wraps=not self.pane.wraps, numbered=self.pane.numbered)
        self._say_keys()

    def action_numbers(self) -> None:
        """Number the lines, or not."""
        self.pane.look_like(wraps=self.pane.wraps, numbered=not self.pane.numbered)

    def action_move(self, how: str) -> None:
        """Scroll."""
        getattr(self.pane, f"action_{how}")()

    def action_sideways(self, steps: int) -> None:
        """Move over lines that do not wrap."""
        self.pane.move_sideways(steps)

    # Finding

    def action_find(self) -> None:
        """Ask what to look for."""
        self.add_class("-finding")
        self.query_one(Input).focus()
        self._say_keys()

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        event.stop()
        self._finding = event.value
        self._find_again()

    @on(Input.Submitted)
    def _entered(self, event: Input.Submitted) -> None:
        event.stop()
        self._stop_typing()
        self.action_hit(1)

    def _stop_typing(self) -> None:
        self.remove_class("-finding")
        self.pane.focus()
        self._say_keys()

    def _find_again(self) -> None:
        self._turn += 1
        turn, text, blocks = self._turn, self._finding, self.pane.blocks
        if not text.strip():
            if self._hits is not None:
                self.post_message(HitsFound(turn, None, ()))
            return
        pattern = re.compile(re.escape(text.strip()), re.IGNORECASE)

        def work() -> None:
            places = hit_places(blocks, pattern)
            self._tell(HitsFound(turn, pattern, places))

        self._in_thread(work, "find", "Finding text in evidence")

    def on_hits_found(self, message: HitsFound) -> None:
        """Let them stand out."""
        if message.turn != self._turn:
            return
        self.pane.set_hits(message.words, message.places)
        self._hits = None if message.words is None else len(message.places)
        self.query_one(TabLine).show(self.side, *self._notes())
        self._say_keys()

    def action_hit(self, direction: int) -> None:
        """Go to the next or the previous hit; behind the last one comes the first."""
        if self._hits and not self.pane.step(direction):
            self.pane.begin_again()
            self.pane.step(direction)

    def action_cancel(self) -> None:
        """Leave the search first, then the viewer."""
        if "-finding" in self.classes or self._finding:
            self._finding = ""
            with self.prevent(Input.Changed):
                self.query_one(Input).value = ""
            self._find_again()
            self._stop_typing()
        else:
            self.dismiss(None)

    # Copying

    def copy_choices(self) -> list[CopyChoice]:
        """The forms in which it can be copied."""
        return [] if self.item is None else copy_choices(self.item, self.on_disk, self.app.root)

    def action_copy(self) -> None:
        """Choose what is copied."""
        from workbench.tui.dialogs.copy_menu import CopyMenu

        choices = self.copy_choices()

        def copy(index: int | None) -> None:
            if index is not None:
                self.app.copy(choices[index].resolve(), literal(choices[index].label).plain)

        if choices:
            self.app.push_screen(CopyMenu([choice.label for choice in choices]), copy)
