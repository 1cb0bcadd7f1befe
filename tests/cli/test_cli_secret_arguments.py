"""A key in each argument of each entry that writes: it reaches no table, no index, no log, no artifact, no file.

Where an argument is a name that the caller chooses it is refused, and the refusal does not repeat it.
"""

from __future__ import annotations

import base64
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.program import CHECKOUT, Answer, Run
from tests.imports import claude_code_records as claude
from tests.imports import codex_records as codex
from tests.workspace.older_workspace import older_workspace
from tests.workspace.redaction_cases import (
    act,
    begin,
    core,
    holders,
    new_root,
    token,
    unfiltered,
)
from workbench.error_log import write_details
from workbench.errors import WorkbenchError
from workbench.locations import log_file
from workbench.log import PendingEvent
from workbench.log.errors import SecretInIdentifier
from workbench.log.registry import Removed
from workbench.log.streams import session_stream
from workbench.redaction import default_filter
from workbench.redaction.suspicion import may_hold
from workbench.sessions import Actum
from workbench.storage import fetch
from workbench.workspace import Workspace
from workbench.workspace.rows import RedactionFilter
from workbench.workspace.transfer import export_file, import_file

KEY = token(1)


@pytest.fixture(autouse=True)
def nothing_holds_the_key(workspace: Workspace, tmp_path: Path) -> Iterator[None]:
    """Whatever a test does: afterwards the key stands nowhere in the workspace, nor in the program's log.

    A row that a table would show counts as well: what is on the disk may be packed.
    """
    yield
    assert_clean(workspace)
    assert holders(workspace.root, 1) == []
    assert holders(tmp_path / "state", 1) == []


def assert_clean(workspace: Workspace) -> None:
    """No column of any table, shadow tables of full text included, holds a part of the key."""
    half = core(1)[:20].lower()
    with workspace.log.reader() as connection:
        names = fetch.rows(
            connection,
            "SELECT name FROM sqlite_schema WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%'",
        )
        assert {"events", "jobs", "import_sources", "fulltext_data", "redactions"} <= {n for (n,) in names}
        for (name,) in names:
            for row in connection.execute(f'SELECT * FROM "{name}"'):
                for value in row:
                    text = value.decode("latin-1") if isinstance(value, bytes) else str(value)
                    assert half not in text.lower(), name


def said(answer: Answer) -> str:
    return answer.out + answer.err


RECORD = {
    "--session": "s",
    "--owner": "ada",
    "--kind": "message",
    "--actor-kind": "agent",
    "--actor": "coder",
    "--content": "hello",
    "--key": "k1",
    "--metadata": "{}",
}


def record(run: Run, *words: str, **changed: str) -> Answer:
    given = RECORD | {f"--{name.replace('_', '-')}": value for name, value in changed.items()}
    return run("sessions", "record", *(word for pair in given.items() for word in pair), *words)


# -- recording -----------------------------------------------------------------------------


@pytest.mark.parametrize("as_json", [False, True])
@pytest.mark.parametrize("option", ["session", "owner", "actor", "key", "kind", "actor_kind"])
def test_names_in_record_are_refused(run: Run, workspace: Workspace, option: str, as_json: bool) -> None:
    form = ["--format", "json"] if as_json else []
    for value in (KEY, f"a {KEY} b"):
        answer = record(run, *form, **{option: value})
        assert answer.code in (1, 2)
        assert core(1) not in said(answer)
        if as_json:
            assert answer.json["error_type"] in ("secret_in_identifier", "invalid_actum")
        assert workspace.log.last_position() in (0, 1)


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("content", f"the key is {KEY}"),
        ("content", json.dumps({"k": {"deep": KEY}})),
        ("metadata", json.dumps({"k": KEY})),
        ("metadata", json.dumps({KEY: "v"})),
        ("metadata", json.dumps({"a": [{"b": [KEY, 1, None]}]})),
        ("metadata", json.dumps({"text": json.dumps({"inner": KEY})})),
        ("metadata", json.dumps({"call_id": KEY, "parent": KEY, "evidence": [KEY]})),
    ],
)
@pytest.mark.parametrize("private", [False, True])
def test_free_text_in_record_is_filtered(
    run: Run, workspace: Workspace, option: str, value: str, private: bool
) -> None:
    answer = record(run, *(["--private"] if private else []), **{option: value})
    assert answer.code == 0
    assert core(1) not in said(answer)
    assert workspace.readers.redactions.total() >= 1


def test_text_on_stdin_is_filtered(run: Run, workspace: Workspace) -> None:
    words = [word for pair in (RECORD | {"--content": "-"}).items() for word in pair]
    answer = run("sessions", "record", *words, stdin=f"a\n{KEY}\nb\n".encode())
    assert answer.code == 0
    (actum,) = workspace.sessions.get_acta("ada", "s")
    assert actum.content == "a\n[REDACTED:anthropic_key]\nb"


