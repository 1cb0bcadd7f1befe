"""Images: which terminals say that they draw them, half cells elsewhere, and what is never decoded."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.tui.drawing import OneWidget
from tests.tui.evidence_probe import png
from workbench.tui import graphics
from workbench.tui.evidence_viewer.picture import Picture, PictureView, can_draw, fitted, picture_of
from workbench.workspace.image_facts import ImageFacts, image_facts

RED, BLUE, CLEAR = (255, 0, 0, 255), (0, 0, 255, 255), (9, 9, 9, 0)

decodes = pytest.mark.skipif(not can_draw(), reason="images are decoded with the extra “images” alone")


@pytest.mark.parametrize(
    ("environment", "says"),
    [
        ({"TERM": "xterm-kitty"}, True),
        ({"TERM": "xterm-256color", "KITTY_WINDOW_ID": "1"}, True),
        ({"TERM": "foot-extra"}, True),
        ({"TERM": "xterm-256color", "TERM_PROGRAM": "WezTerm"}, True),
        ({"TERM": "xterm-256color"}, False),
        ({"TERM": "tmux-256color", "KITTY_WINDOW_ID": "1", "TMUX": "/tmp/x"}, False),
        ({"TERM": "screen", "STY": "1", "TERM_PROGRAM": "ghostty"}, False),
        ({}, False),
    ],
)
def test_a_terminal_is_asked_only_where_it_says_that_it_draws(
    environment: dict[str, str], says: bool
) -> None:
    assert graphics.says_it_draws(environment) == says


def test_without_having_asked_there_is_no_widget_of_the_terminal() -> None:
    graphics.ask_terminal({"TERM": "xterm-256color"})
    assert "textual_image" not in sys.modules
    assert graphics.image_widget(object(), "x") is None


def test_a_picture_is_made_to_fit_and_never_larger() -> None:
    picture = Picture(4, 2, (RED, RED, BLUE, BLUE) * 2)
    assert fitted(picture, 100, 100) == picture
    small = fitted(picture, 2, 1)
    assert (small.width, small.height, small.dots) == (2, 1, (RED, BLUE))
    assert fitted(Picture(1, 400, (RED,) * 400), 80, 1) == Picture(1, 2, (RED, RED))


async def test_two_dots_stand_in_a_cell() -> None:
    view = PictureView(css_id="picture")
    app = OneWidget(view)
    async with app.run_test(size=(20, 4)) as pilot:
        view.show(Picture(2, 3, (RED, BLUE, BLUE, CLEAR, RED, RED)))
        await pilot.pause()
        first = list(view.render_line(0))
        assert [segment.text for segment in first[:2]] == ["▀", "▀"]
        colours = [(str(part.style.color), str(part.style.bgcolor)) for part in first[:2] if part.style]
        assert "#ff0000" in colours[0][0] and "#0000ff" in colours[0][1]
        ground = view.background_colors[1]
        assert ground.hex.lower() in colours[1][1].lower()
        assert view.render_line(1).cell_length == view.size.width
        assert "▀" not in view.render_line(2).text
        view.show(None)
        await pilot.pause()
        assert not view.display


@decodes
def test_an_image_is_decoded_small(tmp_path: Path) -> None:
    place = tmp_path / "copy"
    place.write_bytes(png(400, 100))
    facts = image_facts(place.read_bytes())
    assert facts is not None
    picture, remark = picture_of(place, facts)
    assert remark == "" and picture is not None
    assert (picture.width, picture.height, len(picture.dots)) == (160, 40, 6400)


@decodes
@pytest.mark.parametrize(
    ("facts", "why"),
    [
        (ImageFacts("PNG"), "how large"),
        (ImageFacts("PNG", 5000, 5000), "million pixels"),
        (ImageFacts("JPEG", 64, 40), "cannot be decoded"),
        (ImageFacts("TIFF", 64, 40), "cannot be decoded"),
    ],
)
def test_what_is_not_decoded_says_why(tmp_path: Path, facts: ImageFacts, why: str) -> None:
    place = tmp_path / "copy"
    place.write_bytes(png())
    picture, remark = picture_of(place, facts)
    assert picture is None and why in remark


@decodes
def test_a_file_that_says_less_than_it_holds_is_not_decoded(tmp_path: Path) -> None:
    """Its size is that of its own header when it is opened, not that of an earlier look."""
    whole = png()
    place = tmp_path / "copy"
    place.write_bytes(whole[:16] + b"\0\0\x40\0\0\0\x40\0" + whole[24:])
    picture, remark = picture_of(place, ImageFacts("PNG", 64, 40))
    assert picture is None and "cannot be decoded" in remark
