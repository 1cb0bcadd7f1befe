"""Importing transcripts from the Sessions screen: what is found, chosen, imported and said."""

from __future__ import annotations

import asyncio
import json
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from tests.imports import codex_records as codex
from tests.tui.pictures import sizes
from tests.tui.sessions_probe import SessionsApp, app_on, make_workspace, rows_shown, sessions_page
from tests.tui.shell_probe import until, whole_screen, work_done
from workbench.tui.dialogs import import_picker
from workbench.tui.dialogs.confirm import ConfirmDialog
from workbench.tui.dialogs.import_picker import ImportPicker
from workbench.tui.document import Document
from workbench.tui.sessions.found_rows import KEPT_DAYS, retention
from workbench.tui.widgets.text_pane import TextPane
from workbench.workspace import Workspace


def transcript(path: Path, session: str, prompts: int = 1, extra: str = "") -> Path:
    """A transcript with so many prompts and answers, and maybe a line that is none."""
    path.parent.mkdir(parents=True, exist_ok=True)
    lines: list[str] = []
    for number in range(prompts):
        shared: dict[str, Any] = {
            "sessionId": session,
            "timestamp": f"2026-02-03T04:{number % 60:02}:06.007Z",
            "cwd": "/home/ada/atlas",
        }
        ask = {"role": "user", "content": f"Question {number} of {session}"}
        answer = {
            "id": f"m{session}{number}",
            "role": "assistant",
            "content": [{"type": "text", "text": "Yes."}],
        }
        lines += [
            json.dumps({"type": "user", "uuid": f"{session}-u{number}", "message": ask, **shared}),
            json.dumps({"type": "assistant", "uuid": f"{session}-a{number}", "message": answer, **shared}),
        ]
    path.write_text("\n".join([*lines, *([extra] if extra else [])]) + "\n", "utf-8")
    return path


@pytest.fixture
def projects(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "claude"))
    monkeypatch.setenv("CODEX_HOME", str(tmp_path / "codex"))
    return tmp_path / "claude" / "projects"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make_workspace(tmp_path / "w", {})


async def picker_open(pilot: Pilot[None], app: SessionsApp) -> ImportPicker:
    await rows_shown(pilot, app)
    await app.action_perform("sessions.import")
    await until(pilot, lambda: isinstance(app.screen, ImportPicker) and app.screen.is_mounted)
    picker = app.screen
    assert isinstance(picker, ImportPicker)
    await until(pilot, lambda: not picker.searching)
    await pilot.pause()
    return picker


async def test_the_help_key_lists_the_keys_of_the_picker(projects: Path, root: Path) -> None:
    transcript(projects / "a" / "one.jsonl", "one", 3)
    app = app_on(root)
    async with app.run_test(size=(120, 40)) as pilot:
        picker = await picker_open(pilot, app)
        await pilot.press("question_mark")
        await until(pilot, lambda: "Keys here" in whole_screen(app))
        for said in ("space", "all or none", "try again", "these keys"):
            assert said in whole_screen(app)
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is picker)


async def test_what_is_new_is_chosen_and_imported(projects: Path, root: Path) -> None:
    transcript(projects / "a" / "one.jsonl", "one", 3)
    transcript(projects / "b" / "two.jsonl", "two", 1, extra="{ not JSON")
    (projects / "b" / "noise.jsonl").write_text("hello\n")
    app = app_on(root)
    async with app.run_test(size=(120, 40)) as pilot:
        picker = await picker_open(pilot, app)
        shown = whole_screen(app)
        assert "2 transcripts · 2 new · 1 refused" in shown
        assert "noise.jsonl: not JSON lines" in shown
        assert "enter import 2" in shown
        assert [row.state for row in picker.found] == ["new", "new", "refused"]
        await picker.action_take()
        await until(pilot, lambda: picker.job is not None and not picker.job.running)
        await until(pilot, lambda: "8 acta added to 2 sessions, 1 problem" in whole_screen(app))
        report = picker.query_one("#report", TextPane)
        await until(pilot, lambda: "two.jsonl:3" in Document(report.blocks).plain(10_000)[0])
        picker.action_copy()
        assert "two.jsonl:3: " in app.clipboard
        await picker.action_take()
        await until(pilot, lambda: len(sessions_page(app).sessions.visible_rows) == 2)
        again = await picker_open(pilot, app)
        assert [row.state for row in again.found if row.choosable] == ["known", "known"]
        assert again.chosen == set()
        assert "enter import" not in whole_screen(app)


