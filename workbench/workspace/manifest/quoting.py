"""Texts as TOML writes them."""

from __future__ import annotations

_SHORT = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t", "\r": "\\r"}


def quoted(text: str) -> str:
    """A TOML basic string; what cannot be seen is escaped."""
    return '"' + "".join(_SHORT.get(each) or _escaped(each) for each in text) + '"'


def _escaped(character: str) -> str:
    if character.isprintable():
        return character
    code = ord(character)
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"
