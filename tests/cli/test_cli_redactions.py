"""`workbench redactions`: what was removed, trying the filter out, looking again, scrubbing."""

from __future__ import annotations

import os
import pty
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.program import CHECKOUT, Run
from tests.workspace.jobs_cases import holding
from tests.workspace.redaction_cases import act, begin, copy_of, holders, keep, token, unfiltered
from workbench.log.streams import session_stream
from workbench.sessions import Actum
from workbench.storage import turns
from workbench.workspace import Workspace
from workbench.workspace.redactions import LEASE

KEYS = [
    "places",
    "counts",
    "filter_version",
    "events",
    "backups",
    "unreadable",
    "closed",
    "other_files",
]


def recorded(workspace: Workspace, content: str, actor: str = "coder", **metadata: object) -> None:
    workspace.sessions.record_actum(
        "ada",
        Actum(
            chronicum_id="s",
            kind="message",
            actor_kind="agent",
            actor=actor,
            content=content,
            metadata=metadata,
        ),
    )


def soil(workspace: Workspace, number: int = 1) -> None:
    """Put keys into the workspace past the filter."""
    with unfiltered(workspace.root) as log:
        begin(log, "soiled")
        stream = session_stream("soiled")
        log.append(stream, [act("soiled", n, f"key {token(n)}") for n in range(1, number + 1)])


# -- list ----------------------------------------------------------------------------------


def test_nothing_was_removed(run: Run, workspace: Workspace) -> None:
    answer = run("redactions", "list")
    assert (answer.code, answer.err) == (0, "")
    assert answer.out.startswith("no redactions\n")
    assert run("redactions", "list", "--format", "json").json == {"redactions": [], "kinds": {}, "next": None}


def test_the_list_says_what_and_where_never_the_secret(run: Run, workspace: Workspace) -> None:
    recorded(workspace, f"key {token(1)} and {token(2)}", env={"A": token(3)})
    recorded(workspace, "clean", actor="other")
    answer = run("redactions", "list")
    assert answer.code == 0
    lines = answer.out.splitlines()
    assert lines[0].split() == ["event", "noted", "kind", "n", "actor", "field", "stream"]
    assert re.search(r"anthropic_key +1 +coder +metadata\.env\.A +session/s$", lines[1])
    assert re.search(r"anthropic_key +2 +coder +content +session/s$", lines[2])
    assert lines[-1] == "in all: anthropic_key 3"
    rows = run("redactions", "list", "--format", "json").json["redactions"]
    assert [(row["field"], row["count"], row["kind"], row["actor"]) for row in rows] == [
        ("metadata.env.A", 1, "anthropic_key", "coder"),
        ("content", 2, "anthropic_key", "coder"),
    ]
    assert {(row["position"], row["noted"], row["scrubbed"]) for row in rows} == {(2, 2, False)}
    assert set(rows[0]) == {
        "position",
        "noted",
        "noted_at",
        "kind",
        "count",
        "field",
        "stream",
        "type",
        "actor",
        "filter_version",
        "scrubbed",
    }


def test_filters_and_pages_of_the_list(run: Run, workspace: Workspace) -> None:
    for number in range(5):
        recorded(workspace, f"key {token(number)}", actor=("one", "two")[number % 2])
    first = run("redactions", "list", "--limit", "2", "--format", "json").json
    assert [row["position"] for row in first["redactions"]] == [6, 5]
    second = run("redactions", "list", "--limit", "9", "--after", first["next"], "--format", "json").json
    assert [row["position"] for row in second["redactions"]] == [4, 3, 2]
    assert second["next"] is None
    assert "more: --after 5.0" in run("redactions", "list", "--limit", "2").out
    by_actor = run("redactions", "list", "--actor", "two", "--format", "json").json
    assert [row["position"] for row in by_actor["redactions"]] == [5, 3]
    for words, count in (
        (["--kind", "anthropic_key"], 5),
        (["--stream", "session/s"], 5),
        (["--stream", "session/t"], 0),
        (["--since", "yesterday"], 5),
        (["--since", "2999-01-01"], 0),
    ):
        answer = run("redactions", "list", *words, "--format", "json")
        assert len(answer.json["redactions"]) == count, words
    unknown = run("redactions", "list", "--kind", "no_such")
    assert "warning: there is no kind no_such in this workspace; kinds" in unknown.err
    for words in (["--since", "whenever"], ["--after", "x"], ["--after", "1.²"], ["--limit", "0"]):
        assert run("redactions", "list", *words).code == 2, words


