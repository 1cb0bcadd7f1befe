"""Secrets that are written with something inside them that no eye sees, or letter by letter in escapes.

A terminal puts colours into a token (`grep --color`), a page puts invisible characters there, an address or a
program writes its characters as escapes. `view` gives the text as a person reads it and tells where each of
its bytes stands in the text as it is; the passes look through the view, and what they find is removed from
the text. Nothing is taken out but between two characters of tokens, so that borders stay borders.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import NamedTuple

from workbench.redaction.engine import Span, compile_bytes

_H = "[0-9A-Fa-f]"
_SLASHES = r"\\+"
_ESC = rf"(?:\x1b|\xc2\x9b|{_SLASHES}(?:e|x1[bB]|u00(?:1|9)[bB]|0?33)|\^\[)"
_COLOUR = (
    rf"{_ESC}\[[0-9;:?]{{0,32}}[A-Za-z]|{_ESC}\][^\x07\x1b\\]{{0,200}}(?:\x07|{_SLASHES}u0007|{_ESC}\\)|{_ESC}[()][0-9A-Z]"
    # The first byte is lost where control characters were taken out.
    r"|\[[0-9;]{1,12}m(?:\[K)?|\[m\[K"
)
# Control characters without tab and line ends; soft hyphen, joiners, marks of direction, separators, tags.
_UNSEEN = (
    r"[\x00-\x08\x0b\x0c\x0e-\x1a\x1c-\x1f\x7f]|\xc2[\x80-\x9f\xad]|\xcd\x8f|\xd8\x9c|\xe1\x85[\x9f\xa0]|\xe1\xa0[\x8b-\x8f]"
    r"|\xe2\x80[\x8b-\x8f\xa8-\xae]|\xe2\x81[\xa0-\xaf]|\xe3\x85\xa4|\xef\xb8[\x80-\x8f]|\xef\xbb\xbf|\xef\xbe\xa0"
    r"|\xef\xbf[\xb9-\xbb]|\xf3\xa0[\x80-\x87][\x80-\xbf]"
)
_UNSEEN_ESCAPED = (
    rf"{_SLASHES}(?:u(?:00(?:0[0-8bBcCeEfF]|1{_H}|7[fF]|[89]{_H}|[aA][dD])|034[fF]|061[cC]|115[fF]|1160"
    rf"|180[b-fB-F]|20(?:0[b-fB-F]|2[89a-eA-E]|6{_H})|3164|[fF][eE](?:0{_H}|[fF][fF])|[fF][fF](?:[aA]0|[fF][9a-bA-B])"
    rf"|[dD][bB]40{_SLASHES}u[dD][cC-fF]{_H}{{2}})|x(?:0[0-8bBcCeEfF]|1{_H}|7[fF]|[89]{_H}|[aA][dD]))"
)
_UNSEEN_PAGE = (
    r"&(?:shy|zwj|zwnj|lrm|rlm|ZeroWidthSpace|NoBreak|InvisibleTimes|#(?:173|820[3-7]|8288|65279|x(?:[aA][dD]|200[b-fB-F]"
    r"|2060|[fF][eE][fF][fF])));"
)
_TAKEN = rf"(?:{_COLOUR}|{_UNSEEN}|{_UNSEEN_ESCAPED}|{_UNSEEN_PAGE})"
_TOKEN = r"[A-Za-z0-9_+/=.:~%@$&?#-]"
# Between these a colour is taken out as well, since a label and its value are coloured one by one.
_LABELLED = r"""[A-Za-z0-9_+/=.:~%@$&?#"'`\\{}\[\],*| \t-]"""

# Blanks of other widths, as they are and in escapes.
_BLANK = r"(?:\xc2\xa0|\xe2\x80[\x80-\x8a\xaf]|\xe2\x81\x9f|\xe3\x80\x80|&nbsp;|&#160;|&#[xX][aA]0;)"
# Quotes and joints that were escaped for a page, an address or a program.
_ESCAPED_SIGN = (
    rf"(?:&quot;|&apos;|&#0{{0,4}}(?:3[49]|58|61);|&#[xX]0{{0,4}}(?:2[27]|3[aAdD]);|%(?:25){{0,3}}(?:2[267]|3[aAdD])"
    rf"|{_SLASHES}(?:x|u00)(?:2[267]|3[aAdD]))"
)
_NAME = (
    r"(?i:passw(?:or)?d|passwort|passphrase|kennwort|mot de passe|contrase(?:\xc3\xb1|n)a|[_. -]pass|pwd"
    r"|secret|token|(?:api|access|private|secret)[_. -]?key|_key|credentials?)"
)

# Letters, digits and signs in full width and in the mathematical alphabets' place for them.
_WIDE = r"\xef(?:\xbc[\x81-\xbf]|\xbd[\x80-\x9e])"
_PERCENT = rf"%(?:25){{0,3}}[2-7]{_H}"
_FULL = rf"u[fF][fF][0-5]{_H}"
_BYTE = rf"x[2-7]{_H}"
_UNIT = rf"u00[2-7]{_H}"
_ENTITY = r"&#(?:[xX]0{0,4}[2-7][0-9A-Fa-f]|0{0,4}(?:3[3-9]|[4-9][0-9]|1[01][0-9]|12[0-6]));"
_JOINERS = (
    rf"%(?:25){{0,3}}(?:5[fF]|2[dD])|{_SLASHES}(?:x|u00)(?:5[fF]|2[dD])|&#(?:95|45|[xX]5[fF]|[xX]2[dD]);"
)
# A letter that JSON had no need to escape.
_LETTER = rf"{_SLASHES}u00(?:[46][1-9a-fA-F]|[57][0-9aA])"

SIGN = (
    # A form feed and a backspace are written so in JSON; in a text these are borders.
    rf"{_TOKEN}(?:{_TAKEN}|\\[bf])+{_TOKEN}"
    rf"|(?:{_PERCENT}){{4}}|(?:{_SLASHES}(?:{_BYTE}|{_UNIT}|{_FULL})){{4}}|(?:{_ENTITY}){{4}}"
    rf"|(?:{_WIDE}){{4}}|[A-Za-z0-9](?:{_JOINERS})|[A-Za-z\"']{_LETTER}"
    rf"""|{_NAME}(?:{_ESCAPED_SIGN}|[*"'`\\]{{0,4}}[ \t]*"""
    rf"""(?:(?:[:=]|\xef\xbc\x9a)\*{{0,2}})?[ \t]*(?:{_BLANK}|{_COLOUR}))"""
)
"""RE2 over bytes of a text or of its JSON: found wherever the view differs from the text."""

_PLACES = compile_bytes(
    rf"{_TAKEN}+|(?:{_PERCENT}){{4,}}|(?:{_SLASHES}(?:{_BYTE}|{_UNIT}|{_FULL})){{4,}}|(?:{_ENTITY}){{4,}}"
    rf"|(?:{_WIDE}){{4,}}|{_JOINERS}|{_LETTER}|{_ESCAPED_SIGN}|{_BLANK}",
    "what reads otherwise",
)
_REWRITTEN = re.compile(
    (
        rf"(?<={_TOKEN})(?P<taken>{_TAKEN}++)(?={_TOKEN})"
        rf"|(?<={_LABELLED})(?P<colour>(?:{_COLOUR})++)(?={_LABELLED})"
        rf"|(?P<run>(?:{_PERCENT}){{4,}}+|(?:\\++(?:{_BYTE}|{_UNIT}|{_FULL})){{4,}}+|(?:{_ENTITY}){{4,}}+|(?:{_WIDE}){{4,}}+)"
        rf"|(?<=[A-Za-z0-9])(?P<joiner>{_JOINERS})"
        rf"|(?<=[A-Za-z\"'])(?P<letter>{_LETTER})"
        rf"|(?P<sign>{_ESCAPED_SIGN}|{_BLANK})"
    ).encode("latin-1")
)
_CHARACTER = re.compile(
    (
        rf"%(?:25){{0,3}}([2-7]{_H})|\\++(?:x|u00)([2-7]{_H})|\\++u[fF][fF]([0-5]{_H})"
        rf"|&#[xX]0{{0,4}}([2-7]{_H});|&#0{{0,4}}([0-9]{{2,3}});|\xef(?:\xbc([\x81-\xbf])|\xbd([\x80-\x9e]))"
        rf"|(&quot;)|(&apos;)|({_BLANK})"
    ).encode("latin-1")
)


class View(NamedTuple):
    """A text as it is read; the bytes from `places[i]` on stand in the text from `there[i]` on.

    Each of them takes `widths[i]` bytes there. At `seams` lines are left out that are far from all that reads
    otherwise: the passes see them in the text itself.
    """

    data: bytes
    places: Sequence[int]
    there: Sequence[int]
    widths: Sequence[int]
    seams: Sequence[int]

    def in_text(self, spans: Sequence[Span]) -> list[Span]:
        """`spans` of the view as spans of the text."""
        return [
            Span(self._begin(start), self._begin(end - 1, 1), kind)
            for start, end, kind in spans
            if bisect_right(self.seams, start) == bisect_left(self.seams, end)
        ]

    def _begin(self, place: int, more: int = 0) -> int:
        at = bisect_right(self.places, place) - 1
        return self.there[at] + (place - self.places[at] + more) * self.widths[at]


def view(data: bytes) -> View | None:
    """`data` as it is read; None if nothing in it reads otherwise. Time linear in `len(data)`."""
    read = bytearray()
    places, there, widths = array("q", [0]), array("q", [0]), array("q", [1])
    seams = array("q")
    at = 0
    differs = False
    rewritten = _REWRITTEN.match
    for place, _ in _PLACES.spans(data):
        found = rewritten(data, place)
        if found is None:
            continue
        start, end = found.span()
        if data.startswith(_MARKER, end - 1):
            # A marker behind ESC looks like the beginning of a colour.
            continue
        differs = True
        if start - at >= _FAR:
            stop, resume = _gap(data, at, start)
            if stop < resume:
                read += data[at:stop]
                places.append(len(read))
                there.append(resume)
                widths.append(1)
                seams.append(len(read))
                at = resume
        read += data[at:start]
        if found.lastgroup not in _LEFT_OUT:
            for character in _CHARACTER.finditer(data, start, end):
                places.append(len(read))
                there.append(character.start())
                widths.append(character.end() - character.start())
                read += _read(character)
        places.append(len(read))
        there.append(end)
        widths.append(1)
        at = end
    if not differs:
        return None
    stop, resume = _gap(data, at, len(data))
    read += data[at : stop if stop < resume else len(data)]
    return View(bytes(read), places, there, widths, seams)


def _gap(data: bytes, at: int, following: int) -> tuple[int, int]:
    """The lines between `at` and `following` that are far from both; they read as they are."""
    if following - at < _FAR:
        return at, at
    stop = data.find(b"\n", at + _NEAR, at + 2 * _NEAR) + 1
    resume = data.rfind(b"\n", following - 2 * _NEAR, following - _NEAR) + 1
    return (stop, resume) if stop and resume else (at, at)


def merged(spans: Sequence[Span], read: Sequence[Span]) -> list[Span]:
    """The `spans` of a text and those of its view in order; those that overlap are one.

    Its kind is that of the one that begins first. A token that is found in the text to the same end begins
    where it begins there: what the view puts before it is glued to it.
    """
    ends = {span.end for span in spans if span.kind != _PARTED}
    result: list[Span] = []
    for span in sorted((*spans, *(span for span in read if span.end not in ends))):
        if result and span.start < result[-1].end:
            last = result[-1]
            result[-1] = Span(last.start, max(last.end, span.end), last.kind)
        else:
            result.append(span)
    return result


def _read(character: re.Match[bytes]) -> bytes:
    """The one byte that an escape stands for."""
    group = character.lastindex or 0
    text = character[group]
    if group >= _NAMED:
        return b"\"' "[group - _NAMED : group - _NAMED + 1]
    if group == _DECIMAL:
        return bytes([int(text)])
    if group > _DECIMAL:
        return bytes([text[0] - 0x60 if group == _DECIMAL + 1 else text[0] - 0x20])
    return bytes([int(text, 16) + (0x20 if group == _FULL_WIDTH else 0)])


_LEFT_OUT = ("taken", "colour")
_NEAR = 1 << 15
_FAR = 1 << 17
_MARKER = b"REDACTED:"
_PARTED = "private_key"
"""A key's last part may be found in the text, and the whole in the view."""
_FULL_WIDTH = 3
_DECIMAL = 5
_NAMED = 8
