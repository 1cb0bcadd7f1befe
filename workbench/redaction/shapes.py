"""Examples of secrets as shapes, so that no realistic secret stands in the source.

A shape is literal text with fields `{class:length}` or `{class:shortest..longest}`; `{{` and `}}` are
braces. The same shape and seed give the same text on every system and Python version.
"""

from __future__ import annotations

import random
import re
import string
from typing import ClassVar

from workbench.errors import WorkbenchError

CLASSES = {
    "alnum": string.ascii_letters + string.digits,
    "base32": string.ascii_uppercase + "234567",
    "base58": "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz",
    "base64": string.ascii_letters + string.digits + "+/",
    "bech32": "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L",
    "digit": string.digits,
    "hex": "0123456789abcdef",
    "letter": string.ascii_letters,
    "lowdigit": string.ascii_lowercase + string.digits,
    "lower": string.ascii_lowercase,
    "updigit": string.ascii_uppercase + string.digits,
    "upper": string.ascii_uppercase,
    "url": string.ascii_letters + string.digits + "-_",
}
"""Name in a shape → the characters it draws from."""

_TOKEN = re.compile(r"\{\{|\}\}|\{([a-z0-9]+):(\d{1,7})(?:\.\.(\d{1,7}))?\}|[{}]")


class ShapeError(WorkbenchError):
    """A shape that cannot be filled."""

    code: ClassVar[str] = "redaction_shape_invalid"
    exit_code: ClassVar[int] = 2


def check_shape(shape: str) -> None:
    """Raises `ShapeError` for an unknown class, a range that runs backwards or a stray brace."""
    for token in _TOKEN.finditer(shape):
        _bounds(shape, token)


def fill(shape: str, seed: int = 0) -> str:
    """The text of `shape` for `seed` (see the module's description; errors as `check_shape`)."""
    # A text seeds through SHA-512, which no Python version has changed.
    source = random.Random(f"{seed}:{shape}")

    def drawn(token: re.Match[str]) -> str:
        bounds = _bounds(shape, token)
        if bounds is None:
            return token[0][0]
        alphabet, shortest, longest = bounds
        length = shortest if shortest == longest else source.randint(shortest, longest)
        return "".join(source.choices(alphabet, k=length))

    return _TOKEN.sub(drawn, shape)


def example(shape: str, seed: int = 0) -> tuple[str, str, str]:
    """What stands before, is, and stands behind the secret of `shape`: the part in `«…»`, or all of it."""
    before, opened, rest = shape.partition("«")
    if not opened:
        return "", fill(shape, seed), ""
    secret, _, after = rest.partition("»")
    return fill(before, seed), fill(secret, seed), fill(after, seed)


def _bounds(shape: str, token: re.Match[str]) -> tuple[str, int, int] | None:
    """Alphabet and length range of one field; None for a doubled brace."""
    if token[0] in ("{{", "}}"):
        return None
    if token[1] is None:
        raise ShapeError(
            f"The shape {shape!r} has a stray brace at {token.start()}.",
            hint="Fields look like {alnum:48}; a literal brace is doubled.",
        )
    alphabet = CLASSES.get(token[1])
    if alphabet is None:
        raise ShapeError(
            f"The shape {shape!r} names an unknown class `{token[1]}`.",
            hint=f"Known are {', '.join(sorted(CLASSES))}.",
        )
    shortest = int(token[2])
    longest = int(token[3] or token[2])
    if longest < shortest:
        raise ShapeError(f"The shape {shape!r} has a range that runs backwards.")
    return alphabet, shortest, longest
