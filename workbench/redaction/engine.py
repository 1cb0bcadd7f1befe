"""The engine that runs rules over UTF-8 bytes: passes that find spans, one replacement, linear time.

A pass looks through the whole text once, from left to right, and reports disjoint spans; the next pass sees
the text with the markers of the one before. Adding a family of kinds that needs its own way of looking is
adding a pass.

Idempotence rests on one thing: wherever a marker is put, the byte after it is judged as if the marker stood
there already (`PrefixPass.find`), so that a second run, which sees `]` before it, decides the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, Protocol

import re2

from workbench.redaction.borders import (
    ALNUM,
    REFUSED_BEFORE,
    WORD,
    behind_escape,
    bordered,
    escape_ends_at,
    token_places,
)
from workbench.redaction.expression import Expression
from workbench.redaction.rules import Left, Rule, RulesError
from workbench.redaction.values import MARKER, holds_stand_in, is_uniform

LONGEST = 640
"""Bytes of a token beyond which a bounded rule does not look, so that every try costs the same."""

_WORDS = (
    r"(?:"
    r"[A-Za-z0-9]{1,3}"  # an article, an acronym, a version
    r"|[0-9]{1,10}"  # a number, a date, a time in seconds
    r"|[A-Z]{2,5}"
    r"|[A-Za-z]?[a-z]{1,19}[0-9]{0,4}"
    r"|[0-9]{1,4}[a-z]{1,19}"
    r"|[A-Za-z]?[a-z]{2,14}(?:[A-Z][a-z]{2,14}){1,3}"  # camel case
    r")"
)
_SLUG = rf"(?:{_WORDS}[-_]+)*(?:{_WORDS}\b)?"


class Span(NamedTuple):
    """A secret at `data[start:end]`, both in bytes."""

    start: int
    end: int
    kind: str


class Pass(Protocol):
    """One look through the text for one family of kinds."""

    shortest: int
    """Bytes of the shortest text in which `find` finds a span, or fewer."""

    @property
    def probes(self) -> Sequence[str]:
        """RE2 expressions of which one is found in the JSON-escaped text whenever `find` finds a span."""
        ...

    def find(self, data: bytes) -> list[Span]:
        """Disjoint spans in order, in time linear in `len(data)`."""
        ...


def compile_bytes(expression: str, source: str, *, groups: bool = False) -> Any:
    """`expression` as RE2 over bytes, with its groups or without; `RulesError` if RE2 refuses it.

    The error names `source`.
    """
    options = re2.Options()
    # Bytes as they are: a text may hold lone surrogates, which are no UTF-8.
    options.encoding = re2.Options.Encoding.LATIN1
    options.log_errors = False
    options.never_capture = not groups
    # On hostile text the automaton of all rules may outgrow the default of 8 MiB and be thrown away.
    options.max_mem = 64 << 20
    try:
        return Expression(re2.compile(expression.encode("ascii"), options))
    except re2.error as error:
        reason = error.args[0] if error.args else error
        reason = reason.decode("utf-8", "replace") if isinstance(reason, bytes) else reason
        raise RulesError(f"{source}: RE2 refuses the expression: {reason}.") from None


def any_of(expressions: Iterable[str]) -> str:
    """One expression that is found where any of `expressions` is."""
    return "|".join(f"(?:{expression})" for expression in expressions)


def in_groups(expressions: Iterable[str], source: str, size: int = 2) -> tuple[Any, ...]:
    """Compiled expressions of which one is found wherever one of `expressions` is.

    Those that count characters from almost any place on go in groups of `size`: the states of their automata
    multiply, and on hexadecimal or base64 one for all would be thrown away again and again.
    """
    counting: list[str] = []
    plain: list[str] = []
    for expression in dict.fromkeys(expressions):
        (counting if _counts_anywhere(expression) else plain).append(expression)
    groups = [plain] if plain else []
    groups += [counting[at : at + size] for at in range(0, len(counting), size)]
    return tuple(compile_bytes(any_of(group), source) for group in groups)


def _counts_anywhere(expression: str) -> bool:
    if _COUNT.search(expression) is None:
        return False
    if expression.startswith("30"):
        return True
    lowest, highest = match_range(compile_bytes(expression, "a probe"))
    return highest[0] - lowest[0] > _FEW_BYTES


def match_range(expression: Any) -> tuple[bytes, bytes]:
    """Between which beginnings every match of `expression` lies."""
    try:
        lowest, highest = expression.possiblematchrange(_HEAD)
    except re2.error:
        lowest, highest = b"", b""
    return lowest or b"\x00", highest or b"\xff" * _HEAD


_COUNT = re.compile(r"\{[0-9]")


def passes_for(rules: Sequence[Rule]) -> tuple[Pass, ...]:
    """The passes that run `rules`: those with bounded patterns together, each other one alone, in order.

    Of those together the ones that may begin with many different bytes come last, in a pass of their own:
    they would be tried at every token of the others.
    """
    passes: list[Pass] = []
    together: list[Rule] = []
    for rule in (*rules, None):
        if rule is not None and not rule.guards.alone:
            together.append(rule)
            continue
        anchored = [(one, _Anchored(one)) for one in together]
        wide = [one for one, ready in anchored if ready.highest[0] - ready.lowest[0] > _FEW_BYTES]
        tight = [one for one in together if one not in wide]
        if tight:
            passes.append(PrefixPass(tight))
        if wide:
            passes.append(PrefixPass(wide, tight))
        together = []
        if rule is not None:
            passes.append(LonePass(rule))
    return tuple(passes)


_FEW_BYTES = 8


def replace(data: bytes, spans: Sequence[Span], counts: dict[str, int]) -> bytes:
    """`data` with a marker in place of each span; adds to `counts`.

    Line breaks inside a span stay, after its marker, so that the text keeps its number of lines.
    """
    # One buffer: a hostile text has a secret every few bytes, and an object for each would be many times it.
    clean = bytearray()
    at = 0
    markers = {kind: b"[REDACTED:%s]" % kind.encode("ascii") for kind in {span.kind for span in spans}}
    for start, end, kind in spans:
        clean += data[at:start]
        clean += markers[kind]
        removed = data[start:end]
        if b"\n" in removed or b"\r" in removed:
            clean += bytes(byte for byte in removed if byte in b"\r\n")
        if b"[REDACTED:" in removed:
            _uncount(removed, counts)
        counts[kind] = counts.get(kind, 0) + 1
        at = end
    clean += data[at:]
    return bytes(clean)


def _uncount(removed: bytes, counts: dict[str, int]) -> None:
    """Take markers that go with a larger secret from `counts`, which says what stands in the text."""
    for marker in MARKER.findall(removed):
        kind = marker[10:-1].decode("ascii")
        if kind in counts:
            counts[kind] -= 1
            if not counts[kind]:
                del counts[kind]


class PrefixPass:
    """All rules with bounded patterns in one look: one search for beginnings, there the rules in order."""

    shortest = 1

    def __init__(self, rules: Sequence[Rule], glued: Sequence[Rule] = ()) -> None:
        """`glued` are rules of an earlier pass, whose tokens may stand right behind one of `rules`."""
        self._rules = [_Anchored(rule) for rule in rules]
        self._by_byte = _by_byte(self._rules)
        self._glued = _by_byte([*map(_Anchored, glued), *self._rules])
        plain = [rule for rule in rules if not rule.guards.not_slug]
        self._search = compile_bytes(_beginnings(rules), "the rules together")
        self._search_plain = compile_bytes(_beginnings(plain) or _NOTHING, "the plain rules")
        # What a border that is no escape may have taken.
        self._places = sorted({0, 1} | {len(rule.guards.after) for rule in rules})
        self._slug = compile_bytes(_SLUG, "the slug guard")

    @property
    def probes(self) -> Sequence[str]:
        return [rule.probe for rule in self._rules]

    def find(self, data: bytes) -> list[Span]:
        spans: list[Span] = []
        size = len(data)
        position = 0
        # Up to `slug_end` the text is words joined by - and _; it is read once, not from every prefix in it.
        # Up to `barren` no rule with the slug guard can accept anything.
        slug_end = barren = 0
        while True:
            if position < barren:
                found = self._search_plain.search(data, position, slug_end + LONGEST)
                if found is None or found.start() >= barren:
                    position = barren
                    continue
            else:
                found = self._search.search(data, position)
                if found is None:
                    return spans
            at: int = found.start()
            for offset in token_places(data, at, self._places):
                start = at + offset
                end, kind, slug_end = self._claim(data, start, False, slug_end)
                if end:
                    break
            else:
                position = at + 1
                barren = slug_end if slug_end == size or data[slug_end] not in _JOINED else slug_end - LONGEST
                continue
            spans.append(Span(behind_escape(data, start), end, kind))
            # What was known of a slug reached across the token.
            slug_end = barren = 0
            # A token that was cut at its longest has no border behind it now, but a marker is one.
            while end < size and data[end] in WORD:
                start = end
                end, kind, _ = self._claim(data, start, True, 0)
                if not end:
                    end = start
                    break
                spans.append(Span(start, end, kind))
            position = end

    def _claim(self, data: bytes, start: int, bordered: bool, slug_end: int) -> tuple[int, str, int]:
        """End and kind of the first rule to accept a token at `start` (end 0: none), and the slug's end."""
        known = self._glued if bordered else self._by_byte
        candidates = known[data[start]] if start < len(data) else ()
        if not candidates:
            return 0, "", slug_end
        head = data[start : start + _HEAD]
        before = data[start - 1] if start and not bordered else _SPACE
        escaped: bool | None = None
        for rule in candidates:
            if not rule.lowest <= head <= rule.highest:
                continue
            if before in rule.refused_before and not (rule.after and data.endswith(rule.after, 0, start)):
                if escaped is None:
                    escaped = escape_ends_at(data, start)
                if not escaped:
                    continue
            match = rule.expression.match(data, start, start + LONGEST)
            if match is None:
                continue
            end: int = match.end()
            if rule.not_slug:
                if slug_end <= start:
                    slug_end = self._slug.match(data, start).end()
                if end <= slug_end:
                    continue
            # By its first bytes, which stay if what is glued to it turns out to be another token.
            shown = end if b"/" in data[start:end] else min(end, start + _SHORTEST)
            if holds_stand_in(data[start:shown]) or is_uniform(data[start:end]):
                continue
            return end, rule.kind, slug_end
        return 0, "", slug_end


