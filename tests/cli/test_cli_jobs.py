"""`workbench jobs`: listed, shown, stopped, in text and as JSON."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic
from uuid import UUID

import pytest

from tests.cli.program import CHECKOUT, Run
from tests.workspace.jobs_cases import holding, put
from workbench.workspace import Workspace
from workbench.workspace.jobs.processes import this_process

KEYS = [
    "id",
    "kind",
    "title",
    "status",
    "found_something",
    "started_at",
    "finished_at",
    "done",
    "total",
    "note",
    "outcome",
    "error",
    "hint",
]


def test_no_jobs_yet(run: Run, workspace: Workspace) -> None:
    answer = run("jobs")
    assert answer.code == 0
    assert "no jobs yet" in answer.out
    assert "workbench import claude-code" in answer.out
    assert run("jobs", "--format", "json").json == {"jobs": [], "next": None}


def test_json_has_every_key(run: Run, workspace: Workspace) -> None:
    with workspace.jobs.run("import", "import a folder") as job:
        job.progress(5, 10, "a.jsonl")
        (running,) = run("jobs", "--format", "json").json["jobs"]
        job.finish("5 acta added")
    (ended,) = run("jobs", "--format", "json").json["jobs"]
    assert list(ended) == KEYS
    assert (running["status"], running["finished_at"], running["note"]) == ("running", None, "a.jsonl")
    assert (ended["id"], ended["status"], ended["done"], ended["total"]) == (1, "done", 5, 10)
    assert ended["outcome"] == "5 acta added"
    assert ended["finished_at"].endswith("+00:00")


def test_pages_go_on(run: Run, workspace: Workspace) -> None:
    for number in range(1, 8):
        put(workspace, number)
    first = run("jobs", "--limit", "3", "--format", "json").json
    assert [job["id"] for job in first["jobs"]] == [7, 6, 5]
    second = run("jobs", "--limit", "4", "--after", first["next"], "--format", "json").json
    assert [job["id"] for job in second["jobs"]] == [4, 3, 2, 1]
    assert second["next"] is None
    assert "more: --after 5" in run("jobs", "--limit", "3").out
    refused = run("jobs", "--after", "99")
    assert (refused.code, "no job 99" in refused.err) == (2, True)


def test_text_is_a_table_and_hostile_titles_are_drawn(run: Run, workspace: Workspace) -> None:
    put(
        workspace,
        1,
        title="import \x1b[31mred\u202e [bold]x[/bold]\nsecond line",
        outcome="12 acta\n+12 s1",
        done=9,
        total=9,
    )
    put(workspace, 2, kind="export", status="failed", error="no \x07room", done=3, total=12)
    out = run("jobs").out
    heads, *rows = out.splitlines()
    assert heads.split() == ["job", "status", "kind", "started", "took", "done", "what", "outcome"]
    assert len(rows) == 2
    assert rows[0].split()[:3] == ["2", "failed", "export"]
    assert "3 of 12, 25 %" in rows[0]
    assert "12 acta" in rows[1]
    assert not {"\x1b", "\u202e", "\x07"} & set(out)


def test_of_parts_that_are_all_done_no_percentage_is_shown(run: Run, workspace: Workspace) -> None:
    put(workspace, 1, kind="doctor", done=7, total=7)
    put(workspace, 2, kind="doctor", status="failed", error="stopped", done=3, total=12)
    first, second = run("jobs").out.splitlines()[1:]
    assert "25 %" in first
    assert "%" not in second
    assert "%" not in run("jobs", "show", "1").out


def test_a_job_that_is_done_is_not_shown_as_a_part_of_something(run: Run, workspace: Workspace) -> None:
    with workspace.jobs.run("chronicle", "write up what is closed") as job:
        job.progress(270, 284, "round 10")
        assert "270 of 284, 95 %" in run("jobs").out
    (line,) = run("jobs").out.splitlines()[1:]
    assert " 270 " in line and "284" not in line
    assert "done      270\n" in run("jobs", "show", "1").out


def test_one_job_is_shown_whole(run: Run, workspace: Workspace) -> None:
    put(
        workspace, 1, status="failed", error="it broke", hint="mend it", outcome="half\n+3 s1", note="a.jsonl"
    )
    out = run("jobs", "show", "1").out
    for text in ("it broke", "mend it", "half", "+3 s1", "a.jsonl", "4711 on laptop"):
        assert text in out
    assert run("jobs", "show", "1", "--format", "json").json["hint"] == "mend it"
    assert run("jobs", "show", "2", "--format", "json").json["error_type"] == "job_not_found"


def test_a_job_of_another_program_is_stopped(run: Run, workspace: Workspace) -> None:
    with holding(workspace.root, title="a long import") as holder:
        number = holder.running()
        answer = run("jobs", "stop", str(number))
        assert answer.code == 0
        assert "a long import" in answer.out
        assert run("jobs").out.splitlines()[1].split()[1] == "stopping"
        holder.say("stop")
        assert holder.answer() == "ended"
    assert run("jobs", "--format", "json").json["jobs"][0]["status"] == "stopped"
    again = run("jobs", "stop", str(number), "--format", "json")
    assert (again.code, again.json["error_type"]) == (1, "job_ended")


@pytest.mark.parametrize(("number", "code"), [("9", 1), ("nine", 2), ("0", 2)])
def test_what_cannot_be_stopped_is_refused(run: Run, workspace: Workspace, number: str, code: int) -> None:
    answer = run("jobs", "stop", number)
    assert answer.code == code
    assert "Traceback" not in answer.err


def test_a_killed_job_is_shown_as_failed_at_once(run: Run, workspace: Workspace) -> None:
    with holding(workspace.root) as holder:
        holder.running()
        holder.kill()
        (job,) = run("jobs", "--format", "json").json["jobs"]
    assert job["status"] == "failed"
    assert job["error"].startswith("ended without a word")
    assert job["hint"]


def test_listing_writes_nothing(run: Run, workspace: Workspace) -> None:
    put(workspace, 1, status="running", process=this_process()._replace(start="1").as_text())
    workspace.close()
    before = workspace.layout.database.read_bytes()
    assert run("jobs", "--format", "json").json["jobs"][0]["status"] == "failed"
    assert workspace.layout.database.read_bytes() == before


def test_doctor_leaves_a_job_where_it_may_write(run: Run, workspace: Workspace) -> None:
    assert run("doctor").code == 0
    assert run("jobs", "--format", "json").json["jobs"] == []
    assert run("doctor", "--fix").code == 0
    (job,) = run("jobs", "--format", "json").json["jobs"]
    assert (job["kind"], job["status"], job["outcome"]) == ("doctor", "done", "everything is well")


def test_two_mend_one_after_the_other(run: Run, workspace: Workspace) -> None:
    with holding(workspace.root, "doctor", "examine and mend the workspace", "doctor") as holder:
        holder.running()
        answer = run("doctor", "--fix", "--format", "json")
        assert (answer.code, answer.json["error_type"]) == (1, "job_running")
        assert run("doctor").code == 0, "looking is allowed to anybody"


def transcript(path: Path, entries: int) -> Path:
    """A session of Claude Code's that takes seconds to read."""
    with path.open("w") as file:
        for number in range(entries):
            parent = f'"{_uuid(number - 1)}"' if number else "null"
            file.write(
                f'{{"type":"user","uuid":"{_uuid(number)}","parentUuid":{parent},"sessionId":"{_uuid(10**9)}",'
                '"timestamp":"2026-03-01T10:00:00.000Z","cwd":"/src","version":"2.0.0",'
                f'"message":{{"role":"user","content":"{number} {"word " * 200}"}}}}\n'
            )
    return path