def test_metadata_that_is_no_json_is_not_repeated(run: Run, workspace: Workspace) -> None:
    for broken in (f'{{"k": "{KEY}"', f'["{KEY}"]', KEY):
        answer = record(run, metadata=broken)
        assert answer.code == 2
        assert core(1) not in said(answer)


@pytest.mark.parametrize("field", ["chronicum_id", "actor"])
def test_names_of_an_actum_are_refused_by_the_library(workspace: Workspace, field: str) -> None:
    given = {"chronicum_id": "s", "kind": "message", "actor_kind": "agent", "actor": "a", "content": "x"}
    with pytest.raises(WorkbenchError) as caught:
        workspace.sessions.record_actum("ada", Actum(**{**given, field: KEY}))  # type: ignore[arg-type]
    assert core(1) not in f"{caught.value.message} {caught.value.hint} {caught.value}"


def test_names_beside_an_actum_are_refused_by_the_library(workspace: Workspace) -> None:
    actum = Actum(chronicum_id="s", kind="message", actor_kind="agent", actor="a", content="x")
    for owner, key in ((KEY, None), ("ada", KEY)):
        with pytest.raises(SecretInIdentifier) as caught:
            workspace.sessions.record_actum(owner, actum, idempotency_key=key)
        assert core(1) not in f"{caught.value.message} {caught.value.hint}"


# -- units ---------------------------------------------------------------------------------


@pytest.mark.parametrize("option", ["--unit", "--key", "--owner", "ID"])
def test_names_in_close_unit_are_refused(run: Run, workspace: Workspace, option: str) -> None:
    assert record(run).code == 0
    given = {"--unit": "week", "--owner": "ada", "--key": "k"} | ({option: KEY} if option != "ID" else {})
    words = [word for pair in given.items() for word in pair]
    for form in ([], ["--format", "json"]):
        answer = run("sessions", "close-unit", KEY if option == "ID" else "s", *words, *form)
        assert answer.code == 1, answer
        assert core(1) not in said(answer)


def test_the_note_of_a_unit_is_filtered(run: Run, workspace: Workspace) -> None:
    assert record(run).code == 0
    assert run("sessions", "close-unit", "s", "--unit", "week", "--note", f"with {KEY}").code == 0
    row = workspace.readers.redactions.page(_all(), 1)[0]
    assert (row.field, row.type) == ("note", "unit.closed")


def _all() -> RedactionFilter:
    return RedactionFilter()


# -- shared memory -------------------------------------------------------------------------

SHIP = ("--project", "atlas", "--task-id", "ship")
NAMES_IN_MEMORY = (
    "--project",
    "--task-id",
    "--domain",
    "--agent",
    "--request-id",
    "--session-id",
    "--id",
    "--entity-id",
    "--entity-type",
)


@pytest.mark.parametrize("option", NAMES_IN_MEMORY)
@pytest.mark.parametrize("private", [False, True])
def test_names_in_a_record_of_memory_are_refused(
    run: Run, workspace: Workspace, option: str, private: bool
) -> None:
    more = ["--private"] if private else []
    for value in (KEY, f"a {KEY} b"):
        for form in ([], ["--format", "json"]):
            answer = run("record", "x", *SHIP, option, value, *more, *form)
            assert answer.code in (1, 2)
            assert core(1) not in said(answer)
    assert workspace.log.last_position() == 0


