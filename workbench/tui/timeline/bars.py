"""The line above the list that says which filters are set, part by part."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, tzinfo
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

import msgspec
from textual import events
from textual.message import Message
from textual.strip import Strip

from workbench.tui.present import Line, Span, fit_line, line_width, visible
from workbench.tui.timeline.event_words import type_title
from workbench.tui.timeline.stream_names import read_titles, stream_words
from workbench.tui.widgets.drawn import DrawnWidget
from workbench.workspace.readers.timeline_dates import range_text
from workbench.workspace.rows import TimelineFilter

if TYPE_CHECKING:
    from textual.worker import Worker

    from workbench.tui.shell import Shell

NO_TITLES: Mapping[str, str] = MappingProxyType({})
_NAMED = 4
_NAMED_PARTS = (
    ("projects", "project"),
    ("tasks", "task"),
    ("domains", "domain"),
    ("agents", "agent"),
    ("categories", "category"),
)
"""Parts of a filter that are names, and the word before them."""
_BETWEEN = Span("  ·  ", "faint")
_DROP = "×"
_ROOMY_ROWS = 24
_MOST_LINES, _FEWEST_LINES = 4, 2
"""Lines that a filter may take on a screen of so many rows, and on a smaller one."""


class FilterPart(NamedTuple):
    """One part of a filter in words."""

    name: str
    line: Line


def filter_parts(
    wanted: TimelineFilter, zone: tzinfo = UTC, titles: Mapping[str, str] = NO_TITLES
) -> list[FilterPart]:
    """What a filter asks for, in words: its text, its actors, its types and so on.

    Times in `zone`; `titles` are of the streams of sessions.
    """
    parts: list[FilterPart] = []
    if wanted.text:
        parts.append(FilterPart("text", (Span(f"“{wanted.text}”", "ink"),)))
    for name, before in _NAMED_PARTS:
        names = getattr(wanted, name)
        if names:
            parts.append(FilterPart(name, (Span(f"{before} ", "dim"), Span(_listed(names), "ink"))))
    if wanted.actors:
        parts.append(FilterPart("actors", (Span("by ", "dim"), Span(_listed(wanted.actors), "ink"))))
    if wanted.types:
        named = _listed([type_title(name) for name in wanted.types])
        parts.append(FilterPart("types", (Span(named, "ink"),)))
    if wanted.visibility:
        parts.append(FilterPart("visibility", (Span(f"{wanted.visibility} only", "ink"),)))
    if wanted.streams:
        named = _listed([stream_words(each, titles) for each in wanted.streams])
        parts.append(FilterPart("streams", (Span("in ", "dim"), Span(named, "ink"))))
    if wanted.since is not None or wanted.until is not None:
        said = visible(range_text(wanted.since, wanted.until, zone))
        parts.append(FilterPart("range", (Span("happened ", "dim"), Span(said, "ink"))))
    return parts


def filter_words(wanted: TimelineFilter, zone: tzinfo = UTC) -> Line:
    """The whole filter on one line."""
    line: list[Span] = []
    for part in filter_parts(wanted, zone):
        line += [_BETWEEN, *part.line] if line else part.line
    return tuple(line)


def without(wanted: TimelineFilter, name: str) -> TimelineFilter:
    """The filter without one of its parts."""
    if name == "range":
        return msgspec.structs.replace(wanted, since=None, until=None)
    empty = getattr(TimelineFilter(), name)
    return msgspec.structs.replace(wanted, **{name: empty})


def _listed(names: tuple[str, ...] | list[str]) -> str:
    shown = [visible(name[:60]) for name in names[:_NAMED]]
    if len(names) > _NAMED:
        shown.append(f"{len(names) - _NAMED} more")
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} or {shown[-1]}"


Pieces = list[tuple[str, Line]]
"""One line in pieces, each with the name of the part that it belongs to; "" for what lies between."""


def laid_out(parts: Sequence[FilterPart], width: int, reserved: int, most: int) -> list[Pieces]:
    """The parts in at most `most` lines of `width` cells, the first of which keeps `reserved` cells free.

    Parts are cut evenly where they would not fit otherwise, the longest first.
    """
    longest = max((line_width(part.line) for part in parts), default=0)
    if not parts:
        return []
    lines: list[Pieces] = []
    # Also in a bar without room one cell of each is tried.
    for each in range(max(1, min(longest, width - 2)), 0, -1):
        lines = _wrapped(parts, each, width, reserved)
        if len(lines) <= most:
            return lines
    return lines[:most]


def _wrapped(parts: Sequence[FilterPart], each: int, width: int, reserved: int) -> list[Pieces]:
    lines: list[Pieces] = [[]]
    room = width - reserved
    for part in parts:
        line = fit_line(part.line, min(line_width(part.line), each))
        piece: Line = (*line, Span(" "), Span(_DROP, "accent"))
        need = line_width(piece) + (line_width((_BETWEEN,)) if lines[-1] else 0)
        if need > room and (lines[-1] or len(lines) == 1):
            lines.append([])
            room, need = width, line_width(piece)
        if lines[-1]:
            lines[-1].append(("", (_BETWEEN,)))
        lines[-1].append((part.name, piece))
        room -= need
    return lines


class _TitlesRead(Message, bubble=False):
    """A worker has read what the sessions of streams are called."""

    def __init__(self, titles: dict[str, str]) -> None:
        super().__init__()
        self.titles = titles


class FilterLine(DrawnWidget):
    """The filter in words, each part with a mark that removes it, and the key that clears all.

    Nothing where none is set; more than one line where one is too short.
    """

    DEFAULT_CSS = """
    FilterLine { height: 1; width: 1fr; display: none; }
    FilterLine.-set { display: block; }
    """

    app: Shell

    class Dropped(Message):
        """A part was clicked away; no name: all of them."""

        def __init__(self, name: str) -> None:
            super().__init__()
            self.name = name

    class Named(Message):
        """The titles of the sessions that the filter names are known now."""

    def __init__(self, *, css_id: str) -> None:
        super().__init__(id=css_id)
        self._parts: Sequence[FilterPart] = ()
        self._key = ""
        self._words: Callable[[Mapping[str, str]], Sequence[FilterPart]] = lambda titles: ()
        self.titles: dict[str, str] = {}
        """Of the streams that were asked for so far."""

    def show(self, wanted: TimelineFilter, key: str, zone: tzinfo = UTC) -> None:
        """Show this filter; `key` clears it."""
        self.show_parts(lambda titles: filter_parts(wanted, zone, titles), wanted.streams, key)

    def show_parts(
        self, words: Callable[[Mapping[str, str]], Sequence[FilterPart]], streams: Sequence[str], key: str
    ) -> None:
        """Show what `words` makes of a filter; again once the titles of these streams are read."""
        self._words, self._key = words, key
        self._put()
        unknown = [stream for stream in streams if stream and stream not in self.titles]
        workspace = self.app.workspace
        if not unknown or workspace is None:
            return

        def work() -> None:
            self.post_message(_TitlesRead(read_titles(workspace, unknown)))

        self.run_worker(
            work,
            group="filter-titles",
            description="Reading what a session is called",
            exclusive=True,
            exit_on_error=False,
            thread=True,
        )

    def on__titles_read(self, message: _TitlesRead) -> None:
        """Say it in words."""
        self.titles |= message.titles
        self._put()
        self.post_message(self.Named())

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        """What a session is called could not be read: say so, and go on."""
        if event.worker.error is not None and event.state.name == "ERROR":
            self.app.show_failure(event.worker.error)

    def _put(self) -> None:
        self._parts = self._words(self.titles)
        self.set_class(bool(self._parts), "-set")
        self._fit()

    def on_resize(self) -> None:
        """Another width may need another number of lines."""
        self._fit()

    def _fit(self) -> None:
        if self.size.width:
            self.styles.height = max(1, len(self._lines()))
        self.refresh()

    def _clear(self) -> Line:
        return (Span(f"  {self._key} ", "accent"), Span("clears ", "dim"))

    def _lines(self) -> list[Pieces]:
        most = _MOST_LINES if self.app.size.height >= _ROOMY_ROWS else _FEWEST_LINES
        return laid_out(self._parts, self.size.width - 2, line_width(self._clear()), most)

    def render_line(self, y: int) -> Strip:
        width = self.size.width
        lines = self._lines()
        spans = [span for _, piece in lines[y] for span in piece] if y < len(lines) else []
        if y:
            return self.strip((Span(" "), *spans), width)
        clear = self._clear()
        room = max(0, width - 1 - line_width(clear))
        return self.strip((Span(" "), *fit_line(spans, room), *clear), width)

    def on_click(self, event: events.Click) -> None:
        """Remove the part that was clicked, or all where the key stands."""
        event.stop()
        lines = self._lines()
        end = 1
        for name, piece in lines[event.y] if event.y < len(lines) else ():
            end += line_width(piece)
            if event.x < end:
                if name:
                    self.post_message(self.Dropped(name))
                return
        if event.y == 0 and event.x >= self.size.width - line_width(self._clear()):
            self.post_message(self.Dropped(""))
