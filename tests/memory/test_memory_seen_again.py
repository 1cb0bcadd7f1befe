"""What several agents said: listed once, at the first one that may be seen, with who said it again."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.memory.written_cases import ATLAS, Kept, fresh


@pytest.fixture
def kept(tmp_path: Path) -> Iterator[Kept]:
    memory = fresh(tmp_path, ATLAS)
    yield memory
    memory.log.close()


def test_recent_says_who_observed_the_same(kept: Kept) -> None:
    first = kept.record_event("slow", agent="claude")
    for agent in ("codex", "gemini", "codex"):
        kept.record_event("slow", agent=agent)
    kept.record_event("fast")
    fast, slow = kept.recent()
    assert (slow.observation_id, slow.agent) == (first.observation_id, "claude")
    assert (slow.observed, slow.observed_by) == (4, ["codex", "gemini"])
    assert (fast.observed, fast.observed_by) == (1, [])
    assert kept.recent(as_of=2)[0].observed == 2
    assert kept.as_of(2).recent_events[0].observed_by == ["codex"]


def test_an_event_whose_first_observation_is_withheld_is_listed_at_another(kept: Kept) -> None:
    first = kept.record_event("slow", category="decision", agent="claude")
    second = kept.record_event("slow", category="decision", agent="codex")
    third = kept.record_event("slow", category="decision", agent="gemini")
    kept.withheld_alone(first.observation_id)
    (seen,) = kept.recent()
    assert (seen.observation_id, seen.event_id) == (second.observation_id, first.event_id)
    assert (seen.observed, seen.observed_by) == (2, ["gemini"])
    assert kept.brief().counts["decisions"] == 1
    (all_of_it,) = kept.recent(raw=True)
    assert (all_of_it.observation_id, all_of_it.quarantined) == (first.observation_id, True)
    assert (all_of_it.observed, all_of_it.observed_by) == (3, ["codex", "gemini"])
    for each in (second, third):
        kept.withheld_alone(each.observation_id)
    assert kept.recent() == []
    assert kept.recent(as_of=3)[0].observed == 3
    kept.withheld_alone(third.observation_id, quarantined=False)
    (seen,) = kept.recent()
    assert (seen.observation_id, seen.observed, seen.observed_by) == (third.observation_id, 1, [])
