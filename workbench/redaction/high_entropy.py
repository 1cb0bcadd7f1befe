"""Random tokens on a line that speaks of secrets (contract redaction, high_entropy).

On a line of up to 2,000 bytes a cue counts anywhere, on a longer one within 256 bytes of the token. Both are
measured with every random token and every marker counted as `WEIGHT` bytes, whatever its length: a token
that is replaced by its marker moves nothing, so filtering twice changes nothing.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence

from workbench.redaction.borders import ALNUM, behind_escape
from workbench.redaction.engine import Pass, Span, compile_bytes
from workbench.redaction.entropy import remembering
from workbench.redaction.names import CUE, PROBE, names_place
from workbench.redaction.values import MARKER, holds_stand_in, is_public

KIND = "high_entropy"
WEIGHT = 32
LONG_LINE = 2000
REACH = 256
LONGEST_RUN = 1024
"""Bytes of unbroken base64 beyond which it is data, not a token."""

_RUN = bytes(sorted(ALNUM)) + b"_-+/="
_HEX = b"0123456789abcdefABCDEF"
_DIGEST_NAME = re.compile(rb"(?i)(?:sha-?(?:1|224|256|384|512)|md5|blake2[bs]?)[:=-]")
_SEALED = re.compile(rb"ENC\[AES256_GCM,data:\Z|,(?:iv|tag):\Z")
_KEY_LINE = re.compile(rb"(?:ssh-(?:rsa|dss|ed25519)|ecdsa-sha2-[a-z0-9-]+|sk-[a-z0-9@.-]+)[ \t]+\Z")
_IMAGE = re.compile(rb"(?i)(?:data:[a-z0-9.+/;=-]{1,80};)?base64,?\Z|data:[a-z0-9.+/;=-]{1,80},\Z")


class HighEntropyPass(Pass):
    """Tokens of 32 or more of `[A-Za-z0-9_+-]` that read random, near a cue."""

    shortest = 32

    def __init__(self) -> None:
        self._tokens = compile_bytes(r"[A-Za-z0-9_+-]{32,}={0,2}", "random tokens")
        self._cues = compile_bytes(r"\[REDACTED:[a-z0-9_]+\]|" + CUE, "cues")
        self._run = compile_bytes(r"[A-Za-z0-9_+/=-]*", "runs")

    @property
    def probes(self) -> Sequence[str]:
        return [PROBE]

    def find(self, data: bytes) -> list[Span]:
        spans: list[Span] = []
        line: list[tuple[int, int]] = []
        line_end = -1
        reads_random = remembering()
        # A run that is known to be data reaches to here.
        barren = 0
        for start, end in self._tokens.spans(data):
            if start < barren or not data[start:end].translate(None, _HEX):
                # Digests and identifiers fill whole logs: named before anything is asked about them.
                continue
            start = behind_escape(data, start)
            if _DIGEST_NAME.match(data, start, start + 10):
                # Lock files are full of them: named before they are weighed.
                barren = end if end == len(data) else self._run.match(data, end).end()
                continue
            if not reads_random(data[start:end]):
                continue
            before = data[max(0, start - LONGEST_RUN - 1) : start]
            run_start = start - len(before) + len(before.rstrip(_RUN))
            run_end = end if end == len(data) else self._run.match(data, end).end()
            if run_end - run_start > LONGEST_RUN:
                barren = run_end
                continue
            if (
                self._is_public(data, run_start, start)
                or holds_stand_in(data[start:end])
                or is_public(data[run_start:run_end])
            ):
                continue
            if start > line_end:
                spans.extend(self._near_cues(data, line))
                line = []
                line_end = data.find(b"\n", end)
                line_end = len(data) if line_end < 0 else line_end
            line.append((start, end))
        spans.extend(self._near_cues(data, line))
        return spans

    @staticmethod
    def _is_public(data: bytes, run_start: int, start: int) -> bool:
        if (
            _DIGEST_NAME.search(data, max(0, run_start - 10), run_start + 10)
            or _KEY_LINE.search(data[max(0, run_start - 64) : run_start])
            or _SEALED.search(data[max(0, run_start - 24) : run_start])
        ):
            return True
        return _IMAGE.search(data[max(0, run_start - 96) : run_start]) is not None

    def _near_cues(self, data: bytes, tokens: list[tuple[int, int]]) -> list[Span]:
        """Those of the random `tokens` of one line that stand near a cue."""
        if not tokens:
            return []
        first = data.rfind(b"\n", 0, tokens[0][0]) + 1
        last = data.find(b"\n", tokens[-1][1])
        last = len(data) if last < 0 else last
        items = sorted(
            tokens + [_absolute(found.span(), first) for found in MARKER.finditer(data[first:last])]
        )
        ends = [end for _, end in items]
        # How many bytes lie before each item's end beyond its weight.
        surplus = [0]
        for start, end in items:
            surplus.append(surplus[-1] + end - start - WEIGHT)
        cues: list[int] = []
        long = last - first - surplus[-1] > LONG_LINE
        # The byte before the line may be the border that a cue needs.
        for found in self._cues.finditer(data, max(0, first - 1), last):
            place = found.end() - 1
            behind = bisect_right(ends, place)
            if (
                data[found.start()] == _BRACKET
                or names_place(data, found.end())
                or (behind < len(items) and items[behind][0] <= place)
            ):
                continue
            if not long:
                return [Span(start, end, KIND) for start, end in tokens]
            cues.append(place - surplus[behind])
        spans: list[Span] = []
        for start, end in tokens if cues else ():
            at = bisect_left(items, (start, end))
            weighted = start - surplus[at]
            near = bisect_left(cues, weighted - REACH)
            if near < len(cues) and cues[near] <= weighted + WEIGHT + REACH:
                spans.append(Span(start, end, KIND))
        return spans


def _absolute(span: tuple[int, int], first: int) -> tuple[int, int]:
    return span[0] + first, span[1] + first


_BRACKET = ord("[")
