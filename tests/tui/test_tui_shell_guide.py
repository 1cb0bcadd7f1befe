"""The guide in the help dialog: tables whose columns stand under each other, and lines that keep their form."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from tests.thorough import some
from tests.tui.shell_probe import ProbeApp, make_workspace, opened, screen_lines, until, whole_screen
from workbench.guide import pages
from workbench.tui.app import WorkbenchApp
from workbench.tui.dialogs.guide import guide_content, hung
from workbench.tui.dialogs.help import HelpDialog
from workbench.tui.key_names import display

PAGES = dict(pages())
WIDE = 106
"""Cells of the guide's lines in a terminal of 120 columns."""


def lines_at(page: str, width: int) -> list[str]:
    """A page of the guide as lines."""
    return guide_content(PAGES[page], width).plain.split("\n")


@pytest.mark.parametrize("page", sorted(PAGES))
@given(width=st.integers(30, 140))
def test_no_line_is_wider_than_the_panel_and_no_word_is_lost(page: str, width: int) -> None:
    lines = lines_at(page, width)
    assert max(cell_len(line) for line in lines) <= width
    shown = "".join("".join(lines).split())
    for word in PAGES[page].replace("`", "").replace("|", " ").split():
        if set(word) - set("#-:"):
            assert word in shown


def test_wide_the_keys_are_a_table_with_a_line_for_an_action() -> None:
    lines = lines_at("keys", WIDE)
    header = next(line for line in lines if line.startswith("keys "))
    places = [header.index(word) for word in ("what it does", "where", "id")]
    for action in WorkbenchApp.REGISTRY:
        row = next(line for line in lines if line[places[2] :] == action.id)
        assert row.startswith(f"{' '.join(display(key) for key in action.keys)} ")
        assert action.description.startswith(row[places[0] : places[1]].rstrip())
        assert all(row[place - 2 : place] == "  " for place in places), "columns are apart"


@pytest.mark.parametrize("width", [52, 70])
def test_narrow_place_and_id_stand_under_what_it_does(width: int) -> None:
    lines = lines_at("keys", width)
    column = next(line for line in lines if line.startswith("keys ")).index("what it does")
    for action in WorkbenchApp.REGISTRY:
        at = next(number for number, line in enumerate(lines) if line.endswith(f" · {action.id}"))
        above = lines[at - 1]
        assert action.description.endswith(above[column:])
        assert lines[at][:column].strip() == ""


def test_a_line_as_written_hangs_under_its_second_column() -> None:
    line = "    /        narrow the list; where the acta have the keys, find text"
    assert hung(line, 80) == [line]
    first, *rest = hung(line, 36)
    assert first == "    /        narrow the list; where"
    assert rest == ["             the acta have the keys,", "             find text"]
    assert hung("    workbench import jsonl FILE --root ELSEWHERE", 36) == [
        "    workbench import jsonl FILE",
        "      --root ELSEWHERE",
    ]


@pytest.mark.parametrize("size", some([(60, 15), (80, 24), (120, 40)], 2))
async def test_the_page_in_the_dialog_follows_the_size(tmp_path: Path, size: tuple[int, int]) -> None:
    app = ProbeApp(make_workspace(tmp_path / "w"))
    async with app.run_test(size=(140, 50)) as pilot:
        await opened(pilot, app)
        await pilot.press("question_mark")
        await until(pilot, lambda: isinstance(app.screen, HelpDialog) and "keys here" in whole_screen(app))
        await pilot.press(*["right_square_bracket"] * (1 + list(PAGES).index("keys")))
        await until(pilot, lambda: "Every action, its id" in whole_screen(app))
        await pilot.resize_terminal(*size)
        row = "screen.sessions" if size[0] >= 120 else "everywhere · screen.sessions"
        for _ in range(20):
            await pilot.pause()
            if any(row in line for line in screen_lines(app)):
                break
            await pilot.press("j")
        one_line = any(
            "Open the Sessions" in line and "screen.sessions" in line for line in screen_lines(app)
        )
        assert one_line == (size[0] >= 120)
