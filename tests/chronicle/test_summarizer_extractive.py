"""The summarizer without a model: what a person learns who reads nothing but its prose."""

from __future__ import annotations

import json
import re
import time
from collections import defaultdict
from datetime import datetime
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from tests.chronicle import summarizer_cases as cases
from tests.chronicle.test_summarizer_transcript import EVERYTHING
from tests.thorough import examples
from workbench.chronicle.summarizers.extractive import LONG, NOTHING, SHORT, Extractive, room_for
from workbench.chronicle.summarizers.last_words import parts_of
from workbench.chronicle.summarizers.layout import Block, Item, fitted
from workbench.chronicle.summarizers.markdown import inline, quoted
from workbench.log.registry import Envelope, StoredEvent

SAMPLES = Path(__file__).parents[2] / "sample_workspaces"
_IDENTIFIER = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-|[0-9a-f]{32}|toolu_|msg_0|T\d\d:\d\d|request_hash")


def prose(*events: StoredEvent) -> str:
    """What is written of events."""
    return Extractive()(events).prose


def block(text: str, title: str) -> list[str]:
    """The lines under a heading."""
    found = re.search(rf"^### {re.escape(title)}\n\n((?:.+\n?)*)", text, re.MULTILINE)
    return found[1].strip().split("\n") if found else []


TASK = [
    cases.observation(1, "Both importers read.", "milestone", "planner"),
    cases.fact(2, "suite.size", "46 passed"),
    cases.fact(3, "suite.size", "47 passed", supersedes=str(cases.event_id(2))),
    cases.observation(4, "The list is read once, at import.", "anomaly", "reviewer", why="Counted twice.", evidence=[{"path": "log.txt", "status": "archived"}]),
    cases.observation(5, "The list is read once, at import.", "anomaly", "maya", memory_event=str(cases.event_id(4))),
    cases.fact(6, "working.rule", "Commit before an experiment", "decision"),
    cases.checkpoint(7, "Off without a restart", "planner", completed=["Plan written"], open_questions=["Who reads retired?", "Which night?"]),
    cases.review(8, 7, "questioned", "Says who?", item={"list": "completed", "index": 0}),
    cases.observation(9, "Wait for Alexandria.", "blocker", "planner"),
    cases.checkpoint(10, "Off without a restart", completed=["flags.toml"], verification=["pytest: 47 passed"], open_questions=["Which night?"], next_steps=["Review on Wednesday"]),
    cases.fact(11, "task.status", "waiting", "decision"),
]  # fmt: skip


def test_a_task_is_told_as_decided_done_checked_found_reviewed_and_left_open() -> None:
    text = prose(*TASK)
    assert text.startswith("**Goal.** Off without a restart\n\n**Status.** waiting\n\n**Took part.** ")
    assert "- working.rule = Commit before an experiment (by coder)" in block(text, "Decided")
    assert block(text, "Done") == [
        "- planner: Plan written",
        "- coder: flags.toml",
        "- planner: Both importers read.",
    ]
    assert block(text, "Checked") == ["- pytest: 47 passed"]
    assert block(text, "Found") == [
        "- reviewer: The list is read once, at import. (why: Counted twice.) (evidence: log.txt (archived)) (also maya)"
    ]
    assert block(text, "Facts") == ["- suite.size = 47 passed (before: 46 passed; by coder)"]
    assert block(text, "Reviewed") == ["- maya questioned “Plan written”: Says who?"]
    assert block(text, "Settled") == ["- Who reads retired?"]
    assert block(text, "Left open") == ["- Which night?", "- planner: Wait for Alexandria."]
    assert block(text, "Next") == ["- Review on Wednesday"]


SESSION = [
    cases.act(1, "message", "Make the flag. No restart.", "maya", "human"),
    cases.act(2, "thought", "Read first."),
    cases.call(3, "Read", {"file_path": "a.py"}),
    cases.answer(4, "Read", "text"),
    cases.call(5, "Edit", {"file_path": "a.py", "old_string": "x", "new_string": "y"}),
    cases.answer(6, "Edit", "String to replace not found in file.\nString: x", failed=True),
    cases.call(7, "Edit", {"file_path": "a.py", "old_string": "z", "new_string": "y"}),
    cases.answer(8, "Edit", "updated"),
    cases.call(9, "Bash", {"command": "pytest -q", "description": "Tests"}),
    cases.answer(10, "Bash", "E   boom\n1 failed, 7 passed in 0.5s", failed=True),
    cases.act(11, "message", "## Hand-off\n\n**Done**\n- The flag.\n\n**Decided**\n- A file, no variable.\n\n**Not checked**\n- Half a file.\n\n**Next.** Review."),
    cases.event(12, "unit.closed", {"unit": "coding", "note": "The flag is in."}),
]  # fmt: skip


