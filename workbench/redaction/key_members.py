"""Private numbers as named values: members of a JSON Web Key, elements of .NET's XML.

Only the values are removed, so that the object stays one (contract redaction, private_key).
"""

from __future__ import annotations

import re

from workbench.redaction.engine import compile_bytes
from workbench.redaction.key_judgement import mixed, plain
from workbench.redaction.key_text import BLANK, EOL, MARKS, RUN_CHARACTER, run

_QUOTE = r"(?:\\*[\"']|&(?:quot|#34|#39);|\\+u002[27]|%(?:25)*2[27])"
_GAP = rf"(?:{BLANK}|{EOL})*"

JWK_MEMBER = rf"(?:[\"';]|u002[27]|2[27])(?:[dpqk]|d[pq]|qi){_QUOTE}{_GAP}(?::|%3[aA]){_GAP}{_QUOTE}{run(16)}"
"""From the quote before a private member's name through its value."""

_OPEN = r"(?:<|&lt;|\\+u003[cC])"
_CLOSE = r"(?:>|&gt;|\\+u003[eE])"
XML_ELEMENT = rf"{_OPEN}(?:D|P|Q|DP|DQ|InverseQ){_CLOSE}{_GAP}{run(16)}"
"""From the element's `<` through the first line of its value."""

_VALUE_FIRST = compile_bytes(rf".*?{_QUOTE}{_GAP}(?::|%3[aA]){_GAP}{_QUOTE}", "what stands before a value")
_VALUE_ENDS = frozenset(b"\"'\\&%.")
_ELEMENT_FIRST = compile_bytes(rf"{_OPEN}[A-Za-z]+{_CLOSE}{_GAP}", "what stands before an element's value")
_ELEMENT = compile_bytes(rf"(?:(?:{BLANK}|{EOL}{MARKS})*{RUN_CHARACTER}+=*)+", "an element's value")
_ELEMENT_ENDS = compile_bytes(rf"{_GAP}(?:{_OPEN}|$)", "the end of an element's value")
_OCTET_KEY = compile_bytes(rf"kty{_QUOTE}{_GAP}:{_GAP}{_QUOTE}oct{_QUOTE}", "a symmetric key")
_SYMMETRIC = re.compile(rb"(?:[\"';]|u002[27]|2[27])k")
_LESS = ord("<")
_FIRST_LINE = re.compile(rb"[A-Za-z0-9+/_=-]+(?:\\+/[A-Za-z0-9+/_=-]+)*")
_PICTURE_PATH = re.compile(rb"[MmLlHhVvCcSsQqTtAaZz0-9-]+")


class Members:
    """The named values of one text, asked for from left to right."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._object = (0, 0, False)

    def member(self, start: int, end: int) -> list[tuple[int, int]]:
        """The private value of the member at `start` to `end` (a match of `JWK_MEMBER`), if it is one."""
        data = self._data
        if end < len(data) and data[end] not in _VALUE_ENDS:
            return []
        begun = _behind_quote(data, start, end)
        value = plain(data[begun : min(end, begun + 1024)])
        if not mixed(value) or _PICTURE_PATH.fullmatch(value):
            return []
        if _SYMMETRIC.match(data, start) and not self._is_octet_key(start, end):
            return []
        return [(begun, end)]

    def element(self, start: int, end: int) -> list[tuple[int, int]]:
        """The value of the element at `start` to `end` (a match of `XML_ELEMENT`), if it is a key's."""
        data = self._data
        begun = data.find(b">", start, end) + 1
        if not begun or data[begun : begun + 1] in b" \t\r\n\\&%":
            begun = _ELEMENT_FIRST.match(data, start).end()
        stop: int = _ELEMENT.match(data, begun).end()
        if not (stop == len(data) or data[stop] == _LESS or _ELEMENT_ENDS.match(data, stop, stop + 200)):
            return []
        first = _FIRST_LINE.match(data, begun, begun + 1024)
        if first is None or not mixed(plain(first[0])):
            return []
        return [(begun, stop)]

    def _is_octet_key(self, start: int, end: int) -> bool:
        """Whether the object around a member names the type `oct`; each object is read once."""
        data = self._data
        opened, closed, answer = self._object
        if not opened <= start < closed:
            opened = max(closed, data.rfind(b"{", closed, start))
            closed = data.find(b"}", end)
            closed = len(data) if closed < 0 else closed
            answer = _OCTET_KEY.search(data, opened, closed) is not None
            self._object = (opened, closed, answer)
        return answer


def _behind_quote(data: bytes, start: int, end: int) -> int:
    """Where the value of the member `data[start:end]` begins."""
    quote = max(data.rfind(b'"', start, end), data.rfind(b"'", start, end))
    if quote > start and data.find(b":", start, quote) >= 0:
        return quote + 1
    begun: int = _VALUE_FIRST.match(data, start, end).end()
    return begun
