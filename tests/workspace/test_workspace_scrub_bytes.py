"""After a scrub no file of the workspace but the backups that it names holds a byte of what it took out."""

from __future__ import annotations

import base64
import json
import random
import shutil
from pathlib import Path
from typing import Any

import apsw
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.workspace.redaction_cases import (
    SEEDS,
    act,
    begin,
    codes,
    copy_of,
    holders,
    keep,
    new_root,
    soiled,
    token,
    unfiltered,
)
from workbench.log import EventLog
from workbench.log.fulltext import match_expression
from workbench.log.streams import session_stream
from workbench.redaction import default_filter
from workbench.storage import fetch
from workbench.workspace import Workspace
from workbench.workspace.transfer import export_file, import_file


@pytest.fixture(autouse=True)
def no_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("CHRONICLE_AUTO_MIGRATE", "CHRONICLE_DB"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return soiled(tmp_path_factory.mktemp("soiled") / "w")


@pytest.fixture
def root(prepared: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(prepared, tmp_path / "w"))


def test_every_place_holds_its_key_before(root: Path) -> None:
    for seed in SEEDS:
        assert holders(root, seed) != [], seed


def test_nothing_holds_any_of_them_afterwards(root: Path) -> None:
    with Workspace.open(root) as workspace:
        found = workspace.rescan()
        report = workspace.scrub()
        assert report.emptied
        assert holders(root, *SEEDS) == []
        assert report.secrets == found.secrets
        assert report.found >= len(SEEDS)
        assert report.artifacts == 1
        assert report.files == 4
        again = workspace.rescan()
        assert (again.found, again.closed, again.unreadable) == (0, [], 0)
    assert holders(root, *SEEDS) == []
    assert codes(root) == []
    kept = json.dumps([hit._asdict() for hit in (*found.hits, *report.hits)])
    assert default_filter().redact_text(kept)[1] == {}


def test_what_is_left_is_what_was_there_without_the_keys(root: Path) -> None:
    with Workspace.open(root) as workspace:
        before = list(workspace.log.read())
        workspace.scrub()
        after = list(workspace.log.read())
        for old, new in zip(before, after, strict=False):
            assert (old.position, old.seq, old.envelope) == (new.position, new.seq, new.envelope)
        assert {event.envelope.type for event in after[len(before) :]} == {"redaction.applied"}
        acta = workspace.sessions.get_acta("ada", "plain")
        assert acta[0].content == "the key is [REDACTED:anthropic_key], keep it"
        assert acta[1].metadata == {"input": {"env": [{"A": "x"}, {"B": "[REDACTED:anthropic_key]"}]}}
        assert len(acta[2].metadata["env"]) == 2
        inner = json.loads(acta[3].metadata["raw"])
        assert inner == {"inner": {"key": "[REDACTED:anthropic_key]"}}
        (digest,) = acta[7].metadata["evidence"]
        assert workspace.evidence.get(digest) == (
            b"log of a build\nANTHROPIC_API_KEY=[REDACTED:anthropic_key]\ndone\n"
        )
        # Full text finds what is left, and nothing of what went.
        with workspace.log.reader() as connection:
            sql = "SELECT count(*) FROM fulltext WHERE fulltext MATCH ?"
            assert fetch.value(connection, sql, (match_expression("keep it"),)) == 1
            assert fetch.value(connection, sql, (match_expression(token(9)[7:]),)) == 0


def test_sessions_whose_ids_become_one_stay_two(root: Path) -> None:
    with Workspace.open(root) as workspace:
        workspace.scrub()
        for session in ("of [REDACTED:anthropic_key]", "of [REDACTED:anthropic_key] (2)"):
            owner = "owner [REDACTED:anthropic_key]" if not session.endswith(")") else "ada"
            acta = workspace.sessions.get_acta(owner, session)
            assert [actum.content for actum in acta] == ["inside", "again"]
            assert {actum.chronicum_id for actum in acta} == {session}
        with workspace.log.reader() as connection:
            moved = fetch.rows(connection, "SELECT stream FROM projection_positions")
        assert moved == [(session_stream("of [REDACTED:anthropic_key]").name,)]


def test_the_log_still_travels(root: Path, tmp_path: Path) -> None:
    with Workspace.open(root) as workspace:
        workspace.scrub()
        export_file(workspace.log, tmp_path / "out.jsonl")
    exported = (tmp_path / "out.jsonl").read_bytes()
    with Workspace.create(tmp_path / "other", timezone="UTC", owner="ada") as other:
        done = import_file(other.log, tmp_path / "out.jsonl")
        assert done.redactions == {}
        export_file(other.log, tmp_path / "again.jsonl")
    assert (tmp_path / "again.jsonl").read_bytes() == exported
    # The exports that lay in the workspace are what one of then would be without keys, names numbered apart.
    cleaned = (root / "before.jsonl").read_bytes().splitlines()
    assert len(cleaned) < len(exported.splitlines())
    same = [old == new for old, new in zip(cleaned, exported.splitlines(), strict=False)]
    assert same.count(False) <= 4
    assert (root / "deep" / "down" / "moved.txt").read_bytes() == (root / "before.jsonl").read_bytes()


def test_other_files_keep_their_lines_and_their_modes(root: Path) -> None:
    with Workspace.open(root) as workspace:
        workspace.scrub()
    log = root / "logs" / "run.log"
    assert log.read_text() == "error: 401 for [REDACTED:anthropic_key]\nretrying\n"
    assert log.stat().st_mode & 0o777 == 0o600
    assert not list(root.rglob(".workbench-scrub-*"))


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(codec="utf-8"), max_size=12)
    | st.sampled_from((f"a {token(31)}", token(32), f'{token(31)}\n{token(32)}\u2028"\\')),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(st.characters(codec="utf-8"), max_size=6), inner, max_size=4)
    ),
    max_leaves=12,
)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.dictionaries(st.text(max_size=4), VALUES, max_size=3), min_size=1, max_size=4))
def test_nothing_but_the_keys_changes_in_a_payload(
    tmp_path_factory: pytest.TempPathFactory, metadata: list[dict[str, Any]]
) -> None:
    """Whatever else a payload holds stays byte for byte, numbers at the ends of their ranges included."""
    root = new_root(tmp_path_factory.mktemp("payload") / "w")
    with unfiltered(root) as log:
        begin(log, "s")
        log.append(session_stream("s"), [act("s", n, "x", metadata=each) for n, each in enumerate(metadata)])
        before = _payloads(log)
    with Workspace.open(root) as workspace:
        workspace.scrub()
        after = _payloads(workspace.log)[: len(before)]
    marker = "[REDACTED:anthropic_key]"
    assert after == [text.replace(token(31), marker).replace(token(32), marker) for text in before]


