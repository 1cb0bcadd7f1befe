"""Evidence: bytes kept under the digest of what they are (contract workspace, "Evidence archive")."""

from __future__ import annotations

import hashlib
import os
import stat
import tempfile
import time
import weakref
from collections.abc import Callable, Iterable
from pathlib import Path

from workbench.errors import WorkbenchError
from workbench.evidence.places import ORPHAN_SECONDS, PrivateFolder, held, wiped
from workbench.storage.errors import is_full, no_room


class EvidenceError(WorkbenchError):
    """Evidence could not be kept or found."""

    code = "evidence"


class EvidenceStore:
    """A folder of content-addressed files; threads and processes may share it.

    A file is there whole or not at all, is never changed, and is readable by its owner only.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._held: Callable[[], object] | None = None

    @property
    def folder(self) -> Path:
        """Where the files lie, whether or not it is there."""
        return self._folder

    def put(self, content: bytes) -> str:
        """Keep `content`; its SHA-256 as 64 hex digits. Keeping the same bytes again costs one look.

        Nothing need name it yet: while this store is in use, nobody takes it for an orphan. Raises
        `EvidenceError` if the folder cannot be written, `DiskFull` where there is no room.
        """
        digest = hashlib.sha256(content).hexdigest()
        target = self.path(digest)
        try:
            self._make_folders(target.parent)
            self.hold()
            if self._is_there(target, len(content)):
                return digest
            self._make_folders(target.parent)
            # A temporary file is created 0600 and takes its name only when its bytes are on the disk.
            handle, name = tempfile.mkstemp(dir=target.parent, prefix=".new-")
            try:
                with os.fdopen(handle, "wb") as file:
                    file.write(content)
                    file.flush()
                    os.fsync(file.fileno())
                Path(name).replace(target)
            except BaseException:
                Path(name).unlink(missing_ok=True)
                raise
            _sync_folder(target.parent)
        except OSError as error:
            if is_full(error):
                raise no_room(target) from error
            raise EvidenceError(
                f"evidence cannot be kept under {self._folder}: {error.strerror or error}",
                hint="check that it is a folder and its permissions",
            ) from error
        return digest

    @staticmethod
    def _is_there(target: Path, size: int) -> bool:
        """Whether the bytes are there already; they are made to look young then (see `ORPHAN_SECONDS`)."""
        try:
            found = target.stat()
            if not stat.S_ISREG(found.st_mode) or found.st_size != size:
                return False
            if found.st_mtime < time.time() - ORPHAN_SECONDS / 4:
                os.utime(target)
        except (FileNotFoundError, NotADirectoryError):
            return False
        except PermissionError:
            pass  # It is another user's.
        return True

    def size(self, digest: str) -> int | None:
        """Bytes of an artifact as it lies there, None if it does not; `EvidenceError` for no digest."""
        try:
            found = self.path(digest).stat()
        except OSError:
            return None
        return found.st_size if stat.S_ISREG(found.st_mode) else None

    def hold(self) -> None:
        """Keep others from removing what nothing names yet, for as long as this store is in use.

        Raises `OSError` where the folder is not there.
        """
        if self._held is None:
            self._held = held(self._folder)
            weakref.finalize(self, self._held)

    def adopt(self, file: Path, digest: str) -> None:
        """As `place`, for what nothing names yet: it is not taken for an orphan while this store is in use.

        Raises `EvidenceError` for no digest, and `OSError`.
        """
        self._make_folders(self.path(digest).parent)
        self.hold()
        self.place(file, digest)

    def place(self, file: Path, digest: str) -> None:
        """Move a private file of the store's own file system to the place of its digest.

        The bytes are the caller's word. Unless what names it is appended under the same write lock, `adopt`
        is called for. Raises `EvidenceError` for no digest, and `OSError`.
        """
        target = self.path(digest)
        self._make_folders(target.parent)
        file.replace(target)
        _sync_folder(target.parent)

    def withdraw(self, digests: Iterable[str]) -> Withdrawn:
        """Take artifacts from their places; what is not there is passed over. Raises `OSError`.

        Their bytes go with `Withdrawn.wipe`, or, if this process is killed before, with the next sweep.
        """
        withdrawn = Withdrawn(PrivateFolder(self._folder))
        for digest in digests:
            withdrawn.take(self.path(digest))
        return withdrawn

    def _make_folders(self, leaf: Path) -> None:
        # One by one: `parents=True` would give the ones between the mode of the umask.
        for folder in (self._folder, leaf.parent, leaf):
            if not folder.is_dir():
                folder.mkdir(mode=0o700, parents=folder is self._folder, exist_ok=True)
                _sync_folder(folder.parent)

    def path(self, digest: str) -> Path:
        """Where evidence of this digest lies, whether or not it is there; `EvidenceError` for no digest."""
        if len(digest) != 64 or set(digest) - set("0123456789abcdef"):
            raise EvidenceError("a digest is 64 hexadecimal digits")
        return self._folder / digest[:2] / digest[2:4] / digest

    def get(self, digest: str) -> bytes:
        """The bytes of a digest; `EvidenceError` if they are gone, closed to this user, or damaged."""
        path = self.path(digest)
        try:
            # Reading a pipe would wait for whoever is at its other end.
            content = path.read_bytes() if path.is_file() else None
        except OSError as error:
            raise EvidenceError(
                f"evidence {digest[:12]}… cannot be read: {error.strerror or error}",
                hint=f"check the permissions of {path}",
            ) from error
        if content is None:
            raise EvidenceError(f"evidence {digest[:12]}… is missing", hint="restore it from a backup")
        if hashlib.sha256(content).hexdigest() != digest:
            raise EvidenceError(f"evidence {digest[:12]}… is damaged", hint="restore it from a backup")
        return content


class Withdrawn:
    """Artifacts that were taken from their places, and are still to be removed for good."""

    def __init__(self, folder: PrivateFolder) -> None:
        self._folder = folder
        self._taken: list[Path] = []

    def __len__(self) -> int:
        return len(self._taken)

    def take(self, path: Path) -> None:
        """One more. Raises `OSError`."""
        if path.is_file() and not path.is_symlink():
            self._taken.append(self._folder.taken(path))
            _sync_folder(path.parent)

    def wipe(self) -> None:
        """Overwrite and remove them. Raises `OSError`."""
        try:
            for path in self._taken:
                wiped(path)
        finally:
            self._folder.close()


def _sync_folder(folder: Path) -> None:
    # The rename itself must survive a power cut too.
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