def test_an_agent_of_the_environment_is_refused(
    run: Run, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CHRONICLE_AGENT", KEY)
    for form in ([], ["--format", "json"]):
        answer = run("record", "x", *form)
        assert answer.code in (1, 2)
        assert core(1) not in said(answer)
    assert workspace.log.last_position() == 0


@pytest.mark.parametrize("private", [False, True])
def test_free_text_in_a_record_of_memory_is_filtered(
    run: Run, workspace: Workspace, tmp_path: Path, private: bool
) -> None:
    more = ["--private"] if private else []
    checkpoint = {
        "goal": f"use {KEY}",
        **{name: [f"a {KEY}", KEY] for name in ("completed", "verification", "open_questions", "next_steps")},
    }
    (tmp_path / "fact.json").write_text(json.dumps({"slot": "token", "value": KEY, "kind": "observed"}))
    for form in ([], ["--format", "json"]):
        answer = run(
            "record",
            f"the key is {KEY} {len(form)}",
            *SHIP,
            *more,
            *form,
            "--why",
            f"because {KEY}",
            "--checkpoint-file",
            "-",
            "--fact-file",
            tmp_path / "fact.json",
            "--source-file",
            f"notes/{KEY}.txt",
            stdin=json.dumps(checkpoint).encode(),
        )
        assert answer.code == 0, answer
        assert core(1) not in said(answer)
    (tmp_path / "fact.json").unlink()
    assert answer.json["redactions"]["anthropic_key"] >= 11
    read = [("startup", *SHIP), ("brief",), ("recent", "--raw"), ("facts", "--raw"), ("tasks", "--raw")]
    for words in (*read, ("timeline", "--at", "now"), ("startup", "--focus", "REDACTED")):
        for form in ([], ["--format", "json"]):
            assert core(1) not in said(run(*words, *form))


def test_evidence_of_memory_is_filtered(run: Run, workspace: Workspace, tmp_path: Path) -> None:
    source = tmp_path / "bench.txt"
    source.write_text(f"token {KEY}\n")
    answer = run("record", "Measured", "--source-file", source, "--format", "json")
    assert answer.json["evidence"][0]["redactions"] == {"anthropic_key": 1}


@pytest.mark.parametrize(
    "given",
    [
        {"slot": KEY, "value": "v", "kind": "observed"},
        {"slot": f"the {KEY}", "value": "v", "kind": "observed"},
        {"slot": "s", "value": "v", "kind": KEY},
        {"slot": "s", "value": "v", "kind": "observed", "supersedes": KEY},
        {"slot": "s", "value": "v", "kind": "observed", KEY: "v"},
        {"slot": "s", "value": [KEY], "kind": "observed"},
        {"slot": "s", "value": "v", "kind": "observed", "supersedes": {KEY: KEY}},
        [KEY],
        KEY,
    ],
    ids=range(9),
)
def test_a_fact_that_is_refused_is_not_repeated(run: Run, workspace: Workspace, given: object) -> None:
    for form in ([], ["--format", "json"]):
        answer = run(
            "record", "x", *SHIP, "--fact-file", "-", *form, stdin=json.dumps(given, indent=1).encode()
        )
        assert answer.code in (1, 2), answer
        assert core(1) not in said(answer)
    assert workspace.log.last_position() == 0


@pytest.mark.parametrize(
    "given",
    [
        {"goal": "g", "next_steps": KEY},
        {"goal": "g", KEY: []},
        {"goal": {KEY: KEY}},
        {"goal": "g", "completed": [{KEY: KEY}]},
        {"goal": f"{KEY} " * 200},
    ],
    ids=range(5),
)
def test_a_checkpoint_that_is_refused_is_not_repeated(run: Run, workspace: Workspace, given: object) -> None:
    for broken in (json.dumps(given), json.dumps(given)[:-1], f'{{"goal": "{KEY}", "goal": "{KEY}"}}'):
        for form in ([], ["--format", "json"]):
            answer = run("record", "x", *SHIP, "--checkpoint-file", "-", *form, stdin=broken.encode())
            assert answer.code in (1, 2), answer
            assert core(1) not in said(answer)
    assert workspace.log.last_position() == 0


def test_files_of_memory_named_by_a_key(run: Run, workspace: Workspace, tmp_path: Path) -> None:
    named = tmp_path / KEY
    named.mkdir()
    for path in (named, named / "absent.json", named.with_name(f"{KEY}.json")):
        for option in ("--fact-file", "--checkpoint-file"):
            for form in ([], ["--format", "json"]):
                answer = run("record", "x", *SHIP, option, path, *form)
                assert answer.code in (1, 2)
                assert core(1) not in said(answer)


def test_what_a_person_says_of_memory_is_filtered(run: Run, workspace: Workspace) -> None:
    handed = run(
        "record",
        "x",
        *SHIP,
        "--checkpoint-file",
        "-",
        "--format",
        "json",
        stdin=b'{"goal": "g", "next_steps": ["a"]}',
    ).json
    for form in ([], ["--format", "json"]):
        for words in (
            ("review", "checkpoint", handed["checkpoint_id"], "--verdict", "rejected", "--comment", KEY),
            ("quarantine", handed["observation_id"], "--reason", f"holds {KEY}"),
            ("release", handed["observation_id"], "--reason", f"held {KEY}"),
            ("reviews",),
            ("recent", "--raw"),
        ):
            answer = run(*words, *form)
            assert answer.code == 0, answer
            assert core(1) not in said(answer)


@pytest.mark.parametrize(
    "words",
    [
        ("record", "x", "--recorded-at", KEY),
        ("record", "x", "--category", KEY),
        ("record", "x", "--nothing", KEY),
        ("startup", "--since", KEY),
        ("startup", "--before", KEY),
        ("startup", "--domain", KEY),
        ("startup", "--limit", KEY),
        ("startup", "--task-id", KEY),
        ("brief", "--budget", KEY),
        ("recent", "--as-of", KEY),
        ("recent", "--limit", KEY),
        ("timeline", "--at", KEY),
        ("timeline", "--at", "now", "--window-hours", KEY),
        ("facts", "--chain", KEY),
        ("facts", "--as-of", KEY),
        ("facts", "--after", KEY),
        ("tasks", "--as-of", KEY),
        ("tasks", "--after", KEY),
        ("reviews", "--after", KEY),
        ("review", KEY, "x", "--verdict", "accepted"),
        ("review", "fact", KEY, "--verdict", "accepted"),
        ("review", "fact", "x", "--verdict", KEY),
        ("review", "checkpoint", "x", "--verdict", "accepted", "--item", KEY),
        ("review", "checkpoint", "x", "--verdict", "accepted", "--item", f"{KEY}:1"),
        ("quarantine", KEY, "--reason", "r"),
        ("release", KEY, "--reason", "r"),
    ],
    ids=lambda words: " ".join(words).replace(KEY, "KEY"),
)
def test_arguments_of_memory_that_are_refused_are_not_repeated(
    run: Run, workspace: Workspace, words: tuple[str, ...]
) -> None:
    for form in ([], ["--format", "json"]):
        answer = run(*words, *form)
        assert answer.code in (1, 2), answer
        assert core(1) not in said(answer)
    assert workspace.log.last_position() == 0


@pytest.mark.parametrize(
    "words",
    [
        ("startup", "--project", KEY),
        ("startup", "--project", "atlas", "--task-id", KEY),
        ("startup", "--agent", KEY),
        ("startup", "--title", KEY),
        ("startup", "--focus", KEY),
        ("brief", "--project", KEY),
        ("brief", "--cwd", f"/code/{KEY}"),
        ("recent", "--domain", KEY),
        ("timeline", "--at", "now", "--domain", KEY),
        ("timeline", "--domain", KEY),
        ("facts", "--project", KEY),
        ("facts", "--slot", KEY),
        ("facts", "--domain", KEY),
        ("tasks", "--project", KEY),
        ("tasks", "--domain", KEY),
        ("reviews", "--project", KEY),
        ("reviews", "--target", KEY),
    ],
    ids=lambda words: " ".join(words).replace(KEY, "KEY"),
)
def test_what_memory_is_asked_for_stays_nowhere(
    run: Run, workspace: Workspace, words: tuple[str, ...]
) -> None:
    # Whoever asks may be told what for; that no file keeps it, the fixture looks at.
    for form in ([], ["--format", "json"]):
        assert run(*words, *form).code in (0, 1, 2)
    assert workspace.log.last_position() == 0


# -- chronicles ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "words",
    [
        ("status", "--stream", KEY),
        ("status", "--after", KEY),
        ("consolidate", "--session", KEY),
        ("consolidate", "--project", KEY, "--task-id", KEY),
        ("sections", "--stream", f"session/{KEY}"),
        ("sections", "--domain", KEY),
        ("section", KEY, "--session", "s"),
        ("reconsolidate", KEY, "--session", "s"),
        ("brief", "--stream", KEY),
        ("rebuild", "--session", "s", "--discard-generated", "--recording", f"/nowhere/{KEY}"),
        ("export", "--session", "s", "--to", f"/nowhere/{KEY}/file"),
        ("load", f"/nowhere/{KEY}"),
        ("load", "/nowhere/file", "--stream", KEY),
        ("recording", "write", f"/nowhere/{KEY}/file", "--session", "s"),
        ("recording", "read", f"/nowhere/{KEY}"),
    ],
    ids=lambda words: " ".join(words).replace(KEY, "KEY"),
)
def test_arguments_of_chronicles_that_are_refused_are_not_repeated(
    run: Run, workspace: Workspace, words: tuple[str, ...]
) -> None:
    assert record(run).code == 0
    workspace.close_unit("ada", "s", "one")
    workspace.chronicle("s").consolidate()
    last = workspace.log.last_position()
    for form in ([], ["--format", "json"]):
        answer = run("chronicle", *words, *form)
        assert answer.code in (1, 2), answer
        assert core(1) not in said(answer)
    assert workspace.log.last_position() == last
    assert all(core(1) not in f"{row}" for row in workspace.jobs.page(50))