def test_kinds_complete(workspace: Workspace) -> None:
    recorded(workspace, f"key {token(1)} ghp_{'aB3d' * 9}")

    def offered(begun: str) -> list[str]:
        done = subprocess.run(
            [sys.executable, "-m", "workbench"],
            capture_output=True,
            text=True,
            env={
                **os.environ,
                "PYTHONPATH": str(CHECKOUT),
                "_WORKBENCH_COMPLETE": "bash_complete",
                "COMP_WORDS": f"workbench redactions list --kind {begun}",
                "COMP_CWORD": "4",
            },
            check=False,
            timeout=60,
        )
        return [line.partition(",")[2] for line in done.stdout.split()]

    assert offered("") == ["anthropic_key", "github_token"]
    assert offered("gi") == ["github_token"]
    assert offered("x") == []


# -- test ----------------------------------------------------------------------------------


def test_trying_it_out_stores_nothing(run: Run, workspace: Workspace) -> None:
    before = workspace.log.last_position()
    text = f"one {token(1)}\r\ntwo \xff".encode("latin-1")
    answer = run("redactions", "test", stdin=text.replace(b"\xff", b""))
    assert (answer.code, answer.out) == (0, "one [REDACTED:anthropic_key]\r\ntwo ")
    assert answer.err == "1 secret would be removed: anthropic_key 1\n"
    as_json = run("redactions", "test", "--format", "json", stdin=text)
    assert as_json.json["counts"] == {"anthropic_key": 1}
    assert run("redactions", "test", stdin=b"plain").err == "nothing would be removed\n"
    assert workspace.log.last_position() == before


def test_trying_it_out_gives_back_bytes_that_are_no_text(process: Run) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "workbench", "redactions", "test"],
        input=b"\xff\xfe " + token(1).encode() + b" \x80",
        capture_output=True,
        env={**os.environ, "PYTHONPATH": str(CHECKOUT)},
        check=False,
        timeout=60,
    )
    assert done.stdout == b"\xff\xfe [REDACTED:anthropic_key] \x80"


# -- rescan --------------------------------------------------------------------------------


def test_a_rescan_that_finds_nothing(run: Run, workspace: Workspace) -> None:
    recorded(workspace, f"key {token(1)}")
    answer = run("redactions", "rescan")
    assert (answer.code, answer.err) == (0, "")
    assert answer.out == "nothing found in 2 events and the files beside them\n"
    said = run("redactions", "rescan", "--format", "json")
    assert list(said.json) == ["found", *KEYS]
    assert (said.code, said.json["found"], said.json["counts"], said.json["events"]) == (0, [], {}, 2)
    assert [row.summary for row in workspace.jobs.page(1)] == [
        "nothing would be removed: 2 events looked through"
    ]


