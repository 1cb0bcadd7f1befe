"""A chronicle as a file of JSON lines (contract log-and-chronicle, §8 "Ours").

The first line says whose chronicle it is, the last one how many sections there are; each line between them
is one section, by range and generation, with the ids of the first and the last event of its range, by which
the file is told from one of another log. Every line ends with a digest of everything up to it, so that a
line that was changed, added, moved or lost is found and named. Nobody is kept from making such a file: what
it holds is checked like every other write.

What a rebuild could not give again, when a section was written, stands in the file only if it is asked for:
without it, the exports of a chronicle and of its rebuild through the pins in the log are the same bytes.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator
from typing import BinaryIO, NamedTuple, TypeVar
from uuid import UUID

import msgspec

from workbench.chronicle.boundaries import EventTypes
from workbench.chronicle.checks import check_range, closes_nothing, shown
from workbench.chronicle.errors import ChronicleError, InvalidExport, InvalidSection
from workbench.chronicle.sections import Anchor, Section, SectionId, Written
from workbench.chronicle.sqlite import PAGE_ROWS, SQLiteChronicleStore

FORMAT_VERSION = 1
MAX_LINE_BYTES = 64 * 1024 * 1024
"""Of a line that is read: a file without line ends is not taken into memory."""

_CHAIN = b',"chain":"'
_END = b'"}'
_DIGITS = 64

Progress = Callable[[int, int | None, str], object]
"""Takes (sections done, all of them or None, what is being done)."""


class Head(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The first line."""

    chronicle: int
    """The version of the format."""
    stream: str
    begins_with: UUID | None
    """The id of the stream's first event; None where it has none."""
    chain: str


class Line(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, omit_defaults=True):
    """A section."""

    section_id: str
    from_seq: int
    to_seq: int
    unit: int
    supersedes: str | None = None
    first_event: UUID
    last_event: UUID
    pins: tuple[str, ...] = ()
    summarizer: str = ""
    summarizer_version: str = ""
    written_position: int = 0
    written_at: int = 0
    prose: str
    chain: str

    def anchor(self) -> Anchor:
        """Of its section."""
        return Anchor(self.section_id, self.from_seq, self.to_seq, self.unit, self.supersedes)

    def section(self) -> Section:
        """As the store has it."""
        return Section(
            self.anchor(),
            self.prose,
            self.pins,
            Written(self.written_position, self.written_at, self.summarizer, self.summarizer_version),
        )


