"""The one page of a workspace that has to be migrated first: the plan, the backup, the key, and progress."""

from __future__ import annotations

import asyncio
import threading
from time import monotonic
from typing import TYPE_CHECKING, ClassVar, Literal

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.message import Message
from textual.widgets import Static
from textual.worker import Worker

from workbench.tui.actions import DOOR_ACTIONS, bindings
from workbench.tui.failures import Failure, failure_of
from workbench.tui.present import counted, fit, number, plain_lines, size, wrap
from workbench.tui.problem_page import failure_content
from workbench.tui.sized_screen import SizedScreen
from workbench.tui.watch import OpenFailed, writable
from workbench.tui.widgets.frame import FooterItem, FooterLine, HeaderLine

if TYPE_CHECKING:
    from collections.abc import Callable

    from workbench.tui.shell import Shell
    from workbench.workspace.migration import Migrated, MigrationPlan

_TICK_SECONDS = 0.25
_TELL_SECONDS = 0.1
_MARGINS = 9
"""Cells of a line that are not for text: the padding of both sides, and the scroll bar's."""
_LEAST_FOR_ETA = 1.0
"""Seconds of work before anything can be said of how long the rest takes."""

State = Literal["looking", "ready", "running", "opening"]


class Planned(Message):
    """What a migration would do."""

    def __init__(self, plan: MigrationPlan, refusal: str, *, begin: bool) -> None:
        super().__init__()
        self.plan = plan
        self.refusal = refusal
        """Why it cannot be done here; "" where it can."""
        self.begin = begin
        """The environment says that nobody need be asked."""


