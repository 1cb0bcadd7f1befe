"""Time travel: the whole program shows what was known at an earlier position, and says so.

The moment is one value, `app.as_of`; None is now. Screens that show the past have `Page.FOLLOWS_AS_OF` and
read again in `Page.on_as_of_changed`; the others are about now only and say that. While it is set nothing can
be written: `Access.past` is the reason that every writing action gives.
"""

from __future__ import annotations

from datetime import UTC, datetime, tzinfo
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from textual.message import Message

from workbench.errors import WorkbenchError
from workbench.log.times import from_micros
from workbench.tui.failures import Failure, failure_of
from workbench.tui.leading import Leading
from workbench.tui.moments import AsOf, moment_texts
from workbench.tui.present import number
from workbench.tui.timeline.places import IdPrefix, Moment, NoSuchPlace, find_place, parse_place

if TYPE_CHECKING:
    from workbench.workspace.readers.timeline_queries import TimelineReader

HINT = (
    "What was known then is shown, by when it was recorded: a position (12 400), an event's id, or a time, "
    "as 2026-03-02 · 2026-03-02 14:00 · yesterday · 3 days ago; a day means its beginning"
)


class AsOfFound(Message):
    """A moment that was asked for was found, or not (`error`)."""

    def __init__(self, text: str, found: AsOf | None, error: WorkbenchError | None = None) -> None:
        super().__init__()
        self.text = text
        self.found = found
        self.error = error


def find_moment(reader: TimelineReader, text: str, zone: tzinfo, now: datetime) -> AsOf:
    """The moment that a text names; a time means the last position recorded up to then.

    Raises `NoSuchPlace` for a text that names none, for what is still to come, and for a time before the
    first event. Reads the log: not for the UI's thread.
    """
    place = parse_place(text, zone, now)
    last = reader.bounds().last
    if not last:
        raise NoSuchPlace("the workspace has no events yet: it has no past")
    if isinstance(place, Moment):
        shown = f"{_local(place.micros, zone):%Y-%m-%d %H:%M}"
        if _moment(place.micros) > now:
            raise NoSuchPlace(f"{shown} is still to come", hint="Give a time that has passed.")
        position = reader.at_time(place.micros)
        if not position:
            first = reader.recorded_at(1)
            raise NoSuchPlace(
                f"nothing was recorded yet at {shown}",
                hint=f"The first event was recorded {first.astimezone(zone):%Y-%m-%d %H:%M:%S}.",
            )
    elif isinstance(place, IdPrefix):
        position = find_place(reader, place)
    else:
        if place > last:
            raise NoSuchPlace(
                f"position {number(place)} is still to come", hint=f"Positions go from 1 to {number(last)}."
            )
        if place < 1:
            raise NoSuchPlace(
                "before position 1 nothing was recorded", hint=f"Positions go from 1 to {number(last)}."
            )
        position = place
    return AsOf(position, reader.recorded_at(position))


def _moment(micros: int) -> datetime:
    """A moment; one that no calendar has lies at its end."""
    try:
        return from_micros(micros)
    except (OverflowError, ValueError):
        return datetime.max.replace(tzinfo=UTC) if micros > 0 else datetime.min.replace(tzinfo=UTC)


def _local(micros: int, zone: tzinfo) -> datetime:
    moment = _moment(micros)
    try:
        return moment.astimezone(zone)
    except (OverflowError, ValueError):
        return moment


class Travelling(Leading, inherit_bindings=False):
    """Holds the moment that the program shows."""

    def __init__(self) -> None:
        super().__init__()
        self._as_of: AsOf | None = None

    @property
    def as_of(self) -> AsOf | None:
        """The moment of the past that is shown; None: now."""
        return self._as_of

    def as_of_texts(self) -> tuple[str, ...]:
        """The moment in words for the header, the fullest first; none for now."""
        return () if self._as_of is None else moment_texts(self._as_of, self._zone())

    def travel(self, as_of: AsOf | None) -> None:
        """Show the past as of this moment from now on, or (None) what is now."""
        if as_of == self._as_of:
            return
        self._as_of = as_of
        key = self.keymap.shown("app.now")
        self.access.past = "" if as_of is None else f"the program shows the past; {key} comes back to now"
        for page in self.built_pages():
            page.note_as_of()
            page.update_header()
        if self.page is not None:
            self.page.update_footer()

    def action_travel(self) -> None:
        """Ask as of when."""
        page = self.page
        here = "" if page is None else page.moment_here()
        if not here and self._as_of is not None:
            here = str(self._as_of.position)
        self._ask_moment(here, None)

    def action_now(self) -> None:
        """Come back to now."""
        self.travel(None)

    def _ask_moment(self, text: str, refused: Failure | None) -> None:
        from workbench.tui.dialogs.prompt import PromptDialog

        self.push_screen(PromptDialog("As of", HINT, text, refused=refused), self._find_moment)

    def _find_moment(self, text: str | None) -> None:
        workspace = self.workspace
        if not text or not text.strip() or workspace is None:
            return
        if text.strip().lower() == "now":
            self.travel(None)
            return
        reader, zone, now = workspace.readers.timeline, self._zone(), self.clock()

        def find() -> None:
            try:
                self.post_message(AsOfFound(text, find_moment(reader, text, zone, now)))
            except WorkbenchError as error:
                self.post_message(AsOfFound(text, None, error))

        self.run_worker(
            find,
            group="as-of",
            description="Finding a moment of the past",
            exit_on_error=False,
            exclusive=True,
            thread=True,
        )

    def on_as_of_found(self, message: AsOfFound) -> None:
        """Show it, or ask again with why it cannot be shown."""
        if message.error is not None:
            self._ask_moment(message.text, failure_of(message.error, root=self.root))
        elif message.found is not None:
            self.travel(message.found)

    def _zone(self) -> tzinfo:
        return UTC if self.workspace is None else ZoneInfo(self.workspace.timezone)
