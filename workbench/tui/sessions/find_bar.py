"""The box that finds text inside the open session: what is looked for, which hit, of how many."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable
from time import monotonic
from typing import TYPE_CHECKING, NamedTuple

from textual.message import Message
from textual.worker import get_current_worker

from workbench.tui.present import counted, number
from workbench.tui.sessions.asking import ask
from workbench.tui.sessions.found_words import Words, words_of
from workbench.tui.widgets.list_bar import ListBar

if TYPE_CHECKING:
    from textual.timer import Timer

    from workbench.workspace.readers.entry_search import EntrySearch, Hits
    from workbench.workspace.rows import ActaFilter

TYPING_SECONDS = 0.15
"""Pause in typing after which is looked for what stands in the box."""
_TOLD_SECONDS = 0.1
"""How far a long search has come is said at most so often."""


class Field(NamedTuple):
    """Where is looked: the entries of one session that are shown."""

    search: EntrySearch
    session_id: str
    wanted: ActaFilter | None
    row_of: Callable[[int], int]
    """The row that shows an entry: of a folded response its call's."""


class Way(NamedTuple):
    """How to go on from a place."""

    direction: int
    """1 for the next hit, -1 for the previous one."""
    seq: int
    """The entry that is gone on from."""
    inclusive: bool = False
    """That entry itself may be the hit."""
    beside: int | None = None
    """A row whose hits are passed over: it is open, and its own were stepped through."""


