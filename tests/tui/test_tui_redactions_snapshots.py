"""The Redactions screen as pictures at four sizes: full, empty, filtered to nothing, its sides and dialogs."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from textual import events
from textual.pilot import Pilot
from textual.widgets import Input, TextArea

from tests.tui.pictures import sizes
from tests.tui.redactions_probe import (
    RedactionsApp,
    Secrets,
    app_on,
    copy_database,
    fixed_version,
    let_in,
    make_workspace,
    rows_shown,
    settled,
    talk,
)
from tests.tui.shell_probe import until
from workbench.tui.dialogs.typed_confirm import TypedConfirmDialog
from workbench.tui.redactions.look_dialog import LookDialog
from workbench.tui.redactions.scratch_pad import ScratchPad
from workbench.tui.screens.redactions import RedactionsPage
from workbench.workspace.rows import RedactionFilter

SnapCompare = Callable[..., bool]
Steps = Callable[[Pilot[None], RedactionsApp, RedactionsPage], Awaitable[None]]


@pytest.fixture(autouse=True)
def one_version(monkeypatch: pytest.MonkeyPatch) -> None:
    fixed_version(monkeypatch)


def full(root: Path) -> Path:
    return make_workspace(root, talk(Secrets()))


def dirty(root: Path) -> Path:
    """Some secrets were let in, and two backups were made: one that is a copy, one that is a text."""
    secrets = Secrets()
    let_in(full(root), talk(secrets))
    copy_database(root, "2026-03-17.db")
    (root / "backups" / "説明.txt").write_text("what is kept here, and since when\n")
    return root


def picture(
    snap_compare: SnapCompare,
    root: Path,
    size: tuple[int, int],
    steps: Steps | None = None,
    *,
    down: int = 0,
    enter: bool = False,
    read_only: bool = False,
) -> bool:
    app = app_on(root, read_only=read_only)

    async def settle(pilot: Pilot[None]) -> None:
        page = await rows_shown(pilot, app)
        for _ in range(down):
            page.redactions.action_cursor_down()
        await rows_shown(pilot, app)
        if enter:
            page.redactions.action_open()
        if steps is not None:
            await steps(pilot, app, page)
        await settled(pilot, app)
        await pilot.pause()
        await pilot.pause()

    return snap_compare(app, terminal_size=size, run_before=settle)


@pytest.mark.parametrize("size", sizes())
def test_full(snap_compare: SnapCompare, tmp_path: Path, size: tuple[int, int]) -> None:
    assert picture(snap_compare, full(tmp_path / "w"), size, down=4)


@pytest.mark.parametrize("size", sizes(0, 2))
def test_wide_characters(snap_compare: SnapCompare, tmp_path: Path, size: tuple[int, int]) -> None:
    assert picture(snap_compare, full(tmp_path / "w"), size, down=3, enter=size[0] < 80)


@pytest.mark.parametrize("size", sizes(0, 2))
def test_empty(snap_compare: SnapCompare, tmp_path: Path, size: tuple[int, int]) -> None:
    assert picture(snap_compare, make_workspace(tmp_path / "w"), size)


@pytest.mark.parametrize("size", sizes(1, 3))
def test_filtered_to_nothing(snap_compare: SnapCompare, tmp_path: Path, size: tuple[int, int]) -> None:
    async def narrow(pilot: Pilot[None], app: RedactionsApp, page: RedactionsPage) -> None:
        page._apply(
            RedactionFilter(
                kinds=("openai_key",), actor="計画者とても長い名前", stream="session/deploy", text="comet"
            )
        )
        await rows_shown(pilot, app)

    assert picture(snap_compare, full(tmp_path / "w"), size, narrow)


@pytest.mark.parametrize("size", sizes(0, 3))
def test_kinds(snap_compare: SnapCompare, tmp_path: Path, size: tuple[int, int]) -> None:
    async def turn(pilot: Pilot[None], app: RedactionsApp, page: RedactionsPage) -> None:
        await app.action_perform("page.next_tab")

    assert picture(snap_compare, full(tmp_path / "w"), size, turn, enter=size[0] < 80)


@pytest.mark.parametrize("size", sizes(0, 1))
def test_backups(snap_compare: SnapCompare, tmp_path: Path, size: tuple[int, int]) -> None:
    async def look(pilot: Pilot[None], app: RedactionsApp, page: RedactionsPage) -> None:
        await app.action_perform("redactions.backups")
        await until(pilot, lambda: page.job is not None and not page.job.running)
        (app.root / "backups" / "later.txt").write_text("one more\n")
        page.pane.show_side("backups")
        await settled(pilot, app)

    assert picture(snap_compare, dirty(tmp_path / "w"), size, look, enter=size[0] < 80)


@pytest.mark.parametrize("size", sizes(0, 2))
def test_rescan(snap_compare: SnapCompare, tmp_path: Path, size: tuple[int, int]) -> None:
    async def look(pilot: Pilot[None], app: RedactionsApp, page: RedactionsPage) -> None:
        await app.action_perform("redactions.rescan")
        await until(pilot, lambda: isinstance(app.screen, LookDialog) and not app.screen.job.running)

    assert picture(snap_compare, dirty(tmp_path / "w"), size, look)


@pytest.mark.parametrize("size", sizes())
def test_confirming_a_scrub(snap_compare: SnapCompare, tmp_path: Path, size: tuple[int, int]) -> None:
    async def ask(pilot: Pilot[None], app: RedactionsApp, page: RedactionsPage) -> None:
        await app.action_perform("redactions.scrub")
        await until(
            pilot,
            lambda: isinstance(app.screen, TypedConfirmDialog) and isinstance(app.screen.focused, Input),
        )
        app.screen.query_one(Input).cursor_blink = False
        await pilot.press("s", "c")

    assert picture(snap_compare, dirty(tmp_path / "w"), size, ask)


@pytest.mark.parametrize("size", sizes(0, 3))
def test_after_a_scrub(snap_compare: SnapCompare, tmp_path: Path, size: tuple[int, int]) -> None:
    async def scrub(pilot: Pilot[None], app: RedactionsApp, page: RedactionsPage) -> None:
        page._begin("scrub")
        page._show_job(page.job)
        await until(pilot, lambda: page.job is not None and not page.job.running)
        await until(pilot, lambda: page.redactions.status.total == 14)
        # What stands behind the dialog has taken notice, too.
        await until(pilot, lambda: page.cursor_redaction is not None and page.cursor_redaction.scrubbed)
        await until(pilot, lambda: page.strip.over is not None and page.strip.over.secrets == 18)
        await rows_shown(pilot, app)

    assert picture(snap_compare, dirty(tmp_path / "w"), size, scrub)


@pytest.mark.parametrize("size", sizes())
def test_scratch_pad(snap_compare: SnapCompare, tmp_path: Path, size: tuple[int, int]) -> None:
    # The picture shows the end of the text and the beginning of what would be stored: no secret.
    async def paste(pilot: Pilot[None], app: RedactionsApp, page: RedactionsPage) -> None:
        secrets = Secrets()
        await app.action_perform("redactions.pad")
        await until(
            pilot, lambda: isinstance(app.screen, ScratchPad) and isinstance(app.screen.focused, TextArea)
        )
        app.screen.query_one(TextArea).cursor_blink = False
        pad = app.screen
        assert isinstance(pad, ScratchPad)
        text = (
            f"# 日本語の設定 [bold]\n\nTOKEN={secrets.github()}\nKEY={secrets.aws()}\nOTHER={secrets.aws()}\n"
            + "end\n" * 40
        )
        app.post_message(events.Paste(text))
        await until(pilot, lambda: pad.counts == {"aws_access_key": 2, "github_token": 1})

    assert picture(snap_compare, make_workspace(tmp_path / "w"), size, paste)


def test_read_only(snap_compare: SnapCompare, tmp_path: Path) -> None:
    assert picture(snap_compare, dirty(tmp_path / "w"), (120, 40), down=2, read_only=True)


@pytest.mark.parametrize("size", sizes(0, 1))
def test_a_rescan_is_due(
    snap_compare: SnapCompare, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: tuple[int, int]
) -> None:
    root = full(tmp_path / "w")
    from workbench.redaction import default_filter

    monkeypatch.setitem(vars(default_filter()), "version", "3-aaaabbbbccccdddd")
    assert picture(snap_compare, root, size)
