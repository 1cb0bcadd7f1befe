"""Files nobody would wish for: each is named or kept, none stops the others, no secret is stored."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import stat
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest

from tests.imports.claude_code_records import SESSION, assistant, call, lines, text, user, write
from tests.imports.driver_log import (
    CHRONICUM,
    assert_adds_up,
    assert_gapless,
    contents,
    described,
    events,
    new_workspace,
    numbers,
    problems,
    talk,
)
from workbench.sessions.errors import EmptyOwnerID
from workbench.sessions.model import Actum
from workbench.storage.errors import DatabaseReadOnly
from workbench.workspace import Workspace

ROOT = Path(__file__).parents[2]
OTHER = "99999999-2222-4333-8444-555555555555"
KEYS = ["sk-ant-api03-" + letter * 3 + "9xQ2vB7nM4kL8pR5tW" for letter in "abc"]
MARKER = "[REDACTED:anthropic_key]"


@pytest.fixture
def workspace(tmp_path: Path) -> Any:
    with new_workspace(tmp_path / "ws") as opened:
        yield opened


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "in" / f"{SESSION}.jsonl"


# -- owners ------------------------------------------------------------------------------------


def test_a_foreign_session_is_refused_by_its_file_and_the_others_go_on(
    workspace: Workspace, path: Path
) -> None:
    write(path, talk(range(3)))
    workspace.import_claude_code([path], owner="bob")
    with path.open("ab") as file:
        file.write(lines(talk([3])))
    write(path.with_name(f"{OTHER}.jsonl"), talk(range(10, 13), OTHER))
    foreseen = workspace.import_claude_code([path.parent], dry_run=True)
    report = workspace.import_claude_code([path.parent])
    assert numbers(foreseen) == numbers(report)
    assert problems(report) == [(path.name, 0, f"the session {CHRONICUM} belongs to another owner")]
    (refused,) = [each for each in report.sessions if each.refused]
    assert (refused.id, refused.source, refused.acta_total) == (CHRONICUM, str(path), 0)
    assert (report.totals["files"], report.totals["sessions"]) == (1, 1)
    assert report.totals["acta_added"] == 4
    assert described(workspace)["title"] == "prompt 0"
    # Her refusal did not use up what is his.
    assert workspace.import_claude_code([path], owner="bob").totals["acta_added"] == 2
    # A file that is as it was is refused to her as well.
    assert problems(workspace.import_claude_code([path])) == problems(report)


def test_a_foreign_session_inside_a_file_leaves_the_rest_of_it(workspace: Workspace, path: Path) -> None:
    write(path, talk(range(3)))
    workspace.import_claude_code([path], owner="bob")
    mixed = path.with_name(f"{OTHER}.jsonl")
    write(mixed, [*talk(range(10, 12), OTHER), *talk(range(20, 22)), *talk(range(30, 32), OTHER)])
    for added in (6, 0):
        report = workspace.import_claude_code([mixed])
        assert report.totals["acta_added"] == added
        assert problems(report) == [(mixed.name, 0, f"the session {CHRONICUM} belongs to another owner")]
    acta = [e.payload["chronicum_id"] for e in events(workspace) if "content" in e.payload]
    assert acta == [CHRONICUM] * 4 + [f"claude-code/{OTHER}"] * 6


def test_a_session_that_another_owner_begins_meanwhile_is_refused(workspace: Workspace, path: Path) -> None:
    write(path, talk(range(1100)))

    begun: list[bool] = []
    his = Actum(
        chronicum_id=f"claude-code/{OTHER}", kind="message", actor_kind="human", actor="bob", content="his"
    )

    def interfere() -> bool:
        # Between two transactions of hers he begins the session that her file comes to next.
        if not begun:
            begun.append(True)
            workspace.sessions.record_actum("bob", his)
        return False

    with path.open("ab") as file:
        file.write(lines(talk(range(2000, 2003), OTHER)))
    report = workspace.import_claude_code([path], cancelled=interfere)
    assert begun
    reason = f"the session claude-code/{OTHER} belongs to another owner"
    assert problems(report) == [(path.name, 0, reason)]
    acta = workspace.sessions.get_acta("bob", f"claude-code/{OTHER}")
    assert [actum.content for actum in acta] == ["his"]


def test_an_empty_owner_is_refused(workspace: Workspace, path: Path) -> None:
    write(path, talk(range(3)))
    with pytest.raises(EmptyOwnerID):
        workspace.import_claude_code([path], owner="")
    assert events(workspace) == []


def test_a_workspace_that_is_open_read_only_refuses_and_keeps_nothing(
    workspace: Workspace, path: Path
) -> None:
    write(path, [user(0, [image(b"picture")]), *talk(range(1, 3))])
    with Workspace.open(workspace.root, read_only=True) as closed:
        with pytest.raises(DatabaseReadOnly) as caught:
            closed.import_claude_code([path])
        assert "read-only" in caught.value.message
        assert caught.value.hint
        foreseen = closed.import_claude_code([path], dry_run=True)
    assert kept_files(workspace) == []
    assert numbers(workspace.import_claude_code([path])) == numbers(foreseen)


# -- evidence ----------------------------------------------------------------------------------


def image(data: bytes) -> dict[str, Any]:
    source = {"type": "base64", "media_type": "image/png", "data": base64.b64encode(data).decode()}
    return {"type": "image", "source": source}


def kept_files(workspace: Workspace) -> list[Path]:
    return sorted(file for file in workspace.layout.artifacts.rglob("*") if file.is_file())


def test_images_are_kept_by_digest_for_their_owner_only(workspace: Workspace, path: Path) -> None:
    pictures = [b"\x89PNG one", b"\x89PNG two"]
    answer = {"type": "tool_result", "tool_use_id": "t", "content": [image(pictures[1]), image(pictures[0])]}
    write(path, [user(0, [image(pictures[0])]), user(1, [answer]), user(2, [image(b"")])])
    workspace.import_claude_code([path], dry_run=True)
    assert kept_files(workspace) == []
    workspace.import_claude_code([path])
    digests = [hashlib.sha256(picture).hexdigest() for picture in pictures]
    acta = [event.payload["metadata"] for event in events(workspace) if "content" in event.payload]
    assert [metadata.get("evidence") for metadata in acta] == [[digests[0]], digests[::-1], None]
    assert sorted(file.name for file in kept_files(workspace)) == sorted(digests)
    assert {stat.S_IMODE(file.stat().st_mode) for file in kept_files(workspace)} == {0o600}
    assert workspace.evidence.get(digests[1]) == pictures[1]


# -- secrets -----------------------------------------------------------------------------------


def stored_bytes(root: Path) -> bytes:
    return b"".join(file.read_bytes() for file in sorted(root.rglob("*")) if file.is_file())


@pytest.mark.parametrize(
    "place",
    [
        "text",
        "first prompt",
        "tool",
        "tool input",
        "call id",
        "cwd",
        "branch",
        "title",
        "agent",
        "path",
        "kind",
    ],
)
def test_a_secret_is_stored_nowhere_and_counted(tmp_path: Path, path: Path, place: str) -> None:
    secret = KEYS[0]
    records = talk(range(600))
    if place == "text":
        records.append(assistant(700, [text(f"use {secret}!")]))
    elif place == "first prompt":
        records.insert(0, user(700, f"use {secret}!"))
    elif place == "tool":
        records.append(assistant(700, [call("t", secret, x=1)]))
    elif place == "tool input":
        records.append(assistant(700, [call("t", "Write", content=f"# env\n{secret}\n\t{secret}")]))
    elif place == "call id":
        records.append(assistant(700, [call(secret, "Write", x=1)]))
    elif place == "cwd":
        records.append(user(700, "hello", cwd=f"/home/{secret}/x"))
    elif place == "branch":
        records.append(user(700, "hello", gitBranch=f"fix/{secret}"))
    elif place == "title":
        records.append({"type": "custom-title", "sessionId": SESSION, "customTitle": f"about {secret}"})
    elif place == "agent":
        records.append(assistant(700, [text("x")], agentId=secret, isSidechain=True))
    elif place == "kind":
        records.append(user(700, "hello", forkedFrom={"sessionId": secret}))
    else:
        path = tmp_path / "in" / secret / path.name
    write(path, records)
    with new_workspace(tmp_path / "ws") as workspace:
        foreseen = workspace.import_claude_code([path], dry_run=True)
        report = workspace.import_claude_code([path])
        assert report.totals["problems"] == 0
        assert report.sessions[0].redactions["anthropic_key"] >= 1
        assert numbers(foreseen) == numbers(report)
        before = events(workspace)
        assert MARKER in json.dumps([event.payload for event in before])
        # Nothing is noted of a path that holds a secret: such a file is read anew.
        assert workspace.import_claude_code([path]).sessions[0].unchanged == (place != "path")
        write(path, [{"type": "mode"}, *records])
        again = workspace.import_claude_code([path])
        assert (again.totals["acta_added"], again.totals["duplicates"] > 600 - 2) == (0, True)
        assert events(workspace) == before
        write(path, records[:-1])
        workspace.import_claude_code([path])
        assert [e for e in events(workspace) if "content" in e.payload] == [
            e for e in before if "content" in e.payload
        ]
        assert_gapless(workspace)
    assert secret.encode() not in stored_bytes(tmp_path / "ws")


def test_records_with_secret_names_stay_apart_and_enter_once(tmp_path: Path, path: Path) -> None:
    records = [
        user(0, "one", uuid=KEYS[0]),
        user(1, "two", uuid=KEYS[1]),
        user(2, "three", sessionId=KEYS[2]),
        user(3, "four", sessionId=KEYS[1]),
        user(4, "one again", uuid=KEYS[0]),
    ]
    write(path, records)
    with new_workspace(tmp_path / "ws") as workspace:
        for added, duplicates in ((5, 0), (0, 5)):
            report = workspace.import_claude_code([path])
            assert (report.totals["acta_added"], report.totals["duplicates"]) == (added, duplicates)
            assert report.totals["problems"] == 0
            # Another beginning: the file is read again from there.
            write(path, [user(9, "  "), *records])
        assert contents(workspace) == ["one", "two", "three", "four", "one again"]
        sessions = {e.payload["chronicum_id"] for e in events(workspace) if "content" in e.payload}
        # What would tell the two secret ids apart may not be kept.
        assert len(sessions) == 2
        assert sum(MARKER in session for session in sessions) == 1
        assert not any(key in str(report) for key in KEYS)
        assert_gapless(workspace)
    stored = stored_bytes(tmp_path / "ws")
    assert not any(key.encode() in stored for key in KEYS)


def test_a_file_whose_session_is_a_secret_grows(tmp_path: Path) -> None:
    path = tmp_path / "in" / f"{KEYS[0]}.jsonl"
    write(path, talk(range(3), KEYS[0]))
    with new_workspace(tmp_path / "ws") as workspace:
        workspace.import_claude_code([path])
        before = events(workspace)
        with path.open("ab") as file:
            file.write(lines(talk(range(3, 6), KEYS[0])))
        report = workspace.import_claude_code([path])
        assert (report.totals["acta_added"], report.totals["duplicates"]) == (5, 3)
        assert len({event.stream for event in events(workspace)}) == 1
        assert {e.envelope.type for e in events(workspace)[len(before) :]} == {"actum.recorded"}
    assert KEYS[0].encode() not in stored_bytes(tmp_path / "ws")


# -- bad files ---------------------------------------------------------------------------------


def test_bad_lines_are_named_and_the_others_kept(workspace: Workspace, path: Path) -> None:
    good = lines(talk(range(4))).splitlines(keepends=True)
    deep = json.dumps(user(50, [call("t", "X")])).replace(
        '"input": {}', '"input": ' + "[" * 5000 + "]" * 5000
    )
    bad = [
        b"not json\n",
        b"[1, 2]\n",
        b'"text"\n',
        b"\xff\xfe" + good[0],
        b'{"type": "user", "x": ' + b"[" * 200_000 + b"]" * 200_000 + b"}\n",
        b"\n",
        deep.encode() + b"\n",
        b"\0" * 4096 + b"\n",
        b'{"type": "user"\n',
    ]
    path.parent.mkdir()
    path.write_bytes(good[0] + b"".join(bad) + b"".join(good[1:]))
    report = workspace.import_claude_code([path])
    assert [(line, reason) for _, line, reason in problems(report)][:5] == [
        (2, "not JSON"),
        (3, "not an object"),
        (4, "not an object"),
        (5, "not UTF-8"),
        (6, "too deep"),
    ]
    assert (10, "not JSON") in [(line, reason) for _, line, reason in problems(report)]
    assert contents(workspace)[0] == "prompt 0"
    assert contents(workspace)[-2:] == ["thought 3", "reply 3"]
    assert_adds_up(report)
    before = events(workspace)
    path.write_bytes(b"\n" + path.read_bytes())
    again = workspace.import_claude_code([path])
    assert (again.totals["duplicates"], again.totals["problems"]) == (4, report.totals["problems"])
    assert events(workspace) == before


def test_odd_text_and_times_are_kept(workspace: Workspace, path: Path) -> None:
    times = [
        "1970-01-01T00:00:00.000Z",
        "2100-12-31T23:59:59.999Z",
        "0001-01-01T00:00:00+14:00",
        "9999-12-31T23:59:59-12:00",
        "9999-12-31T23:59:59.999999Z",
        "yesterday",
        "",
    ]
    texts = [
        "a\ud800b",
        "nul \0 here",
        "\x1b]52;c;AAAA\x07[bold]",
        "\u202eevil",
        "👩‍👩‍👧‍👦漢字",
        "[/x] [@click=app.quit]",
        "\\u0000",
    ]
    records = [
        user(n, said, timestamp=at, gitBranch=said, cwd="/" + said, version=said)
        for n, (at, said) in enumerate(zip(times, texts, strict=True))
    ]
    write(path, records)
    report = workspace.import_claude_code([path])
    assert report.totals["problems"] == 0
    assert contents(workspace) == ["a\ufffdb", *texts[1:]]
    assert report.sessions[0].repaired["lone surrogate"] >= 1
    at = [e.envelope.occurred_at for e in events(workspace) if "content" in e.payload]
    assert [None if moment is None else moment.year for moment in at] == [
        1970,
        2100,
        2100,
        2100,
        9999,
        9999,
        9999,
    ]
    acta = workspace.sessions.get_acta("ada", CHRONICUM)
    assert [actum.content for actum in acta] == contents(workspace)


def test_odd_names_are_kept(workspace: Workspace, path: Path) -> None:
    names = [
        "a/b",
        "..",
        "a b\n",
        "\0",
        "ü",
        "\x1b[31m",
        "'; DROP TABLE events; --",
        "%2F",
        "x" * 200,
        "y" * 201,
    ]
    write(path, [user(n, name, sessionId=name, uuid=name, agentId=name) for n, name in enumerate(names)])
    report = workspace.import_claude_code([path])
    assert contents(workspace) == names
    assert report.totals["problems"] == 0
    copy = path.with_name("copy") / path.name
    copy.parent.mkdir()
    copy.write_bytes(path.read_bytes())
    again = workspace.import_claude_code([copy])
    assert (again.totals["acta_added"], again.totals["duplicates"]) == (0, len(names))
    assert_gapless(workspace)
    assert_adds_up(report)


def test_a_line_of_fifty_megabytes(workspace: Workspace, path: Path) -> None:
    write(path, [user(0, "before"), user(1, "x" * 50_000_000), user(2, "after")])
    report = workspace.import_claude_code([path])
    assert report.totals == {"files": 1, "sessions": 1, "acta_added": 3, "duplicates": 0, "problems": 0} | {
        "unread_before": 0,
        "waiting_lines": 0,
    }
    assert [len(content) for content in contents(workspace)] == [6, 50_000_000, 5]


@pytest.mark.parametrize(
    ("name", "data", "reason"),
    [
        ("empty.jsonl", b"", "empty"),
        ("nul.jsonl", b"\0" * 9000, "empty"),
        ("binary.jsonl", bytes(range(256)) * 50, "not JSON lines"),
        ("other.jsonl", b'{"a": 1}\n' * 5, "no session records"),
        ("prose.txt", b"Dear diary,\n", "not JSON lines"),
        ("packed.jsonl.zst", b"\x28\xb5\x2f\xfd", "compressed"),
    ],
)
def test_what_is_no_transcript_is_named_and_the_others_go_on(
    workspace: Workspace, path: Path, name: str, data: bytes, reason: str
) -> None:
    write(path, talk(range(3)))
    bad = path.with_name(name)
    bad.write_bytes(data)
    report = workspace.import_claude_code([bad, path, path.parent / "missing.jsonl"])
    assert problems(report) == [("missing.jsonl", 0, "not found"), (name, 0, reason)] or problems(report) == [
        (name, 0, reason),
        ("missing.jsonl", 0, "not found"),
    ]
    assert report.totals["acta_added"] == 4
    assert report.totals["files"] == 1
    assert_adds_up(report)


UNPRIVILEGED = """
import json, os, sys
from pathlib import Path
from workbench.workspace import Workspace
root, folder, good = sys.argv[1:]
# The program's own files may be out of reach afterwards: all of them are loaded before.
with Workspace.create(root + "-before", title="T", timezone="UTC", owner="ada") as workspace:
    workspace.import_claude_code([Path(good)])
