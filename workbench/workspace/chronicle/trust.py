"""Whether this user lets a workspace run or contact what its manifest names (contract workspace, "Trust").

A manifest comes with a workspace, and a workspace may come from anywhere. What this user trusts is kept in
the user's own folder for state, by the workspace's folder and a digest of exactly those values: another
program, another argument or another address wants the word again.
"""

from __future__ import annotations

import hashlib
import os
from contextlib import suppress
from pathlib import Path

import msgspec

from workbench.chronicle.summarizers.configuration import COMMAND, SummarizerSettings
from workbench.locations import state_dir
from workbench.workspace.chronicle.errors import Untrusted

FOLDER = "trusted"
_VERSION = 1


def is_trusted(root: Path, settings: SummarizerSettings) -> bool:
    """Whether the summarizer of a workspace may be made; always, where it neither runs nor asks anything."""
    if not settings.draws:
        return True
    try:
        return _file(root).read_text("utf-8").strip() == digest(settings)
    except (OSError, ValueError):
        return False


def trust(root: Path, settings: SummarizerSettings) -> bool:
    """Note that these values are trusted in this workspace, in the place of earlier ones.

    Whether that was new. Raises `OSError` where the user's state cannot be written.
    """
    if is_trusted(root, settings):
        return False
    target = _file(root)
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    beside = target.with_name(f"{target.name}.{os.getpid()}.part")
    try:
        with os.fdopen(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
            file.write(digest(settings) + "\n")
        beside.replace(target)
    finally:
        with suppress(OSError):
            beside.unlink(missing_ok=True)
    return True


def revoke(root: Path) -> bool:
    """Take the word back for a workspace, whatever its manifest names; whether anything was trusted.

    Raises `OSError` where the user's state cannot be written.
    """
    try:
        _file(root).unlink()
    except FileNotFoundError:
        return False
    return True


def refuse_untrusted(root: Path, settings: SummarizerSettings) -> None:
    """Raise `Untrusted`, which says what would be run or contacted, and how to allow it."""
    if is_trusted(root, settings):
        return
    what = (
        "the manifest names a program to write the chronicle"
        if settings.summarizer == COMMAND
        else "the manifest names an endpoint to write the chronicle, and it would be sent what is recorded"
    )
    raise Untrusted(
        f"{what}, and you have not said that it may be used",
        hint="look at [chronicle] in SSOT_MANIFEST.toml, then: workbench trust",
    )


def digest(settings: SummarizerSettings) -> str:
    """Stands for what would be run or contacted, and for nothing else that the settings say."""
    used = ("command",) if settings.summarizer == COMMAND else ("base_url", "model")
    named = [(key, getattr(settings, key)) for key in ("summarizer", *used, "key_variable")]
    return hashlib.sha256(msgspec.json.encode([_VERSION, named])).hexdigest()


def _file(root: Path) -> Path:
    place = hashlib.sha256(os.fsencode(os.path.realpath(root))).hexdigest()
    return state_dir() / FOLDER / place
