"""Finding and importing agents' transcripts, as the faces offer it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from workbench.imports.claude_code.format import FORMAT as CLAUDE_CODE
from workbench.imports.codex.format import FORMAT as CODEX
from workbench.imports.driver import import_transcripts as import_candidates
from workbench.imports.driver import is_unchanged
from workbench.imports.report import ImportProblem, ImportReport, SessionReport
from workbench.imports.sources import stored_path
from workbench.imports.transcript.candidates import Candidate, Refused, Watch
from workbench.imports.transcript.format import TranscriptFormat
from workbench.log.event_log import EventLog
from workbench.sessions.errors import EmptyOwnerID
from workbench.workspace.errors import ConfigurationError

if TYPE_CHECKING:
    from workbench.evidence import EvidenceStore

FORMATS = (CLAUDE_CODE, CODEX)
_ID_CHARS = 13

Heard = Callable[["FoundTranscript | Refused"], None]


class UnknownFormat(ConfigurationError):
    """No program is known whose transcripts are called so."""

    code = "unknown_format"


class FoundTranscript(msgspec.Struct, frozen=True):
    """A transcript that can be imported."""

    candidate: Candidate
    is_new: bool
    """Whether it was never read, or changed since."""
    format: str
    """`claude-code` or `codex`."""
    program: str
    """The program that wrote it, for people."""

    @property
    def title(self) -> str:
        """What to call it in a list: its title, else its id; of a fork also what it was forked from."""
        candidate = self.candidate
        name = candidate.title or candidate.session_id
        origin = candidate.forked_from
        return f"fork of {_shortened(origin)}: {name}" if origin else name


class FoundTranscripts(msgspec.Struct, frozen=True):
    """What lies at the places that were searched."""

    transcripts: list[FoundTranscript]
    """In the order they are imported in."""
    refused: list[Refused]
    """Files and folders that are no transcripts or cannot be read, each with its reason."""


def newest_first(found: Iterable[FoundTranscript]) -> list[FoundTranscript]:
    """Transcripts by their last activity for people to choose from; those without a time come last."""
    oldest = datetime.min.replace(tzinfo=UTC)
    return sorted(found, key=lambda each: each.candidate.last_at or oldest, reverse=True)


def _shortened(session_id: str) -> str:
    """The beginning of an id: of a UUID so much that one which begins with the time is told apart."""
    return session_id if len(session_id) <= _ID_CHARS + 1 else f"{session_id[:_ID_CHARS]}…"


def find_transcripts(
    log: EventLog,
    name: str | None,
    paths: Sequence[str | Path],
    *,
    heard: Heard | None = None,
    cancelled: Callable[[], bool] | None = None,
) -> FoundTranscripts:
    """See `Workspace.find_transcripts`."""
    found: dict[Path, FoundTranscript] = {}

    def look(kind: TranscriptFormat, candidate: Candidate) -> None:
        is_new = not is_unchanged(log, kind, candidate)
        found[candidate.path] = FoundTranscript(candidate, is_new, kind.name, kind.program)
        if heard is not None:
            heard(found[candidate.path])

    search = _Search(name, _as_paths(paths), look, heard, cancelled)
    return FoundTranscripts([found[candidate.path] for _, candidate in search.transcripts], search.refused)


def import_transcripts(
    log: EventLog,
    evidence: EvidenceStore,
    name: str | None,
    paths: Sequence[str | Path],
    *,
    owner: str,
    dry_run: bool = False,
    progress: Callable[[int, int | None, str], None] | None = None,
    added: Callable[[int], None] | None = None,
    cancelled: Callable[[], bool] | None = None,
) -> ImportReport:
    """See `Workspace.import_transcripts`; raises `EmptyOwnerID`."""
    if owner == "":
        raise EmptyOwnerID
    stopped = _Sticky(cancelled)
    search = _Search(name, _as_paths(paths), None, None, stopped)
    report = import_candidates(
        log,
        evidence,
        # What was found of a search that was stopped is not in its order.
        [] if stopped.was_asked_to else search.transcripts,
        owner=owner,
        dry_run=dry_run,
        progress=progress,
        added=added,
        cancelled=stopped,
    )
    if stopped.was_asked_to:
        report.cancelled = True
        return report
    named = list(search.named_places())
    if named:
        for refused in named:
            path = stored_path(refused.path)
            problem = ImportProblem(path, 0, refused.reason)
            report.sessions.append(SessionReport(id="", source=path, problems=[problem]))
        report.sum_up()
    return report


class _Sticky:
    """Asks whether to stop, and once told so never again."""

    def __init__(self, cancelled: Callable[[], bool] | None) -> None:
        self._cancelled = cancelled
        self.was_asked_to = False

    def __call__(self) -> bool:
        if not self.was_asked_to and self._cancelled is not None:
            self.was_asked_to = self._cancelled()
        return self.was_asked_to


def kept_places(name: str | None = None) -> list[Path]:
    """Where a format's program (without a name: each program) keeps its transcripts."""
    return [kind.kept() for kind in _formats(name)]


