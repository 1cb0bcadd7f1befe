"""A program that records, in threads of its own, what it is told to on its standard input.

Argument: the folder of the log. Each line is a JSON list of arguments for `record_event`, one call each, all made
at once; the answer is a line with a JSON list: each a receipt, or {"refused": code, "current": id}.
"""

from __future__ import annotations

import json
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from tests.memory.written_cases import ATLAS
from workbench.evidence import EvidencePolicy, EvidenceStore, Stager
from workbench.evidence.folds import FOLDS as EVIDENCE_FOLDS
from workbench.log import FOLDS as LOG_FOLDS
from workbench.log import EventLog, EventTypeRegistry
from workbench.memory.errors import MemoryRefusal, StaleFact
from workbench.memory.events import EVENT_TYPES
from workbench.memory.folds import FOLDS
from workbench.memory.memory import Memory
from workbench.redaction.filter import SecretFilter


def main(folder: Path) -> None:
    """Answer until the input ends."""
    redactor = SecretFilter()
    stager = Stager(EvidenceStore(folder / "artifacts"), EvidencePolicy(), redactor, base=folder)
    with EventLog.open(
        folder / "log.db",
        (*FOLDS, *EVIDENCE_FOLDS, *LOG_FOLDS),
        EventTypeRegistry(EVENT_TYPES),
        redactor=redactor,
    ) as log:
        memory = Memory(log, lambda: ATLAS, staging=lambda: stager)
        print("ready", flush=True)
        for line in sys.stdin:
            calls = json.loads(line)
            together = threading.Barrier(len(calls))

            def call(arguments: dict[str, Any], together: threading.Barrier = together) -> dict[str, Any]:
                together.wait()
                try:
                    return memory.record_event(**arguments).to_dict()
                except MemoryRefusal as refusal:
                    current = refusal.current if isinstance(refusal, StaleFact) else None
                    return {"refused": refusal.code, "current": current}

            with ThreadPoolExecutor(len(calls)) as pool:
                print(json.dumps(list(pool.map(call, calls))), flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
