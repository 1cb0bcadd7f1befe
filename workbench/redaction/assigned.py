"""Secrets that a name gives away: `password = …`, `"api_key": "…"`, `?token=…`, "the password is …".

(Contract redaction, assigned_secret.) One search finds a name, what joins it to a value, and the value's
first eight bytes; code reads the rest of the value and judges it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from workbench.redaction.engine import Pass, Span, any_of, compile_bytes
from workbench.redaction.names import PROBE, PROSE_NAME, SECRET_NAME, names_place, utf8, utf8_or_escaped
from workbench.redaction.suffixes import SUFFIX
from workbench.redaction.values import JUDGED, Place, is_secret

KIND = "assigned_secret"
LONGEST = 4096
_FEWEST = 8
_BLANKS = 64
_NAME_REACH = 64
_HEAD = 2 * _BLANKS + _NAME_REACH
_FAR = b" " * (_BLANKS + 1)
_REMEMBERED = 512

_QUOTE = r"""\\*["'`]"""
_B = r"[ \t]*"
_S = r"(?:[ \t\r\n]|\\+[nrt]){0,40}"
_OPEN = rf"""(?:[bBuUrRfF@]{{0,2}}{_QUOTE})?"""
_VALUE = r"""[^\x00-\x20\x7f"'`\\,;$<>{}()\[\]=:*|&][^\x00-\x20\x7f"'`\\]{7}"""
_LATIN = r"""[^\x00-\x20\x7f-\xff"'`\\,;$<>{}()\[\]=:*|&][^\x00-\x20\x7f-\xff"'`\\]{7}"""
_SIGN = utf8_or_escaped(r"(?:[:!~]?={1,3}>?|:|：|＝)")
_TYPE = r"[&']{0,2}[A-Za-z_][A-Za-z0-9_.<>\[\]|? ]{0,40}"
_COPULA = utf8(
    r"(?:is|was|are|will be|set to|changed to|reset to|equals|lautet|ist|war|hei(?:ß|ss)t|est|es|era|será|"
    r"это|—|–|-|:|=)"
)
_JOINTS = (
    # The annotation first: its type would be taken for a value.
    rf"{_B}:{_B}{_TYPE}={_B}{_QUOTE}{_VALUE}",
    rf"(?:[sS]{SUFFIX})?(?:{_QUOTE}\]?|\*\*|__)?{_B}{_SIGN}(?:\*\*|__)?{_B}{_OPEN}{_VALUE}",
    rf"(?:{_QUOTE}|\*\*)?[ \t]+\|[ \t]+(?:{_QUOTE})?{_VALUE}",
    rf"{_QUOTE}{_B},{_B}{_QUOTE}{_VALUE}",
    rf"{_B}\({_B}{_QUOTE}{_VALUE}",
    rf"[ \t]+{_QUOTE}{_VALUE}",
    rf">{_VALUE}",
    # An arrow, a verb of a language without blanks.
    utf8_or_escaped(rf"(?:{_QUOTE})?[ \t]*(?:[ \t]-{{1,2}}>|→|⇒|[ \t]=>)[ \t]*") + rf"(?:{_QUOTE})?{_VALUE}",
    utf8_or_escaped("(?:是|为|為|は|는|은)") + rf"{_B}(?:{_QUOTE})?{_LATIN}",
    # A list of texts of which one ends with the sign.
    rf"{_SIGN}{_B}{_QUOTE}{_S},{_S}{_QUOTE}{_VALUE}",
)
_OPTION = (
    r"--?[A-Za-z0-9_.-]{0,40}(?i:password|passwd|passphrase|token|secret|api[-_]?key|access[-_]?key|"
    rf"secret[-_]?key|pass|pwd|credentials?){SUFFIX}"
    rf"[ \t]+{_OPEN}[^\x00-\x20\x7f\"'`\\,;$<>{{}}()\[\]=:*|&-][^\x00-\x20\x7f\"'`\\]{{7}}"
)
_SENTENCE = (
    PROSE_NAME
    + r"""(?:[ \t]+[^\x00-\x20"'`=\[]{1,24}){0,6}?"""
    + rf"""[ \t]*[ \t:]{_COPULA}:?[ \t]+(?:{_QUOTE}|\*\*)?{_VALUE}"""
)
_ASSIGNED = any_of((SECRET_NAME + f"(?:{any_of(_JOINTS)})", _OPTION, _SENTENCE))

# A value without quotes, letters outside ASCII included; punctuation of other scripts ends it.
_BARE = re.compile(
    rb"(?:[!#-&(-+\--:=?-\[\]^_a-~]|[\xc3-\xdf][\x80-\xbf]|\xe3[\x81-\xbf][\x80-\xbf]|[\xe1\xe4-\xee][\x80-\xbf]{2}"
    rb"|\xf0[\x80-\xbf]{3})++"
)
_QUOTES = (b'"', b"'", b"`")
_QUOTED = re.compile(rb"""(?:[^\x00-\x20\x7f"'`\\]|\\[^\x00-\x20\x7f-\xff]){1,4096}+""")
_ESCAPED = re.compile(rb"""[^\x00-\x20\x7f"'`\\]{1,4096}+""")
_QUERY_VALUE = re.compile(rb"""[^\x00-\x20\x7f"'`\\&#<>,;]{1,4096}+""")
_QUERY_NAME = re.compile(rb"(?:[?&#]|&amp;)[A-Za-z0-9_.%\[\]-]{0,64}=\Z")
_QUERY_SIGNS = re.compile(rb"[?&#]")
_NEXT_PARAMETER = re.compile(rb"&[A-Za-z0-9_.-]{1,64}=")
_LINE_NAME = re.compile(rb"(?:\A|\n)[ \t]*(?:export[ \t]+|set[ \t]+|[+-])?[A-Z0-9_]{2,64}=\Z")
_LINE_TAIL = re.compile(rb"""(?:[^\x00-\x20\x7f"'`=\\]|\\(?![nrtuxe"'`\\])){1,512}+(?=[\r\n]|\Z)""")
_LINE_MIXED = re.compile(rb"[0-9][A-Za-z]|[A-Za-z][0-9]|[a-z][A-Z]|[A-Z][a-z]+[A-Z]")
_LINE_SIGNS = (b",", b";", b"\\", b"|", b"<", b">", b"{", b"}", b"[", b"]", b"(", b")")
# The name of a secret at a cloud, not the secret.
_RESOURCE = re.compile(
    rb"(?i)arn:[a-z0-9-]{1,20}:[a-z0-9-]{1,40}:[a-z0-9-]{0,30}:[0-9]{0,20}:[a-z]{1,20}[:/]\Z"
)
_RESOURCE_ENDS = (b":", b"/")
_TOKEN_NAME = re.compile(rb"[^A-Za-z0-9]?[A-Za-z0-9]??[Tt](?:oken|OKEN)")
_TEMPLATE = re.compile(rb"\{[{%][^}\n]*\Z")
_SIGNS = (b"=", b":", b"=>", b":>", *map(str.encode, ("：", "＝", r"\uff1a", r"\uff1d")))
_TRIMMED = frozenset(b")]}.:")
_CLOSERS = {ord(")"): b"(", ord("]"): b"[", ord("}"): b"{"}


class AssignedPass(Pass):
    """Names with a value behind them."""

    # "pwd=" and a value.
    shortest = 12

    def __init__(self) -> None:
        self._search = compile_bytes(_ASSIGNED, "assigned secrets")

    @property
    def probes(self) -> Sequence[str]:
        return [PROBE]

    def find(self, data: bytes) -> list[Span]:
        spans: list[Span] = []
        position = 0
        search = self._search.search
        # Logs repeat themselves. Kept for one text only: a secret must not outlive its removal.
        judged: dict[tuple[bytes, Place], bool] = {}
        # The last run of bytes of which values without quotes are made: of many names in one it is read once.
        run = [0, 0]
        while True:
            found = search(data, position)
            if found is None:
                return spans
            start: int = found.end() - _FEWEST
            end, secret = self._value(data, found.start(), start, judged, run)
            if secret and not _is_none(data, found.start(), start):
                spans.append(Span(start, end, KIND))
                position = end
            else:
                # A name may stand in what is no secret.
                position = start

    @staticmethod
    def _value(
        data: bytes, named: int, start: int, judged: dict[tuple[bytes, Place], bool], run: list[int]
    ) -> tuple[int, bool]:
        """Where the value that begins at `start` ends, and whether it is a secret."""
        low = start - _HEAD
        head = data[low if low > named else named : start]
        quote = head[-1:]
        quoted = quote in _QUOTES
        joint = head[:-1].rstrip(b"\\").rstrip(b"bBuUrRfF@") if quoted else head
        direct = joint.rstrip(b" \t*").endswith(_SIGNS)
        if head.endswith(_FAR) or (not direct and not quoted and b"\n" in head):
            return start, False
        closed = True
        if quoted:
            escaped = data[start - 2 : start - 1] == b"\\"
            match = (_ESCAPED if escaped else _QUOTED).match(data, start)
            if match is None:
                return start, False
            end = match.end()
            closed = data[end : end + 1] == (b"\\" if escaped else quote)
        elif quote == b"=" and _is_parameter(data[max(0, start - _NAME_REACH - 6) : start]):
            match = _QUERY_VALUE.match(data, start)
            end = match.end() if match else start
        else:
            if not run[0] <= start < run[1]:
                match = _BARE.match(data, start)
                run[:] = start, match.end() if match else start
            end = start + LONGEST
            if end > run[1]:
                end = run[1]
            while end < run[1] and data[end] & 0xC0 == 0x80:
                end -= 1
            end = _trimmed(data, start, end)
            end = _to_line_end(data, start, end)
        if end - start < _FEWEST:
            return end, False
        if quote in _RESOURCE_ENDS and _RESOURCE.search(data[max(0, named - _HEAD) : start]):
            return end, False
        after = data[end : end + 1]
        if head.endswith(b">") and not head.endswith(b"=>") and after != b"<":
            return end, False
        place = Place(head[-_NAME_REACH:], quoted, not direct or not closed, after)
        question = data[start : end if end - start < JUDGED else start + JUDGED], place
        answer = judged.get(question)
        if answer is None:
            if len(judged) > _REMEMBERED:
                judged.clear()
            answer = judged[question] = is_secret(*question)
        return end, answer


def _is_none(data: bytes, named: int, start: int) -> bool:
    """Whether what stands at `start` is a place in a list or a word of a template, whatever it looks like."""
    name = _TOKEN_NAME.match(data, named)
    if name is not None and names_place(data, name.end()):
        return True
    return (
        data.endswith((b"| ", b"|"), named, start)
        and _TEMPLATE.search(data[max(0, named - _NAME_REACH) : start]) is not None
    )


def _is_parameter(before: bytes) -> bool:
    return _QUERY_SIGNS.search(before) is not None and _QUERY_NAME.search(before) is not None


def _to_line_end(data: bytes, start: int, end: int) -> int:
    """`end`, or the end of the line if that is `NAME=` and the value, in which signs end no value."""
    if (
        data[end : end + 1] not in _LINE_SIGNS
        or _LINE_NAME.search(data[max(0, start - _HEAD) : start]) is None
    ):
        return end
    tail = _LINE_TAIL.match(data, end)
    return end if tail is None or _LINE_MIXED.search(tail[0]) is None else tail.end()


def _trimmed(data: bytes, start: int, end: int) -> int:
    """`end` without the next parameter, closing brackets that are not the value's own, and a full stop."""
    if data.find(b"&", start, end) >= 0:
        parameter = _NEXT_PARAMETER.search(data, start, end)
        if parameter:
            end = parameter.start()
    if data[end - 1] not in _TRIMMED:
        return end
    value = data[start:end]
    while value:
        opener = _CLOSERS.get(value[-1])
        if (opener is not None and value.count(opener) < value.count(value[-1:])) or value[-1] in b".:":
            value = value[:-1]
        else:
            break
    return start + len(value)
