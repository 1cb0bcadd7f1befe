"""The evidence viewer's keys on a real workspace: reading, sides, finding, copying, what is not there."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from textual.widgets import Input

from tests.tui.evidence_probe import (
    PYTHON,
    TOKEN,
    WIDE,
    make_files,
    make_workspace,
    new_ids,
    png,
    record,
    shown,
    viewer_on,
    viewer_open,
    whole,
)
from tests.tui.shell_probe import until, whole_screen
from tests.tui.timeline_probe import app_on, rows_shown
from workbench.tui.dialogs.copy_menu import CopyMenu
from workbench.tui.evidence_viewer import EvidenceViewer
from workbench.tui.present import number
from workbench.tui.widgets.tab_line import TabLine
from workbench.workspace import Workspace
from workbench.workspace.evidence import purge


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = make_files(tmp_path / "files")
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def root(tmp_path: Path, files: Path) -> Path:
    return make_workspace(tmp_path / "w", files)


def digest_of(root: Path, path: str) -> str:
    with Workspace.open(root, read_only=True) as workspace:
        row = workspace.readers.evidence.named(path)
        assert row is not None
        return row.digest


async def test_e_on_the_timeline_opens_the_event_s_files(root: Path) -> None:
    app = app_on(root)
    async with app.run_test(size=(120, 40)) as pilot:
        page = await rows_shown(pilot, app)
        await until(pilot, lambda: app.reason_of("timeline.evidence") == "")
        await pilot.press("e")
        viewer = await viewer_open(pilot, app)
        screen = whole_screen(app)
        for said in ("rows.py", "✓ archived", "file 1 of 2", "by claude", "utf-8 · python · 12 lines"):
            assert said in screen
        assert shown(viewer) == whole(PYTHON.rstrip("\n"))
        await pilot.press("greater_than_sign")
        await until(pilot, lambda: viewer.item is not None and viewer.item.state == "missing")
        assert "never.md" in whole_screen(app) and "nothing stands behind this claim" in whole_screen(app)
        await pilot.press("less_than_sign")
        await until(pilot, lambda: viewer.item is not None and viewer.item.state == "archived")
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is page)


async def test_an_event_without_evidence_says_so(root: Path) -> None:
    app = app_on(root)
    async with app.run_test(size=(120, 40)) as pilot:
        page = await rows_shown(pilot, app)
        page.events.action_last()
        await rows_shown(pilot, app)
        await until(pilot, lambda: app.reason_of("timeline.evidence") == "")
        with Workspace.open(root) as workspace:
            from tests.workspace.evidence_cases import observation

            event = observation([])
            workspace.log.append(event.payload.stream, [event])  # type: ignore[attr-defined]
        page.events.action_first()
        await until(pilot, lambda: page.cursor_event is not None and page.cursor_event.position == 8)
        await rows_shown(pilot, app)
        assert app.reason_of("timeline.evidence") == "this event names no source file"


async def test_what_a_file_says_is_drawn_literally(root: Path) -> None:
    app = app_on(root)
    async with app.run_test(size=(120, 40)) as pilot:
        viewer = await viewer_on(pilot, app, path="wide.txt")
        screen = whole_screen(app)
        assert "[bold]not bold[/bold] [@click=app.quit]quit[/] ␛[31mred␛[0m ⟦U+202E⟧evil⟦U+202C⟧" in screen
        assert "bell␇" in screen and "zero⟦U+200B⟧width" in screen
        assert shown(viewer) == whole(WIDE.rstrip("\n"))
        assert "\x1b" not in screen and "\x07" not in screen


async def test_lines_wrap_or_run_on_and_are_numbered_or_not(root: Path) -> None:
    app = app_on(root)
    async with app.run_test(size=(80, 24)) as pilot:
        viewer = await viewer_on(pilot, app, path="wide.txt")
        wrapped = [line for line in whole_screen(app).splitlines() if "long long" in line]
        assert len(wrapped) > 2 and "  4  " in whole_screen(app)
        await pilot.press("w")
        (cut,) = [line for line in whole_screen(app).splitlines() if "long long" in line]
        assert "long…" in cut or "lon…" in cut or "lo…" in cut or "l…" in cut or "long …" in cut
        await pilot.press("l")
        (moved,) = [line for line in whole_screen(app).splitlines() if "long long" in line]
        assert "…" in moved and "tab here" not in moved
        await pilot.press("h")
        assert "tab here" in whole_screen(app).replace("tab     here", "tab here")
        await pilot.press("number_sign")
        assert "  4  " not in whole_screen(app)
        await pilot.press("w")
        assert viewer.pane.wraps and not viewer.pane.numbered


async def test_markdown_is_rendered_and_m_shows_its_source(root: Path) -> None:
    app = app_on(root)
    async with app.run_test(size=(120, 40)) as pilot:
        viewer = await viewer_on(pilot, app, path="way-back.md")
        screen = whole_screen(app)
        assert "# The way back" not in screen and "The way back" in screen and "**off**" not in screen
        assert "1 secret removed" in screen and TOKEN not in screen and "[REDACTED:github_token]" in screen
        await pilot.press("m")
        assert "# The way back" in whole_screen(app) and "**off**" in whole_screen(app)
        assert "Markdown, its source" in whole_screen(app)
        await pilot.press("m")
        assert shown(viewer).startswith("The way back")


async def test_an_image_is_described_and_bytes_are_dumped(root: Path) -> None:
    app = app_on(root)
    async with app.run_test(size=(120, 40)) as pilot:
        viewer = await viewer_on(pilot, app, path="picture.png")
        for said in ("PNG image", "64 × 40", "RGB, 8 bits a channel", "00000000  89 50 4e 47"):
            assert said in shown(viewer)
        await pilot.press("escape")
        viewer = await viewer_on(pilot, app, path="data.bin")
        assert "kind  binary" in shown(viewer) and f"and {number(1904)} more bytes" in shown(viewer)
        assert len([line for line in shown(viewer).splitlines() if line.startswith("0000")]) == 256


async def test_an_image_that_lies_or_is_broken_harms_nobody(tmp_path: Path, files: Path) -> None:
    good = png()
    lies = good[:16] + b"\0\0\x7f\xff\0\0\x7f\xff" + good[24:]
    (files / "lies.png").write_bytes(lies)
    (files / "broken.png").write_bytes(good[:60] + b"\xff" * 200)
    with Workspace.create(tmp_path / "w", title="Images", timezone="UTC", owner="maya") as workspace:
        ids = new_ids()
        record(workspace, files, ids, "lies.png")
        record(workspace, files, ids, "broken.png")
    app = app_on(tmp_path / "w")
    async with app.run_test(size=(120, 40)) as pilot:
        viewer = await viewer_on(pilot, app, path="lies.png")
        assert viewer.body.picture is None and f"{number(32767)} × {number(32767)}" in shown(viewer)
        await pilot.press("escape")
        viewer = await viewer_on(pilot, app, path="broken.png")
        assert viewer.body.picture is None and "PNG image" in shown(viewer)


async def test_an_empty_file_is_no_error(root: Path) -> None:
    app = app_on(root)
    async with app.run_test(size=(80, 24)) as pilot:
        viewer = await viewer_on(pilot, app, path="empty.txt")
        assert shown(viewer) == "The file is empty: 0 bytes."
        await pilot.press("slash", "x", "enter", "n", "w", "m", "G", "g")
        assert app.is_running


# -- the file on the disk --------------------------------------------------------------------


async def test_d_compares_with_the_disk_and_hides_its_secrets(root: Path, files: Path) -> None:
    (files / "rows.py").write_text(PYTHON.replace("LIMIT = 40", f"LIMIT = 50\nKEY = '{TOKEN}'"))
    app = app_on(root)
    async with app.run_test(size=(120, 40)) as pilot:
        viewer = await viewer_on(pilot, app, path="rows.py")
        await pilot.press("d")
        await until(pilot, lambda: viewer.on_disk is not None and "changed since" in whole_screen(app))
        screen = whole_screen(app)
        assert "- LIMIT = 40  # rows of a page" in screen and "+ LIMIT = 50" in screen
        assert "@@ -2,7 +2,8 @@" in screen and "[REDACTED:github_token]" in screen and TOKEN not in screen
        assert "1 secret on the disk not shown here" in screen and "The path is relative" in screen
        (files / "rows.py").write_text(PYTHON)
        await pilot.press("R")
        await until(pilot, lambda: "is the same as the copy" in whole_screen(app))
        (files / "rows.py").unlink()
        await pilot.press("R")
        await until(pilot, lambda: "There is no such file below" in whole_screen(app))
        os.mkfifo(files / "rows.py")
        await pilot.press("R")
        await until(pilot, lambda: "It was not opened." in whole_screen(app))
        await pilot.press("d")
        assert viewer.side == "copy" and "LIMIT" in whole_screen(app)


async def test_the_sides_are_turned_and_records_are_told(root: Path) -> None:
    app = app_on(root)
    async with app.run_test(size=(120, 40)) as pilot:
        viewer = await viewer_on(pilot, app, path="rows.py")
        await pilot.press("left_square_bracket")
        assert viewer.side == "records"
        screen = whole_screen(app)
        assert screen.count("looked at rows.py") == 2 and "global / atlas" in screen
        viewer.post_message(TabLine.Chosen("copy"))
        await until(pilot, lambda: viewer.side == "copy")
        await pilot.press("right_square_bracket")
        await until(pilot, lambda: viewer.on_disk is not None)
        assert viewer.side == "disk"


# -- what is not there -----------------------------------------------------------------------


async def test_a_purged_copy_says_by_whom_and_why(root: Path) -> None:
    digest = digest_of(root, "rows.py")
    with Workspace.open(root) as workspace:
        purge(workspace.log, workspace.evidence, digest, reason="not [b]ours[/b]", by="ada")
    app = app_on(root)
    async with app.run_test(size=(120, 40)) as pilot:
        await viewer_on(pilot, app, sha256=digest)
        screen = whole_screen(app)
        assert "◌ purged" in screen and "by ada" in screen and "not [b]ours[/b]" in screen


@pytest.mark.parametrize(
    ("harm", "said"),
    [("other", "not those that were recorded"), ("gone", "Bring the file back from a backup")],
)
async def test_a_copy_that_is_damaged_or_lost_says_what_to_do(root: Path, harm: str, said: str) -> None:
    digest = digest_of(root, "rows.py")
    with Workspace.open(root) as workspace:
        place = workspace.evidence.path(digest)
    place.unlink()
    if harm == "other":
        place.write_text("forged = True\n")
    app = app_on(root)
    async with app.run_test(size=(120, 40)) as pilot:
        await viewer_on(pilot, app, sha256=digest)
        screen = whole_screen(app)
        assert said in screen and "workbench doctor" in screen
        assert ("forged = True" in screen) == (harm == "other")


async def test_what_nobody_recorded_is_said(root: Path) -> None:
    app = app_on(root)
    async with app.run_test(size=(80, 24)) as pilot:
        await viewer_on(pilot, app, path="no such path")
        assert "No record names such a file." in whole_screen(app)
        await pilot.press("d", "y", "left_square_bracket")
        assert isinstance(app.screen, EvidenceViewer)


async def test_what_is_no_digest_is_an_error_that_speaks(root: Path) -> None:
    app = app_on(root)
    async with app.run_test(size=(80, 24)) as pilot:
        await rows_shown(pilot, app)
        assert app.workspace is not None
        app.push_screen(EvidenceViewer(app.workspace, sha256="zz"))
        await until(pilot, lambda: "64 hexadecimal digits" in whole_screen(app))
        await pilot.press("escape")
        await until(pilot, lambda: "R tries again" in whole_screen(app))
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is app.page)


# -- finding and copying ---------------------------------------------------------------------


async def test_hits_are_counted_and_stepped_through_around_the_end(root: Path) -> None:
    app = app_on(root)
    async with app.run_test(size=(120, 15)) as pilot:
        viewer = await viewer_on(pilot, app, path="rows.py")
        await pilot.press("slash", *"PATH")
        await until(pilot, lambda: viewer._hits == 6)
        await pilot.press("enter")
        assert "6 hits of “PATH”" in whole_screen(app)
        places = []
        for _ in range(7):
            places.append(viewer.pane._at)
            await pilot.press("n")
        assert places == [0, 1, 2, 3, 4, 5, 0]
        await pilot.press("N", "N")
        assert viewer.pane._at == 5
        await pilot.press("slash", "escape")
        await until(pilot, lambda: viewer._hits is None)
        assert viewer.query_one(Input).value == "" and viewer.pane.has_focus
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is app.page)


async def test_what_is_looked_for_is_text(root: Path) -> None:
    app = app_on(root)
    async with app.run_test(size=(120, 40)) as pilot:
        viewer = await viewer_on(pilot, app, path="rows.py")
        viewer.query_one(Input).value = "[:limit]"
        await until(pilot, lambda: viewer._hits == 1)
        viewer.query_one(Input).value = "(.*"
        await until(pilot, lambda: viewer._hits == 0)


async def test_y_offers_what_can_be_copied(root: Path, files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (files / "rows.py").write_text(PYTHON.replace("40", "50"))
    app = app_on(root)
    async with app.run_test(size=(120, 40)) as pilot:
        viewer = await viewer_on(pilot, app, path="rows.py")
        copied: list[tuple[str, str]] = []
        monkeypatch.setattr(app, "copy", lambda text, label: copied.append((text, label)))
        await pilot.press("d")
        await until(pilot, lambda: viewer.on_disk is not None)
        await pilot.press("y")
        await until(pilot, lambda: isinstance(app.screen, CopyMenu))
        labels = [choice.label for choice in viewer.copy_choices()]
        assert labels == ["text", "digest", "command", "path", "id of the observation", "difference"]
        await pilot.press("1")
        await until(pilot, lambda: copied == [(PYTHON, "text")])
        difference = viewer.copy_choices()[-1].resolve()
        assert difference.startswith("--- rows.py (the copy)\n+++ rows.py (on the disk)\n@@ -2,7 +2,7 @@\n")
        assert "\n-LIMIT = 40  # rows of a page\n+LIMIT = 50  # rows of a page\n" in difference


async def test_scrolling_and_its_ends(root: Path) -> None:
    app = app_on(root)
    async with app.run_test(size=(60, 15)) as pilot:
        viewer = await viewer_on(pilot, app, path="data.bin")
        await pilot.press("G")
        assert viewer.pane.at_bottom and not viewer.pane.at_top
        await pilot.press("comma", "k", "g")
        assert viewer.pane.at_top
        await pilot.press("full_stop", "j", "down")
        assert not viewer.pane.at_top


async def test_of_a_megabyte_only_what_is_looked_at_is_laid_out(tmp_path: Path, files: Path) -> None:
    (files / "large.py").write_text(PYTHON * 2600)
    with Workspace.create(tmp_path / "w", title="Large", timezone="UTC", owner="maya") as workspace:
        record(workspace, files, new_ids(), "large.py")
    app = app_on(tmp_path / "w")
    async with app.run_test(size=(120, 40)) as pilot:
        viewer = await viewer_on(pilot, app, path="large.py")
        await pilot.press("G")
        lines = 2600 * PYTHON.count("\n")
        assert number(lines) in whole_screen(app) and number(lines - 20) in whole_screen(app)
        kept = len(viewer.pane._document._kept)
        assert 0 < kept < 250
