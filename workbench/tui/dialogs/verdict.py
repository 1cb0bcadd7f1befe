"""A person's verdict on something that an agent said: accepted, questioned or rejected, with a comment."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from typing import ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message
from textual.widgets import Static, TextArea

from workbench.errors import WorkbenchError
from workbench.memory.events import ReviewItem
from workbench.memory.reviews_written import MAX_COMMENT, ReviewReceipt
from workbench.memory.views import Review
from workbench.tui.dialogs.base import Dialog, key_line
from workbench.tui.dialogs.comment_area import CommentArea
from workbench.tui.drafts import Verdict
from workbench.tui.failures import failure_of
from workbench.tui.present import literal, number, one_line, wrap

VERDICT_MARKS: dict[str, tuple[str, str]] = {
    "accepted": ("✓", "$kept"),
    "questioned": ("?", "$attention"),
    "rejected": ("✗", "$broken"),
}
"""The mark of a verdict and the colour that it has in a dialog."""
VERDICTS = tuple(VERDICT_MARKS)
_JUDGED_LINES, _EARLIER_LINES, _SAID_LINES = 6, 3, 3
"""Lines that may be shown of what is judged, of an earlier verdict and of an error, where there is room."""
_PANEL = 90
"""Columns of the panel, where the screen has them."""
_ALWAYS = 6
"""Rows that every size has: the border, the title, the verdicts, one line of what is said, the keys."""
_GAPS = 3
_COMMENT_ROWS = {"": 6, "-tight": 4, "-small": 2}
_FRAME = 4
"""Cells of the panel's border and padding."""
_TIGHT_ROWS, _ROOMY_ROWS = 24, 30
"""Rows of the screen below which the gaps go, and below which the comment is lower."""
_CHOSEN, _OPEN = "●", "○"
_NAMED = 60
"""Cells that name what a draft is about."""
_WIDE = 76
"""Columns from which every key is named."""


@dataclass(frozen=True, slots=True)
class Judged:
    """What a verdict is asked about. `kind` (checkpoint, fact, observation) and `id` are those of the review.

    `title` says in a few words what it is, `text` is what it says. Of a checkpoint one line may be meant
    instead of the whole: `item` names it, `line` is its text and `line_title` where it stands.
    """

    kind: str
    id: str
    title: str
    text: str
    earlier: Review | None = None
    """The latest verdict on the whole."""
    item: ReviewItem | None = None
    line: str = ""
    line_title: str = ""
    line_earlier: Review | None = None
    """The latest verdict on the line."""
    of_line: bool = False
    """The line is what is offered first."""

    @property
    def about(self) -> tuple[str, str, ReviewItem | None]:
        """What a draft of the verdict is kept by."""
        return self.kind, self.id, self.item