def test_sections_in_files_that_hold_a_key(run: Run, workspace: Workspace, tmp_path: Path) -> None:
    assert record(run).code == 0
    workspace.close_unit("ada", "s", "one")
    path = tmp_path / f"{KEY}.chronicle"
    assert run("chronicle", "consolidate", "--session", "s").code == 0
    assert run("chronicle", "export", "--to", str(path), "--session", "s").code == 0
    nothing = run("chronicle", "recording", "write", "--to", f"{path}.pins", "--session", "s")
    assert (nothing.code, core(1) in said(nothing)) == (1, False)
    whole = path.read_text()
    for broken in ("", KEY, f'{{"chronicle":1,"stream":"{KEY}"}}\n', whole.replace("session/s", KEY)):
        path.write_text(broken)
        for form in ([], ["--format", "json"]):
            answer = run("chronicle", "load", str(path), *form)
            assert answer.code in (1, 2), answer
            assert core(1) not in said(answer)
    pins = Path(f"{path}.pins")
    pins.write_text(f'{{"stream":"{KEY}","workbench.recording":1}}\n{{"payload":"{KEY}"}}\n')
    answer = run("chronicle", "recording", "read", str(pins))
    assert (answer.code, core(1) in said(answer)) == (2, False)


# -- the log itself ------------------------------------------------------------------------


