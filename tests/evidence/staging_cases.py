"""What the tests of staging share."""

from __future__ import annotations

from pathlib import Path

from workbench.evidence import EvidencePolicy, EvidenceStore, Stager
from workbench.evidence.staging import Source, Target
from workbench.redaction import default_filter
from workbench.redaction.streaming import redact_stream

TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8"


def redact(source: Source, target: Target) -> dict[str, int]:
    """The program's own filter over a file."""
    return redact_stream(source, target, default_filter())


def stager(folder: Path, policy: EvidencePolicy | None = None) -> Stager:
    """One that keeps under `artifacts`, and takes relative paths from the folder itself."""
    store = EvidenceStore(folder / "artifacts")
    return Stager(store, policy or EvidencePolicy(), default_filter(), redact, base=folder)


def below(folder: Path) -> list[str]:
    """Every file and folder below a folder."""
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def open_files() -> int:
    """How many files this process has open."""
    folder = Path("/proc/self/fd")
    return len(list(folder.iterdir())) if folder.is_dir() else 0
