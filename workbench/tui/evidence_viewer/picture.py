"""An image drawn in half cells, two dots of colour in each; for a terminal of any kind.

Decoding is Pillow's, which comes with the extra `images`; `workbench.tui.graphics` is the way for terminals
that draw images themselves. What a stranger's file may cost is bounded before it is decoded: by format, by
pixels, and by being read from a file whose size is known.
"""

from __future__ import annotations

import warnings
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from rich.color import Color
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from workbench.tui.graphics import image_widget
from workbench.tui.widgets.drawn import DrawnWidget
from workbench.workspace.image_facts import ImageFacts

MOST_PIXELS = 16_000_000
"""A larger image is described and not decoded: four bytes each are in memory then."""
MOST_BYTES = 64 << 20
_HALF = "▀"
_WIDEST, _TALLEST = 160, 100
"""Dots that an image is made smaller to: the most that is drawn in half cells."""
_LARGE = (1280, 960)
"""The most that is given to a terminal that draws images itself."""

Dot: TypeAlias = tuple[int, int, int, int]
"""Red, green, blue, and how opaque."""


class Picture(NamedTuple):
    """An image made small."""

    width: int
    height: int
    dots: tuple[Dot, ...]
    """Row by row."""
    image: Any = None
    """The same with more dots, as Pillow has it: for a terminal that draws images itself."""


def can_draw() -> bool:
    """Whether what decodes images is installed."""
    return find_spec("PIL") is not None


def picture_of(path: Path, facts: ImageFacts) -> tuple[Picture | None, str]:
    """The image in a file made small, or None and why not. For a worker: decoding takes a while."""
    if not can_draw():
        return (
            None,
            "Images are drawn where the extra is installed: pip install 'chronicle-workbench[images]'",
        )
    if facts.width is None or facts.height is None:
        return None, "It does not say how large it is, so it is not decoded."
    if facts.width * facts.height > MOST_PIXELS:
        return None, f"It has more than {MOST_PIXELS // 1_000_000} million pixels, so it is not decoded."
    try:
        if path.stat().st_size > MOST_BYTES:
            return None, f"It has more than {MOST_BYTES >> 20} MB, so it is not decoded."
        return _decoded(path, facts.format.upper()), ""
    except Exception as error:
        # A decoder raises whatever a broken file makes of it; none of it is this program's failure.
        return None, f"It cannot be decoded ({type(error).__name__}): the image is broken, or no image."


def _decoded(path: Path, format_name: str) -> Picture:
    from PIL import Image

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with Image.open(path, formats=(format_name,)) as image:
            # The file's header may say other than what was read of it before.
            if image.width * image.height > MOST_PIXELS:
                raise ValueError("too many pixels")
            image.draft("RGB", _LARGE)
            image.thumbnail(_LARGE)
            large = image.convert("RGBA")
    small = large.copy()
    small.thumbnail((_WIDEST, _TALLEST))
    data = small.tobytes()
    dots = tuple((data[at], data[at + 1], data[at + 2], data[at + 3]) for at in range(0, len(data), 4))
    return Picture(small.width, small.height, dots, large)


def fitted(picture: Picture, columns: int, rows: int) -> Picture:
    """The picture in at most so many cells, as wide as high; never larger than it is."""
    scale = min(1.0, columns / picture.width, 2 * rows / picture.height)
    width, height = max(1, int(picture.width * scale)), max(1, int(picture.height * scale))
    across = [min(picture.width - 1, int((at + 0.5) / scale)) for at in range(width)]
    down = [min(picture.height - 1, int((at + 0.5) / scale)) for at in range(height)]
    return Picture(width, height, tuple(picture.dots[y * picture.width + x] for y in down for x in across))


class PictureView(DrawnWidget):
    """Draws a picture as large as there is room for; nothing where there is none."""

    DEFAULT_CSS = """
    PictureView { height: 1fr; margin: 0 0 1 2; background: $raised; display: none; }
    PictureView.-shown { display: block; }
    PictureView > .graphic { width: auto; height: 1fr; }
    """

    def __init__(self, *, css_id: str) -> None:
        super().__init__(id=css_id)
        self._shown: Picture | None = None
        self._picture: Picture | None = None
        """What is drawn here, and not by the terminal."""
        self._drawn: tuple[object, Picture] | None = None

    def show(self, picture: Picture | None) -> None:
        """Draw this from now on; where the terminal draws images itself, it does."""
        if picture is self._shown:
            return
        self._shown = picture
        self.remove_children()
        graphic = None if picture is None else image_widget(picture.image, "graphic")
        if graphic is not None:
            self.mount(graphic)
        self._picture, self._drawn = picture if graphic is None else None, None
        self.set_class(picture is not None, "-shown")
        self.refresh()

    def render_line(self, y: int) -> Strip:
        """One line: the dots of two rows."""
        blank = Strip.blank(self.size.width, self.look("text"))
        if self._picture is None:
            return blank
        if self._drawn is None or self._drawn[0] != self.size:
            self._drawn = (self.size, fitted(self._picture, self.size.width, self.size.height))
        picture = self._drawn[1]
        if 2 * y >= picture.height:
            return blank
        segments = [
            Segment(
                _HALF,
                Style(color=self._colour(picture, x, 2 * y), bgcolor=self._colour(picture, x, 2 * y + 1)),
            )
            for x in range(picture.width)
        ]
        return Strip(segments).adjust_cell_length(self.size.width, self.look("text"))

    def _colour(self, picture: Picture, x: int, y: int) -> Color:
        ground = self.background_colors[1]
        if y >= picture.height:
            return Color.from_rgb(ground.r, ground.g, ground.b)
        red, green, blue, alpha = picture.dots[y * picture.width + x]
        parts = ((red, ground.r), (green, ground.g), (blue, ground.b))
        return Color.from_rgb(*((part * alpha + under * (255 - alpha)) // 255 for part, under in parts))