def test_receipts_that_are_handed_in_are_filtered(workspace: Workspace) -> None:
    begin(workspace.log, "s")
    receipt = Removed(f"kind {KEY}", 1, f"metadata.{KEY}", f"v {KEY}")
    workspace.log.append(session_stream("s"), [act("s", 1, "x", redactions=[receipt])])
    kept = workspace.log.event(2)
    assert kept is not None
    first, *others = kept.payload["redactions"]
    assert first == {
        "kind": "kind [REDACTED:anthropic_key]",
        "count": 1,
        "field": "metadata.[REDACTED:anthropic_key]",
        "filter_version": "v [REDACTED:anthropic_key]",
    }
    assert {each["field"].partition(".")[0] for each in others} == {"redactions"}


def test_receipts_of_before_stay_beside_new_ones(workspace: Workspace) -> None:
    begin(workspace.log, "s")
    receipt = Removed("jwt", 2, "metadata.a", "0-old")
    workspace.log.append(session_stream("s"), [act("s", 1, f"x {KEY}", redactions=[receipt])])
    kept = workspace.log.event(2)
    assert kept is not None
    assert [(each["kind"], each["count"], each["field"]) for each in kept.payload["redactions"]] == [
        ("jwt", 2, "metadata.a"),
        ("anthropic_key", 1, "content"),
    ]


# -- making a workspace --------------------------------------------------------------------


def test_the_title_of_a_workspace_is_filtered(workspace: Workspace) -> None:
    root = workspace.root / "inner"
    with Workspace.create(root, title=f"Of {KEY}", timezone="UTC", owner="ada") as made:
        assert made.title == "Of [REDACTED:anthropic_key]"


def test_the_owner_of_a_workspace_is_refused(workspace: Workspace) -> None:
    root = workspace.root / "inner"
    with pytest.raises(SecretInIdentifier) as caught:
        Workspace.create(root, timezone="UTC", owner=f"ada {KEY}")
    assert core(1) not in f"{caught.value.message} {caught.value.hint}"
    assert not root.exists()


def test_a_folder_named_by_a_key_gives_no_title(workspace: Workspace, tmp_path: Path) -> None:
    root = tmp_path / KEY
    with Workspace.create(root, timezone="UTC", owner="ada") as made:
        assert made.title == "[REDACTED:anthropic_key]"
    assert [name for name in holders(tmp_path, 1) if name.startswith(KEY)] == []


def test_a_time_zone_is_not_repeated(run: Run, workspace: Workspace) -> None:
    for form in ([], ["--format", "json"]):
        answer = run("init", "--root", str(workspace.root / "inner"), "--timezone", KEY, *form)
        assert answer.code == 2
        assert core(1) not in said(answer)


# -- transcripts ---------------------------------------------------------------------------


