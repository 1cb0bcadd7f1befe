"""Errors in words, or as one JSON object, and the exit code that goes with them."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

import click

from workbench.cli.given import Given
from workbench.cli.last_word import say
from workbench.cli.output import OutputClosed, drop_output, to_stderr, write_json
from workbench.cli.streams import end_line
from workbench.errors import WorkbenchError
from workbench.redaction.suspicion import may_hold


class UsageRefused(WorkbenchError):
    """The command cannot be meant as it was written."""

    code = "usage"
    exit_code = 2


class SystemRefused(WorkbenchError):
    """The operating system refused a file or a folder."""

    code = "system"

    def __init__(self, message: str) -> None:
        super().__init__(message, hint="check that it exists, its permissions, and the disk")


def report(error: Exception, given: Given, words: Sequence[str]) -> int:
    """Say what went wrong, where the caller looks for it; the exit code.

    `words` are the command line: an error of usage may come before `--format` was read from it.
    """
    if isinstance(error, OutputClosed):
        drop_output()
        return 1
    if isinstance(error, click.Abort):
        end_line()
        return 130
    as_json = given.as_json or (given.format is None and _asks_for_json(words))
    try:
        return _report(_foreseen(error), given, as_json)
    except Exception as second:
        # It may have come while secrets were taken out of what was to be said.
        if second.__context__ is None:
            second.__context__ = error
        return say(second, as_json=as_json)


def _report(error: Exception, given: Given, as_json: bool) -> int:
    said = _said(error, help_too=not as_json)
    said["hint"] = with_root(said["hint"], given)
    try:
        _name_a_scrub(said, given)
        _without_secrets(said)
        if as_json:
            write_json(said)
        else:
            to_stderr(f"error: {said['error']}")
            if said["hint"]:
                to_stderr(f"hint: {said['hint']}")
    except (OutputClosed, OSError):
        drop_output()
    _end_output()
    return _exit_code(error)


def tell_waiting(seconds: float, being_scrubbed: bool = False) -> None:
    """Say on a terminal that a write waits for another program; for `Database.on_wait`."""
    if sys.stderr is None or not sys.stderr.isatty():
        return
    try:
        other = "another program that writes to this workspace"
        whom = "a scrub, which has this workspace for itself" if being_scrubbed else other
        sys.stderr.write(f"waiting for {whom} ({seconds:.0f} s)\n")
        sys.stderr.flush()
    except OSError:
        return


@contextmanager
def telling_waits() -> Iterator[None]:
    """Say on a terminal, too, that opening a database in the block waits for another program."""
    from workbench.storage.turns import told_of_waits

    before = told_of_waits.set(tell_waiting)
    try:
        yield
    finally:
        told_of_waits.reset(before)


def _end_output() -> None:
    # What was printed before the error may have nowhere to go: the interpreter would end with its own words.
    try:
        sys.stdout.flush()
    except (OSError, ValueError):
        drop_output()


def _foreseen(error: Exception) -> Exception:
    """What nobody translated on its way up, where it is plain what it means."""
    from workbench.storage.errors import DiskFull, StorageError, is_full, no_room, translated

    full = next((cause for cause in _causes(error) if is_full(cause)), None)
    if full is not None and not isinstance(error, DiskFull):
        return no_room(getattr(full, "filename", None) or "the output")
    if isinstance(error, WorkbenchError | click.ClickException):
        return error
    if isinstance(error, OSError) and error.filename is not None and error.strerror:
        return SystemRefused(f"{_name(error.filename)}: {error.strerror}")
    try:
        with translated("the workspace's database"):
            raise error
    except StorageError as known:
        return known
    except Exception:
        return error


def _name(filename: object) -> str:
    return filename.decode("utf-8", "replace") if isinstance(filename, bytes) else str(filename)


def _causes(error: BaseException) -> Iterator[BaseException]:
    seen: BaseException | None = error
    while seen is not None:
        yield seen
        seen = seen.__cause__


def _said(error: Exception, *, help_too: bool) -> dict[str, Any]:
    if isinstance(error, WorkbenchError):
        return _form(error.code, _sentence(error), _hint(error), error.retryable)
    if isinstance(error, click.exceptions.NoArgsIsHelpError):
        if help_too:
            click.echo(error.format_message(), err=True)
        return _form("usage", "a command is missing", _help_hint(error.ctx))
    if isinstance(error, click.UsageError):
        return _form("usage", error.format_message(), _help_hint(error.ctx))
    if isinstance(error, click.ClickException):
        return _form("error", error.format_message())
    # Here, so that commands that end well do not pay for it.
    from workbench.error_log import write_details

    sentence = f"an unforeseen {type(error).__name__} stopped the command"
    return _form("internal", sentence, write_details(error))


def with_root(hint: str, given: Given) -> str:
    """The commands in a hint for the workspace that was named: copied, they must not act on another one.

    Left alone are commands that name a workspace already, `demo`, which makes one of its own, and an `init`
    that is to happen elsewhere.
    """
    if not given.root or "workbench " not in hint:
        return hint
    # Here, as above.
    import re
    import shlex

    root = f" --root {shlex.quote(given.root)}"
    commands = (
        r"(?<!beside it with: )\bworkbench "
        r"(?>jobs (?:stop|show) -?\d+|redactions (?:rescan|scrub)(?: --confirm)?"
        r"|chronicle (?:section|reconsolidate) \d+-\d+(?:#\d+)?"
        r"|(?:sessions|import|export|jobs|names|manifest|evidence|chronicle) [a-z][a-z-]*"
        r"|(?:init|status|migrate|doctor|timeline|record|startup|brief|recent|facts|tasks|reviews|jobs|open|trust"
        r"|--read-only)\b)(?! --root)"
    )
    return re.sub(commands, lambda found: found[0] + root, hint)


def _sentence(error: WorkbenchError) -> str:
    """What went wrong, in a person's words where the library's are a programmer's."""
    if error.code == "chronicum_not_found":
        named = error.message.partition("not found: ")[2]
        return f"there is no session {named}" if named else "there is no such session"
    return error.message.removeprefix("chronica: ") or "that did not work"


