"""Files of a chronicle: what stands where one is to be written, and whose a recording is."""

from __future__ import annotations

from pathlib import Path

from workbench.chronicle.errors import InvalidExport
from workbench.chronicle.export_file import stream_of
from workbench.log.pins.errors import RecordingError
from workbench.log.pins.recording import Recording, read_recording
from workbench.workspace.transfer import FileFailed


def refuse_other(path: Path) -> None:
    """Raise `FileFailed` where what has the name is neither an export of a chronicle nor empty."""
    if not path.exists():
        return
    if not path.is_file():
        raise FileFailed(f"{path} is no file", hint="name another with --to")
    try:
        if path.stat().st_size:
            with path.open("rb") as file:
                stream_of(file)
    except InvalidExport as error:
        raise FileFailed(
            f"{path} exists and is no export of a chronicle",
            hint="name another file with --to, or say --force; this one was not touched",
        ) from error


def recording_of(path: Path, wanted: str) -> Recording:
    """The recording of that stream. Raises `RecordingError`, also for another stream's; `OSError`."""
    found = read_recording(path)
    stream = found.header.get("stream", wanted)
    if stream != wanted:
        raise RecordingError(
            f"this is a recording of another stream, {stream}",
            hint=f"name the one that was written of {wanted}",
        )
    return found
