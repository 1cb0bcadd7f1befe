"""A process that lends the program a medium: it mounts one in a namespace of its own, and runs commands there.

Started by `tests.media`. It reads a JSON object a line from stdin and answers each with one on stdout; when
its stdin closes it ends, and what it mounted is gone with it, whatever became of the tests.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import pkgutil
import shutil
import subprocess
import sys
import tempfile
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import workbench
from workbench.cli import main
from workbench.error_log import write_details
from workbench.redaction.filter import default_filter

NOBODY = 65534
TUI = "workbench.tui"


def _load() -> None:
    """Everything the commands import, and what most of them make ready first."""
    for module in pkgutil.walk_packages(workbench.__path__, "workbench."):
        if not module.name.startswith(TUI) and not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    # Each command is a child of this process: the filter's patterns need not be compiled in every one of them.
    default_filter().redact_text("token=abc sk-1234 and words")


def _use() -> None:
    """Run commands once, for what they load on their way: a user without rights cannot read it later."""
    with tempfile.TemporaryDirectory() as folder, (Path(folder) / "out").open("w") as out:
        os.environ["WORKBENCH_STATE_DIR"] = folder
        root = f"{folder}/w"
        record = "sessions record --session s --kind message --actor-kind human --actor ada --content x"
        with redirect_stdout(out), redirect_stderr(out):
            chronicle = ("chronicle status", "chronicle brief --session s", "chronicle sections --session s")
            reading = ("status", "sessions list", "sessions show s", "timeline", "doctor", *chronicle)
            for words in ("init", record, *reading, "chronicle consolidate", "trust --show"):
                main([*words.split(), "--root", root])
                main([*words.split(), "--root", f"{root}/none"])
            main(["export", "jsonl", "--to", f"{folder}/log", "--root", root])
            write_details(ValueError())
        shutil.copytree(root, f"{root}-copied")


def _child(asked: dict[str, Any], out: int, err: int) -> int:
    os.environ.clear()
    os.environ.update(asked["env"])
    tempfile.tempdir = None
    os.dup2(out, 1)
    os.dup2(err, 2)
    source = os.memfd_create("stdin")
    os.write(source, asked["stdin"].encode("utf-8", "surrogateescape"))
    os.lseek(source, 0, os.SEEK_SET)
    os.dup2(source, 0)
    sys.stdin = os.fdopen(0, encoding="utf-8", errors="surrogateescape")
    sys.stdout = os.fdopen(1, "w", encoding="utf-8")
    sys.stderr = os.fdopen(2, "w", encoding="utf-8", errors="backslashreplace")
    os.chdir(asked["cwd"])
    module, _, function = (asked["call"] or "").partition(":")
    if module:
        importlib.import_module(module)
    if asked["unprivileged"] and os.geteuid() == 0:
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)
    if asked["stdout"] is not None:
        os.dup2(os.open(asked["stdout"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), 1)
    if module:
        print(json.dumps(getattr(sys.modules[module], function)(*asked["words"])))
        code = 0
    else:
        code = main(asked["words"])
    sys.stdout.flush()
    return code


def _run(asked: dict[str, Any]) -> dict[str, Any]:
    out, err = os.memfd_create("stdout"), os.memfd_create("stderr")
    child = os.fork()
    if child == 0:
        code = 99
        try:
            code = _child(asked, out, err)
        except BaseException:
            import traceback

            traceback.print_exc()
        finally:
            # Not `exit`: the parent's buffers are not the child's to flush.
            try:
                sys.stderr.flush()
            finally:
                os._exit(code)
    status = os.waitpid(child, 0)[1]
    said = []
    for descriptor in (out, err):
        os.lseek(descriptor, 0, os.SEEK_SET)
        with os.fdopen(descriptor, "rb") as file:
            said.append(file.read().decode("utf-8", "surrogateescape"))
    return {"code": os.waitstatus_to_exitcode(status), "out": said[0], "err": said[1]}


def _answer(asked: dict[str, Any]) -> dict[str, Any]:
    command = {"mount": "mount", "unmount": "umount"}.get(asked["do"])
    if command is not None:
        done = subprocess.run([command, *asked["words"]], capture_output=True, text=True, check=False)
        return {"code": done.returncode, "out": done.stdout, "err": done.stderr}
    return _run(asked)


def serve() -> None:
    """Answer until stdin closes."""
    _load()
    if "--use" in sys.argv:
        _use()
    gc.collect()
    gc.freeze()
    print(json.dumps({"pid": os.getpid()}), flush=True)
    for line in sys.stdin:
        print(json.dumps(_answer(json.loads(line))), flush=True)


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))
    serve()
