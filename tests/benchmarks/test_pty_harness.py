"""The pseudo-terminal harness, against a small Textual program and plain ones."""

from __future__ import annotations

import signal
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.benchmarks.pty_harness import PtyEnded, PtyProgram, PtyTimeout, percentile

BARE_APP = Path(__file__).with_name("bare_app.py")

COUNTER = """
import asyncio, signal
from textual.app import App
from textual.widgets import Static

class Counter(App):
    BINDINGS = [("a", "add"), ("b", "slow"), ("w", "burn"), ("q", "leave")]
    count = 0

    def compose(self):
        yield Static("", id="shown", markup=False)

    def on_mount(self):
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, lambda: self.exit(return_code=143))

    def on_resize(self, event):
        self.shown_size = event.size
        self.show()

    def show(self):
        width, height = self.shown_size
        self.query_one("#shown", Static).update(f"count {self.count} at {width}x{height} 日本")

    def action_add(self):
        self.count += 1
        self.show()

    def action_slow(self):
        self.set_timer(0.2, self.action_add)

    def action_burn(self):
        self.set_interval(0.01, lambda: sum(range(100_000)))

    def action_leave(self):
        self.exit(return_code=7)

app = Counter()
app.animation_level = "none"
app.run()
raise SystemExit(app.return_code)
"""


def python(code: str) -> PtyProgram:
    return PtyProgram([sys.executable, "-c", code])


@pytest.fixture(scope="module")
def counter_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("counter") / "counter.py"
    path.write_text(COUNTER, encoding="utf-8")
    return path


def counter(path: Path, columns: int = 60, rows: int = 15) -> PtyProgram:
    program = PtyProgram([sys.executable, path], columns=columns, rows=rows)
    program.first_paint("count 0")
    program.settle()
    return program


def test_first_paint_is_timed_to_the_burst_that_shows_the_marker() -> None:
    with PtyProgram([sys.executable, BARE_APP], columns=80, rows=24) as program:
        burst = program.first_paint("bare application")
        assert 0 < burst.first <= burst.last < time.perf_counter() - program.spawned_at
        assert program.lines()[0] == "bare application"
        assert len(program.lines()) == 24
        # The program asks for the alternate screen long before it paints.
        assert b"\x1b[?1049h" in program.output
        print(f"\nbare application: first paint {burst.last * 1000:.0f} ms")


def test_first_paint_passes_over_bursts_without_the_marker() -> None:
    code = (
        "import time\n"
        "print('loading', flush=True); time.sleep(0.2)\n"
        "print('\\033[2J\\033[Hready', flush=True); time.sleep(0.2); print('late', flush=True); input()"
    )
    with python(code) as program:
        burst = program.first_paint("ready")
        assert "loading" not in program.text()
        assert b"loading" not in burst.output and b"late" not in burst.output
        assert burst.last >= 0.2
        assert 0 < program.wait_for("late") < 5


def test_a_key_is_timed_to_the_last_byte_without_the_quiet_gap(counter_path: Path) -> None:
    with counter(counter_path) as program:
        fast = [program.press(b"a") for _ in range(5)]
        assert program.lines()[0].startswith("count 5 at 60x15")
        slow = program.press(b"b")
        assert program.lines()[0].startswith("count 6 at 60x15")
        # The timer of 200 ms is in the figure of the second kind and in none of the first.
        assert slow.last >= 0.2 > min(burst.last for burst in fast)
        assert all(burst.first <= burst.last for burst in fast)
        assert all(burst.output for burst in fast)


