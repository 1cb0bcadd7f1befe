"""The chronicle of one stream of a workspace (contract log-and-chronicle, §8-11)."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, NamedTuple

from workbench.chronicle.admission import Admission
from workbench.chronicle.anchors import Anchors
from workbench.chronicle.boundaries import EventTypes, UnknownBoundary
from workbench.chronicle.brief_text import USUAL_CHARACTERS, BriefPage, brief_page
from workbench.chronicle.consolidator import Consolidator, Lag, NotPinned
from workbench.chronicle.export_file import Loaded, load_export, write_export
from workbench.chronicle.fold import FOLD_NAME, Author, Keep
from workbench.chronicle.prose import Prose
from workbench.chronicle.sections import Anchor, Section, SectionId
from workbench.chronicle.sqlite import SQLiteChronicleStore
from workbench.chronicle.stretches import coverage, next_stretch
from workbench.errors import WorkbenchError
from workbench.log.event_reader import EventReader
from workbench.log.pins.events import PinPromoted
from workbench.log.pins.ledger import PinLedger
from workbench.log.pins.recording import Recording, latest_pins, pin_events, read_recording, write_recording
from workbench.log.pins.replay import ReplayPins
from workbench.log.pins.sqlite import ScratchRow
from workbench.log.ports import JsonValue
from workbench.log.positions import Positions
from workbench.log.registry import PendingEvent, StoredEvent
from workbench.log.streams import StreamRef, pins_stream
from workbench.log.upcasts import UpcastRegistry
from workbench.storage.errors import DatabaseReadOnly
from workbench.storage.replacing import replacing
from workbench.workspace.chronicle.errors import NotConsolidated
from workbench.workspace.chronicle.files import recording_of, refuse_other
from workbench.workspace.chronicle.hidden_queries import HiddenEvents, admits
from workbench.workspace.chronicle.turns import Again, Failure, Progress, Turn, counted, suppress_stop
from workbench.workspace.own_files import refuse_own

if TYPE_CHECKING:
    from workbench.workspace.chronicle.chronicles import Chronicles
    from workbench.workspace.workspace import Workspace

Cancelled = Callable[[], bool]


class Rebuilt(NamedTuple):
    """What a rebuild did."""

    sections: list[Anchor]
    """All that the chronicle has now."""
    drawn: int
    """Pins that had to be drawn for them; 0 in a replay and for a summarizer that draws nothing."""


class StreamChronicle:
    """A stream's sections: written, read, taken out and in. Threads may share it.

    `anchors` and `prose` are what an agent may have: sections that may repeat what was hidden since are
    not in `prose`. A person's view of all is `Readers.chronicle`.
    """

    def __init__(self, workspace: Workspace, chronicles: Chronicles, ref: StreamRef) -> None:
        self._workspace = workspace
        self._chronicles = chronicles
        self._ref = ref
        self._log = workspace.log
        self.store = SQLiteChronicleStore(workspace.log, ref.name)
        self._hidden = HiddenEvents(workspace.log, ref.name)
        self._reader = EventReader(workspace.log.stream(ref), UpcastRegistry(), workspace.log.registry)

    @property
    def stream(self) -> str:
        """The stream's whole name."""
        return self._ref.name

    @property
    def kind(self) -> str:
        """`session`, `task`, `project` or `domain`."""
        return self._ref.kind

    # -- reading ---------------------------------------------------------------------------

    @cached_property
    def anchors(self) -> Anchors:
        """Which events the sections stand for."""
        return Anchors(self.store)

    @cached_property
    def prose(self) -> Prose:
        """What the sections say, without those that are withheld."""
        return Prose(self.store, hidden=self._hidden)

    def lag(self) -> Lag:
        """How far the chronicle is behind. Raises `UnknownBoundary`."""
        boundary = self._boundary()
        last, through = self._reader.last(), self.store.consolidated_through()
        found = coverage(self.store, last)
        uncovered = found.uncovered(last)
        if boundary is None:
            return Lag(last, through, None, uncovered)
        since = Positions(self._log).read_position(FOLD_NAME, self.stream)
        closing = next_stretch(self._reader, boundary, found, max(found.next_seq - 1, since))
        return Lag(last, through, closing, uncovered)

    def brief(self, since_seq: int | None = None, max_chars: int = USUAL_CHARACTERS) -> BriefPage:
        """A page for an agent that goes on with the stream; see `brief_page`."""
        return brief_page(
            self.store,
            self._reader,
            since_seq=since_seq,
            max_chars=max_chars,
            admit=admits,
            hidden=self._hidden,
        )

    # -- writing ---------------------------------------------------------------------------

    def consolidate(
        self, progress: Progress | None = None, cancelled: Cancelled | None = None
    ) -> list[Anchor]:
        """Write a section for each stretch that was closed by now; the new anchors, in order.

        Waits while another call or program writes this chronicle; `cancelled` is asked then and between two
        draws, and what was written before stays. Raises `NotConsolidated`, `UnknownBoundary`, `Untrusted`
        and `SummarizerConfiguration` before anything is drawn; what a draw raises; `Cancelled` while it
        waits; `DatabaseReadOnly` and the other storage errors of a write.
        """
        return self.consolidated(progress, cancelled).anchors

    def consolidated(
        self,
        progress: Progress | None = None,
        cancelled: Cancelled | None = None,
        *,
        patient: bool = True,
        told: Callable[[], Again] | None = None,
    ) -> Turn:
        """As `consolidate`; the turn also says whether it was stopped.

        With `patient=False` it raises `JobRunning` instead of waiting; `told` says of a failure when it is
        tried again, for the list of jobs.
        """
        turn, failure = self.attempted(progress, cancelled, patient=patient, told=told)
        if failure is not None:
            raise failure.error
        return turn

    def attempted(
        self,
        progress: Progress | None = None,
        cancelled: Cancelled | None = None,
        *,
        patient: bool = True,
        told: Callable[[], Again] | None = None,
    ) -> tuple[Turn, Failure | None]:
        """As `consolidated`; what is in the way comes back beside the turn, which knows what was written."""
        turn = self._turn("Consolidating", progress, cancelled)
        turn.patient, turn.told = patient, told
        turn.command = f"workbench chronicle consolidate --stream {quote(self.stream)}"
        at: tuple[int, int] | None = None
        try:
            consolidator = self._consolidator(turn, self._ledger(_UNIT))
            try:
                with suppress_stop(turn):
                    consolidator.consolidate(progress=turn.progress, cancelled=turn.cancelled)
            finally:
                at = consolidator.drawing
        except WorkbenchError as error:
            return turn, Failure(self.stream, at, error)
        return turn, None

    def reconsolidate(
        self,
        section_id: SectionId,
        progress: Progress | None = None,
        cancelled: Cancelled | None = None,
    ) -> Section:
        """Draw a current section anew and store it as the range's next generation; see `consolidate`.

        What read the old prose will differ when it is replayed, and a rebuild drops the new section. Raises
        `UnknownSection`, `ChronicleFork` for one that is superseded, and what `consolidate` raises.
        """
        turn = self._turn(f"Writing {section_id[:60]} again in", progress, cancelled)
        named = f"{quote(section_id[:60])} --stream {quote(self.stream)}"
        turn.command = f"workbench chronicle reconsolidate {named}"
        return self._consolidator(turn, self._ledger(_AGAIN)).reconsolidate(section_id)

    def rebuild(
        self,
        discard_generated: bool = False,
        replay: bool = False,
        recording: Path | None = None,
        progress: Progress | None = None,
        cancelled: Cancelled | None = None,
    ) -> Rebuilt | None:
        """Write the whole chronicle anew in the place of what there is; None if it was cancelled, in which
        case nothing has changed.

        With `replay` through the pins in the log, with `recording` through those in a file: nothing is
        drawn then, and `PinMiss` is raised where what is asked is not what was asked before. What a call
        that failed had drawn, the next one uses. Raises `GenerativeRebuild` unless `discard_generated` or
        one of the two is given, `RecordingError`, and what `consolidate` raises.
        """
        turn = self._turn("Rebuilding", progress, cancelled)
        ledger = self._ledger(_REBUILD)
        pins: ReplayPins | None = None
        if recording is not None:
            pins = self._replayed(recording_of(recording, self.stream).events)
        elif replay:
            pins = self._replayed(self._log.stream(pins_stream(self.stream)).read())
        if pins is not None and not pins.pins and any(section.pins for section in self.store.sections()):
            # Without pins a summarizer that draws nothing would answer, and not what is to be told again.
            raise NotPinned(
                "nothing is recorded of what the sections here were drawn with: no replay can tell it again",
                hint="replay from the recording that was written where they were drawn",
            )
        drawn: list[int] = []

        def keep(section: Section) -> None:
            # A replay draws nothing, and what a failed rebuild left behind is none of it.
            if pins is None:
                drawn.append(len(ledger.pins()))
                ledger.commit()

        anchors: list[Anchor] | None = None
        with suppress_stop(turn):
            anchors = self._consolidator(turn, ledger, keep, pins).rebuild(
                discard_generated=discard_generated or pins is not None,
                resolver=pins,
                progress=turn.progress,
                cancelled=turn.cancelled,
            )
        return None if anchors is None else Rebuilt(anchors, sum(drawn))

    # -- files -----------------------------------------------------------------------------

    def export(
        self,
        path: Path,
        times: bool = False,
        progress: Progress | None = None,
        cancelled: Cancelled | None = None,
    ) -> int | None:
        """Write every section, superseded ones too, to a file; how many. None if it was cancelled.

        `times` adds when each was written: such a file differs from that of a rebuild. The file appears, or
        replaces an earlier one or an empty file, when it is whole. Raises `FileFailed` where something else
        stands, `OwnFile` for a workspace's own file, `InvalidExport`, `OSError`.
        """
        refuse_own(path, self._workspace.layout)
        refuse_other(path)
        with suppress(_GivenUp), replacing(Path(os.path.realpath(path))) as file:
            count = write_export(self.store, file.write, times=times, progress=progress, cancelled=cancelled)
            if count is None:
                raise _GivenUp
            return count
        return None

    def load(
        self, path: Path, progress: Progress | None = None, cancelled: Cancelled | None = None
    ) -> Loaded | None:
        """Store the sections of a file, all or nothing; None if it was cancelled. See `load_export`.

        Raises `InvalidExport`, `ChronicleFork` and the like naming the line, `OSError`, and the storage
        errors of a write.
        """
        self._refuse_reading_only()
        turn = self._turn("Loading sections of", progress, cancelled)
        with path.open("rb") as file, suppress_stop(turn), turn.lease(f"{FOLD_NAME}/{self.stream}"):
            loaded = load_export(
                self.store,
                file,
                boundary=self._known_boundary(),
                progress=turn.progress,
                cancelled=turn.cancelled,
            )
            turn.outcome = counted(loaded.landed, "loaded") if loaded is not None else ""
            return loaded
        return None

    def recording_write(self, path: Path) -> int:
        """Write the pins of this chronicle to a recording; how many. See `write_recording`.

        Of each question the last answer: what a rebuild drew anew took the place of what was there. Raises
        `OwnFile` for a workspace's own file.
        """
        refuse_own(path, self._workspace.layout)
        events = latest_pins(self._log.stream(pins_stream(self.stream)).read())
        header: dict[str, JsonValue] = {"stream": self.stream}
        if drew := self.store.drew():
            header["drawn_by"] = ", ".join(drew)
        return write_recording(path, events, header=header)

    def recording_read(self, path: Path) -> Recording:
        """What a recording holds. Raises `RecordingError`, `OSError`."""
        return read_recording(path)

    # -- parts -----------------------------------------------------------------------------

    def _boundary(self) -> EventTypes | None:
        return self._chronicles.boundary(self.kind)

    def _known_boundary(self) -> EventTypes | None:
        """As `_boundary`; None where the manifest names what nobody registered."""
        with suppress(UnknownBoundary):
            return self._boundary()
        return None

    def _turn(self, doing: str, progress: Progress | None, cancelled: Cancelled | None) -> Turn:
        title = f"{doing} {self.stream}"
        return Turn(self._workspace.jobs, title, progress=progress, cancelled=cancelled)

    def _refuse_reading_only(self) -> None:
        if self._log.read_only:
            raise DatabaseReadOnly(
                f"no chronicle can be written: the workspace is {self._workspace.read_only_reason}"
            )

    def _ledger(self, unit: str) -> PinLedger:
        """The books of one kind of call, under a fixed name: what a call that died drew, the next uses."""
        stream = self._log.stream(self._ref)
        name = f"{unit}/{self.stream}"
        if unit != _REBUILD:
            return PinLedger(stream, unit_id=name)

        def promote(row: ScratchRow) -> PendingEvent:
            # From now on these are the chronicle's pins: a replay reads them in the place of the old ones.
            return PendingEvent(
                payload=PinPromoted(
                    drawn_for=self.stream,
                    unit_id=f"{_UNIT}/{self.stream}",
                    key=row.pin_key,
                    kind=row.kind,
                    result=row.result,
                    attempts=row.attempts,
                )
            )

        return PinLedger(stream, unit_id=name, promote_as=promote)

    def _replayed(self, events: Iterable[StoredEvent]) -> ReplayPins:
        """Pins of first generations: what was written again is drawn with the same key, and no replay is
        to give its prose in the place of the first."""
        again = f"{_AGAIN}/{self.stream}"
        wanted = (event for event in pin_events(events) if event.payload.get("unit_id") != again)
        return ReplayPins.from_events(wanted, self._log.registry)

    def _consolidator(
        self, turn: Turn, ledger: PinLedger, keep: Keep | None = None, pins: ReplayPins | None = None
    ) -> Consolidator:
        """What does one call's work, as the manifest is now; with `pins`, a replay."""
        boundary = self._boundary()
        if boundary is None:
            raise NotConsolidated(
                f"nothing closes a stretch in a stream of the kind {self.kind}",
                hint=f"name what does under [chronicle.close] in SSOT_MANIFEST.toml, as {self.kind} = […]",
            )
        self._refuse_reading_only()
        if pins is None:
            made = self._chronicles.summarizers(turn.cancelled)(ledger)
        else:
            made = self._chronicles.replaying(pinned=bool(pins.pins))(pins)

        def kept(section: Section) -> None:
            turn.anchors.append(section.anchor)
            if keep is None:
                ledger.commit()
            else:
                keep(section)

        return Consolidator(
            self.store,
            self._reader,
            boundary=boundary,
            summarize=made,
            lease=turn.lease,
            through=lambda resolver: made,
            admission=Admission(admits, self._hidden),
            author=Author(made.name, made.version),
            keep=kept,
        )


_UNIT, _AGAIN, _REBUILD = "chronicle", "reconsolidation", "rebuild"
"""Units of work. A replay reads the pins of the first, and a rebuild's become part of it."""


class _GivenUp(Exception):
    """A file that is not wanted any more."""
