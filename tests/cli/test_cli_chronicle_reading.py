"""`chronicle status`, `sections`, `section` and `brief`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.chronicle_words import DINNER, JSON, rounds, say
from tests.cli.memory_words import SHIP, hand_off
from tests.cli.program import Run
from tests.workspace.older_workspace import older_workspace
from workbench.chronicle.sections import Anchor, Section
from workbench.workspace import Workspace


@pytest.fixture
def written(workspace: Workspace) -> Workspace:
    """Three sections of a session, the second of two generations, and an event behind them."""
    rounds(workspace, 3)
    workspace.chronicle("dinner").consolidate()
    workspace.chronicle("dinner").reconsolidate("4-5")
    say(workspace, "and bread")
    return workspace


def test_status_says_how_far_each_stream_is(run: Run, written: Workspace) -> None:
    rounds(written, 2, "lunch")
    answer = run("chronicle", "status", *JSON)
    assert (answer.code, answer.err) == (0, "")
    lunch, dinner = answer.json["streams"]
    assert {key: dinner[key] for key in ("stream", "kind", "sections", "consolidated_through")} == {
        "stream": "session/dinner",
        "kind": "session",
        "sections": 3,
        "consolidated_through": 7,
    }
    assert (dinner["last_seq"], dinner["lag"], dinner["due"], dinner["withheld"]) == (8, 1, 0, 0)
    assert (lunch["stream"], lunch["lag"], lunch["due"]) == ("session/lunch", 5, 2)
    assert answer.json["next"] is None


def test_status_of_one_stream_and_page_by_page(run: Run, written: Workspace) -> None:
    rounds(written, 1, "lunch")
    only = run("chronicle", "status", "--session", "lunch", *JSON).json["streams"]
    assert [row["stream"] for row in only] == ["session/lunch"]
    first = run("chronicle", "status", "--limit", "1", *JSON).json
    assert [row["stream"] for row in first["streams"]] == ["session/lunch"]
    second = run("chronicle", "status", "--limit", "1", "--after", first["next"], *JSON).json
    assert [row["stream"] for row in second["streams"]] == ["session/dinner"]
    assert second["next"] is None
    assert run("chronicle", "status", "--after", "session/none").code == 2


def test_status_in_words_names_the_command_with_its_workspace(run: Run, written: Workspace) -> None:
    rounds(written, 2, "lunch")
    out = run("chronicle", "status", "--root", written.root).out
    assert "2 closed stretches have no section yet" in out.replace("\u00a0", " ")
    assert f"workbench chronicle consolidate --root {written.root}" in out


def test_names_are_shown_as_people_write_them_beside_what_can_be_copied(
    run: Run, workspace: Workspace
) -> None:
    names = ["two words", 'quo"te', "عقد الزجاج", "長い名前の会話の一覧", "a/b & c"]
    for name in names:
        rounds(workspace, 1, name)
    lines = run("chronicle", "status").out.splitlines()[1:]
    for name in names:
        (line,) = [line for line in lines if f"  {name}  " in line]
        stream = line.split()[-1]
        assert run("chronicle", "brief", "--stream", stream).code == 0
        assert run("chronicle", "brief", "--stream", name).code == 0


def test_a_task_is_found_without_its_domain_where_one_domain_has_it(run: Run, workspace: Workspace) -> None:
    task = ("--project", "Atlas", "--task-id", "ship it")
    for domain in ("office", "home"):
        assert run("record", "begun", *task, "--domain", domain).code == 0
        brief = run("chronicle", "brief", *task, *JSON)
        if domain == "office":
            assert brief.json["stream"] == "task/office/atlas/ship-it"
    assert (brief.code, brief.json["error_type"]) == (2, "usage")
    assert (
        "task/office/atlas/ship-it" in brief.json["hint"] and "task/home/atlas/ship-it" in brief.json["hint"]
    )
    of_one = run("chronicle", "brief", *task, "--domain", "home", *JSON)
    assert of_one.json["stream"] == "task/home/atlas/ship-it"
    # The usual domain comes first, as everywhere.
    assert run("record", "begun", *task).code == 0
    assert run("chronicle", "brief", *task, *JSON).json["stream"] == "task/global/atlas/ship-it"
    assert run("chronicle", "brief", "--project", "Atlas", "--task-id", "other").code == 1


def test_previews_are_words_without_the_marks_of_markdown(run: Run, written: Workspace) -> None:
    out = run("chronicle", "sections", *DINNER, "--all").out
    assert "Took part. planner." in out
    assert not any(mark in out for mark in ("**", "###", "\\("))


def test_an_empty_workspace_says_what_makes_chronicles(run: Run, workspace: Workspace) -> None:
    assert run("chronicle", "status", *JSON).json == {"streams": [], "next": None, "problems": []}
    assert "sessions close-unit" in run("chronicle", "status").out
    missing = run("chronicle", "sections")
    assert (missing.code, "no stream with a chronicle yet" in missing.err) == (2, True)


def test_sections_are_current_ones_with_their_prose(run: Run, written: Workspace) -> None:
    answer = run("chronicle", "sections", *DINNER, *JSON)
    assert answer.code == 0
    found = answer.json["sections"]
    assert [each["section_id"] for each in found] == ["1-3", "4-5#2", "6-7"]
    assert {key: found[1][key] for key in ("from_seq", "to_seq", "unit", "supersedes")} == {
        "from_seq": 4,
        "to_seq": 5,
        "unit": 5,
        "supersedes": "4-5",
    }
    assert (found[1]["current"], found[1]["generation"]) == (True, 2)
    assert found[0]["prose"] == written.chronicle("dinner").prose.covering(1).prose  # type: ignore[union-attr]
    assert found[0]["written"]["summarizer"] == "extractive"


def test_all_sections_have_their_superseded_ones_beside_them(run: Run, written: Workspace) -> None:
    found = run("chronicle", "sections", *DINNER, "--all", *JSON).json["sections"]
    ids = [(each["section_id"], each["current"], each["generation"]) for each in found]
    assert ids == [("1-3", True, 1), ("4-5", False, 1), ("4-5#2", True, 2), ("6-7", True, 1)]
    out = run("chronicle", "sections", *DINNER, "--all").out
    (line,) = [line for line in out.splitlines() if line.startswith("4-5 ")]
    assert "superseded" in line


def test_sections_page_by_page(run: Run, written: Workspace) -> None:
    seen: list[str] = []
    words = ["chronicle", "sections", *DINNER, "--limit", "1"]
    following = None
    while True:
        after: list[str] = [] if following is None else ["--after", str(following)]
        page = run(*words, *after, *JSON).json
        seen += [each["section_id"] for each in page["sections"]]
        following = page["next"]
        if following is None:
            break
    assert seen == ["1-3", "4-5#2", "6-7"]
    assert "more: --after 1" in run(*words).out
    assert run(*words, "--after", "6").out == "no more sections\n"


@pytest.mark.parametrize("words", [("sections", *DINNER), ("section", "1-3", *DINNER), ("brief", *DINNER)])
def test_what_agents_wrote_is_drawn_and_does_not_act(
    run: Run, written: Workspace, words: tuple[str, ...]
) -> None:
    out = run("chronicle", *words).out
    assert "round 1" in out
    assert not {"\x1b", "\x07", "\u202e"} & set(out)


def test_a_section_keeps_anchor_and_prose_apart(run: Run, written: Workspace) -> None:
    out = run("chronicle", "section", "4-5", *DINNER).out.replace("\u00a0", " ")
    anchor, _, prose = out.partition("advisory prose; check it against the events:")
    assert "stands for    events 4 to 5 (2 events)" in anchor
    assert "superseded by 4-5#2" in anchor
    assert "round 2" in prose and "round 2" not in anchor
    newer = run("chronicle", "section", "4-5#2", *DINNER, *JSON).json
    assert (newer["supersedes"], newer["generation"], newer["withheld"]) == ("4-5", 2, False)


def test_events_of_a_section_are_exactly_those_that_it_cites(run: Run, written: Workspace) -> None:
    answer = run("chronicle", "section", "4-5#2", *DINNER, "--events", *JSON)
    events = answer.json["events"]
    assert [(each["stream"], each["seq"]) for each in events] == [
        ("session/dinner", 4),
        ("session/dinner", 5),
    ]
    assert [each["type"] for each in events] == ["actum.recorded", "unit.closed"]
    first = run("chronicle", "section", "1-3", *DINNER, "--events", "--limit", "2", *JSON).json
    assert ([each["seq"] for each in first["events"]], first["next"]) == ([1, 2], 2)
    rest = run("chronicle", "section", "1-3", *DINNER, "--events", "--after", "2", *JSON).json
    assert ([each["seq"] for each in rest["events"]], rest["next"]) == ([3], None)
    assert "actum.recorded" in run("chronicle", "section", "1-3", *DINNER, "--events").out
    assert run("chronicle", "section", "1-3", *DINNER, "--after", "2").code == 2


def test_events_are_whole_in_json(run: Run, workspace: Workspace) -> None:
    text = "long " * 20_000
    say(workspace, text)
    workspace.close_unit("ada", "dinner", "one")
    workspace.chronicle("dinner").consolidate()
    events = run("chronicle", "section", "1-3", *DINNER, "--events", *JSON).json["events"]
    assert events[1]["payload"]["content"] == text


def test_a_section_that_is_not_there_names_those_that_are_near(run: Run, written: Workspace) -> None:
    answer = run("chronicle", "section", "1-4", *DINNER, "--root", written.root)
    assert answer.code == 1
    error, hint = answer.err.splitlines()
    assert error == "error: session/dinner has no section '1-4'"
    assert hint.startswith("hint: did you mean ") and "1-3" in hint
    assert f"workbench chronicle sections --root {written.root} --stream session/dinner" in hint
    assert run("chronicle", "section", "\x1b[2J", *DINNER, *JSON).json["error_type"] == "unknown_section"


@pytest.mark.parametrize(
    "words", [("--stream", "diner"), ("--session", "diner"), ("--stream", "session/diner")]
)
def test_a_stream_that_is_not_there_names_those_that_are_near(
    run: Run, written: Workspace, words: tuple[str, ...]
) -> None:
    answer = run("chronicle", "sections", *words)
    assert answer.code == 1
    assert "did you mean session/dinner?" in answer.err
    assert run("chronicle", "sections", *words, *JSON).json["error_type"] == "unknown_stream"


def test_a_stream_is_named_in_one_way(run: Run, written: Workspace) -> None:
    for words in (("--stream", "dinner"), ("--stream", "session/dinner"), ("--session", "dinner")):
        assert run("chronicle", "sections", *words, *JSON).json["stream"] == "session/dinner"
    assert run("chronicle", "sections", *DINNER, "--session", "dinner").code == 2
    assert run("chronicle", "sections", "--task-id", "ship").code == 2
    answer = run("chronicle", "sections")
    assert answer.code == 2
    assert "session/dinner" in answer.err and "the stream is missing" in answer.err


def test_a_task_is_named_by_any_spelling_of_its_project(run: Run, workspace: Workspace) -> None:
    hand_off(run, *SHIP)
    assert run("chronicle", "consolidate").code == 0
    for words in (SHIP, ("--project", "ATLAS", "--task-id", "Ship"), ("--stream", "task/global/atlas/ship")):
        answer = run("chronicle", "sections", *words, *JSON).json
        assert answer["stream"] == "task/global/atlas/ship"
        assert "Ship the search" in answer["sections"][0]["prose"]
    missing = run("chronicle", "sections", "--project", "atlas", "--task-id", "shop")
    assert (missing.code, "did you mean task/global/atlas/ship?" in missing.err) == (1, True)


def test_spellings_that_became_one_later_are_several_streams(run: Run, workspace: Workspace) -> None:
    hand_off(run, *SHIP)
    hand_off(run, "--project", "mapbook", "--task-id", "ship", text="Handing off, too")
    assert run("names", "alias", "project", "mapbook", "--of", "atlas").code == 0
    answer = run("chronicle", "sections", *SHIP)
    assert answer.code == 2
    assert "task/global/atlas/ship, task/global/mapbook/ship" in answer.err


def test_a_withheld_section_is_marked_and_no_agent_gets_it(run: Run, workspace: Workspace) -> None:
    said = hand_off(run, *SHIP, text="The merger is on")
    assert run("chronicle", "consolidate").code == 0
    assert run("quarantine", said["observation_id"], "--reason", "not public").code == 0
    assert run("chronicle", "status", *JSON).json["streams"][0]["withheld"] == 1
    listed = run("chronicle", "sections", *SHIP, *JSON).json["sections"][0]
    assert listed["withheld"] is True
    assert "withheld      from agents" in run("chronicle", "section", listed["section_id"], *SHIP).out
    brief = run("chronicle", "brief", *SHIP, *JSON).json
    assert brief["withheld"] == [listed["section_id"]]
    assert "Ship the search" not in brief["text"]


def test_a_brief_is_prose_and_then_what_is_new_word_for_word(run: Run, written: Workspace) -> None:
    answer = run("chronicle", "brief", *DINNER, *JSON).json
    assert answer["sections"] == ["1-3", "4-5#2", "6-7"]
    assert (answer["since_seq"], answer["last_seq"], answer["events"]) == (7, 8, [8, 8])
    assert len(answer["text"]) <= 8000
    earlier = run("chronicle", "brief", *DINNER, "--since-seq", "3", *JSON).json
    assert (earlier["sections"], earlier["events"]) == (["1-3"], [4, 8])
    short = run("chronicle", "brief", *DINNER, "--max-chars", "500", *JSON).json
    assert len(short["text"]) <= 500 and not short["complete"]
    assert run("chronicle", "brief", *DINNER, "--max-chars", "0").code == 2


def test_private_acts_are_in_no_prose_and_no_brief_and_among_the_cited_events(
    run: Run, workspace: Workspace
) -> None:
    say(workspace, "the birthday is a surprise", private=True)
    say(workspace, "book a table")
    workspace.close_unit("ada", "dinner", "one")
    assert run("chronicle", "consolidate").code == 0
    assert "surprise" not in run("chronicle", "brief", *DINNER).out
    shown = run("chronicle", "section", "1-4", *DINNER, "--events", *JSON).json
    assert "surprise" not in shown["prose"]
    assert any("surprise" in str(event["payload"]) for event in shown["events"])


def test_a_database_of_an_older_release_is_left_as_it_is(run: Run, tmp_path: Path) -> None:
    root = older_workspace(tmp_path / "older", 3)
    before = (root / "chronicle.db").read_bytes()
    for words in (("status",), ("consolidate",), ("export", *DINNER)):
        answer = run("chronicle", *words, "--root", root)
        assert (answer.code, f"workbench migrate --root {root}" in answer.err) == (3, True), answer
    assert (root / "chronicle.db").read_bytes() == before
    assert run("chronicle", "status", "--root", root, "--migrate", *JSON).json["next"] is None


def test_events_that_no_section_tells_have_a_line_of_their_own(run: Run, written: Workspace) -> None:
    store = written.chronicle("dinner").store
    kept = [each for each in store.export() if each.anchor.from_seq != 4]
    store.reset()
    store.load(kept)
    answer = run("chronicle", "sections", *DINNER, *JSON).json
    assert [each["section_id"] for each in answer["sections"]] == ["1-3", "6-7"]
    assert answer["holes"] == [{"from_seq": 4, "to_seq": 5, "before": "6-7"}]
    lines = run("chronicle", "sections", *DINNER).out.splitlines()
    assert [line.split()[0] for line in lines[1:4]] == ["1-3", "–", "6-7"]
    assert "no section tells the events 4–5" in lines[2]
    seen, following = [], 0
    while following is not None:
        page = run("chronicle", "sections", *DINNER, "--limit", "1", "--after", str(following), *JSON).json
        seen += [each["from_seq"] for each in (*page["sections"], *page["holes"])]
        following = page["next"]
    assert seen == [1, 4, 6]


def test_a_section_that_nothing_closes_says_where_it_ends(run: Run, workspace: Workspace) -> None:
    rounds(workspace, 2)
    store = workspace.chronicle("dinner").store
    store.load(
        [Section(Anchor("1-2", 1, 2, 2, None), "From elsewhere."), Section(Anchor("3-5", 3, 5, 5, None), "x")]
    )
    rest = run("chronicle", "section", "1-2", *DINNER).out
    assert "ends with     event 2\n" in rest and "closed by" not in rest
    whole = run("chronicle", "section", "3-5", *DINNER).out
    assert "closed by     event 5\n" in whole and "ends with" not in whole


def test_status_names_what_the_manifest_lets_close_nothing(run: Run, workspace: Workspace) -> None:
    rounds(workspace, 1)
    assert run("chronicle", "status", *JSON).json["problems"] == []
    manifest = workspace.layout.manifest
    manifest.write_text(
        manifest.read_text() + '\n[chronicle.close]\nsession = ["unit.closd"]\nsesion = ["unit.closed"]\n'
    )
    answer = run("chronicle", "status")
    assert answer.code == 0
    assert "chronicle.close.session" in answer.err and "no events of this type" in answer.err
    assert "chronicle.close.sesion: there are no streams of this kind" in answer.err
    said = run("chronicle", "status", *JSON).json["problems"]
    assert [each["key"].rpartition(".")[2][:7] for each in said] == ["session", "sesion"]