if os.geteuid() == 0:
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)
with Workspace.create(root, title="T", timezone="UTC", owner="ada") as workspace:
    report = workspace.import_claude_code([Path(folder)])
    found = sorted([Path(p.file).name, p.reason] for s in report.sessions for p in s.problems)
    print(json.dumps([found, report.totals["acta_added"]]))
"""


def test_what_may_not_be_read_is_named_and_the_others_go_on() -> None:
    # The folder of pytest is closed to other users.
    with tempfile.TemporaryDirectory() as name:
        home = Path(name)
        path = write(home / "in" / f"{SESSION}.jsonl", talk(range(3)))
        closed = home / "in" / "closed"
        write(closed / f"{OTHER}.jsonl", talk(range(3), OTHER))
        write(path.with_name("unreadable.jsonl"), talk(range(5, 8), OTHER)).chmod(0)
        closed.chmod(0)
        home.chmod(0o777)
        try:
            ran = subprocess.run(
                [sys.executable, "-c", UNPRIVILEGED, str(home / "ws"), str(path.parent), str(path)],
                capture_output=True,
                text=True,
                env={**os.environ, "PYTHONPATH": str(ROOT), "HOME": name},
                check=False,
            )
        finally:
            closed.chmod(0o700)
    assert ran.returncode == 0, ran.stderr
    found, added = json.loads(ran.stdout)
    assert found == [["closed", "Permission denied"], ["unreadable.jsonl", "Permission denied"]]
    assert added == 4


def test_a_path_that_is_no_text(workspace: Workspace, tmp_path: Path) -> None:
    folder = Path(os.fsdecode(os.fsencode(tmp_path) + b"/in-\xff"))
    other = Path(os.fsdecode(os.fsencode(tmp_path) + b"/in-\xfe"))
    write(folder / f"{SESSION}.jsonl", talk(range(3)))
    write(other / f"{OTHER}.jsonl", talk(range(10, 13), OTHER))
    report = workspace.import_claude_code([folder, other])
    assert report.totals["acta_added"] == 9 - 1
    assert described(workspace)["source"].endswith(f"in-\ufffd/{SESSION}.jsonl")
    again = workspace.import_claude_code([folder, other])
    assert all(session.unchanged for session in again.sessions)
