"""The command line: `workbench` (contract surfaces, "Ours").

`main` is the program's entry point and the one place where an error becomes words and an exit code.
Commands live in one module per noun and load only when they run.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Sequence

INTERRUPTED = 130
"""What a shell expects of a program that was stopped with Ctrl-C."""

_COMPLETING = "_WORKBENCH_COMPLETE"
"""Set where a shell asks what a word may become. Every key press waits for the answer, and it repeats none of
the words."""

COLLECTOR_DEFAULTS = gc.get_threshold()
"""What the garbage collector began with, for a command that goes on for hours."""

_YOUNG_OBJECTS = 50_000
"""How many new objects the collector waits for in a command's own process. Loading modules makes tens of
thousands that all stay, and looking for garbage among them is a tenth of a short command's time."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command (default: the process's own arguments) and return its exit code.

    0 done; 1 failed or found something; 2 usage or configuration; 3 schema action needed; 130 stopped
    by Ctrl-C, 143 and 129 by SIGTERM and SIGHUP. Errors are said here and never raised: in words on stderr,
    or as one JSON object on stdout with `--format json`. Details of an unforeseen error go to a file.
    """
    owns_process = arguments is None
    from workbench.cli.last_word import say, take_hooks

    if owns_process:
        from workbench.cli.streams import stand_in

        gc.set_threshold(_YOUNG_OBJECTS)
        take_hooks()
        stand_in()
    try:
        return _stopped(_run(sys.argv[1:] if arguments is None else list(arguments)))
    except KeyboardInterrupt:
        from workbench.cli.streams import end_line

        end_line()
        return _stopped(INTERRUPTED)
    except Exception as error:
        return say(error)
    finally:
        if owns_process:
            # The process ends: its memory goes back as a whole, no need to search it once more.
            gc.freeze()


def _stopped(code: int) -> int:
    """The code, which says what stopped the command, where something did."""
    if code != INTERRUPTED:
        return code
    from workbench.cli.interrupts import ended_with

    return ended_with(code, INTERRUPTED)


def _run(words: list[str]) -> int:
    from workbench.cli.options import Given

    given = Given()
    try:
        from workbench.cli.group import program

        if _COMPLETING not in os.environ:
            _look_at(words)
        code = program.main(words, prog_name="workbench", standalone_mode=False, obj=given)
        return code if isinstance(code, int) else 0
    except Exception as error:
        from workbench.cli.errors import report

        if _COMPLETING in os.environ:
            _look_at(words)
        return report(error, given, words)


def _look_at(words: list[str]) -> None:
    from workbench.cli.shown import look_at

    look_at(words)
