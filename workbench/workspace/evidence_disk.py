"""A kept copy beside the file as it is on the disk now (contract workspace, "Evidence archive").

The file goes through the filter before anybody sees it, as the copy did when it was made. Nothing that stands
in a file's place makes anybody wait: no device, pipe or socket is opened.
"""

from __future__ import annotations

import hashlib
import io
import os
from pathlib import Path
from typing import NamedTuple

from workbench.evidence.reading import BoundedSource, Unfit, open_source
from workbench.evidence.staging import copy_filtered
from workbench.log.ports import Redactor
from workbench.redaction.streaming import redact_stream
from workbench.workspace.artifact_state import Artifact, decoded
from workbench.workspace.line_diff import Hunk, hunks

MOST_BYTES = 32 << 20
"""A larger file is not read for a look."""

_STATES = {
    "absent": "gone",
    "symlink_rejected": "link",
    "size_limit_exceeded": "too_large",
    "not_a_file": "not_a_file",
    "unreadable": "unreadable",
    "invalid_path": "gone",
}


class OnDisk(NamedTuple):
    """What stands at a path now, beside the copy."""

    state: str
    """`same`, `differs` (texts: see `hunks`), `other_bytes` (no texts), `found` (there is no copy to compare
    with), `gone`, `not_a_file`, `link` (a symbolic link, not followed), `too_large`, `unreadable`, `redacted`
    (its path is not known whole)."""
    place: str
    """The path that was looked at, absolute; empty for `redacted`."""
    assumed: str = ""
    """The folder that a relative path was taken from; nobody recorded which one it was."""
    size: int | None = None
    """Of the file as it is, in bytes."""
    removed: dict[str, int] = {}  # noqa: RUF012 - never changed
    """By kind, how many secrets the filter took out before it was compared."""
    hunks: tuple[Hunk, ...] = ()
    text_only: bool = False
    """Both hold the same lines: their encoding or the ends of lines differ."""


def on_disk(
    path: str, kept: Artifact | None, redactor: Redactor, *, base: Path | None = None, follow: bool = False
) -> OnDisk:
    """Look at the file at `path` (relative: in `base`, default the current folder) beside its copy.

    `follow` reads what a symbolic link leads to. Waits for the disk; raises nothing for what it finds there.
    """
    if "[REDACTED:" in path:
        return OnDisk("redacted", "")
    expanded = os.path.expanduser(path)  # noqa: PTH111 - a user nobody knows is no error here
    relative = not os.path.isabs(expanded)  # noqa: PTH117 - of a text that may be no path
    folder = base if base is not None else Path.cwd()
    place = str(folder / expanded) if relative else expanded
    assumed = str(folder) if relative else ""
    try:
        opened = open_source(place, allowed=True, limit=MOST_BYTES, follow=follow)
    except Unfit as unfit:
        return OnDisk(_STATES[unfit.reason], place, assumed, unfit.size)
    taken = io.BytesIO()
    try:
        counted = copy_filtered(
            BoundedSource(opened.descriptor, MOST_BYTES),
            taken,
            lambda source, to: redact_stream(source, to, redactor),
        )
    except Unfit as unfit:
        return OnDisk(_STATES[unfit.reason], place, assumed, unfit.size)
    finally:
        os.close(opened.descriptor)
    data, removed = taken.getvalue(), counted or {}
    if kept is None or kept.size is None:
        return OnDisk("found", place, assumed, opened.size, removed)
    if hashlib.sha256(data).hexdigest() == kept.digest:
        return OnDisk("same", place, assumed, opened.size, removed)
    now = decoded(data)
    if kept.text is None or now is None:
        return OnDisk("other_bytes", place, assumed, opened.size, removed)
    found = tuple(hunks(_lines(kept.text), _lines(now.text)))
    return OnDisk("differs", place, assumed, opened.size, removed, found, text_only=not found)


def _lines(text: str) -> list[str]:
    lines = [line.removesuffix("\r") for line in text.split("\n")]
    # Behind the last line end there is no line.
    return lines[:-1] if lines[-1] == "" else lines
