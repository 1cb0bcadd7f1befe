"""What is said where even saying what went wrong went wrong: fixed sentences, and no word of the command."""

from __future__ import annotations

import sys
import threading
from contextlib import suppress
from types import TracebackType

SENTENCE = "something unforeseen stopped the command, and what it was cannot be shown"


def say(error: BaseException | None, *, as_json: bool = False) -> int:
    """Say it, with the details in the log file as far as they can be kept; the exit code. Never raises."""
    where = ""
    if error is not None:
        with suppress(Exception):
            from workbench.error_log import write_details

            where = write_details(error)
    with suppress(Exception):
        if as_json:
            import json

            said = {"status": "error", "error_type": "internal", "error": SENTENCE, "hint": where}
            sys.stdout.write(json.dumps({**said, "retryable": False}) + "\n")
            sys.stdout.flush()
        else:
            sys.stderr.write(f"error: {SENTENCE}\n" + (f"hint: {where}\n" if where else ""))
            sys.stderr.flush()
    return 1


def take_hooks() -> None:
    """From here on nothing that escapes, on whatever thread, is shown with the text that it has."""
    sys.excepthook = _escaped
    threading.excepthook = _escaped_thread
    sys.unraisablehook = _unraisable


def _escaped(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    if not issubclass(kind, KeyboardInterrupt):
        say(error)


def _escaped_thread(given: threading.ExceptHookArgs) -> None:
    if not issubclass(given.exc_type, SystemExit | KeyboardInterrupt):
        say(given.exc_value)


def _unraisable(given: sys.UnraisableHookArgs) -> None:
    # It stopped nothing: for the log alone.
    if given.exc_value is not None and not sys.is_finalizing():
        with suppress(Exception):
            from workbench.error_log import write_details

            write_details(given.exc_value)
