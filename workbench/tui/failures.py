"""Errors as a person sees them: one sentence, a hint, and the details in the log file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from workbench.error_log import write_details
from workbench.errors import WorkbenchError
from workbench.tui.hints import tui_hint
from workbench.tui.present import capital


@dataclass(frozen=True, slots=True)
class Failure:
    """What went wrong: a title, one sentence, what helps, and the stable code."""

    title: str
    sentence: str
    hint: str = ""
    code: str = ""
    untouched: bool = False
    """The file was refused as it is, and nothing was written to it."""

    def as_text(self) -> str:
        """The whole as plain text, for the clipboard."""
        parts = [self.title, self.sentence, self.hint, f"code: {self.code}" if self.code else ""]
        return "\n".join(part for part in parts if part) + "\n"


def failure_of(error: BaseException, title: str = "", root: Path | None = None) -> Failure:
    """The failure that a person is shown for an error.

    A `WorkbenchError` speaks for itself; commands in its hint are for the workspace at `root`. Anything
    else is a fault of the program: its traceback goes to the log file, whose path becomes the hint.
    """
    if isinstance(error, WorkbenchError):
        sentence = error.message or "The program could not do that."
        return Failure(
            title or "That did not work",
            capital(sentence),
            capital(tui_hint(error.hint, root)),
            error.code,
            error.exit_code == 3,
        )
    where = write_log(error)
    return Failure(
        title or "The program made a mistake",
        f"An unexpected {type(error).__name__} stopped this action; nothing else is affected.",
        where,
        "internal",
    )


_OF_THE_FILE = frozenset(
    (
        "storage",
        "db_damaged",
        "not_a_workbench_database",
        "db_replaced",
        "db_missing",
        "workspace_lost",
        "no_database_file",
    )
)


def repeats(failure: Failure, shown: Failure) -> bool:
    """Whether `failure` says of the same cause what `shown` says already."""
    if failure.code in _OF_THE_FILE and shown.code in _OF_THE_FILE:
        # A file that was taken away fails in many ways at once.
        return "workspace_lost" in (failure.code, shown.code) or failure.sentence == shown.sentence
    return (failure.code, failure.sentence) == (shown.code, shown.sentence)


def write_log(error: BaseException) -> str:
    """Write the traceback to the log file; returns a sentence that says where the details are."""
    return f"{capital(write_details(error))}."
