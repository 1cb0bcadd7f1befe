"""Programs that are killed at random moments of their work, and what must hold of the workspace afterwards.

`WORKBENCH_TEST_KILLS` says how often; the delay before each kill is drawn over the time that an undisturbed
run took, so that every phase is hit. What was acknowledged before a kill has to be there after it, doctor has
to find nothing, and the same work run again has to come to the same end as one that nobody disturbed.
"""

from __future__ import annotations

import fcntl
import os
import random
import select
import shutil
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.imports.claude_code_records import SESSION, assistant, text, user, write
from tests.workspace.older_workspace import older_workspace
from workbench.sessions import Actum
from workbench.sessions.errors import ChronicumNotFound
from workbench.storage.errors import SchemaMigrationRequired
from workbench.workspace import Workspace
from workbench.workspace.transfer import export_jsonl, import_file

EXPECTED = frozenset({"artifact_orphaned"})
"""What a kill may leave behind: evidence is kept before the event that names it."""

_OF_THE_CASE = frozenset({"recorded_in_future", "rescan_due"})
"""The clock of the older workspace is ahead of this machine's, and today's filter has not seen its events."""

_PIPE_BYTES = 1024 * 1024
_PICTURE = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

Tell = Callable[[int], object]
Work = Callable[[Tell], object]


class Victim:
    """A process that does some work and says on a pipe, number by number, what it was promised."""

    def __init__(self, work: Work) -> None:
        reading, writing = os.pipe()
        # Nothing of it may block the one that is to be killed in its work.
        fcntl.fcntl(writing, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)
        self.began = time.monotonic()
        self._pid = os.fork()
        if self._pid == 0:
            code = 1
            try:
                os.close(reading)
                work(lambda number: os.write(writing, b"%d\n" % number))
                code = 0
            except BaseException:
                import traceback

                traceback.print_exc()
            finally:
                os._exit(code)
        os.close(writing)
        self._reading = reading
        self._ended = os.pidfd_open(self._pid)

    def kill_after(self, seconds: float) -> tuple[bool, list[int]]:
        """Whether it was killed before it ended, and what it had been promised by then."""
        left = self.began + seconds - time.monotonic()
        waiting = select.poll()
        waiting.register(self._ended, select.POLLIN)
        if not waiting.poll(max(0.0, left) * 1000):
            signal.pidfd_send_signal(self._ended, signal.SIGKILL)
        return self._collect()

    def end(self) -> list[int]:
        """Let it come to its end, which must be a good one; what it was promised."""
        killed, promised = self._collect()
        assert not killed
        return promised

    def _collect(self) -> tuple[bool, list[int]]:
        with os.fdopen(self._reading, "rb") as pipe:
            said = pipe.read()
        status = os.waitstatus_to_exitcode(os.waitpid(self._pid, 0)[1])
        os.close(self._ended)
        assert status in (0, -signal.SIGKILL)
        # A line that the kill cut short promises nothing.
        return status != 0, [int(line) for line in said.split(b"\n")[:-1]]


def undisturbed(work: Work) -> float:
    """The seconds that a run takes which nobody kills."""
    victim = Victim(work)
    victim.end()
    return time.monotonic() - victim.began


def events(workspace: Workspace) -> list[tuple[Any, ...]]:
    """What two runs of the same work have in common, in order of position."""
    return [
        (event.position, event.stream, event.seq, event.envelope.type, _lasting(event.payload))
        for event in workspace.log.read()
    ]


def _lasting(payload: dict[str, Any]) -> dict[str, Any]:
    # Ids are drawn anew by each run.
    return {name: value for name, value in payload.items() if name != "id"}


def assert_sound(root: Path, promised: int, allowed: frozenset[str] = EXPECTED) -> list[tuple[Any, ...]]:
    """Open what a kill left: nothing promised is missing, no gap, nothing for doctor to say; the events."""
    with Workspace.open(root) as workspace:
        found = events(workspace)
        assert [event[0] for event in found] == list(range(1, len(found) + 1))
        assert len(found) >= promised
        report = workspace.doctor()
        assert {finding.code for finding in report.findings} <= allowed, report
        return found


@contextmanager
def copied(root: Path, place: Path) -> Iterator[Path]:
    """A fresh copy of a workspace, gone at the end of the block."""
    shutil.copytree(root, place)
    try:
        yield place
    finally:
        shutil.rmtree(place)


def new_workspace(root: Path) -> Path:
    """An empty workspace."""
    Workspace.create(root, title="Killed", timezone="UTC", owner="ada").close()
    return root


def kill_imports(folder: Path, kills: int, chance: random.Random) -> int:
    """Kill imports of a Claude Code transcript with pictures; how many kills came before the end."""
    picture = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": _PICTURE}}
    talk = [
        user(n, [text(f"ask {n} " + "why " * 200), picture] if n % 20 == 0 else f"ask {n}")
        if n % 2 == 0
        else assistant(n, [{"type": "thinking", "thinking": f"hm {n}"}, text(f"answer {n} " + "so " * 300)])
        for n in range(1200)
    ]
    transcript = write(folder / "transcripts" / f"{SESSION}.jsonl", talk)
    empty = new_workspace(folder / "empty")

    def work(root: Path) -> Work:
        def run(tell: Tell) -> None:
            with Workspace.open(root) as workspace:

                def told(done: int, total: int | None, note: str) -> None:
                    if not workspace.log.in_transaction:
                        tell(workspace.log.last_position())

                workspace.import_claude_code([transcript], progress=told)
                tell(workspace.log.last_position())

        return run

    took = []
    for _ in range(2):
        # The first run loads what the later ones find loaded.
        with copied(empty, folder / "w") as root:
            took.append(undisturbed(work(root)))
            whole = assert_sound(root, 1)
    seconds = min(took)
    assert len(whole) >= 1800
    killed = 0
    for _ in range(kills):
        with copied(empty, folder / "w") as root:
            was_killed, promised = Victim(work(root)).kill_after(chance.uniform(0, seconds))
            killed += was_killed
            found = assert_sound(root, max(promised, default=0))
            assert found == whole[: len(found)]
            Victim(work(root)).end()
            assert assert_sound(root, len(whole)) == whole
    return killed