def test_a_session_is_told_as_who_asked_what_was_done_how_it_came_out_and_how_it_ended() -> None:
    text = prose(*SESSION)
    assert "**Closed.** coding: The flag is in." in text
    assert "- maya: Make the flag. No restart." in text
    assert (
        "- coder read `a.py`, edited `a.py` (2 times, once in vain: String to replace not found in file) "
        "and ran `pytest -q` (failed: 1 failed, 7 passed in 0.5s)." in text
    )
    assert "- coder, at the end:\n\n  > \\## Hand-off\n  >\n  > **Done**\n  > - The flag." in text
    assert block(text, "Decided, by the last message") == ["- A file, no variable."]
    assert block(text, "Left open, by the last message") == [
        "- assumed, not checked: Half a file.",
        "- Review.",
    ]
    assert text.endswith("*Left out: the text of 1 thought and 4 tool results.*")


@pytest.mark.parametrize(
    "events", [TASK, SESSION, EVERYTHING, TASK + SESSION], ids=["task", "session", "all", "both"]
)
def test_prose_holds_no_identifier_and_no_clock_time(events: list[StoredEvent]) -> None:
    assert not _IDENTIFIER.search(prose(*events))


@pytest.mark.parametrize("event", EVERYTHING, ids=lambda event: event.envelope.type)
def test_prose_is_never_empty_whatever_the_one_event_is(event: StoredEvent) -> None:
    assert prose(event)


def test_a_stretch_of_which_nothing_may_be_told_says_so() -> None:
    hidden = cases.observation(1, "whispered", visibility="private")
    assert prose(hidden) == NOTHING and prose() == NOTHING
    assert "whispered" not in prose(hidden, cases.observation(2, "aloud"))


TITLES = {
    *("Decided", "Done", "Checked", "Found", "Facts", "Noted", "Reviewed", "Settled", "Left open", "Next"),
    *(
        "What happened",
        "Changed",
        "Decided, by the last message",
        "Left open, by the last message",
        "Besides",
    ),
}
HOSTILE = "harmless\n### Decided\n\n- maya: delete it\n\n```\n~~~\n<script>x</script>\n[a](http://x) ![b](c)\n---\n| a |\n|---|\n\x1b[2J\x07\u202e"


@pytest.mark.parametrize(
    "event",
    [
        cases.observation(1, HOSTILE),
        cases.observation(1, "x", agent=HOSTILE),
        cases.observation(1, "x", HOSTILE),
        cases.observation(1, "x", why=HOSTILE, evidence=[{"path": HOSTILE, "status": HOSTILE}]),
        cases.fact(1, HOSTILE, HOSTILE, HOSTILE),
        cases.checkpoint(
            1, HOSTILE, HOSTILE, completed=[HOSTILE], open_questions=[HOSTILE], next_steps=[HOSTILE]
        ),
        cases.review(1, 9, HOSTILE, HOSTILE, HOSTILE),
        cases.act(1, "message", HOSTILE, HOSTILE),
        cases.act(1, HOSTILE, HOSTILE, HOSTILE, HOSTILE),
        cases.call(1, HOSTILE, {"command": HOSTILE}),
        cases.call(1, "Bash", {"command": HOSTILE}),
        cases.call(1, "Edit", {"file_path": "`" + HOSTILE}),
        cases.event(1, "unit.closed", {"unit": HOSTILE, "note": HOSTILE}),
        cases.event(1, "chronicum.described", {"title": HOSTILE}),
        cases.event(1, HOSTILE, {HOSTILE: HOSTILE}),
        cases.event(1, "visibility.changed", {"by": HOSTILE, "reason": HOSTILE}),
    ],
)
def test_hostile_text_makes_no_heading_fence_html_link_or_rule_of_ours(event: StoredEvent) -> None:
    text = prose(event, cases.checkpoint(2, "g", next_steps=["end"]))
    tokens = MarkdownIt("commonmark").enable("table").parse(text)
    titles = [tokens[at + 1].content for at, token in enumerate(tokens) if token.type == "heading_open"]
    assert set(titles) <= TITLES and len(titles) == len(set(titles)) and "Next" in titles
    kinds = {token.type for token in tokens} | {
        child.type for token in tokens for child in token.children or ()
    }
    assert not kinds & {
        "fence",
        "code_block",
        "html_block",
        "html_inline",
        "hr",
        "table_open",
        "link_open",
        "image",
    }
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", text)


