"""What is remembered: per workspace, atomically, and never at the price of a start."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tui.shell_probe import ProbeApp, make_workspace, opened
from workbench.tui.state import ScreenState, UserState, load_state, save_state, state_file

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)


@given(
    st.builds(
        UserState,
        root=TEXTS,
        screen=TEXTS,
        theme=TEXTS,
        screens=st.dictionaries(
            TEXTS,
            st.builds(
                ScreenState,
                share=st.integers(0, 100),
                selected=TEXTS,
                values=st.dictionaries(TEXTS, TEXTS, max_size=3),
            ),
            max_size=3,
        ),
    )
)
def test_what_was_saved_is_loaded(state: UserState) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "deep" / "state.json"
        assert save_state(path, state) == ""
        assert load_state(path) == (state, "")
        assert [found.name for found in path.parent.iterdir()] == ["state.json"]


@given(st.binary(max_size=60))
def test_no_file_stops_the_start(content: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "state.json"
        path.write_bytes(content)
        state, problem = load_state(path)
        if problem:
            assert state == UserState()
            assert path.with_suffix(".corrupt").read_bytes() == content
            assert not path.exists()


def test_two_workspaces_have_two_files(tmp_path: Path) -> None:
    assert state_file(tmp_path, Path("/a")) != state_file(tmp_path, Path("/b"))
    assert state_file(tmp_path, Path("/a")) == state_file(tmp_path, Path("/a/"))


def test_a_folder_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    blocker = tmp_path / "file"
    blocker.write_text("in the way", encoding="utf-8")
    assert "not remembered" in save_state(blocker / "state.json", UserState())


async def test_a_corrupt_file_is_set_aside_with_a_toast(tmp_path: Path) -> None:
    root = make_workspace(tmp_path / "w")
    path = state_file(tmp_path / "state", root)
    path.parent.mkdir(parents=True)
    path.write_text('{"screen": 3', encoding="utf-8")
    app = ProbeApp(root)
    async with app.run_test(notifications=True) as pilot:
        await opened(pilot, app)
        (toast,) = app._notifications
        assert "set aside" in toast.message
    assert path.with_suffix(".corrupt").read_text("utf-8") == '{"screen": 3'
    assert load_state(path)[1] == "", "a new one is written at the end"


@pytest.mark.parametrize("screen", ["rows", "empty"])
async def test_screen_and_widths_come_back(tmp_path: Path, screen: str) -> None:
    root = make_workspace(tmp_path / "w")
    app = ProbeApp(root)
    async with app.run_test(size=(120, 40)) as pilot:
        await opened(pilot, app)
        await pilot.press("plus", "3" if screen == "empty" else "2")
    app = ProbeApp(root)
    async with app.run_test(size=(120, 40)) as pilot:
        await opened(pilot, app)
        assert app.page is not None
        assert screen == app.page.NAME
        assert app.state.of("rows").share == 55
        await pilot.press("2")
        await pilot.pause()
        width = app.page.query_one("#list-pane").styles.width
        assert width is not None
        assert width.value == 55


async def test_an_unknown_screen_is_said(tmp_path: Path) -> None:
    app = ProbeApp(make_workspace(tmp_path / "w"), screen="nowhere")
    async with app.run_test(notifications=True) as pilot:
        await opened(pilot, app)
        assert [toast.message for toast in app._notifications] == ["There is no screen “nowhere”."]
        assert app.page is not None
        assert app.page.NAME == "rows"
