"""The evidence viewer as pictures at four sizes: texts, Markdown, bytes, what is missing, a difference."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from textual.pilot import Pilot

from tests.tui.evidence_probe import PYTHON, make_files, make_workspace, viewer_on
from tests.tui.pictures import sizes
from tests.tui.shell_probe import until, work_done
from tests.tui.timeline_probe import TimelineApp, app_on
from workbench.tui.evidence_viewer.picture import can_draw
from workbench.tui.widgets.frame import HeaderState
from workbench.workspace import Workspace

SnapCompare = Callable[..., bool]


class Named(TimelineApp):
    """The path in the header is the same wherever the tests run."""

    def header_state(self) -> HeaderState:
        return replace(super().header_state(), path="~/chronicle")


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = make_files(tmp_path / "files")
    monkeypatch.chdir(folder)
    return folder


def picture(
    snap_compare: SnapCompare,
    tmp_path: Path,
    files: Path,
    size: tuple[int, int],
    path: str,
    *keys: str,
    harm: Callable[[Workspace], None] | None = None,
    read_only: bool = False,
) -> bool:
    root = make_workspace(tmp_path / "w", files)
    if harm is not None:
        with Workspace.open(root) as workspace:
            harm(workspace)
    app = app_on(root)
    app.__class__ = Named
    app.wants_read_only = read_only

    async def settle(pilot: Pilot[None]) -> None:
        viewer = await viewer_on(pilot, app, path=path)
        for key in keys:
            await pilot.press(key)
        await work_done(pilot)
        if viewer.side == "disk" and viewer.item is not None and viewer.item.row is not None:
            await until(pilot, lambda: viewer.on_disk is not None)
        await pilot.pause()
        await pilot.pause()

    return snap_compare(app, terminal_size=size, run_before=settle)


@pytest.mark.parametrize("size", sizes())
def test_source(snap_compare: SnapCompare, tmp_path: Path, files: Path, size: tuple[int, int]) -> None:
    assert picture(snap_compare, tmp_path, files, size, "rows.py")


@pytest.mark.parametrize("size", sizes(0, 3))
def test_markdown(snap_compare: SnapCompare, tmp_path: Path, files: Path, size: tuple[int, int]) -> None:
    assert picture(snap_compare, tmp_path, files, size, "way-back.md")


@pytest.mark.parametrize("size", sizes(0, 1))
def test_wide_characters(
    snap_compare: SnapCompare, tmp_path: Path, files: Path, size: tuple[int, int]
) -> None:
    assert picture(snap_compare, tmp_path, files, size, "wide.txt", "w")


@pytest.mark.parametrize("size", sizes(1, 3))
def test_bytes(snap_compare: SnapCompare, tmp_path: Path, files: Path, size: tuple[int, int]) -> None:
    assert picture(snap_compare, tmp_path, files, size, "data.bin")


@pytest.mark.parametrize("size", sizes(0, 2))
def test_missing(snap_compare: SnapCompare, tmp_path: Path, files: Path, size: tuple[int, int]) -> None:
    assert picture(snap_compare, tmp_path, files, size, "never.md")


@pytest.mark.parametrize("size", sizes(1, 3))
def test_empty(snap_compare: SnapCompare, tmp_path: Path, files: Path, size: tuple[int, int]) -> None:
    assert picture(snap_compare, tmp_path, files, size, "empty.txt")


@pytest.mark.parametrize("size", sizes(0, 2))
def test_damaged(snap_compare: SnapCompare, tmp_path: Path, files: Path, size: tuple[int, int]) -> None:
    def harm(workspace: Workspace) -> None:
        row = workspace.readers.evidence.named("rows.py")
        assert row is not None
        place = workspace.evidence.path(row.digest)
        place.unlink()
        place.write_text("forged = True\n")

    assert picture(snap_compare, tmp_path, files, size, "rows.py", harm=harm)


@pytest.mark.parametrize("size", sizes(0, 3))
def test_a_hit(snap_compare: SnapCompare, tmp_path: Path, files: Path, size: tuple[int, int]) -> None:
    assert picture(snap_compare, tmp_path, files, size, "rows.py", "slash", *"limit", "enter", "n")


@pytest.mark.parametrize("size", sizes(0, 1))
def test_records(snap_compare: SnapCompare, tmp_path: Path, files: Path, size: tuple[int, int]) -> None:
    assert picture(snap_compare, tmp_path, files, size, "rows.py", "left_square_bracket")


@pytest.mark.parametrize("size", sizes())
def test_a_difference(
    snap_compare: SnapCompare,
    tmp_path: Path,
    files: Path,
    size: tuple[int, int],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from workbench.workspace import evidence_disk

    there = evidence_disk.on_disk

    def changed(*given: object, **options: object) -> evidence_disk.OnDisk:
        # The place of the tests' files is another one in every run.
        return there(*given, **options)._replace(place="~/atlas/rows.py", assumed="~/atlas")  # type: ignore[arg-type]

    monkeypatch.setattr(evidence_disk, "on_disk", changed)
    root_text = PYTHON.replace("LIMIT = 40", "LIMIT = 50").replace("        return []\n", "")

    def harm(workspace: Workspace) -> None:
        (files / "rows.py").write_text(root_text)

    assert picture(snap_compare, tmp_path, files, size, "rows.py", "d", harm=harm)


@pytest.mark.skipif(not can_draw(), reason="images are drawn with the extra “images” alone")
@pytest.mark.parametrize("size", sizes(0, 2))
def test_an_image(snap_compare: SnapCompare, tmp_path: Path, files: Path, size: tuple[int, int]) -> None:
    assert picture(snap_compare, tmp_path, files, size, "picture.png")
