"""`chronicle consolidate`, `reconsolidate` and `rebuild`."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.cli.chronicle_words import DINNER, JSON, rounds, say, script, summarized_by
from tests.cli.memory_words import SHIP, hand_off
from tests.cli.on_terminal import on_terminal
from tests.cli.program import CHECKOUT, Run
from workbench.workspace import Workspace


@pytest.fixture
def program(workspace: Workspace, tmp_path: Path) -> Path:
    """A program that writes the chronicle, and is trusted."""
    made = script(tmp_path / "summarizer", 'wc -l < "$0.read"')
    summarized_by(workspace, made)
    workspace.chronicles.trust()
    return made


def ids(run: Run, *words: str) -> list[str]:
    found = run("chronicle", "sections", *(words or DINNER), *JSON).json["sections"]
    return [each["section_id"] for each in found]


def prose(run: Run, section_id: str) -> str:
    said = run("chronicle", "section", section_id, *DINNER, *JSON).json["prose"]
    assert isinstance(said, str)
    return said


# -- consolidate -------------------------------------------------------------------------------


def test_without_a_stream_all_that_lag_are_consolidated(run: Run, workspace: Workspace) -> None:
    rounds(workspace, 2)
    rounds(workspace, 1, "lunch")
    say(workspace, "nothing is closed here", "tea")
    hand_off(run, *SHIP)
    answer = run("chronicle", "consolidate", *JSON)
    assert (answer.code, answer.err) == (0, "")
    assert [(each["stream"], each["section_id"]) for each in answer.json["drawn"]] == [
        ("session/dinner", "1-3"),
        ("session/dinner", "4-5"),
        ("session/lunch", "1-3"),
        ("task/global/atlas/ship", "1-2"),
    ]
    assert answer.json["stopped"] is False
    again = run("chronicle", "consolidate")
    assert (again.code, again.out) == (0, "nothing to write: no closed stretch is without a section\n")


def test_one_stream_alone(run: Run, workspace: Workspace) -> None:
    rounds(workspace, 2)
    rounds(workspace, 1, "lunch")
    answer = run("chronicle", "consolidate", *DINNER)
    assert answer.out.replace("\u00a0", " ") == "session/dinner: 1-3, 4-5\nwrote 2 sections\n"
    assert run("chronicle", "status", "--session", "lunch", *JSON).json["streams"][0]["due"] == 1


def test_a_kind_of_stream_that_nothing_closes_is_refused(run: Run, workspace: Workspace) -> None:
    assert run("record", "of the whole project", "--project", "atlas").code == 0
    answer = run("chronicle", "consolidate", "--project", "atlas")
    assert (answer.code, "[chronicle.close]" in answer.err) == (1, True)


def test_a_failing_program_leaves_what_was_written_before(
    run: Run, workspace: Workspace, tmp_path: Path
) -> None:
    rounds(workspace, 1)
    rounds(workspace, 1, "lunch")
    failing = script(
        tmp_path / "failing",
        '[ -e "$0.once" ] && { echo "no quota" >&2; exit 3; }; echo > "$0.once"; echo Good.',
    )
    summarized_by(workspace, failing)
    workspace.chronicles.trust()
    answer = run("chronicle", "consolidate")
    assert answer.code == 1
    kept, error, *_ = answer.err.replace("\u00a0", " ").splitlines()
    assert kept == "1 section written before that, and kept"
    assert error == (
        "error: the summarizer’s program ended with status 3: no quota (events 1 to 3 of session/lunch)"
    )
    assert "workbench chronicle consolidate --stream session/lunch" in answer.err
    assert ids(run) == ["1-3"]
    said = run("chronicle", "consolidate", *JSON).json
    assert (said["error_type"], said["retryable"]) == ("summarizer_failed", True)
    assert run("jobs", *JSON).json["jobs"][0]["error"] != ""


def test_what_a_manifest_names_wrongly_for_one_kind_keeps_no_other_kind_waiting(
    run: Run, workspace: Workspace
) -> None:
    rounds(workspace, 1)
    hand_off(run, *SHIP)
    manifest = workspace.root / "SSOT_MANIFEST.toml"
    manifest.write_text(manifest.read_text() + '\n[chronicle.close]\ntask = ["checkpoint.recordid"]\n')
    answer = run("chronicle", "consolidate")
    assert answer.code == 1 and answer.err.count("chronicle.close.task") == 1
    assert "1 section written before that" in answer.err.replace("\u00a0", " ")
    assert ids(run) == ["1-3"]


def test_what_was_written_of_a_stream_that_failed_is_known(workspace: Workspace) -> None:
    from workbench.cli.chronicle_writing import _behind

    rounds(workspace, 3)
    chronicle = workspace.chronicle("dinner")
    chronicle.consolidate()
    for seq, wanted in ((0, ["1-3", "4-5", "6-7"]), (3, ["4-5", "6-7"]), (7, [])):
        assert [each.section_id for each in _behind(chronicle.anchors, seq)] == wanted


def test_ctrl_c_stops_a_program_and_says_what_was_kept(
    process: Run, workspace: Workspace, tmp_path: Path
) -> None:
    rounds(workspace, 1)
    rounds(workspace, 1, "lunch")
    # The program itself presses Ctrl-C while it writes the second section, and would go on for long.
    stopping = script(
        tmp_path / "stopping",
        '[ -e "$0.once" ] && { kill -INT $PPID; exec sleep 60; }; echo > "$0.once"; echo Good.',
    )
    summarized_by(workspace, stopping)
    workspace.chronicles.trust()
    answer = process("chronicle", "consolidate")
    assert answer.code == 130, answer
    out = answer.out.replace("\u00a0", " ")
    assert out == (
        "session/dinner: 1-3\n"
        "stopped: 1 section written until then, and kept; the next consolidate goes on from there\n"
    )
    assert [anchor.section_id for anchor in workspace.chronicle("dinner").anchors.all()] == ["1-3"]
    assert workspace.chronicle("lunch").anchors.all() == []
    assert workspace.jobs.page(1)[0].status == "stopped"


@pytest.mark.parametrize(
    ("words", "kept"),
    [
        (("reconsolidate", "1-3"), "nothing was written"),
        (("rebuild", "--discard-generated"), "the chronicle of session/dinner is as it was"),
    ],
)
def test_ctrl_c_while_a_program_writes_again_changes_nothing(
    process: Run, workspace: Workspace, tmp_path: Path, words: tuple[str, ...], kept: str
) -> None:
    rounds(workspace, 1)
    workspace.chronicle("dinner").consolidate()
    before = workspace.chronicle("dinner").store.export()
    summarized_by(workspace, script(tmp_path / "stopping", "kill -INT $PPID; exec sleep 60"))
    workspace.chronicles.trust()
    answer = process("chronicle", *words, *DINNER)
    assert answer.code == 130, answer
    assert kept in answer.out + answer.err
    assert workspace.chronicle("dinner").store.export() == before


def test_stopped_at_the_list_of_jobs(process: Run, workspace: Workspace, tmp_path: Path) -> None:
    rounds(workspace, 1)
    program = script(tmp_path / "stopping", f"{sys.executable} -m workbench jobs stop 1; exec sleep 60")
    program.write_text(program.read_text().replace("cat", f"export PYTHONPATH={CHECKOUT}\ncat"))
    summarized_by(workspace, program)
    workspace.chronicles.trust()
    answer = process("chronicle", "consolidate", "--root", workspace.root)
    assert answer.code == 130, answer
    assert answer.out.startswith("stopped: nothing was written")


def test_what_is_not_trusted_is_not_run(run: Run, workspace: Workspace, tmp_path: Path) -> None:
    rounds(workspace, 1)
    program = script(tmp_path / "unknown", "echo Bad.")
    summarized_by(workspace, program)
    answer = run("chronicle", "consolidate", "--root", workspace.root)
    assert answer.code == 2
    assert f"workbench trust --root {workspace.root}" in answer.err
    assert not program.with_name("unknown.read").exists()
    assert run("chronicle", "consolidate", *JSON).json["error_type"] == "untrusted"


# -- reconsolidate -------------------------------------------------------------------------------


def test_reconsolidate_writes_the_next_generation_and_warns(run: Run, workspace: Workspace) -> None:
    rounds(workspace, 2)
    assert run("chronicle", "consolidate").code == 0
    answer = run("chronicle", "reconsolidate", "1-3", *DINNER, *JSON)
    assert answer.code == 0
    section = answer.json
    assert (section["section_id"], section["supersedes"], section["generation"]) == ("1-3#2", "1-3", 2)
    assert answer.err == (
        "warning: this writes section 1-3 again, as 1-3#2. The old prose stays. Runs that read the old prose "
        "diverge on replay. A rebuild drops the new section; an export keeps it.\n"
    )
    assert ids(run) == ["1-3#2", "4-5"]
    old = run("chronicle", "reconsolidate", "1-3", *DINNER)
    assert (old.code, "1-3#2" in old.err, "warning" in old.err) == (1, True, False)
    assert run("chronicle", "reconsolidate", "1-3#2", *DINNER, *JSON).json["generation"] == 3


def test_the_warning_is_said_once(process: Run, workspace: Workspace) -> None:
    rounds(workspace, 1)
    workspace.chronicle("dinner").consolidate()
    answer = process("chronicle", "reconsolidate", "1-3", *DINNER, *JSON)
    assert answer.json["section_id"] == "1-3#2"
    assert answer.err.count("1-3#2") == len(answer.err.splitlines()) == 1


def test_what_writing_again_means_is_said_before_anything_is_written(
    run: Run, workspace: Workspace, tmp_path: Path
) -> None:
    rounds(workspace, 1)
    workspace.chronicle("dinner").consolidate()
    summarized_by(workspace, script(tmp_path / "failing", "exit 3"))
    workspace.chronicles.trust()
    answer = run("chronicle", "reconsolidate", "1-3", *DINNER)
    assert answer.code == 1
    assert [line.split(":")[0] for line in answer.err.splitlines()][:2] == ["warning", "error"]
    assert ids(run) == ["1-3"]


@pytest.mark.parametrize(
    ("typed", "words", "code", "generations"),
    [("n\n", (), 1, 1), ("\n", (), 1, 1), ("y\n", (), 0, 2), ("", ("--yes",), 0, 2)],
    ids=["no", "enter", "yes", "not asked"],
)
def test_on_a_terminal_it_asks_before_it_writes_again(
    workspace: Workspace, typed: str, words: tuple[str, ...], code: int, generations: int
) -> None:
    rounds(workspace, 1)
    workspace.chronicle("dinner").consolidate()
    done, said = on_terminal("chronicle", "reconsolidate", "1-3", *DINNER, *words, typed=typed)
    assert done == code, said
    assert (b"Write it again? [y/N]" in said) == (not words)
    assert said.index(b"A rebuild drops the new section") < len(said) / 2 or generations == 1
    assert len(workspace.readers.chronicle.generations("session/dinner", 1, 3)) == generations


def test_reconsolidate_of_a_section_that_is_not_there(run: Run, workspace: Workspace) -> None:
    rounds(workspace, 1)
    assert run("chronicle", "consolidate").code == 0
    answer = run("chronicle", "reconsolidate", "1-2", *DINNER)
    assert (answer.code, "did you mean 1-3?" in answer.err) == (1, True)


# -- rebuild -------------------------------------------------------------------------------------


def test_rebuild_says_what_would_be_lost_and_changes_nothing(run: Run, workspace: Workspace) -> None:
    rounds(workspace, 2)
    assert run("chronicle", "consolidate").code == 0
    assert run("chronicle", "reconsolidate", "1-3", *DINNER).code == 0
    for words in ((), ("--replay",)):
        answer = run("chronicle", "rebuild", *DINNER, *words, "--root", workspace.root)
        assert answer.code == 1
        error, hint = answer.err.replace("\u00a0", " ").splitlines()
        assert "throws away the prose of 2 sections and of 1 older one that they supersede" in error
        assert "--discard-generated" in hint
        assert f"workbench chronicle export --root {workspace.root}" in hint
    assert run("chronicle", "rebuild", *DINNER, *JSON).json["error_type"] == "generative_rebuild"
    assert ids(run) == ["1-3#2", "4-5"]


def test_rebuild_returns_to_first_generations(run: Run, workspace: Workspace, program: Path) -> None:
    rounds(workspace, 2)
    assert run("chronicle", "consolidate").code == 0
    assert run("chronicle", "reconsolidate", "1-3", *DINNER).code == 0
    first = prose(run, "1-3")
    answer = run("chronicle", "rebuild", *DINNER, "--discard-generated", *JSON)
    assert answer.json == {"stream": "session/dinner", "sections": 2, "drawn": 2, "stopped": False}
    assert ids(run) == ["1-3", "4-5"]
    assert prose(run, "1-3") != first


def test_a_replay_gives_the_same_bytes_and_runs_nothing(
    run: Run, workspace: Workspace, program: Path, tmp_path: Path
) -> None:
    rounds(workspace, 2)
    assert run("chronicle", "consolidate").code == 0
    before, after = tmp_path / "before", tmp_path / "after"
    assert run("chronicle", "export", *DINNER, "--to", before).code == 0
    assert run("chronicle", "recording", "write", tmp_path / "pins", *DINNER).code == 0
    read = program.with_name("summarizer.read").read_bytes()
    for source in (("--replay",), ("--recording", tmp_path / "pins")):
        answer = run("chronicle", "rebuild", *DINNER, "--discard-generated", *source, *JSON)
        assert answer.json == {"stream": "session/dinner", "sections": 2, "drawn": 0, "stopped": False}
        assert run("chronicle", "export", *DINNER, "--to", after).code == 0
        assert after.read_bytes() == before.read_bytes()
    assert program.with_name("summarizer.read").read_bytes() == read


def test_a_replay_without_the_answers_changes_nothing(
    run: Run, workspace: Workspace, program: Path, tmp_path: Path
) -> None:
    rounds(workspace, 1)
    workspace.chronicle("dinner").recording_write(tmp_path / "none")
    assert run("chronicle", "consolidate").code == 0
    said = prose(run, "1-3")
    words = ("chronicle", "rebuild", *DINNER, "--discard-generated", "--recording")
    answer = run(*words, tmp_path / "none", *JSON)
    assert (answer.code, answer.json["error_type"]) == (1, "not_pinned")
    (tmp_path / "other").write_text("no recording\n")
    for name, reason in (("other", "no recording"), ("missing", "No such file")):
        refused = run(*words, tmp_path / name)
        assert (refused.code, reason in refused.err) == (2, True)
        assert str(tmp_path / name) in refused.err
    assert run(*words, tmp_path / "none", "--replay").code == 2
    assert run(*words, "").code == 2
    assert prose(run, "1-3") == said


@pytest.mark.parametrize(
    "words",
    [("consolidate",), ("reconsolidate", "1-3", *DINNER), ("rebuild", *DINNER, "--discard-generated")],
)
def test_a_workspace_that_can_only_be_read_is_left_alone(
    run: Run, workspace: Workspace, words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    from workbench.cli import chronicle_writing
    from workbench.cli.opening import open_workspace

    rounds(workspace, 2)
    workspace.chronicle("dinner").consolidate()
    rounds(workspace, 1)
    before = workspace.log.last_position(), workspace.chronicle("dinner").anchors.all()
    monkeypatch.setattr(
        chronicle_writing, "open_workspace", lambda given, read_only=True: open_workspace(given)
    )
    answer = run("chronicle", *words, *JSON)
    assert (answer.code, answer.json["error_type"]) == (1, "read_only")
    assert (workspace.log.last_position(), workspace.chronicle("dinner").anchors.all()) == before
