"""The samples' memory holds what their READMEs promise, and comes out of a workspace as it ships."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec
import pytest

from workbench.data import data_folder
from workbench.imports.workspace_jsonl import load_jsonl
from workbench.memory.views import ChainLink, Observation, StartupBundle
from workbench.workspace import Workspace
from workbench.workspace.manifest_edit import add_alias
from workbench.workspace.rows import HandoffFilter
from workbench.workspace.samples import Sample, materialise, samples
from workbench.workspace.transfer import export_jsonl

SHELF = data_folder("sample_workspaces")
NAMES = ["atlas-handoff", "long-negotiation", "messy-names"]
NOW = datetime(2030, 5, 6, 7, 8, 9, tzinfo=UTC)


def opened(name: str, folder: Path) -> Workspace:
    """A copy whose newest event is five minutes old, seen at that time."""
    root = materialise(name, folder / name, clock=lambda: NOW).root
    return Workspace.open(root, clock=lambda: NOW)


@pytest.fixture(scope="module")
def atlas(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    with opened("atlas-handoff", tmp_path_factory.mktemp("atlas")) as workspace:
        yield workspace


@pytest.fixture(scope="module")
def messy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    with opened("messy-names", tmp_path_factory.mktemp("messy")) as workspace:
        yield workspace


def exported(workspace: Workspace) -> bytes:
    chunks: list[bytes] = []
    export_jsonl(workspace.log, chunks.append)
    return b"".join(chunks)


def readme(name: str) -> str:
    return " ".join((SHELF / name / "README.md").read_text(encoding="utf-8").split())


def seen(workspace: Workspace, *, raw: bool = False) -> list[Observation]:
    return workspace.memory.recent(limit=100, raw=raw)


def chain_of(workspace: Workspace, slot: str) -> list[ChainLink]:
    memory = workspace.memory
    [fact] = [each for each in memory.facts(limit=100).facts if each.slot == slot]
    return memory.chain(fact.id)


def checkpoints(workspace: Workspace, task: str) -> list[str]:
    """The ids of a task's checkpoints, oldest first."""
    return [
        str(stored.envelope.event_id)
        for stored in workspace.log.read()
        if stored.envelope.type == "checkpoint.recorded" and stored.payload["scope_task"] == task
    ]


# -- every sample --------------------------------------------------------------------------


def test_the_samples_that_ship() -> None:
    assert samples() == [
        Sample("atlas-handoff", "Atlas handoff"),
        Sample("long-negotiation", "Long negotiation"),
        Sample("messy-names", "Messy names"),
    ]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("keep_times", [True, False])
def test_a_fresh_copy_is_well(name: str, keep_times: bool, tmp_path: Path) -> None:
    root = materialise(name, tmp_path / "copy", keep_times=keep_times).root
    with Workspace.open(root) as workspace:
        assert workspace.doctor().findings == []
        assert workspace.manifest_problems == ()


@pytest.mark.parametrize("name", NAMES)
def test_out_in_and_out_again_gives_the_shipped_text(name: str, tmp_path: Path) -> None:
    shipped = (SHELF / name / "log.jsonl").read_bytes()
    root = materialise(name, tmp_path / "one", keep_times=True).root
    with Workspace.open(root) as workspace:
        first = exported(workspace)
    assert first == shipped
    with Workspace.create(tmp_path / "two", owner="ada", timezone="UTC") as workspace:
        assert load_jsonl(workspace.log, first.splitlines(keepends=True), exact=True) == first.count(b"\n")
        assert exported(workspace) == first


@pytest.mark.parametrize("name", NAMES)
def test_evidence_that_was_kept_can_be_read(name: str, tmp_path: Path) -> None:
    with opened(name, tmp_path) as workspace:
        kept = {
            each.sha256
            for event in workspace.memory.recent(limit=100, raw=True)
            for each in event.evidence
            if isinstance(each.sha256, str)
        }
        assert kept
        for digest in kept:
            assert workspace.evidence.get(digest)


# -- atlas-handoff -------------------------------------------------------------------------


def test_atlas_has_the_tasks_of_its_readme(atlas: Workspace) -> None:
    tasks = {task.task_id: task for task in atlas.memory.tasks(all=True, limit=100).tasks}
    assert {name: (task.status, task.open) for name, task in tasks.items()} == {
        "kyoto-rollout": (None, True),
        "lisbon-encoding": (None, True),
        "alexandria-line": ("waiting", True),
        "importer-flag": ("completed", False),
        "unmerge-command": ("cancelled", False),
        "printed-ids": ("completed", False),
    }
    table = re.findall(r"`([\w-]+)/([\w-]+)` \| (\d+) \|", readme("atlas-handoff"))
    assert {name: project for project, name, _ in table} == {
        name: task.project for name, task in tasks.items()
    }
    rows = {name: int(count) for _, name, count in table}
    assert rows == {name: len(checkpoints(atlas, name)) for name in tasks}
    assert sum(rows.values()) >= 12


