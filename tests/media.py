"""Small and read-only media, and users without rights, for tests that run the whole program on them.

The mounts are made in a namespace of a helper process's own: as root directly, else inside a user namespace.
Where neither works the tests fail, for then they would prove nothing.
"""

from __future__ import annotations

import atexit
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from tests.cli.program import CHECKOUT, Answer
from tests.media_process import NOBODY

_OURS = ("CHRONICLE_", "WORKBENCH_", "CLAUDE_", "XDG_", "SQLITE_")


class _Helper:
    """The process that runs the commands, each in a child of its own: what one leaves no other one finds."""

    def __init__(self, *, namespace: bool, loaded: bool) -> None:
        before: list[str] = []
        if namespace:
            before = ["unshare", "--mount", "--propagation", "private"]
            if os.geteuid() != 0:
                before[1:1] = ["--user", "--map-root-user"]
        self._process = subprocess.Popen(
            [*before, sys.executable, "-m", "tests.media_process", *(["--use"] if loaded else [])],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=CHECKOUT,
            env={**os.environ, "PYTHONPATH": str(CHECKOUT)},
        )
        self.pid: int = self._read()["pid"]

    def ask(self, asked: dict[str, Any]) -> Answer:
        """Send a request and wait for its answer."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(asked).encode() + b"\n")
        self._process.stdin.flush()
        said = self._read()
        return Answer(said["code"], said["out"], said["err"])

    def _read(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            _helper.cache_clear()
            raise RuntimeError(f"the helper process ended with {self._process.wait()}")
        said: dict[str, Any] = json.loads(line)
        return said

    def close(self) -> None:
        """End the process; its mounts go with it."""
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()


@cache
def _helper(namespace: bool, loaded: bool) -> _Helper:
    """One for all tests of this process: to load the whole program takes longer than most of them."""
    helper = _Helper(namespace=namespace, loaded=loaded)
    atexit.register(helper.close)
    return helper


class Program:
    """The program in processes of one helper: `run("status", "--root", …)`; a context manager.

    `home` holds every folder that the program takes from the environment.
    """

    def __init__(self, home: Path, *, namespace: bool = False, unprivileged: bool = False) -> None:
        self.env = {name: value for name, value in os.environ.items() if not name.startswith(_OURS)}
        self.env |= {"HOME": str(home), "TMPDIR": "/tmp", "PYTHONPATH": str(CHECKOUT)}
        self._home = home
        self._unprivileged = unprivileged
        self._helper = _helper(namespace, unprivileged)
        self._mounted: list[str] = []

    def run(
        self,
        *words: str | Path,
        stdin: str = "",
        stdout: Path | None = None,
        env: dict[str, str] | None = None,
        cwd: Path | None = None,
        call: str | None = None,
        privileged: bool = False,
    ) -> Answer:
        """One command; `stdout` is a file that its output goes to instead.

        With `call` ("module:function") that is called with the words, and its answer printed as JSON.
        """
        return self._ask(
            do="run",
            words=[str(word) for word in words],
            stdin=stdin,
            call=call,
            stdout=None if stdout is None else str(stdout),
            env=self.env if env is None else env,
            cwd=str(cwd or self._home),
            unprivileged=self._unprivileged and not privileged,
        )

    def mount(self, *words: str | Path) -> None:
        """Run `mount` inside the namespace."""
        asked = [str(word) for word in words]
        done = self._ask(do="mount", words=asked)
        if done.code != 0:
            raise RuntimeError(f"no medium could be mounted: {done.err}")
        if not any(word.startswith("remount,") for word in asked):
            self._mounted.append(asked[-1])

    def inside(self, path: Path) -> Path:
        """A path of the namespace as this process reaches it."""
        return Path(f"/proc/{self._helper.pid}/root") / str(path).lstrip("/")

    def _ask(self, **asked: Any) -> Answer:
        return self._helper.ask(asked)

    def close(self) -> None:
        """Take away what was mounted."""
        while self._mounted:
            done = self._ask(do="unmount", words=[self._mounted.pop()])
            if done.code != 0:
                raise RuntimeError(f"a medium could not be taken away: {done.err}")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


@contextmanager
def open_folder() -> Iterator[Path]:
    """A new folder that users without rights may enter and write to; pytest's own are closed to them."""
    made = Path(tempfile.mkdtemp(prefix="media-", dir="/tmp"))
    try:
        made.chmod(0o777)
        yield made
    finally:
        # What was sealed has to be opened before it can be removed.
        for folder, _, _ in os.walk(made):
            Path(folder).chmod(0o700)
        shutil.rmtree(made)


@contextmanager
def medium(home: Path, kib: int) -> Iterator[tuple[Program, Path]]:
    """The program beside an empty medium of `kib` KiB: its folder, in the program's namespace only."""
    place = home / "medium"
    place.mkdir()
    with Program(home, namespace=True) as program:
        fill(program, place, kib)
        yield program, place


def fill(program: Program, place: Path, kib: int) -> None:
    """Mount another empty medium over `place`."""
    program.mount("-t", "tmpfs", "-o", f"size={kib}k,mode=777", "tmpfs", place)


def resize(program: Program, place: Path, kib: int) -> None:
    """Make the medium at `place` larger or smaller."""
    program.mount("-o", f"remount,size={kib}k", place)


def seal(folder: Path) -> None:
    """Take the right to write from the owner, and every right from others, of a folder and what is in it."""
    for path in sorted(folder.rglob("*"), reverse=True):
        if not path.is_symlink():
            path.chmod(0o500 if path.is_dir() else 0o400)
    folder.chmod(0o500)


def give_away(folder: Path) -> None:
    """Make a folder and what lies in it the property of the user without rights."""
    if os.geteuid() == 0:
        for path in (folder, *folder.rglob("*")):
            os.chown(path, NOBODY, NOBODY, follow_symlinks=False)