def _formats(name: str | None) -> tuple[TranscriptFormat, ...]:
    if name is None:
        return FORMATS
    for kind in FORMATS:
        if kind.name == name:
            return (kind,)
    raise UnknownFormat(
        f"there are no transcripts of the format {name!r}",
        hint="name one of: " + ", ".join(kind.name for kind in FORMATS),
    )


def _as_paths(paths: Sequence[str | Path]) -> list[Path]:
    """The places as absolute paths: what is kept of a file must name it wherever the program runs next."""
    # A library's caller may name places as plain text.
    given = [Path(path) for path in paths]
    try:
        return [path.absolute() for path in given]
    except FileNotFoundError:
        # The working folder is gone.
        return given


class _Search:
    """What one format, or each of them, finds at some places; a file is named once."""

    def __init__(
        self,
        name: str | None,
        paths: list[Path],
        look: Callable[[TranscriptFormat, Candidate], None] | None,
        heard: Heard | None,
        cancelled: Callable[[], bool] | None,
    ) -> None:
        self._formats = _formats(name)
        self._paths = paths
        self._look = look
        self._heard = heard
        self._cancelled = cancelled
        self.transcripts: list[tuple[TranscriptFormat, Candidate]] = []
        self.refused: list[Refused] = []
        self._taken: set[Path] = set()
        refused = [self._find(kind) for kind in self._formats]
        if len(self._formats) > 1 and paths:
            self._merge(refused)

    def _find(self, kind: TranscriptFormat) -> list[Refused]:
        is_alone = len(self._formats) == 1 or not self._paths

        def hear(found: Candidate | Refused) -> None:
            if isinstance(found, Candidate):
                if self._look is not None:
                    self._look(kind, found)
            elif is_alone:
                self._refuse(kind, found)

        found = kind.discover(self._paths, watch=Watch(hear, self._cancelled))
        self.transcripts.extend((kind, candidate) for candidate in found.candidates)
        for candidate in found.candidates:
            self._taken.update(candidate.paths)
        return found.refused

    def _refuse(self, kind: TranscriptFormat, refused: Refused) -> None:
        if not self._paths and refused.reason == "not found":
            if len(self._formats) > 1:
                # Who never used a program has no folder of its; that is nothing to be refused.
                return
            refused = _default_refused(kind, refused)
        elif len(self._formats) == 1:
            refused = _told_apart(kind, refused)
        self._name(refused)

    def _name(self, refused: Refused) -> None:
        self.refused.append(refused)
        if self._heard is not None:
            self._heard(refused)

    def _merge(self, refused: list[list[Refused]]) -> None:
        """Name what no format takes, in the words of the last one: it knows compressed files, too."""
        first = {each.path: each for each in refused[0]}
        last = {each.path: each for each in refused[-1]}
        for path in dict.fromkeys([*first, *last]):
            # What the first one passed over in silence is a part of its transcripts.
            is_passed_over = path not in first and path.name.endswith(".jsonl")
            if path not in self._taken and not is_passed_over:
                self._name(last.get(path) or first[path])

    def named_places(self) -> Iterator[Refused]:
        """What was refused, and the folders that held nothing, in words to act on."""
        yield from self.refused
        files = [candidate.path for _, candidate in self.transcripts] + [each.path for each in self.refused]
        places = self._paths or ([self._formats[0].kept()] if len(self._formats) == 1 else [])
        looked_for = self._formats[-1].suffixes
        for place in places:
            if place.is_dir() and not any(file == place or place in file.parents for file in files):
                yield Refused(place, f"no transcripts: looked for {looked_for} files in it, at any depth")


def _default_refused(kind: TranscriptFormat, refused: Refused) -> Refused:
    """The default place as refused, with the variable that moves it."""
    path = refused.path if refused.path.parent.is_dir() else refused.path.parent
    if os.environ.get(kind.variable):
        return Refused(path, f"{refused.reason}; it is where ${kind.variable} points")
    return Refused(path, f"{refused.reason}; name another place as PATH or with ${kind.variable}")


def _told_apart(kind: TranscriptFormat, refused: Refused) -> Refused:
    """What was refused, with the command that reads it where there is one."""
    if refused.reason in ("no session records", "compressed"):
        for other in FORMATS:
            if other is not kind and other.is_ours(refused.path):
                reason = f"written by {other.program}: “workbench import {other.name}” reads it"
                return Refused(refused.path, reason)
    return refused
