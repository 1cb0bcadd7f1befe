"""Names of keys: which are legal, how a person reads them, and which no terminal can be relied on to send."""

from __future__ import annotations

from difflib import get_close_matches
from functools import lru_cache
from string import ascii_letters, digits, punctuation

# The names of characters are Textual's; it has no public function from a character to its name.
from textual.keys import _character_to_key, format_key

MODIFIERS = ("alt", "ctrl", "shift", "super")

_NAMED = (
    "backspace",
    "delete",
    "down",
    "end",
    "enter",
    "escape",
    "home",
    "insert",
    "left",
    "pagedown",
    "pageup",
    "right",
    "space",
    "tab",
    "up",
    *(f"f{number}" for number in range(1, 25)),
)

_ALSO = {
    "del": "delete",
    "esc": "escape",
    "ins": "insert",
    "pgdn": "pagedown",
    "pgup": "pageup",
    "return": "enter",
}
"""Other names that people write."""

DISGUISED = {
    "ctrl+i": "the same byte as tab",
    "ctrl+j": "the same byte as enter in many terminals",
    "ctrl+m": "the same byte as enter",
    "ctrl+h": "the same byte as backspace in many terminals",
    "ctrl+enter": "not sent by most terminals",
    "shift+enter": "not sent by most terminals",
    "ctrl+shift+enter": "not sent by most terminals",
}
"""Keys that no action may depend on, and why."""

_SPOKEN = {
    "backspace": "backspace",
    "down": "↓",
    "enter": "enter",
    "escape": "esc",
    "left": "←",
    "pagedown": "pgdn",
    "pageup": "pgup",
    "right": "→",
    "up": "↑",
}


class UnknownKey(ValueError):
    """A key name that cannot be used; the text is one sentence, with the nearest legal name if any."""


@lru_cache(maxsize=1)
def _base_names() -> frozenset[str]:
    characters = (_character_to_key(character) for character in ascii_letters + digits + punctuation)
    return frozenset(_NAMED) | frozenset(characters)


def normalise(name: str) -> str:
    """Textual's name of the key that a person wrote: `?` → `question_mark`, `ctrl-P` → `ctrl+p`.

    Raises `UnknownKey` for a name that is none, and for a key that is another one in disguise.
    """
    text = name.strip()
    if text == "":
        raise UnknownKey("A key needs a name.")
    if len(text) == 1:
        if not text.isprintable() or text.isspace():
            raise UnknownKey("A key needs a printable name.")
        return _character_to_key(text)
    lowered = text.replace("-", "+") if text.split("-")[0].lower() in MODIFIERS else text
    *written, base = lowered.split("+") if not lowered.endswith("++") else [*lowered[:-2].split("+"), "+"]
    modifiers = sorted({modifier.strip().lower() for modifier in written})
    base = base.strip()
    base = _character_to_key(base) if len(base) == 1 else _ALSO.get(base.lower(), base.lower())
    for modifier in modifiers:
        if modifier not in MODIFIERS:
            raise UnknownKey(_unknown(text, modifier, MODIFIERS))
    if base not in _base_names():
        raise UnknownKey(_unknown(text, base, _base_names()))
    if modifiers == ["shift"] and len(base) == 1 and base.isalpha():
        return base.upper()
    if modifiers and len(base) == 1 and base.isupper():
        base = base.lower()
    key = "+".join([*modifiers, base])
    if key in DISGUISED:
        raise UnknownKey(f"The key “{text}” cannot be used: {DISGUISED[key]}.")
    return key


def _unknown(text: str, part: str, legal: frozenset[str] | tuple[str, ...]) -> str:
    near = get_close_matches(part, sorted(legal), n=1, cutoff=0.5)
    hint = f" Did you mean “{text.lower().replace(part, near[0])}”?" if near else ""
    return f"There is no key “{text}”.{hint}"


@lru_cache(maxsize=512)
def display(key: str) -> str:
    """How a person reads a key: `question_mark` → `?`, `ctrl+p` → `ctrl-p`, `down` → `↓`."""
    *modifiers, base = key.split("+")
    spoken = _SPOKEN.get(base) or format_key(base)
    return "-".join([*modifiers, spoken])
