"""Whether the screen that is shown has the shape that some actions are for."""

from __future__ import annotations

_FITTING: set[tuple[type, type]] = set()


def has_shape(page: object, shape: type) -> bool:
    """`isinstance` of a protocol, asked until a screen of this class had the shape.

    Before Python 3.12 `isinstance` reads every property that the protocol names, each time; the footer asks
    for a dozen actions at every key.
    """
    kind = (type(page), shape)
    if kind in _FITTING:
        return True
    if not isinstance(page, shape):
        return False
    _FITTING.add(kind)
    return True
