"""Evidence whose copy was purged says so wherever it is shown (contract workspace, "Evidence archive")."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.memory.written_cases import ATLAS, Kept, fresh
from workbench.evidence.events import ArtifactPurged
from workbench.memory.views import StartupBundle

SCOPE: dict[str, Any] = {"project": "atlas", "task_id": "ship"}


@pytest.fixture
def kept(tmp_path: Path) -> Iterator[Kept]:
    memory = fresh(tmp_path, ATLAS)
    for name in ("a.txt", "b.txt"):
        (memory.folder / name).write_text(name)
    yield memory
    memory.log.close()


def purge(kept: Kept, digest: str) -> int:
    event = ArtifactPurged(domain="global", sha256=digest, reason="mine", by="maya")
    return kept.log.append(event.stream, [event]).last_position


def told(observation: Any) -> list[str]:
    return [item.status for item in observation.evidence]


@pytest.mark.parametrize("raw", [False, True])
def test_every_view_says_that_a_copy_was_purged(kept: Kept, raw: bool) -> None:
    fact = {"slot": "db", "value": "sqlite", "kind": "observed"}
    first = kept.record_event("x", source_files=["a.txt", "b.txt", "gone.txt"], fact=fact, **SCOPE)
    kept.record_event("y", source_files=["a.txt"], fact=fact, **SCOPE)
    before = kept.log.last_position()
    digest = first.evidence[0].sha256
    assert isinstance(digest, str)
    purge(kept, digest)
    wanted, again = ["purged", "archived", "missing"], ["purged"]
    assert [told(each) for each in kept.recent(raw=raw)] == [again, wanted]
    assert [told(each) for each in kept.timeline(kept.clock(), raw=raw).events] == [wanted, again]
    (link,) = kept.chain(first.fact_id or "", raw=raw)
    assert (told(link), told(link.confirmations[0])) == (wanted, again)
    assert [told(each) for each in kept.task_context(raw=raw, **SCOPE).changes] == [wanted, again]
    started = kept.startup_bundle(**SCOPE)
    assert isinstance(started, StartupBundle)
    assert [told(each) for each in started.recent_events] == [again, wanted]
    assert [each.evidence.status for each in kept.since_review("atlas", "ship", raw=raw).evidence] == [
        *wanted,
        *again,
    ]
    then = kept.as_of(before, raw=raw, **SCOPE)
    assert [told(each) for each in then.recent_events] == [["archived"], ["archived", "archived", "missing"]]
    assert told(kept.chain(first.fact_id or "", raw=raw, as_of=before)[0])[0] == "archived"


def test_what_is_kept_again_is_there_again_and_each_moment_is_told_as_it_was(kept: Kept) -> None:
    receipt = kept.record_event("x", source_files=["a.txt"])
    digest = receipt.evidence[0].sha256
    assert isinstance(digest, str)
    other = kept.record_event("other", source_files=["b.txt"]).evidence[0].sha256
    kept_first = kept.log.last_position()
    purged_first = purge(kept, digest)
    kept.record_event("y", source_files=["a.txt"])
    kept_again = kept.log.last_position()
    purged_again = purge(kept, digest)
    assert isinstance(other, str)
    purge(kept, other)

    def statuses(position: int) -> str:
        found = [each for each in kept.recent(as_of=position) if each.text == "x"]
        return told(found[0])[0]

    moments = (kept_first, purged_first, kept_again, purged_again, kept.log.last_position())
    assert [statuses(at) for at in moments] == ["archived", "purged", "archived", "purged", "purged"]
