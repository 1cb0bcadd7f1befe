"""Workspaces with secrets in every place that can hold one, as an older release without a filter left them.

The secrets are made here, at run time, and are nobody's.
"""

from __future__ import annotations

import hashlib
import json
import random
import string
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import apsw
import msgspec

from tests.laid_out import laid_out_once
from workbench.imports.sources import Source, save_source
from workbench.log import EventLog, PendingEvent
from workbench.log.ports import PassThrough
from workbench.log.positions import commit_position
from workbench.log.streams import session_stream
from workbench.sessions.events import ActumRecorded, ChronicumCreated, ChronicumDescribed, UnitClosed
from workbench.workspace import Workspace
from workbench.workspace.folds import FOLDS, TABLES, event_types
from workbench.workspace.migrations import HISTORY
from workbench.workspace.transfer import export_jsonl

ALNUM = string.ascii_letters + string.digits


def core(seed: int) -> str:
    """Forty letters and digits that stand nowhere else."""
    chance = random.Random(seed)
    return "".join(chance.choice(ALNUM) for _ in range(40))


def token(seed: int) -> str:
    """A key of a kind that every version of the filter knows."""
    return "sk-ant-" + core(seed)


def holders(root: Path, *seeds: int) -> list[str]:
    """The files below a folder in which the keys of these seeds stand, in whatever case, whole or half."""
    found = []
    needles = [part.lower().encode() for seed in seeds for part in (core(seed)[:20], core(seed)[20:])]
    for path in sorted(root.rglob("*")):
        if path.is_file():
            data = path.read_bytes().lower()
            if any(needle in data for needle in needles):
                found.append(str(path.relative_to(root)))
    return found


@laid_out_once
def new_root(root: Path) -> Path:
    """An empty workspace on disk."""
    Workspace.create(root, title="Secrets", timezone="UTC", owner="ada").close()
    return root


@contextmanager
def unfiltered(root: Path) -> Iterator[EventLog]:
    """The log of a workspace without a filter at its door."""
    with EventLog.open(
        root / "chronicle.db",
        FOLDS,
        event_types(),
        redactor=PassThrough(),
        synchronous="OFF",
        tables=TABLES,
        history=HISTORY,
    ) as log:
        yield log


def begin(log: EventLog, session: str, owner: str = "ada") -> None:
    """A session."""
    log.append(session_stream(session), [ChronicumCreated(chronicum_id=session, owner_id=owner)])


def act(session: str, number: int, content: str, **given: Any) -> ActumRecorded:
    """One act."""
    fields: dict[str, Any] = {
        "id": f"{session}-{number}",
        "chronicum_id": session,
        "kind": "message",
        "actor_kind": "agent",
        "actor": "coder",
        "content": content,
        "metadata": {},
        **given,
    }
    return ActumRecorded(**fields)


def keep(root: Path, content: bytes) -> str:
    """Put an artifact in its place; its digest."""
    digest = hashlib.sha256(content).hexdigest()
    path = root / "artifacts" / digest[:2] / digest[2:4] / digest
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    for folder in (path.parent, path.parent.parent):
        folder.chmod(0o700)
    path.write_bytes(content)
    path.chmod(0o600)
    return digest


SEEDS = range(1, 25)
"""Each place has a key of its own."""


def soiled(root: Path) -> Path:
    """A workspace with a key in every place that can hold one; `SEEDS` made them."""
    new_root(root)
    digest = keep(root, b"log of a build\nANTHROPIC_API_KEY=" + token(1).encode() + b"\ndone\n")
    with unfiltered(root) as log:
        begin(log, "plain")
        begin(log, f"of {token(2)}", owner=f"owner {token(3)}")
        begin(log, f"of {token(24)}")
        stream = session_stream("plain")
        log.append(
            stream,
            [
                ChronicumDescribed(
                    title=f"About {token(4)}",
                    cwd=f"/home/ada/{token(5)}",
                    source=f"/home/ada/{token(6)}.jsonl",
                    models=[token(7)],
                    git_branch=token(8),
                ),
                act("plain", 1, f"the key is {token(9)}, keep it"),
                act("plain", 2, "nested", metadata={"input": {"env": [{"A": "x"}, {"B": token(10)}]}}),
                act("plain", 3, "as a name", metadata={"env": {token(11): "on", f"{token(11)} ": "off"}}),
                act("plain", 4, "in a text", metadata={"raw": json.dumps({"inner": {"key": token(12)}})}),
                act("plain", 5, "twice", metadata={"raw": json.dumps(json.dumps([token(13)]))}),
                act("plain", 6, "who", actor=f"agent {token(14)}"),
                act("plain", 7, "once", idempotency_key=f"request {token(15)}"),
                act("plain", 8, "evidence", metadata={"evidence": [digest]}),
                PendingEvent(payload=act("plain", 9, f"между {token(16)} ё"), visibility="private"),
                UnitClosed(
                    chronicum_id="plain", unit=f"week {token(17)}", note=token(18), source_key=token(19)
                ),
            ],
        )
        for seed in (2, 24):
            session = f"of {token(seed)}"
            log.append(session_stream(session), [act(session, 1, "inside"), act(session, 2, "again")])
        with log.database.transaction() as connection:
            source = Source(10, 1, 10, msgspec.json.encode({"title": token(20)}).decode())
            save_source(connection, Path("/in/a.jsonl"), "claude-code", source, 1, log.redactor)
            source = Source(10, 1, 10, msgspec.json.encode({"title": token(20)}).decode())
            save_source(connection, Path(f"/in/{token(21)}.jsonl"), "codex", source, 1, log.redactor)
            connection.execute(
                "INSERT INTO jobs(kind, title, status, process, started_at, heartbeat_at, finished_at, done, "
                "note, outcome, error, hint, stop_asked) VALUES('import', ?1, 'failed', 'h/1/1/1', 1, 1, 1, 0, "
                "?1, ?1, ?1, ?1, 0)",
                (f"import {token(22)}",),
            )
            commit_position(connection, "later", 1, session_stream(f"of {token(2)}").name)
        lines: list[bytes] = []
        export_jsonl(log, lines.append)
    exported = b"".join(lines)
    (root / "before.jsonl").write_bytes(exported)
    # As a killed export leaves it: cut in the middle of a line.
    (root / ".export-x.part").write_bytes(exported[:-300])
    (root / "deep" / "down").mkdir(parents=True)
    (root / "deep" / "down" / "moved.txt").write_bytes(exported)
    (root / "logs" / "run.log").write_text(f"error: 401 for {token(23)}\nretrying\n")
    for path in (root / "before.jsonl", root / "logs" / "run.log"):
        path.chmod(0o600)
    return root


def copy_of(root: Path, place: Path) -> None:
    """A copy of a workspace's database, as a backup."""
    place.parent.mkdir(parents=True, exist_ok=True)
    connection = apsw.Connection(str(root / "chronicle.db"))
    connection.execute("VACUUM INTO ?", (str(place),))
    connection.close()


def codes(root: Path) -> list[str]:
    """What doctor says of a workspace."""
    with Workspace.open(root, read_only=True) as workspace:
        return [finding.code for finding in workspace.doctor().findings]