def test_who_knows_only_the_readme_can_go_on_with_the_task(atlas: Workspace) -> None:
    assert "workbench startup --project atlas --task-id kyoto-rollout" in readme("atlas-handoff")
    bundle = atlas.memory.startup_bundle(project="atlas", task_id="kyoto-rollout")
    assert isinstance(bundle, StartupBundle)
    assert bundle.domain.id == "global"
    context = bundle.task_context
    assert context.checkpoint is not None
    checkpoint = context.checkpoint.checkpoint
    assert not isinstance(checkpoint, msgspec.UnsetType | None)
    assert "seven nights of Kyoto" in checkpoint.next_steps[0]
    assert checkpoint.completed
    assert checkpoint.verification
    assert len(checkpoint.open_questions) == 2
    assert not isinstance(context.unresolved_reviews, msgspec.UnsetType)
    [review] = context.unresolved_reviews
    assert (review.verdict, review.line) == ("questioned", checkpoint.next_steps[1])
    assert {"merged.coordinates", "lisbon.encoding"} <= {fact.slot for fact in context.current_facts}


@pytest.mark.parametrize("limit", [1000, 8000])
def test_the_brief_keeps_its_budget_and_says_what_matters(atlas: Workspace, limit: int) -> None:
    brief = atlas.memory.brief(project="atlas", max_chars=limit)
    assert len(brief.text) <= limit
    assert not brief.cut
    assert "atlas/kyoto-rollout" in brief.text
    assert (brief.omitted > 0) == (limit == 1000)
    if limit == 8000:
        for text in ("disputed", "questioned by maya", "alexandria-line", "Lisbon is decided on Friday"):
            assert text in brief.text
    for hidden in ("tests folder", "truncated-file test is green", "For me only"):
        assert hidden not in brief.text


def test_a_step_that_nobody_did_is_dropped(atlas: Workspace) -> None:
    first, second = checkpoints(atlas, "importer-flag")[:2]
    compared = atlas.memory.compare(first, second)
    assert "Check that the streaming importer compares the row count of the trailer" in compared.dropped


def test_a_step_that_was_done_with_its_outcome_is_not_dropped(atlas: Workspace) -> None:
    before, latest = checkpoints(atlas, "kyoto-rollout")[-2:]
    compared = atlas.memory.compare(before, latest)
    assert compared.dropped == []
    assert [step for step in compared.next_steps.gone if "log on Saturday" in step]
    rows = atlas.readers.handoffs.page(HandoffFilter(), 50).rows
    (row,) = [each for each in rows if each.task_id.casefold() == "kyoto-rollout"]
    assert row.alarms.dropped == 0


def test_a_question_stands_in_three_checkpoints_and_is_answered_in_the_fourth(atlas: Workspace) -> None:
    _, _, review, second, third, answer, _ = checkpoints(atlas, "importer-flag")
    steps = atlas.memory.compare(review, second)
    assert steps.next_steps.kept
    assert steps.next_steps.added
    assert steps.dropped
    ages = [[q.age for q in atlas.memory.compare(review, each).questions] for each in (second, third)]
    assert ages == [[2], [3]]
    assert atlas.memory.compare(third, answer).questions == []


def test_facts_have_their_histories(atlas: Workspace) -> None:
    cut = chain_of(atlas, "upload.cut")
    assert [link.kind for link in cut] == ["assumption", "observed", "decision", "observed", "observed"]
    assert [each.agent for each in cut[0].confirmations] == ["coder"]
    lengths = {
        slot: len(chain_of(atlas, slot)) for slot in ("rollback.gives_back", "suite.size", "flag.read")
    }
    assert lengths == {"rollback.gives_back": 4, "suite.size": 4, "flag.read": 3}
    for slot in ("flag.bad_file", "handoff.order"):
        links = chain_of(atlas, slot)
        assert links[-1].agent == "maya"
        assert links[-2].agent != "maya"
    asserted = [each for each in atlas.log.read() if each.envelope.type == "fact.asserted"]
    assert len(asserted) >= 20
    scopes = {(each.project is None, each.task_id is None) for each in atlas.memory.facts(limit=100).facts}
    assert scopes == {(False, False), (False, True), (True, True)}


