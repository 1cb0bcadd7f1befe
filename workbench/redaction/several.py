"""Secrets in lists and mappings under one name: `passwords: [..]`, `"api_keys": {"prod": ".."}`.

(Contract redaction, assigned_secret.) Under a name in the plural both count, under one in the singular lists
and what a mapping has under a place where the secret is valid (`{"prod": ".."}`): else its own names decide.
What is read ends where something else than texts stands, so that code is left alone.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from workbench.redaction.engine import Pass, Span, compile_bytes
from workbench.redaction.names import NAME_OF_SEVERAL, PROBE, names_several, utf8_or_escaped
from workbench.redaction.quoted import literal_end
from workbench.redaction.suffixes import WHERE
from workbench.redaction.tables import is_password
from workbench.redaction.values import Place, is_drawn, is_human_name, is_secret

KIND = "assigned_secret"
_MOST_ITEMS = 1000

_B = r"[ \t]*"
_SIGN = utf8_or_escaped(r"(?:[:!~]?={1,3}>?|:|：|＝)")
_OPENED = (
    rf"""{NAME_OF_SEVERAL}(?:\\*["'`]\]?)?{_B}(?::{_B}[A-Za-z_][A-Za-z0-9_.\[\], |]{{0,40}})?{_SIGN}{_B}"""
)
_COLLECTION = _OPENED + r"(?:[\[{(]|\r?\n[ \t]*(?:-[ \t]|[^\x00-\x20#]))"

_GAP = rb"(?:[ \t\r\n,]|\\+[nrt])*+"
_ITEM = re.compile(
    _GAP
    + rb"""(?:[bBuUrR]{0,2}(?P<quote>\\*+["'`])"""
    + rb"""|[A-Za-z0-9_.@ -]{1,64}+:(?=[ \t])"""
    + rb"""|(?P<bare>[^\x00-\x20\x7f"'`\\,\[\]{}():]{8,256}+)(?=[ \t]*[,\]}])"""
    + rb"""|[:\[]|=>)"""
)
_BEHIND = re.compile(rb"(?:[ \t\r\n]|\\+[nrt])*+(?:([,\])}])|(:|=>)|\Z)")
_NOT_CHOSEN = re.compile(rb"(?i)secret|credential")
_WHERE = re.compile(
    rb"""(?:[ \t\r\n]|\\+[nrt])*+\\*["'`]?(?i:%s)[0-9]{0,2}\\*["'`]?[ \t]*(?::|=>)""" % WHERE.encode()
)
_LINE = re.compile(
    rb"""([ \t]*)(-[ \t]+|(?:["']?[A-Za-z0-9_.@-]{1,64}["']?[ \t]*:[ \t]+))"""
    rb"""(?:(["'])([^\x00-\x1f"']{1,256})\3|([^\x00-\x20"'`\[{&*!|>#][^\x00-\x20"'`]{0,255}))"""
    rb"[ \t]*(?:\r?\n|\Z)"
)


class SeveralPass(Pass):
    """Names with a list or a mapping behind them."""

    # "pwd=[" and a value.
    shortest = 12
    expression = _COLLECTION

    def __init__(self) -> None:
        self._search = compile_bytes(_COLLECTION, "secrets in lists")

    @property
    def probes(self) -> Sequence[str]:
        return [PROBE]

    def find(self, data: bytes) -> list[Span]:
        spans: list[Span] = []
        position = 0
        while True:
            found = self._search.search(data, position)
            if found is None:
                return spans
            opened = found.end()
            named = found.start()
            drawn = _kind(data[named:opened])
            if data[opened - 1] in b"[{(":
                hyphen = drawn and data[named - 1 : named] == b"-"
                if data[opened - 1] != _LIST and (drawn is None or hyphen):
                    if _WHERE.match(data, opened):
                        _flow(data, opened, drawn, named, spans)
                    position = max(opened, spans[-1].end if spans else 0)
                    continue
                position = _flow(data, opened, drawn, named, spans)
            else:
                line = data.rfind(b"\n", named, opened) + 1
                position = _block(data, line, drawn, named, spans)
            position = max(position, opened)


def _kind(head: bytes) -> bool | None:
    """Whether the name in `head` speaks of drawn secrets (True) or chosen ones, in the plural; else None."""
    name = re.split(rb"""[\\"'`\]:=\s\xef]""", head.lstrip(b"\\\"'` _-"), maxsplit=1)[0]
    several = names_several(name.decode("latin-1"))
    return several == "token" if several else None


def _is_drawn_name(head: bytes) -> bool:
    """Whether the name in `head`, in the singular, is of keys, scopes or files rather than of passwords."""
    return not is_human_name(head) or _NOT_CHOSEN.search(head) is not None


def _is_one(value: bytes, drawn: bool, *, quoted: bool) -> bool:
    if drawn:
        return is_drawn(value)
    return is_password(value, sentences=quoted) and (
        quoted or is_secret(value, Place(b"password ", False, True, b""))
    )


def _flow(data: bytes, place: int, drawn: bool | None, named: int, spans: list[Span]) -> int:
    """Adds the secrets among the items from `place` on, behind a bracket; returns where the last one ends."""
    judged_as_drawn = _is_drawn_name(data[named:place]) if drawn is None else drawn
    nested = False
    for _ in range(_MOST_ITEMS):
        item = _ITEM.match(data, place)
        if item is None:
            break
        start = place = item.end()
        if item["quote"]:
            end = literal_end(data, start)
            place = max(start, end) + len(item["quote"])
            behind = _BEHIND.match(data, place)
            if behind is None or data[end:place] != item["quote"]:
                return start
            if behind[2] is None and _is_one(data[start:end], judged_as_drawn, quoted=True):
                spans.append(Span(start, end, KIND))
        elif item["bare"]:
            if _is_one(item["bare"], judged_as_drawn, quoted=False):
                spans.append(Span(*item.span("bare"), KIND))
        elif item[0].endswith(b"["):
            if nested:
                break
            nested = True
        if nested and data[place : place + 1] == b"]":
            nested = False
            place += 1
    return place


def _block(data: bytes, place: int, drawn: bool | None, named: int, spans: list[Span]) -> int:
    """The same for the lines of YAML from `place` on."""
    judged_as_drawn = _is_drawn_name(data[named:place]) if drawn is None else drawn
    begin = data.rfind(b"\n", max(0, named - 256), named) + 1
    outer = len(data[begin:named]) - len(data[begin:named].lstrip(b" \t"))
    indent: bytes | None = None
    for _ in range(_MOST_ITEMS):
        line = _LINE.match(data, place)
        if line is None or (indent is not None and line[1] != indent):
            break
        is_list = line[2].startswith(b"-")
        if indent is None:
            indent = line[1]
            if len(indent) < outer + (not is_list) or (not is_list and drawn is None):
                break
        group = 4 if line[4] is not None else 5
        if _is_one(line[group], judged_as_drawn, quoted=group == 4):
            spans.append(Span(*line.span(group), KIND))
        place = line.end()
    return place


_LIST = ord("[")
