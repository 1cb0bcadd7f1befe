"""Files whose layout SQLite itself cannot make sense of."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw

from workbench.storage.errors import DatabaseDamaged


@contextmanager
def readable(path: Path) -> Iterator[None]:
    """Around the statements that every opening runs: `DatabaseDamaged` where one of them makes no sense.

    They are always the same, so a column that is not there, or a format that nobody writes, is the file's
    fault, as a name in bytes that are no text is: something has turned over in its header or its layout.
    """
    try:
        yield
    except (apsw.SQLError, UnicodeDecodeError) as error:
        raise DatabaseDamaged(
            f"{path} is damaged: {error}", hint="restore it from a backup; this file was not touched"
        ) from error