def test_the_quiet_gap_is_in_no_figure() -> None:
    # Echoes each line after two parts 50 ms apart: one repaint for a gap of 400 ms, and its figure
    # holds the pause inside it but not the 400 ms after it.
    code = (
        "import sys, time, tty\n"
        "tty.setraw(0); sys.stdout.write('ready'); sys.stdout.flush()\n"
        "while True:\n"
        "    sys.stdin.read(1)\n"
        "    sys.stdout.write('one '); sys.stdout.flush(); time.sleep(0.05)\n"
        "    sys.stdout.write('two '); sys.stdout.flush()\n"
    )
    with python(code) as program:
        program.first_paint("ready")
        start = time.perf_counter()
        burst = program.press(b"x", quiet=0.4)
        whole = time.perf_counter() - start
        assert burst.output == b"one two "
        assert burst.last - burst.first >= 0.025
        assert whole - burst.last >= 0.39
        # With a gap shorter than the pause the same key gives two bursts; the first is the figure.
        assert program.press(b"x", quiet=0.005).output == b"one "


def test_what_came_before_a_key_is_not_its_repaint() -> None:
    code = (
        "import sys, tty\n"
        "tty.setraw(0); sys.stdout.write('ready'); sys.stdout.flush()\n"
        "while c := sys.stdin.read(1):\n"
        "    sys.stdout.write('<' + c + '>'); sys.stdout.flush()\n"
    )
    with python(code) as program:
        program.first_paint("ready")
        program.send(b"a")
        program.wait_for("<a>")
        assert program.press(b"b").output == b"<b>"
        assert program.press(b"cd").output == b"<c><d>"


def test_a_key_that_changes_nothing_is_a_timeout_that_shows_the_screen(counter_path: Path) -> None:
    with counter(counter_path) as program, pytest.raises(PtyTimeout, match=r"wrote nothing(.|\n)*count 0"):
        program.press(b"z", timeout=0.3)


def test_a_program_that_never_stops_painting_is_a_timeout() -> None:
    with python("import time\nwhile True: print('x' * 9, flush=True); time.sleep(0.002)") as program:
        with pytest.raises(PtyTimeout, match="did not become quiet"):
            program.first_paint("never", timeout=0.4)
        with pytest.raises(PtyTimeout, match="never quiet"):
            program.settle(timeout=0.2)
        with pytest.raises(PtyTimeout, match="'never' is not on the screen"):
            program.wait_for("never", timeout=0.2)
        with pytest.raises(PtyTimeout, match="still running"):
            program.wait_exit(timeout=0.2)


def test_a_program_that_ends_early_says_what_it_wrote() -> None:
    with python("raise SystemExit('no such workspace')") as program:
        with pytest.raises(PtyEnded, match="no such workspace"):
            program.first_paint("ready")
        assert program.wait_exit() == 1
        assert not program.running


def test_resize_reaches_the_program_and_the_emulated_screen(counter_path: Path) -> None:
    with counter(counter_path) as program:
        wider = program.resize(100, 30)
        assert wider.output
        assert program.lines()[0] == "count 0 at 100x30 日本"
        assert len(program.lines()) == 30
        program.resize(40, 10)
        assert program.lines()[0] == "count 0 at 40x10 日本"
        assert len(program.lines()) == 10


def test_exit_code_and_restored_terminal_after_a_key(counter_path: Path) -> None:
    with counter(counter_path) as program:
        program.send(b"q")
        assert program.wait_exit() == 7
        assert program.output.rfind(b"\x1b[?1049l") > program.output.rfind(b"\x1b[?1049h") >= 0
        with pytest.raises(PtyEnded):
            program.press(b"a", timeout=1)


def test_a_handled_signal_ends_with_its_code_and_a_fatal_one_with_its_number(counter_path: Path) -> None:
    with counter(counter_path) as program:
        program.signal(signal.SIGTERM)
        assert program.wait_exit() == 143
        assert b"\x1b[?1049l" in program.output
    with counter(counter_path) as program:
        program.signal(signal.SIGKILL)
        assert program.wait_exit() == -signal.SIGKILL
        assert b"\x1b[?1049l" not in program.output


def test_the_terminal_is_the_programs_own_so_that_ctrl_c_arrives() -> None:
    with python("print('ready', flush=True)\nimport time\nwhile True: time.sleep(1)") as program:
        program.first_paint("ready")
        program.send(b"\x03")
        assert program.wait_exit() == -signal.SIGINT


