"""Files that a stranger could have written, against the import as a whole."""

from __future__ import annotations

import base64
import json
from pathlib import Path

import pytest

from workbench.error_log import write_details
from workbench.locations import log_file
from workbench.workspace import Workspace

KEY = "sk-ant-api03-" + "aB3dE5fG7hJ9" * 4


def record(uuid: str, session: str, content: object) -> str:
    message = {"role": "user", "content": content}
    return json.dumps(
        {
            "type": "user",
            "uuid": uuid,
            "sessionId": session,
            "timestamp": "2026-02-03T04:05:06Z",
            "message": message,
        }
    )


def test_a_file_that_names_many_sessions_stops_nobody(tmp_path: Path) -> None:
    result = [{"type": "tool_result", "tool_use_id": "x", "content": "y"}]
    many = "\n".join(record(f"u{i}", f"s{i}", result) for i in range(70))
    (tmp_path / "many.jsonl").write_text(many + "\n")
    (tmp_path / "one.jsonl").write_text(record("a", "alone", "hello") + "\n")
    with Workspace.create(tmp_path / "w", timezone="UTC", owner="maya") as workspace:
        report = workspace.import_claude_code([tmp_path / "many.jsonl", tmp_path / "one.jsonl"])
        assert report.totals["acta_added"] == 71


@pytest.mark.parametrize("form", ["text", "base64"])
def test_a_text_document_is_kept_without_its_keys(tmp_path: Path, form: str) -> None:
    text = f"my key {KEY} and more"
    data = text if form == "text" else base64.b64encode(text.encode()).decode()
    source = {"type": form, "media_type": "text/plain", "data": data}
    line = record("a", "s", [{"type": "text", "text": "see"}, {"type": "document", "source": source}])
    (tmp_path / "t.jsonl").write_text(line + "\n")
    with Workspace.create(tmp_path / "w", timezone="UTC", owner="maya") as workspace:
        report = workspace.import_claude_code([tmp_path / "t.jsonl"])
        assert report.sessions[0].redactions == {"anthropic_key": 1}
    stored = b"".join(file.read_bytes() for file in (tmp_path / "w").rglob("*") if file.is_file())
    assert KEY.encode() not in stored
    assert b"my key [REDACTED:anthropic_key] and more" in stored


def test_the_error_log_holds_no_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORKBENCH_STATE_DIR", str(tmp_path))
    write_details(KeyError(KEY))
    assert KEY not in log_file().read_text()
    assert "[REDACTED:anthropic_key]" in log_file().read_text()