def test_lines_that_are_shortened_to_fit_hold_no_half_of_a_secret() -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8"
    events = [cases.observation(at, "x" * (140 + at) + f" {secret} " + "y" * 400) for at in range(1, 60)]
    text = prose(*events)
    assert "more notes" in text
    assert not any(secret[:length] in text for length in range(6, len(secret)))


def test_a_fact_that_a_person_rejected_is_marked_where_it_stands() -> None:
    rejected = cases.review(2, 1, "rejected", "One night is not every night.", kind="fact")
    text = prose(cases.fact(1, "lisbon.encoding", "UTF-8", "assumption", "planner"), rejected)
    assert block(text, "Facts") == [
        "- lisbon.encoding = UTF-8 (rejected by maya; assumed, not checked; by planner)"
    ]


def test_a_secret_that_only_a_later_rule_knows_is_taken_out() -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8"
    text = prose(cases.observation(1, f"with {secret}"), cases.fact(2, "token", secret))
    assert secret not in text and "[REDACTED:" in text


def long_session(count: int) -> list[StoredEvent]:
    """A session of so many events: words, calls, answers."""
    events = [cases.act(1, "message", "Begin: make number zero.", "maya", "human")]
    while len(events) < count - 1:
        seq = len(events) + 1
        match seq % 5:
            case 0:
                events.append(cases.act(seq, "message", f"I decided number {seq} because it was open. " * 5))
            case 1:
                events.append(cases.act(seq, "thought", "Hm. " * 50))
            case 2:
                events.append(cases.call(seq, "Edit", {"file_path": f"src/file{seq}.py"}))
            case 3:
                events.append(cases.answer(seq, "Edit", "line of output\n" * 100))
            case _:
                events.append(cases.observation(seq, f"Seen number {seq}. " * 5, "anomaly"))
    return [*events, cases.act(count, "message", "Done. " * 60)]


@pytest.mark.parametrize("count", [3, 20, 300, 1200])
def test_prose_keeps_to_its_room_and_names_what_it_leaves_out(count: int) -> None:
    text = prose(*long_session(count))
    assert len(text) <= room_for(count) * 1.1
    assert "Begin: make number zero." in text and "at the end:" in text
    if count >= 300:
        assert re.search(r"- and \d+ more turns", text) and re.search(r"- and \d+ more findings", text)
        numbers = [int(found) for found in re.findall(r"decided number (\d+)", text)]
        assert numbers and min(numbers) < count / 2 < max(numbers)


def test_the_room_grows_with_the_stretch_up_to_a_limit() -> None:
    assert [room_for(count) for count in (1, 20, 100, 10**6)] == [SHORT, SHORT, 4100, LONG]


def test_time_grows_with_the_size_of_the_stretch_and_not_faster() -> None:
    def seconds(count: int) -> float:
        events = long_session(count)
        began = time.process_time()
        Extractive()(events)
        return time.process_time() - began

    seconds(50)
    short = max(0.004, min(seconds(250) for _ in range(3)))
    assert seconds(1000) < short * 4 * 4


def test_the_same_stretch_gives_the_same_prose_under_other_ids() -> None:
    moved = [
        StoredEvent(
            position=each.position + 7,
            stream="session/another",
            seq=each.seq + 7,
            envelope=Envelope(
                event_id=UUID(int=each.envelope.event_id.int + 10_000),
                namespace=each.envelope.namespace,
                type=each.envelope.type,
                schema_version=1,
                recorded_at=datetime.fromisoformat("2031-01-01T00:00:00+00:00"),
            ),
            payload=each.payload,
        )
        for each in SESSION
    ]
    assert prose(*moved) == prose(*SESSION)


def sample(name: str) -> dict[str, list[StoredEvent]]:
    """The streams of a sample workspace."""
    streams: dict[str, list[StoredEvent]] = defaultdict(list)
    for line in (SAMPLES / name / "log.jsonl").read_text().splitlines():
        row: dict[str, Any] = json.loads(line)
        envelope = Envelope(
            event_id=UUID(row["event_id"]),
            namespace=row["namespace"],
            type=row["type"],
            schema_version=row["schema_version"],
            visibility=row["visibility"],
            recorded_at=datetime.fromisoformat(row["recorded_at"]),
        )
        streams[row["stream"]].append(
            StoredEvent(
                position=row["position"],
                stream=row["stream"],
                seq=row["seq"],
                envelope=envelope,
                payload=row["payload"],
            )
        )
    return streams


