"""How many lines of each file could not be read, over all its imports."""

from __future__ import annotations

from pathlib import Path


class Unread:
    """The counts of the files of one transcript, while they are read."""

    def __init__(self) -> None:
        self._counts: dict[Path, int] = {}
        """Up to each file's last checkpoint; until it is read, those that earlier imports named."""
        self._since: dict[Path, list[int]] = {}
        """The numbers of the lines behind it."""

    def known(self, path: Path, count: int) -> None:
        """So many were counted by earlier imports."""
        self._counts[path] = count

    def restarted(self, path: Path) -> int:
        """The file is read from its start: every line is named again; how many were known of it."""
        return self._counts.pop(path, 0)

    def add(self, path: Path, line: int) -> None:
        """One more line could not be read."""
        self._since.setdefault(path, []).append(line)

    def upto(self, path: Path, line: int) -> int:
        """How many there are from the first line to this one, behind which reading goes on."""
        since = self._since.get(path, [])
        # What stands behind it is read, and counted, again.
        behind = self._since[path] = [each for each in since if each > line]
        self._counts[path] = self._counts.get(path, 0) + len(since) - len(behind)
        return self._counts[path]
