"""A copy beside the file on the disk now: every state, the filter, and what must not make anybody wait."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.workspace.evidence_cases import digest, observe
from workbench.workspace import Workspace
from workbench.workspace.evidence_disk import OnDisk, on_disk
from workbench.workspace.evidence_item import evidence_item

TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8"


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    root = tmp_path / "w"
    with Workspace.create(root, title="Evidence", timezone="UTC", owner="ada") as made:
        yield made


@pytest.fixture
def files(tmp_path: Path) -> Path:
    folder = tmp_path / "files"
    folder.mkdir()
    return folder


def looked(workspace: Workspace, folder: Path, name: str, *, follow: bool = False) -> OnDisk:
    """Record a file as it is, unless it was recorded, and look at it."""
    item = evidence_item(workspace.evidence, workspace.readers.evidence, path=name)
    if item.row is None:
        observe(workspace, folder, name)
        item = evidence_item(workspace.evidence, workspace.readers.evidence, path=name)
    return on_disk(name, item.copy, workspace.log.redactor, base=folder, follow=follow)


def test_the_same_file_is_the_same_though_a_secret_was_taken_out(workspace: Workspace, files: Path) -> None:
    (files / "a.md").write_text(f"one\ntoken: {TOKEN}\n")
    found = looked(workspace, files, "a.md")
    assert (found.state, found.removed, found.assumed) == ("same", {"github_token": 1}, str(files))
    assert found.place == str(files / "a.md")


def test_a_changed_file_differs_and_its_secrets_are_not_shown(workspace: Workspace, files: Path) -> None:
    (files / "a.md").write_text("one\ntwo\nthree\n")
    looked(workspace, files, "a.md")
    (files / "a.md").write_text(f"one\ntoken: {TOKEN}\nthree\n")
    found = looked(workspace, files, "a.md")
    assert (found.state, found.text_only) == ("differs", False)
    said = [f"{sign}{text}" for hunk in found.hunks for sign, text in hunk.lines]
    assert said == [" one", "-two", "+token: [REDACTED:github_token]", " three"]
    assert TOKEN not in repr(found)


def test_other_ends_of_lines_alone_are_said(workspace: Workspace, files: Path) -> None:
    (files / "a.md").write_bytes(b"one\ntwo\n")
    looked(workspace, files, "a.md")
    (files / "a.md").write_bytes(b"one\r\ntwo\r\n")
    assert looked(workspace, files, "a.md")[:1] == ("differs",)
    assert looked(workspace, files, "a.md").text_only


def test_what_is_no_text_is_other_bytes(workspace: Workspace, files: Path) -> None:
    (files / "a.md").write_bytes(b"one\n")
    looked(workspace, files, "a.md")
    (files / "a.md").write_bytes(bytes(range(256)) * 8)
    assert looked(workspace, files, "a.md").state == "other_bytes"


def test_a_file_that_is_gone(workspace: Workspace, files: Path) -> None:
    (files / "a.md").write_text("one")
    looked(workspace, files, "a.md")
    (files / "a.md").unlink()
    assert looked(workspace, files, "a.md").state == "gone"


def test_a_file_that_came_where_none_was(workspace: Workspace, files: Path) -> None:
    assert looked(workspace, files, "late.md").state == "gone"
    (files / "late.md").write_text("now")
    assert looked(workspace, files, "late.md")[:1] == ("found",)


@pytest.mark.parametrize("what", ["fifo", "socket", "folder", "device"])
def test_what_is_no_file_is_not_opened(workspace: Workspace, files: Path, what: str) -> None:
    place = files / "a.md"
    place.write_text("one")
    looked(workspace, files, "a.md")
    place.unlink()
    with socket.socket(socket.AF_UNIX) as listening:
        if what == "fifo":
            os.mkfifo(place)
        elif what == "socket":
            listening.bind(os.path.relpath(place))
        elif what == "folder":
            place.mkdir()
        else:
            place.symlink_to("/dev/zero")
        found = looked(workspace, files, "a.md", follow=what == "device")
    assert found.state == "not_a_file"


def test_a_link_is_followed_only_where_it_is_wanted(workspace: Workspace, files: Path) -> None:
    (files / "a.md").write_text("one")
    looked(workspace, files, "a.md")
    (files / "a.md").rename(files / "b.md")
    (files / "a.md").symlink_to("b.md")
    assert looked(workspace, files, "a.md").state == "link"
    assert looked(workspace, files, "a.md", follow=True).state == "same"


def test_a_file_that_may_not_be_read(workspace: Workspace, files: Path) -> None:
    (files / "a.md").write_text("one")
    looked(workspace, files, "a.md")
    if os.geteuid():
        (files / "a.md").chmod(0)
    else:
        # Nothing is closed to root: a folder on the way that loops is as good.
        (files / "a.md").unlink()
        (files / "a.md").symlink_to("a.md")
        assert looked(workspace, files, "a.md", follow=True).state in ("unreadable", "link")
        return
    assert looked(workspace, files, "a.md").state == "unreadable"


@pytest.mark.parametrize(
    "path", ["x\0y", "a/\ud800", "~nobody-here/x", "", "x" * 5000, "[REDACTED:github_token].md"]
)
def test_a_path_that_is_none_is_no_failure(workspace: Workspace, files: Path, path: str) -> None:
    found = on_disk(path, None, workspace.log.redactor, base=files)
    assert found.state in ("gone", "redacted", "not_a_file")


def test_a_text_in_another_encoding_is_compared_as_text(workspace: Workspace, files: Path) -> None:
    (files / "a.md").write_bytes("née\nzwei\n".encode("utf-16"))
    looked(workspace, files, "a.md")
    (files / "a.md").write_bytes("née\ndrei\n".encode("utf-16"))
    found = looked(workspace, files, "a.md")
    assert [f"{sign}{text}" for hunk in found.hunks for sign, text in hunk.lines] == [
        " née",
        "-zwei",
        "+drei",
    ]


# -- looking one up --------------------------------------------------------------------------


def test_of_several_records_the_one_that_is_meant_is_shown(workspace: Workspace, files: Path) -> None:
    for name in ("a.md", "b.md"):
        (files / name).write_text("the same")
    kept = digest(observe(workspace, files, "a.md", "none.md"))
    observe(workspace, files, "b.md")
    reader, store = workspace.readers.evidence, workspace.evidence
    newest = evidence_item(store, reader, sha256=kept)
    assert newest.row is not None and newest.row.path == "b.md"
    assert [row.path for row in newest.records] == ["b.md", "a.md"] and not newest.more
    first = evidence_item(store, reader, sha256=kept, path="a.md")
    assert first.row is not None and [row.path for row in first.beside] == ["a.md", "none.md"]
    by_event = evidence_item(store, reader, position=first.row.position)
    assert by_event.row == first.row and by_event.state == "archived"
    other = evidence_item(store, reader, position=first.row.position, ordinal=1)
    assert other.row is not None and (other.row.path, other.state, other.copy) == ("none.md", "missing", None)
    assert evidence_item(store, reader, path="nothing").state == "unknown"
    assert evidence_item(store, reader, position=10**9).state == "unknown"


def test_a_copy_whose_file_is_gone_is_lost(workspace: Workspace, files: Path) -> None:
    (files / "a.md").write_text("one")
    kept = digest(observe(workspace, files, "a.md"))
    workspace.evidence.path(kept).unlink()
    assert evidence_item(workspace.evidence, workspace.readers.evidence, path="a.md").state == "lost"