async def test_a_file_that_grew_is_changed(projects: Path, root: Path) -> None:
    path = transcript(projects / "a" / "one.jsonl", "one", 1)
    with Workspace.open(root) as workspace:
        workspace.import_claude_code([path])
    transcript(path, "one", 2)
    app = app_on(root)
    async with app.run_test(size=(120, 40)) as pilot:
        picker = await picker_open(pilot, app)
        assert [row.state for row in picker.found] == ["changed"]
        assert picker.chosen == {path}


async def test_only_what_is_chosen_is_imported(projects: Path, root: Path) -> None:
    for name in ("one", "two", "three"):
        transcript(projects / name / f"{name}.jsonl", name)
    app = app_on(root)
    async with app.run_test(size=(80, 24)) as pilot:
        picker = await picker_open(pilot, app)
        picker.action_toggle_all()
        assert picker.chosen == set()
        await pilot.press("space")
        assert len(picker.chosen) == 1
        await picker.action_take()
        await until(pilot, lambda: picker.job is not None and not picker.job.running)
    with Workspace.open(root) as workspace:
        assert workspace.status()["summary"]["sessions"] == 1


async def test_another_place_is_searched(projects: Path, root: Path, tmp_path: Path) -> None:
    transcript(tmp_path / "elsewhere" / "far.jsonl", "far")
    app = app_on(root)
    async with app.run_test(size=(80, 24)) as pilot:
        picker = await picker_open(pilot, app)
        assert "No transcripts in" in whole_screen(app)
        picker.search(str(tmp_path / "elsewhere"))
        await until(pilot, lambda: not picker.searching)
        assert [row.path.name for row in picker.found] == ["far.jsonl"]
        picker.search(str(tmp_path / "nowhere"))
        await until(pilot, lambda: not picker.searching)
        await until(pilot, lambda: "not found" in whole_screen(app))