def test_a_rejected_fact_stays_in_dispute(atlas: Workspace) -> None:
    disputed = [fact.slot for fact in atlas.memory.facts(limit=100).facts if fact.disputed]
    assert disputed == ["lisbon.encoding"]


def test_every_kind_of_review_is_there(atlas: Workspace) -> None:
    reviews = atlas.memory.reviews().reviews
    assert {(each.verdict, each.target_kind) for each in reviews} == {
        ("accepted", "checkpoint"),
        ("accepted", "observation"),
        ("questioned", "checkpoint"),
        ("rejected", "fact"),
    }
    assert all(each.line for each in reviews if each.verdict == "questioned")
    assert {each.reviewer for each in reviews} == {"maya"}


def test_after_a_review_work_went_on(atlas: Workspace) -> None:
    since = atlas.memory.since_review("finding-aids", "printed-ids", domain="Katalog")
    assert since.review is not None
    assert since.observations
    assert since.facts


def test_what_agents_do_not_see(atlas: Workspace) -> None:
    withheld = atlas.memory.quarantined()
    assert sorted(each.by or "the guard" for each in withheld) == ["maya", "the guard"]
    public = {event.text for event in seen(atlas)}
    assert not public & {each.observation.text for each in withheld}
    assert any("ask what half a file does" in text for text in public)
    everything = seen(atlas, raw=True)
    private = [event for event in everything if event.private is True]
    assert [event.agent for event in private] == ["maya"]
    assert len(everything) - len(public) >= 3


def test_evidence_of_every_kind(atlas: Workspace) -> None:
    evidence = [each for event in seen(atlas, raw=True) for each in event.evidence]
    statuses = sorted(each.status for each in evidence)
    assert statuses == ["archived"] * 6 + ["missing", "pointer_only"]
    [removed] = [each.removed for each in evidence if isinstance(each.removed, dict)]
    assert sum(removed.values()) == 2
    for each in evidence:
        if isinstance(each.sha256, str):
            assert len(atlas.evidence.get(each.sha256)) > 0


def test_two_agents_told_the_same_and_it_is_one_event(atlas: Workspace) -> None:
    night = [event for event in seen(atlas) if event.text.startswith("Night one: kyoto")]
    twice = [
        stored.payload["agent"]
        for stored in atlas.log.read()
        if stored.envelope.type == "observation.recorded"
        and stored.payload["text"].startswith("Night one: kyoto")
    ]
    assert twice == ["coder", "reviewer"]
    assert len({event.event_id for event in night}) == 1


def test_secrets_were_taken_out_of_observations(atlas: Workspace) -> None:
    said = "\n".join(event.text for event in seen(atlas, raw=True))
    assert set(re.findall(r"\[REDACTED:(\w+)\]", said)) == {"assigned_secret", "github_token"}


def test_names_came_in_several_spellings(atlas: Workspace) -> None:
    spellings: dict[tuple[str, str], set[str]] = {}
    for row in atlas.readers.names.names(atlas.registry):
        if row.observed:
            assert row.declared or row.canonical == "mcp"
            spellings.setdefault((row.kind, row.canonical), set()).add(row.spelling)
    assert len(spellings["project", "atlas"]) >= 4
    assert len(spellings["project", "finding-aids"]) >= 3
    assert spellings["domain", "catalogue"] == {"catalogue", "Katalog"}
    assert {"claude-code", "coder", "coder-laptop"} == spellings["agent", "coder"]
    assert {"reviewer/trailer", "reviewer/readers"} < spellings["agent", "reviewer"]


def test_what_was_known_before_the_review(atlas: Workspace) -> None:
    [before] = [
        event.position
        for event in seen(atlas, raw=True)
        if event.text.startswith("Switching off does nothing until")
    ]
    facts = {fact.slot: fact for fact in atlas.memory.facts(limit=100, as_of=before - 1).facts}
    assert facts["upload.cut"].kind == "assumption"
    assert "suite.size" in facts


# -- messy-names ---------------------------------------------------------------------------

NINE = {
    "river-walk", "River Walk", "river_walk", "RIVER WALK", "Ｒｉｖｅｒ Ｗａｌｋ", "Uferweg", "rw", "RiverWalk",
    "river-wlak",
}  # fmt: skip


def spellings_of(workspace: Workspace) -> dict[str, str]:
    """The project's spellings that were used, and what each means today."""
    rows = workspace.readers.names.names(workspace.registry, "project")
    return {row.spelling: row.canonical for row in rows if row.observed}


