"""Workspaces that many tests begin with: laid out once in this process, handed out as copies."""

from __future__ import annotations

import atexit
import shutil
import tempfile
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Concatenate, ParamSpec

P = ParamSpec("P")

MOST = 200
"""How many are kept; what is asked for after that is laid out each time."""

_kept: dict[object, Path] = {}


def laid_out_once(make: Callable[Concatenate[Path, P], Path]) -> Callable[Concatenate[Path, P], Path]:
    """The same function of a place and what else it takes, whose second call with the same costs a copy.

    It returns the place. What it writes beside the place, in the same folder, is copied as well. What is
    no key of a dictionary is laid out each time.
    """

    @wraps(make)
    def place(root: Path, /, *others: P.args, **named: P.kwargs) -> Path:
        key = (make, root.name, others, tuple(sorted(named.items())))
        try:
            kept = _kept.get(key)
        except TypeError:
            return make(root, *others, **named)
        if kept is None:
            if len(_kept) >= MOST:
                return make(root, *others, **named)
            kept = Path(tempfile.mkdtemp(prefix="laid-out-"))
            atexit.register(shutil.rmtree, kept, ignore_errors=True)
            make(kept / root.name, *others, **named)
            _names_no_place(kept)
            _kept[key] = kept
        root.parent.mkdir(parents=True, exist_ok=True)
        for each in kept.iterdir():
            if each.is_dir():
                shutil.copytree(each, root.parent / each.name, symlinks=True)
            else:
                shutil.copy2(each, root.parent / each.name)
        return root

    return place


def _names_no_place(kept: Path) -> None:
    """A workspace that names where it was laid out would send its copies there."""
    said = str(kept).encode()
    for path in kept.rglob("*"):
        if path.is_file() and said in path.read_bytes():
            raise AssertionError(f"{path.relative_to(kept)} names the folder in which it was made")