def _payloads(log: EventLog) -> list[str]:
    with log.reader() as connection:
        return [text for (text,) in fetch.rows(connection, "SELECT payload FROM events ORDER BY position")]


def test_a_second_scrub_changes_nothing(root: Path) -> None:
    with Workspace.open(root) as workspace:
        workspace.scrub()
        before = workspace.log.last_position()
        report = workspace.scrub()
        assert (report.found, report.rewritten, report.artifacts, report.files) == (0, 0, 0, 0)
        assert not report.resumed
        assert workspace.log.last_position() == before


def test_without_its_own_steps_the_bytes_stay(tmp_path: Path) -> None:
    """A replaced payload and a deleted full-text row leave their words behind, even after a vacuum."""
    root = new_root(tmp_path / "w")
    with unfiltered(root) as log:
        begin(log, "s")
        log.append(session_stream("s"), [act("s", 1, f"key {token(1)}")])
        log.append(session_stream("s"), [act("s", n, f"word{n} " * 50) for n in range(2, 200)])
    path = root / "chronicle.db"
    connection = apsw.Connection(str(path))
    (text,) = fetch.row(connection, "SELECT payload FROM events WHERE position = 2") or ("",)
    clean = default_filter().redact_text(text)[0]
    connection.execute("UPDATE events SET payload = ? WHERE position = 2", (clean,))
    connection.execute("DELETE FROM fulltext WHERE rowid = 2")
    assert "chronicle.db" in holders(root, 1)
    connection.execute("VACUUM")
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    assert holders(root, 1) == ["chronicle.db"]
    connection.close()
    # The events are clean, so that a scrub finds nothing in them; whoever went that way rebuilds full text.
    assert default_filter().redact_text(clean)[1] == {}


