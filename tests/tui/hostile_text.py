"""Texts that break programs which draw them, and what a drawn text must not hold."""

from __future__ import annotations

import unicodedata

HOSTILE = [
    "[bold]not bold[/bold]",
    "[/x]",
    "[b +",
    "x [b + y [/b2]",
    "[@click=app.quit]quit[/]",
    "([sys:LOCK=SAFE…])",
    "array[0] and [tool]",
    "\x1b[31mred\x1b[0m",
    "\x1b]8;;http://example.org\x07link\x1b]8;;\x07",
    "\x1b]52;c;aGVsbG8=\x07",
    "\x9b31m and \x90dcs\x9c",
    "user\u202etxt.exe",
    "\u2066isolate\u2069 \u200flrm\u061c",
    "zero\u200bwidth\u200c\ufeff\u2060",
    "soft\u00adhyphen \u3164filler\u115f",
    "日本語の長い文 and 한국어",
    "👩\u200d🔬 👨\u200d👩\u200d👧\u200d👦 ⚠\ufe0f 1\ufe0f\u20e3 👍🏽 🇺🇦 🏴\u200d☠\ufe0f",
    "a\u200db \u200d \ufe0f x\ufe0f 🏽 🇺",
    "z" + "\u0301" * 50,
    "\u0301starts with a mark",
    "\ud800 lone \udfff",
    "tab\tand\r\nlines\rand\x00nul\x7f",
    "العربية עברית สวัสดี नमस्ते",
    "\U000e0041\U000e0042\U000e01ef tags",
    "\ufffe\ufdd0 nothing",
    "\u2028line\u2029paragraph",
    "",
]


def unseen(text: str) -> list[str]:
    """Characters of drawn text that a terminal acts on or a person cannot see; joiners are judged elsewhere."""
    return [
        char
        for char in text
        if char not in "\u200d\ufe0f" and unicodedata.category(char) in ("Cc", "Cf", "Cs", "Zl", "Zp")
    ]
