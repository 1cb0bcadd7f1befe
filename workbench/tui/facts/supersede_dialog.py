"""A person decides what a slot holds: the new value and why; a refusal loses nothing of what was typed."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message
from textual.widgets import Static, TextArea

from workbench.memory.errors import StaleFact
from workbench.tui.dialogs.base import Dialog, key_line
from workbench.tui.dialogs.comment_area import CommentArea
from workbench.tui.drafts import Decision
from workbench.tui.facts.fact_words import scope_of
from workbench.tui.failures import failure_of
from workbench.tui.present import literal, number, one_line, plain_lines, visible
from workbench.tui.redactions.scratch_pad import editable
from workbench.workspace.fact_rows import FactRow

if TYPE_CHECKING:
    from workbench.memory.receipts import Receipt
    from workbench.workspace import Workspace

MOST_VALUE, MOST_WHY = 4_000, 4_000
"""Characters of a fact's value; of a reason as many as can be read."""
_NOW_LINES = 2
_ROOMY_ROWS = 24
_NAMED = 60
"""Cells that name the slot of a draft."""


def slot_of(row: FactRow) -> tuple[str, ...]:
    """What a draft of a decision is kept by: scope and slot."""
    return row.domain, row.project, row.task_id, row.slot


class _Recorded(Message, bubble=False):
    """It was recorded."""

    def __init__(self, receipt: Receipt) -> None:
        super().__init__()
        self.receipt = receipt


class _Refused(Message, bubble=False):
    """It was not recorded; `current` is the fact that the slot holds now, where that is what was missed."""

    def __init__(self, error: Exception, current: FactRow | None) -> None:
        super().__init__()
        self.error = error
        self.current = current