class LonePass:
    """One rule whose pattern may be unbounded; its tokens may be parts joined by dots, of limited length.

    What is refused for a part that is too long moves on by whole parts, so that no byte is read more than a
    few times.
    """

    shortest = 1

    def __init__(self, rule: Rule) -> None:
        self._rule = rule
        self._part_max = rule.guards.part_max
        self._any_left = rule.guards.left == "any"
        self._search = compile_bytes(bordered(rule.guards.left, rule.pattern), rule.source)
        self._token = compile_bytes(rule.pattern, rule.source)
        # Its probe begins with letters of its own, which the library looks for several times as fast.
        self._probe = compile_bytes(rule.probe, rule.source)

    @property
    def probes(self) -> Sequence[str]:
        return [self._rule.probe]

    def find(self, data: bytes) -> list[Span]:
        spans: list[Span] = []
        position = 0
        if self._probe.search(data) is None:
            return spans
        while True:
            found = self._search.search(data, position)
            if found is None:
                return spans
            start, end = found.span()
            if not self._any_left and data[start] not in ALNUM:
                # The border took some bytes.
                start = self._token.search(data, start, end).start()
            position = end if self._part_max is None else self._resume(data, start, end, self._part_max)
            if position == end:
                spans.append(Span(behind_escape(data, start), end, self._rule.kind))

    @staticmethod
    def _resume(data: bytes, start: int, end: int, part_max: int) -> int:
        """`end` if every part is short enough, else the next place where an acceptable token may begin."""
        part = start
        while True:
            stop = data.find(b".", part, end)
            stop = end if stop < 0 else stop
            if stop - part > part_max:
                # A token that begins later in a long first part may be short enough; a long later part
                # spoils every token that begins before it.
                return stop - part_max if part == start else part
            if stop == end:
                return end
            part = stop + 1


