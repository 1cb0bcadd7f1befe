"""Aliases put into a person's manifest by splices of its text."""

from __future__ import annotations

import errno
import multiprocessing
import os
import signal
import stat
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from workbench.errors import WorkbenchError
from workbench.log.errors import SecretInIdentifier
from workbench.workspace.errors import ConfigurationError, ManifestError, WorkspaceMissing
from workbench.workspace.manifest import read_manifest
from workbench.workspace.manifest_edit import NameClash, NameRefused, add_alias
from workbench.workspace.manifest_writing import ManifestChanged, replace


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "SSOT_MANIFEST.toml"


# What was there, the kind, the new spelling, of which name, and what is there then.
SPLICES = [
    (
        "[[projects]] # the one\n  id = 'atlas' # its id\n  roots = ['/x']\n\n[notes]\n",
        ("project", "Atlas App", "ATLAS"),
        "[[projects]] # the one\n  id = 'atlas' # its id\n  aliases = [\"Atlas App\"]\n  roots = ['/x']\n\n[notes]\n",
    ),
    (
        "[[projects]]\nid = 'a'\naliases = ['b'] # short\n",
        ("project", "c", "b"),
        "[[projects]]\nid = 'a'\naliases = ['b', \"c\"] # short\n",
    ),
    (
        "[[projects]]\nid = 'a'\naliases = ['b', ]",
        ("project", "c", "a"),
        "[[projects]]\nid = 'a'\naliases = ['b', \"c\", ]",
    ),
    (
        "[[projects]]\nid = 'a'\naliases = []\n",
        ("project", "c", "a"),
        "[[projects]]\nid = 'a'\naliases = [\"c\"]\n",
    ),
    (
        "[[projects]]\nid = 'a'\naliases = [ # none yet\n]\n",
        ("project", "c", "a"),
        "[[projects]]\nid = 'a'\naliases = [\"c\" # none yet\n]\n",
    ),
    (
        "[[projects]]\nid = 'a'\naliases = [\n    'b', # one\n    'd' # two\n    # the end\n]\n",
        ("project", "c", "a"),
        "[[projects]]\nid = 'a'\naliases = [\n    'b', # one\n    'd', # two\n    \"c\"\n    # the end\n]\n",
    ),
    (
        "[[projects]]\nid = 'a'\naliases = [\n\t'b', # one\n]\n",
        ("project", "c", "a"),
        "[[projects]]\nid = 'a'\naliases = [\n\t'b', # one\n\t\"c\",\n]\n",
    ),
    (
        "[[projects]]\nid = 'a'\naliases = [\n  'b'\n  , # far\n]\n",
        ("project", "c", "a"),
        "[[projects]]\nid = 'a'\naliases = [\n  'b'\n  , # far\n  \"c\",\n]\n",
    ),
    (
        "[[projects]]\r\nid = 'a'\r\naliases = [\r\n  'b'\r\n]\r\n",
        ("project", "c", "a"),
        "[[projects]]\r\nid = 'a'\r\naliases = [\r\n  'b',\r\n  \"c\"\r\n]\r\n",
    ),
    (
        "\ufeff[[projects]]\r\nid = 'a'",
        ("project", "c", "a"),
        "\ufeff[[projects]]\r\nid = 'a'\r\naliases = [\"c\"]",
    ),
    (
        "projects = [{id = 'a'}, {id = 'b', aliases = ['q']}]\n",
        ("project", "c", "a"),
        "projects = [{id = 'a', aliases = [\"c\"]}, {id = 'b', aliases = ['q']}]\n",
    ),
    (
        "projects = [{id = 'a'}]\n",
        ("project", "c", "b"),
        'projects = [{id = \'a\'}, { id = "b", aliases = ["c"] }]\n',
    ),
    (
        "[[projects]]\nid = 'a'\n[[projects]]\nid = 'A'\naliases = ['b']\n",
        ("project", "c", "a"),
        "[[projects]]\nid = 'a'\n[[projects]]\nid = 'A'\naliases = ['b', \"c\"]\n",
    ),
    ("", ("project", "c", "At_las"), '[[projects]]\nid = "At_las"\naliases = ["c"]\n'),
    (
        "title = 'x' # no end",
        ("domain", "job", "work"),
        'title = \'x\' # no end\n\n[[domains]]\nid = "work"\naliases = ["job"]\n',
    ),
    (
        "title = 'x'\r\n",
        ("agent", "Night 'Bot'", "codex-mcp"),
        'title = \'x\'\r\n\r\n[[agents]]\r\nid = "codex"\r\naliases = ["Night \'Bot\'"]\r\nprefixes = ["codex"]\r\n',
    ),
    (
        "",
        ("agent", "ann", "claude-mac"),
        '[[agents]]\nid = "claude"\naliases = ["operator", "ann"]\nprefixes = ["claude"]\n',
    ),
    ("", ("agent", "Bot 2", "My Bot"), '[[agents]]\nid = "my-bot"\naliases = ["Bot 2"]\n'),
    (
        "",
        ("project", 'q"\\\u202e', "../x"),
        '[[projects]]\nid = "../x"\naliases = ["q\\"\\\\\\u202e"]\n',
    ),
]