def test_one_project_under_nine_spellings(messy: Workspace) -> None:
    used = spellings_of(messy)
    assert {name for name in used if not name.lower().startswith("harbour")} == NINE
    assert {name for name in NINE if used[name] != "river-walk"} == {"RiverWalk", "river-wlak"}
    for name in NINE:
        assert f"`{name}`" in readme("messy-names")
    kinds = {(row.kind, row.canonical) for row in messy.readers.names.names(messy.registry) if row.observed}
    assert {("domain", "trails"), ("domain", "print")} < kinds
    assert {("agent", "claude"), ("agent", "codex"), ("agent", "glm"), ("agent", "scribe")} < kinds


def test_slips_are_found(messy: Workspace) -> None:
    from workbench.identity.lookalikes import look_alikes

    slips: set[tuple[str, str]] = set()
    for kind in ("project", "domain", "agent"):
        rows = messy.readers.names.names(messy.registry, kind)
        used = {row.spelling: row.observed for row in rows if row.observed}
        slips |= {(each.kind, each.spelling) for each in look_alikes(messy.registry, kind, used)}
    assert slips == {
        ("project", "RiverWalk"),
        ("project", "river-wlak"),
        ("domain", "prints"),
        ("agent", "skribe"),
    }


def test_tasks_fold_and_a_longer_name_is_another_task(messy: Workspace) -> None:
    assert len(checkpoints(messy, "launch-plan")) == 3
    assert len(checkpoints(messy, "launch-plan-video")) == 2
    contexts = [
        messy.memory.task_context(domain="trails", project=project, task_id=task)
        for project, task in (
            ("river-walk", "Launch_plan"),
            ("Uferweg", "launch plan"),
            ("rw", "LAUNCH-PLAN"),
        )
    ]
    assert len({each.checkpoint.event_id for each in contexts if each.checkpoint}) == 1
    assert all(len(each.changes) == 3 for each in contexts)
    video = messy.memory.task_context(domain="trails", project="river-walk", task_id="Launch_plan-video")
    assert video.checkpoint is not None
    assert video.checkpoint.agent == "glm"


def test_an_alias_brings_two_values_together(tmp_path: Path) -> None:
    with opened("messy-names", tmp_path) as workspace:
        memory, position = workspace.memory, workspace.log.last_position()

        def values() -> list[str]:
            facts = memory.facts(project="river-walk", limit=100).facts
            return [fact.value for fact in facts if fact.slot == "signs.count"]

        assert [conflict.slot for conflict in memory.conflicts()] == ["opening.date"]
        assert values() == ["14"]
        tasks = {task.task_id: task.project for task in memory.open_tasks(limit=100)}
        assert tasks["signs"] == "RiverWalk"
        add_alias(workspace.layout.manifest, "project", "RiverWalk", "river-walk")
        assert values() == ["12", "14"]
        assert {conflict.slot for conflict in memory.conflicts()} == {"opening.date", "signs.count"}
        tasks = {task.task_id: task.project for task in memory.open_tasks(limit=100)}
        assert tasks["signs"] == "river-walk"
        assert workspace.log.last_position() == position
        newest = next(c for c in memory.conflicts() if c.slot == "signs.count").facts[0]
        assert newest.value == "12"
        memory.record_event(
            "Settled.",
            agent="ines",
            domain="trails",
            project="river-walk",
            fact={
                "slot": "signs.count",
                "value": "12 new, 2 old",
                "kind": "decision",
                "supersedes": newest.id,
            },
        )
        assert values() == ["12 new, 2 old"]
        assert [conflict.slot for conflict in memory.conflicts()] == ["opening.date"]


def test_the_same_under_two_spellings_is_one_event(messy: Workspace) -> None:
    said = [event for event in seen(messy) if event.text.startswith("The ferry does not run")]
    assert len({event.event_id for event in said}) == 1
    lines = (SHELF / "messy-names" / "log.jsonl").read_text(encoding="utf-8").splitlines()
    told = [json.loads(line)["payload"] for line in lines if "The ferry does not run" in line]
    assert {each.get("project_raw") for each in told} == {"River Walk", "river_walk"}
    assert ["memory_event" in each for each in told] == [False, True]


def test_one_note_is_withheld(messy: Workspace) -> None:
    [withheld] = messy.memory.quarantined()
    assert withheld.observation.agent == "mcp"
    assert withheld.by is None


def test_its_newest_event_is_five_minutes_old(messy: Workspace) -> None:
    [newest] = [stored.envelope.recorded_at for stored in messy.log.read()][-1:]
    assert newest == NOW - timedelta(minutes=5)
