"""`sessions list|show|context|record|close-unit`."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from tests.cli.program import Run
from workbench.log import PendingEvent
from workbench.log.streams import session_stream
from workbench.sessions.events import ActumRecorded, ChronicumCreated
from workbench.sessions.model import Actum
from workbench.workspace import Workspace

SESSION_KEYS = [
    "id",
    "owner_id",
    "started_at",
    "last_activity_at",
    "first_at",
    "last_at",
    "acta",
    "by_kind",
    "actors",
    "source",
    "title",
    "forked_from",
]
ACTUM_KEYS = ["id", "chronicum_id", "kind", "actor_kind", "actor", "content", "at", "metadata"]
HOSTILE = "a\x1b[2J\x1b]52;c;eA==\x07 [bold]b[/x] \u202ec\u200b\x00界"
NOT_FOUND = "there is no session"


def record(
    workspace: Workspace,
    content: str,
    *,
    session: str = "s",
    owner: str = "ada",
    kind: str = "message",
    actor_kind: str = "human",
    private: bool = False,
) -> Actum:
    return workspace.sessions.record_actum(
        owner,
        Actum(
            chronicum_id=session,
            kind=kind,
            actor_kind=actor_kind,
            actor="ada",
            content=content,
            visibility="private" if private else "public",
        ),
    )


def words(**options: str) -> list[str]:
    given = {"session": "s", "kind": "message", "actor-kind": "human", "actor": "ada", "content": "hello"}
    given.update({name.replace("_", "-"): value for name, value in options.items()})
    return ["sessions", "record", *(w for name, value in given.items() for w in (f"--{name}", value))]


def iso(text: str) -> datetime:
    moment = datetime.fromisoformat(text)
    assert text.endswith("+00:00")
    assert moment.isoformat(timespec="microseconds") == text
    return moment


# -- list ------------------------------------------------------------------------------------


def test_list_has_exactly_these_keys(run: Run, workspace: Workspace) -> None:
    record(workspace, "Fix  the\nbuild")
    record(workspace, "hm", kind="thought", actor_kind="agent")
    answer = run("sessions", "list", "--format", "json")
    assert answer.code == 0
    assert list(answer.json) == ["sessions", "next"]
    (session,) = answer.json["sessions"]
    assert list(session) == SESSION_KEYS
    assert session["id"] == "s"
    assert session["owner_id"] == "ada"
    assert session["acta"] == 2
    assert session["by_kind"] == {"message": 1, "thought": 1}
    assert session["actors"] == ["ada"]
    assert session["source"] == "recorded"
    assert session["title"] == "Fix the build"
    for key in ("started_at", "last_activity_at", "first_at", "last_at"):
        assert iso(session[key]) <= datetime.now(UTC)


def test_list_pages_through_everything_once(run: Run, workspace: Workspace) -> None:
    for index in range(7):
        record(workspace, "x", session=f"s{index}")
    seen: list[str] = []
    after: list[str] = []
    while True:
        page = run("sessions", "list", "--format", "json", "--limit", "3", *after).json
        seen += [session["id"] for session in page["sessions"]]
        if page["next"] is None:
            break
        after = ["--after", page["next"]]
    assert seen == [f"s{index}" for index in reversed(range(7))]


def test_list_by_what_happened_or_was_recorded(run: Run, workspace: Workspace) -> None:
    for session, day in (("newer", 2), ("older", 1)):
        then = datetime(2020, 1, day, tzinfo=UTC)
        payloads = (
            ChronicumCreated(chronicum_id=session, owner_id="ada"),
            ActumRecorded(
                id=session,
                chronicum_id=session,
                kind="message",
                actor_kind="human",
                actor="ada",
                content="x",
                metadata={},
            ),
        )
        workspace.log.append(
            session_stream(session), [PendingEvent(payload=each, occurred_at=then) for each in payloads]
        )
    for given, names in (
        ([], ["newer", "older"]),
        (["--order", "happened"], ["newer", "older"]),
        (["--order", "recorded"], ["older", "newer"]),
    ):
        first = run("sessions", "list", "--format", "json", "--limit", "1", *given).json
        rest = run("sessions", "list", "--format", "json", "--after", first["next"], *given).json
        assert [row["id"] for row in (*first["sessions"], *rest["sessions"])] == names
    assert "2020-01-02" in run("sessions", "list").out
    recorded = run("sessions", "list", "--order", "recorded").out
    assert recorded.startswith("last recorded")
    assert "2020-01-02" not in recorded


def test_list_of_one_owner(run: Run, workspace: Workspace) -> None:
    record(workspace, "x", session="mine")
    record(workspace, "x", session="hers", owner="eve")
    everyone = run("sessions", "list", "--format", "json").json["sessions"]
    assert {session["id"] for session in everyone} == {"mine", "hers"}
    hers = run("sessions", "list", "--owner", "eve", "--format", "json").json["sessions"]
    assert [session["id"] for session in hers] == ["hers"]
    assert run("sessions", "list", "--owner", "nobody", "--format", "json").json["sessions"] == []


def test_list_as_text(run: Run, workspace: Workspace) -> None:
    assert run("sessions", "list", "--owner", "eve").out == "no sessions\n"
    empty = run("sessions", "list", "--root", workspace.root).out
    assert empty.startswith("no sessions yet\n")
    assert f"  workbench import codex --root {workspace.root}\n" in empty
    assert "  workbench sessions record --help\n" in empty
    record(workspace, HOSTILE, session="odd")
    record(workspace, "plain", session="plain")
    out = run("sessions", "list").out
    heading, *rows = out.splitlines()
    assert heading.startswith("last happened")
    assert len(rows) == 2
    assert not set(out) & set("\x1b\x07\u202e\u200b\x00")
    assert "[bold]b[/x]" in out
    assert heading.index("title") == rows[0].index("plain", rows[0].index("plain") + 1)
    assert run("sessions", "list", "--limit", "1").out.splitlines()[-1] == "more: --after plain"


# -- show ------------------------------------------------------------------------------------


def test_show_pages_by_seq(run: Run, workspace: Workspace) -> None:
    for index in range(5):
        record(workspace, f"m{index}", private=index == 1)
        if index == 2:
            workspace.close_unit("ada", "s", "half")
    first = run("sessions", "show", "s", "--limit", "3", "--format", "json").json
    assert list(first) == ["session", "acta", "next"]
    assert list(first["session"]) == [*SESSION_KEYS, "parent_session"]
    assert [actum["content"] for actum in first["acta"]] == ["m0", "m1", "m2"]
    assert [actum["private"] for actum in first["acta"]] == [False, True, False]
    assert first["next"] == first["acta"][-1]["seq"]
    assert list(first["acta"][0])[: len(ACTUM_KEYS)] == ACTUM_KEYS
    second = run("sessions", "show", "s", "--after", str(first["next"]), "--format", "json").json
    assert [actum["content"] for actum in second["acta"]] == ["m3", "m4"]
    assert second["next"] is None


def test_show_gives_long_contents_whole(run: Run, workspace: Workspace) -> None:
    long = "word " * 20_000
    record(workspace, long)
    assert run("sessions", "show", "s", "--format", "json").json["acta"][0]["content"] == long
    assert "more characters" in run("sessions", "show", "s").out.replace("\u00a0", " ")


def test_show_as_text(run: Run, workspace: Workspace) -> None:
    record(workspace, f"one\r\ntwo {HOSTILE}\n\x1b[31m")
    workspace.close_unit("ada", "s", "half", note="done")
    out = run("sessions", "show", "s").out
    assert "  one\n  two a␛[2J" in out
    assert "unit_closed" in out
    assert not set(out) & set("\x1b\x07\u202e\u200b\x00\r")


@pytest.mark.parametrize(
    "command",
    [
        ["show", "{id}"],
        ["context", "{id}"],
        ["close-unit", "{id}", "--unit", "u"],
    ],
)
def test_a_foreign_session_is_answered_like_a_missing_one(
    run: Run, workspace: Workspace, command: list[str]
) -> None:
    record(workspace, "x", session="hers", owner="eve")
    before = workspace.log.last_position()
    for form in ((), ("--format", "json")):
        foreign = run("sessions", *[word.format(id="hers") for word in command], *form)
        missing = run("sessions", *[word.format(id="none") for word in command], *form)
        # Each names the id that was asked for, and they differ in nothing else.
        assert [said.replace("hers", "none") for said in foreign[1:]] == list(missing[1:])
        assert foreign.code == missing.code == 1
        assert f"{NOT_FOUND} hers" in foreign.out + foreign.err
        assert "workbench sessions list" in foreign.out + foreign.err
        assert "--owner" in foreign.out + foreign.err
    owned = run("sessions", *[word.format(id="hers") for word in command], "--owner", "eve")
    assert owned.code == 0
    assert workspace.log.last_position() == before + (command[0] == "close-unit")


def test_recording_into_a_foreign_session_is_answered_like_a_missing_one(
    run: Run, workspace: Workspace
) -> None:
    record(workspace, "x", session="hers", owner="eve")
    answer = run(*words(session="hers"))
    assert answer.code == 1
    assert f"{NOT_FOUND} hers" in answer.err


@pytest.mark.parametrize(
    "command",
    [
        ["list"],
        ["show", "s"],
        ["context", "s"],
        ["close-unit", "s", "--unit", "u"],
        words()[1:],
    ],
    ids=lambda command: str(command[0]),
)
def test_an_empty_owner_is_refused(run: Run, workspace: Workspace, command: list[str]) -> None:
    answer = run("sessions", *command, "--owner", "", "--format", "json")
    assert answer.code == 2
    assert answer.json["error_type"] == "empty_owner_id"


# -- context ---------------------------------------------------------------------------------


def test_context_is_what_get_acta_returns(run: Run, workspace: Workspace) -> None:
    for index in range(4):
        record(workspace, f"m{index}")
        record(workspace, f"t{index}", kind="thought", actor_kind="agent")
    answer = run("sessions", "context", "s", "--last-n", "3", "--kind", "message", "--format", "json").json
    assert list(answer) == ["acta"]
    assert [list(actum) for actum in answer["acta"]] == [ACTUM_KEYS] * 3
    expected = workspace.sessions.get_acta("ada", "s", last_n=3, actum_kinds=["message"])
    assert [actum["id"] for actum in answer["acta"]] == [actum.id for actum in expected]
    assert [iso(actum["at"]) for actum in answer["acta"]] == [actum.at for actum in expected]


@pytest.mark.parametrize("last_n", [0, -3, 100, 2**70])
def test_context_without_a_limit(run: Run, workspace: Workspace, last_n: int) -> None:
    for index in range(3):
        record(workspace, f"m{index}")
    acta = run("sessions", "context", "s", "--last-n", str(last_n), "--format", "json").json["acta"]
    assert [actum["content"] for actum in acta] == ["m0", "m1", "m2"]


def test_context_leaves_private_acta_out_before_the_limit(run: Run, workspace: Workspace) -> None:
    for index in range(6):
        record(workspace, f"m{index}", private=index >= 4)
    shown = run("sessions", "context", "s", "--last-n", "2", "--format", "json").json["acta"]
    assert [actum["content"] for actum in shown] == ["m2", "m3"]
    kept = run("sessions", "context", "s", "--last-n", "2", "--private", "--format", "json").json["acta"]
    assert [actum["content"] for actum in kept] == ["m4", "m5"]


def test_context_filters_combine_and_unknown_kinds_match_nothing(run: Run, workspace: Workspace) -> None:
    record(workspace, "human")
    record(workspace, "agent", actor_kind="agent")
    record(workspace, "thought", kind="thought", actor_kind="agent")

    def contents(*options: str) -> list[str]:
        acta = run("sessions", "context", "s", *options, "--format", "json").json["acta"]
        return [actum["content"] for actum in acta]

    assert contents("--kind", "message", "--actor-kind", "agent") == ["agent"]
    assert contents("--kind", "message", "--kind", "thought") == ["human", "agent", "thought"]
    assert contents("--kind", "speech") == []
    assert contents("--actor-kind", "robot") == []


def test_context_says_which_kinds_there_are(run: Run, workspace: Workspace) -> None:
    record(workspace, "x")
    for form in ((), ("--format", "json")):
        answer = run("sessions", "context", "s", "--kind", "f\x1boo", "--actor-kind", "robot", *form)
        assert answer.code == 0
        assert answer.err.splitlines() == [
            "warning: there is no kind f␛oo; kinds are message, thought, tool_request, tool_response",
            "warning: there is no actor kind robot; actor kinds are human, agent, system",
        ]
    assert run("sessions", "context", "s", "--kind", "thought", "--actor-kind", "agent").err == ""


def test_text_says_when_an_act_happened_and_when_it_was_recorded(run: Run, workspace: Workspace) -> None:
    then = datetime(2026, 1, 5, 10, 0, 9, tzinfo=UTC)
    workspace.sessions.record_actum(
        "ada",
        Actum(
            chronicum_id="s",
            kind="message",
            actor_kind="human",
            actor="ada",
            content="x",
            occurred_at=then,
        ),
    )
    record(workspace, "y")
    for command in ("context", "show"):
        out = run("sessions", command, "s").out
        assert "2026-01-05 10:00:09 UTC (recorded 20" in out
        assert out.count("(recorded ") == 1


# -- record ----------------------------------------------------------------------------------


def test_record_prints_the_stored_actum(run: Run, workspace: Workspace) -> None:
    answer = run(*words(), "--metadata", '{"name": "Bash", "n": [1, null]}', "--format", "json")
    assert answer.code == 0
    assert list(answer.json) == ACTUM_KEYS
    assert answer.json["metadata"] == {"name": "Bash", "n": [1, None]}
    (stored,) = workspace.sessions.get_acta("ada", "s")
    assert answer.json["id"] == stored.id
    assert iso(answer.json["at"]) == stored.at


def test_record_with_a_key_counts_once(run: Run, workspace: Workspace) -> None:
    first = run(*words(content="first"), "--key", "k", "--format", "json").json
    again = run(*words(content="second"), "--key", "k", "--format", "json").json
    assert again == first
    assert len(workspace.sessions.get_acta("ada", "s")) == 1


def test_record_reads_stdin_as_it_is(run: Run, workspace: Workspace) -> None:
    answer = run(*words(content="-"), "--format", "json", stdin="two\nlines \r\n界\n".encode())
    # The newline that ends a text file's last line is no part of what was said; any other is.
    assert answer.json["content"] == "two\nlines \r\n界"
    blank = run(*words(content="-"), "--format", "json", stdin=b"\na\n\n")
    assert blank.json["content"] == "\na\n"
    windows = run(*words(content="-"), "--format", "json", stdin=b"a\r\n")
    assert windows.json["content"] == "a"
    assert run(*words(content="-"), "--format", "json", stdin=b"a\r").json["content"] == "a\r"
    broken = run(*words(content="-"), "--format", "json", stdin=b"a\xffb")
    assert broken.json["content"] == "a\N{REPLACEMENT CHARACTER}b"
    empty = run(*words(content="-"), "--format", "json", stdin=b"")
    assert empty.code == 2
    assert empty.json["error_type"] == "invalid_actum"


def test_record_takes_secrets_out(run: Run, workspace: Workspace) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8"
    answer = run(*words(content=f"token {secret} here"), "--format", "json")
    assert secret not in answer.out
    assert "[REDACTED:" in answer.json["content"]


def test_record_private(run: Run, workspace: Workspace) -> None:
    assert run(*words(), "--private").code == 0
    (stored,) = workspace.sessions.get_acta("ada", "s")
    assert stored.visibility == "private"


@pytest.mark.parametrize(
    ("options", "error_type"),
    [
        ({"kind": "speech"}, "invalid_actum"),
        ({"actor_kind": "robot"}, "invalid_actum"),
        ({"actor": ""}, "invalid_actum"),
        ({"session": ""}, "invalid_actum"),
        ({"content": ""}, "invalid_actum"),
        ({"metadata": "[1]"}, "usage"),
        ({"metadata": "{"}, "usage"),
        ({"metadata": '{"a":' * 150 + "1" + "}" * 150}, "invalid_actum"),
        ({"metadata": "[" * 100_000}, "usage"),
        ({"session": "a\udcff"}, "usage"),
        ({"actor": "a\udcff"}, "usage"),
        ({"key": "a\udcff"}, "usage"),
    ],
)
def test_record_refuses(run: Run, workspace: Workspace, options: dict[str, str], error_type: str) -> None:
    answer = run(*words(**options), "--format", "json")
    assert answer.code == 2
    assert answer.json["error_type"] == error_type
    assert workspace.log.last_position() == 0


def test_broken_text_in_content_and_metadata_is_repaired(run: Run, workspace: Workspace) -> None:
    metadata = '{"x": "\\ud800", "y": "\udcfe", "z": NaN}'
    answer = run(*words(content="a\udcff", metadata=metadata), "--format", "json")
    assert answer.code == 0
    assert answer.json["content"] == "a\N{REPLACEMENT CHARACTER}"
    assert answer.json["metadata"] == {
        "x": "\N{REPLACEMENT CHARACTER}",
        "y": "\N{REPLACEMENT CHARACTER}",
        "z": "NaN",
    }


# -- close-unit ------------------------------------------------------------------------------


def test_close_unit(run: Run, workspace: Workspace) -> None:
    record(workspace, "x")
    said = run(
        "sessions", "close-unit", "s", "--unit", "task 1", "--note", "ok", "--key", "k", "--format", "json"
    )
    assert said.json == {"position": 3, "seq": 3, "unit": "task 1"}
    again = run("sessions", "close-unit", "s", "--unit", "task 1", "--key", "k", "--format", "json")
    assert again.json == said.json
    assert run("sessions", "list", "--format", "json").json["sessions"][0]["acta"] == 1


def test_close_unit_needs_a_name(run: Run, workspace: Workspace) -> None:
    record(workspace, "x")
    assert run("sessions", "close-unit", "s", "--unit", "").code == 2
    assert run("sessions", "close-unit", "s").code == 2


def test_show_finds_text_page_by_page(run: Run, workspace: Workspace) -> None:
    for number in range(1, 8):
        record(workspace, f"a fig, number {number}" if number % 2 else "a plum")
    record(workspace, "a fig of another session", session="t")
    show = ("sessions", "show", "s", "--find")
    first = run(*show, "FI", "--limit", "3", "--format", "json").json
    assert [actum["content"][-1] for actum in first["acta"]] == ["1", "3", "5"]
    rest = run(*show, "FI", "--after", str(first["next"]), "--format", "json").json
    assert [actum["content"][-1] for actum in rest["acta"]] == ["7"]
    assert rest["next"] is None
    shown = run(*show, "fig number").out
    assert "a fig, number 7" in shown
    assert "plum" not in shown
    assert "Nothing here has “quince”." in run(*show, "quince").out
