"""Items with the file they stand in, for whoever reads several files as one stream."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec

from workbench.imports.transcript.items import Item


class FileItem(msgspec.Struct, frozen=True, gc=False):
    """An item and the file it stands in: line numbers, problems and checkpoints are that file's."""

    path: Path
    item: Item


class FileUnreadable(msgspec.Struct, frozen=True):
    """A file that could not be opened or read to its end; the others go on."""

    path: Path
    reason: str


Placed = FileItem | FileUnreadable


def placed(path: Path, items: Iterator[Item]) -> Iterator[Placed]:
    """The items of a file that is read for itself; that it cannot be read to its end is one more."""
    try:
        for item in items:
            yield FileItem(path, item)
    except OSError as problem:
        yield FileUnreadable(path, what_failed(problem))


def what_failed(problem: OSError) -> str:
    """What the operating system says of a file, in words."""
    return problem.strerror or type(problem).__name__
