"""The program as a process on a terminal of its own, which draws nothing: what is typed, and all that it says."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
import threading

from tests.cli.program import CHECKOUT

_SECONDS = 60


def on_terminal(*words: str | os.PathLike[str], typed: str = "", **variables: str) -> tuple[int, bytes]:
    """Exit code and output of `workbench WORDS`; it is killed where it does not end."""
    leader, follower = pty.openpty()
    child = subprocess.Popen(
        [sys.executable, "-m", "workbench", *words],
        stdin=follower,
        stdout=follower,
        stderr=follower,
        env={**os.environ, "PYTHONPATH": str(CHECKOUT), **variables},
    )
    os.close(follower)
    os.write(leader, typed.encode())
    said = b""
    killing = threading.Timer(_SECONDS, child.kill)
    killing.start()
    try:
        while chunk := os.read(leader, 4096):
            said += chunk
    except OSError:
        pass
    finally:
        killing.cancel()
        os.close(leader)
    return child.wait(), said
