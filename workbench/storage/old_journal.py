"""A rollback journal beside a database, which this program never leaves behind (DESIGN §4).

Whoever opens the database for writing next has SQLite play it back into the file, whichever file it belongs
to: of another one's journal nothing but that one's pages would be left.
"""

from __future__ import annotations

import time
from pathlib import Path

from workbench.storage.errors import old_journal
from workbench.storage.stale_log import HEADER_BYTES, WRITTEN_AHEAD, read_header

_TRIES = 25
_PAUSE_SECONDS = 0.02


def refuse_old_journal(path: Path) -> None:
    """Refuse a database beside which lies a journal that SQLite would play back into it.

    A file that is only being laid out may have one of its own, and so may one that is not written ahead.
    Raises `StorageError`; `OSError` and `apsw.Error` where a file cannot be read.
    """
    real = path.resolve()
    journal = real.with_name(f"{real.name}-journal")
    for attempt in range(_TRIES):
        if not _would_play(journal) or not real.is_file():
            return
        # How a file is written is changed under a journal, too: what another program is about goes by.
        if read_header(real, HEADER_BYTES)[18:20] != WRITTEN_AHEAD:
            return
        if attempt < _TRIES - 1:
            time.sleep(_PAUSE_SECONDS)
    raise old_journal(path)


def _would_play(journal: Path) -> bool:
    """As SQLite tells it: by the first byte."""
    try:
        if not journal.is_file():
            return False
        with journal.open("rb") as file:
            return file.read(1) not in (b"", b"\0")
    except FileNotFoundError:
        return False
