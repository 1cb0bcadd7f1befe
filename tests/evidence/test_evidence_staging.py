"""Staging: what becomes of each path an agent may name, and that nothing is left of what was refused."""

from __future__ import annotations

import hashlib
import os
import socket
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.evidence.staging_cases import TOKEN, below, open_files, stager
from workbench.evidence import EvidenceError, EvidenceItem, EvidencePolicy, EvidenceStore, Stager
from workbench.evidence.staging import Source, Target
from workbench.log.ports import PassThrough


def one(folder: Path, path: str, policy: EvidencePolicy | None = None) -> EvidenceItem:
    """What becomes of one path; nothing is kept of it, or left open."""
    before = open_files()
    with stager(folder, policy).stage([path]) as staging:
        [item] = staging.evidence
    assert below(folder / "artifacts") == []
    assert open_files() == before
    return item


def digest_of(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


# -- the case of the contract ----------------------------------------------------------------


def test_each_source_file_has_its_status(tmp_path: Path) -> None:
    """Case F25."""
    (tmp_path / "notes.txt").write_bytes(b"plain words")
    (tmp_path / "keys.md").write_text(f"token: {TOKEN}\n")
    (tmp_path / "image.bin").write_bytes(b"\0\1")
    (tmp_path / "link.txt").symlink_to(tmp_path / "notes.txt")
    paths = ["notes.txt", "keys.md", "image.bin", "link.txt", "absent.txt"]
    with stager(tmp_path).stage(paths) as staging:
        found = {item.path: item for item in staging.evidence}
        staging.keep()
    assert [found[path].status for path in paths] == [
        "archived",
        "archived",
        "pointer_only",
        "pointer_only",
        "missing",
    ]
    store = EvidenceStore(tmp_path / "artifacts")
    assert found["notes.txt"] == EvidenceItem("notes.txt", "archived", digest_of(b"plain words"), 11)
    assert store.get(digest_of(b"plain words")) == b"plain words"
    keyed = found["keys.md"]
    assert keyed.sha256 is not None
    assert keyed.removed == {"github_token": 1}
    assert keyed.size == (tmp_path / "keys.md").stat().st_size
    assert store.get(keyed.sha256) == b"token: [REDACTED:github_token]\n"
    assert found["image.bin"] == EvidenceItem(
        "image.bin", "pointer_only", size=2, reason="extension_not_allowed"
    )
    assert found["link.txt"] == EvidenceItem("link.txt", "pointer_only", reason="symlink_rejected")
    assert found["absent.txt"] == EvidenceItem("absent.txt", "missing")


def test_copies_are_private_and_nothing_else_is_left(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("one")
    with stager(tmp_path).stage(["a.md"]) as staging:
        [copy] = [path for path in (tmp_path / "artifacts").rglob("*") if path.is_file()]
        assert copy.relative_to(tmp_path).parts[:2] == ("artifacts", ".staging")
        assert stat.S_IMODE(copy.stat().st_mode) == 0o600
        assert stat.S_IMODE(copy.parent.stat().st_mode) == 0o700
        staging.keep()
        staging.keep()
    digest = digest_of(b"one")
    assert below(tmp_path / "artifacts") == [
        digest[:2],
        f"{digest[:2]}/{digest[2:4]}",
        f"{digest[:2]}/{digest[2:4]}/{digest}",
    ]
    kept = EvidenceStore(tmp_path / "artifacts").path(digest)
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert stat.S_IMODE(kept.parent.stat().st_mode) == 0o700


def test_what_was_kept_outlives_a_refusal(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("one")
    (tmp_path / "b.md").write_text("two")
    with stager(tmp_path).stage(["a.md"]) as first:
        first.keep()
    with pytest.raises(KeyError), stager(tmp_path).stage(["a.md", "b.md"]):
        raise KeyError("refused")
    store = EvidenceStore(tmp_path / "artifacts")
    assert store.get(digest_of(b"one")) == b"one"
    assert not store.path(digest_of(b"two")).exists()
    assert not (tmp_path / "artifacts" / ".staging").exists()


# -- paths -----------------------------------------------------------------------------------


def test_a_path_given_twice_is_taken_once(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("one")
    paths = ["a.md", "./a.md", str(tmp_path / "a.md"), "a.md"]
    with stager(tmp_path).stage(paths) as staging:
        assert [item.path for item in staging.evidence] == ["a.md"]


def test_home_is_expanded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "a.md").write_text("one")
    assert one(tmp_path, "~/a.md").status == "archived"
    assert one(tmp_path, "~no-such-user-here/a.md").status == "missing"


def test_without_a_base_paths_are_those_of_the_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.md").write_text("one")
    with Stager(EvidenceStore(tmp_path / "artifacts"), EvidencePolicy(), PassThrough()).stage(
        ["a.md"]
    ) as staging:
        assert staging.evidence[0].status == "archived"


def test_a_path_may_go_up(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "a.md").write_text("one")
    assert one(tmp_path, "in/../a.md").status == "archived"
    assert one(tmp_path, "../" * 40 + "no/such.md").status == "missing"


def test_a_secret_in_a_path_is_not_told(tmp_path: Path) -> None:
    (tmp_path / f"{TOKEN}.md").write_text("one")
    item = one(tmp_path, f"{TOKEN}.md")
    assert item.path == "[REDACTED:github_token].md"
    assert item.status == "archived"
    assert item.removed is None


@pytest.mark.parametrize(
    ("path", "status", "reason"),
    [
        ("a\0b.md", "skipped", "invalid_path"),
        ("\ud800.md", "skipped", "invalid_path"),
        ("\udcff.md", "missing", None),
        ("x" * 4000 + ".md", "missing", None),
        ("x/" * 3000 + "a.md", "missing", None),
        ("", "skipped", "not_a_file"),
        ("/", "skipped", "not_a_file"),
        ("/dev/zero", "skipped", "not_a_file"),
        ("/dev/null", "skipped", "not_a_file"),
        ("~", "skipped", "not_a_file"),
    ],
)
def test_odd_names_have_a_status(tmp_path: Path, path: str, status: str, reason: str | None) -> None:
    item = one(tmp_path, path)
    assert (item.status, item.reason) == (status, reason)
    item.path.encode()


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(paths=st.lists(st.text(st.characters(codec=None), max_size=30), max_size=5))
def test_any_path_has_a_status(tmp_path: Path, paths: list[str]) -> None:
    with stager(tmp_path).stage([f"no/{path}" for path in paths]) as staging:
        for item in staging.evidence:
            assert item.status in ("archived", "pointer_only", "missing", "skipped")
            item.path.encode()


# -- what stands there -----------------------------------------------------------------------


def test_what_is_no_file_is_skipped(tmp_path: Path) -> None:
    (tmp_path / "folder.md").mkdir()
    os.mkfifo(tmp_path / "pipe.md")
    with tempfile.TemporaryDirectory(prefix="s") as short, socket.socket(socket.AF_UNIX) as bound:
        bound.bind(f"{short}/s.md")
        for path in ("folder.md", "pipe.md", f"{short}/s.md"):
            item = one(tmp_path, path)
            assert (item.status, item.reason, item.sha256) == ("skipped", "not_a_file", None)


def test_links_are_pointed_at(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("one")
    (tmp_path / "out.md").symlink_to("/etc/hostname")
    (tmp_path / "circle.md").symlink_to("circle.md")
    (tmp_path / "nowhere.md").symlink_to("nothing")
    for path in ("out.md", "circle.md", "nowhere.md"):
        item = one(tmp_path, path)
        assert (item.status, item.reason) == ("pointer_only", "symlink_rejected")
    (tmp_path / "way").symlink_to(tmp_path)
    assert one(tmp_path, "way/a.md").status == "archived"
    assert one(tmp_path, "circle.md/a.md").status in ("pointer_only", "skipped")


def test_links_are_followed_where_the_manifest_says_so(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("one")
    (tmp_path / "in.md").symlink_to("a.md")
    (tmp_path / "nowhere.md").symlink_to("nothing")
    policy = EvidencePolicy(follow_symlinks=True)
    assert one(tmp_path, "in.md", policy).sha256 == digest_of(b"one")
    assert one(tmp_path, "nowhere.md", policy).status == "missing"


def test_a_file_that_becomes_a_link_is_not_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is looked at, and something else stands there when it is opened."""
    (tmp_path / "a.md").write_text("one")
    (tmp_path / "secret.md").write_text("not for you")
    opened = os.open

    def swapping(path: str, *rest: int, **more: int) -> int:
        if str(path).endswith("a.md") and not (tmp_path / "a.md").is_symlink():
            (tmp_path / "a.md").unlink()
            (tmp_path / "a.md").symlink_to("secret.md")
        return opened(path, *rest, **more)

    with monkeypatch.context() as patched:
        patched.setattr(os, "open", swapping)
        item = one(tmp_path, "a.md")
    assert (item.status, item.reason) == ("pointer_only", "symlink_rejected")


def test_a_file_that_becomes_a_pipe_does_not_hold_anybody_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.md").write_text("one")
    opened = os.open

    def swapping(path: str, *rest: int, **more: int) -> int:
        if str(path).endswith("a.md"):
            (tmp_path / "a.md").unlink()
            os.mkfifo(tmp_path / "a.md")
        return opened(path, *rest, **more)

    with monkeypatch.context() as patched:
        patched.setattr(os, "open", swapping)
        item = one(tmp_path, "a.md")
    assert (item.status, item.reason) == ("skipped", "not_a_file")


def test_a_file_of_ten_gigabytes_is_not_read(tmp_path: Path) -> None:
    with (tmp_path / "huge.txt").open("wb") as file:
        file.truncate(10 << 30)
    item = one(tmp_path, "huge.txt")
    assert item == EvidenceItem("huge.txt", "pointer_only", size=10 << 30, reason="size_limit_exceeded")


@pytest.mark.parametrize("size", [0, 99, 100])
def test_up_to_the_limit_a_file_is_copied(tmp_path: Path, size: int) -> None:
    (tmp_path / "a.md").write_bytes(b"x" * size)
    item = one(tmp_path, "a.md", EvidencePolicy(max_copy_bytes=100))
    assert (item.status, item.size, item.sha256) == ("archived", size, digest_of(b"x" * size))


def test_beyond_the_limit_a_file_is_pointed_at(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_bytes(b"x" * 101)
    item = one(tmp_path, "a.md", EvidencePolicy(max_copy_bytes=100))
    assert (item.status, item.size, item.reason) == ("pointer_only", 101, "size_limit_exceeded")


def test_without_pointers_such_files_are_skipped(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_bytes(b"x" * 101)
    (tmp_path / "b.md").symlink_to("a.md")
    (tmp_path / "c.bin").touch()
    policy = EvidencePolicy(max_copy_bytes=100, pointer_only_enabled=False)
    for path, reason in (
        ("a.md", "size_limit_exceeded"),
        ("b.md", "symlink_rejected"),
        ("c.bin", "extension_not_allowed"),
    ):
        item = one(tmp_path, path, policy)
        assert (item.status, item.reason) == ("skipped", reason)


def test_a_file_that_grows_while_it_is_read_is_pointed_at(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_bytes(b"x" * 90)

    def growing(source: Source, target: Target) -> dict[str, int]:
        with path.open("ab") as file:
            file.write(b"y" * 20)
        while data := source.read(64):
            target.write(data)
        return {}

    store = EvidenceStore(tmp_path / "artifacts")
    policy = EvidencePolicy(max_copy_bytes=100)
    with Stager(store, policy, PassThrough(), growing, base=tmp_path).stage(["a.md"]) as staging:
        [item] = staging.evidence
        staging.keep()
    assert (item.status, item.reason) == ("pointer_only", "size_limit_exceeded")
    assert below(tmp_path / "artifacts") == []


def test_a_file_that_vanishes_while_it_is_read_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_bytes(b"one")

    def vanishing(source: Source, target: Target) -> dict[str, int]:
        path.unlink()
        target.write(source.read(100))
        return {}

    store = EvidenceStore(tmp_path / "artifacts")
    with Stager(store, EvidencePolicy(), PassThrough(), vanishing, base=tmp_path).stage(["a.md"]) as staging:
        assert staging.evidence[0].sha256 == digest_of(b"one")


@pytest.mark.skipif(not Path("/proc/self/mem").exists(), reason="needs Linux's /proc")
def test_files_of_the_system_have_a_status() -> None:
    """Files without a size: some fail when they are read, some have no end."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        policy = EvidencePolicy(allowed_extensions=frozenset({""}), max_copy_bytes=100_000)
        found = [
            one(folder, path, policy)
            for path in ("/proc/self/mem", "/proc/self/status", "/proc/self/pagemap", "/proc/kmsg")
        ]
    assert found[1].status == "archived"
    assert {item.status for item in found} <= {"archived", "skipped", "pointer_only", "missing"}
    assert (found[0].status, found[0].reason) == ("skipped", "unreadable")


UNPRIVILEGED = """
import os, sys
from pathlib import Path
from workbench.redaction import default_filter
from tests.evidence.staging_cases import stager
default_filter().redact_text("password=hunter2hunter2")
folder = Path(sys.argv[1])
if os.geteuid() == 0:
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)
with stager(folder).stage(["closed.md", "closed/a.md", "open.md", "closed/../open.md"]) as staging:
    for item in staging.evidence:
        print(item.status, item.reason)
"""


def test_what_may_not_be_read_is_skipped() -> None:
    # The folder of pytest is closed to other users.
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o777)
        (folder / "open.md").write_text("one")
        (folder / "open.md").chmod(0o644)
        (folder / "closed.md").write_text("two")
        (folder / "closed").mkdir()
        (folder / "closed.md").chmod(0)
        (folder / "closed").chmod(0)
        try:
            ran = subprocess.run(
                [sys.executable, "-c", UNPRIVILEGED, name],
                capture_output=True,
                text=True,
                env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
                check=False,
                timeout=60,
            )
        finally:
            (folder / "closed").chmod(0o700)
    assert ran.stderr == ""
    assert ran.stdout.splitlines() == [
        "skipped unreadable",
        "skipped unreadable",
        "archived None",
        "skipped unreadable",
    ]


# -- what is in it ---------------------------------------------------------------------------


def kept(folder: Path, data: bytes) -> bytes:
    """What is kept of a file with these bytes."""
    (folder / "a.txt").write_bytes(data)
    with stager(folder).stage(["a.txt"]) as staging:
        [item] = staging.evidence
        staging.keep()
    assert item.sha256 is not None
    assert item.size == len(data)
    return EvidenceStore(folder / "artifacts").get(item.sha256)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\xef\xbb\xbfwords\r\nmore\r",
        "żółć 😀".encode(),
        b"\0\1\2\xff\xfe",
        b"\xff\xfea\0b\0",
        b"no end",
    ],
)
def test_bytes_without_secrets_are_kept_as_they_are(tmp_path: Path, data: bytes) -> None:
    assert kept(tmp_path, data) == data


def test_binaries_are_kept_byte_for_byte(tmp_path: Path) -> None:
    data = b"\x89PNG\0\xff" + b"plain words" + b"\0\xfe"
    assert kept(tmp_path, data) == data


@pytest.mark.parametrize("token", [TOKEN.encode(), TOKEN.encode("utf-16-le"), TOKEN.encode("utf-16-be")])
@pytest.mark.parametrize("name", ["a.txt", "a.png"])
def test_binaries_that_hold_a_secret_are_pointed_at(tmp_path: Path, token: bytes, name: str) -> None:
    data = b"\x89PNG\0\xff\x01" + token + b"\0\xfe"
    (tmp_path / name).write_bytes(data)
    policy = EvidencePolicy(frozenset({"txt", "png"}))
    with stager(tmp_path, policy).stage([name]) as staging:
        staging.keep()
        [item] = staging.evidence
    assert item == (name, "pointer_only", None, len(data), "binary_with_secrets", None)
    assert below(tmp_path / "artifacts") == []
    with stager(tmp_path, policy._replace(pointer_only_enabled=False)).stage([name]) as staging:
        assert (staging.evidence[0].status, staging.evidence[0].reason) == ("skipped", "binary_with_secrets")


def test_text_that_begins_with_zero_bytes_is_filtered(tmp_path: Path) -> None:
    found = kept(tmp_path, b"\0 token: " + TOKEN.encode() + b"\n")
    assert found == b"\0 token: [REDACTED:github_token]\n"


def test_text_with_a_few_bytes_that_are_none_is_filtered(tmp_path: Path) -> None:
    found = kept(tmp_path, b"caf\xe9 " + TOKEN.encode() + b"\n")
    assert found == b"caf\xe9 [REDACTED:github_token]\n"


@pytest.mark.parametrize("stray", [b"\xff\xfe", b"\xff\xfe\0", b"\xfe\xff\x01", b"\xff\xfe\xff"])
def test_stray_bytes_that_look_like_the_mark_of_an_encoding_hide_nothing(
    tmp_path: Path, stray: bytes
) -> None:
    found = kept(tmp_path, stray + b" log of the build\nTOKEN=" + TOKEN.encode() + b"\nend\n")
    assert found == stray + b" log of the build\nTOKEN=[REDACTED:github_token]\nend\n"


def test_without_a_stream_the_redactor_filters_the_whole(tmp_path: Path) -> None:
    from workbench.redaction import default_filter

    (tmp_path / "a.md").write_text(f"token: {TOKEN}\n")
    store = EvidenceStore(tmp_path / "artifacts")
    with Stager(store, EvidencePolicy(), default_filter(), base=tmp_path).stage(["a.md"]) as staging:
        staging.keep()
        [item] = staging.evidence
    assert item.sha256 is not None
    assert store.get(item.sha256) == b"token: [REDACTED:github_token]\n"


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(data=st.binary(max_size=2000))
def test_any_bytes_are_kept(tmp_path: Path, data: bytes) -> None:
    found = kept(tmp_path, data)
    assert found == data or b"[REDACTED:" in found


LARGE = """
import resource, sys
from pathlib import Path
from workbench.redaction import default_filter
from tests.evidence.staging_cases import stager
folder = Path(sys.argv[1])
default_filter().redact_text("password=hunter2hunter2")
with stager(folder).stage(["small.txt"]) as staging:
    pass
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
with stager(folder).stage(["large.txt"]) as staging:
    print(staging.evidence[0].status, staging.evidence[0].removed)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="memory is counted in other units there")
def test_a_large_text_takes_little_memory(tmp_path: Path) -> None:
    line = b"2031-05-04 03:02:01 the worker said that all is well with the queue\n"
    (tmp_path / "small.txt").write_bytes(line * 16_000)
    (tmp_path / "large.txt").write_bytes(line * 360_000 + f"token: {TOKEN}\n".encode())
    assert (tmp_path / "large.txt").stat().st_size > 24_000_000
    ran = subprocess.run(
        [sys.executable, "-c", LARGE, str(tmp_path)],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
        check=False,
        timeout=120,
    )
    assert ran.stderr == ""
    said, grown = ran.stdout.splitlines()
    assert said == "archived {'github_token': 1}"
    assert int(grown) < 12_000


# -- where it is kept ------------------------------------------------------------------------


def test_a_place_that_is_no_folder_is_told(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("one")
    (tmp_path / "artifacts").write_text("in the way")
    with pytest.raises(EvidenceError, match="cannot be kept"):
        stager(tmp_path).stage(["a.md"])
    assert (tmp_path / "artifacts").read_text() == "in the way"


def test_a_place_that_is_taken_is_told(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("one")
    target = EvidenceStore(tmp_path / "artifacts").path(digest_of(b"one"))
    target.mkdir(parents=True)
    with pytest.raises(EvidenceError, match="cannot be kept"), stager(tmp_path).stage(["a.md"]) as staging:
        staging.keep()
    assert not (tmp_path / "artifacts" / ".staging").exists()


def test_damaged_bytes_are_made_whole_again(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("one")
    store = EvidenceStore(tmp_path / "artifacts")
    store.path(store.put(b"one")).write_bytes(b"two")
    with stager(tmp_path).stage(["a.md"]) as staging:
        staging.keep()
    assert store.get(digest_of(b"one")) == b"one"


# -- the policy ------------------------------------------------------------------------------


def test_extensions_are_folded(tmp_path: Path) -> None:
    policy = EvidencePolicy.of([" .MD", "Txt", "", "."], max_copy_size_mb=0.5, pointer_only_enabled=False)
    assert policy == EvidencePolicy(frozenset({"md", "txt"}), 500_000, False, False)
    assert policy.allows("/x/y.Md")
    assert policy.allows("a.b.TXT")
    assert not policy.allows("/x.md/y")
    assert not policy.allows("/x/.md")


def test_what_the_manifest_leaves_out_is_the_default() -> None:
    assert EvidencePolicy.of() == EvidencePolicy()
    assert EvidencePolicy().max_copy_bytes == 25_000_000
    assert len(EvidencePolicy().allowed_extensions) == 19


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be", "utf-16-le", "utf-32", "utf-32-be"])
def test_text_of_another_encoding_is_filtered_in_it(tmp_path: Path, encoding: str) -> None:
    mark = "" if encoding in ("utf-16", "utf-32") else "\ufeff"
    data = f"{mark}żółć\r\ntoken: {TOKEN}\r\n".encode(encoding)
    assert kept(tmp_path, data) == f"{mark}żółć\r\ntoken: [REDACTED:github_token]\r\n".encode(encoding)


def test_text_with_a_zero_byte_and_others_that_are_none_is_filtered(tmp_path: Path) -> None:
    found = kept(tmp_path, b"build\xff log \0 " + TOKEN.encode() + b"\n")
    assert found == b"build\xff log \0 [REDACTED:github_token]\n"