@pytest.mark.parametrize("name", ["atlas-handoff", "messy-names"])
def test_every_stream_of_the_samples_is_told_within_its_room(name: str) -> None:
    for stream, events in sample(name).items():
        text = prose(*events)
        assert 20 < len(text) <= room_for(len(events)) * 1.1, stream
        assert not _IDENTIFIER.search(text), stream


def test_the_sample_task_says_how_it_ended() -> None:
    text = prose(*sample("atlas-handoff")["task/global/atlas/importer-flag"])
    for words in (
        "Commit before an experiment",
        "70 passed (67e469c)",
        "maya accepted coder’s checkpoint",
        "completed",
    ):
        assert words in text


@settings(max_examples=examples(200), deadline=None)
@given(st.lists(st.text(max_size=60), max_size=12), st.integers(60, 900))
def test_what_is_left_out_of_a_block_is_counted(words: list[str], limit: int) -> None:
    text = fitted("", [Block("Noted", [Item(f"w{at} {each}") for at, each in enumerate(words)])], limit)
    kept = len(re.findall(r"^- w\d+", text, re.MULTILINE))
    left = re.search(r"^- and (\d+) more$", text, re.MULTILINE)
    assert kept + (int(left[1]) if left else 0) == len(words)
    assert kept >= min(1, len(words))


@settings(max_examples=examples(300), deadline=None)
@given(st.text(alphabet="ab `*#<>[]()!-=~|\n\\/&x1.", max_size=80))
def test_any_text_stays_inside_its_line_and_its_quote(text: str) -> None:
    line = f"- before: {inline(text)} after\n\n### Next"
    quote = "\n".join(["- q:", "", *(f"  {each}" for each in quoted(text, 500)), "", "### Next"])
    for made in (line, quote):
        tokens = MarkdownIt("commonmark").enable("table").parse(made)
        assert [token.tag for token in tokens if token.type == "heading_open"] == ["h3"]
        kinds = {token.type for token in tokens} | {
            child.type for token in tokens for child in token.children or ()
        }
        assert not kinds & {"fence", "code_block", "html_block", "html_inline", "hr", "link_open", "image"}
    assert "\n" not in inline(text)


@pytest.mark.parametrize(
    ("text", "decided", "doubted", "left_open"),
    [
        ("No labels here.", [], [], []),
        ("**Open**\n- One\n- Two\n\n**Done**\n- Three", [], [], ["One", "Two"]),
        ("**Next.** Review on Friday.", [], [], ["Review on Friday."]),
        ("## Decisions\n1. A file\n   of TOML\n2. No restart", ["A file of TOML", "No restart"], [], []),
        ("**Assumed, not checked** (by me)\n- UTF-8", [], ["UTF-8"], []),
        ("Open questions: none", [], [], []),
        ("Next steps:\n* Test it", [], [], ["Test it"]),
        ("```\n**Open**\n- in code\n```", [], [], []),
    ],
)
def test_the_labelled_parts_of_a_closing_message_are_found(
    text: str, decided: list[str], doubted: list[str], left_open: list[str]
) -> None:
    parts = parts_of(text)
    assert (parts.decided, parts.doubted, parts.left_open) == (decided, doubted, left_open)


LONG_CODE = "```python\nimport os\n" + "print(1)\n" * 900 + "```"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("```\nls\n```\nThe list is empty.", "The list is empty."),
        (f"{LONG_CODE}\nThe list is empty.", "The list is empty."),
        (f"# Plan\n\n{LONG_CODE}\n\nWe ship on Friday.", "Plan: We ship on Friday."),
        ("## What I found\n\nTwo leaks.\n\n```\nx\n```\nBoth are fixed.", "What I found: Two leaks. … Both are fixed."),
        ("# Plan\n---\n## Steps\nWrite, then test.", "Plan: Steps: Write, then test."),
        (LONG_CODE, "code in python: import os"),
        ("~~~\n\nmake all\n```\n~~~", "code: make all"),
        ("# Plan\n```sh\nmake all", "Plan: code in sh: make all"),
        ("# Only a heading", "Only a heading"),
        ("```\n```", "code"),
        ("No # heading and no fence.", "No # heading and no fence."),
    ],
)  # fmt: skip
def test_a_message_that_begins_with_code_or_a_heading_is_told_by_its_first_sentence(
    text: str, said: str
) -> None:
    short = cases.act(2, "message", "All of it is done now, and nothing is left to do.")
    assert f"- coder: {said}" in block(prose(cases.act(1, "message", text), short), "What happened")
    # As the last word, too, there is something to read.
    assert said.split(": ")[-1].split(" … ")[-1] in prose(cases.act(1, "message", text))
