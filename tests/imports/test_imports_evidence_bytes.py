"""Evidence is text or none by its bytes, whatever a transcript declares it to be; a rescan finds nothing new."""

from __future__ import annotations

import base64
import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.imports import claude_code_records as claude
from tests.imports import codex_records as codex
from tests.imports.driver_log import new_workspace, problems
from workbench.imports.plain_text import redact_bytes
from workbench.redaction import default_filter
from workbench.text_encoding import text_encoding
from workbench.workspace import Workspace

KEY = "sk-ant-api03-" + "abc" * 3 + "9xQ2vB7nM4kL8pR5tW"
MARKER = "[REDACTED:anthropic_key]"
PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    with new_workspace(tmp_path / "ws") as opened:
        yield opened


def block(media_type: str, data: bytes, kind: str = "image") -> dict[str, Any]:
    source = {"type": "base64", "media_type": media_type, "data": base64.b64encode(data).decode()}
    return {"type": kind, "source": source}


TEXTS = [
    ("image/png", f"the key is {KEY}\n".encode()),
    ("image/svg+xml", f"<svg><text>{KEY}</text></svg>".encode()),
    ("application/pdf", f"%PDF-1.7\n{KEY}\n%%EOF\n".encode()),
    ("text/plain", f"the key is {KEY}\n".encode("utf-16")),
    ("application/octet-stream", f"the key is {KEY}\n".encode("utf-16-le")),
    ("", f"the key is {KEY}\n".encode("utf-16-be")),
    ("text/plain", b"caf\xe9 " + KEY.encode()),
]


@pytest.mark.parametrize(("media_type", "data"), TEXTS)
def test_what_is_text_is_filtered(workspace: Workspace, tmp_path: Path, media_type: str, data: bytes) -> None:
    path = claude.write(
        tmp_path / "in" / f"{claude.SESSION}.jsonl", [claude.user(1, [block(media_type, data)])]
    )
    report = workspace.import_claude_code([path])
    assert report.sessions[0].redactions == {"anthropic_key": 1}
    (kept,) = [each for each in (workspace.root / "artifacts").rglob("*") if each.is_file()]
    encoding = text_encoding(io.BytesIO(data)) or "utf-8"
    content = kept.read_bytes().decode(encoding, "surrogateescape" if encoding == "utf-8" else "strict")
    assert MARKER in content
    assert KEY not in content
    found = workspace.rescan()
    assert (found.found, found.others) == (0, [])


def test_an_image_of_codex_that_is_text_is_filtered(workspace: Workspace, tmp_path: Path) -> None:
    url = f"data:image/png;base64,{base64.b64encode(KEY.encode()).decode()}"
    message = codex.item("message", role="user", content=[{"type": "input_image", "image_url": url}])
    path = codex.write(tmp_path / "in" / "rollout-2026-01-01T00-00-00-x.jsonl", [codex.meta(), message])
    workspace.import_codex([path])
    (kept,) = [each for each in (workspace.root / "artifacts").rglob("*") if each.is_file()]
    assert kept.read_bytes() == MARKER.encode()
    assert workspace.rescan().is_whole


@pytest.mark.parametrize(
    "data",
    [
        PNG + b"tEXtComment\0" + KEY.encode() + b"\xff",
        b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n(" + KEY.encode() + b")\n",
        PNG + b"\0" + KEY.encode("utf-16-le"),
    ],
)
def test_a_real_image_stays_and_the_import_says_what_a_rescan_would(
    workspace: Workspace, tmp_path: Path, data: bytes
) -> None:
    path = claude.write(
        tmp_path / "in" / f"{claude.SESSION}.jsonl", [claude.user(1, [block("image/png", data)])]
    )
    report = workspace.import_claude_code([path])
    ((_, line, reason),) = problems(report)
    assert line == 1
    assert "(anthropic_key)" in reason
    (kept,) = [each for each in (workspace.root / "artifacts").rglob("*") if each.is_file()]
    assert kept.read_bytes() == data
    (other,) = workspace.rescan().others
    # One that stands in two readings of the same bytes is counted in each.
    assert set(other.counts) == {"anthropic_key"}


def test_a_picture_without_words_says_nothing(workspace: Workspace, tmp_path: Path) -> None:
    path = claude.write(
        tmp_path / "in" / f"{claude.SESSION}.jsonl", [claude.user(1, [block("image/png", PNG)])]
    )
    assert problems(workspace.import_claude_code([path])) == []


def test_a_path_that_holds_a_key_is_told_with_the_marker(workspace: Workspace, tmp_path: Path) -> None:
    claude.write(tmp_path / KEY / f"{claude.SESSION}.jsonl", [claude.user(1, "hello"), "no record"])
    report = workspace.import_claude_code([tmp_path / KEY])
    said = repr(report)
    assert KEY not in said
    assert MARKER in report.sessions[0].source


@given(
    st.binary(max_size=300) | st.text(max_size=100).map(lambda text: text.encode("utf-16", "surrogatepass"))
)
def test_without_secrets_nothing_changes(data: bytes) -> None:
    clean, found, _ = redact_bytes(data, default_filter())
    if not found:
        assert clean == data


@given(
    st.text(st.characters(codec="utf-8"), max_size=40),
    st.text(st.characters(codec="utf-8"), max_size=40),
    st.sampled_from(("utf-8", "utf-16", "utf-32")),
)
def test_a_key_in_a_marked_text_goes_whatever_stands_around(before: str, behind: str, encoding: str) -> None:
    if "\0" in before + behind:
        return
    text = f"{before}\n{KEY}\n{behind}"
    clean, found, is_text = redact_bytes(text.encode(encoding), default_filter())
    assert is_text
    assert found
    assert KEY not in clean.decode(encoding)
