"""What is wrong or odd in a manifest: found first, and put into words and lines only when somebody asks."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Literal, NamedTuple

from workbench.workspace.manifest.at import At

Severity = Literal["error", "warning", "info"]


class Problem(NamedTuple):
    """One thing that is wrong or odd."""

    line: int
    """From 1; 0 where it is the file as a whole."""
    key: str
    """Dotted, such as `projects[0].aliases`; empty where it is the file as a whole."""
    message: str
    """What was expected; never a secret."""
    severity: Severity
    """An error stops the manifest from being used; a warning says what is odd, and `info` what is right and
    perhaps not known: neither stops it."""


class Wrong(Exception):
    """A value that is not what its key takes: where below it, and what was expected there."""

    def __init__(self, message: str, *below: str | int) -> None:
        super().__init__(message)
        self.found: list[tuple[At, str]] = [(below, message)]

    @classmethod
    def many(cls, found: Iterable[tuple[At, str]]) -> Wrong:
        """All that is wrong below one value."""
        wrong = cls("")
        wrong.found = list(found)
        return wrong


class _Finding(NamedTuple):
    at: At
    message: str
    severity: Severity
    known: tuple[str, ...] = ()
    """Keys that could have been meant."""


class Findings:
    """What the reading of one file found."""

    def __init__(self, path: Path, raw: bytes) -> None:
        self.path = path
        self._raw = raw
        self._found: list[_Finding] = []
        self._problems: tuple[Problem, ...] | None = None

    @property
    def has_errors(self) -> bool:
        """Whether the manifest cannot be used."""
        return any(each.severity == "error" for each in self._found)

    def error(self, at: At, message: str) -> None:
        """Note what stops the manifest from being used."""
        self._found.append(_Finding(at, message, "error"))

    def warning(self, at: At, message: str) -> None:
        """Note what is odd."""
        self._found.append(_Finding(at, message, "warning"))

    def info(self, at: At, message: str) -> None:
        """Note what is right, and perhaps not known."""
        self._found.append(_Finding(at, message, "info"))

    def unknown(self, at: At, known: Iterable[str]) -> None:
        """Note a key that the program does not know, and which it knows there."""
        self._found.append(_Finding(at, "this program does not know the key", "warning", tuple(known)))

    def problems(self) -> tuple[Problem, ...]:
        """All of it in the order of lines, errors first in a line."""
        if self._problems is None:
            self._problems = self._told() if self._found else ()
        return self._problems

    def _told(self) -> tuple[Problem, ...]:
        from workbench.redaction import redact
        from workbench.workspace.manifest.places import Places

        places = Places.of(self._raw)
        told = [
            Problem(
                places.line(each.at),
                redact(dotted(each.at)).text,
                redact(each.message + _near(each)).text,
                each.severity,
            )
            for each in self._found
        ]
        return tuple(sorted(told, key=lambda each: (each.line, each.severity)))


def dotted(at: At) -> str:
    """A place as people write it: `projects[0].aliases`; keys that are no bare words in quotes."""
    words = ""
    for part in at:
        if isinstance(part, int):
            words += f"[{part}]"
        else:
            plain = part.isascii() and part.replace("-", "_").replace("_", "a").isalnum()
            words += ("." if words else "") + (part if plain else f'"{part}"')
    return words


def _near(finding: _Finding) -> str:
    if not finding.known:
        return ""
    from difflib import get_close_matches

    near = get_close_matches(str(finding.at[-1]), finding.known, 1)
    return f"; did you mean {near[0]}?" if near else ""