class FindBar(ListBar):
    """Looks for text in worker threads and says `WordsChanged` and `Reached`; nothing else moves the detail.

    Not shown while nothing is looked for.
    """

    DEFAULT_CSS = """
    FindBar { display: none; }
    FindBar.-open { display: block; }
    """

    class WordsChanged(Message):
        """Other words are looked for, or none (None)."""

        def __init__(self, words: Words | None) -> None:
            super().__init__()
            self.words = words

    class Reached(Message):
        """A hit is to be shown: the entry that matches and the row that shows it."""

        def __init__(self, field: Field, text: str, seq: int, row: int, way: Way, wrapped: str) -> None:
            super().__init__()
            self.field = field
            self.text = text
            self.seq = seq
            self.row = row
            self.way = way
            self.wrapped = wrapped

    class Left(Message):
        """The box was left with enter: the first hit is wanted."""

    class _NoHit(Message):
        """There is no hit to go to."""

        def __init__(self, field: Field, text: str) -> None:
            super().__init__()
            self.field = field
            self.text = text

    class _Found(Message):
        """Every hit, or those that came since."""

        def __init__(self, field: Field, text: str, hits: Hits, after: int) -> None:
            super().__init__()
            self.field = field
            self.text = text
            self.hits = hits
            self.after = after

    class _Told(Message):
        """How far a search has come."""

        def __init__(self, field: Field, text: str, seq: int) -> None:
            super().__init__()
            self.field = field
            self.text = text
            self.seq = seq

        def can_replace(self, message: Message) -> bool:
            """Of several only the last one is worth drawing."""
            return isinstance(message, FindBar._Told)

    def __init__(self, *, css_id: str) -> None:
        super().__init__("", css_id=css_id)
        self.hit: int | None = None
        """The seq of the hit that was gone to last."""
        self._field: Field | None = None
        self._seqs: tuple[int, ...] | None = None
        """Every hit among what is shown, ascending; None while they are not all found."""
        self._hidden = 0
        self._upto = 0
        self._come_to = 0
        self._wrapped = ""
        self._only_if_found = False
        self._typing: Timer | None = None

    # What the detail asks

    @property
    def active(self) -> bool:
        """Whether something is looked for, or the box is open to say what."""
        return self.editing or bool(self.filter_text)

    def look_in(self, field: Field | None) -> None:
        """Look here from now on; another session's hits are forgotten with its words."""
        before, self._field = self._field, field
        if field is None or before is None or before.session_id != field.session_id:
            self.clear()
        else:
            self._begin()

    def look_again(self) -> None:
        """Entries may have come: look at those."""
        if self._seqs is not None:
            self._collect(self._upto)

    async def ask(self, key: str) -> None:
        """Open the box and give it the keys; `key` is the one that opens it."""
        self.set_key(key)
        self.add_class("-open")
        await self.open()

    def offer(self, text: str, key: str) -> None:
        """Look for this unless something else is looked for; where there is no hit, nothing is said."""
        if self.active or self._field is None or words_of(text) is None:
            return
        self.set_key(key)
        self.set_filter(text)
        self._only_if_found = True
        self._begin()

    def stop_editing(self) -> bool:
        """Give the keys back; what was typed stays. False if the box was not open."""
        if not self.editing:
            return False
        self.close()
        if not self.filter_text.strip():
            self.clear()
        else:
            self._typed()
        return True

    def clear(self) -> bool:
        """Look for nothing; false if nothing was looked for."""
        if not self.active:
            return False
        if self.editing:
            self.close()
        self.set_filter("")
        self._begin()
        self.remove_class("-open")
        return True

    def go(self, way: Way) -> None:
        """Go to a hit: it is said as `Reached` when it is found, at once where all are known."""
        field, text, seqs = self._field, self.filter_text.strip(), self._seqs
        if field is None or not text:
            return

        def work() -> Message | None:
            worker = get_current_worker()
            found = _next(field, text, way, seqs, lambda: worker.is_cancelled)
            if found is None:
                return self._NoHit(field, text)
            seq, row, wrapped = found
            return self.Reached(field, text, seq, row, way, wrapped)

        ask(self, "session-hit", "Looking for a hit", work)

    def accept(self, message: Reached) -> bool:
        """Take a hit as the one that is shown; false if it is no longer looked for."""
        if not self._is_about(message.field, message.text):
            return False
        self.hit, self._wrapped = message.seq, message.wrapped
        self._draw()
        return True

    # Typing

    def on_list_bar_filter_changed(self, message: ListBar.FilterChanged) -> None:
        """Look for it after a pause."""
        message.stop()
        if self._typing is not None:
            self._typing.stop()
        self._typing = self.set_timer(TYPING_SECONDS, self._typed)

    def on_list_bar_filter_done(self, message: ListBar.FilterDone) -> None:
        """Enter: the keys go back, and the first hit is gone to."""
        message.stop()
        self._typed()
        if not self.filter_text.strip():
            self.clear()
        self.post_message(self.Left())

    def _typed(self) -> None:
        if self._typing is not None:
            self._typing.stop()
            self._typing = None
            self._begin()

    # Looking

    def _begin(self) -> None:
        """Look for what stands in the box, from the first entry on."""
        self.hit, self._wrapped = None, ""
        self._seqs, self._hidden, self._upto, self._come_to = None, 0, 0, 0
        text = self.filter_text.strip()
        self.post_message(self.WordsChanged(words_of(text)))
        if text:
            self._collect(0)
        self._draw()

    def _collect(self, after: int) -> None:
        field, text = self._field, self.filter_text.strip()
        if field is None or not text:
            return

        def work() -> Message:
            worker = get_current_worker()
            last = monotonic()

            def looked(seq: int) -> None:
                nonlocal last
                if monotonic() - last > _TOLD_SECONDS:
                    last = monotonic()
                    self.post_message(self._Told(field, text, seq))

            hits = field.search.hits(
                field.session_id,
                field.wanted,
                text,
                after_seq=after,
                cancelled=lambda: worker.is_cancelled,
                looked=looked,
            )
            return self._Found(field, text, hits, after)

        ask(self, "session-find", "Finding text in a session", work)

    def _is_about(self, field: Field, text: str) -> bool:
        return field is self._field and text == self.filter_text.strip()

    def on_find_bar__found(self, message: _Found) -> None:
        """All hits are known."""
        message.stop()
        if not self._is_about(message.field, message.text) or (message.after and message.after != self._upto):
            return
        hits = message.hits
        self._seqs = (*(self._seqs or ()), *hits.seqs) if message.after else hits.seqs
        self._hidden = hits.hidden + (self._hidden if message.after else 0)
        self._upto = hits.upto
        if self._only_if_found:
            self._only_if_found = False
            if not self._seqs:
                self.clear()
                return
            self.add_class("-open")
        self._draw()

    def on_find_bar__told(self, message: _Told) -> None:
        """Say how far it has come."""
        message.stop()
        if self._is_about(message.field, message.text):
            self._come_to = message.seq
            self._draw()

    def on_find_bar__no_hit(self, message: _NoHit) -> None:
        """There is nowhere to go, which the count says; another hit than the open one, maybe."""
        message.stop()
        if self._is_about(message.field, message.text) and self._seqs:
            self._wrapped = "no other"
            self._draw()

    # Saying

    def _draw(self) -> None:
        self.set_count(self.said)

    @property
    def said(self) -> str:
        """Which hit of how many, or what there is instead."""
        text, seqs = self.filter_text.strip(), self._seqs
        if not text:
            return "find in this session"
        if words_of(text) is None:
            return "no word to look for"
        if seqs is None:
            return f"looked up to {number(self._come_to)} …" if self._come_to else "…"
        at = len(seqs) if self.hit is None else bisect_left(seqs, self.hit)
        if not seqs:
            said = "no hit"
        elif at < len(seqs) and seqs[at] == self.hit:
            said = f"{number(at + 1)} of {number(len(seqs))}"
        else:
            said = counted(len(seqs), "hit")
        if self._hidden:
            said += f" · {number(self._hidden)} hidden"
        return f"{self._wrapped} · {said}" if self._wrapped and seqs else said


def _next(
    field: Field, text: str, way: Way, seqs: tuple[int, ...] | None, cancelled: Callable[[], bool]
) -> tuple[int, int, str] | None:
    """The hit to go to, its row, and how it was come to where the end was passed."""
    at, wrapped = way.seq, ""
    if way.inclusive:
        at -= way.direction
    while not cancelled():
        seq = _beyond(field, text, way.direction, at, seqs, cancelled)
        if seq is None:
            if wrapped:
                return None
            forward = way.direction > 0
            wrapped = "from the start again" if forward else "from the end again"
            at = 0 if forward else 2**62
            continue
        row = field.row_of(seq)
        if row != way.beside:
            return seq, row, wrapped
        at = seq
    return None


def _beyond(
    field: Field,
    text: str,
    direction: int,
    at: int,
    seqs: tuple[int, ...] | None,
    cancelled: Callable[[], bool],
) -> int | None:
    if seqs is not None:
        number = bisect_right(seqs, at) if direction > 0 else bisect_left(seqs, at) - 1
        return seqs[number] if 0 <= number < len(seqs) else None
    if field.wanted is None:
        return None
    find = field.search.find
    if direction > 0:
        return find(field.session_id, field.wanted, text, after_seq=at, cancelled=cancelled)
    return find(field.session_id, field.wanted, text, before_seq=at, cancelled=cancelled)