class GatedWorkspace:
    """Holds an import between two files until it is let go."""

    def __init__(self) -> None:
        self.reached = threading.Event()
        self.gate = threading.Event()

    def hold(self, workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
        real = workspace.import_transcripts

        def held(kind: str | None, paths: list[Path], *, progress: Callable[..., None], **others: Any) -> Any:
            def stop_at_first(done: int, total: int | None, note: str) -> None:
                progress(done, total, note)
                self.reached.set()
                assert self.gate.wait(20)

            return real(kind, paths, progress=stop_at_first, **others)

        monkeypatch.setattr(workspace, "import_transcripts", held)


async def running_import(
    pilot: Pilot[None], app: SessionsApp, monkeypatch: pytest.MonkeyPatch
) -> tuple[ImportPicker, GatedWorkspace]:
    picker = await picker_open(pilot, app)
    assert app.workspace is not None
    gated = GatedWorkspace()
    gated.hold(app.workspace, monkeypatch)
    await picker.action_take()
    await asyncio.to_thread(gated.reached.wait, 10)
    return picker, gated


async def test_a_running_import_shows_its_progress_and_can_be_stopped(
    projects: Path, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("one", "two", "three"):
        transcript(projects / name / f"{name}.jsonl", name)
    app = app_on(root)
    async with app.run_test(size=(80, 24)) as pilot:
        picker, gated = await running_import(pilot, app, monkeypatch)
        await until(pilot, lambda: "% " in whole_screen(app) and ".jsonl" in whole_screen(app))
        picker.action_stop()
        await until(pilot, lambda: "Stopping …" in whole_screen(app))
        gated.gate.set()
        await until(pilot, lambda: picker.job is not None and not picker.job.running)
        await until(pilot, lambda: "Stopped early: " in whole_screen(app))
        assert picker.job is not None and picker.job.report is not None
        assert picker.job.report.cancelled
        assert picker.query_one("#report", TextPane).blocks


async def test_a_closed_picker_lets_the_import_go_on_and_leaving_asks(
    projects: Path, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    transcript(projects / "one" / "one.jsonl", "one")
    app = app_on(root)
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        _, gated = await running_import(pilot, app, monkeypatch)
        await pilot.press("escape")
        await until(pilot, lambda: not isinstance(app.screen, ImportPicker))
        await until(pilot, lambda: "import" in app.status_text())
        app.action_leave()
        await until(pilot, lambda: isinstance(app.screen, ConfirmDialog))
        await pilot.press("n")
        gated.gate.set()
        await until(pilot, lambda: app.status_text() == "")
        await until(pilot, lambda: any("2 acta added" in toast.message for toast in app._notifications))


async def test_an_open_import_is_shown_again(
    projects: Path, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    transcript(projects / "one" / "one.jsonl", "one")
    app = app_on(root)
    async with app.run_test(size=(80, 24)) as pilot:
        first, gated = await running_import(pilot, app, monkeypatch)
        await pilot.press("escape")
        await until(pilot, lambda: not isinstance(app.screen, ImportPicker))
        second = await picker_open(pilot, app)
        assert second.job is first.job
        gated.gate.set()
        await until(pilot, lambda: "2 acta added" in whole_screen(app))


@pytest.mark.parametrize(
    ("settings", "days"),
    [
        ('{"cleanupPeriodDays": 99}', 99),
        ('{"cleanupPeriodDays": "x"}', KEPT_DAYS),
        ('{"cleanupPeriodDays": true}', KEPT_DAYS),
        ("[]", KEPT_DAYS),
        ("not JSON", KEPT_DAYS),
        ("", KEPT_DAYS),
    ],
)
def test_how_long_transcripts_are_kept(tmp_path: Path, settings: str, days: int) -> None:
    assert retention(tmp_path) == KEPT_DAYS
    (tmp_path / "settings.json").write_text(settings)
    assert retention(tmp_path) == days


# -- two programs -----------------------------------------------------------------------------


def rollout(path: Path, session: str, *prompts: str) -> Path:
    """A Codex rollout that was left alone since."""
    records = [codex.meta(session), codex.turn("t"), *(codex.said("user", prompt) for prompt in prompts)]
    codex.write(path, records)
    os.utime(path, (1_700_000_000, 1_700_000_000))
    return path


async def test_what_both_programs_keep_is_found_and_imported(
    projects: Path, root: Path, tmp_path: Path
) -> None:
    transcript(projects / "a" / "one.jsonl", "one")
    rollout(tmp_path / "codex/sessions/2026/02/01/rollout-a.jsonl", "first", "Draw the harbour")
    rollout(tmp_path / "codex/archived_sessions/rollout-b.jsonl", "second", "Paint it", "Again")
    app = app_on(root)
    async with app.run_test(size=(120, 40)) as pilot:
        picker = await picker_open(pilot, app)
        assert {row.title: row.program for row in picker.found} == {
            "Question 0 of one": "Claude Code",
            "Draw the harbour": "Codex",
            "Paint it": "Codex",
        }
        # Only one of the programs takes its files away.
        assert [row.days_left is None for row in picker.found if row.program == "Codex"] == [True, True]
        shown = whole_screen(app)
        assert "3 transcripts · 3 new" in shown
        assert "Claude Code" in shown and "Codex" in shown
        await picker.action_take()
        await until(pilot, lambda: picker.job is not None and not picker.job.running)
        await until(pilot, lambda: "5 acta added to 3 sessions." in whole_screen(app))
    with Workspace.open(root) as workspace:
        found = [workspace.readers.sessions.get(f"codex/{name}") for name in ("first", "second")]
    assert [(row.source, row.title) for row in found if row] == [
        ("codex", "Draw the harbour"),
        ("codex", "Paint it"),
    ]


async def test_a_named_folder_holds_either_kind_and_each_file_is_named_once(
    projects: Path, root: Path, tmp_path: Path
) -> None:
    mixed = tmp_path / "mixed"
    transcript(mixed / "one.jsonl", "one")
    rollout(mixed / "deeper" / "rollout-a.jsonl", "first", "Draw the harbour")
    (mixed / "noise.jsonl").write_text("hello\n")
    (mixed / "other.jsonl").write_text('{"note": 1}\n')
    app = app_on(root)
    async with app.run_test(size=(80, 24)) as pilot:
        picker = await picker_open(pilot, app)
        picker.search(str(mixed))
        await until(pilot, lambda: not picker.searching)
        assert [(row.path.name, row.state, row.program) for row in picker.found if row.choosable] == [
            ("rollout-a.jsonl", "new", "Codex"),
            ("one.jsonl", "new", "Claude Code"),
        ]
        refused = sorted(row.title for row in picker.found if not row.choosable)
        assert refused == ["noise.jsonl: not JSON lines", "other.jsonl: no session records"]
        # A file that was changed since it was imported.
        await picker.action_take()
        await until(pilot, lambda: picker.job is not None and not picker.job.running)
    rollout(mixed / "deeper" / "rollout-a.jsonl", "first", "Draw the harbour", "More")
    os.utime(mixed / "deeper" / "rollout-a.jsonl", (1_700_000_009, 1_700_000_009))
    app = app_on(root)
    async with app.run_test(size=(80, 24)) as pilot:
        picker = await picker_open(pilot, app)
        picker.search(str(mixed))
        await until(pilot, lambda: not picker.searching)
        assert {row.path.name: row.state for row in picker.found if row.choosable} == {
            "rollout-a.jsonl": "changed",
            "one.jsonl": "known",
        }


class GatedSearch:
    """Holds a search behind its second file until it is let go, on the search's own thread."""

    def __init__(self, workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
        self.gate = threading.Event()
        self.heard = 0
        self.ended = threading.Event()
        real = workspace.find_transcripts

        def find(
            kind: str | None,
            paths: list[Path],
            *,
            heard: Callable[[Any], None],
            cancelled: Callable[[], bool],
        ) -> Any:
            def hear(found: Any) -> None:
                self.heard += 1
                heard(found)
                if self.heard == 2:
                    assert self.gate.wait(20)

            try:
                return real(kind, paths, heard=hear, cancelled=cancelled)
            finally:
                self.ended.set()

        monkeypatch.setattr(workspace, "find_transcripts", find)


async def gated_search(
    pilot: Pilot[None], app: SessionsApp, monkeypatch: pytest.MonkeyPatch
) -> tuple[ImportPicker, GatedSearch]:
    monkeypatch.setattr(import_picker, "_BATCH_SECONDS", 0)
    await rows_shown(pilot, app)
    assert app.workspace is not None
    search = GatedSearch(app.workspace, monkeypatch)
    await app.action_perform("sessions.import")
    await until(pilot, lambda: isinstance(app.screen, ImportPicker) and app.screen.is_mounted)
    picker = app.screen
    assert isinstance(picker, ImportPicker)
    await until(pilot, lambda: len(picker.found) == 2)
    await pilot.pause()
    return picker, search


async def test_a_search_tells_what_it_found_so_far_and_can_be_stopped(
    projects: Path, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(6):
        transcript(projects / "a" / f"{number}.jsonl", f"s{number}")
    app = app_on(root)
    async with app.run_test(size=(80, 24)) as pilot:
        picker, search = await gated_search(pilot, app, monkeypatch)
        assert "Searching … found 2 transcripts · 2 new" in whole_screen(app)
        assert "x stop" in whole_screen(app)
        # The screen answers while the search goes on.
        await pilot.press("space")
        assert len(picker.chosen) == 1
        await pilot.press("x")
        await until(pilot, lambda: "Search stopped · 2 transcripts" in whole_screen(app))
        search.gate.set()
        await until(pilot, search.ended.is_set)
        await pilot.pause()
        assert (search.heard, len(picker.found)) == (2, 2)
        await picker.action_take()
        await until(pilot, lambda: picker.job is not None and not picker.job.running)
        await until(pilot, lambda: "2 acta added to 1 session." in whole_screen(app))


async def test_a_search_ends_with_its_dialog(
    projects: Path, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(6):
        transcript(projects / "a" / f"{number}.jsonl", f"s{number}")
    app = app_on(root)
    async with app.run_test(size=(80, 24)) as pilot:
        _, search = await gated_search(pilot, app, monkeypatch)
        await pilot.press("escape")
        await until(pilot, lambda: not isinstance(app.screen, ImportPicker))
        search.gate.set()
        await until(pilot, search.ended.is_set)
        assert search.heard == 2


async def test_an_import_counts_the_acta_beside_the_bytes(
    projects: Path, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    transcript(projects / "one" / "one.jsonl", "one", 2)
    transcript(projects / "two" / "two.jsonl", "two", 2)
    app = app_on(root)
    async with app.run_test(size=(80, 24)) as pilot:
        picker, gated = await running_import(pilot, app, monkeypatch)
        await until(pilot, lambda: "4 acta added" in whole_screen(app))
        assert " of " in whole_screen(app)
        gated.gate.set()
        await until(pilot, lambda: picker.job is not None and not picker.job.running)
        await until(pilot, lambda: "8 acta added to 2 sessions." in whole_screen(app))


# -- pictures ---------------------------------------------------------------------------------

SnapCompare = Callable[..., bool]


def files_of_both(projects: Path, codex_home: Path) -> None:
    for number in range(4):
        path = transcript(projects / f"p{number % 3}" / f"s{number}.jsonl", f"s{number}", 2 + number)
        os.utime(path, (1_770_000_000, 1_770_000_000))
    titles = (
        "長い題名がここに続きます。とても長いので切り取られます。",
        "Fix the failing harbour test and explain at length what was wrong with it and why nobody saw it",
        "[bold]not bold[/bold] \x1b[31mred",
    )
    for number, title in enumerate(titles):
        name = f"rollout-2026-02-0{number + 1}T00-00-00-{number}.jsonl"
        rollout(codex_home / "sessions" / "2026" / "02" / f"0{number + 1}" / name, f"c{number}", title)
    noise = "rollout-2026-02-09T00-00-00-0199a1b2-0000-7000-8000-000000000001.jsonl"
    (codex_home / "sessions" / "2026" / noise).write_text("hello\n")


def picture(snap_compare: SnapCompare, root: Path, size: tuple[int, int], *, take: bool = False) -> bool:
    app = app_on(root)

    async def settled(pilot: Pilot[None]) -> None:
        picker = await picker_open(pilot, app)
        if take:
            await picker.action_take()
            await until(pilot, lambda: picker.job is not None and not picker.job.running)
            await until(pilot, lambda: bool(picker.query_one("#report", TextPane).blocks))
            # What stands behind the dialog has taken notice, too.
            await until(pilot, lambda: len(sessions_page(app).sessions._window.rows) == 7)
            # Its cursor stays on what came in first, which one is a matter of time.
            sessions_page(app).sessions.action_first()
            await rows_shown(pilot, app)
            await work_done(pilot)
        await pilot.pause()
        await pilot.pause()

    return snap_compare(app, terminal_size=size, run_before=settled)


@pytest.mark.parametrize("size", sizes())
def test_picture_of_what_was_found(
    snap_compare: SnapCompare, projects: Path, root: Path, tmp_path: Path, size: tuple[int, int]
) -> None:
    files_of_both(projects, tmp_path / "codex")
    assert picture(snap_compare, root, size)


@pytest.mark.parametrize("size", sizes(1, 3))
def test_picture_of_nothing_found(
    snap_compare: SnapCompare, root: Path, monkeypatch: pytest.MonkeyPatch, size: tuple[int, int]
) -> None:
    # Short and the same wherever the tests run.
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", "/nowhere/claude")
    monkeypatch.setenv("CODEX_HOME", "/nowhere/codex")
    assert picture(snap_compare, root, size)


@pytest.mark.parametrize("size", sizes(0, 2))
def test_picture_of_what_was_imported(
    snap_compare: SnapCompare, projects: Path, root: Path, tmp_path: Path, size: tuple[int, int]
) -> None:
    files_of_both(projects, tmp_path / "codex")
    assert picture(snap_compare, root, size, take=True)