def test_a_rescan_lists_places_and_ends_with_1(run: Run, workspace: Workspace) -> None:
    soil(workspace)
    backup = workspace.root / "backups" / "a.db"
    copy_of(workspace.root, backup)
    answer = run("redactions", "rescan")
    assert answer.code == 1
    assert answer.out.splitlines() == [
        "where    n  kind           field",
        "event 2  1  anthropic_key  content",
        "",
        "1 secret in 1 place: anthropic_key 1",
        "backup: backups/a.db still holds some",
    ]
    assert answer.err == "take it out with: workbench redactions scrub --confirm\n"
    said = run("redactions", "rescan", "--format", "json")
    assert said.code == 1
    assert said.json["found"] == [
        {"place": "event 2", "position": 2, "field": "content", "kind": "anthropic_key", "count": 1}
    ]
    assert said.json["backups"] == [{"path": str(backup), "upto": 2, "holds": True}]
    job = workspace.jobs.page(1)[0]
    assert (job.kind, job.status) == ("rescan", "done")
    assert holders(workspace.root, 1) != []


def test_long_lists_are_cut_in_text_alone(run: Run, workspace: Workspace) -> None:
    soil(workspace, 60)
    lines = run("redactions", "rescan").out.splitlines()
    assert "and 10 more" in lines
    assert len(run("redactions", "rescan", "--format", "json").json["found"]) == 60


# -- scrub ---------------------------------------------------------------------------------


def test_a_scrub_that_is_not_confirmed_does_nothing(run: Run, workspace: Workspace) -> None:
    soil(workspace)
    answer = run("redactions", "scrub")
    assert answer.code == 1
    assert "1 secret in 1 place: anthropic_key 1" in answer.out
    assert answer.err.splitlines() == [
        "nothing was changed; do it with: workbench redactions scrub --confirm",
    ]
    said = run("redactions", "scrub", "--format", "json")
    assert (said.code, said.err) == (1, "")
    assert list(said.json) == ["found", *KEYS, "unfinished", "command"]
    assert said.json["command"] == "workbench redactions scrub --confirm"
    assert said.json["counts"] == {"anthropic_key": 1}
    assert holders(workspace.root, 1) != []


def test_a_confirmed_scrub(run: Run, workspace: Workspace) -> None:
    soil(workspace)
    answer = run("redactions", "scrub", "--confirm")
    assert (answer.code, answer.err) == (0, "")
    assert answer.out.splitlines() == [
        "where    n  kind           field",
        "event 2  1  anthropic_key  content",
        "",
        "removed 1 secret from 1 place: anthropic_key 1",
        "rewritten: 1 event, 0 artifacts, 0 other files",
    ]
    assert holders(workspace.root, 1) == []
    job = workspace.jobs.page(1)[0]
    assert (job.kind, job.lease, job.status) == ("scrub", LEASE, "done")
    said = run("redactions", "scrub", "--confirm", "--format", "json")
    assert list(said.json) == [
        "scrubbed",
        *KEYS,
        "rewritten",
        "artifacts",
        "files",
        "resumed",
        "emptied",
        "readers",
    ]
    assert (said.code, said.json["scrubbed"], said.json["emptied"]) == (0, [], True)
    row = run("redactions", "list", "--format", "json").json["redactions"][0]
    assert (row["position"], row["noted"], row["scrubbed"]) == (2, 3, True)
    assert run("redactions", "rescan").code == 0


def test_a_scrub_that_was_cut_short_is_said_and_completed(run: Run, workspace: Workspace) -> None:
    with workspace.log.database.transaction() as connection:
        connection.execute("INSERT INTO scrub_steps VALUES('compact', '', '')")
    proposed = run("redactions", "scrub")
    assert "a scrub was not brought to its end; the next one completes it" in proposed.out
    assert run("redactions", "scrub", "--format", "json").json["unfinished"] is True
    doctor = run("doctor", "--format", "json")
    assert doctor.code == 1
    assert [finding["code"] for finding in doctor.json["findings"]] == ["scrub_unfinished"]
    assert "completed" in run("redactions", "scrub", "--confirm").out
    assert run("doctor").code == 0


def test_a_scrub_beside_a_job_is_refused(run: Run, workspace: Workspace) -> None:
    soil(workspace)
    with holding(workspace.root, "import", "import a lot") as holder:
        holder.running()
        answer = run("redactions", "scrub", "--confirm", "--format", "json")
        assert (answer.code, answer.json["error_type"], answer.json["retryable"]) == (1, "job_running", True)
        assert "“import a lot” runs" in answer.json["error"]
        holder.end()
    assert holders(workspace.root, 1) != []


