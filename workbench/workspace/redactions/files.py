"""Text files of a workspace that the filter can clean: artifacts, exports that lie in it, logs.

A file is replaced whole or stays as it was. What is no text is left byte for byte.
"""

from __future__ import annotations

import hashlib
import os
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, NamedTuple
from urllib.parse import quote, unquote

import msgspec

from workbench.evidence import EvidenceStore
from workbench.redaction import SecretFilter
from workbench.redaction.streaming import redact_stream
from workbench.workspace.layout import Layout
from workbench.workspace.redactions.scan import EventScanner, Hit

_DIGEST = re.compile(r"[0-9a-f]{64}")
_HEAD = 8192
_LONGEST_LINE = 256 << 20
_MARK = ".workbench-scrub-"
"""Begins the names of files that a scrub writes, until they take their place."""
_EXPORT_BEGINS = b'{"causation_id":'
_ELSEWHERE = frozenset({"artifacts", "backups", "logs"})
"""Folders of the root in which no export is looked for; the logs are looked through whatever they hold."""


class DirtyArtifact(NamedTuple):
    """An artifact that the filter would change."""

    digest: str
    hits: tuple[Hit, ...]


class Counting:
    """Takes what is written, and keeps its digest and nothing else."""

    def __init__(self, file: IO[bytes] | None = None) -> None:
        self._file = file
        self._digest = hashlib.sha256()

    def write(self, data: bytes) -> None:
        """Take some bytes."""
        self._digest.update(data)
        if self._file is not None:
            self._file.write(data)

    @property
    def digest(self) -> str:
        """SHA-256 of what was written, in hexadecimal digits."""
        return self._digest.hexdigest()


def artifacts(folder: Path) -> Iterator[tuple[str, Path]]:
    """Digest and path of each artifact; links are not followed."""
    for path in sorted(_files(folder)):
        if _DIGEST.fullmatch(path.name) and path == folder / path.name[:2] / path.name[2:4] / path.name:
            yield path.name, path


def dirty_artifact(digest: str, path: Path, secrets: SecretFilter) -> DirtyArtifact | None:
    """The artifact if the filter would change it. Raises `OSError`."""
    counts = counts_in(path, secrets)
    if not counts:
        return None
    place = f"artifacts/{digest}"
    return DirtyArtifact(digest, tuple(Hit(place, 0, place, kind, n) for kind, n in sorted(counts.items())))


def counts_in(path: Path, secrets: SecretFilter) -> dict[str, int]:
    """How much of each kind the filter would take out of a text file; nothing from one that is no text."""
    with path.open("rb") as source:
        if not is_text(source):
            return {}
        return redact_stream(source, Counting(), secrets)


def cleaned_artifact(path: Path, evidence: EvidenceStore, secrets: SecretFilter) -> tuple[str, bool]:
    """Keep what the filter leaves of an artifact, under its own digest; that, and whether it is new.

    The old one stays. Raises `OSError`, `EvidenceError`.
    """
    with path.open("rb") as source, _Beside(path) as (file, name):
        counting = Counting(file)
        redact_stream(source, counting, secrets)
        file.flush()
        os.fsync(file.fileno())
        made = not evidence.path(counting.digest).is_file()
        evidence.adopt(Path(name), counting.digest)
    return counting.digest, made


def loose_files(layout: Layout) -> Iterator[Path]:
    """Exports that lie in the workspace, whole or cut short by a kill, its logs, and what lies among its
    artifacts and is none.

    They are copies of what the database holds. Links are not followed, nor hidden folders entered.
    """
    for path in sorted(_files(layout.root, without=_ELSEWHERE)):
        if is_export(path):
            yield path
    yield from sorted(_files(layout.root / "logs"))
    kept = {path for _, path in artifacts(layout.artifacts)}
    yield from (path for path in sorted(_files(layout.artifacts)) if path not in kept)


def remove_leftovers(layout: Layout) -> None:
    """Remove what scrubs that were killed left of the files they wrote. Raises `OSError`."""
    for path in list(_files(layout.root, without=frozenset({"backups"}))):
        if path.name.startswith(_MARK):
            remove(path)


def remove(path: Path) -> None:
    """Remove a file, and leave no bytes of it in the blocks that it gives back. Raises `OSError`."""
    going = path
    if not path.name.startswith(_MARK):
        # Under another name, so that nobody takes half of it for the whole.
        going = path.with_name(f"{_MARK}{path.name}")
        path.replace(going)
    size = going.stat().st_size
    with going.open("r+b") as file:
        for _ in range(0, size, 1 << 20):
            file.write(bytes(min(1 << 20, size)))
        file.truncate(size)
    going.unlink()


def is_export(path: Path) -> bool:
    """Whether a file begins as an export of events does; False for one that cannot be read."""
    try:
        with path.open("rb") as file:
            return file.read(len(_EXPORT_BEGINS)) == _EXPORT_BEGINS
    except OSError:
        return False


