"""JSON inside a text: where its documents stand, and where in them every text and key stands.

Nothing is decoded but texts, nothing is written again but what changes: `literal` gives the replacement of
one text, and everything between two replacements stays as it was spelt.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import NamedTuple

LONGEST = 1 << 20
"""Characters of a document beyond which it is no longer read as JSON (contract redaction, 1 MiB)."""

DEEPEST = 1000
"""Levels of a document beyond which it is not read, so that the answer does not hang on anybody's stack."""

_B = r"[ \t\r\n]*+"
_TEXT = r'"[^"\\\x00-\x1f]*+(?:\\(?:["\\/bfnrt]|u[0-9A-Fa-f]{4})[^"\\\x00-\x1f]*+)*+"'
_SCALAR = (
    r"-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?(?:[eE][+-]?[0-9]++)?(?![0-9A-Za-z_.+-])"
    r"|(?:true|false|null|NaN|-?Infinity)\b"
)
_KEYED = re.compile(rf"{_B}({_TEXT}){_B}:{_B}(?:({_TEXT})|([\[{{])|(?:{_SCALAR}))")
_ITEM = re.compile(rf"({_B})(?:({_TEXT})|([\[{{])|(?:{_SCALAR}))")
_WHOLE = re.compile(rf"{_B}({_TEXT}){_B}")
_CLOSED = re.compile(rf"{_B}[\]}}]")
_COMMA = re.compile(rf"{_B},")
_LINE = re.compile(r"^[ \t]*+(?=[\[{])", re.MULTILINE)
_END = re.compile(r"[ \t]*+(?:[\r\n]|\Z)")
_CLOSERS = {"[": "]", "{": "}"}
_SURROGATE = re.compile("[\ud800-\udfff]")


class Container(NamedTuple):
    """An object or array: its container in `Document.containers` (-1: none), and its key or index there."""

    parent: int
    key: str | int
    is_object: bool


class Member(NamedTuple):
    """A text, or a key without one: `text[start:end]` is the text's literal, `key_start:key_end` the key's.

    Members of arrays have no key; `key` is their index.
    """

    container: int
    key: str | int
    text: str | None
    start: int
    end: int
    key_start: int
    key_end: int


class Document(NamedTuple):
    """One object or array at `text[start:end]`."""

    start: int
    end: int
    containers: list[Container]
    members: list[Member]


class TooDeep(Exception):
    """A document has more than `DEEPEST` levels."""


def documents(text: str) -> Iterator[Document]:
    """The objects and arrays of `text` that begin a line and end one, in order.

    Reads every character a bounded number of times: what is no document is left for the next line behind
    the place where it stopped being one. Raises `TooDeep`.
    """
    position = 0
    while True:
        found = _LINE.search(text, position)
        if found is None:
            return
        start = found.end()
        document, end = _read(text, start)
        if document is not None and _END.match(text, end) is not None:
            yield document
        position = end
        if position == start:
            position += 1


def whole_literal(text: str) -> tuple[int, int, str] | None:
    """Where the literal stands and what it says if `text` is one JSON text and nothing else but blanks."""
    found = _WHOLE.fullmatch(text, 0, LONGEST)
    if found is None or found.end() < len(text):
        return None
    return (*found.span(1), _decoded(text, *found.span(1)))


def literal(new: str, old: str) -> str:
    """`new` as a JSON text, in ASCII if the literal `old` was."""
    return json.dumps(new, ensure_ascii=old.isascii() or _SURROGATE.search(new) is not None)


def _read(text: str, start: int) -> tuple[Document | None, int]:
    """The document that begins at `start`, and its end; None and where it broke off if there is none."""
    containers = [Container(-1, "", text[start] == "{")]
    members: list[Member] = []
    # Container, its closing bracket, the index of the next item.
    open_: list[tuple[int, str, int]] = []
    here, closer, index = 0, _CLOSERS[text[start]], 0
    position = start + 1
    limit = start + LONGEST
    fresh = True
    while True:
        closed = _CLOSED.match(text, position) if fresh else None
        if closed is None:
            if closer == "}":
                found = _KEYED.match(text, position)
                if found is None or found.end() > limit:
                    return None, position
                key_start, key_end = found.span(1)
                key: str | int = _decoded(text, key_start, key_end)
                member, opened = found.span(2), found[3]
            else:
                found = _ITEM.match(text, position)
                if found is None or found.end() > limit:
                    return None, position
                key_start = key_end = 0
                key, member, opened = index, found.span(2), found[3]
                index += 1
            position = found.end()
            if member[0] >= 0:
                value = _decoded(text, *member)
                members.append(Member(here, key, value, *member, key_start, key_end))
            elif key_end:
                members.append(Member(here, key, None, 0, 0, key_start, key_end))
            if opened is not None:
                open_.append((here, closer, index))
                if len(open_) >= DEEPEST:
                    raise TooDeep
                containers.append(Container(here, key, opened == "{"))
                here, closer, index = len(containers) - 1, _CLOSERS[opened], 0
                fresh = True
                continue
        fresh = False
        while True:
            if closed is None:
                closed = _CLOSED.match(text, position)
            if closed is None:
                break
            if text[closed.end() - 1] != closer:
                return None, position
            position = closed.end()
            closed = None
            if not open_:
                return Document(start, position, containers, members), position
            here, closer, index = open_.pop()
        comma = _COMMA.match(text, position)
        if comma is None:
            return None, position
        position = comma.end()


def _decoded(text: str, start: int, end: int) -> str:
    inside = text[start + 1 : end - 1]
    if "\\" not in inside:
        return inside
    decoded: str = json.loads(text[start:end])
    return decoded
