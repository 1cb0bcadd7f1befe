"""What a session is called and how it is described."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.imports.claude_code_records import SESSION, assistant, read_records, text, user
from workbench.imports.claude_code.descriptions import note_record
from workbench.imports.claude_code.records import Record
from workbench.imports.transcript import titles
from workbench.imports.transcript.items import DescribeItem
from workbench.imports.transcript.state import SessionState
from workbench.redaction.shapes import fill


def described(folder: Path, records: list[Any]) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    for item in read_records(folder, records):
        if isinstance(item, DescribeItem) and item.chronicum_id == f"claude-code/{SESSION}":
            fields.update(item.fields)
    return fields


def custom(title: str) -> dict[str, Any]:
    return {"type": "custom-title", "customTitle": title, "sessionId": SESSION}


def ai(title: str) -> dict[str, Any]:
    return {"type": "ai-title", "aiTitle": title, "sessionId": SESSION}


def test_the_first_real_prompt_is_the_title(tmp_path: Path) -> None:
    records = [
        user(0, "<command-name>/clear</command-name>"),
        user(1, "meta", isMeta=True),
        user(2, "Draw\n  the\tmap."),
        user(3, "Then colour it."),
    ]
    assert described(tmp_path, records)["title"] == "Draw the map."


def test_a_long_prompt_is_cut_to_two_hundred_characters(tmp_path: Path) -> None:
    title = described(tmp_path, [user(0, "word " * 100_000)])["title"]
    assert len(title) <= 200
    assert title.endswith("word…")


def test_the_programs_title_beats_the_prompt_and_the_persons_beats_both(tmp_path: Path) -> None:
    prompt = user(0, "Draw the map.")
    assert described(tmp_path, [ai("Map"), prompt])["title"] == "Map"
    assert described(tmp_path, [prompt, ai("Map"), ai("Atlas")])["title"] == "Atlas"
    assert described(tmp_path, [prompt, custom("Mine"), ai("Map")])["title"] == "Mine"
    assert described(tmp_path, [prompt, custom("Mine"), custom("My own")])["title"] == "My own"
    assert described(tmp_path, [prompt, custom(" \n")])["title"] == "Draw the map."


def test_the_description_of_a_session(tmp_path: Path) -> None:
    fork = {"sessionId": "older", "messageUuid": "u0"}
    records = [
        user(0, "Draw.", forkedFrom=fork),
        assistant(1, [text("a")]),
        assistant(2, [text("b")], cwd="/elsewhere", gitBranch="topic", version="2.1.31"),
    ]
    records[2]["message"]["model"] = "model-small"
    synthetic = assistant(3, [text("c")])
    synthetic["message"]["model"] = "<synthetic>"
    assert described(tmp_path, [*records, synthetic]) == {
        "title": "Draw.",
        "source": str(tmp_path / f"{SESSION}.jsonl"),
        "cwd": "/home/ada/atlas",
        "git_branch": "main",
        "client_version": "2.1.30",
        "models": ["model-large", "model-small"],
        "forked_from": "claude-code/older",
    }


def test_only_what_changed_is_told_and_only_of_sessions_with_content(tmp_path: Path) -> None:
    items = read_records(tmp_path, [custom("Mine"), {"type": "summary", "summary": "x"}])
    assert not [item for item in items if isinstance(item, DescribeItem) and "title" in item.fields]


def test_a_session_inside_anothers_file_does_not_claim_it(tmp_path: Path) -> None:
    items = read_records(tmp_path, [user(0, "a"), user(1, "b", sessionId="older")])
    own = {item.chronicum_id: item.own for item in items if isinstance(item, DescribeItem)}
    assert own == {f"claude-code/{SESSION}": True, "claude-code/older": False}


def test_a_title_ends_before_a_secret_that_does_not_fit() -> None:
    key = fill("sk-ant-api03-{alnum:48}")
    line = "please use " + "the one in the folder " * 7 + key
    assert 150 < len(line) - len(key) < 199 < len(line)
    assert titles.one_line(line) == line.removesuffix(key).rstrip() + "…"
    assert titles.one_line(line, len(line)) == line
    # Blanks that make a long text short do not bring a piece of a secret back.
    blanks = "use" + " " * (titles.MAX_READ - 30) + key
    assert titles.one_line(blanks) == "use"
    block = "-----BEGIN PRIVATE KEY-----\n" + fill("{base64:64}\n") * 20 + "-----END PRIVATE KEY-----"
    assert titles.one_line(block) == ""


def test_long_fields_of_a_session_end_before_a_secret_that_does_not_fit() -> None:
    key = fill("ghp_{alnum:36}")
    place = "/srv/" + "x" * (titles.MAX_FIELD - 20) + "/"
    session = SessionState()
    note_record(session, Record(cwd=place + key, git_branch=place + key, client_version="y" * 2000))
    assert titles.take_changes(session) == {
        "cwd": place,
        "git_branch": place,
        "client_version": "y" * titles.MAX_FIELD,
    }
    jwt = fill("eyJ{url:33}.eyJ{url:10000}.{url:342}")
    note_record(session, Record(cwd=jwt, git_branch=jwt, client_version=jwt))
    assert titles.take_changes(session) == {}
