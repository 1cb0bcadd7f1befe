"""Source files of an observation (contract memory, "Order of work"; case F25)."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from tests.memory.written_cases import FACT, FILTER, TOKEN, Kept, fresh
from workbench.evidence import EvidenceError, EvidenceItem, EvidencePolicy, EvidenceStore, Stager, Staging
from workbench.identity.registry import EMPTY
from workbench.memory.errors import StaleFact
from workbench.memory.memory import Memory
from workbench.storage import fetch


@pytest.fixture
def kept(tmp_path: Path) -> Iterator[Kept]:
    memory = fresh(tmp_path)
    yield memory
    memory.log.close()


def test_what_becomes_of_each_kind_of_file(kept: Kept) -> None:
    folder = kept.folder
    (folder / "a.txt").write_text("plain")
    (folder / "b.md").write_text(f"a token: {TOKEN}\n")
    (folder / "c.bin").write_bytes(b"\0\1\2")
    (folder / "d.txt").symlink_to("a.txt")
    receipt = kept.record_event("x", source_files=["a.txt", "b.md", "c.bin", "d.txt", "absent.txt"])
    answer = receipt.to_dict()
    assert [each["status"] for each in answer["evidence"]] == [
        "archived",
        "archived",
        "pointer_only",
        "pointer_only",
        "missing",
    ]
    assert answer["evidence"][1]["redactions"] == {"github_token": 1}
    assert answer["artifacts_written"] == 2
    assert answer["source_files"] == ["a.txt", "b.md", "c.bin", "d.txt", "absent.txt"]
    stored = kept.last().payload["evidence"]
    assert [each["path"] for each in stored] == answer["source_files"]
    for each in stored[:2]:
        copy = kept.artifacts / each["sha256"][:2] / each["sha256"][2:4] / each["sha256"]
        assert TOKEN not in copy.read_text()
    with kept.log.reader() as connection:
        links = fetch.rows(connection, "SELECT path, status, sha256 FROM evidence_links ORDER BY ordinal")
    assert links == [(each["path"], each["status"], each.get("sha256")) for each in stored]


def test_two_files_of_one_content_are_one_artifact(kept: Kept) -> None:
    (kept.folder / "a.txt").write_text("same")
    (kept.folder / "b.txt").write_text("same")
    receipt = kept.record_event("x", source_files=["a.txt", "b.txt"])
    assert receipt.artifacts_written == 1
    assert len({each.sha256 for each in receipt.evidence}) == 1


def test_a_path_that_holds_a_secret_is_read_and_stored_without_it(kept: Kept) -> None:
    (kept.folder / f"{TOKEN}.txt").write_text("plain")
    receipt = kept.record_event("x", source_files=[f"{TOKEN}.txt"])
    assert receipt.evidence[0].status == "archived"
    assert TOKEN not in str(kept.last().payload)
    assert TOKEN not in str(receipt.to_dict())


def test_a_name_that_is_no_text_is_spelled_out(kept: Kept) -> None:
    name = os.fsdecode(b"odd-\xff.txt")
    (kept.folder / name).write_text("plain")
    receipt = kept.record_event("x", source_files=[name])
    assert receipt.evidence[0].status == "archived"
    assert receipt.source_files == ("odd-\\xff.txt",)


def test_without_an_archive_files_are_noted_only(kept: Kept) -> None:
    receipt = Memory(kept.log, lambda: EMPTY, clock=kept.ticks).record_event("x", source_files=["a.txt"])
    assert [(each.path, each.status) for each in receipt.evidence] == [("a.txt", "skipped")]
    assert receipt.artifacts_written == 0


class Watched:
    """The real staging, which also tells in which order it is used."""

    def __init__(self, kept: Kept, told: list[str]) -> None:
        self._kept = kept
        self._told = told
        self._stager = Stager(EvidenceStore(kept.artifacts), EvidencePolicy(), FILTER, base=kept.folder)
        self._staging: Staging | None = None

    def stage(self, paths: Sequence[str]) -> Watched:
        self._tell("stage")
        self._staging = self._stager.stage(paths)
        return self

    @property
    def evidence(self) -> Sequence[EvidenceItem]:
        assert self._staging is not None
        return self._staging.evidence

    def keep(self) -> None:
        self._tell("keep")
        assert self._staging is not None
        self._staging.keep()

    def discard(self) -> None:
        self._tell("discard")
        assert self._staging is not None
        self._staging.discard()

    def _tell(self, what: str) -> None:
        log = self._kept.log
        self._told.append(f"{what} at {log.last_position()}{' in the transaction' * log.in_transaction}")


def test_evidence_is_staged_outside_the_lock_and_kept_just_before_the_append(kept: Kept) -> None:
    (kept.folder / "a.txt").write_text("plain")
    told: list[str] = []
    watched = Watched(kept, told)
    memory = Memory(kept.log, lambda: EMPTY, staging=lambda: watched, clock=kept.ticks)
    memory.record_event("x", source_files=["a.txt"], fact=FACT)
    assert told == ["stage at 0", "keep at 0 in the transaction", "discard at 2"]
    told.clear()
    with pytest.raises(StaleFact):
        memory.record_event("x", source_files=["a.txt"], fact={**FACT, "value": "mysql"})
    assert told == ["stage at 2", "discard at 2"]


def test_an_archive_that_cannot_be_written_stores_nothing(kept: Kept) -> None:
    (kept.folder / "a.txt").write_text("plain")
    kept.artifacts.write_text("no folder")
    with pytest.raises(EvidenceError):
        kept.record_event("x", source_files=["a.txt"])
    assert kept.log.last_position() == 0
    assert kept.artifacts.read_text() == "no folder"


def _listed(kept: Kept) -> list[tuple[str, str, int]]:
    return [
        (each["field"], each["kind"], each["count"])
        for event in kept.events()
        for each in event.payload.get("redactions", [])
    ]


def test_what_was_taken_out_of_copies_is_listed_once_and_not_counted_as_the_callers(kept: Kept) -> None:
    (kept.folder / "a.txt").write_text("plain")
    (kept.folder / "b.md").write_text(f"one {TOKEN}, and again {TOKEN}\n")
    receipt = kept.record_event(f"said {TOKEN}", source_files=["a.txt", "b.md"])
    assert _listed(kept) == [("text", "github_token", 1), ("evidence.1", "github_token", 2)]
    assert receipt.redactions == {"github_token": 1}
    assert receipt.evidence[1].removed == {"github_token": 2}
    versions = {each["filter_version"] for each in kept.last().payload["redactions"]}
    assert versions == {FILTER.version}


def test_a_call_made_twice_lists_its_copies_secrets_once(kept: Kept) -> None:
    (kept.folder / "b.md").write_text(f"{TOKEN}\n")
    first = kept.record_event("x", source_files=["b.md"], request_id="r")
    again = kept.record_event("x", source_files=["b.md"], request_id="r")
    assert again.observation_id == first.observation_id
    assert again.redactions == first.redactions == {}
    assert _listed(kept) == [("evidence.0", "github_token", 1)]
