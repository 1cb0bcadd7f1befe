"""The files behind the words of a trusted command: which of them somebody else may exchange."""

from __future__ import annotations

import shutil
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path

_OTHERS = stat.S_IWGRP | stat.S_IWOTH


def found(program: str, root: Path) -> Path | None:
    """Where a program would be started from; None where PATH has none of that name. It need not exist."""
    if "/" in program:
        return root / program
    named = shutil.which(program)
    return None if named is None else Path(named)


def warnings(command: Sequence[str], root: Path) -> Iterator[str]:
    """Why somebody else may decide what a trusted command does: one sentence for each of its files.

    Looked at are the program, and each argument that names a file, as the script of an interpreter does.
    """
    program = found(command[0], root)
    arguments = (root / word for word in command[1:] if word and "\0" not in word)
    for path in (program, *(each for each in arguments if _is_file(each))):
        if path is None:
            continue
        if _is_within(path, root):
            yield f"{path} lies inside the workspace: whoever can write there decides what it does"
        elif place := _open_to_others(path):
            yield f"others than you can write to {place}, and so decide what {path} does"


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


def _is_within(path: Path, root: Path) -> bool:
    real_root = root.resolve()
    # A link inside of it is in its hands, wherever it leads; one into it leads there.
    return path.parent.resolve().is_relative_to(real_root) or path.resolve().is_relative_to(real_root)


def _open_to_others(path: Path) -> Path | None:
    """The file, or the nearest folder that holds it, that others may write; None where only its owner may."""
    real = path.resolve()
    for place in (real, *real.parents):
        try:
            mode = place.stat().st_mode
        except OSError:
            continue
        # In a folder with the sticky bit nobody replaces what belongs to somebody else.
        if mode & _OTHERS and not (stat.S_ISDIR(mode) and mode & stat.S_ISVTX):
            return place
    return None
