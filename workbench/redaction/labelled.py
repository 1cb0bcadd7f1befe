"""What follows the word "key" and reads random (contract redaction, labelled_key)."""

from __future__ import annotations

import re
from collections.abc import Sequence

from workbench.redaction.borders import bordered
from workbench.redaction.engine import Pass, Span, compile_bytes
from workbench.redaction.entropy import remembering
from workbench.redaction.values import holds_stand_in, is_path, is_public

KIND = "labelled_key"
LONGEST = 4096
_FEWEST = 16

_SIGNS = "A-Za-z0-9_+/-"
_LABEL = (
    bordered("alnum", "(?i:keys?)")
    + r"""(?:\\*["'`])?(?:[ \t]*(?:[:=]|=>|\|)[ \t]*|[ \t]+)(?:\\*["'`]|\*\*)?"""
    + rf"[{_SIGNS}]{{16}}"
)
_VALUE = re.compile(rb"[%s]{1,4096}+={0,2}" % _SIGNS.encode())
_PUBLIC = re.compile(
    rb"(?i)(?:public|pub|publishable|site|foreign|primary|partition|sort|cache|host|idempotency|dedup|group|"
    rb"object|s3|websocket|storage|row|index|translation|message|ssh)[_ -]?\Z"
)


class LabelledPass(Pass):
    """The word key or keys, and behind it one random value."""

    shortest = _FEWEST

    def __init__(self) -> None:
        self._search = compile_bytes(_LABEL, "labelled keys")

    @property
    def probes(self) -> Sequence[str]:
        return ["(?i)key"]

    def find(self, data: bytes) -> list[Span]:
        spans: list[Span] = []
        position = 0
        search = self._search.search
        reads_random = remembering(LONGEST)
        while True:
            found = search(data, position)
            if found is None:
                return spans
            start: int = found.end() - _FEWEST
            value = _VALUE.match(data, start)
            assert value is not None
            # A label has a border behind it, so none begins within the value.
            position = value.end()
            head = data[max(0, found.start() - 24) : start].lower()
            label = head[: head.rfind(b"key")]
            if _PUBLIC.search(label):
                continue
            if reads_random(value[0]) and not _is_known(value[0]):
                spans.append(Span(start, position, KIND))


def _is_known(value: bytes) -> bool:
    return holds_stand_in(value) or is_public(value) or (b"/" in value and is_path(value))
