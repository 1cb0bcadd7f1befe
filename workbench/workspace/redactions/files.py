"""Text files of a workspace that the filter can clean: artifacts, exports that lie in it, logs.

A file is replaced whole or stays as it was. What is no text is left byte for byte, and
named if it holds some.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, NamedTuple
from urllib.parse import quote, unquote

import msgspec

from workbench.evidence import EvidenceStore
from workbench.imports.plain_text import redact_text_in, secrets_in
from workbench.log.pins.recording import MARKER as RECORDING_MARKER
from workbench.redaction import SecretFilter
from workbench.text_encoding import text_encoding
from workbench.workspace.layout import Layout
from workbench.workspace.redactions.places import MARK, Walk
from workbench.workspace.redactions.scan import EventScanner, Hit

_LONGEST_LINE = 256 << 20
_EXPORT_BEGINS = b'{"causation_id":'
_CHRONICLE_BEGINS = b'{"chronicle":'
_LONGEST_HEADER = 1 << 20


class DirtyArtifact(NamedTuple):
    """An artifact that holds what the filter takes out."""

    digest: str
    hits: tuple[Hit, ...]
    kept: bool
    """Whether it is no text, and so stays as it is."""
    damaged: bool = False
    """Whether its bytes are not those of its digest: cleaned, they would pass for what was kept once."""


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


def dirty_artifact(digest: str, path: Path, secrets: SecretFilter) -> DirtyArtifact | None:
    """The artifact if the filter finds something in it. Raises `OSError`."""
    with path.open("rb") as source:
        kept = text_encoding(source) is None
        counts = secrets_in(source, secrets)
        if not counts:
            return None
        source.seek(0)
        damaged = hashlib.file_digest(source, "sha256").hexdigest() != digest
    place = f"artifacts/{digest}"
    hits = tuple(Hit(place, 0, place, kind, n) for kind, n in sorted(counts.items()))
    return DirtyArtifact(digest, hits, kept, damaged)


def cleaned_artifact(path: Path, evidence: EvidenceStore, secrets: SecretFilter) -> tuple[str, bool]:
    """Keep what the filter leaves of an artifact, under its own digest; that, and whether it is new.

    The old one stays. Raises `OSError`, `EvidenceError`.
    """
    with path.open("rb") as source, _Beside(path) as (file, name):
        counting = Counting(file)
        _copy_clean(source, counting, secrets)
        file.flush()
        os.fsync(file.fileno())
        made = not evidence.path(counting.digest).is_file()
        evidence.adopt(Path(name), counting.digest)
    return counting.digest, made


def remove_leftovers(layout: Layout) -> None:
    """Remove what scrubs that were killed left of the files they wrote. Raises `OSError`."""
    for path in list(Walk().files(layout.root, without=frozenset({"backups"}))):
        if path.name.startswith(MARK):
            remove(path)


def remove(path: Path) -> None:
    """Remove a file, and leave no bytes of it in the blocks that it gives back. Raises `OSError`."""
    going = path
    if not path.name.startswith(MARK):
        # Under another name, so that nobody takes half of it for the whole.
        going = path.with_name(f"{MARK}{path.name}")
        path.replace(going)
    size = going.stat().st_size
    with going.open("r+b") as file:
        for _ in range(0, size, 1 << 20):
            file.write(bytes(min(1 << 20, size)))
        file.truncate(size)
    going.unlink()


def is_export(path: Path) -> bool:
    """Whether a file begins as an export of events does. Raises `OSError`."""
    with path.open("rb") as file:
        return file.read(len(_EXPORT_BEGINS)) == _EXPORT_BEGINS


def is_chained(path: Path) -> bool:
    """Whether a file begins as the export of a chronicle or as a recording does, each line of which ends or
    begins with a digest of those before it: nothing can be taken out of one without making it worthless.

    Raises `OSError`.
    """
    with path.open("rb") as file:
        first = file.readline(_LONGEST_HEADER)
    return first.startswith(_CHRONICLE_BEGINS) or (
        first.startswith(b"{") and f'"{RECORDING_MARKER}":'.encode() in first
    )


def chained_hits(path: Path, place: str, secrets: SecretFilter) -> list[Hit]:
    """What the filter finds in such a file. Raises `OSError`."""
    found: Counter[str] = Counter()
    with path.open("rb") as source:
        while line := source.readline(_LONGEST_LINE):
            if secrets.may_change(line):
                found.update(_kinds_in(line, secrets))
    return [Hit(place, 0, "", kind, number) for kind, number in sorted(found.items())]


def _kinds_in(line: bytes, secrets: SecretFilter) -> dict[str, int]:
    try:
        texts = _texts_in(msgspec.json.decode(line))
    except (msgspec.DecodeError, RecursionError):
        texts = iter((line.decode("utf-8", "surrogateescape"),))
    counts: Counter[str] = Counter()
    for text in texts:
        counts.update(secrets.redact_text(text)[1])
    return counts


def _texts_in(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from _texts_in(item)
    elif isinstance(value, dict):
        for name, item in value.items():
            yield name
            yield from _texts_in(item)


def loose_hits(
    path: Path, place: str, scanner: EventScanner, secrets: SecretFilter
) -> tuple[list[Hit], bool]:
    """What the filter finds in such a file, and whether it can be taken out of it. Raises `OSError`."""
    if is_export(path):
        return _clean_lines(path, place, scanner, secrets, None), True
    if is_chained(path):
        return chained_hits(path, place, secrets), False
    with path.open("rb") as source:
        cleanable = text_encoding(source) is not None
        counts = secrets_in(source, secrets)
    return [Hit(place, 0, "", kind, n) for kind, n in sorted(counts.items())], cleanable


def clean_loose(path: Path, scanner: EventScanner, secrets: SecretFilter) -> None:
    """Replace such a file by what the filter leaves of it. Raises `OSError`."""
    mode = path.stat().st_mode & 0o777
    with _Beside(path) as (file, name):
        if is_export(path):
            _clean_lines(path, "", scanner, secrets, file)
        else:
            with path.open("rb") as source:
                _copy_clean(source, file, secrets)
        file.flush()
        os.fsync(file.fileno())
        Path(name).chmod(mode)
        Path(name).replace(path)


def _copy_clean(source: IO[bytes], target: Counting | IO[bytes], secrets: SecretFilter) -> None:
    encoding = text_encoding(source)
    # What is no text by now has been written since it was looked at.
    redact_text_in(source, target, secrets, encoding or "utf-8")


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
        descriptor, self._name = tempfile.mkstemp(prefix=MARK, dir=self._folder)
        self._file = os.fdopen(descriptor, "wb")
        return self._file, self._name

    def __exit__(self, *_: object) -> None:
        assert self._file is not None
        self._file.close()
        Path(self._name).unlink(missing_ok=True)
