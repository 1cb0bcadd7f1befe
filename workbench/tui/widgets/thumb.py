"""The mark at the right edge that says where in the whole the screen is."""

from __future__ import annotations

THUMB = "▐"


def thumb_lines(height: int, *, at_top: bool, at_bottom: bool, fraction: float, share: float) -> range:
    """The lines of a track of `height` that the thumb takes; none where everything is on the screen.

    `fraction` is the place of the first thing shown, `share` how much of the whole is shown. The two ends
    of the track are for the two ends of the whole alone, so that the thumb never claims an end too early.
    """
    if (at_top and at_bottom) or height < 2:
        return range(0)
    size = max(1, min(height - 1, round(height * share)))
    free = height - size
    start = max(0, min(round(fraction * free), free))
    if at_top:
        start = 0
    elif at_bottom:
        start = free
    elif free > 1:
        start = max(1, min(start, free - 1))
    return range(start, start + size)
