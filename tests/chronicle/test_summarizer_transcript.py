"""What a summarizer may be told of events: words, and nothing that names a row or a moment."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.chronicle import summarizer_cases as cases
from tests.thorough import examples
from workbench.chronicle.summarizers.markdown import inline, quoted
from workbench.chronicle.summarizers.tool_calls import call_of
from workbench.chronicle.summarizers.transcript import tell
from workbench.chronicle.summarizers.words import masked, plain, shortened, told_text

_IDENTIFIER = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-|[0-9a-f]{32}|toolu_|msg_0|T\d\d:\d\d")

EVERYTHING = [
    cases.event(1, "chronicum.created", {"chronicum_id": "claude-code/x", "owner_id": "maya"}),
    cases.event(
        2, "chronicum.described", {"title": "Importer", "cwd": "/home/maya/atlas", "source": "/home/maya/x.jsonl"}
    ),
    cases.act(3, "message", "Plan it.", "maya", "human"),
    cases.act(4, "thought", "Read first."),
    cases.call(5, "Bash", {"command": "pytest -q"}),
    cases.answer(6, "Bash", "1 failed", failed=True),
    cases.event(7, "unit.closed", {"chronicum_id": "claude-code/x", "unit": "planning", "source_key": "k"}),
    cases.observation(8, "It works.", "milestone", why="Tried.", evidence=[{"path": "a.log", "status": "archived", "sha256": cases.digest("a")}]),
    cases.fact(9, "suite.size", "46 passed"),
    cases.fact(10, "suite.size", "47 passed", supersedes=str(cases.event_id(9)), retires=[str(cases.event_id(9))]),
    cases.checkpoint(11, "A flag", completed=["flags.toml"], open_questions=["Who?"], next_steps=["Review"]),
    cases.review(12, 11, "questioned", "Why?", item={"list": "completed", "index": 0}),
    cases.event(13, "visibility.changed", {"target_id": str(cases.event_id(8)), "quarantined": True, "reason": "Wrong.", "by": "maya"}),
    cases.event(14, "artifact.purged", {"domain": "global", "sha256": cases.digest("a"), "reason": "Private.", "by": "maya"}),
    cases.event(15, "redaction.applied", {"domain": "global", "field": "text", "kind": "jwt", "count": 1, "filter_version": "6-x", "position": 4}),
    cases.event(16, "note.written", {"note_id": "n-1", "body": "Read me.", "tags": ["one", "two"], "written_at": "yesterday"}),
]  # fmt: skip


def test_every_event_type_of_the_log_is_told_in_words() -> None:
    said = tell(EVERYTHING)
    assert [each.kind for each in said] == [
        "session",
        "session",
        "message",
        "thought",
        "tool call",
        "tool result",
        "stretch closed",
        "observation",
        "fact",
        "fact",
        "checkpoint",
        "review",
        "visibility",
        "purge",
        "redaction",
        "note written",
    ]
    assert said[-1].text == "body: Read me.\ntags: one\ntags: two"
    assert said[7].evidence == ("a.log (archived)",)
    assert (said[9].replaces, said[9].superseded) == ("46 passed", True)
    assert said[11].subject == "“flags.toml”"
    assert (said[5].tool, said[5].failed) == ("Bash", True)


def test_no_id_no_digest_and_no_clock_time_of_any_event_is_told() -> None:
    told = cases.told_json(EVERYTHING)
    assert not _IDENTIFIER.search(told)
    for name in ("coder-2026-03-02-8", "claude-code/", "6-4e2f", "n-1", "yesterday", "2026-03-02"):
        assert name not in told


def test_the_same_words_under_other_ids_and_times_are_told_alike() -> None:
    def stretch(start: int) -> list[Any]:
        return [
            cases.observation(start, "It works."),
            cases.fact(start + 1, "a", "1"),
            cases.fact(start + 2, "a", "2", supersedes=str(cases.event_id(start + 1))),
            cases.call(start + 3, "Read", {"file_path": "a.py"}),
            cases.answer(start + 4, "Read", "text"),
        ]

    assert tell(stretch(1)) == tell(stretch(40))


def test_private_events_and_bookkeeping_are_left_out_whoever_admitted_them() -> None:
    told = cases.told_json(
        [
            cases.observation(1, "for one party only", visibility="private"),
            cases.act(2, "message", "whispered", visibility="private"),
            cases.event(3, "pin.promoted", {"result": "drawn"}, namespace="pins"),
            cases.observation(4, "for everybody"),
        ]
    )
    assert "for everybody" in told
    assert "only" not in told and "whispered" not in told and "drawn" not in told


def test_a_thought_that_its_agent_withheld_is_not_told() -> None:
    assert tell([cases.act(1, "thought", "", withheld=True)]) == []


@pytest.mark.parametrize(
    "payload", [{}, {"agent": 3}, {"text": None}, {"evidence": "x"}, {"metadata": []}, {"item": 1}]
)
@pytest.mark.parametrize("type_name", sorted({each.envelope.type for each in EVERYTHING}))
def test_a_payload_of_another_shape_is_told_as_far_as_it_goes(
    type_name: str, payload: dict[str, Any]
) -> None:
    assert len(tell([cases.event(1, type_name, payload)])) <= 1


def test_a_session_s_own_folder_is_left_out_of_its_paths() -> None:
    said = tell([EVERYTHING[1], cases.call(3, "Read", {"file_path": "/home/maya/atlas/src/a.py"})])
    assert said[-1].target == "src/a.py"


@pytest.mark.parametrize(
    ("tool", "content", "action", "target"),
    [
        ("Bash", '{"command":"ls","description":"Look"}', "ran", "ls"),
        ("shell", '{"command":["bash","-lc","make test"]}', "ran", "make test"),
        ("exec_command", '{"cmd":"make"}', "ran", "make"),
        ("Read", '{"file_path":"a.py","limit":3}', "read", "a.py"),
        ("Edit", '{"file_path":"a.py","old_string":"x","new_string":"y"}', "edited", "a.py"),
        ("apply_patch", "*** Begin Patch\n*** Update File: a.py\n*** Add File: b.py\n", "edited", "a.py, b.py"),
        ("apply_patch", '{"input":"*** Begin Patch\\n*** Update File: a.py\\n"}', "edited", "a.py"),
        ("Write", '{"content":"x","file_path":"b.py"}', "wrote", "b.py"),
        ("Grep", '{"path":"src","pattern":"foo"}', "searched for", "foo"),
        ("WebFetch", '{"url":"https://example.org","prompt":"what"}', "fetched", "https://example.org"),
        ("TodoWrite", '{"todos":[{"content":"one","status":"in_progress"}]}', "planned", "one (in progress)"),
        ("update_plan", '{"plan":[{"step":"one","status":"pending"}]}', "planned", "one (pending)"),
        ("Task", '{"description":"Look around","prompt":"long"}', "handed to a sub-agent", "Look around"),
        ("mcp__tickets__close", '{"number":3,"comment":"done"}', "called", "done"),
        ("Bash", "{not json", "ran", "{not json"),
        ("Bash", '{"command":["a",1]}', "ran", ""),
    ],
)  # fmt: skip
def test_a_tool_call_is_told_as_a_verb_and_its_object(
    tool: str, content: str, action: str, target: str
) -> None:
    call = call_of(tool, content)
    assert (call.action, call.target) == (action, target)


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b]0;title\x07text", "text"),
        ("\x1b]8;;http://x\x1b\\link", "link"),
        ("\x1bPq#0\x1b\\after", "after"),
        ("\x9b2Jx", "x"),
        ("a\x1b]never closed", "a"),
        ("a\x00b\x08c\x7fd", "abcd"),
        ("a\u202eb\u2066c\u200bd\ufeffe", "abcde"),
        ("one\r\ntwo\rthree\u2028four", "one\ntwo\nthree\nfour"),
        ("\ud800x", "\ufffdx"),
        ("👩\u200d👩\u200d👦", "👩\u200d👩\u200d👦"),
    ],
)
def test_terminal_escapes_and_unseen_characters_are_taken_out(given: str, kept: str) -> None:
    assert plain(given) == kept


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("see 019cad9a-b896-7196-b326-7160dd768aca.", "see (id)."),
        (f"sha256:{cases.digest('x')}", "sha256:(id)"),
        ("call toolu_01wKF5BeADd2PperKfPysfUe failed", "call (id) failed"),
        ("chatcmpl-9aBcDeFgHiJkLmNo", "(id)"),
        ("at 2026-03-06T17:58:04.123Z", "at 2026-03-06"),
        ("2026-03-06 17:58:04 INFO", "2026-03-06 INFO"),
        ("tonight at 18:00, commit 7804852", "tonight at 18:00, commit 7804852"),
        ("call_setup_tools and msg_handler", "call_setup_tools and msg_handler"),
    ],
)
def test_what_only_machines_write_is_masked_and_what_people_write_stays(given: str, kept: str) -> None:
    assert masked(given) == kept


def test_a_long_text_is_cut_with_a_mark_and_no_secret_in_two() -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8"
    for before in range(60, 101):
        text = "word " * (before // 5) + "x" * (before % 5) + " " + secret + " after" * 50
        told = told_text(text, 100)
        assert len(told) <= 100 and told.endswith("…")
        assert not any(secret[:length] in told for length in range(6, len(secret)))


@pytest.mark.parametrize("piece", [" ", "\n", "\n ", "\x1b]", "a", "0", "`", "<", "-", "[", "**", "~~~"])
def test_megabytes_of_one_sign_are_told_in_linear_time(piece: str) -> None:
    said = told_text(piece * (200_000 // len(piece)), 4000)
    assert len(said) <= 4000 and len(quoted(said, 2000)) and len(inline(said)) <= 8000


def test_the_end_of_a_long_output_stays_and_its_beginning() -> None:
    told = told_text("begins\n" + "noise\n" * 3000 + "70 passed", 300, ends=True)
    assert told.startswith("begins") and told.endswith("70 passed") and len(told) <= 300


@settings(max_examples=examples(300), deadline=None)
@given(st.text(max_size=400), st.integers(0, 120))
def test_a_shortened_text_keeps_its_limit_and_its_beginning(text: str, limit: int) -> None:
    short = shortened(text, limit)
    assert len(short) <= limit
    assert short == text or text.startswith(short.removesuffix("…"))


@settings(max_examples=examples(200), deadline=None)
@given(st.text(alphabet="ab [REDACTED:jwt]", max_size=200), st.integers(1, 80))
def test_a_marker_of_the_filter_is_never_cut_in_two(text: str, limit: int) -> None:
    text += "[REDACTED:jwt]" * 3
    short = shortened(text, limit).removesuffix("…")
    opened = short.rfind("[REDACTED:")
    assert opened < 0 or "]" in short[opened:] or "]" not in text[opened : opened + 80]
