"""Opening what was listed as a transcript: it may be something else by then."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from workbench.imports.transcript.reading import open_plain


def test_a_pipe_is_refused_instead_of_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.jsonl")
    with pytest.raises(OSError, match="not a regular file"):
        open_plain(tmp_path / "pipe.jsonl")


def test_a_file_is_read_from_its_start(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(b"one\ntwo\n")
    with open_plain(tmp_path / "a.jsonl") as file:
        assert file.readline() == b"one\n"