@pytest.mark.parametrize(("before", "alias", "after"), SPLICES)
def test_an_alias_is_spliced_in(path: Path, before: str, alias: tuple[str, str, str], after: str) -> None:
    path.write_bytes(before.encode())
    kind, spelling, of = alias
    done = add_alias(path, kind, spelling, of)
    assert path.read_bytes() == after.encode()
    assert done.changed
    assert done.backup is not None
    assert done.backup.read_bytes() == before.encode()
    registry = read_manifest(path).registry
    assert registry.canonical(kind, spelling) == registry.canonical(kind, of) == done.id
    assert done.line is not None
    last = spelling.split()[-1].split("'")[0].split('"')[0]
    assert last in after.splitlines()[done.line - 1]


def test_a_builtin_agent_keeps_its_rules(path: Path) -> None:
    path.write_text("")
    add_alias(path, "agent", "ann", "claude")
    registry = read_manifest(path).registry
    assert [registry.agent(name) for name in ("claude-mac", "operator", "Ann")] == ["claude"] * 3


@pytest.mark.parametrize(
    ("kind", "spelling", "of"),
    [("project", "ATLAS", "atlas"), ("project", "Status", "atlas"), ("project", "new_one", "New One")],
)
def test_what_means_it_already_changes_nothing(path: Path, kind: str, spelling: str, of: str) -> None:
    path.write_text("[[projects]]\nid = 'atlas'\naliases = ['status']\n")
    before = path.read_bytes(), path.stat().st_ino
    done = add_alias(path, kind, spelling, of)
    assert (done.changed, done.line, done.backup) == (False, None, None)
    assert (path.read_bytes(), path.stat().st_ino) == before
    assert not (path.parent / "backups").exists()


REFUSED: list[tuple[str, tuple[str, str, str], type[WorkbenchError], str]] = [
    ("", ("project", " ", "atlas"), NameRefused, "blank"),
    ("", ("project", "atlas", "\t"), NameRefused, "blank"),
    ("", ("project", "x" * 201, "atlas"), NameRefused, "at most 200"),
    ("", ("project", "a\0b", "atlas"), NameRefused, "control characters"),
    ("", ("project", "a\ud800", "atlas"), NameRefused, "UTF-8"),
    ("", ("task", "a", "b"), NameRefused, "no kind"),
    (
        "",
        ("project", "ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8", "x"),
        SecretInIdentifier,
        "a secret",
    ),
    (
        "",
        ("project", "x", "ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8"),
        SecretInIdentifier,
        "a secret",
    ),
    (
        "[[projects]]\nid = 'atlas'\naliases = ['status']\n",
        ("project", "STATUS", "beacon"),
        NameClash,
        "'STATUS' is an alias of the project 'atlas'; it cannot mean 'beacon' too",
    ),
    (
        "[[projects]]\nid = 'atlas'\n",
        ("project", "Atlas", "beacon"),
        NameClash,
        "'Atlas' is the id of the project",
    ),
    ("", ("agent", "operator", "codex"), NameClash, "an alias of the built-in agent 'claude'"),
    ("", ("agent", "Codex", "coder"), NameClash, "'Codex' is the id of the built-in agent 'codex'"),
    ("title = 3\n", ("project", "a", "b"), ManifestError, "title"),
    ("title = \n", ("project", "a", "b"), ManifestError, "Invalid value"),
]


