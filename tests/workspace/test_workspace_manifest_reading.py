"""What a manifest says, and how precisely it is told what is wrong with it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from workbench.workspace import layout
from workbench.workspace.errors import ManifestError
from workbench.workspace.manifest import Manifest, Problem, read_manifest
from workbench.workspace.manifest.checking import check_manifest
from workbench.workspace.manifest.model import CLOSING, JOBS, Freshness, Schedule

CHECKOUT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def _no_zone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CHRONICLE_TIMEZONE", raising=False)


def _read(folder: Path, text: str | bytes) -> Manifest:
    path = folder / "SSOT_MANIFEST.toml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_manifest(path)


def _errors(folder: Path, text: str | bytes) -> tuple[Problem, ...]:
    with pytest.raises(ManifestError) as caught:
        _read(folder, text)
    first = next(each for each in caught.value.problems if each.severity == "error")
    assert first.message in caught.value.message
    assert caught.value.message.startswith(str(folder / "SSOT_MANIFEST.toml"))
    return caught.value.problems


WHOLE = """\
version = 1
title = "All of it"

[settings]
timezone = "Europe/Berlin"
operator = "Ann"
mem0_collection = "mine"

[session]
owner = "ann"

[paths]
status_root = "."
mem0_bridge = "scripts/bridge.py"
digest_dir = "/srv/digest"
ledger_file = "~/ledger.jsonl"

[artifacts]
allowed_extensions = [".PY", "md"]
max_copy_size_mb = 0.5
pointer_only_enabled = false
follow_symlinks = true

[[sources]]
id = "status"
label = "Status"
path = "status.md"
kind = "markdown"
role = "ssot"
trust_tier = "operator_curated"
priority = 80
headings = ["Now"]
lane = "work"
owner = "ann"
enabled = false
questions_it_can_answer = ["what is open"]
questions_it_cannot_answer = []
projection_note = "by hand"

[[domains]]
id = "work"
label = "Work"
source_ids = ["status"]
mem0_queries = ["q"]
aliases = ["Job"]

[[projects]]
id = "atlas"
roots = ["~/atlas", "sub/../folder"]
aliases = ["status"]

[[agents]]
id = "helper"
aliases = ["night"]
prefixes = ["help"]
contains = ["aid"]

[[lanes]]
id = "work"
label = "Work"
sensitive = true
default_enabled = false

[[runtime_sources]]
id = "bridge"
label = "Bridge"
path_key = "mem0_bridge"
lane = "work"
trust_tier = "reference"
owner = "ann"
enabled = true

[freshness.attach_sources.status]
live_hours = 60
recent_hours = 12

[notes]
paths = ["~/notes/*.md", "/srv/notes/**"]
exclude = ["*draft*"]
deny = ["*diary*"]
sync_minutes = 5

[chronicle]
summarizer = "command"
command = ["summarise", "--short"]
timeout_seconds = 30

[chronicle.close]
task = ["checkpoint.recorded", "unit.closed"]
project = ["review.recorded"]

[backup]
target = "/mnt/backups"

[mem0]
enabled = false

[automation.paths]
backup_root = "backups"
launchd_label_prefix = "org.example"

[automation.guards]
backup_interval_days = 1
daybook_per_day = 2

[[automation.repos]]
slug = "atlas"
path = "~/atlas"

[automation.jobs.backup]
hour = 5

