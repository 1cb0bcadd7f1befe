"""One transcript file as a stream of items, from its start or from where an earlier import stopped."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

from workbench.imports.claude_code.acta import SOURCE, SubAgent, Translator
from workbench.imports.claude_code.decoding import decode, moment_of
from workbench.imports.claude_code.records import Record
from workbench.imports.claude_code.state import ReaderState
from workbench.imports.claude_code.usage import Group, UsageHold
from workbench.imports.transcript import titles
from workbench.imports.transcript.decoding import Undecodable
from workbench.imports.transcript.items import Checkpoint, DescribeItem, Item, Problem, Repaired, Underway
from workbench.imports.transcript.lines import MAX_LINE, Line, LineReader
from workbench.imports.transcript.places import first_moment
from workbench.imports.transcript.reading import (
    CHECKPOINT_BYTES,
    CHECKPOINT_RECORDS,
    CONTENT,
    is_cut_off,
    lines_from,
    mark_held,
    mark_place,
    open_plain,
    readable,
    resume,
)
from workbench.imports.transcript.state import copy_state


def read_transcript(
    path: Path,
    *,
    owner: str,
    state: ReaderState | None = None,
    agent: SubAgent | None = None,
    settled: bool = True,
    max_line: int = MAX_LINE,
) -> Iterator[Item]:
    """The items of a file in file order; the last one is always a `Checkpoint`.

    `owner` is the human actor. `state` is that of the last checkpoint whose items were kept:
    reading goes on behind it if the bytes before it are still the same (their SHA-256 is checked),
    else a `Restarted` comes first and everything follows again. With `settled` false the records of
    a message that may still grow wait at the end (`Checkpoint.waiting`) and come with the next
    read. Raises `OSError` if the file cannot be read.
    """
    with ExitStack() as opened:
        resumed = resume(opened, path, state, open_plain)
        if resumed.restarted is not None:
            yield resumed.restarted
            state = None
        state = ReaderState() if state is None else copy_state(state)
        if state.last_at is None:
            state.last_at = first_moment(path, open_plain, moment_of)
        lines = lines_from(resumed, state, max_line)
        yield from _TranscriptReader(path, lines, state, owner, agent).items(settled)


class _TranscriptReader:
    def __init__(
        self, path: Path, lines: LineReader, state: ReaderState, owner: str, agent: SubAgent | None
    ) -> None:
        self._lines = lines
        self._state = state
        self._stem = readable(path.stem)
        self._translator = Translator(
            state, owner=owner, source=readable(str(path)), stem=self._stem, agent=agent
        )
        self._hold = UsageHold(state)
        self._since = 0
        self._marked = lines.offset

    def items(self, settled: bool) -> Iterator[Item]:
        lines, hold, state = self._lines, self._hold, self._state
        for line in lines:
            if line.passing:
                yield Underway(lines.offset)
                continue
            cwd, last_at = state.cwd, state.last_at
            session_id, items, record = self._read(line)
            if record is None and line.data and not line.ended:
                # A record that is cut off is never a whole object, and a whole object is never cut off.
                lines.decline()
                break
            # Only a model's message is ever held back first, so only there reading may have to resume.
            held = record is not None and record.type == "assistant"
            digest = lines.digest.copy() if held else None
            group = Group(line.number, line.offset, digest, cwd, last_at, session_id, len(line.data), items)
            for released in hold.add(group, record):
                if released.items:
                    self._mark_entered(released)
                    yield from released.items
            self._since += 1
            if self._since >= CHECKPOINT_RECORDS or lines.offset - self._marked >= CHECKPOINT_BYTES:
                lines.close_line()
                yield from self._describe()
                yield self._checkpoint()
        if settled:
            hold.close_all()
            for released in hold.release():
                if released.items:
                    self._mark_entered(released)
                    yield from released.items
        yield from self._describe()
        yield self._checkpoint(at_end=True)

    def _read(self, line: Line) -> tuple[str, list[Item], Record | None]:
        if not line.data:
            return "", [Problem(line.number, "line too long")], None
        if not line.ended and is_cut_off(line.data):
            return "", [], None
        repairs: list[Repaired] = []
        try:
            record = decode(line.data, line.number, repairs)
            if record is None:
                return "", [], None
            session_id, items = self._translator.translate(
                record, line=line.number, offset=line.offset, data=line.data, repairs=repairs
            )
        except Undecodable as problem:
            return "", [Problem(line.number, problem.reason)], None
        if repairs:
            items.extend(repairs)
        return session_id, items, record

    def _mark_entered(self, group: Group) -> None:
        if type(group.items[0]) in CONTENT:
            session = self._state.sessions.get(group.session_id)
            if session is not None:
                session.entered = True

    def _describe(self) -> Iterator[Item]:
        for session_id, session in self._state.sessions.items():
            if session.changed and session.entered:
                own = session_id == self._stem or session_id == self._state.first_session
                yield DescribeItem(
                    chronicum_id=f"{SOURCE}/{session_id}", fields=titles.take_changes(session), own=own
                )

    def _checkpoint(self, *, at_end: bool = False) -> Checkpoint:
        lines = self._lines
        state = copy_state(self._state)
        held = self._hold.first_held
        if held is None or held.digest is None:
            mark_place(state, lines)
        else:
            mark_held(state, held.offset, held.number, held.digest)
            state.cwd, state.last_at = held.cwd, held.last_at
        records, self._since, self._marked = self._since, 0, lines.offset
        return Checkpoint(
            state,
            lines.offset,
            records,
            waiting=self._hold.held if at_end else 0,
            partial=lines.partial if at_end else 0,
            at_end=at_end,
        )
