"""A program that records with evidence is killed at a random moment; what must hold of the workspace then."""

from __future__ import annotations

import hashlib
import random
from pathlib import Path
from typing import Any

from tests.kill_cases import EXPECTED, Tell, Victim, Work, copied, new_workspace, undisturbed
from workbench.evidence import EvidencePolicy, EvidenceStore, Stager
from workbench.memory.memory import Memory
from workbench.memory.receipts import Receipt
from workbench.storage import fetch
from workbench.workspace import Workspace

EACH = 12
LEFT_BEHIND = EXPECTED | {"staging_leftovers"}
"""What a kill may leave for `doctor --fix`."""


def memory_of(workspace: Workspace) -> Memory:
    """The shared memory of a workspace, with its artifacts."""
    stager = Stager(EvidenceStore(workspace.layout.artifacts), EvidencePolicy(), workspace.log.redactor)
    return Memory(workspace.log, lambda: workspace.registry, staging=lambda: stager)


def record(memory: Memory, files: Path, number: int) -> Receipt:
    """One call with everything that a call can carry; each changes the one fact of its task."""
    fact: dict[str, Any] = {"slot": "step", "value": str(number), "kind": "observed"}
    current = memory.facts(project="atlas", task_id="t").facts
    if current and current[0].value != str(number):
        fact["supersedes"] = current[0].id
    return memory.record_event(
        f"step {number} is done",
        project="atlas",
        task_id="t",
        request_id=f"r-{number}",
        source_files=[str(files / f"{number}.txt"), str(files / "shared.txt")],
        checkpoint={"goal": f"step {number}", "next_steps": [f"step {number + 1}"]},
        fact=fact,
    )


def kill_memory(folder: Path, kills: int, chance: random.Random) -> int:
    """Kill recordings; how many kills came before the end."""
    files = folder / "files"
    files.mkdir()
    for number in range(EACH):
        (files / f"{number}.txt").write_text(f"evidence {number} " * 50)
    (files / "shared.txt").write_text("evidence of all")
    empty = new_workspace(folder / "empty")

    def work(root: Path) -> Work:
        def run(tell: Tell) -> None:
            with Workspace.open(root) as workspace:
                memory = memory_of(workspace)
                with workspace.log.reader() as connection:
                    done = fetch.value(connection, "SELECT count(*) FROM memory_requests")
                for number in range(done, EACH):
                    record(memory, files, number)
                    tell(number)

        return run

    took = []
    for _ in range(2):
        # The first run loads what the later ones find loaded.
        with copied(empty, folder / "w") as root:
            took.append(undisturbed(work(root)))
            assert_whole(root, EACH)
    killed = 0
    for _ in range(kills):
        with copied(empty, folder / "w") as root:
            was_killed, promised = Victim(work(root)).kill_after(chance.uniform(0, min(took)))
            killed += was_killed
            found = assert_whole(root, len(promised))
            # The one whose answer the kill swallowed may be there too.
            assert found - len(promised) in (0, 1)
            assert promised == list(range(len(promised)))
            if found:
                assert_repeatable(root, files, found - 1)
            Victim(work(root)).end()
            assert assert_whole(root, EACH, mend=False) == EACH
    return killed


def assert_repeatable(root: Path, files: Path, number: int) -> None:
    """The last request can be made again and is the one that is stored."""
    with Workspace.open(root) as workspace:
        before = workspace.log.last_position()
        memory = memory_of(workspace)
        receipt = memory.record_event(
            f"step {number} is done",
            project="atlas",
            task_id="t",
            request_id=f"r-{number}",
            source_files=[str(files / f"{number}.txt"), str(files / "shared.txt")],
            checkpoint={"goal": f"step {number}", "next_steps": [f"step {number + 1}"]},
            fact=_stored_fact(workspace, number),
        )
        assert receipt.dedupe_status == "request_id_match"
        assert workspace.log.last_position() == before


def _stored_fact(workspace: Workspace, number: int) -> dict[str, Any]:
    payloads = [e.payload for e in workspace.log.read() if e.envelope.type == "fact.asserted"]
    keys = ("slot", "value", "kind", "supersedes")
    return {key: payloads[number][key] for key in keys if key in payloads[number]}


def assert_whole(root: Path, promised: int, *, mend: bool = True) -> int:
    """Nothing promised is missing and nothing is half there; with `mend`, `doctor --fix` leaves no orphan.

    Returns how many calls are stored.
    """
    with Workspace.open(root) as workspace:
        log = workspace.log
        with log.reader() as connection:
            calls = fetch.rows(
                connection,
                "SELECT o.position, o.fact_position, o.checkpoint_position, f.to_position "
                "FROM observations o LEFT JOIN facts f ON f.position = o.fact_position ORDER BY o.position",
            )
            links = fetch.rows(connection, "SELECT sha256 FROM evidence_links WHERE status = 'archived'")
        assert len(calls) >= promised
        # Each call is its observation, checkpoint and fact, one behind the other; only the last fact holds.
        for number, (position, fact, checkpoint, ended) in enumerate(calls):
            assert (position, checkpoint, fact) == (3 * number + 1, 3 * number + 2, 3 * number + 3)
            assert (ended is None) == (number == len(calls) - 1)
        assert log.last_position() == 3 * len(calls)
        assert len(links) == 2 * len(calls)
        named = {digest for (digest,) in links}
        store = EvidenceStore(workspace.layout.artifacts)
        for digest in named:
            assert hashlib.sha256(store.get(digest)).hexdigest() == digest
        if not mend:
            return len(calls)
        found = {finding.code for finding in workspace.doctor().findings}
        assert found <= LEFT_BEHIND, found
        workspace.doctor(fix=True)
        assert not workspace.doctor().findings
        lying = {path.name for path in workspace.layout.artifacts.rglob("*") if path.is_file()}
        assert {name for name in lying if not name.startswith(".")} == named
        return len(calls)