class Choices(Static, can_focus=True):
    """Several words in a line, of which one can be chosen; nothing is chosen unless `chosen` says so."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left,h,up", "move(-1)", "previous", show=False),
        Binding("right,l,down,space", "move(1)", "next", show=False),
    ]

    DEFAULT_CSS = """
    Choices { height: auto; }
    """

    class Changed(Message):
        """Another one was chosen."""

    def __init__(self, choices: dict[str, tuple[str, str]], chosen: str = "", *, css_id: str) -> None:
        """`choices` maps each word to its mark, which may be empty, and its colour."""
        super().__init__("", markup=False, id=css_id)
        self._choices = choices
        self.chosen = chosen

    def on_mount(self) -> None:
        """Draw."""
        self._draw()

    def on_focus(self) -> None:
        """Show that it has the keys."""
        self._draw()

    def on_blur(self) -> None:
        """Show that it has not."""
        self._draw()

    def action_move(self, step: int) -> None:
        """Choose the neighbour."""
        names = list(self._choices)
        if self.chosen:
            self.choose(names[(names.index(self.chosen) + step) % len(names)])
        else:
            self.choose(names[0 if step > 0 else -1])

    def choose(self, name: str) -> None:
        """Choose this one."""
        self.chosen = name
        self._draw()
        self.post_message(self.Changed())

    def on_click(self, event: events.Click) -> None:
        """Choose the word that was clicked."""
        end = 0
        for name in self._choices:
            start, end = end, end + len(self._label(name)) + 1
            if start <= event.x < end - 1:
                event.stop()
                self.choose(name)
                return

    def _label(self, name: str) -> str:
        mark, _ = self._choices[name]
        dot = _CHOSEN if name == self.chosen else _OPEN
        return f" {dot} {mark} {name} " if mark else f" {dot} {name} "

    def _draw(self) -> None:
        line = Content("")
        for name, (mark, colour) in self._choices.items():
            if name == self.chosen:
                style = "bold reverse $accent" if self.has_focus else "bold $accent"
                line += Content.assemble((self._label(name), style), " ")
            else:
                shown = (f"{mark} ", colour) if mark else ""
                line += Content.assemble((f" {_OPEN} ", "$quiet"), shown, (f"{name} ", "$body"), " ")
        self.update(line)


class _Written(Message, bubble=False):
    """It was written."""

    def __init__(self, verdict: Verdict, receipt: ReviewReceipt) -> None:
        super().__init__()
        self.verdict = verdict
        self.receipt = receipt


class _NotWritten(Message, bubble=False):
    """It was refused."""

    def __init__(self, error: Exception) -> None:
        super().__init__()
        self.error = error


class _NewerFound(Message, bubble=False):
    """Where a newer checkpoint of the task stands, 0 for none; `held`: nothing was written because of it."""

    def __init__(self, at: int, *, held: bool) -> None:
        super().__init__()
        self.at = at
        self.held = held


class VerdictDialog(Dialog[Verdict]):
    """Ends with the verdict, None for esc. No verdict is preselected.

    `write` is called on another thread while the dialog stays: what it refuses is said, and what was typed
    can be given again. `refused` says why the one that is offered as `given` could not be written. `key`
    opens it again, as what was typed is kept; without `write` nothing is. `newer` gives, on another thread,
    the position of a newer checkpoint of the task, or 0: before a verdict on what is older by now, that is
    said.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "cancel", "close", show=False, priority=True),
        Binding("ctrl+s", "give", "give", show=False, priority=True),
        Binding("enter", "give", "give", show=False),
        Binding("a", "choose('accepted')", "accepted", show=False),
        Binding("q", "choose('questioned')", "questioned", show=False),
        Binding("r", "choose('rejected')", "rejected", show=False),
        Binding("w", "turn", "whole or line", show=False),
    ]

    AUTO_FOCUS = "#verdict"
    DEFAULT_CSS = """
    VerdictDialog > .panel { width: 90; max-height: 100%; }
    VerdictDialog #judged { height: auto; }
    VerdictDialog #earlier { height: auto; color: $quiet; }
    VerdictDialog #scope { margin-bottom: 1; }
    VerdictDialog .gap { margin-top: 1; }
    VerdictDialog #said { height: auto; margin-top: 1; color: $quiet; }
    VerdictDialog TextArea, VerdictDialog TextArea:focus {
        height: 6; border: none; padding: 0; background: $cursor; color: $ink;
        scrollbar-size-vertical: 1;
    }
    VerdictDialog TextArea:focus { background-tint: $cursor 0%; }
    VerdictDialog TextArea .text-area--cursor-line { background: $cursor; }
    VerdictDialog TextArea .text-area--placeholder { color: $quiet; }
    VerdictDialog.-tight TextArea, VerdictDialog.-tight TextArea:focus { height: 4; }
    VerdictDialog.-small #scope { margin-bottom: 0; }
    VerdictDialog.-small TextArea, VerdictDialog.-small TextArea:focus { height: 2; }
    VerdictDialog.-small .gap { margin-top: 0; }
    VerdictDialog.-small #said { margin-top: 0; }
    VerdictDialog.-small .keys { margin-top: 0; }
    """

    def __init__(
        self,
        judged: Judged,
        given: Verdict | None = None,
        refused: str = "",
        write: Callable[[Verdict], ReviewReceipt] | None = None,
        key: str = "",
        newer: Callable[[], int] | None = None,
    ) -> None:
        super().__init__()
        self.judged = judged
        self._of_line = judged.item is not None and (
            judged.of_line if given is None else given.item is not None
        )
        self._given = given
        self._refused = refused
        self._write = write
        self._key = key
        self._newer = newer
        self._told_of: int | None = None
        """The position of the newer checkpoint that is told of, 0 for none; None: it was not read yet."""
        self._came = ""
        self._busy = False
        self.receipt: ReviewReceipt | None = None
        """What was written, once it is."""
        self._error = ""

    def compose(self) -> ComposeResult:
        judged, given = self.judged, self._given
        with Vertical(classes="panel") as panel:
            panel.border_title = "Your verdict"
            if judged.item is not None:
                scopes = {"the whole": ("", ""), "this line": ("", "")}
                yield Choices(scopes, "this line" if self._of_line else "the whole", css_id="scope")
            yield Static("", id="judged", markup=False)
            yield Static("", id="earlier", markup=False)
            yield Choices(VERDICT_MARKS, given.verdict if given is not None else "", css_id="verdict")
            yield CommentArea(
                given.comment if given is not None else "",
                id="comment",
                placeholder="A comment that the next agent reads, or nothing",
                compact=True,
                classes="gap",
            )
            yield Static("", id="said", markup=False)
            yield Static("", classes="keys", markup=False)

    def on_mount(self) -> None:
        """Show what is judged."""
        self.query_one("#verdict").add_class("gap")
        comment = self.query_one("#comment", TextArea)
        comment.move_cursor(comment.document.end)
        self.note_commit()
        self._say(self._refused)
        self._show_keys()

    def on_resize(self) -> None:
        """On a small screen everything has fewer lines."""
        for name in _COMMENT_ROWS:
            if name:
                self.set_class(name == self._size_name, name)
        self._say(self._error)
        self._show_keys()

    def action_choose(self, verdict: str) -> None:
        """Choose this verdict."""
        self.query_one("#verdict", Choices).choose(verdict)

    def action_turn(self) -> None:
        """The whole instead of the line, or the other way round."""
        if self.judged.item is not None:
            self.query_one("#scope", Choices).action_move(1)

    def action_give(self) -> None:
        """Give the verdict, if one was chosen."""
        if self._busy:
            return
        verdict = self.query_one("#verdict", Choices).chosen
        comment = self.comment
        if not verdict:
            self._say("choose accepted, questioned or rejected first")
            self.query_one("#verdict").focus()
            return
        if len(comment) > MAX_COMMENT:
            self._say(
                f"the comment has {number(len(comment))} characters: shorten it to {number(MAX_COMMENT)}"
            )
            self.query_one("#comment").focus()
            return
        given, write = Verdict(verdict, comment, self.judged.item if self._of_line else None), self._write
        if write is None:
            self.dismiss(given)
            return
        self._busy = True
        self.query_one("#said", Static).update(literal("recording …"))

        newer, told_of = self._newer, self._told_of or 0

        def work() -> None:
            try:
                at = 0 if newer is None else newer()
                if at > told_of:
                    self.post_message(_NewerFound(at, held=True))
                    return
                self.post_message(_Written(given, write(given)))
            except Exception as error:
                # Whatever it is: what was typed stays, and can be given again.
                self.post_message(_NotWritten(error))

        self.run_worker(
            work, group="verdict", description="Writing a verdict", exit_on_error=False, thread=True
        )

    def on__written(self, message: _Written) -> None:
        """Done."""
        self.receipt = message.receipt
        self.dismiss(message.verdict)

    def note_commit(self) -> None:
        """Look whether a newer checkpoint came."""
        newer = self._newer
        if newer is None:
            return

        def work() -> None:
            # What cannot be read is said where the verdict is given, which reads it again.
            with suppress(WorkbenchError):
                self.post_message(_NewerFound(newer(), held=False))

        self.run_worker(
            work,
            group="newer",
            description="Looking for a newer checkpoint",
            exit_on_error=False,
            thread=True,
        )

    def on__newer_found(self, message: _NewerFound) -> None:
        """Say that what is judged is an older checkpoint by now, and what giving the verdict does."""
        if message.held:
            self._busy = False
        if message.at > (self._told_of or 0):
            self._came = "is there" if self._told_of is None else "came meanwhile"
        self._told_of = max(message.at, self._told_of or 0)
        self._say("" if message.held else self._error)

    def on__not_written(self, message: _NotWritten) -> None:
        """Say why."""
        self._busy = False
        failure = failure_of(message.error, root=self.app.root)
        self._say(" ".join(part for part in ("Not recorded.", failure.sentence, failure.hint) if part))

    def action_cancel(self) -> None:
        """Leave; what is being written is waited for, since it happens."""
        if not self._busy:
            self.dismiss(None)

    @property
    def comment(self) -> str:
        """What was typed, without blank lines and spaces at its ends."""
        return self.query_one("#comment", TextArea).text.strip()

    @property
    def draft(self) -> Verdict | None:
        """What was chosen and typed, to be shown when the same is judged again; None without a word."""
        comment = self.comment
        if not comment:
            return None
        verdict = self.query_one("#verdict", Choices).chosen
        return Verdict(verdict, comment, self.judged.item if self._of_line else None)

    def keep_words(self) -> bool:
        """Keep the comment and the choice, and say so."""
        draft = None if self._write is None or self.receipt is not None else self.draft
        if draft is None:
            return False
        self.app.verdict_drafts.keep(self.judged.about, one_line(self.judged.title, _NAMED), draft)
        self.app.say_kept(self._key)
        return True

    @on(Choices.Changed)
    def _chosen(self, event: Choices.Changed) -> None:
        event.stop()
        if self.judged.item is not None:
            self._of_line = self.query_one("#scope", Choices).chosen == "this line"
        self._say()

    @on(TextArea.Changed)
    def _typed(self, event: TextArea.Changed) -> None:
        event.stop()
        self._say()

    @on(CommentArea.Refused)
    def _paste_refused(self, event: CommentArea.Refused) -> None:
        event.stop()
        self._say(event.why)

    def on_descendant_focus(self) -> None:
        """The keys are others in the comment."""
        if self.query(".keys"):
            self._show_keys()
            if self._came:
                self._say(self._error)

    @property
    def _size_name(self) -> str:
        rows = self.size.height
        return "-small" if rows < _TIGHT_ROWS else "-tight" if rows < _ROOMY_ROWS else ""

    @property
    def _width(self) -> int:
        return max(20, min(_PANEL, int(self.size.width * 0.96)) - _FRAME)

    def _say(self, refused: str = "") -> None:
        """Say this, else how long the comment is; what is judged has the rows that are left."""
        if self._busy:
            return
        self._error = refused
        refused = refused or self._older_by_now()
        size = self._size_name
        rows = self.size.height - _ALWAYS - _COMMENT_ROWS[size] - (self.judged.item is not None)
        if size != "-small":
            rows -= _GAPS + 1 + (self.judged.item is not None)
        said = self._said(refused, max(1, min(_SAID_LINES, rows - 1)))
        earlier = self.judged.line_earlier if self._of_line else self.judged.earlier
        rows -= len(said) - 1
        before = (
            [] if earlier is None else _rows(_earlier(earlier), self._width, min(_EARLIER_LINES, rows - 1))
        )
        rows -= len(before)
        self._show_judged(max(1, min(_JUDGED_LINES, rows)))
        self._show_earlier(earlier, before)
        alarming = bool(refused) or len(self.comment) > MAX_COMMENT
        mark = ("! ", "$attention") if alarming else ""
        text = "\n".join(said)
        self.query_one("#said", Static).update(
            Content.assemble(mark, (text, "$ink" if alarming else "$quiet"))
        )

    def _older_by_now(self) -> str:
        if not self._came or len(self.comment) > MAX_COMMENT:
            return ""
        key = "ctrl-s" if isinstance(self.focused, TextArea) else "enter"
        return f"a newer checkpoint {self._came}: {key} gives your verdict on the older one, shown here"

    def _said(self, refused: str, most: int) -> list[str]:
        length = len(self.comment)
        count = f"{number(length)} of {number(MAX_COMMENT)} characters"
        if refused:
            first, *others = _rows(refused, self._width - 2, most)
            return [first, *(f"  {line}" for line in others)]
        return [f"{count}: too long" if length > MAX_COMMENT else count]

    def _show_judged(self, most: int) -> None:
        judged = self.judged
        title, text = (judged.line_title, judged.line) if self._of_line else (judged.title, judged.text)
        shown = "\n".join(_rows(text, self._width, most))
        self.query_one("#judged", Static).update(
            Content.assemble((one_line(title, self._width), "$quiet"), "\n", (shown, "$ink"))
        )

    def _show_earlier(self, earlier: Review | None, lines: list[str]) -> None:
        content = Content("")
        if earlier is not None and lines:
            mark, colour = VERDICT_MARKS.get(earlier.verdict, ("·", "$quiet"))
            said = "\n".join(lines).removeprefix("· ")
            content = Content.assemble((f"{mark} ", colour), (said, "$quiet"))
        self.query_one("#earlier", Static).update(content)
        self.query_one("#earlier").display = bool(lines)

    def _show_keys(self) -> None:
        if not self.query(".keys"):
            return
        if isinstance(self.focused, TextArea):
            keys = [("ctrl-s", "give"), ("tab", "back to the choice"), ("esc", "cancel")]
        else:
            turn = [("w", "whole or line")] if self.judged.item is not None else []
            keys = [("enter", "give"), ("a q r", "choose"), ("tab", "comment"), *turn, ("esc", "cancel")]
            if turn and self.size.width < _WIDE:
                # The line above them says what is chosen.
                keys.remove(turn[0])
        self.query_one(".keys", Static).update(key_line(*keys))


def _earlier(review: Review | None) -> str:
    """What was said before, with a place for its mark; nothing where nothing was."""
    if review is None:
        return ""
    comment = f": {review.comment}" if review.comment else ""
    return f"· {review.verdict} before by {review.reviewer}{comment}"


def _rows(text: str, width: int, most: int) -> list[str]:
    """A text as at most so many lines, the last one cut with `…`; none for less than one, and for no text."""
    if most < 1 or not text:
        return []
    lines = list(islice(wrap(one_line(text, width * most + width), width), most + 1))
    if len(lines) > most:
        # The words of the next line: what does not fit shows that it was cut.
        lines[most - 1 :] = [one_line(f"{lines[most - 1]} {lines[most]}", width)]
    return lines
