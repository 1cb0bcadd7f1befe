"""Rules whose secret is only a part of what they match: the one group of their pattern.

What stands around it (a header's name, an address, a command) stays. A rule says what the secret must look
like (`check`) and may ask for a word nearby (`near`, within `reach` bytes).
"""

from __future__ import annotations

import re
from array import array
from base64 import b64decode
from binascii import Error
from bisect import bisect_right
from collections.abc import Callable, Sequence

from workbench.redaction.borders import WORD, behind_escape, bordered
from workbench.redaction.engine import Pass, Span, any_of, compile_bytes
from workbench.redaction.entropy import is_hex, is_slug, reads_random
from workbench.redaction.quoted import is_quoted_secret
from workbench.redaction.rules import Rule, RulesError
from workbench.redaction.values import Place, is_common, is_path, is_secret, is_stand_in

LONGEST = 8192
"""Bytes of a random value."""


def _is_credential(value: bytes) -> bool:
    """Whether `value` is base64 of ASCII with a colon: a user and a password."""
    if b"-" in value or b"_" in value:
        value = value.replace(b"-", b"+").replace(b"_", b"/")
    try:
        plain = b64decode(value.rstrip(b"=") + b"=" * (-len(value.rstrip(b"=")) % 4), validate=True)
    except Error:
        return False
    return b":" in plain and plain.isascii() and all(32 <= byte < 127 for byte in plain)


def _is_password(value: bytes) -> bool:
    """Whether `value` may be a password in an address: no reference, no stand-in."""
    return _NO_PASSWORD.fullmatch(value) is None and (len(value) < _SURE or not is_stand_in(value))


def _is_opaque(value: bytes) -> bool:
    """Whether `value` is neither words nor a stand-in."""
    return not is_slug(value.replace(b".", b"-")) and not is_stand_in(value)


def _is_strong(value: bytes) -> bool:
    """Whether `value` may stand where a password is asked for."""
    return is_secret(value, Place(b"password ", False, True, b""))


def _is_dense(value: bytes) -> bool:
    """Whether `value` reads random and is no path."""
    return reads_random(value, LONGEST) and not is_path(value) and not is_stand_in(value)


def _is_random(value: bytes) -> bool:
    """Whether `value` reads random or is a long number in base 16."""
    if is_stand_in(value):
        return False
    if is_hex(value):
        return len(value) >= _HEX
    return reads_random(value, LONGEST) and not is_slug(_JOINTS.sub(b"-", value))


def _is_value(value: bytes) -> bool:
    """Whether `value`, all that stands in quotes or in an element under a secret's name, is one."""
    if b" " not in value and is_secret(value, Place(b"password ", True, False, b'"')):
        return True
    return is_quoted_secret(value, b"password ")


def _is_weak(value: bytes) -> bool:
    """Whether `value` may be a password that somebody chose badly: a word, but none that examples use."""
    return (
        _WEAK.fullmatch(value) is not None
        and not is_stand_in(value)
        and not is_common(value)
        and _NO_WEAK.fullmatch(value) is None
    )


def _is_short(value: bytes) -> bool:
    """The same, with letters and digits in it."""
    return _is_weak(value) and value.upper() != value.lower() and not value.isalpha()


def _is_number(value: bytes) -> bool:
    """Whether `value` is a number that is no count of anything."""
    return len(set(value)) > 1 and not value.endswith(b"000")


def _is_phrase(value: bytes) -> bool:
    """Whether `value` may be the words that a wallet is restored from, not a sentence."""
    return not any(word in _SENTENCE for word in value.split())


def _is_wallet(value: bytes) -> bool:
    """Whether `value` has the varied characters of a key in base 58."""
    return reads_random(value, LONGEST) and value[1:2] not in b"-_"


_WEAK = re.compile(rb"[A-Za-z0-9!@#%^*+=?._-]{5,64}")
_NO_WEAK = re.compile(
    rb"(?i)[0-9.]{1,7}|[a-z]*_.*|.*\.[a-z]{1,5}|none|null|nil|true|false|undefined|required|optional|string|bytes|"
    rb"hidden|prompt|stdin|empty|unset|plain|basic|ask|file|env|postgres(?:ql)?|mysql|mariadb|redis|mongo(?:db)?|"
    rb"rabbitmq|minio(?:admin)?|elastic|keycloak|grafana|wordpress|django|odoo|drupal|nextcloud|gitea|jenkins|"
    rb"(?:the|your|my|a)?[-_.]?(?:db|database|root|admin|user|app|secret|super)?[-_.]?(?:pass(?:word|wd|phrase)?|pwd|"
    rb"secret|value|here)[-_.]?[0-9]{0,4}|change.?(?:me|it|this)|replace.*|insert.*|todo|fixme|example.*|test.*|"
    rb"qwerty.*|letmein|welcome[0-9]{0,4}|guest[0-9]{0,3}|x+|[a-z]+[-_](?:password|passwd|secret|token)"
)
_SENTENCE = frozenset(
    b"the and for with you your this are not was from must should can never will have has all into".split()
)


