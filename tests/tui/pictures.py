"""The sizes at which screens are compared with their pictures."""

from __future__ import annotations

import pytest
from _pytest.mark import ParameterSet

SIZES = [(60, 15), (80, 24), (120, 40), (200, 60)]


def sizes(*numbers: int) -> list[ParameterSet]:
    """The four sizes, those of other numbers only if thorough; where no number is given all of them always.

    A screen's or dialog's full state is drawn at all four, its other states at two.
    """
    return [
        pytest.param(size, id=f"size{number}", marks=pytest.mark.thorough if left_out else ())
        for number, size in enumerate(SIZES)
        for left_out in [bool(numbers) and number not in numbers]
    ]
