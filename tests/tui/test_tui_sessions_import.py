"""Importing transcripts from the Sessions screen: what is found, chosen, imported and said."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from tests.tui.sessions_probe import SessionsApp, app_on, make_workspace, rows_shown, sessions_page
from tests.tui.shell_probe import until, whole_screen
from workbench.tui.dialogs.confirm import ConfirmDialog
from workbench.tui.dialogs.import_picker import ImportPicker
from workbench.tui.document import Document
from workbench.tui.sessions.found_rows import KEPT_DAYS, retention, search_places
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
        real = workspace.import_claude_code

        def held(paths: list[Path], *, progress: Callable[..., None], cancelled: Callable[[], bool]) -> Any:
            def stop_at_first(done: int, total: int | None, note: str) -> None:
                progress(done, total, note)
                self.reached.set()
                assert self.gate.wait(20)

            return real(paths, progress=stop_at_first, cancelled=cancelled)

        monkeypatch.setattr(workspace, "import_claude_code", held)


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


def test_projects_are_searched_one_by_one_and_a_folder_of_transcripts_whole(tmp_path: Path) -> None:
    many = tmp_path / "projects"
    transcript(many / "a" / "one.jsonl", "one")
    transcript(many / "b" / "two.jsonl", "two")
    assert list(search_places(str(many))) == [many / "a", many / "b"]
    (many / "a" / "one").mkdir()
    assert list(search_places(str(many / "a"))) == [many / "a"]
    assert list(search_places(str(many / "a" / "one.jsonl"))) == [many / "a" / "one.jsonl"]
    (many / "link").symlink_to(tmp_path)
    assert list(search_places(str(many))) == [many]


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
