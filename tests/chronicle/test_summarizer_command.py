"""The summarizer `command`, with real programs that behave and misbehave."""

from __future__ import annotations

import os
import shutil
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from workbench.chronicle.summarizers import process
from workbench.chronicle.summarizers.command import CommandModel, passed_on
from workbench.chronicle.summarizers.errors import (
    SummarizerCancelled,
    SummarizerConfiguration,
    SummarizerError,
    SummarizerFailed,
    SummarizerOutput,
    SummarizerTimeout,
)
from workbench.log.pins.request import Message, Request

ENVIRON: Mapping[str, str] = {"PATH": os.environ.get("PATH", os.defpath)}
REQUEST = Request(model="x", messages=(Message("system", "Write.\n"), Message("user", "the data\n")))
CAT = shutil.which("cat") or ""


def python(script: str) -> list[str]:
    """A program of a few lines, started without looking for any package."""
    return [sys.executable, "-I", "-S", "-c", script]


def said(command: Sequence[str], request: Request = REQUEST, **more: Any) -> str:
    """What a program answers."""
    given: dict[str, Any] = {"timeout": 20.0, "environ": ENVIRON}
    return CommandModel(command, **(given | more)).complete(request).text


def failed(
    command: Sequence[str], kind: type[SummarizerError], request: Request = REQUEST, **more: Any
) -> SummarizerError:
    """The error of a program."""
    with pytest.raises(kind) as caught:
        said(command, request, **more)
    return caught.value


def test_a_program_reads_the_prompt_and_its_output_is_the_prose() -> None:
    assert said([CAT]) == "Write.\n\nthe data"


def test_no_shell_reads_the_words(tmp_path: Path) -> None:
    words = ["$(touch made)", "; touch made", "*", "a b"]
    out = said(python("import sys; print('|'.join(sys.argv[1:]))") + words, folder=tmp_path)
    assert out == "$(touch made)|; touch made|*|a b" and not list(tmp_path.iterdir())


def test_a_large_prompt_and_a_large_answer_pass_at_the_same_time() -> None:
    request = Request(model="x", messages=(Message("user", "line of text\n" * 60_000),))
    out = said([CAT], request)
    assert len(out) == 60_000 * 13 - 1


@pytest.mark.parametrize(
    "script",
    [
        "print('done')",
        "import os; os.close(0); print('done')",
        "import sys; sys.stdin.buffer.read(1); sys.stdin.close(); print('done')",
    ],
)
def test_a_program_may_ignore_its_input_or_close_it_early(script: str) -> None:
    request = Request(model="x", messages=(Message("user", "x" * 3_000_000),))
    assert said(python(script), request) == "done"


def test_a_program_that_closes_its_output_early_is_awaited() -> None:
    script = (
        "import os, sys; os.write(1, b'done'); os.close(1); os.close(2); sys.stdin.buffer.read(); os._exit(3)"
    )
    assert "status 3" in str(failed(python(script), SummarizerFailed))


def test_a_program_that_hangs_is_ended_at_the_time_limit_with_its_children(tmp_path: Path) -> None:
    script = (
        "import os, signal, sys, time\n"
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "child = os.fork()\n"
        "open('child', 'w').write(str(child)) if child else None\n"
        "time.sleep(60)\n"
    )
    began = time.monotonic()
    error = failed(python(script), SummarizerTimeout, timeout=0.5, folder=tmp_path)
    assert time.monotonic() - began < 5 and error.retryable and "0.5" in str(error)
    assert ended(int((tmp_path / "child").read_text()))


def test_children_that_it_leaves_end_with_it_and_do_not_hold_the_answer(tmp_path: Path) -> None:
    script = (
        "import os, sys, time\n"
        "child = os.fork()\n"
        "if not child: time.sleep(60)\n"
        "open('child', 'w').write(str(child))\n"
        "print('done', flush=True)\n"
        "os._exit(0)\n"
    )
    began = time.monotonic()
    assert said(python(script), folder=tmp_path) == "done"
    assert time.monotonic() - began < 5
    assert ended(int((tmp_path / "child").read_text()))


def ended(pid: int) -> bool:
    """Whether a process is gone, or only waits for its parent to notice; it may take a moment."""
    until = time.monotonic() + 5
    while time.monotonic() < until:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except FileNotFoundError:
            return True
        if state in "ZX":
            return True
        time.sleep(0.01)
    return False


def test_more_than_a_megabyte_is_refused_and_not_read_on() -> None:
    script = "import sys\nwhile True: sys.stdout.write('x' * 65536)"
    error = failed(python(script), SummarizerOutput)
    assert f"{process.MOST_OUTPUT:,}" in str(error)


