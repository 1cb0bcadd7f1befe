"""A manifest that people edit while the program runs: reloaded on change, the last good one kept."""

from __future__ import annotations

import time
from pathlib import Path
from threading import Lock

from workbench.workspace.errors import ConfigurationError, ManifestError
from workbench.workspace.manifest.model import Manifest
from workbench.workspace.manifest.problems import Problem
from workbench.workspace.manifest.reading import parse, read_bytes, stamp_of

_SETTLED = 0.1
"""Seconds after which a file system gives another time to another change. What was read sooner after its
change is read again next time."""


class ManifestFile:
    """One manifest file, as it is now. Threads may share it."""

    def __init__(self, path: Path, manifest: Manifest) -> None:
        self._path = path
        self._good = manifest
        self._bad: ManifestError | None = None
        self._stamp = manifest.stamp
        self._settled = _is_settled(manifest.stamp)
        self._lock = Lock()

    @property
    def current(self) -> Manifest:
        """The manifest as the file has it now; the last good one while it cannot be used. Never raises."""
        self._look()
        return self._good

    @property
    def problems(self) -> tuple[Problem, ...]:
        """What is wrong with the file as it is now; errors mean that `current` is an earlier one."""
        self._look()
        bad = self._bad
        return self._good.problems if bad is None else bad.problems

    @property
    def error(self) -> ManifestError | None:
        """Why the file as it is now cannot be used; None if it can."""
        self._look()
        return self._bad

    def _look(self) -> None:
        try:
            stamp = stamp_of(self._path.stat())
        except (OSError, ValueError):
            stamp = (0, 0, 0)
        if stamp == self._stamp and self._settled:
            return
        with self._lock:
            self._read()

    def _read(self) -> None:
        try:
            raw, stamp = read_bytes(self._path)
        except ConfigurationError as error:
            self._bad = error if isinstance(error, ManifestError) else _missing(self._path)
            self._stamp, self._settled = (0, 0, 0), True
            return
        try:
            self._good = parse(self._path, raw, stamp)
            self._bad = None
        except ManifestError as error:
            self._bad = error
        self._stamp, self._settled = stamp, _is_settled(stamp)


def _is_settled(stamp: tuple[int, int, int]) -> bool:
    return abs(time.time() - stamp[0] / 1e9) > _SETTLED


def _missing(path: Path) -> ManifestError:
    problem = Problem(0, "", "the file is gone; the program goes on with what it said", "error")
    return ManifestError(f"{path}: {problem.message}", hint="put it back", problems=(problem,))