def dirty_claude_code() -> list[object]:
    """A record of each kind with the key in every field that a person or a program fills."""
    picture = {"type": "image", "source": {"type": "base64", "media_type": "text/plain", "data": ""}}
    picture["source"]["data"] = base64.b64encode(f"log\n{KEY}\n".encode()).decode()  # type: ignore[index]
    return [
        {"type": "summary", "summary": f"About {KEY}", "leafUuid": "u1"},
        claude.user(0, f"use {KEY}", cwd=f"/home/{KEY}", gitBranch=f"fix/{KEY}", version=f"2 {KEY}"),
        claude.assistant(
            1,
            [
                {"type": "thinking", "thinking": f"hm {KEY}", "signature": KEY},
                claude.text(f"so {KEY}"),
                claude.call(f"call {KEY}", f"Bash {KEY}", command=f"curl -H {KEY}", env={KEY: KEY}),
            ],
        ),
        claude.user(
            2,
            [claude.answer(f"call {KEY}", [claude.text(f"out {KEY}"), picture])],
            toolUseResult={"stdout": KEY, "stderr": KEY, KEY: [KEY]},
        ),
        claude.envelope("system", 3, content=f"note {KEY}", subtype=f"info {KEY}", level=KEY),
        claude.envelope(f"new-kind-{KEY}", 4, anything={KEY: KEY}),
        {"type": "custom-title", "customTitle": f"T {KEY}", "sessionId": claude.SESSION},
        {"type": "ai-title", "aiTitle": f"T {KEY}", "sessionId": claude.SESSION},
        claude.user(5, f"id {KEY}", uuid=f"u {KEY}", parentUuid=KEY, requestId=KEY),
        claude.assistant(6, [claude.text("model")], usage={KEY: 1}, message_id=KEY),
        claude.user(7, "foreign", sessionId=KEY),
        claude.user(8, "agent", isSidechain=True, agentId=KEY),
    ]


def dirty_codex() -> list[object]:
    return [
        codex.meta(
            cwd=f"/home/{KEY}",
            cli_version=KEY,
            originator=KEY,
            git={"branch": KEY, "repository_url": f"https://x/{KEY}"},
            instructions=KEY,
        ),
        codex.turn(f"turn {KEY}", model=f"model {KEY}"),
        codex.said("user", f"use {KEY}"),
        codex.said("assistant", f"so {KEY}"),
        codex.thought(f"hm {KEY}"),
        codex.call(f"call {KEY}", f"shell {KEY}", json.dumps({"command": ["curl", KEY], KEY: KEY})),
        codex.output(f"call {KEY}", json.dumps({"output": KEY, "metadata": {KEY: 1}})),
        codex.output(f"call {KEY}", f"plain {KEY}"),
        codex.event("token_count", info={KEY: KEY}),
        codex.event(f"kind {KEY}", message=KEY),
        codex.record(f"kind {KEY}", {KEY: KEY}),
    ]


@pytest.mark.parametrize("kind", ["claude-code", "codex"])
@pytest.mark.parametrize("as_json", [False, True])
def test_imports_filter_every_field(
    run: Run, workspace: Workspace, tmp_path: Path, kind: str, as_json: bool
) -> None:
    if kind == "claude-code":
        claude.write(tmp_path / "in" / f"{claude.SESSION}.jsonl", dirty_claude_code())
    else:
        codex.write(tmp_path / "in" / f"rollout-2026-03-04T00-00-00-{codex.SESSION}.jsonl", dirty_codex())
    form = ["--format", "json"] if as_json else []
    for words in (["--dry-run"], ["--yes"], ["--yes"]):
        answer = run("import", kind, str(tmp_path / "in"), *words, *form)
        assert answer.code in (0, 1), said(answer)
        assert core(1) not in said(answer)
    assert workspace.log.last_position() > 4
    assert workspace.readers.redactions.total() > 4


@pytest.mark.parametrize("kind", ["claude-code", "codex"])
def test_a_file_whose_path_holds_a_key(run: Run, workspace: Workspace, tmp_path: Path, kind: str) -> None:
    folder = tmp_path / "in" / KEY
    if kind == "claude-code":
        claude.write(folder / f"{claude.SESSION}.jsonl", [claude.user(0, "hello"), claude.user(1, "more")])
        claude.write(folder / f"{KEY}.jsonl", [claude.user(0, "hello", sessionId=KEY)])
    else:
        codex.write(
            folder / f"rollout-2026-03-04T00-00-00-{codex.SESSION}.jsonl",
            [codex.meta(), codex.said("user", "hi")],
        )
        codex.write(folder / f"rollout-{KEY}.jsonl", [codex.meta(KEY), codex.said("user", "hi")])
    for words in ([str(folder)], [str(folder / f"{KEY}.jsonl")], [str(tmp_path / "in")]):
        answer = run("import", kind, *words, "--yes", "--format", "json")
        assert answer.code in (0, 1, 2)
    # The title of the job names the path.
    assert all(core(1) not in f"{row}" for row in workspace.jobs.page(50))


@pytest.mark.parametrize("kind", ["claude-code", "codex"])
def test_an_owner_of_an_import_is_refused(run: Run, workspace: Workspace, tmp_path: Path, kind: str) -> None:
    claude.write(tmp_path / "in" / f"{claude.SESSION}.jsonl", [claude.user(0, "hello")])
    codex.write(
        tmp_path / "in" / f"rollout-2026-03-04T00-00-00-{codex.SESSION}.jsonl",
        [codex.meta(), codex.said("user", "hi")],
    )
    answer = run("import", kind, str(tmp_path / "in"), "--yes", "--owner", KEY)
    assert answer.code == 1
    assert core(1) not in said(answer)


