"""Where things lie in a workspace, and the starters that `init` puts there (contract workspace, "Layout")."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import NamedTuple

from workbench.storage.errors import NotAWorkbenchDatabase, is_full, no_room, unnameable
from workbench.workspace.errors import ConfigurationError

MANIFEST_NAME = "SSOT_MANIFEST.toml"
DATABASE_NAME = "chronicle.db"
FOLDERS = ("artifacts", "backups", "daybooks", "notes", "logs")

_MANIFEST = """\
# The workspace's manifest: what it is called, where its people live, who owns its sessions, and which
# names mean the same. Lines that begin with # do nothing; take the # away to use one. After an edit,
# "workbench manifest check" says what is wrong, with its line.
version = 1
title = {title}

[settings]
# An IANA time zone; times are shown and days are counted in it.
timezone = {timezone}
# What prompts call the person.
# operator = "the operator"

[session]
# Whose sessions these are. Agents record for this person.
owner = {owner}

# A project and its other spellings: what was written under any of them is found under all, also what was
# written before. Small and capital letters, spaces, _ and - make no difference. "workbench names alias"
# adds to the list for you.
# [[projects]]
# id = "atlas"
# aliases = ["atlas-app", "status"]
# Folders whose files belong to it: an agent that works in one gets this project's brief.
# roots = ["~/code/atlas"]

# A domain holds projects. Without one, everything belongs to the domain "global".
# [[domains]]
# id = "work"
# label = "Work"
# aliases = ["job"]

# An agent and its other names: exact ones, how a name begins, and what a name holds. One with the id of a
# built-in agent (claude, glm, deepseek, codex, gemini, opencode, transcript-analyst) replaces it.
# [[agents]]
# id = "helper"
# aliases = ["night-helper"]
# prefixes = ["helper-"]
# contains = []

# Which files that agents name as evidence are copied; of others, only the path is kept.
# [artifacts]
# allowed_extensions = ["csv", "json", "md", "py", "toml", "txt"]
# max_copy_size_mb = 25
# pointer_only_enabled = true
# follow_symlinks = false

# Markdown files elsewhere that agents may search: which, which not, and how often they are read.
# [notes]
# paths = ["~/notes/**/*.md"]
# exclude = ["*draft*"]
# sync_minutes = 15

# What writes the chronicle, older stretches of a session or a task as prose: "extractive" asks nobody.
# "command" runs a program, which gets the events on its standard input and writes prose on its standard
# output; "openai" asks an endpoint that speaks OpenAI's protocol. Either is used only once you have said
# "workbench trust" here, and again after a change. A key stands in an environment variable, never here.
# [chronicle]
# summarizer = "command"
# command = ["my-summarizer", "--short"]
# timeout_seconds = 120
# model = "llama3.2"
# base_url = "http://localhost:11434/v1"
# key_variable = "OPENAI_API_KEY"
# background = true
# Which events close a stretch, by kind of stream; a kind without an entry has no chronicle.
# [chronicle.close]
# task = ["checkpoint.recorded"]
# session = ["unit.closed"]

# Where backups go; best on another device.
# [backup]
# target = "/mnt/backups/workbench"
"""

_STATUS = """\
# Status

What is going on right now, in a few lines of your own.
"""

_NOTE = """\
# Notes

