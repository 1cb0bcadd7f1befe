"""Where the details of an unforeseen error go: a person sees one sentence, the file has the rest."""

from __future__ import annotations

import os
import stat
from datetime import UTC, datetime

from workbench.locations import log_file

LOG_KEEPS = 1_000_000
"""Bytes after which the log file is begun anew, the old one kept beside it."""


def write_details(error: BaseException) -> str:
    """Append the traceback to the log file; a sentence, without its full stop, that says where it is.

    Where the text cannot be filtered, only places in the program's code are written.
    """
    path = log_file()
    try:
        import traceback

        from workbench.redaction import redact

        # An error may quote what it could not handle, and that may be a key.
        details = redact("".join(traceback.format_exception(error))).text
    except Exception:
        details = _without_text(error)
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if path.exists() and path.stat().st_size > LOG_KEEPS:
            path.replace(path.with_suffix(".log.1"))
        # The text may quote what a workspace holds: for its owner's eyes only.
        # Without O_NONBLOCK a pipe of that name would hold the program up until somebody reads it.
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NONBLOCK
        descriptor = os.open(path, flags, 0o600)
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            os.close(descriptor)
            return f"the details could not be written to {path}: it is no file"
        with os.fdopen(descriptor, "a", encoding="utf-8", errors="backslashreplace") as log:
            log.write(f"{datetime.now(UTC).isoformat()} {details}\n")
    except OSError as problem:
        return f"the details could not be written to {path}: {problem.strerror or problem}"
    return f"the details are in {path}"


def _without_text(error: BaseException | None) -> str:
    """The kinds of an error and of what led to it, and where in the code each was raised."""
    lines: list[str] = []
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        lines.append(type(error).__qualname__)
        trace = error.__traceback__
        while trace is not None:
            code = trace.tb_frame.f_code
            lines.append(f"  {code.co_filename}:{trace.tb_lineno} in {code.co_name}")
            trace = trace.tb_next
        error = error.__cause__ or error.__context__
    return "\n".join(lines)
