"""Programs that run jobs as processes of their own, and rows of jobs as other programs would leave them."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tests.laid_out import laid_out_once
from workbench.log.times import to_micros
from workbench.workspace import Workspace

CHECKOUT = Path(__file__).parents[2]
NOW = datetime(2031, 5, 4, 12, 0, tzinfo=UTC)
OTHER_MACHINE = "laptop/4711/8812/4026531836"

HOLDER = """
import sys
from pathlib import Path
from workbench.workspace import Workspace
from workbench.errors import WorkbenchError

root, kind, title, lease = sys.argv[1:5]
with Workspace.open(Path(root)) as workspace:
    try:
        with workspace.jobs.run(kind, title, lease=lease or None) as job:
            job.progress(1, 4, "first step")
            print("running", job.id, flush=True)
            for line in sys.stdin:
                if line == "ask\\n":
                    print("asked" if job.cancelled() else "go on", flush=True)
                elif line == "stop\\n":
                    job.finish("stopped in time", stopped=True)
                    break
                else:
                    job.progress(2, 4, line.strip())
                    print("moved", flush=True)
            else:
                job.finish("all done")
        print("ended", flush=True)
    except WorkbenchError as error:
        print(error.code, error.message.replace("\\n", " "), flush=True)
"""
"""Holds a job open until its input says what to do: a note of progress, `ask`, `stop`, or the end of it."""


class Holder:
    """A process that runs a job."""

    def __init__(
        self, root: Path, kind: str = "import", title: str = "a job elsewhere", lease: str = ""
    ) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", HOLDER, str(root), kind, title, lease],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": str(CHECKOUT)},
        )

    def answer(self) -> str:
        """The next line that it writes."""
        assert self.process.stdout is not None
        return self.process.stdout.readline().strip()

    def running(self) -> int:
        """Wait until its job runs; the job's number."""
        word, _, number = self.answer().partition(" ")
        assert word == "running"
        return int(number)

    def say(self, line: str) -> None:
        """Tell it what to do."""
        assert self.process.stdin is not None
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def end(self) -> str:
        """Let its job end well; what it says then."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        said = self.answer()
        self.process.wait(20)
        return said

    def close(self) -> None:
        """Whatever it does, it is gone."""
        self.process.kill()
        self.process.wait(20)
        for pipe in (self.process.stdin, self.process.stdout):
            assert pipe is not None
            with suppress(BrokenPipeError):
                pipe.close()

    def kill(self) -> None:
        """SIGKILL."""
        self.process.kill()
        self.process.wait(20)


@contextmanager
def holding(
    root: Path, kind: str = "import", title: str = "a job elsewhere", lease: str = ""
) -> Iterator[Holder]:
    """A process that runs a job; it is gone when the block ends."""
    holder = Holder(root, kind, title, lease)
    try:
        yield holder
    finally:
        holder.close()


@laid_out_once
def new_root(root: Path) -> Path:
    """An empty workspace on disk."""
    Workspace.create(root, title="Jobs", timezone="UTC", owner="ada").close()
    return root


def put(workspace: Workspace, number: int, **given: Any) -> int:
    """A row as some program has left it."""
    row: dict[str, Any] = {
        "job_id": number,
        "kind": "import",
        "title": f"job {number}",
        "status": "done",
        "lease": None,
        "process": OTHER_MACHINE,
        "started_at": to_micros(NOW),
        "heartbeat_at": to_micros(NOW),
        "finished_at": to_micros(NOW),
        "done": 0,
        "total": None,
        "note": "",
        "outcome": "",
        "error": "",
        "hint": "",
        "stop_asked": 0,
        **given,
    }
    if row["status"] == "running":
        row["finished_at"] = None
    with workspace.log.database.transaction() as connection:
        names = ", ".join(row)
        connection.execute(
            f"INSERT INTO jobs({names}) VALUES({', '.join('?' * len(row))})", tuple(row.values())
        )
    return number