@pytest.mark.parametrize(("before", "alias", "error", "said"), REFUSED)
def test_what_cannot_be_is_refused_and_nothing_is_written(
    path: Path, before: str, alias: tuple[str, str, str], error: type[WorkbenchError], said: str
) -> None:
    path.write_text(before)
    with pytest.raises(error, match=said) as caught:
        add_alias(path, *alias)
    assert "ghp_" not in caught.value.message
    assert path.read_text() == before
    assert [each.name for each in path.parent.iterdir()] == [path.name]


def test_names_at_the_limit_are_taken(path: Path) -> None:
    path.write_text("")
    add_alias(path, "project", "é" * 200, "x" * 200)
    assert read_manifest(path).registry.project("É" * 200) == "x" * 200


def test_there_must_be_a_manifest(path: Path) -> None:
    with pytest.raises(WorkspaceMissing):
        add_alias(path, "project", "a", "b")


def test_a_link_stays_a_link_and_permissions_stay(tmp_path: Path, path: Path) -> None:
    real = tmp_path / "elsewhere" / "real.toml"
    real.parent.mkdir()
    real.write_text("title = 'x'\n")
    real.chmod(0o640)
    path.symlink_to(real)
    done = add_alias(path, "project", "a", "b")
    assert path.is_symlink()
    assert tomllib.loads(real.read_text())["projects"] == [{"id": "b", "aliases": ["a"]}]
    assert stat.S_IMODE(real.stat().st_mode) == 0o640
    assert done.backup is not None
    assert done.backup.parent == tmp_path / "backups" / "manifest"
    assert stat.S_IMODE(done.backup.stat().st_mode) == 0o600
    assert stat.S_IMODE(done.backup.parent.stat().st_mode) == 0o700
    assert [each.name for each in real.parent.iterdir()] == [real.name]


def test_every_edit_keeps_its_own_copy(path: Path) -> None:
    path.write_text("")
    texts = []
    for number in range(5):
        texts.append(path.read_text())
        add_alias(path, "project", f"alias {number}", "atlas")
    kept = sorted((path.parent / "backups" / "manifest").iterdir())
    assert [each.read_text() for each in kept] == texts


def test_somebody_elses_change_is_never_overwritten(path: Path) -> None:
    path.write_text("title = 'theirs'\n")
    with pytest.raises(ManifestChanged):
        replace(path, b"title = 'as it was read'\n", b"title = 'ours'\n")
    assert path.read_text() == "title = 'theirs'\n"
    assert list((path.parent / "backups" / "manifest").iterdir()) == []
    assert not list(path.parent.glob(".new-*"))


def _add(path: Path, number: int) -> None:
    add_alias(path, "project", f"alias {number}", "atlas")


def test_no_edit_is_lost_among_programs_that_edit_at_once(path: Path) -> None:
    path.write_text("# mine\n[[projects]]\nid = 'atlas'\n")
    context = multiprocessing.get_context("spawn")
    programs = [context.Process(target=_add, args=(path, number)) for number in range(4)]
    for each in programs:
        each.start()
    for each in programs:
        each.join(60)
    assert [each.exitcode for each in programs] == [0] * 4
    (project,) = read_manifest(path).projects
    assert sorted(project.aliases) == [f"alias {number}" for number in range(4)]
    assert path.read_text().startswith("# mine\n")