_CHECKS: dict[str, Callable[[bytes], bool]] = {
    "any": lambda value: not is_stand_in(value),
    "credential": _is_credential,
    "password": _is_password,
    "opaque": _is_opaque,
    "strong": _is_strong,
    "dense": _is_dense,
    "random": _is_random,
    "value": _is_value,
    "weak": _is_weak,
    "short": _is_short,
    "number": _is_number,
    "phrase": _is_phrase,
    "wallet": _is_wallet,
}
_JOINTS = re.compile(rb"[./:~=]+")
_SURE = 4
_HEX = 32
_NO_PASSWORD = re.compile(
    rb"(?i)[$%{<(*].*|.*[$#]?\{.*\}.*|%s|(?:your|my|the|some|a)?[-_]?(?:db|database)?[-_]?pass(?:word|wd)[0-9]{0,3}"
    rb"|passwort|pwd?|psw|secret|token|x{2,}|\.+|.*\[redacted:.*|api[-_]?key|\*+|postgres|root|guest|user(?:name)?"
)


class ContextPass(Pass):
    """All rules of one file, tried in order where one of them is found."""

    shortest = 1

    def __init__(self, rules: Sequence[Rule]) -> None:
        self._rules = [_Ready(rule) for rule in rules]
        together = any_of(bordered(rule.guards.left, rule.pattern) for rule in rules)
        self._search = compile_bytes(together, "the rules with a group", groups=True)

        self._rest = compile_bytes("[A-Za-z0-9_]*", "the rest of a word")

    @property
    def probes(self) -> Sequence[str]:
        return [ready.rule.probe for ready in self._rules]

    def find(self, data: bytes) -> list[Span]:
        spans: list[Span] = []
        position = 0
        search = self._search.search
        places: dict[int, array[int]] = {}
        # Kept for one text only: a secret must not outlive its removal.
        judged: dict[tuple[int, bytes], bool] = {}
        if all(ready.near is not None and ready.near.search(data) is None for ready in self._rules):
            return spans
        while True:
            found = search(data, position)
            if found is None:
                return spans
            # Of the groups, one for each rule, one took part.
            number = found.lastindex
            ready = self._rules[number - 1]
            start, end = found.span(number)
            if start and data[start - 1] == _BACKSLASH:
                start = behind_escape(data, start)
            position = max(found.start() + 1, start)
            if data.endswith(_MARKER_BEGIN, 0, start):
                continue
            if ready.near is not None and not ready.is_near(data, start, end, places):
                continue
            if ready.unless is not None and ready.is_refused(data, *found.span()):
                continue
            question = number, data[start:end]
            answer = judged.get(question)
            if answer is None:
                if len(judged) > _REMEMBERED:
                    judged.clear()
                answer = judged[question] = ready.check(question[1])
            if answer:
                # A token that was cut: what is glued to it would have a border behind the marker.
                if end < len(data) and data[end] in WORD:
                    end = self._rest.match(data, end).end()
                spans.append(Span(start, end, ready.rule.kind))
                position = end


class _Ready:
    """One rule, compiled."""

    __slots__ = ("check", "near", "rule", "unless")

    def __init__(self, rule: Rule) -> None:
        self.rule = rule
        if compile_bytes(rule.pattern, rule.source, groups=True).groups != 1:
            raise RulesError(f"{rule.source}: a pattern with a `check` needs one group, the secret.")
        compile_bytes(rule.probe, rule.source)
        self.check = _CHECKS[rule.guards.check]
        near = rule.guards.near
        self.near = compile_bytes(near, rule.source) if near else None
        unless = rule.guards.unless
        self.unless = compile_bytes(unless, rule.source) if unless else None

    def is_refused(self, data: bytes, start: int, end: int) -> bool:
        """Whether what matched, with one byte on either side, says that it holds no secret."""
        if self.unless is None:
            return False
        return self.unless.search(data[max(0, start - 1) : end + 1]) is not None

    def is_near(self, data: bytes, start: int, end: int, places: dict[int, array[int]]) -> bool:
        """Whether the word that the rule asks for is near `data[start:end]`; `places` is kept per text."""
        if self.near is None:
            return True
        words = places.get(id(self))
        if words is None:
            # What a marker is called gives nothing away: it may be this rule's own.
            words = places[id(self)] = array(
                "q",
                (last for first, last in self.near.spans(data) if not data.endswith(_MARKER_BEGIN, 0, first)),
            )
        at = bisect_right(words, start)
        reach = self.rule.guards.reach
        if at and _is_within(data, words[at - 1], start, reach):
            return True
        return at < len(words) and _is_within(data, end, words[at], reach)


def _is_within(data: bytes, first: int, last: int, reach: int) -> bool:
    """Whether at most `reach` blanks, breaks and quotes stand in `data[first:last]`, a short stretch."""
    size = last - first
    return size <= reach or (size <= _FARTHEST and _blanks(data[first:last]) <= reach)


def _blanks(between: bytes) -> int:
    return len(between) - len(between.translate(None, _COUNTED))


_MARKER_BEGIN = b"[REDACTED:"
_BACKSLASH = ord("\\")
_REMEMBERED = 512
_FARTHEST = 4096
"""Bytes between a secret and its word in any case."""
_COUNTED = b" \n\t\"'"
