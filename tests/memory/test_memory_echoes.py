"""What readers repeat of what they were asked, and what an answer tells of what one may not see."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any, cast

import pytest

from tests.memory.written_cases import TOKEN, fresh
from workbench.errors import WorkbenchError
from workbench.memory.errors import InvalidArgument, UnknownScope
from workbench.memory.views import StartupBundle


def test_private_events_do_not_count_in_a_bundle(tmp_path: Path) -> None:
    kept = fresh(tmp_path)
    before = kept.startup_bundle()
    assert isinstance(before, StartupBundle)
    assert (before.db_summary.position, before.db_summary.last_recorded_at) == (0, None)
    seen = kept.record_event("open", project="atlas")
    first = kept.startup_bundle()
    kept.record_event("HIDDEN", project="atlas", domain="hidden", visibility="private")
    second = kept.startup_bundle()
    assert isinstance(first, StartupBundle)
    assert isinstance(second, StartupBundle)
    assert first.db_summary == second.db_summary
    assert second.db_summary.position == seen.position


def test_a_domain_of_private_observations_alone_is_unknown(tmp_path: Path) -> None:
    kept = fresh(tmp_path)
    kept.record_event("HIDDEN", domain="hidden", visibility="private")
    with pytest.raises(UnknownScope):
        kept.startup_bundle(domain="hidden")
    kept.record_event("open", domain="hidden")
    kept.startup_bundle(domain="hidden")


def test_a_secret_among_what_was_asked_is_not_repeated(tmp_path: Path) -> None:
    kept = fresh(tmp_path)
    with pytest.raises(UnknownScope) as caught:
        kept.startup_bundle(domain=TOKEN)
    assert TOKEN not in f"{caught.value.message} {caught.value.hint}"
    with pytest.raises(UnknownScope, match="'nowhere'"):
        kept.startup_bundle(domain="nowhere")
    for mode in ("bundle", "brief"):
        said: dict[str, Any] = {"project": TOKEN, "focus": TOKEN, "session_id": TOKEN, "agent": TOKEN}
        assert TOKEN not in str(kept.startup_bundle(mode=mode, **said).to_dict())
        assert TOKEN not in str(kept.startup_bundle(mode=mode, project="p", task_id=TOKEN).to_dict())
    assert TOKEN not in str(kept.brief(project=TOKEN).to_dict())


def test_a_brief_of_notes_alone_says_so(tmp_path: Path) -> None:
    kept = fresh(tmp_path)
    kept.record_event("a note", project="atlas")
    assert "Nothing to hand over yet: 1 observation." in kept.brief(project="atlas").text
    kept.record_event("another", project="atlas")
    assert "Nothing to hand over yet: 2 observations." in kept.brief(project="atlas").text
    kept.record_event("HIDDEN", project="other", visibility="private")
    assert "Nothing is recorded yet." in kept.brief(project="other").text


@pytest.mark.parametrize("given", [5, b"x", ["a"], True])
def test_what_is_no_text_is_refused(tmp_path: Path, given: Any) -> None:
    kept = fresh(tmp_path)
    for ask in (
        lambda: kept.startup_bundle(focus=given),
        lambda: kept.brief(cwd=given),
        lambda: kept.conflicts(domain=given),
        lambda: kept.target("fact", given),
    ):
        with pytest.raises(InvalidArgument):
            ask()


def test_what_is_no_name_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidArgument):
        fresh(tmp_path).conflicts(domain="\ud800")


@pytest.mark.parametrize(
    "at", [datetime.max.replace(tzinfo=timezone(timedelta(hours=-14))), datetime.max.replace(tzinfo=UTC)]
)
def test_the_end_of_time_is_no_accident(tmp_path: Path, at: datetime) -> None:
    kept = fresh(tmp_path)
    for ask in (lambda: kept.timeline(at), lambda: kept.as_of(at), lambda: kept.timeline(at, as_of=True)):
        try:
            ask()
        except WorkbenchError as error:
            assert isinstance(error, InvalidArgument)
            assert "years 1 to 9999" in error.message


@pytest.mark.parametrize("name", ["\u200b", "\u2800", "\u3164", "\u00ad", "\u115f\ufe0f", "\U000e0041"])
def test_a_name_that_nobody_sees_is_blank(tmp_path: Path, name: str) -> None:
    kept = fresh(tmp_path)
    for field in ("project", "session_id", "request_id", "external_id", "entity_id", "entity_type"):
        with kept.refuses(InvalidArgument, f"{field} is blank"):
            kept.record_event("x", **cast("dict[str, Any]", {field: name}))
    with kept.refuses(InvalidArgument, "slot is blank"):
        kept.record_event("x", fact={"slot": name, "value": "v", "kind": "observed"})