def _uuid(number: int) -> str:
    return str(UUID(int=0x019CAD9A << 96 | number))


@contextmanager
def importing(workspace: Workspace, path: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A process that imports, its job running."""
    command = [sys.executable, "-m", "workbench", "import", "claude-code", str(path), "--yes"]
    environment = {**os.environ, "PYTHONPATH": str(CHECKOUT), "CHRONICLE_ROOT": str(workspace.root)}
    process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    try:
        until = monotonic() + 30
        while not any(row.running and row.done for row in workspace.jobs.page(5)):
            assert process.poll() is None, "it ended before it was seen"
            assert monotonic() < until
        yield process
    finally:
        process.kill()
        process.communicate()


def test_an_import_is_stopped_from_another_program_and_goes_on_later(
    run: Run, workspace: Workspace, tmp_path: Path
) -> None:
    path = transcript(tmp_path / "long.jsonl", 30_000)
    with importing(workspace, path) as process:
        assert run("jobs", "stop", "1").code == 0
        assert process.wait(30) == 130
    (job,) = run("jobs", "--format", "json").json["jobs"]
    assert (job["kind"], job["status"], job["error"]) == ("import", "stopped", "")
    assert 0 < job["done"] < job["total"] == path.stat().st_size
    assert "added to 1 session" in job["outcome"]
    again = run("import", "claude-code", path, "--yes", "--format", "json").json
    assert again["sessions"][0]["acta_total"] == 30_000
    assert 0 < again["totals"]["acta_added"] < 30_000
    assert run("jobs", "--format", "json").json["jobs"][0]["status"] == "done"


def test_a_killed_import_is_shown_as_failed_and_the_next_one_marks_it(
    run: Run, workspace: Workspace, tmp_path: Path
) -> None:
    path = transcript(tmp_path / "long.jsonl", 30_000)
    with importing(workspace, path) as process:
        process.kill()
        process.wait(30)
        (job,) = run("jobs", "--format", "json").json["jobs"]
    assert job["status"] == "failed"
    assert job["error"].startswith("ended without a word")
    assert "import again" in job["hint"]
    assert run("import", "claude-code", path, "--yes").code == 0
    statuses = [job["status"] for job in run("jobs", "--format", "json").json["jobs"]]
    assert statuses == ["done", "failed"]
    assert run("doctor").code == 0


def test_what_a_failed_import_says_is_in_the_list(run: Run, workspace: Workspace, tmp_path: Path) -> None:
    broken = tmp_path / "broken.jsonl"
    broken.write_text("no JSON\n")
    refused = run("import", "jsonl", broken)
    assert refused.code == 1
    (job,) = run("jobs", "--format", "json").json["jobs"]
    assert (job["kind"], job["status"], job["title"]) == ("import jsonl", "failed", f"import {broken}")
    assert job["error"] in refused.err
    assert run("import", "claude-code", "--dry-run", tmp_path).code in (0, 1)
    assert len(run("jobs", "--format", "json").json["jobs"]) == 1, "what only looks leaves nothing"
