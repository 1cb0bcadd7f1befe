"""What the tests of the command line share."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

CHECKOUT = Path(__file__).parents[2]


class Answer(NamedTuple):
    """What a command ended with."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """stdout, which must be one JSON value and nothing else."""
        return json.loads(self.out)


Run = Callable[..., Answer]