def _as_nobody(path: Path) -> None:
    """Edit without the superuser's rights; end with 0 if that was refused as it should be."""
    if os.geteuid() == 0:
        os.setgid(65534)
        os.setuid(65534)
    try:
        add_alias(path, "project", "a", "b")
    except ConfigurationError as error:
        assert "cannot be written" in error.message
        os._exit(0)
    os._exit(1)


@pytest.mark.parametrize("closed", ["file", "folder", "backups"])
def test_what_cannot_be_written_stays_as_it_was(tmp_path: Path, closed: str) -> None:
    root = tmp_path / "w"
    backups = root / "backups"
    backups.mkdir(parents=True)
    path = root / "SSOT_MANIFEST.toml"
    path.write_text("title = 'x'\n")
    for above in (tmp_path, *tmp_path.parents):
        # The other user has to get here; the folders of the tests are private.
        if above.stat().st_uid == os.geteuid() and len(above.parts) > 2:
            above.chmod(above.stat().st_mode | 0o711)
    for each, mode in ((path, 0o666), (root, 0o777), (backups, 0o777)):
        each.chmod(mode)
    {"file": path, "folder": root, "backups": backups}[closed].chmod(0o444 if closed == "file" else 0o555)
    child = os.fork()
    if child == 0:
        try:
            _as_nobody(path)
        finally:
            os._exit(2)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0
    assert path.read_text() == "title = 'x'\n"
    assert [each for each in root.rglob("*") if each.is_file()] == [path]
    root.chmod(0o700)


_KILLED = """
import os, signal, sys
from pathlib import Path
from workbench.workspace import manifest_writing
from workbench.workspace.manifest_edit import add_alias

def killed(*_):
    os.kill(os.getpid(), signal.SIGKILL)

path, elsewhere = Path(sys.argv[1]), sys.argv[2]
if elsewhere:
    # As where the two folders are of two file systems.
    whole = manifest_writing._write_over
    def write_over(target, previous, edited, folder):
        if folder != target.parent:
            raise OSError(18, "Invalid cross-device link")
        whole(target, previous, edited, folder)
    manifest_writing._write_over = write_over
Path.replace = killed
add_alias(path, "project", "one", "atlas")
"""


@pytest.mark.parametrize("elsewhere", ["", "yes"])
def test_what_a_killed_program_left_is_removed_by_the_next(path: Path, elsewhere: str) -> None:
    path.write_text("[[projects]]\nid = 'atlas'\n")
    before = path.read_bytes()
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    done = subprocess.run([sys.executable, "-c", _KILLED, str(path), elsewhere], env=environment, check=False)
    assert done.returncode == -signal.SIGKILL
    assert path.read_bytes() == before
    # Nothing of it lies where a person looks, unless there is no other way.
    assert bool(list(path.parent.glob(".new-*"))) == bool(elsewhere)
    assert len(list(path.parent.rglob(".new-*"))) == 1
    foreign = path.parent / ".new-other.toml-abc"
    foreign.write_text("")
    add_alias(path, "project", "two", "atlas")
    assert list(path.parent.rglob(".new-*")) == [foreign]
    assert read_manifest(path).projects[0].aliases == ("two",)


def test_a_new_manifest_goes_beside_the_old_one_where_it_cannot_be_moved(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path.write_text("title = 'a'\n")
    path.chmod(0o640)
    moved: list[Path] = []
    move = Path.replace

    def across(self: Path, target: Path) -> Path:
        moved.append(self.parent)
        if self.parent != path.parent:
            raise OSError(errno.EXDEV, "Invalid cross-device link")
        return move(self, target)

    monkeypatch.setattr(Path, "replace", across)
    assert add_alias(path, "project", "one", "atlas").changed
    assert moved == [path.parent / "backups" / "manifest", path.parent]
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert not list(path.parent.rglob(".new-*"))