def test_output_larger_than_the_pipe_is_taken_to_the_end() -> None:
    with python("print('y' * 1_000_000)\nprint('end')") as program:
        assert program.wait_exit() == 0
        assert program.output.count(b"y") == 1_000_000
        assert program.shows("end")


def test_memory_follows_what_the_program_holds() -> None:
    code = "print('ready', flush=True)\nheld = bytearray(input() and 64 << 20)\nheld[::4096] = b'x' * (len(held) // 4096)\nprint('held', flush=True)\ninput()"
    with python(code) as program:
        program.first_paint("ready")
        before = program.memory()
        program.send(b"go\n")
        program.wait_for("held")
        after = program.memory()
        assert (60 << 20) < after.resident - before.resident < (80 << 20)
        assert after.peak_resident >= after.resident > before.resident


def test_idle_use_tells_a_busy_program_from_a_quiet_one(counter_path: Path) -> None:
    with counter(counter_path) as program:
        program.settle()
        quiet = program.idle(1.0)
        program.send(b"w")
        busy = program.idle(1.0)
        assert quiet.wall_seconds == pytest.approx(1.0, abs=0.2)
        assert quiet.cpu_share < busy.cpu_share / 2
        assert busy.cpu_share > 0.04
        print(f"\nidle {quiet.cpu_share:.1%}, burning {busy.cpu_share:.1%}")


def test_environment_is_a_colour_terminal_without_what_changes_drawing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("TEXTUAL_ANIMATIONS", "full")
    monkeypatch.setenv("COLUMNS", "7")
    code = (
        "import os, sys\n"
        "print(os.environ['TERM'], os.environ['COLORTERM'], os.environ['EXTRA'], os.get_terminal_size().columns)\n"
        "print(sorted({'NO_COLOR', 'TEXTUAL_ANIMATIONS', 'COLUMNS'} & set(os.environ)), sys.stdout.isatty())"
    )
    with PtyProgram([sys.executable, "-c", code], columns=90, env={"EXTRA": "set"}) as program:
        assert program.wait_exit() == 0
        assert program.lines()[:2] == ["xterm-256color truecolor set 90", "[] True"]


@pytest.mark.parametrize(
    "sequence",
    [
        r"\033[>1u",
        r"\033[<u",
        r"\033[=5u",
        r"\033[?2026h",
        r"\033[?2026$p",
        r"\033P+q544e\033\\",
        r"\033_Gi=1\033\\",
    ],
)
def test_sequences_that_terminals_swallow_are_not_drawn(sequence: str) -> None:
    # In two writes, so that the sequence is also cut in the middle.
    code = f"import os, time\nb = b'A{sequence}B'\nos.write(1, b[:4]); time.sleep(0.1); os.write(1, b[4:]); input()"
    with python(code) as program:
        program.first_paint("A")
        program.wait_for("AB")
        assert program.lines()[0] == "AB"


def test_closing_kills_what_still_runs(counter_path: Path) -> None:
    program = counter(counter_path)
    assert program.running
    program.close()
    assert not program.running
    assert not Path(f"/proc/{program.pid}").exists()
    program.close()


def test_a_command_that_does_not_exist_is_an_error_and_leaves_no_terminal_open() -> None:
    before = len(list(Path("/proc/self/fd").iterdir()))
    with pytest.raises(FileNotFoundError):
        PtyProgram(["/nonexistent/program"])
    assert len(list(Path("/proc/self/fd").iterdir())) == before


@given(st.lists(st.floats(-1e9, 1e9), min_size=1), st.floats(0.001, 1.0))
def test_a_percentile_is_the_least_value_that_enough_do_not_exceed(values: list[float], share: float) -> None:
    found = percentile(values, share)
    assert found in values
    assert sum(value <= found for value in values) >= share * len(values) - 1e-6
    assert sum(value < found for value in values) < share * len(values) + 1e-6


def test_a_percentile_needs_values_and_a_share() -> None:
    with pytest.raises(ValueError):
        percentile([], 0.5)
    with pytest.raises(ValueError):
        percentile([1.0], 0.0)
