"""Source files on their way into the evidence (contract memory, "Order of work").

They are read, filtered and copied before the log is locked; within the transaction that names them they only
get their place. What was copied for nothing goes again, and what a killed process left is swept up.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import IO, NamedTuple, Self

from workbench.evidence.places import PrivateFolder, leftovers, sweep
from workbench.evidence.policy import EvidencePolicy
from workbench.evidence.reading import BoundedSource, Unfit, open_source
from workbench.evidence.store import EvidenceError, EvidenceStore
from workbench.log.ports import Redactor
from workbench.storage.errors import is_full, no_room
from workbench.text_encoding import RedactStream as RedactStream
from workbench.text_encoding import Source as Source
from workbench.text_encoding import Target as Target
from workbench.text_encoding import is_utf8, redact_encoded, secrets_among, spelled, text_encoding

_CHUNK = 1 << 20
_HEAD = 8192

_SECRETS = "binary_with_secrets"
_POINTED = frozenset(("symlink_rejected", "extension_not_allowed", "size_limit_exceeded", _SECRETS))


class EvidenceItem(NamedTuple):
    """What became of one source file."""

    path: str
    """As given, without secrets."""
    status: str
    """`archived`, `pointer_only`, `missing` or `skipped`."""
    sha256: str | None = None
    """Of the bytes that are kept."""
    size: int | None = None
    """Of the file as it was, in bytes."""
    reason: str | None = None
    """Why it is `pointer_only` (`symlink_rejected`, `extension_not_allowed`, `size_limit_exceeded`,
    `binary_with_secrets`) or `skipped` (one of those, `not_a_file`, `unreadable`, `invalid_path`)."""
    removed: dict[str, int] | None = None
    """By kind, how many secrets the filter took out of the copy; None if there were none."""


class Staging:
    """Copies of source files that nothing names yet; a context manager that discards what was not kept."""

    def __init__(self, store: EvidenceStore) -> None:
        self._store = store
        self._folder = PrivateFolder(store.folder)
        self._copies: list[tuple[Path, str]] = []
        self.evidence: list[EvidenceItem] = []
        """What became of each path, in the order given; a path that was given twice, once."""

    def keep(self) -> None:
        """Move the copies to the places of their digests, durably; a second call does nothing.

        To be called within the write transaction, just before the events that name them are appended: a
        file that no event names may only be removed under that lock. Raises `EvidenceError`, `DiskFull`.
        """
        copies, self._copies = self._copies, []
        try:
            for file, digest in copies:
                self._store.place(file, digest)
        except OSError as error:
            raise self._failure(error) from error
        finally:
            self._folder.close()

    def discard(self) -> None:
        """Remove the copies that were not kept. Never touches what has its place: others may name it."""
        self._copies.clear()
        self._folder.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.discard()

    def _copy(self, source: BoundedSource, redact: RedactStream) -> tuple[str, dict[str, int]]:
        """Copy one file; the digest of the copy, and what was removed. Raises `Unfit`, `EvidenceError`."""
        try:
            descriptor, path = self._folder.new_file()
            try:
                with os.fdopen(descriptor, "wb") as file:
                    target = _Hashing(file)
                    removed = copy_filtered(source, target, redact)
                    file.flush()
                    if removed is None:
                        _refuse_secrets(path, redact)
                    os.fsync(file.fileno())
            except BaseException:
                path.unlink(missing_ok=True)
                raise
        except OSError as error:
            raise self._failure(error) from error
        digest = target.digest
        self._copies.append((path, digest))
        return digest, removed or {}

    def _failure(self, error: OSError) -> Exception:
        folder = self._store.folder
        if is_full(error):
            return no_room(folder)
        return EvidenceError(
            f"evidence cannot be kept under {folder}: {error.strerror or error}",
            hint="check that it is a folder and its permissions",
        )


class Stager:
    """Takes in the source files that an agent names; threads may share it.

    `redactor` filters paths, `redact_stream` the texts of files (default: `redactor`, with a whole text in
    memory). Relative paths are taken from `base` (default: the current folder).
    """

    def __init__(
        self,
        store: EvidenceStore,
        policy: EvidencePolicy,
        redactor: Redactor,
        redact_stream: RedactStream | None = None,
        *,
        base: Path | None = None,
    ) -> None:
        self._store = store
        self._policy = policy
        self._redactor = redactor
        self._redact_stream = redact_stream or self._redact_whole
        self._base = base

    def stage(self, paths: Sequence[str]) -> Staging:
        """Copy what can be copied of `paths`; `~` is the user's home.

        A file that cannot be copied has its status, whatever it is. Raises `EvidenceError` or `DiskFull` if
        the copies find no place; nothing is left then.
        """
        staging = Staging(self._store)
        try:
            seen: set[str] = set()
            for given in paths:
                path = self._expanded(given)
                if path not in seen:
                    seen.add(path)
                    staging.evidence.append(self._staged(staging, given, path))
        except BaseException:
            staging.discard()
            raise
        return staging

    def leftovers(self) -> list[Path]:
        """What processes that are gone left behind; changes nothing."""
        return leftovers(self._store.folder)

    def sweep(self) -> int:
        """Remove that; how many places. Raises `OSError`."""
        return len(sweep(self._store.folder))

    def _expanded(self, given: str) -> str:
        path = Path(os.path.expanduser(given))  # noqa: PTH111 - a user nobody knows is no error here
        return str(path if self._base is None else self._base / path)

    def _staged(self, staging: Staging, given: str, path: str) -> EvidenceItem:
        # What the log holds is text: of a name that is none, its bytes are spelled out.
        shown = self._redactor.redact_text(spelled(given))[0]
        limit = self._policy.max_copy_bytes
        try:
            opened = open_source(
                path, allowed=self._policy.allows(path), limit=limit, follow=self._policy.follow_symlinks
            )
            try:
                source = BoundedSource(opened.descriptor, limit)
                digest, removed = staging._copy(source, self._redact_stream)
            finally:
                os.close(opened.descriptor)
        except Unfit as unfit:
            if unfit.reason == "absent":
                return EvidenceItem(shown, "missing")
            pointed = unfit.reason in _POINTED and self._policy.pointer_only_enabled
            status = "pointer_only" if pointed else "skipped"
            return EvidenceItem(shown, status, size=unfit.size, reason=unfit.reason)
        return EvidenceItem(shown, "archived", digest, source.taken, removed=removed or None)

    def _redact_whole(self, source: Source, target: Target) -> dict[str, int]:
        text = b"".join(iter(lambda: source.read(_CHUNK), b"")).decode("utf-8", "surrogateescape")
        clean, removed = self._redactor.redact_text(text)
        target.write(clean.encode("utf-8", "surrogateescape"))
        return removed


class _Hashing:
    """Writes to a file, and knows the digest of what was written."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._hash = hashlib.sha256()

    def write(self, data: bytes, /) -> None:
        self._file.write(data)
        self._hash.update(data)

    @property
    def digest(self) -> str:
        return self._hash.hexdigest()


def copy_filtered(source: BoundedSource, target: Target, redact: RedactStream) -> dict[str, int] | None:
    """Copy a file without its secrets, in whatever encoding it is text; what is none stays as it is.

    The counts of what was removed by kind; None for what is no text. Raises `Unfit` for what cannot be read,
    and what `target` raises.
    """
    encoding = text_encoding(source)
    # What is nearly text is filtered too, whatever it begins like: agents name texts, not pictures.
    if encoding is None and (b"\0" not in source.read_at(0, _HEAD) or is_utf8(source)):
        encoding = "utf-8"
    if encoding is not None:
        return redact_encoded(source, target, redact, encoding)
    while data := source.read(_CHUNK):
        target.write(data)
    return None


def _refuse_secrets(copy: Path, redact: RedactStream) -> None:
    """`Unfit` for a copy that is no text and holds some: nothing can be taken out of it. Raises `OSError`."""
    # The copy, not the file that it was made of, which may be another one by now.
    with copy.open("rb") as file:
        if secrets_among(file, redact):
            raise Unfit(_SECRETS, copy.stat().st_size)
