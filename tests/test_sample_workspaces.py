"""The sample workspaces that ship with the program keep the rules of the log and of what is in it.

They are read as text, without the program: what is checked is that any reader could rely on them.
"""

from __future__ import annotations

import hashlib
import json
import re
import tomllib
import uuid
from collections import Counter, defaultdict
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote
from zoneinfo import ZoneInfo

import pytest

Event = dict[str, Any]

ROOT = Path(__file__).parent.parent / "sample_workspaces"
SAMPLES = sorted(path for path in ROOT.iterdir() if path.is_dir())

ENVELOPE = {
    "causation_id", "correlation_id", "event_id", "namespace", "occurred_at", "payload", "position",
    "recorded_at", "schema_version", "seq", "stream", "type", "visibility",
}  # fmt: skip
# Per event type: the fields that must be there, and those that may be.
PAYLOADS: dict[str, tuple[set[str], set[str]]] = {
    "chronicum.created": ({"chronicum_id", "owner_id"}, set()),
    "chronicum.described": (
        set(),
        {"title", "source", "cwd", "git_branch", "models", "client_version", "forked_from"},
    ),
    "actum.recorded": (
        {"id", "chronicum_id", "kind", "actor_kind", "actor", "content", "metadata"},
        {"idempotency_key", "redactions"},
    ),
    "unit.closed": ({"chronicum_id", "unit"}, {"note", "source_key"}),
    "observation.recorded": (
        {
            "scope_domain", "scope_project", "scope_task", "domain", "agent", "agent_source", "category",
            "text", "request_hash", "content_hash", "hash_filter",
        },
        {
            "project", "task_id", "session_id", "domain_raw", "project_raw", "agent_raw", "why",
            "source_files", "evidence", "request_id", "memory_event", "memory_guard", "redactions",
        },
    ),
    "checkpoint.recorded": (
        {
            "scope_domain", "scope_project", "scope_task", "domain", "project", "task_id", "agent", "goal",
            "completed", "verification", "open_questions", "next_steps",
        },
        set(),
    ),
    "fact.asserted": (
        {"scope_domain", "scope_project", "scope_task", "domain", "agent", "slot", "value", "kind"},
        {"project", "task_id", "confirms", "supersedes", "retires"},
    ),
    "review.recorded": (
        {
            "scope_domain", "scope_project", "scope_task", "target_kind", "target_id", "target_stream",
            "verdict", "comment", "reviewer",
        },
        {"item"},
    ),
    "visibility.changed": (
        {"scope_domain", "scope_project", "scope_task", "target_id", "quarantined", "reason", "by"},
        set(),
    ),
    "pin.promoted": ({"drawn_for", "unit_id", "key", "kind", "result", "attempts"}, set()),
}  # fmt: skip
CAUSED = {"checkpoint.recorded", "fact.asserted"}
SESSION_TYPES = {"chronicum.created", "chronicum.described", "actum.recorded", "unit.closed"}
PIN_TYPES = {"pin.promoted"}
KINDS = {"message", "thought", "tool_request", "tool_response"}
ACTOR_KINDS = {"human", "agent", "system"}
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}\+00:00")


class Sample(NamedTuple):
    path: Path
    manifest: dict[str, Any]
    lines: list[str]
    events: list[Event]

    def of_type(self, name: str) -> list[Event]:
        return [event for event in self.events if event["type"] == name]

    def acta(self) -> list[Event]:
        return self.of_type("actum.recorded")

    def of_sessions(self) -> list[Event]:
        return [event for event in self.events if event["type"] in SESSION_TYPES]

    @property
    def owner(self) -> str:
        return str(self.manifest["session"]["owner"])


