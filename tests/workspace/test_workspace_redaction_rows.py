"""The list of redactions for the faces: words, actors, titles, places, days, and the text around markers."""

from __future__ import annotations

import random
import string
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from workbench.sessions import Actum
from workbench.workspace import Workspace
from workbench.workspace.rows import RedactionFilter, RedactionPlace, RedactionRow

START = datetime(2026, 3, 1, 23, 30, tzinfo=UTC)
_LETTERS = string.ascii_letters + string.digits


def github(seed: int) -> str:
    return "ghp" + "_" + "".join(random.Random(seed).choices(_LETTERS, k=36))


def clock() -> Callable[[], datetime]:
    moments = iter(START + timedelta(hours=hour) for hour in range(1000))
    return lambda: next(moments)


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    with Workspace.create(tmp_path / "w", timezone="UTC", owner="ada", clock=clock()) as opened:
        yield opened


def say(
    workspace: Workspace, content: str, *, actor: str = "coder", session: str = "s1", **metadata: object
) -> None:
    workspace.sessions.record_actum(
        "ada",
        Actum(
            kind="message",
            actor_kind="human" if actor == "ada" else "agent",
            actor=actor,
            chronicum_id=session,
            content=content,
            metadata=dict(metadata),
        ),
    )


def rows(workspace: Workspace, wanted: RedactionFilter | None = None) -> list[RedactionRow]:
    return workspace.readers.redactions.page(wanted or RedactionFilter(), 100)


def test_rows_know_their_session_by_title_and_id(workspace: Workspace) -> None:
    say(workspace, "Deploy\nthe importer", actor="ada")
    say(workspace, f"use {github(1)}")
    say(workspace, f"use {github(2)}", session="untitled")
    assert [(row.chronicum_id, row.title) for row in rows(workspace)] == [
        ("untitled", ""),
        ("s1", "Deploy the importer"),
    ]
    one = workspace.readers.redactions.row(rows(workspace)[1].place)
    assert one == rows(workspace)[1]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("github", 3),
        ("GITHUB_", 3),
        ("coder", 2),
        ("PLAN", 1),
        ("metadata env", 1),
        ("session/s2", 1),
        ("github s2", 1),
        ("coder s2 nothing", 0),
        ("%", 0),
        ("_token", 3),
        ("x_token", 0),
        ("\\", 0),
    ],
)
def test_words_are_looked_for_in_kind_field_actor_and_stream(
    workspace: Workspace, text: str, found: int
) -> None:
    say(workspace, f"use {github(1)}")
    say(workspace, f"use {github(2)}", session="s2")
    say(workspace, "see", actor="planner", env=[f"{github(3)}"])
    wanted = RedactionFilter(text=text)
    assert len(rows(workspace, wanted)) == found
    assert workspace.readers.redactions.count(wanted) == found


def test_actors_are_counted(workspace: Workspace) -> None:
    say(workspace, f"{github(1)} {github(2)}")
    say(workspace, f"{github(3)}", actor="planner")
    reader = workspace.readers.redactions
    assert reader.actors(10) == [("coder", 2), ("planner", 1)]
    assert reader.actors(1) == [("coder", 2)]


def test_places_of_events_and_moments(workspace: Workspace) -> None:
    say(workspace, f"{github(1)}", env=github(2))
    say(workspace, "nothing")
    say(workspace, f"{github(3)}")
    first, last = rows(workspace)[-1], rows(workspace)[0]
    reader = workspace.readers.redactions
    assert reader.place_of_event(first.position) == RedactionPlace(first.position, 1)
    assert reader.place_of_event(first.position + 1) is None
    micros = int(last.noted_at.timestamp() * 1_000_000)
    assert reader.place_at(micros) == last.place
    assert reader.place_at(micros - 1) == RedactionPlace(first.position, 1)
    assert reader.place_at(0) is None


def test_days_may_begin_earlier_than_those_of_utc(workspace: Workspace) -> None:
    say(workspace, f"{github(1)}")
    reader = workspace.readers.redactions
    noted = rows(workspace)[0].noted_at
    day = (noted.date() - datetime(1970, 1, 1).date()).days
    assert [each.day for each in reader.days(RedactionFilter())] == [day]
    later = int(timedelta(hours=24 - noted.hour).total_seconds()) * 1_000_000
    assert [each.day for each in reader.days(RedactionFilter(), later)] == [day + 1]


def test_no_text_around_markers_is_given_twice(workspace: Workspace) -> None:
    near = f"start {github(1)} and {github(2)} end"
    far = "x" * 1000
    say(workspace, f"{near}\n{far}\n{github(3)} last")
    row = rows(workspace)[0]
    assert row.count == 3
    first, second, third = workspace.readers.redactions.context(row)
    assert (first.before, first.after, first.cut_before, first.joined) == ("start ", " and ", False, False)
    assert (second.before, second.after[:4], second.joined) == ("", " end", True)
    assert second.cut_after and third.cut_before and not third.joined
    assert third.before.startswith("xxx") and third.after == " last" and not third.cut_after
    assert workspace.readers.redactions.context(row, 2) == [first, second]