class SupersedeDialog(Dialog["Receipt"]):
    """Ends with the receipt of what was recorded, None for esc.

    It is recorded while the dialog stays: where another fact took the slot meanwhile, that one is shown, and
    the same words can replace it. `typed` is what a person had typed when the dialog was left before; `key`
    opens it again, as what was typed is kept.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "cancel", "close", show=False, priority=True),
        Binding("ctrl+s", "record", "record", show=False, priority=True),
        Binding("tab", "app.focus_next", "next", show=False, priority=True),
    ]

    AUTO_FOCUS = "#value"
    DEFAULT_CSS = """
    SupersedeDialog > .panel { width: 90; }
    SupersedeDialog #slot, SupersedeDialog #now { height: auto; }
    SupersedeDialog .label { margin-top: 1; color: $quiet; }
    SupersedeDialog TextArea, SupersedeDialog TextArea:focus {
        height: 4; border: none; padding: 0; background: $cursor; color: $ink;
        scrollbar-size-vertical: 1;
    }
    SupersedeDialog TextArea:focus { background-tint: $cursor 0%; }
    SupersedeDialog TextArea .text-area--cursor-line { background: $cursor; }
    SupersedeDialog TextArea .text-area--placeholder { color: $quiet; }
    SupersedeDialog #said { height: auto; max-height: 3; margin-top: 1; color: $quiet; }
    SupersedeDialog.-small > .panel { max-height: 100%; }
    SupersedeDialog.-small TextArea, SupersedeDialog.-small TextArea:focus { height: 2; }
    SupersedeDialog.-small .label, SupersedeDialog.-small #said, SupersedeDialog.-small .keys {
        margin-top: 0;
    }
    """

    def __init__(
        self, workspace: Workspace, row: FactRow, typed: Decision | None = None, key: str = ""
    ) -> None:
        super().__init__()
        self._key = key
        self._about = slot_of(row)
        self._offered = row.value.strip()
        self._recorded = False
        self._workspace = workspace
        self.row = row
        """The fact that would be replaced."""
        self._supersedes: str | None = row.id
        self._typed = typed
        self._busy = False

    @property
    def typed(self) -> Decision:
        """What stands in the two fields."""
        return Decision(
            self.query_one("#value", TextArea).text.strip(), self.query_one("#why", TextArea).text.strip()
        )

    def compose(self) -> ComposeResult:
        held = self.row.value if editable(self.row.value) else ""
        value, why = self._typed or Decision(held, "")
        with Vertical(classes="panel") as panel:
            panel.border_title = "Decide what a slot holds"
            panel.border_subtitle = literal(f"decision by {one_line(self._workspace.owner, 40)}")
            yield Static("", id="slot", markup=False)
            yield Static("", id="now", markup=False)
            yield Static("From now on", classes="label", markup=False)
            yield CommentArea(value, id="value", placeholder="The new value", compact=True)
            yield Static("Why", classes="label", markup=False)
            yield CommentArea(
                why, id="why", placeholder="The reason that the next agent reads, or nothing", compact=True
            )
            yield Static("", id="said", markup=False)
            yield Static(
                key_line(("ctrl-s", "record"), ("tab", "next field"), ("esc", "cancel")),
                classes="keys",
            )

    def on_mount(self) -> None:
        """Say what is replaced; what is offered can be typed over at once."""
        self._show_now()
        self._say()
        value, why = self.query_one("#value", TextArea), self.query_one("#why", TextArea)
        why.move_cursor(why.document.end)
        if self._typed is None:
            value.select_all()
        else:
            value.move_cursor(value.document.end)

    def on_resize(self) -> None:
        """On a small screen every line counts."""
        self.set_class(self.size.height < _ROOMY_ROWS, "-small")
        self._show_now()

    def _show_now(self) -> None:
        row = self.row
        width = max(20, min(90, int(self.size.width * 0.96)) - 6)
        slot = one_line(row.slot, width * 2 // 3)
        scope = one_line(scope_of(row), max(8, width - len(slot) - 2))
        self.query_one("#slot", Static).update(Content.assemble((slot, "bold $ink"), "  ", (scope, "$quiet")))
        if self._supersedes is None:
            now = Content.assemble(("The slot holds nothing now.", "$quiet"))
        else:
            room = width if self.has_class("-small") else width * _NOW_LINES - 12
            now = Content.assemble(
                ("now: ", "$quiet"),
                (one_line(row.value, room - 30), "$body"),
                "  ",
                (one_line(f"{row.kind} by {row.agent}", 40), "$quiet"),
            )
        self.query_one("#now", Static).update(now)

    # Recording

    def action_record(self) -> None:
        """Record the decision, unless a field cannot be taken."""
        typed, row = self.typed, self.row
        if self._busy:
            return
        if not typed.value:
            self._refuse("type the value that the slot holds from now on", "#value")
            return
        for name, text, most in (("value", typed.value, MOST_VALUE), ("why", typed.why, MOST_WHY)):
            if len(text) > most:
                said = f"the {name} has {number(len(text))} characters: shorten it to {number(most)}"
                self._refuse(said, f"#{name}")
                return
        self._busy = True
        self._say("recording …", quiet=True)
        workspace, supersedes = self._workspace, self._supersedes

        def work() -> None:
            from workbench.memory.superseding import supersede

            try:
                receipt = supersede(
                    workspace.memory,
                    owner=workspace.owner,
                    slot=row.slot,
                    value=typed.value,
                    why=typed.why or None,
                    supersedes=supersedes,
                    domain=row.domain,
                    project=row.project or None,
                    task_id=row.task_id or None,
                    private=row.private,
                )
            except StaleFact as error:
                current = None
                if error.current is not None:
                    at = workspace.readers.facts.position_of(error.current)
                    current = None if at is None else workspace.readers.facts.row(at)
                self.post_message(_Refused(error, current))
            except Exception as error:
                # Whatever it is: what was typed stays, and can be given again.
                self.post_message(_Refused(error, None))
            else:
                self.post_message(_Recorded(receipt))

        self.run_worker(
            work, group="supersede", description="Recording a decision", exit_on_error=False, thread=True
        )

    def on__recorded(self, message: _Recorded) -> None:
        """Done."""
        self._recorded = True
        self.dismiss(message.receipt)

    def keep_words(self) -> bool:
        """Keep both fields, and say so; what merely stood there is no draft: it may be another next time."""
        typed = self.typed
        if self._recorded or not (typed.why or typed.value not in ("", self._offered)):
            return False
        self.app.decision_drafts.keep(self._about, one_line(self.row.slot, _NAMED), typed)
        self.app.say_kept(self._key)
        return True

    def on__refused(self, message: _Refused) -> None:
        """Say why; where the slot holds something else, show that: the next try replaces it."""
        self._busy = False
        error, current = message.error, message.current
        if isinstance(error, StaleFact):
            if error.current is None:
                self._supersedes = None
                self._show_now()
                self._refuse("somebody emptied the slot meanwhile; ctrl-s begins it anew with your value")
                return
            if current is not None:
                self.row, self._supersedes = current, current.id
                self._show_now()
                self._refuse(
                    f"{one_line(current.agent, 40)} replaced it meanwhile; above stands what it holds now. "
                    "ctrl-s replaces that"
                )
                return
        failure = failure_of(error, root=self.app.root)
        parts = ("Not recorded.", failure.sentence, failure.hint)
        self._refuse(
            " ".join(part if part.endswith((".", "!", "?")) else f"{part}." for part in parts if part)
        )

    # Saying

    @on(TextArea.Changed)
    def _changed(self, event: TextArea.Changed) -> None:
        event.stop()
        if not self._busy:
            self._say()

    @on(CommentArea.Refused)
    def _paste_refused(self, event: CommentArea.Refused) -> None:
        event.stop()
        self._say(event.why)

    def _refuse(self, why: str, field: str = "") -> None:
        self._say(why)
        if field:
            self.query_one(field).focus()

    def _say(self, refused: str = "", *, quiet: bool = False) -> None:
        typed = self.typed
        count = f"{number(len(typed.value))} of {number(MOST_VALUE)} characters"
        if quiet:
            line = Content.assemble((refused, "$quiet"))
        elif refused:
            line = Content.assemble(("! ", "$attention"), (plain_lines(refused), "$ink"))
        elif typed.value == self.row.value and self.row.kind == "decision":
            line = Content.assemble((f"{count} · the same again confirms it", "$quiet"))
        elif typed.value == self.row.value and self._supersedes is not None:
            said = (
                f"{count} · the same value; its kind changes from {one_line(self.row.kind, 20)} to decision"
            )
            line = Content.assemble((said, "$quiet"))
        else:
            line = Content.assemble((visible(count), "$quiet"))
        self.query_one("#said", Static).update(line)
