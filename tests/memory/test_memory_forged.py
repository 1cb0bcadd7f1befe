"""Readers over logs that no writer of ours would give."""

from __future__ import annotations

from pathlib import Path
from uuid import UUID

import pytest

from tests.memory.forged_cases import CAUSES, causeless, forge, forged_checkpoint, forged_fact
from tests.memory.written_cases import folded_again, folded_now, fresh
from workbench.memory.errors import InvalidArgument
from workbench.memory.views import StartupBundle


@pytest.mark.parametrize("cause", CAUSES)
def test_what_lacks_its_observation_is_shown_by_itself(tmp_path: Path, cause: str) -> None:
    kept = fresh(tmp_path)
    checkpoint, fact = causeless(kept, cause)
    last = kept.log.last_position()
    for as_of in (None, last):
        context = kept.task_context(project="atlas", task_id="ship", as_of=as_of)
        assert context.checkpoint is not None
        assert context.checkpoint.checkpoint
        assert context.checkpoint.checkpoint.goal == "forged goal"
        assert context.checkpoint.observation_id == checkpoint
        assert [each.value for each in context.current_facts] == ["forged value"]
    assert kept.as_of(last, project="atlas", task_id="ship").checkpoint == context.checkpoint
    bundle = kept.startup_bundle(project="atlas", task_id="ship")
    assert isinstance(bundle, StartupBundle)
    assert bundle.task_context.checkpoint == context.checkpoint
    [link] = kept.chain(fact)
    assert (link.value, link.text, link.observation_id) == ("forged value", "", fact)
    assert [each.id for each in kept.facts().facts] == [fact]
    assert [each.goal for each in kept.open_tasks()] == ["forged goal"]
    assert [each.goal for each in kept.tasks().tasks] == ["forged goal"]
    assert "forged value" in kept.brief(project="atlas").text
    assert kept.compare(checkpoint, checkpoint).questions[0].age == 1
    item = {"list": "next_steps", "index": 0}
    assert kept.record_review("checkpoint", checkpoint, "questioned", "hm", item=item, reviewer="me")
    with pytest.raises(InvalidArgument):
        kept.quarantine(checkpoint, reason="x", by="me")
    assert folded_again(kept.log) == folded_now(kept.log)


def test_what_something_private_caused_is_private(tmp_path: Path) -> None:
    kept = fresh(tmp_path)
    public = kept.record_event(
        "open", project="atlas", task_id="ship", fact={"slot": "s", "value": "open", "kind": "observed"}
    )
    hidden = kept.record_event("HIDDEN", project="atlas", task_id="ship", visibility="private")
    cause = UUID(hidden.observation_id)
    fact = forge(kept, forged_fact("HIDDEN", retires=[public.fact_id]), cause)
    forge(kept, forged_fact("open", confirms=public.fact_id), cause)
    checkpoint = forge(kept, forged_checkpoint("HIDDEN"), cause)
    for as_of in (None, kept.log.last_position()):
        assert [each.value for each in kept.facts(as_of=as_of).facts] == ["open"]
        assert kept.task_context(project="atlas", task_id="ship", as_of=as_of).checkpoint is None
        assert kept.tasks(as_of=as_of).tasks == []
        with pytest.raises(InvalidArgument):
            kept.chain(fact, as_of=as_of)
    [link] = kept.chain(str(public.fact_id))
    assert (link.current, link.confirmations) == (True, [])
    with pytest.raises(InvalidArgument):
        kept.compare(checkpoint, checkpoint)
    assert {each.value for each in kept.facts(raw=True).facts} == {"open", "HIDDEN"}
    assert folded_again(kept.log) == folded_now(kept.log)


def test_a_private_checkpoint_of_a_public_observation_is_private(tmp_path: Path) -> None:
    kept = fresh(tmp_path)
    said = kept.record_event("open", project="atlas", task_id="ship")
    forge(kept, forged_checkpoint("HIDDEN"), UUID(said.observation_id), visibility="private")
    for as_of in (None, kept.log.last_position()):
        assert kept.task_context(project="atlas", task_id="ship", as_of=as_of).checkpoint is None
        assert kept.open_tasks(as_of=as_of) == []
    kept.quarantine(said.observation_id, reason="x", by="me")
    kept.release(said.observation_id, reason="x", by="me")
    assert kept.open_tasks() == []
    assert [each.goal for each in kept.open_tasks(raw=True)] == ["HIDDEN"]


@pytest.mark.parametrize("hiding", ["private", "quarantined"])
def test_the_last_review_of_something_hidden_is_hidden(tmp_path: Path, hiding: str) -> None:
    kept = fresh(tmp_path)
    seen = kept.record_event("open", project="atlas", task_id="ship", checkpoint={"goal": "g"})
    kept.record_review("checkpoint", str(seen.checkpoint_id), "accepted", "seen", reviewer="me")
    hidden = kept.record_event(
        "HIDDEN",
        project="atlas",
        task_id="ship",
        visibility="private" if hiding == "private" else "public",
        checkpoint={"goal": "HIDDEN", "next_steps": ["HIDDEN"]},
    )
    kept.record_review(
        "checkpoint",
        str(hidden.checkpoint_id),
        "questioned",
        "HIDDEN",
        item={"list": "next_steps", "index": 0},
        reviewer="me",
    )
    if hiding == "quarantined":
        kept.quarantine(hidden.observation_id, reason="x", by="me")
    found = kept.since_review("atlas", "ship")
    assert found.review is not None
    assert (found.review.comment, found.from_position) == ("seen", found.review.position)
    assert "HIDDEN" not in str(found.to_dict())
    shown = kept.since_review("atlas", "ship", raw=True).review
    assert shown is not None
    assert (shown.comment, shown.line) == ("HIDDEN", "HIDDEN")