class _Anchored:
    """A bounded rule, ready to be tried at one place."""

    __slots__ = ("after", "expression", "highest", "kind", "lowest", "not_slug", "probe", "refused_before")

    def __init__(self, rule: Rule) -> None:
        self.kind = rule.kind
        self.probe = rule.probe
        self.not_slug = rule.guards.not_slug
        self.after = rule.guards.after.encode("ascii")
        self.refused_before = REFUSED_BEFORE[rule.guards.left]
        self.expression = compile_bytes(rule.pattern, rule.source)
        compile_bytes(rule.probe, rule.source)
        self.lowest, self.highest = match_range(self.expression)


def _by_byte(rules: Sequence[_Anchored]) -> Sequence[Sequence[_Anchored]]:
    """For each byte the rules whose tokens may begin with it."""
    return [[rule for rule in rules if rule.lowest[0] <= byte <= rule.highest[0]] for byte in range(256)]


def _beginnings(rules: Sequence[Rule]) -> str:
    """An expression that finds the probe of each of `rules` behind a border that may be allowed."""
    together: dict[tuple[Left, str], list[str]] = {}
    for rule in rules:
        together.setdefault((rule.guards.left, rule.guards.after), []).append(rule.probe)
    return any_of(bordered(left, any_of(probes), after) for (left, after), probes in together.items())


_NOTHING = r"[^\x00-\xff]"
"""Matches no byte."""

_HEAD = 8
"""How many first bytes of a place are compared before a rule is run there."""

_SHORTEST = 20
"""Bytes of the shortest tokens."""

_SPACE = 0x20
_JOINED = WORD | frozenset(b"-")
