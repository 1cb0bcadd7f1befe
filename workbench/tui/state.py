"""What the program remembers between two runs, one small file per workspace in the user's state folder.

Open screen, filters, pane widths, selected rows (by identity, never by number), theme. The workspace
itself is not touched. A file that cannot be understood is set aside, never overwritten.
"""

from __future__ import annotations

import os
import tempfile
from hashlib import sha256
from pathlib import Path

import msgspec


class ScreenState(msgspec.Struct, forbid_unknown_fields=False, omit_defaults=True):
    """What one screen remembers: `values` is the screen's own, texts by name."""

    share: int = 0
    """The list's part of the width in percent; 0 is the screen's own choice."""
    selected: str = ""
    """Identity of the row under the cursor."""
    values: dict[str, str] = {}


class UserState(msgspec.Struct, forbid_unknown_fields=False, omit_defaults=True):
    """Everything remembered for one workspace."""

    version: int = 1
    root: str = ""
    screen: str = ""
    theme: str = ""
    screens: dict[str, ScreenState] = {}

    def of(self, screen: str) -> ScreenState:
        """The state of one screen, made on first use."""
        return self.screens.setdefault(screen, ScreenState())


def state_file(folder: Path, root: Path) -> Path:
    """The file for the workspace at `root`, which need not exist."""
    digest = sha256(os.fsencode(root.expanduser().absolute())).hexdigest()[:16]
    return folder / "workspaces" / f"{digest}.json"


def load_state(path: Path) -> tuple[UserState, str]:
    """The remembered state and, where the file was not usable, a sentence that says what was done with it."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=UserState), ""
    except FileNotFoundError:
        return UserState(), ""
    except OSError as error:
        return UserState(), f"{path}: {error.strerror or 'cannot be read'}; starting afresh."
    except (msgspec.DecodeError, UnicodeDecodeError):
        pass
    aside = path.with_suffix(".corrupt")
    try:
        path.replace(aside)
    except OSError as error:
        return UserState(), f"{path} cannot be understood or moved ({error.strerror}); starting afresh."
    return UserState(), f"The remembered screen state could not be understood; it was set aside as {aside}."


def save_state(path: Path, state: UserState) -> str:
    """Write the state atomically; returns a sentence where that failed, else "".

    Forgetting where a person was is no reason to stop them, so nothing is raised.
    """
    scratch = ""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, scratch = tempfile.mkstemp(prefix=f".{path.stem}-", dir=path.parent)
        with os.fdopen(handle, "wb") as file:
            file.write(msgspec.json.format(msgspec.json.encode(state), indent=1))
        Path(scratch).replace(path)
    except OSError as error:
        if scratch:
            Path(scratch).unlink(missing_ok=True)
        return f"{path}: {error.strerror or 'cannot be written'}; the screen state is not remembered."
    return ""