class MigrationPage(SizedScreen[None], inherit_bindings=False):
    """Shows the plan, migrates where that is asked for, and can stop and roll back."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings(DOOR_ACTIONS)]

    app: Shell

    def __init__(self) -> None:
        super().__init__()
        self.state: State = "looking"
        self.plan: MigrationPlan | None = None
        self.refusal = ""
        """Why nothing can be migrated here."""
        self.failure: Failure | None = None
        """Why the last try ended early."""
        self.progress = Progress()
        self._cancelled = False
        self._stop = threading.Event()

    def compose(self) -> ComposeResult:
        yield HeaderLine(id="header")
        with VerticalScroll(can_focus=False, classes="door"):
            yield Static(id="plan", markup=False)
        yield Static(id="progress", markup=False)
        yield FooterLine(id="footer")

    def on_mount(self) -> None:
        """Find out what would be done."""
        self.set_interval(_TICK_SECONDS, self._tick)
        self.update()

    def on_screen_resume(self) -> None:
        """Show what is known by now."""
        if self.is_mounted:
            self._draw()

    def on_resize(self) -> None:
        """The texts are as wide as the screen."""
        self.call_after_refresh(self._draw)

    def on_unmount(self) -> None:
        """Whoever leaves now wants the file as it was."""
        self._stop.set()

    def update(self) -> None:
        """The program's state changed: the workspace is being opened, or needs to be migrated (again)."""
        if self.state == "running":
            return
        if self.app.access.live == "opening":
            self.state = "opening"
        elif self.app.access.migratable:
            self._look()
        self._draw()

    # Looking

    def _look(self) -> None:
        from workbench.workspace import Workspace
        from workbench.workspace.layout import Layout
        from workbench.workspace.opening import may_upgrade

        self.state = "looking"
        root, asked_read_only = self.app.root, self.app.wants_read_only

        def work() -> None:
            message: Message
            try:
                plan = Workspace.plan_migration(root)
                refusal = "the workspace was opened read-only" if asked_read_only else ""
                if not refusal and not writable(Layout(root).database):
                    refusal = "its files cannot be written by this user"
                message = Planned(plan, refusal, begin=not refusal and may_upgrade(None))
            except Exception as error:  # Whatever it is, the page of what cannot be opened says it.
                message = OpenFailed(error)
            self.app.post_message(message) if isinstance(message, OpenFailed) else self.post_message(message)

        self.run_worker(
            work,
            group="plan",
            description="Looking what a migration would do",
            exclusive=True,
            exit_on_error=False,
            thread=True,
        )

    def on_planned(self, message: Planned) -> None:
        """Show the plan; where nothing is to be done any more, another program has done it: open."""
        message.stop()
        if self.state != "looking":
            return
        self.plan, self.refusal = message.plan, message.refusal
        self.state = "ready"
        if not message.plan.needed:
            self.app.open_workspace()
        elif message.begin and self.failure is None and not self._cancelled:
            self.action_migrate()
        self._draw()

    # Migrating

    def action_migrate(self) -> None:
        """Begin, once; say why where it cannot be done."""
        if self.state != "ready":
            return
        self.state, self.failure, self._cancelled = "running", None, False
        self._stop = threading.Event()
        self.progress = Progress()
        self.run_worker(
            self._migrate(self._stop),
            group="migrate",
            description="Migrating the workspace",
            exit_on_error=False,
        )
        self._draw()

    async def _migrate(self, stop: threading.Event) -> None:
        loop = asyncio.get_running_loop()
        done: Migrated | None = None
        error: Exception | None = None
        with self.app.job("migration") as say:
            try:
                done = await asyncio.to_thread(self._work, loop, say, stop)
            except Exception as raised:
                error = raised
        if error is not None:
            self._ended_early(error)
            return
        assert done is not None
        if done.backup_path is not None:
            self.app.notify(f"Migrated. The copy from before is {done.backup_path}", timeout=12)
        self.state = "opening"
        self.app.open_workspace()
        self._draw()

    def _work(
        self, loop: asyncio.AbstractEventLoop, say: Callable[[str], None], stop: threading.Event
    ) -> Migrated:
        from workbench.workspace import Workspace

        told = 0.0
        last = ""

        def show(done: int, total: int | None, note: str) -> None:
            if self.state == "running":
                self.progress.step(done, total, note)
                say(self.progress.title())

        def progress(done: int, total: int | None, note: str) -> None:
            nonlocal told, last
            if note != last or done == total or monotonic() - told >= _TELL_SECONDS:
                told, last = monotonic(), note
                loop.call_soon_threadsafe(show, done, total, note)

        return Workspace.migrate(self.app.root, progress=progress, cancelled=stop.is_set)

    def _ended_early(self, error: Exception) -> None:
        self.state = "ready"
        self._cancelled = getattr(error, "code", "") == "cancelled"
        if not self._cancelled:
            self.failure = failure_of(
                error, "The migration ended early; the file is as it was", self.app.root
            )
        # What is pending may be another thing by now: another program may have done it.
        self._look()
        self._draw()

    def action_stop(self) -> None:
        """Stop; everything that was done is rolled back."""
        if self.state == "running":
            self._stop.set()
            self._draw()

    def action_try_again(self) -> None:
        """Try to open the workspace: another program may have migrated it."""
        if self.state == "ready":
            self.failure = None
            self.app.open_workspace()

    def action_copy(self) -> None:
        """Copy what the page says."""
        self.app.copy(self._text().plain + "\n", "the plan")

    def action_scroll_text(self, lines: int) -> None:
        """Scroll a text that is longer than the screen."""
        self.query_one(".door", VerticalScroll).scroll_relative(y=lines, animate=False)

    def reason_of(self, action_id: str) -> str:
        """Why an action of the doors cannot run now; "" where it can."""
        if action_id == "door.stop":
            return "" if self.state == "running" else "no migration runs"
        if action_id in ("door.migrate", "door.try_again"):
            busy = {"running": "it runs already", "looking": "what has to be done is not known yet"}
            if self.state != "ready":
                return busy.get(self.state, "the workspace is being opened")
            return self.refusal if action_id == "door.migrate" else ""
        return ""

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        """A fault of the program: say so, and go on."""
        if event.worker.error is not None and event.state.name == "ERROR":
            self.app.show_failure(event.worker.error)

    # Drawing

    def _tick(self) -> None:
        if self.state == "running":
            self._draw_progress()

    def _draw(self) -> None:
        if not self.is_mounted:
            return
        self.query_one(HeaderLine).show(self.app.header_state())
        self.query_one("#plan", Static).update(self._text())
        self._draw_progress()
        keymap = self.app.keymap
        help_item = FooterItem("app.help", keymap.shown("app.help"), "help")
        quit_item = FooterItem("app.quit", keymap.shown("app.quit"), "quit")
        items = {
            "ready": [
                FooterItem("door.migrate", keymap.shown("door.migrate"), "migrate", self.refusal),
                FooterItem("door.try_again", keymap.shown("door.try_again"), "look again"),
                FooterItem("door.copy", keymap.shown("door.copy"), "copy"),
                quit_item,
            ],
            "running": [FooterItem("door.stop", keymap.shown("door.stop"), "stop and roll back"), quit_item],
        }.get(self.state, [quit_item])
        self.query_one(FooterLine).show([*items, help_item], "")

    def _draw_progress(self) -> None:
        line = self.query_one("#progress", Static)
        line.display = self.state == "running"
        if self.state == "running":
            width = max(20, self.size.width - _MARGINS)
            line.update(self.progress.content(width, stopping=self._stop.is_set()))

    def _text(self) -> Content:
        if self.state == "opening":
            return Content(plain_lines(self.app.opening_text()))
        if self.plan is None:
            return Content("◌ Looking what has to be migrated …")
        parts = [plan_content(self.plan, max(20, self.size.width - _MARGINS))]
        if self.state == "running":
            return parts[0]
        if self.failure is not None:
            parts.insert(0, failure_content(self.failure))
        elif self._cancelled:
            parts.insert(
                0, Content.assemble(("◦ ", "$accent"), "Stopped and rolled back; the file is as it was.")
            )
        if self.refusal:
            refusal = f"Nothing can be migrated now: {plain_lines(self.refusal)}."
            if self.app.wants_read_only:
                refusal += " Start the program without --read-only to migrate."
            parts.append(Content.assemble(("⊘ ", "$attention"), (refusal, "$body")))
        else:
            again = "tries again" if self.failure is not None else "migrates, then opens the workspace"
            parts.append(
                Content.assemble((self.app.keymap.shown("door.migrate"), "bold $accent"), f" {again}")
            )
        return Content("\n\n").join(parts)