class Tail(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The last line."""

    sections: int
    chain: str


class Loaded(NamedTuple):
    """What a file brought."""

    sections: int
    """How many it holds."""
    landed: int
    """How many of them were not there yet."""
    other_words: tuple[SectionId, ...] = ()
    """Those that were there with the same anchor, and say something else here or were drawn otherwise: what
    is here stays (contract, "Ours": a chronicle that is written again may draw other words)."""


# -- out -----------------------------------------------------------------------------------


def write_export(
    store: SQLiteChronicleStore,
    write: Callable[[bytes], object],
    *,
    times: bool = False,
    progress: Progress | None = None,
    cancelled: Callable[[], bool] | None = None,
) -> int | None:
    """Hand every section of now to `write`, in chunks of whole lines; how many there were.

    `times` adds when each was written. None once `cancelled` says so, between chunks: what was written
    by then is no whole file. Raises `InvalidExport` for a section whose events are not in the log, what
    `write` raises, and the storage errors of a read.
    """
    chain = _Chain()
    done = 0
    with store.snapshot():
        total = store.count(current=False)
        begins_with = store.event_ids([1]).get(1)
        head = Head(chronicle=FORMAT_VERSION, stream=store.stream, begins_with=begins_with, chain="")
        write(chain.line(head))
        for page in store.exported():
            if cancelled is not None and cancelled():
                return None
            write(b"".join(chain.line(line) for line in _lines(store, page, times)))
            done += len(page)
            if progress is not None:
                progress(done, total, "exporting sections")
    write(chain.line(Tail(sections=done, chain="")))
    return done


def _lines(store: SQLiteChronicleStore, page: Iterable[Section], times: bool) -> Iterator[Line]:
    page = list(page)
    events = store.event_ids({seq for each in page for seq in each.anchor[1:3]})
    for section in page:
        anchor, written = section.anchor, section.written
        first, last = events.get(anchor.from_seq), events.get(anchor.to_seq)
        if first is None or last is None:
            raise InvalidExport(
                f"section {shown(anchor.section_id)} stands for events that are not in the log",
                hint="run: workbench doctor",
                section_id=anchor.section_id,
            )
        yield Line(
            section_id=anchor.section_id,
            from_seq=anchor.from_seq,
            to_seq=anchor.to_seq,
            unit=anchor.unit,
            supersedes=anchor.supersedes,
            first_event=first,
            last_event=last,
            pins=section.pins,
            summarizer=written.summarizer,
            summarizer_version=written.summarizer_version,
            written_position=written.position if times else 0,
            written_at=written.at if times else 0,
            prose=section.prose,
            chain="",
        )


class _Chain:
    """Digests of everything up to each line."""

    def __init__(self) -> None:
        self._digest = b""

    def line(self, value: Head | Line | Tail) -> bytes:
        """A line with its digest, which stands last in it."""
        body = msgspec.json.encode(value)[: -len(_CHAIN + _END)]
        return body + _CHAIN + self.after(body) + _END + b"\n"

    def after(self, body: bytes) -> bytes:
        """The digest once this line, without its own digest, has followed."""
        self._digest = hashlib.sha256(self._digest + body).hexdigest().encode()
        return self._digest


# -- in ------------------------------------------------------------------------------------


def load_export(
    store: SQLiteChronicleStore,
    file: BinaryIO,
    *,
    shift: int = 0,
    boundary: EventTypes | None = None,
    progress: Progress | None = None,
    cancelled: Callable[[], bool] | None = None,
) -> Loaded | None:
    """Store what a file holds, all or nothing; see `ChronicleStore.load`.

    `shift` is in microseconds and is added to when each section was written, where the file says so.
    `boundary` says what closes a stretch here: a section that an event inside its range is said to have
    closed is refused unless that event does. The last event of a range needs no such proof: what lies
    between two sections ends where nothing was closed (contract, "Ours"), and another manifest may have
    closed it.

    None once `cancelled` says so, before anything is stored. Raises `InvalidExport` for a file that is no
    export, is not as it was written, or is of another stream or another log; and what `load` raises. The
    message of each names the line.
    """
    numbers: dict[str, int] = {}
    sections: list[Section] = []
    page: list[tuple[int, Line]] = []
    for number, line in _read(store, file):
        numbers.setdefault(line.section_id, number)
        sections.append(_moved(line.section(), shift))
        page.append((number, line))
        if len(page) == PAGE_ROWS:
            if cancelled is not None and cancelled():
                return None
            _check_events(store, page, boundary)
            page = []
            if progress is not None:
                progress(len(sections), None, "reading sections")
    _check_events(store, page, boundary)
    if cancelled is not None and cancelled():
        return None
    try:
        return Loaded(len(sections), *store.landed(sections))
    except ChronicleError as error:
        number = numbers.get(error.section_id, 0)
        raise _at_line(number, error) if number else error from error


def _at_line(number: int, error: ChronicleError) -> ChronicleError:
    return type(error)(f"line {number}: {error.message}", hint=error.hint, section_id=error.section_id)


def _moved(section: Section, shift: int) -> Section:
    written = section.written
    if not shift or not written.at:
        return section
    return section._replace(written=written._replace(at=written.at + shift))


def stream_of(file: BinaryIO) -> str:
    """Whose chronicle a file says that it is; reads its first line alone. Raises `InvalidExport`."""
    return _head(_Chain(), file).stream


def _head(chain: _Chain, file: BinaryIO) -> Head:
    text = _next(file, 1)
    if not text:
        raise InvalidExport("the file is empty", hint="name a file that chronicle export wrote")
    if not text.startswith(b'{"chronicle":'):
        raise InvalidExport(
            "line 1: this is no export of a chronicle", hint="name a file that chronicle export wrote"
        )
    # Whether this program can read on is worth more to know than whether the line is as it was.
    version = _decoded(text, 1, _Version).chronicle
    if version != FORMAT_VERSION:
        raise InvalidExport(
            f"line 1: the file has version {version} of the format, and this program reads {FORMAT_VERSION}",
            hint="install the newest chronicle-workbench",
        )
    return _decoded(_checked(chain, text, 1), 1, Head)


def _read(store: SQLiteChronicleStore, file: BinaryIO) -> Iterator[tuple[int, Line]]:
    """Each section with the number of its line."""
    chain = _Chain()
    head = _head(chain, file)
    if head.stream != store.stream:
        raise InvalidExport(
            f"line 1: the file is the chronicle of {shown(head.stream)}, not of {shown(store.stream)}",
            hint="name that stream",
        )
    if head.begins_with is not None and store.event_ids([1]).get(1) != head.begins_with:
        raise _other_log(1, "the stream begins with another event there")
    count = 0
    number = 1
    while text := _next(file, number + 1):
        number += 1
        text = _checked(chain, text, number)
        if text.startswith(b'{"sections":'):
            tail = _decoded(text, number, Tail)
            if tail.sections != count:
                raise InvalidExport(f"line {number}: {tail.sections} sections are announced, {count} came")
            if _next(file, number + 1):
                raise InvalidExport(f"line {number + 1}: something was added behind the end of the export")
            return
        count += 1
        yield number, _decoded(text, number, Line)
    raise InvalidExport(
        f"line {number + 1}: the file ends before the end of the export: it is cut off",
        hint="export it again, or copy it again",
    )


class _Version(msgspec.Struct, frozen=True):
    chronicle: int


def _next(file: BinaryIO, number: int) -> bytes:
    text = file.readline(MAX_LINE_BYTES + 1)
    if len(text) > MAX_LINE_BYTES:
        raise InvalidExport(f"line {number}: no line of an export is as long as this one")
    return text


def _checked(chain: _Chain, text: bytes, number: int) -> bytes:
    """The line, if it is as it was written."""
    if not text.endswith(b"\n"):
        raise InvalidExport(
            f"line {number}: the file ends in the middle of the line: it is cut off",
            hint="export it again, or copy it again",
        )
    body, said = text[: -len(_END) - 1 - _DIGITS], text[-len(_END) - 1 - _DIGITS : -len(_END) - 1]
    whole = body.endswith(_CHAIN) and text.endswith(_END + b"\n")
    if not whole or said != chain.after(body[: -len(_CHAIN)]):
        raise InvalidExport(
            f"line {number} is not as it was written: it, or one before it, was changed, added or removed",
            hint="load the file as it was exported",
        )
    return text


_Read = TypeVar("_Read", bound=msgspec.Struct)


def _decoded(text: bytes, number: int, kind: type[_Read]) -> _Read:
    try:
        return msgspec.json.decode(text, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InvalidExport(
            f"line {number}: {_why(error)}", hint="load the file as it was exported"
        ) from None


_TYPES = {
    "int": "a number",
    "str": "a text",
    "uuid": "the id of an event",
    "array": "a list",
    "object": "an object",
    "null": "nothing",
}
_WRONG = re.compile(r"Expected `([^`]*)`, got `[^`]*`(?: - at `\$\.?([a-z_]*)[^`]*`)?")
_FIELD = re.compile(r"Object (contains unknown|missing required) field `([^`]{0,60})")
_AT = re.compile(r"- at `\$\.([a-z_]+)")


def _why(error: Exception) -> str:
    """What is wrong with a line, in words that are no library's."""
    said = str(error)
    if wrong := _WRONG.match(said):
        kinds = " or ".join(_TYPES.get(kind.strip(), kind.strip()) for kind in wrong[1].split("|"))
        return f"{wrong[2] or 'it'} must be {kinds}"
    if field := _FIELD.match(said):
        name = shown(field[2])
        return f"{name} is missing" if field[1].startswith("missing") else f"nobody knows what {name} means"
    if at := _AT.search(said):
        return f"{at[1]} is not what it must be"
    return "it is no line of JSON"


def _check_events(
    store: SQLiteChronicleStore, page: Iterable[tuple[int, Line]], boundary: EventTypes | None
) -> None:
    page = list(page)
    for number, line in page:
        try:
            check_range(line.anchor())
        except InvalidSection as error:
            raise _at_line(number, error) from None
    there = store.event_ids({seq for _, line in page for seq in (line.from_seq, line.to_seq)})
    for number, line in page:
        for seq, event in ((line.from_seq, line.first_event), (line.to_seq, line.last_event)):
            if there.get(seq) == event:
                continue
            what = f"event {seq} is another one there" if seq in there else f"there is no event {seq} here"
            raise _other_log(number, what)
    inside = [(number, line.anchor()) for number, line in page if line.unit != line.to_seq]
    if boundary is None or not inside:
        return
    types = store.event_types(anchor.unit for _, anchor in inside)
    for number, anchor in inside:
        found = types.get(anchor.unit)
        if found not in boundary.types:
            what = "event that is not there" if found is None else ":".join(found)
            raise _at_line(number, closes_nothing(anchor, what))


def _other_log(number: int, what: str) -> InvalidExport:
    return InvalidExport(
        f"line {number}: the file is of another log, or of a later state of this one: {what}",
        hint="load it where its events are",
    )
