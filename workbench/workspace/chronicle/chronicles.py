"""The chronicles of all streams, and what writes them (contract workspace, "[chronicle]")."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from workbench.chronicle.boundaries import EventTypes
from workbench.chronicle.consolidator import NotPinned
from workbench.chronicle.sections import Anchor
from workbench.chronicle.summarizers.configuration import COMMAND, OPENAI, SummarizerSettings, summarizer
from workbench.chronicle.summarizers.drawn import Drawn
from workbench.chronicle.summarizers.extractive import Extractive
from workbench.log.pins.replay import ReplayPins
from workbench.log.pins.resolver import PinResolver
from workbench.storage.errors import StorageError
from workbench.workspace.chronicle import closing, streams_queries, trust
from workbench.workspace.chronicle.errors import UnknownStream
from workbench.workspace.chronicle.stream import StreamChronicle
from workbench.workspace.chronicle.turns import Failure, Progress
from workbench.workspace.errors import Cancelled
from workbench.workspace.manifest.checking import CONSOLIDATED

if TYPE_CHECKING:
    from workbench.workspace.chronicle.background import Background
    from workbench.workspace.workspace import Workspace


class Consolidated(NamedTuple):
    """What a consolidation of all streams came to."""

    written: dict[str, list[Anchor]]
    """The new anchors by stream, in order; also of a stream that failed after them."""
    failures: list[Failure]
    """By stream, what kept it from being written on."""
    unknown: list[closing.Unknown]
    """Kinds of stream that were passed over, for the manifest names what nobody registered: each once."""
    stopped: bool = False
    """Whether somebody stopped it, so that streams may be left."""


class Chronicles:
    """Over all streams of a workspace. Threads may share it."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    # -- streams ---------------------------------------------------------------------------

    def of(self, stream: str) -> StreamChronicle:
        """The chronicle of one stream; `stream` as in `find_stream`. Raises `UnknownStream`."""
        ref = streams_queries.find_stream(self._workspace.log, self._workspace.registry, stream)
        if ref is None or ref.kind not in CONSOLIDATED:
            raise UnknownStream(
                "there is no such stream"
                if ref is None
                else f"streams of the kind {ref.kind} have no chronicle",
                hint="list those that there are with: workbench chronicle status",
            )
        return StreamChronicle(self._workspace, self, ref)

    def lagging(self) -> list[str]:
        """The streams that a consolidation would write something for, those that wait longest first.

        Of the kinds for which the manifest names types that there are: what is wrong with the others
        `known_closing` says.
        """
        found = streams_queries.candidates(self._workspace.log, self.known_closing()[0])
        return [name for name in found.names if self.of(name).lag().due]

    def known_closing(self) -> tuple[dict[str, EventTypes], list[closing.Unknown]]:
        """By kind of stream, what closes a stretch, and the kinds for which the manifest names what nobody
        registered."""
        return closing.known(self._workspace)

    def closing(self) -> dict[str, EventTypes]:
        """By kind of stream, what closes a stretch, as the manifest says now. Raises `UnknownBoundary`."""
        return closing.boundaries(self._workspace)

    def boundary(self, kind: str) -> EventTypes | None:
        """What closes a stretch in streams of a kind; None if nothing does. Raises `UnknownBoundary`."""
        return closing.boundary(self._workspace, kind)

    # -- writing ---------------------------------------------------------------------------

    def consolidate(
        self, progress: Progress | None = None, cancelled: Callable[[], bool] | None = None
    ) -> Consolidated:
        """Consolidate every stream that lags, one after the other; what fails keeps no other one waiting.

        `progress` is told of each stream from its first event. A storage error ends it: the rest would fail
        by it, too. Raises, before anything is written, `Untrusted` and `SummarizerConfiguration`.
        """
        done = Consolidated({}, [], self.known_closing()[1])
        names = self.lagging()
        if names:
            # Asked first: what nothing can be written by would fail for each of them.
            self.summarizers()
        for name in names:
            if cancelled is not None and cancelled():
                return done._replace(stopped=True)
            turn, failure = self.of(name).attempted(progress, cancelled)
            if turn.anchors:
                done.written[name] = turn.anchors
            if turn.stopped or (failure is not None and isinstance(failure.error, Cancelled)):
                return done._replace(stopped=True)
            if failure is not None:
                done.failures.append(failure)
                if isinstance(failure.error, StorageError):
                    break
        return done

    def background(self, *, pause_seconds: float | None = None) -> Background:
        """What writes by itself, while a program stays open: `start()` it, and `stop()` it in the end.

        `pause_seconds` of quiet after a commit come before it looks; by default two.
        """
        from workbench.workspace.chronicle import background

        pause = background.PAUSE_SECONDS if pause_seconds is None else pause_seconds
        return background.Background(self._workspace, self, pause_seconds=pause)

    # -- what writes -----------------------------------------------------------------------

    def summarizer_settings(self) -> SummarizerSettings:
        """What the manifest says now of what writes the prose. Raises `SummarizerConfiguration`."""
        said = self._workspace.manifest.chronicle
        return SummarizerSettings(
            summarizer=said.summarizer,
            command=said.command,
            timeout_seconds=said.timeout_seconds,
            model=said.model,
            base_url=said.base_url,
            key_variable=said.key_variable,
        ).checked()

    def trusted(self) -> bool:
        """Whether what the manifest names may be run or contacted; True where it names nothing."""
        return trust.is_trusted(self._workspace.root, self.summarizer_settings())

    def trust(self, settings: SummarizerSettings | None = None) -> bool:
        """Note that this user lets it be, for exactly these values: those that a person was shown, by default
        those of now. Whether that was new."""
        return trust.trust(self._workspace.root, settings or self.summarizer_settings())

    def summarizers(
        self, cancelled: Callable[[], bool] | None = None
    ) -> Callable[[PinResolver], Extractive | Drawn]:
        """Makes the summarizer of now, for a resolver of pins.

        Here and nowhere else one is made that can ask anybody, so that nothing that a manifest names is run
        or contacted unless this user trusts it. Raises `Untrusted`, `SummarizerConfiguration`.
        """
        settings = self.summarizer_settings()
        trust.refuse_untrusted(self._workspace.root, settings)

        def make(resolver: PinResolver) -> Extractive | Drawn:
            return summarizer(settings, resolver, folder=self._workspace.root, cancelled=cancelled)

        return make

    def replaying(self, *, pinned: bool) -> Callable[[PinResolver], Extractive | Drawn]:
        """Makes a summarizer that recorded pins answer, and nobody else; trust is not needed for that.

        Where there are such pins, `pinned`, it is the one that asked for them, which the manifest has to
        name still, whatever writes from now on. Raises `NotPinned`, `SummarizerConfiguration`.
        """
        settings = self.summarizer_settings()
        if pinned and not settings.draws:
            if not settings.command and not settings.model:
                raise NotPinned(
                    "the recorded prose was drawn by a program or a model that the manifest does not name",
                    hint="name it under [chronicle] in SSOT_MANIFEST.toml; a replay does not use it",
                )
            settings = replace(settings, summarizer=COMMAND if settings.command else OPENAI).checked()

        def make(resolver: PinResolver) -> Extractive | Drawn:
            if not isinstance(resolver, ReplayPins) or resolver.ledger is not None:
                raise TypeError("what is not answered by recorded pins alone may run something")
            return summarizer(settings, resolver)

        return make