# -- exported logs -------------------------------------------------------------------------


@pytest.fixture
def exported(tmp_path: Path) -> Path:
    """An export of a log that nobody filtered."""
    root = new_root(tmp_path / "unfiltered")
    with unfiltered(root) as log:
        begin(log, "s")
        receipt = Removed("jwt", 1, f"metadata.{KEY}", "0-old")
        log.append(
            session_stream("s"),
            [
                act("s", 1, f"key {KEY}", metadata={KEY: [KEY]}),
                PendingEvent(
                    payload=act("s", 2, "[REDACTED:jwt]", redactions=[receipt]), visibility="private"
                ),
            ],
        )
        export_file(log, tmp_path / "dirty.jsonl")
    return tmp_path / "dirty.jsonl"


def test_an_exported_log_is_refused_or_filtered(run: Run, workspace: Workspace, exported: Path) -> None:
    for form in ([], ["--format", "json"]):
        answer = run("import", "jsonl", str(exported), *form)
        assert answer.code != 0
        assert core(1) not in said(answer)
        assert workspace.log.last_position() == 0
    answer = run("import", "jsonl", str(exported), "--redact", "--format", "json")
    assert answer.json == {"events": 3, "redactions": {"anthropic_key": 4}, "events_without_evidence": 0}
    assert core(1) not in said(run("export", "jsonl"))


@pytest.mark.parametrize("field", ["chronicum_id", "owner_id", "id", "actor"])
def test_names_in_an_exported_log_are_refused(
    run: Run, workspace: Workspace, tmp_path: Path, field: str
) -> None:
    root = new_root(tmp_path / "unfiltered")
    session = KEY if field == "chronicum_id" else "s"
    with unfiltered(root) as log:
        begin(log, session, owner=KEY if field == "owner_id" else "ada")
        given = {field: KEY} if field in ("id", "actor") else {}
        log.append(session_stream(session), [act(session, 1, "x", **given)])
        export_file(log, tmp_path / "named.jsonl")
    for words in ([], ["--redact"], ["--format", "json"]):
        answer = run("import", "jsonl", str(tmp_path / "named.jsonl"), *words)
        assert answer.code != 0
        assert core(1) not in said(answer)
    assert workspace.log.last_position() == 0


def test_broken_lines_are_not_repeated(
    run: Run, workspace: Workspace, tmp_path: Path, exported: Path
) -> None:
    good = exported.read_bytes().splitlines(keepends=True)[0]
    for number, broken in enumerate(
        (
            f"{KEY}\n".encode(),
            good.replace(b'"type":"chronicum.created"', f'"type":"{KEY}"'.encode()),
            good.replace(b'"stream":"session/s"', f'"stream":"session/{KEY}"'.encode()),
            good.replace(b'"payload":{', f'"payload":{{"{KEY}":1,'.encode()),
            good[:-2] + f',"{KEY}":"{KEY}"}}\n'.encode(),
        )
    ):
        path = tmp_path / f"broken{number}.jsonl"
        path.write_bytes(broken)
        for form in ([], ["--format", "json"]):
            answer = run("import", "jsonl", str(path), *form)
            assert answer.code != 0, broken
            assert core(1) not in said(answer), broken
    assert workspace.log.last_position() == 0


def test_exports_to_a_path_that_holds_a_key(run: Run, workspace: Workspace, tmp_path: Path) -> None:
    assert record(run).code == 0
    assert run("export", "jsonl", "--to", str(tmp_path / f"{KEY}.jsonl")).code == 0
    answer = run("export", "jsonl", "--to", str(tmp_path / KEY / "no" / "such.jsonl"))
    assert answer.code != 0
    assert core(1) not in answer.err
    answer = run("import", "jsonl", str(tmp_path / KEY / "nothing.jsonl"))
    assert core(1) not in said(answer)
    assert all(core(1) not in f"{row}" for row in workspace.jobs.page(50))


# -- jobs ----------------------------------------------------------------------------------


def test_every_text_of_a_job_is_filtered(workspace: Workspace) -> None:
    with workspace.jobs.run("import", f"import {KEY}") as job:
        job.progress(1, 2, f"reading {KEY}")
        job.finish(f"did {KEY}\nproblem: {KEY}")
    with pytest.raises(RuntimeError), workspace.jobs.run("import", "unforeseen") as job:
        job.progress(1, 2, f"reading {KEY}")
        raise RuntimeError(KEY)

    class Refused(WorkbenchError):
        code = "refused"

    with pytest.raises(Refused), workspace.jobs.run("import", "foreseen"):
        raise Refused(f"no {KEY}", hint=f"not {KEY}")
    rows = workspace.jobs.page(10)
    assert len(rows) == 3
    assert all(core(1) not in f"{row}" for row in rows)