def test_old_pages_hold_what_a_replaced_row_held(tmp_path: Path) -> None:
    """Neither is a replaced row gone: the file's free pages and its write-ahead log still have it."""
    root = new_root(tmp_path / "w")
    with unfiltered(root) as log:
        begin(log, "s")
        log.append(session_stream("s"), [act("s", 1, "x", metadata={"k": "y" * 9000 + " " + token(1)})])
    connection = apsw.Connection(str(root / "chronicle.db"))
    connection.execute("UPDATE events SET payload = '{}' WHERE position = 2")
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    connection.close()
    assert holders(root, 1) == ["chronicle.db"]


def test_receipts_of_an_older_filter_are_looked_at_as_well(tmp_path: Path) -> None:
    from workbench.log.registry import Removed

    root = new_root(tmp_path / "w")
    with unfiltered(root) as log:
        begin(log, "s")
        old = Removed("jwt", 1, f"metadata.env.{token(1)}", "0-old")
        log.append(session_stream("s"), [act("s", 1, "[REDACTED:jwt]", redactions=[old])])
    with Workspace.open(root) as workspace:
        report = workspace.scrub()
        assert [hit.field for hit in report.hits] == ["redactions.0.field"]
    assert holders(root, 1) == []
    assert codes(root) == []


def test_no_line_of_a_key_of_many_lines_is_left(tmp_path: Path) -> None:
    """A key with line breaks stands in JSON with escapes, in a text in JSON with escaped ones, raw in files."""
    body = base64.b64encode(random.Random(7).randbytes(600)).decode()
    lines = [body[at : at + 64] for at in range(0, len(body), 64)]
    whole = "\n".join(["-----BEGIN PRIVATE" + " KEY-----", *lines, "-----END PRIVATE" + " KEY-----"])
    root = new_root(tmp_path / "w")
    digest = keep(root, f"before\n{whole}\nafter\n".encode())
    with unfiltered(root) as log:
        begin(log, "s")
        raw = json.dumps({"file": whole})
        metadata = {"evidence": [digest], "raw": raw, "twice": json.dumps(raw), "env": {"KEY": whole}}
        log.append(session_stream("s"), [act("s", 1, f"it is\n{whole}\nso", metadata=metadata)])
        export_file(log, root / "x.jsonl")
    log_file = root / "logs" / "a.log"
    log_file.write_text(f"read {whole} at once\n")
    log_file.chmod(0o600)

    def left() -> set[str]:
        files = {
            str(path.relative_to(root)): path.read_bytes().lower()
            for path in root.rglob("*")
            if path.is_file()
        }
        return {name for name, data in files.items() if any(line.lower().encode() in data for line in lines)}

    assert len(left()) >= 4
    with Workspace.open(root) as workspace:
        report = workspace.scrub()
        assert set(report.secrets) == {"private_key"}
        assert left() == set()
    assert codes(root) == []


def test_backups_keep_it_and_are_named(tmp_path: Path) -> None:
    root = new_root(tmp_path / "w")
    with unfiltered(root) as log:
        begin(log, "s")
        clean = root / "backups" / "early.db"
        copy_of(root, clean)
        log.append(session_stream("s"), [act("s", 1, f"key {token(1)}")])
    old = root / "chronicle.db.bak-premigrate-v1-v2-20240101-x"
    for place in (root / "backups" / "deep" / "a.db", old, root / "stray.db"):
        copy_of(root, place)
    # Another program's database is no backup of ours.
    apsw.Connection(str(root / "theirs.db")).execute("CREATE TABLE x(y)")
    (root / "backups" / "packed.bin").write_bytes(b"\x1f\x8b\0\0")
    (root / "backups" / "words.txt").write_text("nothing\n")
    with Workspace.open(root) as workspace:
        report = workspace.scrub()
        states = {str(each.path.relative_to(root)): each.holds for each in report.backups}
        assert states == {
            "backups/deep/a.db": True,
            "backups/early.db": False,
            "backups/packed.bin": None,
            "backups/words.txt": False,
            old.name: True,
            "stray.db": True,
        }
        named = {str(each.path.relative_to(root)) for each in report.holding}
    assert set(holders(root, 1)) <= named
