"""What one value of a manifest may be. A check takes what TOML gave and answers with what the program uses.

Every check raises `Wrong`, which says what was expected.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit

from workbench.workspace.manifest.at import At
from workbench.workspace.manifest.problems import Wrong

Check = Callable[[Any], Any]
T = TypeVar("T")

_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,127}")
MOST_NAME = 200
"""Characters of a name, as everywhere in memory."""


def text(value: Any) -> str:
    """Any text."""
    if not isinstance(value, str):
        raise Wrong("expected text in quotes")
    return value


def flag(value: Any) -> bool:
    """True or false."""
    if not isinstance(value, bool):
        raise Wrong("expected true or false, without quotes")
    return value


def name(value: Any) -> str:
    """The name of a project, domain or agent, trimmed."""
    if not isinstance(value, str):
        raise Wrong("expected a name in quotes")
    trimmed = value.strip()
    if not trimmed:
        raise Wrong("expected a name, and this one is blank")
    if len(trimmed) > MOST_NAME:
        raise Wrong(f"expected a name of at most {MOST_NAME} characters, and this one has {len(trimmed)}")
    if any(unicodedata.category(character) == "Cc" for character in trimmed):
        raise Wrong("expected a name without control characters")
    return trimmed


def one_of(*words: str) -> Check:
    """One of a few words."""

    def check(value: Any) -> str:
        if value not in words or not isinstance(value, str):
            raise Wrong(f"expected one of {', '.join(words)}")
        return value

    return check


def _short(value: int) -> int:
    """The number, if it has no more than the 64 bits that TOML promises.

    Python would take any, and fail where it is put into words or becomes a float.
    """
    if not -(2**63) <= value < 2**63:
        raise Wrong("the number is too long")
    return value


def whole(least: int, most: int | None = None) -> Check:
    """A whole number within limits."""
    limits = f"from {least} to {most}" if most is not None else f"of at least {least}"

    def check(value: Any) -> int:
        if not isinstance(value, int) or isinstance(value, bool):
            raise Wrong(f"expected a whole number {limits}, without quotes")
        if value < least or (most is not None and value > most):
            raise Wrong(f"expected a whole number {limits}")
        return _short(value)

    return check


def any_whole(value: Any) -> int:
    """A whole number, whichever."""
    if not isinstance(value, int) or isinstance(value, bool):
        raise Wrong("expected a whole number, without quotes")
    return _short(value)


def number(*, above: bool = False, most: float = math.inf) -> Check:
    """A number that is not negative; with `above`, above zero; not above `most`. Finite."""
    limits = "above 0" if above else "of at least 0"
    if most < math.inf:
        limits += f", at most {most:g}"

    def check(value: Any) -> float:
        if not isinstance(value, int | float) or isinstance(value, bool):
            raise Wrong(f"expected a number {limits}, without quotes")
        if isinstance(value, int):
            _short(value)
        if not math.isfinite(value) or not 0 <= value <= most or (above and value == 0):
            raise Wrong(f"expected a number {limits}")
        return value

    return check


def many(each: Callable[[Any], T], what: str = "texts") -> Callable[[Any], tuple[T, ...]]:
    """A list, every element checked."""

    def check(value: Any) -> tuple[T, ...]:
        if not isinstance(value, list):
            raise Wrong(f"must be a list of {what}: write it in brackets")
        kept: list[T] = []
        wrong: list[tuple[At, str]] = []
        for number_, element in enumerate(value):
            try:
                kept.append(each(element))
            except Wrong as found:
                wrong += [((number_, *below), message) for below, message in found.found]
        if wrong:
            raise Wrong.many(wrong)
        return tuple(kept)

    return check


def names(value: Any) -> tuple[str, ...]:
    """A list of names."""
    return many(name, "names")(value)


def texts(value: Any) -> tuple[str, ...]:
    """A list of texts."""
    return many(text)(value)


def place(root: Path) -> Callable[[Any], Path]:
    """A path: absolute, from `~`, or from `root`. Nothing need be there."""

    def check(value: Any) -> Path:
        given = text(value)
        if not given.strip():
            raise Wrong("expected a path, and this one is blank")
        if "\0" in given:
            raise Wrong("expected a path, and no path holds a NUL")
        try:
            return root / Path(given).expanduser()
        except RuntimeError:
            raise Wrong("expected a path, and there is no such home as its beginning names") from None

    return check


def pattern(value: Any) -> str:
    """A pattern of files that says where it begins: absolute, or from `~`."""
    given = text(value)
    if "\0" in given or not given.startswith(("/", "~")):
        raise Wrong("expected an absolute path, or one that begins with ~")
    return given


def variable(value: Any) -> str:
    """The name of an environment variable; blank for none."""
    given = text(value).strip()
    if given and not _VARIABLE.fullmatch(given):
        raise Wrong("expected the name of an environment variable; the key itself must not stand here")
    return given


def address(value: Any) -> str:
    """An endpoint's address; blank for none."""
    given = text(value).strip()
    try:
        parts = urlsplit(given)
        known = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        known = False
    if given and (not known or any(letter.isspace() for letter in given)):
        raise Wrong("expected an address that begins with https:// or http://")
    if given and (parts.username is not None or parts.password is not None or parts.query or parts.fragment):
        raise Wrong("expected an address and nothing more; name a key by key_variable")
    return given


def arguments(value: Any) -> Sequence[str]:
    """A program and its arguments."""
    words = many(text)(value)
    if not words or not words[0].strip() or any("\0" in word for word in words):
        raise Wrong('expected a program and its arguments, such as ["summarise", "--short"]')
    return words