Markdown files in this folder belong to the workspace. Write what should outlive a session.
"""

_IGNORED = """\
/chronicle.db
/chronicle.db-shm
/chronicle.db-wal
/artifacts/
/backups/
/logs/
"""


class Layout(NamedTuple):
    """The paths of one workspace."""

    root: Path

    @property
    def manifest(self) -> Path:
        """The manifest file."""
        return self.root / MANIFEST_NAME

    @property
    def database(self) -> Path:
        """The database: `$CHRONICLE_DB` if it is set, else in the root. Raises what `place_of` raises."""
        named = os.environ.get("CHRONICLE_DB")
        return place_of(named) if named else self.root / DATABASE_NAME

    @property
    def artifacts(self) -> Path:
        """The folder of evidence files."""
        return self.root / "artifacts"


class Scaffolded(NamedTuple):
    """What `scaffold` did, as paths relative to the root."""

    created: tuple[str, ...]
    skipped: tuple[str, ...]


def place_of(named: str | Path) -> Path:
    """The absolute path that a person's word for a place means, `~` and all; nothing need be there.

    Raises `ConfigurationError` for another user's home that does not exist, and for a relative path where
    the current folder is gone.
    """
    try:
        path = Path(named).expanduser()
    except RuntimeError as error:
        raise ConfigurationError(
            f"{named} means no folder: there is no such home", hint="write the whole path"
        ) from error
    return path if path.is_absolute() else current_folder() / path


def current_folder() -> Path:
    """The folder that the program runs in. Raises `ConfigurationError` where it is gone or closed to us."""
    try:
        return Path.cwd()
    except OSError as error:
        raise ConfigurationError(
            f"the current folder cannot be told: {error.strerror or error}",
            hint="it was removed, it seems: go to another folder, or name the workspace with --root and a "
            "whole path",
        ) from error


def standing(path: Path, *, follow: bool = False) -> os.stat_result | None:
    """What stands at a place: a link itself, unless it is to be followed. None for nothing.

    Raises `ConfigurationError` where the system cannot even look: a name that is too long, a folder that
    is closed to this user, links that lead in a circle.
    """
    try:
        return path.stat(follow_symlinks=follow)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise ConfigurationError(
            f"{path} cannot be looked at: {error.strerror or error}",
            hint="choose a shorter path with --root"
            if error.errno == errno.ENAMETOOLONG
            else "check the folders above it, and their permissions, or name another with --root",
        ) from error


def scaffold(layout: Layout, *, title: str, timezone: str, owner: str, force: bool = False) -> Scaffolded:
    """Create the folders and starter files that are missing; with `force`, overwrite the files.

    Folders are made 0700, files 0600; a file is there whole or as it was before. Raises `OSError` if the
    root cannot be written, `DiskFull` where there is no room; before anything is written,
    `NotAWorkbenchDatabase` where something else than a file stands in the database's place,
    `StorageError` where the place has a name that is no text, and what `standing` raises.
    """
    database = layout.database
    try:
        str(database).encode()
    except UnicodeEncodeError:
        raise unnameable(database) from None
    there = standing(database)
    if there is not None and not stat.S_ISREG(there.st_mode):
        raise NotAWorkbenchDatabase(f"{database} is no file", hint="name another folder with --root")
    try:
        return _scaffold(layout, title=title, timezone=timezone, owner=owner, force=force)
    except OSError as error:
        if is_full(error):
            raise no_room(layout.root) from error
        raise


def _scaffold(layout: Layout, *, title: str, timezone: str, owner: str, force: bool) -> Scaffolded:
    created: list[str] = []
    skipped: list[str] = []
    layout.root.mkdir(mode=0o700, parents=True, exist_ok=True)
    for name in FOLDERS:
        folder = layout.root / name
        if folder.is_dir():
            skipped.append(f"{name}/")
            continue
        folder.mkdir(mode=0o700)
        created.append(f"{name}/")
    from workbench.workspace.manifest.quoting import quoted

    manifest = _MANIFEST.format(title=quoted(title), timezone=quoted(timezone), owner=quoted(owner))
    files = {MANIFEST_NAME: manifest, "status.md": _STATUS, "notes/README.md": _NOTE, ".gitignore": _IGNORED}
    for name, content in files.items():
        path = layout.root / name
        if path.exists() and not force:
            skipped.append(name)
            continue
        _write(path, content)
        created.append(name)
    return Scaffolded(tuple(created), tuple(skipped))


def _write(path: Path, content: str) -> None:
    # Here, not above: only `init` writes, and every start of the program comes by this module.
    from workbench.storage.replacing import replacing

    # A link stays a link: what it leads to is replaced.
    with replacing(Path(os.path.realpath(path))) as file:
        file.write(content.encode())
