"""Tokens and assignments in base64: known beginnings read as one of three texts there, by their place.

(Contract redaction.) What one of these stands in is decoded once and looked through like any text; if it
holds a secret, all of it goes.
"""

from __future__ import annotations

import re
from base64 import b64encode
from binascii import Error, a2b_base64
from collections.abc import Iterator, Sequence

from workbench.redaction.engine import Pass, Span, any_of, compile_bytes

LONGEST = 1 << 16
"""Characters of base64 beyond which it is a file."""

_SHORTEST = 16
_HEADS = (
    b"ghp_ gho_ ghs_ github_pat_ glpat- sk-ant- sk-proj- sk-or-v1 sk_live_ rk_live_ xoxb- xoxp- xapp- AKIA "
    b"ASIA AIza hf_ npm_ dop_v1_ pypi- PASSWORD= PASSWORD_ PASSWD= _PASS= TOKEN= SECRET= SECRET_KEY API_KEY= "
    b'APIKEY= password= password: password" passwd= Password= token= token: token" secret= secret: secret" '
    b'api_key= api_key: api_key" apiKey'
).split()
_RUN = re.compile(rb"[A-Za-z0-9+/_-]*+")
_PADDING = re.compile(rb"={0,2}")
_STANDARD = bytes.maketrans(b"-_", b"+/")
_PLAIN = re.compile(rb"[\t\r\n\x20-\x7e]+")


def _signs() -> Iterator[str]:
    """The characters that hold no bit of what stands before or behind one of the beginnings."""
    for head in _HEADS:
        for shift in range(3):
            encoded = b64encode(bytes(shift) + head).decode()
            yield re.escape(encoded[-(-8 * shift // 6) : 8 * (shift + len(head)) // 6])


_SIGN = any_of(sorted(set(_signs())))


class EncodedPass(Pass):
    """Base64 in which one of `steps` finds a secret once it is decoded."""

    shortest = _SHORTEST
    expression = _SIGN

    def __init__(self, steps: Sequence[Pass]) -> None:
        self._steps = steps
        self._search = compile_bytes(_SIGN, "beginnings in base64")

    @property
    def probes(self) -> Sequence[str]:
        return [_SIGN]

    def find(self, data: bytes) -> list[Span]:
        spans: list[Span] = []
        position = 0
        while True:
            found = self._search.search(data, position)
            if found is None:
                return spans
            least = max(position, found.start() - LONGEST)
            before = data[least : found.start()]
            start = found.start() - _RUN.match(before[::-1]).end()  # type: ignore[union-attr]
            end = _RUN.match(data, found.start()).end()  # type: ignore[union-attr]
            position = end
            # Behind a backslash stands the letter of an escape.
            if start and data[start - 1] == _BACKSLASH:
                start += 1
            if _SHORTEST <= end - start <= LONGEST:
                kind = self._kind(data[start:end])
                if kind:
                    position = _PADDING.match(data, end).end()  # type: ignore[union-attr]
                    spans.append(Span(start, position, kind))

    def _kind(self, run: bytes) -> str:
        """The kind of the first secret in what `run` encodes; empty if it is no text or holds none."""
        rest = len(run) % 4
        try:
            plain = a2b_base64(run.translate(_STANDARD) + b"=" * (-len(run) % 4 if rest != 1 else 0))
        except Error:
            return ""
        if _PLAIN.fullmatch(plain) is None:
            return ""
        for step in self._steps:
            found = step.find(plain)
            if found:
                return found[0].kind
        return ""


_BACKSLASH = ord("\\")