[automation.jobs.weekly_audit]
hour = 6
minute = 30
weekday = 3
throttle_seconds = 60
"""


def test_every_section_is_taken_with_its_meaning(tmp_path: Path) -> None:
    found = _read(tmp_path, WHOLE)
    home = Path.home()
    assert found.problems == ()
    assert found.unknown == {}
    assert (found.title, found.timezone, found.owner, found.operator) == (
        "All of it",
        "Europe/Berlin",
        "ann",
        "Ann",
    )
    assert found.mem0_collection == "mine"
    assert found.mem0_enabled is False
    assert found.paths == {
        "status_root": tmp_path,
        "mem0_bridge": tmp_path / "scripts/bridge.py",
        "digest_dir": Path("/srv/digest"),
        "ledger_file": home / "ledger.jsonl",
    }
    policy = found.artifacts
    assert policy.allowed_extensions == {"py", "md"}
    assert policy.max_copy_bytes == 500_000
    assert (policy.pointer_only_enabled, policy.follow_symlinks) == (False, True)
    (source,) = found.sources
    assert (source.path, source.trust_tier, source.priority) == (
        tmp_path / "status.md",
        "operator_curated",
        80,
    )
    assert (source.headings, source.enabled) == (("Now",), False)
    (runtime,) = found.runtime_sources
    assert (runtime.path, runtime.path_key) == (None, "mem0_bridge")
    (lane,) = found.lanes
    assert (lane.sensitive, lane.default_enabled) == (True, False)
    assert found.registry.project("STATUS") == "atlas"
    assert found.registry.project_of(home / "atlas" / "src") == "atlas"
    assert found.registry.project_of(tmp_path / "folder") == "atlas"
    assert found.registry.domain("job") == "work"
    assert found.registry.agent("first-aid") == "helper"
    assert found.freshness == {
        "attach_sources": {"status": Freshness(live_hours=60, recent_hours=60, stale_hours=168)}
    }
    assert found.notes.paths == ("~/notes/*.md", "/srv/notes/**")
    assert (found.notes.exclude, found.notes.deny, found.notes.sync_minutes) == (
        ("*draft*",),
        ("*diary*",),
        5,
    )
    assert found.chronicle.command == ("summarise", "--short")
    assert found.chronicle.close == {
        "task": ("checkpoint.recorded", "unit.closed"),
        "session": ("unit.closed",),
        "project": ("review.recorded",),
    }
    assert found.backup.target == Path("/mnt/backups")
    automation = found.automation
    assert automation.paths == {"backup_root": tmp_path / "backups"}
    assert automation.launchd_label_prefix == "org.example"
    assert (automation.guards.backup_interval_days, automation.guards.daybook_per_day) == (1, 2)
    assert automation.guards.jsonl_rotate_mb == 25
    assert [(each.slug, each.path) for each in automation.repos] == [("atlas", home / "atlas")]
    assert automation.jobs["backup"] == Schedule(hour=5, minute=30)
    assert automation.jobs["weekly_audit"] == Schedule(hour=6, minute=30, weekday=3, throttle_seconds=60)
    assert automation.jobs["daybook"] == JOBS["daybook"]
    assert automation.declared_jobs == {"backup", "weekly_audit"}


def test_an_empty_manifest_has_the_defaults(tmp_path: Path) -> None:
    found = _read(tmp_path, "")
    assert (found.title, found.timezone, found.operator) == (tmp_path.name, "UTC", "the operator")
    assert found.owner
    assert found.artifacts.max_copy_bytes == 25_000_000
    assert "typ" in found.artifacts.allowed_extensions
    assert found.artifacts.pointer_only_enabled
    assert not found.artifacts.follow_symlinks
    assert not found.mem0_enabled
    assert found.chronicle.summarizer == "extractive"
    assert found.chronicle.close == CLOSING
    assert found.notes.sync_minutes is None
    assert found.automation.jobs == JOBS
    assert found.registry.agent("claude-mac") == "claude"


def test_a_bridge_turns_mem0_on_unless_the_manifest_says_otherwise(tmp_path: Path) -> None:
    bridge = '[paths]\nmem0_bridge = "x.py"\n'
    assert _read(tmp_path, bridge).mem0_enabled
    assert not _read(tmp_path, bridge + "[mem0]\nenabled = false").mem0_enabled


def test_the_old_spelling_of_pointers_is_understood(tmp_path: Path) -> None:
    found = _read(tmp_path, "[artifacts]\npointer_only_disallowed = false")
    assert found.artifacts.pointer_only_enabled is False
    assert found.problems == ()


def test_a_byte_order_mark_and_other_line_ends_are_fine(tmp_path: Path) -> None:
    found = _read(tmp_path, b'\xef\xbb\xbftitle = "x"\r\n[settings]\r\noperatr = "y"\r\n')
    assert found.title == "x"
    assert [(each.line, each.key) for each in found.problems] == [(3, "settings.operatr")]


def test_unknown_keys_are_kept_and_told_with_their_line(tmp_path: Path) -> None:
    found = _read(
        tmp_path,
        'colour = "red"\n[setings]\ntimezone = "UTC"\n[[projects]]\nid = "a"\n'
        'alias = ["b"]\n[freshness.other.x]\n[automation]\nmood = 1\n"odd key" = 2\n',
    )
    assert found.unknown == {
        "colour": "red",
        "setings": {"timezone": "UTC"},
        "projects[0].alias": ["b"],
        "freshness.other": {"x": {}},
        "automation.mood": 1,
        'automation."odd key"': 2,
    }
    assert [(each.line, each.key, each.severity) for each in found.problems] == [
        (1, "colour", "warning"),
        (2, "setings", "warning"),
        (6, "projects[0].alias", "warning"),
        (7, "freshness.other", "warning"),
        (9, "automation.mood", "warning"),
        (10, 'automation."odd key"', "warning"),
    ]
    assert found.problems[1].message.endswith("did you mean settings?")
    assert found.problems[2].message.endswith("did you mean aliases?")


BAD = [
    ("title = 3", 1, "title", "text in quotes"),
    ("version = 2", 1, "version", "is 1"),
    ("version = true", 1, "version", "is 1"),
    ("\n[settings]\ntimezone = 'Nowhere/Here'", 3, "settings.timezone", "Europe/Berlin"),
    ("settings = 3", 1, "settings", "a table [settings]"),
    ("session.owner = ['x']", 1, "session.owner", "text in quotes"),
    ("[mem0]\nenabled = 'yes'", 2, "mem0.enabled", "true or false"),
    ("[[projects]]\n\n[[projects]]\nid='a'", 1, "projects[0]", "needs an id"),
    ("[[projects]]\nid = ' '", 2, "projects[0].id", "blank"),
    ("[[projects]]\nid = 'a'\naliases = 'b'", 3, "projects[0].aliases", "list of names"),
    ("[[projects]]\nid = 'a'\naliases = [\n 'b',\n 7]", 5, "projects[0].aliases[1]", "a name in quotes"),
    ("[[projects]]\nid = 'a'\nroots = [\"a\\u0000b\"]", 3, "projects[0].roots[0]", "NUL"),
    ('[[projects]]\nid = "a\\u0000b"', 2, "projects[0].id", "control characters"),
    (f"[[projects]]\nid = '{'x' * 201}'", 2, "projects[0].id", "at most 200"),
    ("projects = 'a'", 1, "projects", "begin with [[projects]]"),
    ("projects = [\n{id = 'a'},\n'b']", 3, "projects[1]", "a table"),
    ("[projects]\nid = 'a'", 1, "projects", "begin with [[projects]]"),
    (
        "[[domains]]\nid='a'\n[[domains]]\nid='b'\naliases=['A']",
        5,
        "domains[1].aliases[0]",
        "both 'a' and 'b'",
    ),
    ("[[agents]]\nid='me'\naliases=[\n'x', 'Operator']", 4, "agents[0].aliases[1]", "both 'claude' and 'me'"),
    ("[notes]\npaths = ['notes/*.md']", 2, "notes.paths[0]", "absolute"),
    ("[notes]\nsync_minutes = 0", 2, "notes.sync_minutes", "at least 1"),
    ("notes = 1", 1, "notes", "a table"),
    ("[chronicle]\nsummarizer = 'magic'", 2, "chronicle.summarizer", "extractive, command, openai"),
    ("[chronicle]\nsummarizer = 'command'", 2, "chronicle.summarizer", "chronicle.command"),
    ("[chronicle]\nsummarizer = 'openai'\nmodel = 'm'", 2, "chronicle.summarizer", "chronicle.base_url"),
    ("[chronicle]\nsummarizer = 'openai'\nbase_url = 'http://h'", 2, "chronicle.summarizer", "model"),
    ("[chronicle]\nbase_url = 'ftp://h/v1'", 2, "chronicle.base_url", "https://"),
    ("[chronicle]\nbase_url = 'http://me:pass@h/v1'", 2, "chronicle.base_url", "key_variable"),
    ("[chronicle]\nkey_variable = 'sk-1234'", 2, "chronicle.key_variable", "environment variable"),
    ("[chronicle]\ntimeout_seconds = 90000", 2, "chronicle.timeout_seconds", "at most 86400"),
    ("[chronicle]\nbackground = 'no'", 2, "chronicle.background", "true or false"),
    ("[chronicle]\ncommand = []", 2, "chronicle.command", "a program"),
    ("[chronicle.close]\ntask = 'x'", 2, "chronicle.close.task", "list of types"),
    ("[artifacts]\nmax_copy_size_mb = -1", 2, "artifacts.max_copy_size_mb", "at least 0"),
    ("[artifacts]\nmax_copy_size_mb = inf", 2, "artifacts.max_copy_size_mb", "at least 0"),
    ("[artifacts]\nfollow_symlinks = 1", 2, "artifacts.follow_symlinks", "true or false"),
    ("[automation.jobs.backup]\nhour = 24", 2, "automation.jobs.backup.hour", "from 0 to 23"),
    ("[[automation.repos]]\nslug = 'a'", 1, "automation.repos[0]", "needs a path"),
    (
        "[freshness.semantic_recall.x]\nlive_hours = '6'",
        2,
        "freshness.semantic_recall.x.live_hours",
        "a number",
    ),
    ("[paths]\nledger_file = ''", 2, "paths.ledger_file", "blank"),
    ("[paths]\nledger_file = '~nobody-of-this-name/x'", 2, "paths.ledger_file", "no such home"),
]


@pytest.mark.parametrize(("text", "line", "key", "expected"), BAD)
def test_a_bad_value_is_named_with_line_key_and_what_was_expected(
    tmp_path: Path, text: str, line: int, key: str, expected: str
) -> None:
    (problem,) = _errors(tmp_path, text)
    assert (problem.line, problem.key, problem.severity) == (line, key, "error")
    assert expected in problem.message


def test_everything_that_is_wrong_is_said_at_once(tmp_path: Path) -> None:
    problems = _errors(
        tmp_path,
        "mood = 1\ntitle = 3\n[settings]\ntimezone = 4\n[mem0]\nenabled = 'x'\n"
        "[[projects]]\nid = 'a'\naliases = [1, 2]\n[[projects]]\nid = 'b'\naliases = ['A']\n",
    )
    errors = [each.line for each in problems if each.severity == "error"]
    assert errors == [2, 4, 6, 9, 9, 12]
    assert [each.line for each in problems if each.severity == "warning"] == [1]


def test_the_first_error_leads_and_the_hint_counts_the_others(tmp_path: Path) -> None:
    with pytest.raises(ManifestError) as caught:
        _read(tmp_path, "title = 3\n[mem0]\nenabled = 2\n")
    assert caught.value.message.endswith(":1: title: expected text in quotes")
    assert "one more thing is wrong" in caught.value.hint
    assert "workbench manifest check" in caught.value.hint


@pytest.mark.parametrize(
    ("raw", "line", "expected"),
    [
        (b"title = 'x'\n[settings\ntimezone = 'UTC'\n", 2, "Expected ']'"),
        (b"title = 'x'\ntitle = 'y'\n", 2, "Cannot overwrite"),
        (b"a = 1\nb = \n", 2, "Invalid value"),
        (b"a = 1\nb = [1,\n", 2, "at the end of the file"),
        (b"a = 1\nb = '\xff'\n", 2, "not UTF-8"),
        (b"a = 1\n\x00", 2, ""),
        (b"a = " + b"[" * 5000, 0, "nested too deeply"),
    ],
)
def test_what_is_no_toml_is_told_with_its_line(tmp_path: Path, raw: bytes, line: int, expected: str) -> None:
    (problem,) = _errors(tmp_path, raw)
    assert (problem.line, problem.key) == (line, "")
    assert expected in problem.message


def test_a_secret_is_never_repeated(tmp_path: Path) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8"
    problems = _errors(
        tmp_path, f"[[projects]]\nid='a'\naliases=['{secret}']\n[[projects]]\nid='b'\naliases=['{secret}']\n"
    )
    assert all(secret not in each.message for each in problems)
    assert any("belongs to both" in each.message for each in problems)


def test_names_that_hide_characters_are_pointed_out(tmp_path: Path) -> None:
    found = _read(tmp_path, '[[projects]]\nid = "../x"\naliases = [\n"ok",\n"a\\u202eb"]\n')
    assert [(each.line, each.key, each.severity) for each in found.problems] == [
        (5, "projects[0].aliases[1]", "warning")
    ]
    assert found.registry.project("a\u202eb") == "../x"


def test_an_odd_tier_is_pointed_out_and_kept(tmp_path: Path) -> None:
    found = _read(tmp_path, "[[sources]]\nid = 'a'\ntrust_tier = 'gospel'\n")
    assert [(each.line, each.severity) for each in found.problems] == [(3, "warning")]
    assert found.sources[0].trust_tier == "gospel"


def test_a_zone_from_the_environment_is_named_as_that(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CHRONICLE_TIMEZONE", "Nowhere")
    (problem,) = _errors(tmp_path, "title = 'x'\n")
    assert "$CHRONICLE_TIMEZONE" in problem.message
    monkeypatch.setenv("CHRONICLE_TIMEZONE", "Asia/Tokyo")
    assert _read(tmp_path, "").timezone == "Asia/Tokyo"


def test_lines_are_found_in_any_layout(tmp_path: Path) -> None:
    problems = _errors(
        tmp_path,
        "automation.jobs = {backup = {hour = 99}}\n"
        "projects = [ # all of them\n  {id = 'a'}, {id = 3},\n]\n"
        '"chronicle" . "close" . task = """x"""\n'
        "[ 'mem0' ] # here\n\n  'enabled' = [\n  1 ]\n",
    )
    assert [(each.line, each.key) for each in problems] == [
        (1, "automation.jobs.backup.hour"),
        (3, "projects[1].id"),
        (5, "chronicle.close.task"),
        (8, "mem0.enabled"),
    ]


def test_the_starter_means_what_its_comments_say(tmp_path: Path) -> None:
    done = layout.scaffold(layout.Layout(tmp_path / "w"), title='A "b"\n', timezone="UTC", owner="é\u202e")
    assert "SSOT_MANIFEST.toml" in done.created
    path = tmp_path / "w" / "SSOT_MANIFEST.toml"
    found = read_manifest(path)
    assert (found.title, found.owner, found.problems) == ('A "b"\n', "é\u202e", ())
    lines = []
    for line in path.read_text().splitlines():
        is_example = line.startswith("# [") or " = " in line.split("#")[1] if line.startswith("#") else False
        lines.append(line[2:] if is_example else line)
    used = _read(tmp_path, "\n".join(lines))
    assert used.problems == ()
    assert used.registry.project("ATLAS APP") == "atlas"
    assert used.registry.agent("helper-2") == "helper"
    assert used.registry.domain("job") == "work"
    assert used.backup.target == Path("/mnt/backups/workbench")
    assert used.notes.sync_minutes == 15
    assert "md" in used.artifacts.allowed_extensions


@pytest.mark.parametrize(
    ("text", "loads"), [("title = 'x'\n[[projects]]\nid='a'\n", False), ("x = 1\n", True)]
)
def test_tree_sitter_loads_only_where_something_is_to_be_said(tmp_path: Path, text: str, loads: bool) -> None:
    path = tmp_path / "SSOT_MANIFEST.toml"
    path.write_text(text)
    code = (
        "import sys; from pathlib import Path; from workbench.workspace.manifest import read_manifest; "
        f"found = read_manifest(Path({str(path)!r})); before = 'tree_sitter' in sys.modules; "
        "found.problems; print(before, 'tree_sitter' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=CHECKOUT, capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.split() == ["False", str(loads)]


def test_the_problems_of_a_large_manifest_come_quickly(tmp_path: Path) -> None:
    entries = "".join(f"[[projects]]\nid = 'p{n}'\naliases = ['a{n}']\nmood = {n}\n" for n in range(2000))
    problems: Any = _read(tmp_path, entries).problems
    assert [each.line for each in problems] == [4 * n + 4 for n in range(2000)]


_LONG = "9" * 5000


@pytest.mark.parametrize(
    ("text", "line", "key", "message"),
    [
        (f"title = 'a'\nx = {_LONG}\n", 2, "x", "a number is too long"),
        (f"version = {_LONG}\n", 1, "version", "a number is too long"),
        (f"x = '{_LONG}'\n# {_LONG}\ny = [1,\n{_LONG}]\n", 4, "y[1]", "a number is too long"),
        (f"x = {'1_1' * 3000}\n[[[", 1, "x", "a number is too long"),
        (
            f"[artifacts]\nmax_copy_size_mb = 0x{'f' * 5000}\n",
            2,
            "artifacts.max_copy_size_mb",
            "the number is too long",
        ),
    ],
    ids=range(5),
)
def test_numbers_longer_than_any_are_wrong_like_anything_else(
    tmp_path: Path, text: str, line: int, key: str, message: str
) -> None:
    first = _errors(tmp_path, text)[0]
    assert (first.line, first.key, first.message) == (line, key, message)
    assert first in check_manifest(tmp_path / "SSOT_MANIFEST.toml")
