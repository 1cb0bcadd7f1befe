"""Chronicles that write themselves while a program stays open (contract log-and-chronicle; §9).

One stretch after another, in a thread of its own. Other programs may do the same: who comes second leaves it
to the first.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from time import monotonic
from typing import TYPE_CHECKING, NamedTuple, Self

from workbench.chronicle.fold import FOLD_NAME
from workbench.errors import WorkbenchError
from workbench.storage.errors import StorageError
from workbench.workspace.chronicle import streams_queries, tries_queries
from workbench.workspace.chronicle.turns import Again
from workbench.workspace.errors import Cancelled
from workbench.workspace.jobs.errors import JobRunning

if TYPE_CHECKING:
    from workbench.workspace.chronicle.chronicles import Chronicles
    from workbench.workspace.workspace import Workspace

logger = logging.getLogger(__name__)

PAUSE_SECONDS = 2.0
"""Of quiet after a commit before anything is looked at: more of the same is coming, mostly."""
MOST_PAUSE_SECONDS = 20.0
POLL_SECONDS = 0.5
AGAIN_SECONDS = 30.0
"""After a look that was refused for what the manifest says, or that the file did not allow."""


class BackgroundState(NamedTuple):
    """How it stands."""

    running: bool
    """Whether the thread is there."""
    working: str = ""
    """The stream that is being written."""
    waiting: int = 0
    """Streams that lag and are not tried yet."""
    next_try: int = 0
    """When the first of them is tried, in microseconds since 1970; 0 if none waits for a time."""
    error: WorkbenchError | None = None
    """What was in the way last."""


class Background:
    """Consolidates what lags until it is stopped. Nothing of it raises: what is in the way is in `state`."""

    def __init__(
        self, workspace: Workspace, chronicles: Chronicles, *, pause_seconds: float = PAUSE_SECONDS
    ) -> None:
        self._workspace = workspace
        self._chronicles = chronicles
        self._pause = pause_seconds
        self._stop = threading.Event()
        self._woken = threading.Event()
        self._thread: threading.Thread | None = None
        self._since = 0
        """The log's position up to which it was looked for what lags."""
        self._lagging: dict[str, None] = {}
        self._closing: object = None
        self._state = BackgroundState(running=False)
        self._listener: Callable[[], object] | None = None

    # -- for the program that has it -------------------------------------------------------

    def start(self) -> Self:
        """Begin, unless the workspace is open for reading only."""
        if self._thread is None and not self._workspace.read_only:
            self._thread = threading.Thread(target=self._run, daemon=True, name="chronicle")
            self._tell(self._state._replace(running=True))
            self._thread.start()
        return self

    def stop(self, seconds: float = 5.0) -> bool:
        """End, in the middle of a draw too; whether it has ended within so many seconds."""
        self._stop.set()
        self._woken.set()
        if self._thread is None:
            return True
        self._thread.join(seconds)
        return not self._thread.is_alive()

    def wake(self) -> None:
        """Look at once."""
        self._woken.set()

    def listen(self, listener: Callable[[], object] | None) -> None:
        """Call `listener`, from the thread, when the state has changed."""
        self._listener = listener

    @property
    def state(self) -> BackgroundState:
        """How it stands now."""
        return self._state

    # -- the thread ------------------------------------------------------------------------

    def _run(self) -> None:
        try:
            with self._workspace.data_version_poller() as poller:
                # What was committed before is looked at first.
                wait: float | None = self._pause
                seen = poller.poll()
                while not self._stop.is_set():
                    if self._woken.wait(POLL_SECONDS if wait is None else min(wait, POLL_SECONDS)):
                        self._woken.clear()
                        wait = 0.0
                    version = poller.poll()
                    if version == -1:
                        return
                    if version != seen:
                        seen = self._quiet(poller.poll, version)
                        wait = 0.0
                    elif wait is not None:
                        wait -= POLL_SECONDS
                    if wait is not None and wait <= 0:
                        wait = self.look()
                        seen = poller.poll()
        except WorkbenchError as error:
            self._tell(self._state._replace(error=error))
        finally:
            self._tell(self._state._replace(running=False, working=""))

    def _quiet(self, poll: Callable[[], int], version: int) -> int:
        """Wait until nobody commits any more, within limits; the version then."""
        until = monotonic() + MOST_PAUSE_SECONDS
        while not self._stop.wait(self._pause) and monotonic() < until:
            before, version = version, poll()
            if before == version:
                break
        return version

    # -- one look --------------------------------------------------------------------------

    def look(self) -> float | None:
        """Write what lags and may be tried now; in how many seconds there is something to try again.

        None: not before something is committed. The thread calls it; without one it is called by hand.
        """
        if self._workspace.read_only or not self._workspace.manifest.chronicle.background:
            self._lagging.clear()
            self._since = 0
            self._tell(self._state._replace(working="", waiting=0, next_try=0, error=None))
            return AGAIN_SECONDS
        try:
            unknown = self._find()
            # Asked first, so that nothing is begun that cannot be done.
            self._chronicles.summarizers()
            wait = self._work(unknown)
            return AGAIN_SECONDS if unknown is not None and wait is None else wait
        except WorkbenchError as error:
            self._tell(self._state._replace(working="", error=error))
            return AGAIN_SECONDS

    def _find(self) -> WorkbenchError | None:
        """Look for what lags; what is wrong with what the manifest says of some streams, if anything is."""
        closing, unknown = self._chronicles.known_closing()
        types = {kind: boundary.types for kind, boundary in closing.items()}
        if types != self._closing:
            self._closing, self._since = types, 0
        found = streams_queries.candidates(self._workspace.log, closing, self._since)
        self._since = found.upto
        self._lagging.update(dict.fromkeys(found.names))
        return unknown[0].error if unknown else None

    def _work(self, error: WorkbenchError | None) -> float | None:
        log = self._workspace.log
        nexts: list[int] = []
        known = self._closing if isinstance(self._closing, dict) else {}
        for name in list(self._lagging):
            if self._stop.is_set():
                return None
            chronicle = self._chronicles.of(name)
            # The manifest may have changed since it was found.
            if chronicle.kind not in known or not chronicle.lag().due:
                self._lagging.pop(name, None)
                continue
            # Asked for each: another program, or the stream before, may have failed meanwhile.
            at = tries_queries.tries(log, self._since_manifest()).next(f"{FOLD_NAME}/{name}")
            if at > log.now():
                nexts.append(at)
                continue
            self._tell(self._state._replace(working=name))
            failed, again = self._write(name)
            error = failed or error
            if again:
                nexts.append(again)
            else:
                self._lagging.pop(name, None)
        first = min(nexts, default=0)
        error = error or (self._state.error if nexts else None)
        self._tell(self._state._replace(working="", waiting=len(nexts), next_try=first, error=error))
        return max(0.0, (first - log.now()) / 1_000_000) if nexts else None

    def _write(self, name: str) -> tuple[WorkbenchError | None, int]:
        """Consolidate one stream; what was in the way, and when to try again (0: no need to)."""
        lease = f"{FOLD_NAME}/{name}"
        log = self._workspace.log
        try:
            turn = self._chronicles.of(name).consolidated(
                cancelled=self._stop.is_set, patient=False, told=lambda: self._again(lease)
            )
        except JobRunning:
            # Somebody else writes it, and what is left then is seen with the commit.
            return None, log.now() + int(AGAIN_SECONDS * 1_000_000)
        except (Cancelled, StorageError) as error:
            return error, log.now() + int(AGAIN_SECONDS * 1_000_000)
        except WorkbenchError as error:
            return error, self._next(lease)
        except Exception as error:
            logger.exception("consolidating in the background")
            unforeseen = WorkbenchError(f"an unforeseen {type(error).__name__} stopped it")
            return unforeseen, self._next(lease)
        if turn.anchors and not turn.stopped:
            tries_queries.forget_earlier(log, lease, turn.title)
        return None, 0

    def _next(self, lease: str) -> int:
        """When the chronicle is tried again."""
        return tries_queries.tries(self._workspace.log, self._since_manifest()).next(lease)

    def _again(self, lease: str) -> Again:
        """The same, with a failure of now that is not noted yet."""
        tries = tries_queries.tries(self._workspace.log, self._since_manifest(), lease)
        return Again(tries.next(lease), tries.failures[lease])

    def _since_manifest(self) -> int:
        """Failures from before the manifest was last changed count for nothing: it may be right by now."""
        return self._workspace.manifest.stamp[0] // 1000

    def _tell(self, state: BackgroundState) -> None:
        if state == self._state:
            return
        self._state = state
        if self._listener is not None:
            self._listener()