# -- errors and the log file ---------------------------------------------------------------


def test_unforeseen_errors_leave_no_key_in_the_log_file(workspace: Workspace) -> None:
    try:
        raise ValueError(f"cannot take {KEY}")
    except ValueError as error:
        assert core(1) not in write_details(error)
    assert "[REDACTED:anthropic_key]" in log_file().read_text()


def test_words_of_a_command_line_that_makes_no_sense_are_not_repeated(run: Run, workspace: Workspace) -> None:
    for words in (
        [KEY],
        ["sessions", KEY],
        ["sessions", "list", f"--{KEY}"],
        ["sessions", "list", "--limit", KEY],
        ["sessions", "show", KEY],
        ["sessions", "context", KEY],
        ["sessions", "list", "--format", KEY],
        ["timeline", "--at", KEY],
        ["jobs", "show", KEY],
        ["jobs", "stop", KEY],
        ["redactions", "list", "--since", KEY],
        ["redactions", "list", "--after", KEY],
        ["demo", KEY],
        ["completion", KEY],
        ["status", "--root", f"/no/{KEY}\udcff"],
    ):
        answer = run(*words)
        assert answer.code != 0, words
        assert core(1) not in answer.err, words
        as_json = run(*words, "--format", "json")
        assert core(1) not in said(as_json), words


# -- migrating, mending, backing up --------------------------------------------------------


def test_a_migration_and_a_doctor_of_a_clean_workspace_bring_none_in(run: Run, tmp_path: Path) -> None:
    root = older_workspace(tmp_path / f"old {KEY}")
    assert run("migrate", "--root", str(root)).code == 0
    assert run("doctor", "--fix", "--root", str(root)).code in (0, 1)
    assert holders(root, 1) == []
    (copy,) = (root / "backups").rglob("*bak-premigrate*")
    assert core(1) not in copy.name
    with Workspace.open(root) as workspace:
        assert all(core(1) not in f"{row}" for row in workspace.jobs.page(10))


def test_a_stray_file_named_by_a_key_does_not_reach_the_list_of_jobs(run: Run, workspace: Workspace) -> None:
    stray = workspace.root / "artifacts" / KEY
    stray.write_text("nothing\n")
    (workspace.root / "logs" / f"{KEY}.log").write_text("nothing\n")
    assert run("doctor", "--fix").code == 0
    for words in (["rescan"], ["scrub"], ["scrub", "--confirm"]):
        # Their contents are clean; their names are for a person to change.
        answer = run("redactions", *words)
        assert answer.code == 1
        assert answer.out.count("has a name that holds some (anthropic_key)") == 2
        assert core(1) not in said(answer)
    rows = workspace.jobs.page(10)
    assert len(rows) == 4
    assert all(core(1) not in f"{row}" for row in rows)
    stray.unlink()
    (workspace.root / "logs" / f"{KEY}.log").unlink()


def test_a_library_call_through_another_process(workspace: Workspace) -> None:
    """As an agent's program records: everything at once, then the process ends without a checkpoint."""
    program = f"""
import os
from workbench.sessions import Actum
from workbench.workspace import Workspace
workspace = Workspace.open({str(workspace.root)!r})
key = "sk-ant-" + {core(1)!r}
workspace.sessions.record_actum("ada", Actum(chronicum_id="s", kind="message", actor_kind="agent",
    actor="a", content=key, metadata={{key: [key]}}))
workspace.close_unit("ada", "s", "week", note=key)
os._exit(0)
"""
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "PYTHONPATH": str(CHECKOUT)},
        check=False,
        timeout=60,
    )
    assert done.returncode == 0
    assert workspace.log.last_position() == 3


def test_a_load_through_the_library(workspace: Workspace, exported: Path) -> None:
    done = import_file(workspace.log, exported, redact=True)
    assert sum(done.redactions.values()) == 4
    stored = [event.payload for event in workspace.log.read()]
    assert default_filter().redact_value(stored)[1] == []


@pytest.mark.parametrize(
    "sentence",
    [
        "smbclient -U bob%hunter //h/s",
        "priv:\n" + "ab:cd:ef",
        "no such word: -u 'maya:pet'",
        "308204a4020100" + "0282010100112233445566",
        "the password is hunter",
        "https://maya@host",
    ],
)
def test_what_may_hold_a_secret_goes_through_the_filter(sentence: str) -> None:
    assert may_hold(sentence)
    assert not may_hold("task_id requires project; see: workbench record --help, line 12 of notes.md:3")
