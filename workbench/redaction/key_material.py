"""The first pass: private keys, by markers, names and bytes (contract redaction, private_key).

One search finds the next sign of a key; what the sign is decides how the key's extent is found. A sign
without a key beside it is prose and stays.
"""

from __future__ import annotations

from collections.abc import Sequence

from workbench.redaction.borders import ALNUM
from workbench.redaction.engine import Span, any_of
from workbench.redaction.key_before import begin_before
from workbench.redaction.key_dumps import DER, TEXT_LABEL, der_dump, text_dumps
from workbench.redaction.key_markers import MARKER_BEGIN, MARKER_END, marker_start
from workbench.redaction.key_members import JWK_MEMBER, XML_ELEMENT, Members
from workbench.redaction.key_recoded import RECODED, blob_around
from workbench.redaction.key_signs import Sign, SignExpressions, Signs
from workbench.redaction.key_walk import Walk, joined
from workbench.redaction.rules import Rule

KIND = "private_key"

_PUTTY = "PuTTY-User-Key-File-[0-9]"

LEAST_BODY = 28
"""Characters of a body that only its first bytes give away: fewer hold no part of the secret."""

_ANY = bytes(range(256))
_GLUED = frozenset(bytes([byte]) for byte in ALNUM | frozenset(b"_+/-"))


class KeyMaterialPass:
    """Finds private keys; of `rules`, those of the kind `private_key` are first bytes of keys in base64."""

    shortest = 1

    def __init__(self, rules: Sequence[Rule]) -> None:
        first_bytes = any_of(rule.pattern for rule in rules if rule.kind == KIND)
        self._expressions = SignExpressions(
            (
                ("begin", MARKER_BEGIN, b"Bb"),
                ("end", MARKER_END, b"Ee"),
                ("recoded", RECODED, b"UBQ"),
                ("member", JWK_MEMBER, b"\"';u2"),
                ("element", XML_ELEMENT, b"<&\\"),
                ("text", TEXT_LABEL, b"Pp"),
                ("der", DER, b"36"),
                ("putty", _PUTTY, b"P"),
                ("first bytes", first_bytes, _ANY),
            )
        )

    @property
    def probes(self) -> Sequence[str]:
        return self._expressions.probes

    def finds_sign(self, data: bytes) -> bool:
        """Whether any sign of a key stands in `data`; the quick answer for most texts."""
        return self._expressions.together.search(data) is not None

    def find(self, data: bytes) -> list[Span]:
        """The keys of `data` as spans of the kind `private_key`, in order."""
        spans: list[Span] = []
        signs = Signs(data, self._expressions)
        members = Members(data)
        position = 0
        while True:
            sign = signs.next(position)
            if sign is None:
                return spans
            pieces, position = _key_at(data, sign, position, signs, members)
            if pieces:
                spans.extend(joined(data, pieces))


def _key_at(
    data: bytes, sign: Sign, least: int, signs: Signs, members: Members
) -> tuple[list[tuple[int, int]], int]:
    """The parts of the key that `sign` gives away, none before `least`, and where to look on."""
    start, end, name = sign
    pieces: list[tuple[int, int]] = []
    if name in ("member", "element"):
        pieces = members.member(start, end) if name == "member" else members.element(start, end)
        if not pieces:
            # The value may be a key by its first bytes.
            end = start + 1
    elif name == "text":
        pieces = text_dumps(data, start, signs)
    elif name == "der":
        pieces = [(start, der_dump(data, start, end))]
    else:
        walk = Walk(data, signs, least)
        if name == "begin":
            walk.from_marker(marker_start(data, start, least), end)
        elif name == "putty":
            # Glued to more of a word it is no file's first line.
            if data[end : end + 1] not in _GLUED:
                walk.from_marker(start, end, named=True)
        elif name == "end":
            begun = begin_before(data, marker_start(data, start, least), least)
            if begun is not None:
                walk.from_body(begun)
        elif name == "recoded":
            blob = blob_around(data, start, least)
            if blob.holds_key:
                walk.from_body(blob.start)
            else:
                end = blob.end
        else:
            walk.from_first_bytes(start, LEAST_BODY)
        pieces = walk.pieces
    return pieces, max(end, pieces[-1][1]) if pieces else end