def test_other_commands_are_refused_beside_a_scrub(run: Run, workspace: Workspace, tmp_path: Path) -> None:
    with holding(workspace.root, "scrub", "scrub", LEASE) as holder:
        holder.running()
        for words in (
            ["import", "claude-code", str(tmp_path), "--yes"],
            ["doctor", "--fix"],
            ["redactions", "rescan"],
            ["redactions", "scrub", "--confirm"],
        ):
            answer = run(*words, "--format", "json")
            assert (answer.code, answer.json["error_type"]) == (1, "job_running"), words
        # What is no job goes in between, and waits where the database is locked.
        assert run("sessions", "list").code == 0
        holder.end()


def test_ctrl_c_stops_a_rescan_in_an_orderly_way(workspace: Workspace) -> None:
    for number in range(3000):
        keep(workspace.root, b"%d\n" % number * 500)
    primary, secondary = pty.openpty()
    child = subprocess.Popen(
        [sys.executable, "-m", "workbench", "redactions", "rescan"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=secondary,
        env={**os.environ, "PYTHONPATH": str(CHECKOUT)},
    )
    os.close(secondary)
    # The line of progress on the terminal says that it has begun.
    assert b"%" in os.read(primary, 1000)
    child.send_signal(signal.SIGINT)
    out, _ = child.communicate(timeout=60)
    said = b""
    try:
        while part := os.read(primary, 4096):
            said += part
    except OSError:
        pass
    os.close(primary)
    assert child.returncode == 130
    assert b"error: the rescan was stopped; nothing was changed" in said
    assert (out, workspace.jobs.page(1)[0].status) == (b"", "stopped")


def test_commands_to_copy_name_the_workspace(run: Run, workspace: Workspace) -> None:
    soil(workspace)
    root = str(workspace.root)
    wanted = f"workbench redactions scrub --confirm --root {root}\n"
    assert run("redactions", "rescan", "--root", root).err.endswith(wanted)
    assert run("redactions", "scrub", "--root", root).err.endswith(wanted)


def test_whoever_waits_for_a_scrub_is_told_so(workspace: Workspace) -> None:
    words = "--session s --kind message --actor-kind agent --actor a --content hello".split()
    primary, secondary = pty.openpty()
    with workspace.jobs.run("scrub", "scrub", lease=LEASE):
        with workspace.log.transaction():
            child = subprocess.Popen(
                [sys.executable, "-m", "workbench", "sessions", "record", *words],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=secondary,
                env={**os.environ, "PYTHONPATH": str(CHECKOUT)},
            )
            os.close(secondary)
            said = os.read(primary, 1000)
        assert child.wait(60) == 0
    os.close(primary)
    assert said.startswith(b"waiting for a scrub, which has this workspace for itself (")
    assert [actum.content for actum in workspace.sessions.get_acta("ada", "s")] == ["hello"]


def test_whoever_waits_too_long_for_a_scrub_is_told_so(
    run: Run, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(turns, "BUSY_TIMEOUT_MS", 100)
    words = "sessions record --session s --kind message --actor-kind agent --actor a --content hello".split()
    with workspace.log.transaction():
        answer = run(*words, "--format", "json")
        assert (answer.code, answer.json["retryable"]) == (1, True)
        assert "by another program" in answer.json["error"]
    with workspace.jobs.run("scrub", "scrub", lease=LEASE), workspace.log.transaction():
        answer = run(*words, "--format", "json")
        assert (answer.code, answer.json["error_type"], answer.json["retryable"]) == (1, "db_locked", True)
        assert answer.json["error"].startswith("the workspace is being scrubbed")
        assert "workbench jobs" in run(*words).err