def _hint(error: WorkbenchError) -> str:
    """What to do about it on a command line, where that says more than the error itself can."""
    if error.code == "chronicum_not_found":
        # One hint for missing and foreign sessions, as they are one answer.
        return "list them with: workbench sessions list; another owner's session needs --owner"
    if error.code == "manifest" and not error.hint:
        return "look at that file, or name the folder of another workspace with --root"
    if error.code == "db_damaged" and "-wal" in error.hint:
        # The file is whole, and what lies beside it belongs to another: the error says what to do about it.
        return error.hint
    if error.code == "db_damaged":
        return "restore a copy of it, or see what is broken: workbench doctor; this file was not touched"
    if error.code == "not_a_workbench_database":
        return f"{error.hint}; if it was this workspace's, restore a copy of it"
    return error.hint


def _form(code: str, sentence: str, hint: str = "", retryable: bool = False) -> dict[str, Any]:
    return {
        "status": "error",
        "error_type": code,
        "error": sentence,
        "hint": hint,
        "retryable": retryable,
    }


def _name_a_scrub(said: dict[str, Any], given: Given) -> None:
    """Of a database that another program holds: say so where that takes secrets out of it."""
    if said["error_type"] != "db_locked":
        return
    if _being_scrubbed(given):
        said["error"] = "the workspace is being scrubbed, and nothing else can be written until that is done"
        said["hint"] = "try again later; how far it is: workbench jobs"


_LOOK_SECONDS = 1.0


def _being_scrubbed(given: Given) -> bool:
    """Whether a scrub holds the workspace; False where that cannot be seen at once.

    Who holds the database against readers as well was waited for already, and is not waited for again.
    """
    from threading import Thread

    from workbench.cli.options import root_of
    from workbench.workspace.workspace import Workspace

    seen: list[bool] = []

    def look() -> None:
        # Whatever fails: that it is locked is true all the same.
        with suppress(Exception), Workspace.open(root_of(given), read_only=True) as workspace:
            seen.append(workspace.jobs.being_scrubbed())

    looking = Thread(target=look, daemon=True)
    looking.start()
    looking.join(_LOOK_SECONDS)
    return bool(seen and seen[0])


def _without_secrets(said: dict[str, Any]) -> None:
    """An error may quote what it could not take, and that may be a key: no log is the place for one."""
    # What nobody foresaw may be that the filter fails: that shows here. Else its rules, which take longer
    # to load than most commands run, are left alone where they can find nothing.
    unforeseen = said["error_type"] == "internal"
    parts = [part for part in ("error", "hint") if unforeseen or may_hold(said[part])]
    if not parts:
        return
    from workbench.redaction import redact

    for part in parts:
        said[part] = redact(said[part]).text


def _exit_code(error: Exception) -> int:
    return int(error.exit_code) if isinstance(error, WorkbenchError | click.ClickException) else 1


def _help_hint(ctx: click.Context | None) -> str:
    return f"see: {ctx.command_path if ctx is not None else 'workbench'} --help"


def _asks_for_json(words: Sequence[str]) -> bool:
    """Whether JSON is asked for by a command line that could not be read."""
    asked = False
    for index, word in enumerate(words):
        if word == "--":
            break
        if word == "--format" and index + 1 < len(words):
            asked = words[index + 1] == "json"
        elif word.startswith("--format="):
            asked = word == "--format=json"
    return asked
