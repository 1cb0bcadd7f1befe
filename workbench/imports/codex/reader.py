"""One rollout as a stream of items, from its start or from where an earlier import stopped."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import BinaryIO

from workbench.imports.codex.acta import SOURCE, SPOKEN, Translator
from workbench.imports.codex.compressed import open_rollout, packed_place
from workbench.imports.codex.lineage import began, lineage_of
from workbench.imports.codex.records import decode_record, moment_of
from workbench.imports.codex.state import RolloutState
from workbench.imports.codex.twins import Group, Said, Twins
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
    readable,
    resume,
)
from workbench.imports.transcript.state import copy_state


def read_rollout(
    path: Path,
    *,
    owner: str,
    state: RolloutState | None = None,
    settled: bool = True,
    max_line: int = MAX_LINE,
) -> Iterator[Item]:
    """The items of a file in file order; the last one is always a `Checkpoint`.

    `owner` is the human actor. `state` is that of the last checkpoint whose items were kept: reading goes on
    behind it if the bytes before it are still the same (their SHA-256 is checked), else a `Restarted` comes
    first and everything follows again. With `settled` false the events of the last stretch whose items have
    not come wait (`Checkpoint.waiting`); what stands behind the first of them is handed out at once, and
    again with the next read. Raises `OSError` if the file cannot be read.
    """
    with ExitStack() as opened:
        resumed = resume(opened, path, state, open_rollout)
        if resumed.restarted is not None:
            yield resumed.restarted
            state = None
        state = RolloutState() if state is None else copy_state(state)
        session = state.sessions.get(state.first_session)
        if session is None or not session.entered:
            # Nothing has its name from this yet, and the lines that tell it may have come since.
            _identify(path, state)
        if state.place.last_at is None:
            state.place.last_at = first_moment(path, open_rollout, moment_of) or began(
                path, state.first_session
            )
        lines = lines_from(resumed, state, max_line)
        yield from _RolloutReader(path, resumed.file, lines, state, owner).items(settled)


def _identify(path: Path, state: RolloutState) -> None:
    with open_rollout(path) as file:
        lineage = lineage_of(path, file)
    if state.first_session != lineage.session_id:
        state.sessions.clear()
    state.first_session = lineage.session_id
    state.root = lineage.root
    state.copied = lineage.copied
    state.forked_from = lineage.forked_from
    state.agent_path = lineage.agent_path
    state.parent_thread = lineage.parent_thread


class _RolloutReader:
    def __init__(
        self, path: Path, file: BinaryIO, lines: LineReader, state: RolloutState, owner: str
    ) -> None:
        self._file = file
        self._lines = lines
        self._state = state
        self._translator = Translator(state, owner=owner, source=readable(str(path)))
        self._twins = Twins(state)
        self._since = 0
        self._marked = lines.offset

    def items(self, settled: bool) -> Iterator[Item]:
        lines, twins = self._lines, self._twins
        for line in lines:
            if line.passing:
                yield Underway(self._place())
                continue
            read = self._read(line)
            if read is None:
                # A record that is cut off is never a whole object, and a whole object is never cut off.
                lines.decline()
                break
            group, said, is_turn = read
            if is_turn:
                yield from self._told(twins.end_stretch())
            yield from self._told(twins.add(group, said))
            self._since += 1
            if self._since >= CHECKPOINT_RECORDS or lines.offset - self._marked >= CHECKPOINT_BYTES:
                lines.close_line()
                yield from self._describe()
                yield self._checkpoint()
        waiting = 0
        if settled:
            released = twins.end_file()
        else:
            released, waiting = twins.break_off()
        yield from self._told(released)
        yield from self._describe()
        yield self._checkpoint(waiting=waiting, partial=lines.partial, at_end=True)

    def _place(self) -> int:
        """How far the file is read, in its own bytes."""
        packed = packed_place(self._file)
        return self._lines.offset if packed is None else packed

    def _read(self, line: Line) -> tuple[Group, Said | None, bool] | None:
        """The items of a line; None for the beginning of a line that is still being written."""
        group = Group(line.number, line.offset, len(line.data), [])
        if not line.data:
            group.items.append(Problem(line.number, "line too long"))
            return group, None, False
        if not line.ended and is_cut_off(line.data):
            return None
        repairs: list[Repaired] = []
        said = None
        try:
            record = decode_record(line.data, line.number, repairs)
            if record is None:
                return (group, None, False) if line.ended else None
            is_turn = record.kind == "turn_context"
            if record.kind == "event_msg" and record.subtype in SPOKEN:
                # Only such a record is ever held back first, so only there reading may have to resume.
                group.place = self._state.place.copied()
                group.digest = self._lines.digest.copy()
            group.items, said = self._translator.translate(
                record, line=line.number, data=line.data, repairs=repairs
            )
        except Undecodable as problem:
            if not line.ended:
                return None
            group.items = [Problem(line.number, problem.reason)]
            return group, None, False
        group.items.extend(repairs)
        return group, said, is_turn

    def _told(self, groups: list[Group]) -> Iterator[Item]:
        for group in groups:
            if group.items:
                if type(group.items[0]) in CONTENT:
                    self._translator.session.entered = True
                yield from group.items

    def _describe(self) -> Iterator[Item]:
        session = self._translator.session
        if session.changed and session.entered:
            yield DescribeItem(
                chronicum_id=f"{SOURCE}/{self._state.first_session}", fields=titles.take_changes(session)
            )

    def _checkpoint(self, *, waiting: int = 0, partial: int = 0, at_end: bool = False) -> Checkpoint:
        lines = self._lines
        state = copy_state(self._state)
        held = self._twins.first_open
        if held is None or held.digest is None or held.place is None:
            mark_place(state, lines)
        else:
            mark_held(state, held.offset, held.number, held.digest)
            state.place = held.place
        records, self._since, self._marked = self._since, 0, lines.offset
        return Checkpoint(state, self._place(), records, waiting=waiting, partial=partial, at_end=at_end)