def test_much_on_its_standard_error_does_not_hold_it_up() -> None:
    script = "import sys\nfor _ in range(300): sys.stderr.write('x' * 65536)\nprint('done')"
    assert said(python(script)) == "done"


def test_an_exit_status_is_a_failure_and_the_last_line_of_its_standard_error_says_why() -> None:
    script = "import sys; print('half'); sys.stderr.write('first\\n\\x1b[31mno credit left\\x1b[0m\\n\\n'); sys.exit(3)"
    error = failed(python(script), SummarizerFailed)
    assert str(error) == "the summarizer’s program ended with status 3: no credit left"


def test_a_secret_in_its_standard_error_is_taken_out() -> None:
    script = "import sys; sys.exit('bad key ghp_' + 'a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8')"
    error = failed(python(script), SummarizerFailed)
    assert "[REDACTED:github_token]" in str(error) and "a1B2" not in str(error)


def test_an_error_never_repeats_the_prompt() -> None:
    request = Request(model="x", messages=(Message("user", "what only the data say"),))
    error = failed(python("import sys; sys.exit(1)"), SummarizerFailed, request)
    assert "only the data" not in f"{error!r}{error.hint}"


def test_a_signal_is_named() -> None:
    error = failed(python("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)"), SummarizerFailed)
    assert "SIGSEGV" in str(error)


@pytest.mark.parametrize("script", ["", "print()", "print('\\x1b[2J\\x07 \\n')"])
def test_an_empty_answer_is_refused(script: str) -> None:
    failed(python(script), SummarizerOutput)


def test_an_answer_that_is_no_utf_8_is_refused() -> None:
    error = failed(python("import os; os.write(1, b'abc\\xff')"), SummarizerOutput)
    assert "at byte 4" in str(error)


def test_escapes_and_secrets_are_taken_out_of_the_answer() -> None:
    script = (
        "print('\\x1b]0;owned\\x07\\x1b[1mIt\\x1b[0m used ghp_' + 'a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8')"
    )
    assert said(python(script)) == "It used [REDACTED:github_token]"


def test_a_program_that_is_missing_is_a_matter_of_configuration(tmp_path: Path) -> None:
    error = failed([str(tmp_path / "nowhere")], SummarizerConfiguration)
    assert error.exit_code == 2 and "no such file" in str(error)


def test_a_file_that_is_no_program_is_a_matter_of_configuration(tmp_path: Path) -> None:
    file = tmp_path / "text"
    file.write_text("no program")
    failed([str(file)], SummarizerConfiguration)
    file.chmod(0o700)
    failed([str(file)], SummarizerConfiguration)


def test_it_can_be_stopped_while_it_waits(tmp_path: Path) -> None:
    started = tmp_path / "started"
    script = f"open({str(started)!r}, 'w').close(); import time; time.sleep(60)"
    began = time.monotonic()
    failed(python(script), SummarizerCancelled, cancelled=started.exists)
    assert time.monotonic() - began < 10


def test_only_named_variables_reach_the_program() -> None:
    environ = dict(ENVIRON) | {
        "LC_ALL": "C",
        "OPENAI_API_KEY": "k1",
        "CHRONICLE_ROOT": "/x",
        "HTTPS_PROXY": "http://user:pass@proxy",
        "MY_KEY": "k2",
    }
    script = "import os; print(sorted(set(os.environ) & {'LC_ALL', 'OPENAI_API_KEY', 'CHRONICLE_ROOT', 'HTTPS_PROXY', 'MY_KEY'}))"
    assert said(python(script), environ=environ) == "['LC_ALL']"
    assert said(python(script), environ=environ, variable="MY_KEY") == "['LC_ALL', 'MY_KEY']"
    assert passed_on({"A": "1"}, "") == {}


def test_a_program_runs_in_the_folder_that_it_is_given(tmp_path: Path) -> None:
    assert said(python("import os; print(os.getcwd())"), folder=tmp_path) == str(tmp_path.resolve())


def test_nothing_is_left_open_behind_a_program() -> None:
    def opened() -> int:
        return len(list(Path("/proc/self/fd").iterdir()))

    before, threads = opened(), threading.active_count()
    said([CAT])
    failed(python("import time; time.sleep(60)"), SummarizerTimeout, timeout=0.1)
    failed(["/nowhere"], SummarizerConfiguration)
    assert (opened(), threading.active_count()) == (before, threads)


def test_other_arguments_are_another_model() -> None:
    names = {
        CommandModel(words, timeout=1, environ={}).model
        for words in (["a", "b"], ["a b"], ["a"], ["a", "b", ""])
    }
    assert len(names) == 4
