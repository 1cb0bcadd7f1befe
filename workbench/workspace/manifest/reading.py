"""Reading a manifest: from bytes to values, with everything that is wrong said at once."""

from __future__ import annotations

import errno
import os
import re
import stat
import sys
from contextlib import suppress
from pathlib import Path

from workbench.workspace.errors import ManifestError
from workbench.workspace.manifest.model import Manifest
from workbench.workspace.manifest.problems import Findings, Problem
from workbench.workspace.manifest.values import manifest_of


def read_manifest(path: Path) -> Manifest:
    """The manifest in a file. Relative paths in it are meant from its folder.

    Raises `WorkspaceMissing` if there is none, `ManifestError` naming file, line and key if it cannot be
    read or holds a value of the wrong kind; the error's `problems` are all that is wrong.
    """
    raw, stamp = read_bytes(path)
    return parse(path, raw, stamp)


def read_bytes(path: Path) -> tuple[bytes, tuple[int, int, int]]:
    """What is in the file, and its stamp: modification time, size, inode. Raises as `read_manifest` does."""
    _refuse_other(path)
    try:
        with path.open("rb") as file:
            status = os.fstat(file.fileno())
            return file.read(), stamp_of(status)
    except FileNotFoundError:
        # Here, as below: only a refusal needs it.
        from workbench.workspace.missing import no_manifest

        raise no_manifest(path) from None
    except OSError as error:
        hint = "name the folder of a workspace with --root"
        if isinstance(error, PermissionError):
            from workbench.workspace.missing import who_may_read

            hint = who_may_read(path)
        problem = Problem(0, "", f"cannot be read: {error.strerror}", "error")
        raise _refused(problem, path, hint=hint) from error


def stamp_of(status: os.stat_result) -> tuple[int, int, int]:
    """What tells one state of a file from another without reading it."""
    return status.st_mtime_ns, status.st_size, status.st_ino


def parse(path: Path, raw: bytes, stamp: tuple[int, int, int] = (0, 0, 0)) -> Manifest:
    """The manifest that these bytes are, as if they stood at `path`. Raises `ManifestError`."""
    import tomllib

    try:
        values = tomllib.loads(raw.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        line = raw[: error.start].count(b"\n") + 1
        problem = Problem(line, "", "not UTF-8", "error")
        raise _refused(problem, path, hint="save the file as UTF-8") from None
    except tomllib.TOMLDecodeError as error:
        raise _refused(_syntax(str(error), raw), path, hint="correct that place and try again") from None
    except RecursionError:
        raise _refused(Problem(0, "", "nested too deeply", "error"), path) from None
    except (ValueError, OverflowError):
        # What is TOML, and more than Python turns into a value.
        raise _refused(_long_number(raw), path, hint="shorten it and try again") from None
    findings = Findings(path, raw)
    manifest = manifest_of(path, values, findings, stamp)
    if findings.has_errors:
        problems = findings.problems()
        raise ManifestError(_sentence(path, problems), hint=_hint(problems), problems=problems)
    return manifest


def _sentence(path: Path, problems: tuple[Problem, ...]) -> str:
    first = next(each for each in problems if each.severity == "error")
    return f"{path}:{first.line}: {first.key}: {first.message}"


def _hint(problems: tuple[Problem, ...]) -> str:
    others = sum(each.severity == "error" for each in problems) - 1
    if not others:
        return "correct that line and try again"
    more = "one more thing is" if others == 1 else f"{others} more things are"
    return f"correct that line and try again; {more} wrong, see: workbench manifest check"


def _refused(problem: Problem, path: Path, *, hint: str = "") -> ManifestError:
    line = f":{problem.line}" if problem.line else ""
    return ManifestError(f"{path}{line}: {problem.message}", hint=hint, problems=(problem,))


_WHERE = re.compile(r" \(at line ([0-9]+), column ([0-9]+)\)$")
_AT_END = " (at end of document)"


def _syntax(said: str, raw: bytes) -> Problem:
    """What the TOML parser said, with its line apart."""
    where = _WHERE.search(said)
    if where is not None:
        message = f"{said[: where.start()]}, at column {where[2]}"
        return Problem(int(where[1]), "", message, "error")
    last = len(raw.rstrip().splitlines()) or 1
    return Problem(last, "", said.replace(_AT_END, ", at the end of the file"), "error")


def _long_number(raw: bytes) -> Problem:
    """Which number has more digits than Python reads."""
    from workbench.redaction import redact
    from workbench.workspace.manifest.places import Places
    from workbench.workspace.manifest.problems import dotted

    most = sys.get_int_max_str_digits()
    line, key = 0, ""
    # The rest of the file may be broken: the parser of values did not get there.
    with suppress(IndexError, StopIteration):
        line, key = next(
            (place.line, redact(dotted(at)).text)
            for at, place in Places.of(raw).items()
            if place.kind == "integer" and place.end - place.start > most
        )
    return Problem(line, key, "a number is too long", "error")


_KINDS = (
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a named pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)
_ANOTHER = "move it away and put the manifest back in its place, or make a new one with: workbench init"


def _refuse_other(path: Path) -> None:
    """Raise `ManifestError` for what is no file: reading a pipe would wait for whoever is at its
    other end."""
    try:
        mode = path.stat().st_mode
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise _is_other(
                path, f"{path} is a symbolic link that leads in a circle, and not a manifest"
            ) from error
        # Reading it says the rest.
        return
    for is_kind, what in _KINDS:
        if is_kind(mode):
            raise _is_other(path, f"{path} is {what}, and not a manifest")


def _is_other(path: Path, sentence: str) -> ManifestError:
    problem = Problem(0, "", sentence.removeprefix(f"{path} "), "error")
    return ManifestError(sentence, hint=_ANOTHER, problems=(problem,))
