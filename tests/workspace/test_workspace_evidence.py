"""The list of evidence, finding an artifact, and purging one."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.workspace.evidence_cases import digest, observe
from workbench.evidence import EvidencePolicy, Stager
from workbench.evidence.events import ArtifactPurged
from workbench.log.errors import SecretInIdentifier
from workbench.memory.errors import RequestConflict
from workbench.memory.memory import Memory
from workbench.storage import fetch
from workbench.storage.errors import DatabaseReadOnly
from workbench.workspace import Workspace
from workbench.workspace.artifact_state import artifact
from workbench.workspace.evidence import EvidenceUnknown, Purge, PurgeRefused, find_digest, purge, stager
from workbench.workspace.readers.evidence_queries import StatusCount
from workbench.workspace.rows import EvidenceFilter, EvidenceRow
from workbench.workspace.transfer import export_jsonl, import_file

TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8"


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    with Workspace.create(tmp_path / "w", timezone="UTC", owner="ada") as opened:
        yield opened


@pytest.fixture
def files(tmp_path: Path) -> Path:
    folder = tmp_path / "files"
    folder.mkdir()
    (folder / "a.md").write_text("one")
    (folder / "b_100%.md").write_text(f"token: {TOKEN}\n")
    (folder / "c.bin").write_bytes(b"\0")
    return folder


def pages(workspace: Workspace, wanted: EvidenceFilter, limit: int) -> list[list[EvidenceRow]]:
    """The whole list, page by page."""
    found: list[list[EvidenceRow]] = []
    place = None
    while rows := workspace.readers.evidence.page(wanted, limit, after=place):
        found.append(rows)
        place = rows[-1].place
    return found


# -- the list --------------------------------------------------------------------------------


def test_the_list_is_newest_first_in_pages(workspace: Workspace, files: Path) -> None:
    for number in range(3):
        observe(workspace, files, "a.md", "b_100%.md", "c.bin", "none.md", text=f"look {number}")
    whole = workspace.readers.evidence.page(EvidenceFilter(), 100)
    assert [(row.position, row.ordinal) for row in whole] == [
        (position, ordinal) for position in (3, 2, 1) for ordinal in (3, 2, 1, 0)
    ]
    for limit in (1, 2, 5, 12):
        assert [row for page in pages(workspace, EvidenceFilter(), limit) for row in page] == whole
    row = whole[2]
    event = workspace.log.event(3)
    assert event is not None
    assert row.observation_id == str(event.envelope.event_id)
    assert (row.path, row.status, row.reason) == ("b_100%.md", "archived", "")
    assert row.removed == {"github_token": 1}
    assert (row.size, row.agent, row.domain, row.project, row.text) == (
        (files / "b_100%.md").stat().st_size,
        "claude",
        "global",
        "atlas",
        "look 2",
    )
    assert whole[1].reason == "extension_not_allowed"
    assert whole[0].digest == ""


def test_the_list_can_be_narrowed(workspace: Workspace, files: Path) -> None:
    first = observe(workspace, files, "a.md", "b_100%.md", "c.bin", "none.md")
    observe(workspace, files, "a.md", private=True)

    def found(wanted: EvidenceFilter) -> list[tuple[int, str]]:
        return [(row.position, row.path) for row in workspace.readers.evidence.page(wanted, 10)]

    assert found(EvidenceFilter(status="missing")) == [(1, "none.md")]
    assert found(EvidenceFilter(status="archived")) == [(2, "a.md"), (1, "b_100%.md"), (1, "a.md")]
    assert found(EvidenceFilter(path="0%")) == [(1, "b_100%.md")]
    assert found(EvidenceFilter(path="B_1")) == [(1, "b_100%.md")]
    assert found(EvidenceFilter(path="_")) == [(1, "b_100%.md")]
    assert found(EvidenceFilter(digest=digest(first)[:5])) == [(2, "a.md"), (1, "a.md")]
    assert found(EvidenceFilter(digest=digest(first), path="b")) == []
    assert found(EvidenceFilter(digest="zz")) == []
    assert [row.private for row in workspace.readers.evidence.links(digest(first), 10)] == [True, False]


def test_the_counts_are_of_files_and_of_artifacts(workspace: Workspace, files: Path) -> None:
    assert workspace.readers.evidence.counts() == []
    first = observe(workspace, files, "a.md", "b_100%.md", "c.bin", "none.md")
    observe(workspace, files, "a.md")
    assert workspace.readers.evidence.counts() == [
        StatusCount("archived", 3, 2),
        StatusCount("pointer_only", 1, 0),
        StatusCount("missing", 1, 0),
    ]
    purge(workspace.log, workspace.evidence, digest(first), reason="wrong", by="ada")
    assert workspace.readers.evidence.counts() == [
        StatusCount("archived", 1, 1),
        StatusCount("pointer_only", 1, 0),
        StatusCount("missing", 1, 0),
        StatusCount("purged", 2, 1),
    ]


def test_pages_and_links_are_found_by_keys(workspace: Workspace) -> None:
    with workspace.log.reader() as connection:
        plans = [
            fetch.rows(connection, f"EXPLAIN QUERY PLAN {sql}")
            for sql in (
                "SELECT * FROM evidence_links l WHERE (l.position, l.ordinal) < (5, 0) "
                "ORDER BY position DESC, ordinal DESC LIMIT 5",
                "SELECT DISTINCT sha256 FROM evidence_links WHERE sha256 >= 'a' AND sha256 < 'ag'",
                "SELECT 1 FROM purged_artifacts WHERE sha256 = 'a'",
            )
        ]
    for plan in plans:
        assert all("SEARCH" in step[3] and "TEMP" not in step[3] for step in plan), plan


# -- finding one -----------------------------------------------------------------------------


def test_a_digest_is_found_by_its_beginning(workspace: Workspace, files: Path) -> None:
    kept = digest(observe(workspace, files, "a.md"))
    loose = workspace.evidence.put(b"of a transcript")

    def find(text: str) -> str:
        return find_digest(workspace.log, workspace.evidence, text)

    assert find(kept) == find(kept[:4]) == find(f" {kept[:9].upper()} ") == kept
    assert find(loose[:6]) == loose
    purge(workspace.log, workspace.evidence, kept, reason="wrong", by="ada")
    assert find(kept[:4]) == kept
    for text in ("", "abc", "xyzw", "../..", "0" * 65, "0000\n1", "\ud800aaa", "٠٠٠٠"):
        with pytest.raises(EvidenceUnknown):
            find(text)


def test_of_several_digests_none_is_taken(workspace: Workspace) -> None:
    first = workspace.evidence.path(workspace.evidence.put(b"x"))
    other = first.with_name(first.name[:-1] + ("0" if first.name[-1] != "0" else "1"))
    other.write_bytes(b"y")
    with pytest.raises(EvidenceUnknown, match="several begin with"):
        find_digest(workspace.log, workspace.evidence, first.name[:20])
    assert find_digest(workspace.log, workspace.evidence, first.name) == first.name


def test_what_is_there_of_one_is_told(workspace: Workspace, files: Path) -> None:
    reader = workspace.readers.evidence
    kept = digest(observe(workspace, files, "a.md"))
    found = artifact(workspace.evidence, reader, kept)
    assert (found.status, found.size, found.kind, found.text) == ("archived", 3, "text", "one")
    png = artifact(workspace.evidence, reader, workspace.evidence.put(b"\x89PNG\r\n\x1a\n\0\0"))
    assert (png.status, png.size, png.kind, png.text) == ("archived", 10, "PNG image", None)
    other = artifact(workspace.evidence, reader, workspace.evidence.put(b"\xff\0"))
    assert (other.kind, other.text) == ("binary", None)
    latin = artifact(workspace.evidence, reader, workspace.evidence.put(b"caf\xe9"))
    assert (latin.kind, latin.text, latin.exact) == ("text", "caf\\xe9", False)
    noise = artifact(workspace.evidence, reader, workspace.evidence.put(b"caf\xe9\xe8\xe7\xff"))
    assert (noise.kind, noise.text, noise.head) == ("binary", None, b"caf\xe9\xe8\xe7\xff")
    wide = artifact(workspace.evidence, reader, workspace.evidence.put("née\n".encode("utf-16")))
    assert (wide.kind, wide.text, wide.encoding, wide.exact) == ("text", "née\n", "utf-16-le", True)
    empty = artifact(workspace.evidence, reader, workspace.evidence.put(b""))
    assert (empty.status, empty.size, empty.kind, empty.text) == ("archived", 0, "text", "")
    path = workspace.evidence.path(kept)
    path.write_bytes(b"two")
    assert artifact(workspace.evidence, reader, kept).status == "damaged"
    path.unlink()
    assert artifact(workspace.evidence, reader, kept).status == "missing"
    os.mkfifo(path)
    assert artifact(workspace.evidence, reader, kept).status == "missing"
    path.unlink()
    path.mkdir()
    assert artifact(workspace.evidence, reader, kept).status == "missing"


# -- purging ---------------------------------------------------------------------------------


def test_a_purge_removes_the_bytes_and_leaves_an_event(workspace: Workspace, files: Path) -> None:
    kept = digest(observe(workspace, files, "a.md"))
    done = purge(workspace.log, workspace.evidence, kept, reason="  not ours\n", by="ada")
    assert done == Purge(kept, 2, removed=True, repeated=False)
    assert not workspace.evidence.path(kept).exists()
    event = workspace.log.event(2)
    assert event is not None
    assert (event.stream, event.envelope.type) == ("domain/global", "artifact.purged")
    assert event.payload == {"domain": "global", "sha256": kept, "reason": "not ours", "by": "ada"}
    [row] = workspace.readers.evidence.page(EvidenceFilter(status="purged"), 5)
    assert (row.status, row.digest, row.path) == ("purged", kept, "a.md")
    assert workspace.readers.evidence.page(EvidenceFilter(status="archived"), 5) == []
    found = artifact(workspace.evidence, workspace.readers.evidence, kept)
    assert found.status == "purged"
    assert found.purge is not None
    assert (found.purge.position, found.purge.reason, found.purge.by) == (2, "not ours", "ada")


def test_a_second_purge_says_so(workspace: Workspace, files: Path) -> None:
    kept = digest(observe(workspace, files, "a.md"))
    purge(workspace.log, workspace.evidence, kept, reason="first", by="ada")
    again = purge(workspace.log, workspace.evidence, kept, reason="second", by="ada")
    assert again == Purge(kept, 2, removed=False, repeated=True)
    assert workspace.log.last_position() == 2


def test_the_same_bytes_can_be_kept_again(workspace: Workspace, files: Path) -> None:
    kept = digest(observe(workspace, files, "a.md"))
    purge(workspace.log, workspace.evidence, kept, reason="first", by="ada")
    observe(workspace, files, "a.md")
    assert workspace.evidence.get(kept) == b"one"
    assert [row.status for row in workspace.readers.evidence.links(kept, 5)] == ["archived"] * 2
    assert workspace.readers.evidence.purge(kept) is None
    again = purge(workspace.log, workspace.evidence, kept, reason="again", by="ada")
    assert again == Purge(kept, 4, removed=True, repeated=False)
    assert [row.status for row in workspace.readers.evidence.links(kept, 5)] == ["purged"] * 2


def test_what_is_gone_can_be_purged(workspace: Workspace, files: Path) -> None:
    kept = digest(observe(workspace, files, "a.md"))
    workspace.evidence.path(kept).unlink()
    assert purge(workspace.log, workspace.evidence, kept, reason="gone", by="ada") == Purge(
        kept, 2, removed=False, repeated=False
    )


def test_an_artifact_of_a_session_can_be_purged(workspace: Workspace) -> None:
    kept = workspace.evidence.put(b"a picture")
    assert purge(workspace.log, workspace.evidence, kept, reason="a face", by="ada").removed


def test_a_purge_is_refused(workspace: Workspace, files: Path) -> None:
    kept = digest(observe(workspace, files, "a.md"))
    with pytest.raises(EvidenceUnknown):
        purge(workspace.log, workspace.evidence, "0" * 64, reason="x", by="ada")
    for reason in ("", " \n", "x" * 4001):
        with pytest.raises(PurgeRefused):
            purge(workspace.log, workspace.evidence, kept, reason=reason, by="ada")
    with pytest.raises(SecretInIdentifier):
        purge(workspace.log, workspace.evidence, kept, reason="x", by=f"token={TOKEN}")
    assert workspace.log.last_position() == 1
    assert workspace.evidence.get(kept) == b"one"
    with (
        Workspace.open(workspace.root, read_only=True) as reading,
        pytest.raises(DatabaseReadOnly),
    ):
        purge(reading.log, reading.evidence, kept, reason="x", by="ada")


def test_a_secret_in_the_reason_is_taken_out(workspace: Workspace, files: Path) -> None:
    kept = digest(observe(workspace, files, "a.md"))
    purge(workspace.log, workspace.evidence, kept, reason=f"holds {TOKEN}", by="ada")
    found = workspace.readers.evidence.purge(kept)
    assert found is not None
    assert found.reason == "holds [REDACTED:github_token]"


def test_an_import_that_keeps_the_bytes_again_counts(workspace: Workspace) -> None:
    from tests.workspace.workspace_cases import actum, begin
    from workbench.log.streams import session_stream

    kept = workspace.evidence.put(b"a picture")
    purge(workspace.log, workspace.evidence, kept, reason="a face", by="ada")
    workspace.evidence.put(b"a picture")
    begin(workspace.log, "one")
    workspace.log.append(session_stream("one"), [actum("one", evidence=[kept])])
    again = purge(workspace.log, workspace.evidence, kept, reason="again", by="ada")
    assert again == Purge(kept, 4, removed=True, repeated=False)


@pytest.mark.parametrize("point", ["os.rename", "open", "os.remove"])
def test_a_purge_that_is_killed_is_finished_by_doctor(workspace: Workspace, files: Path, point: str) -> None:
    kept = digest(observe(workspace, files, "a.md"))
    root, log_position = workspace.root, workspace.log.last_position()
    workspace.close()
    pid = os.fork()
    if pid == 0:
        import sys

        with Workspace.open(root) as own:
            armed = [False]

            def audit(name: str, given: tuple[object, ...]) -> None:
                if name == point and armed[0] and "artifacts" in str(given[0]):
                    os.kill(os.getpid(), signal.SIGKILL)

            sys.addaudithook(audit)
            armed[0] = True
            purge(own.log, own.evidence, kept, reason="gone", by="ada")
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == -signal.SIGKILL
    with Workspace.open(root) as again:
        assert again.log.last_position() == log_position + 1
        codes = {finding.code for finding in again.doctor().findings}
        assert codes & {"artifact_purge_unfinished", "staging_leftovers"}
        assert {finding.code for finding in again.doctor(fix=True).findings} == {"artifact_purged"}
        assert [path for path in again.layout.artifacts.rglob("*") if path.is_file()] == []


def test_the_event_names_its_stream() -> None:
    said = ArtifactPurged(domain="work", sha256="0" * 64, reason="x", by="ada")
    assert said.stream.name == "domain/work"
    assert said.stream.kind == "domain"


# -- with the rest of the program ------------------------------------------------------------


def memory(workspace: Workspace, base: Path) -> Memory:
    """What records observations, with source files below a folder."""

    def staging() -> Stager:
        return stager(workspace.log, workspace.evidence, EvidencePolicy(), base)

    return Memory(workspace.log, lambda: workspace.registry, staging=staging)


def test_record_event_keeps_evidence_and_a_refusal_none(workspace: Workspace, files: Path) -> None:
    recording = memory(workspace, files)
    first = recording.record_event("seen", source_files=["a.md", "c.bin", "none.md"], request_id="one")
    assert [item.status for item in first.evidence] == ["archived", "pointer_only", "missing"]
    kept = [path for path in workspace.layout.artifacts.rglob("*") if path.is_file()]
    assert [path.read_text() for path in kept] == ["one"]
    with pytest.raises(RequestConflict):
        recording.record_event("other", source_files=["b_100%.md"], request_id="one")
    assert [path for path in workspace.layout.artifacts.rglob("*") if path.is_file()] == kept
    assert not (workspace.layout.artifacts / ".staging").exists()
    assert workspace.doctor().findings == []


def test_a_purge_travels_with_the_log(workspace: Workspace, files: Path, tmp_path: Path) -> None:
    kept = digest(observe(workspace, files, "a.md"))
    purge(workspace.log, workspace.evidence, kept, reason="not ours", by="ada")
    lines: list[bytes] = []
    export_jsonl(workspace.log, lines.append)
    (tmp_path / "log.jsonl").write_bytes(b"".join(lines))
    with Workspace.create(tmp_path / "copy", timezone="UTC", owner="ada") as copy:
        import_file(copy.log, tmp_path / "log.jsonl")
        again: list[bytes] = []
        export_jsonl(copy.log, again.append)
        assert b"".join(again) == b"".join(lines)
        assert copy.readers.evidence.purge(kept) == workspace.readers.evidence.purge(kept)
        assert [finding.code for finding in copy.doctor().findings] == ["artifact_purged"]
