"""Cookies: the values of a `Cookie:` or `Set-Cookie:` header that open a session (contract redaction)."""

from __future__ import annotations

import re
from collections.abc import Sequence

from workbench.redaction.engine import Pass, Span, compile_bytes
from workbench.redaction.entropy import is_hex, reads_random
from workbench.redaction.values import SHORTEST, Place, is_secret, is_stand_in

KIND = "cookie"
_PAIRS = 128
_FEWEST_HEX = 32

_HEADER = r"""(?i:cookies?)(?:\\*["'`]\]?)?[ \t]*[:=,][ \t]*(?:[bBrRfFuU]?\\*["'`])?[A-Za-z0-9_.$-]{1,128}="""
_PAIR = re.compile(
    rb"""[ \t;,]*+(?:(?:[A-Za-z][A-Za-z-]{0,20}+)(?=[;,]|$)|([A-Za-z0-9_.$-]{1,128}+)=("""
    rb"""(?:\[REDACTED:[a-z0-9_]{1,40}\]|[^\x00-\x20\x7f"'`\\;,<>(){}\[\]$]){0,4096}+))"""
)
_SESSION = re.compile(
    rb"(?i)sess|sid|auth|token|csrf|xsrf|jwt|login|remember|ident|ticket|secret|pass|cf_|user"
)
_ATTRIBUTE = re.compile(rb"(?i)path|domain|expires|max-age|samesite|priority|version|comment")


class CookiePass(Pass):
    """The pairs of each header, one after the other."""

    shortest = 1

    def __init__(self) -> None:
        self._search = compile_bytes(_HEADER, "cookie headers")

    @property
    def probes(self) -> Sequence[str]:
        return ["(?i)cookie"]

    def find(self, data: bytes) -> list[Span]:
        spans: list[Span] = []
        position = 0
        while True:
            found = self._search.search(data, position)
            if found is None:
                return spans
            position = found.end() - 1
            while position > found.start() and data[position - 1] in _NAME:
                position -= 1
            for _ in range(_PAIRS):
                pair = _PAIR.match(data, position)
                if pair is None:
                    break
                position = pair.end()
                if pair[1] is not None and _is_secret(pair[1], pair[2]):
                    spans.append(Span(pair.start(2), pair.end(2), KIND))
            position = max(position, found.end())


def _is_secret(name: bytes, value: bytes) -> bool:
    if len(value) < SHORTEST or b"[" in value or _ATTRIBUTE.fullmatch(name) or is_stand_in(value):
        return False
    if _SESSION.search(name):
        return is_secret(value, Place(b"password=", False, False, b""))
    return reads_random(value) or (is_hex(value) and len(value) >= _FEWEST_HEX)


_NAME = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.$-")
