"""Files that appear, or take the place of an earlier one, only when they are whole."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

UNFINISHED = ".new-"
"""How the names of files begin that are not whole yet; whoever cleans up takes what a killed program left."""


@contextmanager
def replacing(target: Path) -> Iterator[IO[bytes]]:
    """A new file beside `target`, which takes its place when the block ends well, and survives a power loss.

    Its name begins with `UNFINISHED`; it is gone when the block raises. `target` is no symbolic link: that
    would be replaced, and not what it leads to. Raises `OSError`.
    """
    descriptor, name = tempfile.mkstemp(prefix=UNFINISHED, dir=target.parent)
    beside = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield file
            file.flush()
            os.fsync(descriptor)
        beside.replace(target)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise
    folder = os.open(target.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