def kill_loads(folder: Path, kills: int, chance: random.Random) -> int:
    """Kill `import jsonl`; how many kills came before the end."""
    source = new_workspace(folder / "source")
    with Workspace.open(source) as workspace, workspace.log.transaction():
        for number in range(1500):
            workspace.sessions.record_actum("ada", _act("loaded", number))
    exported = folder / "log.jsonl"
    with Workspace.open(source) as workspace:
        exported.write_bytes(_exported(workspace))
    empty = new_workspace(folder / "empty-too")

    def work(root: Path) -> Work:
        def run(tell: Tell) -> None:
            with Workspace.open(root) as workspace:
                tell(import_file(workspace.log, exported).events)

        return run

    with copied(empty, folder / "w") as root:
        seconds = undisturbed(work(root))
    killed = 0
    for _ in range(kills):
        with copied(empty, folder / "w") as root:
            was_killed, promised = Victim(work(root)).kill_after(chance.uniform(0, seconds))
            killed += was_killed
            # All of it or nothing.
            found = len(assert_sound(root, max(promised, default=0)))
            assert found in (0, exported.read_bytes().count(b"\n"))
            if not found:
                Victim(work(root)).end()
            assert_sound(root, 1500)
            with Workspace.open(root) as workspace:
                assert _exported(workspace) == exported.read_bytes()
    return killed


def _exported(workspace: Workspace) -> bytes:
    chunks: list[bytes] = []
    export_jsonl(workspace.log, chunks.append)
    return b"".join(chunks)


def _act(session: str, number: int) -> Actum:
    return Actum(
        chronicum_id=session,
        kind="message",
        actor_kind="agent",
        actor="coder",
        content=f"{number} " + "words of an act " * 12,
    )


def kill_records(folder: Path, kills: int, chance: random.Random) -> int:
    """Kill writers that record beside each other, each time two of three; how many died before the end."""
    root = new_workspace(folder / "recorded")
    each = 60

    def work(session: str) -> Work:
        def run(tell: Tell) -> None:
            with Workspace.open(root) as workspace:
                for number in range(each):
                    key = f"{session}-{number}"
                    workspace.sessions.record_actum("ada", _act(session, number), idempotency_key=key)
                    tell(number)

        return run

    def stored(session: str) -> list[str]:
        with Workspace.open(root, read_only=True) as workspace:
            try:
                acta = workspace.sessions.get_acta("ada", session)
            except ChronicumNotFound:
                return []
            return [actum.content.split()[0] for actum in acta]

    seconds = undisturbed(work("first"))
    killed = tried = turn = 0
    while tried < kills:
        turn += 1
        names = [f"{name} {turn}" for name in ("steady", "struck", "struck too")]
        victims = [Victim(work(name)) for name in names]
        delays = sorted(chance.uniform(0, 2 * seconds) for _ in names[1:])
        promises: dict[str, list[int]] = {}
        for name, victim, delay in zip(names[1:], victims[1:], delays, strict=True):
            was_killed, promises[name] = victim.kill_after(delay)
            killed += was_killed
            tried += 1
        promises[names[0]] = victims[0].end()
        assert promises[names[0]] == list(range(each))
        for name, promised in promises.items():
            found = stored(name)
            assert found == [str(number) for number in range(len(found))]
            # The one whose answer the kill swallowed may be there too.
            assert len(found) - len(promised) in (0, 1)
        assert_sound(root, 0)
        for name in names:
            Victim(work(name)).end()
            assert stored(name) == [str(number) for number in range(each)]
    assert_sound(root, turn * 3 * each)
    return killed


def kill_migrations(folder: Path, kills: int, chance: random.Random) -> int:
    """Kill migrations of a workspace that the first release left; how many kills came before the end."""
    old = older_workspace(folder / "old", 400)

    def work(root: Path) -> Work:
        def run(tell: Tell) -> None:
            Workspace.migrate(root)
            tell(1)

        return run

    with copied(old, folder / "w") as root:
        seconds = undisturbed(work(root))
        whole = assert_sound(root, 400, _OF_THE_CASE)
    killed = 0
    for _ in range(kills):
        with copied(old, folder / "w") as root:
            was_killed, promised = Victim(work(root)).kill_after(chance.uniform(0, seconds))
            killed += was_killed
            try:
                Workspace.open(root).close()
            except SchemaMigrationRequired:
                assert not promised
            Victim(work(root)).end()
            assert assert_sound(root, len(whole), _OF_THE_CASE) == whole
    return killed


LEGS: dict[str, Callable[[Path, int, random.Random], int]] = {
    "import": kill_imports,
    "load": kill_loads,
    "record": kill_records,
    "migrate": kill_migrations,
}