def loose_hits(path: Path, place: str, scanner: EventScanner, secrets: SecretFilter) -> list[Hit]:
    """What the filter would take out of such a file. Raises `OSError`."""
    if not is_export(path):
        return [Hit(place, 0, "", kind, n) for kind, n in sorted(counts_in(path, secrets).items())]
    return _clean_lines(path, place, scanner, secrets, None)


def clean_loose(path: Path, scanner: EventScanner, secrets: SecretFilter) -> None:
    """Replace such a file by what the filter leaves of it. Raises `OSError`."""
    mode = path.stat().st_mode & 0o777
    with _Beside(path) as (file, name):
        if is_export(path):
            _clean_lines(path, "", scanner, secrets, file)
        else:
            with path.open("rb") as source:
                redact_stream(source, file, secrets)
        file.flush()
        os.fsync(file.fileno())
        Path(name).chmod(mode)
        Path(name).replace(path)


def _clean_lines(
    path: Path, place: str, scanner: EventScanner, secrets: SecretFilter, target: IO[bytes] | None
) -> list[Hit]:
    found: dict[tuple[str, str], int] = {}
    encoder = msgspec.json.Encoder(order="sorted")
    with path.open("rb") as source:
        while line := source.readline(_LONGEST_LINE):
            clean = line
            if secrets.may_change(line):
                clean, hits = _clean_line(line, scanner, secrets, encoder)
                for field, kind, number in hits:
                    found[field, kind] = found.get((field, kind), 0) + number
            if target is not None:
                target.write(clean)
    return [Hit(place, 0, field, kind, number) for (field, kind), number in sorted(found.items())]


def _clean_line(
    line: bytes, scanner: EventScanner, secrets: SecretFilter, encoder: msgspec.json.Encoder
) -> tuple[bytes, list[tuple[str, str, int]]]:
    try:
        value: dict[str, Any] = msgspec.json.decode(line, type=dict[str, Any])
        payload = msgspec.json.encode(value["payload"])
        dirty, _ = scanner.look([(0, str(value["namespace"]), str(value["type"]), payload)])
        stream, names = _clean_stream(str(value["stream"]), secrets)
    except (msgspec.DecodeError, UnicodeError, RecursionError, KeyError):
        # No line of an export: a person's own words.
        text, counts = secrets.redact_text(line.decode("utf-8", "surrogateescape"))
        return text.encode("utf-8", "surrogateescape"), [("", kind, n) for kind, n in counts.items()]
    if not dirty and not names:
        return line, []
    value["payload"] = msgspec.Raw(dirty[0].payload.encode() if dirty else payload)
    value["stream"] = stream
    end = b"\n" if line.endswith(b"\n") else b""
    # The name of a stream says once more what a payload of it says; it counts where nothing else does.
    hits = [(hit.field, hit.kind, hit.secrets) for hit in dirty[0].hits] if dirty else []
    return encoder.encode(value) + end, hits or [("stream", kind, n) for kind, n in names.items()]


def _clean_stream(name: str, secrets: SecretFilter) -> tuple[str, dict[str, int]]:
    """The name of a stream without secrets, part by part."""
    counts: dict[str, int] = {}
    parts: list[str] = []
    for part in name.split("/"):
        clean, found = secrets.redact_text(unquote(part))
        parts.append(quote(clean, safe="") if found else part)
        for kind, number in found.items():
            counts[kind] = counts.get(kind, 0) + number
    return "/".join(parts), counts


class _Beside:
    """A new private file beside another one, deleted unless it was renamed."""

    def __init__(self, path: Path) -> None:
        self._folder = path.parent
        self._file: IO[bytes] | None = None
        self._name = ""

    def __enter__(self) -> tuple[IO[bytes], str]:
        descriptor, self._name = tempfile.mkstemp(prefix=_MARK, dir=self._folder)
        self._file = os.fdopen(descriptor, "wb")
        return self._file, self._name

    def __exit__(self, *_: object) -> None:
        assert self._file is not None
        self._file.close()
        Path(self._name).unlink(missing_ok=True)


def is_text(source: IO[bytes]) -> bool:
    """Whether a file at its beginning is taken for text: no zero byte there."""
    head = source.read(_HEAD)
    source.seek(0)
    return b"\0" not in head


def _files(folder: Path, without: frozenset[str] = frozenset()) -> Iterator[Path]:
    for place, folders, names in os.walk(folder):
        top = Path(place) == folder
        folders[:] = [
            name
            for name in folders
            if not name.startswith(".")
            and not (top and name in without)
            and not Path(place, name).is_symlink()
        ]
        for name in names:
            path = Path(place, name)
            if path.is_file() and not path.is_symlink():
                yield path