@pytest.fixture(scope="module", params=SAMPLES, ids=lambda path: path.name)
def sample(request: pytest.FixtureRequest) -> Sample:
    path: Path = request.param
    text = (path / "log.jsonl").read_bytes().decode("utf-8")
    assert text.endswith("\n")
    # Not `splitlines`: a line separator inside a text is no end of a line.
    lines = text[:-1].split("\n")
    manifest = tomllib.loads((path / "SSOT_MANIFEST.toml").read_text(encoding="utf-8"))
    return Sample(path, manifest, lines, [json.loads(line) for line in lines])


def test_there_is_a_sample() -> None:
    assert [path.name for path in SAMPLES] == ["atlas-handoff", "long-negotiation", "messy-names"]


def test_every_file_is_text(sample: Sample) -> None:
    files = [path for path in sample.path.rglob("*") if path.is_file()]
    for file in files:
        data = file.read_bytes()
        data.decode("utf-8")
        assert b"\0" not in data and b"\r" not in data, file
    assert {"SSOT_MANIFEST.toml", "README.md", "log.jsonl"} <= {file.name for file in files}


def test_manifest_names_the_workspace_its_time_zone_and_its_owner(sample: Sample) -> None:
    assert sample.manifest["version"] == 1
    assert sample.manifest["title"].strip()
    assert ZoneInfo(sample.manifest["settings"]["timezone"])
    assert sample.owner