def plan_content(plan: MigrationPlan, width: int) -> Content:
    """What a migration does, as the body of a page whose lines have at most `width` cells."""
    if plan.current != plan.target:
        versions = f"It has schema {plan.current}; this program works with schema {plan.target}."
    else:
        versions = "Another release built its projections; this program builds its own from the same events."
    parts = [
        Content.assemble(("▲ ", "$attention"), ("This workspace has to be migrated first", "bold $ink")),
        Content.assemble((f"{versions} Nothing was changed yet.", "$body")),
    ]
    copied = f"the database as it is ({size(plan.database_bytes)}) is copied to {plan.backup_dir}"
    parts.append(_group("First", [("", copied)], width))
    if plan.pending:
        steps = [(str(each.version), each.what) for each in plan.pending]
        parts.append(_group("Changes", steps, width))
    if plan.folds:
        whole = f"{counted(len(plan.folds), 'projection')} from {counted(plan.events, 'event')}"
        parts.append(_group("Built anew", [("", f"{whole}: {', '.join(plan.folds)}")], width))
    if plan.retired:
        gone = f"projections that this program no longer has: {', '.join(plan.retired)}"
        parts.append(_group("Dropped", [("", gone)], width))
    atomic = "All of it is one transaction: what is stopped or fails leaves the file as it was."
    parts.append(Content.assemble((atomic, "$quiet")))
    return Content("\n\n").join(parts)


def _group(title: str, lines: list[tuple[str, str]], width: int) -> Content:
    """A heading, and under it lines of a number and a sentence that hangs beside it."""
    drawn = [Content.assemble((title, "bold $ink"))]
    for mark, sentence in lines:
        for index, piece in enumerate(wrap(sentence, max(8, width - _HANG))):
            before = f"{mark:>{_HANG - 1}} " if index == 0 else " " * _HANG
            drawn.append(Content.assemble((before, "$accent"), (piece, "$body")))
    return Content("\n").join(drawn)


_HANG = 4
"""Cells before the sentences of a group."""

PHASES = {
    "backup": ("copying the database", "page"),
    "schema": ("changing the tables", "statement"),
    "projections": ("building projections from the events", "event"),
}
"""What the phases are called, and what is counted in each."""


class Progress:
    """How far a migration is: its phase, its count, and what is left."""

    def __init__(self) -> None:
        self._phase_began = monotonic()
        self._waited: int | None = None
        """Seconds that it waits for another program; None once it has the file."""
        self.heard = False
        self.done = 0
        self.total: int | None = None
        self.note = ""

    def step(self, done: int, total: int | None, note: str) -> None:
        """It has come to `done` of `total` in the phase `note`; in `waiting`, so many seconds passed."""
        if note == "waiting":
            self._waited = done
            return
        self._waited = None
        if not self.heard or note != self.note or done < self.done:
            self._phase_began = monotonic()
        self.heard = True
        self.done, self.total, self.note = done, total, note

    def title(self) -> str:
        """For the footer."""
        return f"migration {self._percent()} %" if self.total else "migration"

    def content(self, width: int, *, stopping: bool) -> Content:
        """Two lines of at most `width` cells: a bar with its count, and the phase with what is left."""
        now = monotonic()
        if stopping:
            words = "Stopping: what was done is being rolled back …"
        elif self.heard:
            phase = PHASES.get(self.note, (self.note, ""))[0]
            words = " · ".join(part for part in (phase, self._left(now)) if part)
        elif self._waited is not None:
            words = f"waiting for another program that writes, {self._waited} s"
        else:
            words = "beginning …"
        noun = PHASES.get(self.note, ("", ""))[1]
        counts = f"  {number(self.done)} of {counted(self.total, noun)}" if self.total else ""
        share = self._percent()
        room = max(8, min(40, width - len(counts) - 6))
        filled = share * room // 100
        return Content.assemble(
            ("█" * filled, "$accent"),
            ("░" * (room - filled), "$faint"),
            (f" {share:>3} %", "$ink"),
            (counts, "$body"),
            "\n",
            (fit(words, min(width, len(words))), "$body"),
        )

    def _percent(self) -> int:
        return min(100, 100 * self.done // self.total) if self.total else 0

    def _left(self, now: float) -> str:
        passed = now - self._phase_began
        if not self.total or not self.done or self.done >= self.total or passed < _LEAST_FOR_ETA:
            return ""
        left = passed * (self.total - self.done) / self.done
        return f"about {round(left)} s left" if left < 90 else f"about {round(left / 60)} min left"
