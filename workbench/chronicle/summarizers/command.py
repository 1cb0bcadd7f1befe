"""Any program as a summarizer: the prompt on its standard input, prose on its standard output.

The program is started from its list of words without a shell, in a folder that the caller names, and only in
a workspace that the person trusts (contract workspace, "Trust"; that is the caller's to see to). It is told
`prompt.Prompt.text`: the instruction, a blank line, and the fenced events. Exit status 0 and UTF-8 text are
an answer; anything else is a failure, with the last line of its standard error in the message.

Of our environment it gets what a program needs to run at all (`PASSED_ON`), and one variable more if the
configuration names one: a key, usually. Nothing else that happens to be set, other programs' keys among it,
reaches it. `DRAWING` tells it, and whatever it starts, who waits for it.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import msgspec

from workbench.chronicle.summarizers import answers, process
from workbench.chronicle.summarizers.errors import SummarizerFailed
from workbench.log.pins.request import Request, Response

PASSED_ON = frozenset(
    "PATH HOME USER LOGNAME SHELL LANG LANGUAGE TZ TMPDIR TEMP TMP SYSTEMROOT "
    "XDG_CONFIG_HOME XDG_DATA_HOME XDG_STATE_HOME XDG_CACHE_HOME XDG_RUNTIME_DIR "
    "SSL_CERT_FILE SSL_CERT_DIR NO_PROXY no_proxy".split()
)
"""Variables that the program gets, and those that begin with `LC_`. No proxy: its address may hold a key."""

DRAWING = "WORKBENCH_DRAWING"
"""Variable with the numbers of the processes that wait for this program's answer, outermost first: what they
hold it must not wait for."""


class CommandModel:
    """A program that answers a request; satisfies `pins.model.Model`."""

    def __init__(
        self,
        command: Sequence[str],
        *,
        timeout: float,
        environ: Mapping[str, str],
        variable: str = "",
        folder: Path | None = None,
        cancelled: Callable[[], bool] | None = None,
    ) -> None:
        """Take a program's words; `timeout` in seconds, `variable` is one more that it gets of `environ`."""
        self._command = tuple(command)
        self._timeout = timeout
        waiting = f"{environ.get(DRAWING, '')} {os.getpid()}".strip()
        self._environment = passed_on(environ, variable) | {DRAWING: waiting}
        self._folder = folder
        self._cancelled = cancelled

    @property
    def model(self) -> str:
        """What a request calls it: another program, or other arguments, draws anew."""
        return f"command {msgspec.json.encode(self._command).decode()}"

    def complete(self, request: Request) -> Response:
        """The program's answer.

        Raises `SummarizerConfiguration` if it cannot be started, `SummarizerTimeout`, `SummarizerFailed`,
        `SummarizerOutput`, `SummarizerCancelled`.
        """
        given = "\n".join(message.content for message in request.messages)
        ended = process.run(
            self._command,
            given.encode("utf-8", "replace"),
            timeout=self._timeout,
            environment=self._environment,
            folder=self._folder,
            cancelled=self._cancelled,
        )
        if ended.status:
            said = answers.complaint(ended.complaint.decode("utf-8", "replace"))
            raise SummarizerFailed(
                f"the summarizer’s program {_ended(ended.status)}{f': {said}' if said else ''}",
                hint="run it by hand: its standard input is the prompt, its standard output the prose",
            )
        return Response(text=answers.prose(answers.decoded(ended.output)), finish_reason="stop")


def passed_on(environ: Mapping[str, str], variable: str = "") -> dict[str, str]:
    """What of an environment the program gets."""
    return {
        name: value
        for name, value in environ.items()
        if name in PASSED_ON or name.startswith("LC_") or (variable and name == variable)
    }


def _ended(status: int) -> str:
    if status > 0:
        return f"ended with status {status}"
    try:
        return f"was ended by {signal.Signals(-status).name}"
    except ValueError:
        return f"was ended by signal {-status}"