def test_every_line_is_canonical_and_has_every_field(sample: Sample) -> None:
    for line, event in zip(sample.lines, sample.events, strict=True):
        assert line == json.dumps(event, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        assert set(event) == ENVELOPE
        assert event["namespace"] == ("pins" if event["type"] in PIN_TYPES else "workbench")
        assert event["schema_version"] == 1
        assert event["visibility"] in ("public", "private")
        assert event["correlation_id"] is None
        assert (event["causation_id"] is not None) == (event["type"] in CAUSED)


def test_what_an_observation_causes_stands_right_behind_it(sample: Sample) -> None:
    ids: set[str] = set()
    for before, event in zip([None, *sample.events], sample.events, strict=False):
        if event["type"] in CAUSED:
            assert event["causation_id"] in ids
            assert before is not None
            for field in ("stream", "recorded_at", "occurred_at", "visibility"):
                assert event[field] == before[field]
        ids.add(event["event_id"])


def test_memory_events_stand_in_the_stream_of_their_scope(sample: Sample) -> None:
    for event in sample.events:
        payload = event["payload"]
        if event["type"] not in SESSION_TYPES | PIN_TYPES:
            keys = [payload[key] for key in ("scope_domain", "scope_project", "scope_task")]
            named = [quote(key, safe="~") for key in keys if key]
            assert event["stream"] == "/".join((("domain", "project", "task")[len(named) - 1], *named))


def test_pins_stand_beside_the_stream_that_they_were_drawn_for(sample: Sample) -> None:
    streams = {event["stream"] for event in sample.events}
    for event in sample.of_type("pin.promoted"):
        drawn_for = event["payload"]["drawn_for"]
        assert drawn_for in streams
        assert event["stream"] == "pins/" + quote(drawn_for, safe="~")


def test_references_lead_to_earlier_events_of_their_kind(sample: Sample) -> None:
    types: dict[str, str] = {}
    for event in sample.events:
        payload = event["payload"]
        facts = [payload.get("confirms"), payload.get("supersedes"), *payload.get("retires", [])]
        assert {types[each] for each in facts if each is not None} <= {"fact.asserted"}
        if event["type"] == "visibility.changed":
            assert types[payload["target_id"]] == "observation.recorded"
            assert payload["by"] == sample.owner
        if event["type"] == "review.recorded":
            assert types[payload["target_id"]].startswith(f"{payload['target_kind']}.")
            assert payload["reviewer"] == sample.owner
        if "memory_event" in payload:
            assert types[payload["memory_event"]] == "observation.recorded"
        types[event["event_id"]] = event["type"]


def test_artifacts_are_what_observations_name_and_lie_under_their_digests(sample: Sample) -> None:
    named = {
        item["sha256"]
        for event in sample.of_type("observation.recorded")
        for item in event["payload"].get("evidence", [])
        if item["status"] == "archived"
    }
    folder = sample.path / "artifacts"
    files = [path for path in folder.rglob("*") if path.is_file()]
    for file in files:
        digest = hashlib.sha256(file.read_bytes()).hexdigest()
        assert file.relative_to(folder).parts == (digest[:2], digest[2:4], digest)
    assert {file.name for file in files} == named


def test_positions_and_seqs_have_no_gap(sample: Sample) -> None:
    assert [event["position"] for event in sample.events] == list(range(1, len(sample.events) + 1))
    seqs: dict[str, list[int]] = defaultdict(list)
    for event in sample.events:
        seqs[event["stream"]].append(event["seq"])
    assert all(found == list(range(1, len(found) + 1)) for found in seqs.values())


def test_event_ids_are_uuid7_in_the_order_of_the_log(sample: Sample) -> None:
    ids = [event["event_id"] for event in sample.events]
    assert all(str(uuid.UUID(text)) == text and uuid.UUID(text).version == 7 for text in ids)
    assert all(uuid.UUID(text).variant == uuid.RFC_4122 for text in ids)
    assert ids == sorted(set(ids))
    for event in sample.events:
        recorded = datetime.fromisoformat(event["recorded_at"])
        stamp = datetime.fromtimestamp((uuid.UUID(event["event_id"]).int >> 80) / 1000, UTC)
        assert abs((recorded - stamp).total_seconds()) < 0.002


def test_recorded_times_never_fall_and_claimed_ones_lie_before_them(sample: Sample) -> None:
    for event in sample.events:
        assert TIME.fullmatch(event["recorded_at"])
        if event["occurred_at"] is not None:
            assert TIME.fullmatch(event["occurred_at"])
            assert event["occurred_at"] < event["recorded_at"]
    recorded = [event["recorded_at"] for event in sample.events]
    assert recorded == sorted(recorded)


def test_payloads_have_their_fields(sample: Sample) -> None:
    for event in sample.events:
        required, optional = PAYLOADS[event["type"]]
        assert required <= set(event["payload"]) <= required | optional
        if "chronicum_id" in required:
            session = event["payload"]["chronicum_id"]
            assert event["stream"] == "session/" + quote(session, safe="~")
        else:
            assert event["payload"]


def test_every_session_begins_with_its_creation_by_the_owner(sample: Sample) -> None:
    streams: dict[str, list[Event]] = defaultdict(list)
    for event in sample.of_sessions():
        streams[event["stream"]].append(event)
    for events in streams.values():
        assert events[0]["type"] == "chronicum.created"
        assert events[0]["payload"]["owner_id"] == sample.owner
        assert [event["type"] for event in events].count("chronicum.created") == 1
        assert any(event["type"] == "actum.recorded" for event in events)


def test_acta_are_valid(sample: Sample) -> None:
    for event in sample.acta():
        actum = event["payload"]
        assert actum["kind"] in KINDS
        assert actum["actor_kind"] in ACTOR_KINDS
        assert actum["actor"]
        assert re.fullmatch(r"[0-9a-f]{32}", actum["id"])
        assert isinstance(actum["metadata"], dict)
        assert actum["kind"] in ("tool_request", "tool_response") or actum["content"].strip()
        if actum["actor_kind"] == "human":
            assert actum["actor"] == sample.owner
    ids = [event["payload"]["id"] for event in sample.acta()]
    assert len(ids) == len(set(ids))


def test_every_tool_call_has_one_answer_after_it(sample: Sample) -> None:
    requests: dict[tuple[str, str], Event] = {}
    answered: Counter[tuple[str, str]] = Counter()
    for event in sample.acta():
        actum, metadata = event["payload"], event["payload"]["metadata"]
        if actum["kind"] == "tool_request":
            key = (event["stream"], metadata["call_id"])
            assert key not in requests
            requests[key] = event
            assert actum["actor_kind"] == "agent"
            assert metadata["name"]
            given = json.loads(actum["content"])
            assert actum["content"] == json.dumps(
                given, sort_keys=True, separators=(",", ":"), ensure_ascii=False
            )
        elif actum["kind"] == "tool_response":
            key = (event["stream"], metadata["call_id"])
            request = requests[key]["payload"]
            answered[key] += 1
            assert actum["actor_kind"] == "system"
            assert actum["actor"] == request["metadata"]["name"]
            assert metadata.get("parent") == request["metadata"].get("parent")
            assert metadata.get("is_error", True) is True
    assert set(answered) == set(requests)
    assert set(answered.values()) <= {1}


def test_a_sub_agent_works_between_the_call_that_started_it_and_its_answer(sample: Sample) -> None:
    calls: dict[tuple[str, str], dict[str, int]] = defaultdict(dict)
    for event in sample.acta():
        actum = event["payload"]
        if "call_id" in actum["metadata"]:
            calls[event["stream"], actum["metadata"]["call_id"]][actum["kind"]] = event["seq"]
    children = [event for event in sample.acta() if "parent" in event["payload"]["metadata"]]
    for event in children:
        call = calls[event["stream"], event["payload"]["metadata"]["parent"]]
        assert call["tool_request"] < event["seq"] < call["tool_response"]


def test_imported_acta_carry_their_identity_once(sample: Sample) -> None:
    imported = [event for event in sample.events if event["stream"].startswith("session/claude-code%2F")]
    acta = [event["payload"] for event in imported if event["type"] == "actum.recorded"]
    closed = [event["payload"] for event in imported if event["type"] == "unit.closed"]
    keys = [actum["idempotency_key"] for actum in acta] + [unit["source_key"] for unit in closed]
    assert all(key.startswith("claude-code:") for key in keys)
    assert len(keys) == len(set(keys))
    seen: dict[str, set[str]] = defaultdict(set)
    for actum in acta:
        known, parent = seen[actum["chronicum_id"]], actum["metadata"].get("parent_uuid")
        assert parent in known or (parent is None and not known)
        known.add(actum["metadata"]["uuid"])
        assert actum["idempotency_key"].split(":")[1] == actum["metadata"]["uuid"]
    assert all(event["occurred_at"] for event in imported if event["type"] == "actum.recorded")


def test_every_marker_of_something_removed_has_its_receipt(sample: Sample) -> None:
    for event in sample.events:
        payload = dict(event["payload"])
        receipts = payload.pop("redactions", [])
        found = Counter(re.findall(r"\[REDACTED:([a-z_]+)\]", json.dumps(payload)))
        counted: Counter[str] = Counter()
        for receipt in receipts:
            assert set(receipt) == {"count", "field", "filter_version", "kind"}
            value: Any = payload
            if receipt["field"].startswith("evidence."):
                # It stood in a source file, whose copy the artifact is.
                item = payload["evidence"][int(receipt["field"].removeprefix("evidence."))]
                assert item["removed"][receipt["kind"]] == receipt["count"]
                continue
            for part in receipt["field"].split("."):
                value = value[part]
            assert value.count(f"[REDACTED:{receipt['kind']}]") == receipt["count"] > 0
            counted[receipt["kind"]] += receipt["count"]
        assert counted == found


def test_a_chronicle_cites_events_of_its_stream_and_is_chained(sample: Sample) -> None:
    ids = {(event["stream"], event["seq"]): event["event_id"] for event in sample.events}
    types = {(event["stream"], event["seq"]): event["type"] for event in sample.events}
    kept = {event["payload"]["key"] for event in sample.of_type("pin.promoted")}
    for file in sorted((sample.path / "chronicle").glob("*.jsonl")):
        lines = file.read_text(encoding="utf-8").removesuffix("\n").split("\n")
        head, *sections, tail = [json.loads(line) for line in lines]
        stream = head["stream"]
        assert head["begins_with"] == ids[stream, 1]
        assert tail["sections"] == len(sections) > 0
        digest = b""
        for line in lines:
            body = line[: line.rindex(',"chain":"')].encode()
            digest = hashlib.sha256(digest + body).hexdigest().encode()
            assert json.loads(line)["chain"] == digest.decode()
        for section in sections:
            first, last = section["from_seq"], section["to_seq"]
            assert section["section_id"].split("#")[0] == f"{first}-{last}"
            assert section["first_event"] == ids[stream, first]
            assert section["last_event"] == ids[stream, section["unit"]] == ids[stream, last]
            assert types[stream, last] in ("unit.closed", "checkpoint.recorded")
            assert section["prose"].strip()
            assert set(section.get("pins", ())) <= kept


class TestAtlasHandoff:
    """What the first workspace a person sees is meant to show."""

    @pytest.fixture(scope="class")
    def atlas(self) -> Sample:
        path = ROOT / "atlas-handoff"
        lines = (path / "log.jsonl").read_text(encoding="utf-8").rstrip("\n").split("\n")
        manifest = tomllib.loads((path / "SSOT_MANIFEST.toml").read_text(encoding="utf-8"))
        return Sample(path, manifest, lines, [json.loads(line) for line in lines])

    def test_who_and_how_much(self, atlas: Sample) -> None:
        assert atlas.manifest["title"] == "Atlas handoff"
        assert 150 <= len(atlas.of_sessions()) <= 300
        assert len(atlas.events) <= 450
        assert len({event["stream"] for event in atlas.of_sessions()}) == 5
        actors = {event["payload"]["actor"] for event in atlas.acta()}
        assert {"maya", "planner", "coder", "reviewer", "claude-code"} <= actors

    def test_every_kind_of_thing_is_in_it(self, atlas: Sample) -> None:
        acta = [event["payload"] for event in atlas.acta()]
        assert {actum["kind"] for actum in acta} == KINDS
        assert {actum["actor_kind"] for actum in acta} == ACTOR_KINDS
        assert any(actum["metadata"].get("is_error") for actum in acta)
        assert (
            len({actum["actor"] for actum in acta if "parent" in actum["metadata"] and "/" in actum["actor"]})
            == 2
        )
        assert {event["type"] for event in atlas.events} == set(PAYLOADS) - PIN_TYPES
        assert any(event["visibility"] == "private" for event in atlas.events)
        assert any(len(actum["content"].split("\n")) >= 100 for actum in acta)

    def test_something_was_removed_of_several_kinds(self, atlas: Sample) -> None:
        receipts = [each for event in atlas.events for each in event["payload"].get("redactions", [])]
        assert len(receipts) >= 5
        assert len({each["kind"] for each in receipts}) >= 4
        assert any(each["field"].startswith("metadata.") for each in receipts)

    def test_wide_and_right_to_left_text(self, atlas: Sample) -> None:
        said = "\n".join(event["payload"]["content"] for event in atlas.acta())
        for text in ("アラシヤマ", "ｱﾗｼﾔﾏ", "الإسكندرية", "🎉"):
            assert text in said

    def test_the_two_orders_differ(self, atlas: Sample) -> None:
        happened = [event["occurred_at"] or event["recorded_at"] for event in atlas.events]
        assert happened != sorted(happened)
        days = {event["recorded_at"][:10] for event in atlas.events}
        assert len(days) >= 5

    def test_every_session_ends_in_a_hand_off_or_names_it(self, atlas: Sample) -> None:
        with_handoff = {
            event["stream"] for event in atlas.acta() if "## Hand-off" in event["payload"]["content"]
        }
        assert with_handoff == {event["stream"] for event in atlas.of_sessions()}

    def test_the_readme_names_every_session(self, atlas: Sample) -> None:
        readme = (atlas.path / "README.md").read_text(encoding="utf-8")
        for event in atlas.acta():
            session = event["payload"]["chronicum_id"]
            assert (session[:20] if "/" in session else session) in readme


class TestLongNegotiation:
    """What the workspace with a chronicle is meant to show."""

    @pytest.fixture(scope="class")
    def long(self) -> Sample:
        path = ROOT / "long-negotiation"
        lines = (path / "log.jsonl").read_text(encoding="utf-8").rstrip("\n").split("\n")
        manifest = tomllib.loads((path / "SSOT_MANIFEST.toml").read_text(encoding="utf-8"))
        return Sample(path, manifest, lines, [json.loads(line) for line in lines])

    @pytest.fixture(scope="class")
    def sections(self, long: Sample) -> dict[str, list[dict[str, Any]]]:
        found = {}
        for file in (long.path / "chronicle").glob("*.jsonl"):
            head, *sections, _ = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
            found[head["stream"]] = sections
        return found

    def test_ten_rounds_are_closed_and_one_is_open(self, long: Sample) -> None:
        session = long.of_sessions()
        assert 250 <= len(session) <= 600
        assert len({event["stream"] for event in session}) == 1
        assert len(long.of_type("unit.closed")) == 10
        assert session[-1]["type"] == "actum.recorded"
        assert len({event["recorded_at"][:10] for event in session}) >= 7
        actors = {event["payload"]["actor"] for event in long.acta()}
        assert {"oda", "wren", "quill", "writ"} <= actors

    def test_there_are_second_generations_a_hole_and_a_recording(
        self, long: Sample, sections: dict[str, list[dict[str, Any]]]
    ) -> None:
        [session] = [found for stream, found in sections.items() if stream.startswith("session/")]
        first = [section for section in session if "supersedes" not in section]
        assert len(session) - len(first) >= 2
        assert {section["summarizer"] for section in session} == {"command", "extractive"}
        ends = [(section["from_seq"], section["to_seq"]) for section in first]
        assert sum(after[0] != before[1] + 1 for before, after in pairwise(ends)) == 1
        # Each round was drawn once for its first prose, also the one that nobody took along.
        units = Counter(event["payload"]["unit_id"].split("/")[0] for event in long.of_type("pin.promoted"))
        assert units == {"chronicle": 10, "reconsolidation": 2}

    def test_what_oda_would_pay_is_in_no_public_event_and_in_no_prose(
        self, long: Sample, sections: dict[str, list[dict[str, Any]]]
    ) -> None:
        secrets = ("4.87", "5,000", "walk away", "east bench")
        private = [event for event in long.events if event["visibility"] == "private"]
        told = json.dumps([event["payload"] for event in private], ensure_ascii=False)
        assert len(private) >= 10 and all(secret in told for secret in secrets)
        public = [event["payload"] for event in long.events if event["visibility"] == "public"]
        prose = [section["prose"] for found in sections.values() for section in found]
        for text in (json.dumps(public, ensure_ascii=False), *prose):
            assert not any(secret in text for secret in secrets)

    def test_a_section_was_written_before_an_event_of_its_range_was_quarantined(
        self, long: Sample, sections: dict[str, list[dict[str, Any]]]
    ) -> None:
        [hidden] = long.of_type("visibility.changed")
        [target] = [event for event in long.events if event["event_id"] == hidden["payload"]["target_id"]]
        [section] = [
            section
            for section in sections[target["stream"]]
            if section["from_seq"] <= target["seq"] <= section["to_seq"]
        ]
        assert section["written_position"] < hidden["position"]
        assert target["payload"]["text"] in section["prose"]

    def test_something_was_removed(self, long: Sample) -> None:
        assert [each for event in long.events for each in event["payload"].get("redactions", [])]

    def test_the_readme_names_every_round(self, long: Sample) -> None:
        readme = (long.path / "README.md").read_text(encoding="utf-8")
        for event in long.of_type("unit.closed"):
            assert f"to {event['seq']} | {event['payload']['unit'].split(': ')[1]} |" in readme
