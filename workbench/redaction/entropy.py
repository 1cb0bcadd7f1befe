"""Does a token read like drawn lots or like something a person named (contract redaction, entropy test)?

All functions take one token as bytes and look at each byte a bounded number of times.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from functools import lru_cache
from math import log, log2, sqrt

SHORTEST = 16
LONGEST = 1024

_HEX = re.compile(rb"(?:0[xX])?[0-9a-fA-F]+(?:[-_:][0-9a-fA-F]+)*")
_LETTER_AND_DIGIT = re.compile(
    rb"[^A-Za-z]*+[A-Za-z](?:[A-Za-z_+/=.-]*+[0-9])|[^0-9]*+[0-9][^A-Za-z]*+[A-Za-z]"
)
_WORD = re.compile(
    rb"[A-Za-z0-9]{1,3}"  # an article, an acronym, a version
    rb"|[0-9]{1,14}"  # a number, a date, a time down to the second
    rb"|[A-Z]{2,20}[0-9]{0,4}"
    rb"|[A-Za-z]?[a-z]{1,24}[0-9]{0,4}"
    rb"|[0-9]{1,4}[a-z]{1,19}"
    # Camel case, acronyms and versions within.
    rb"|(?:[a-z]{1,19}[0-9]{0,4})?(?:[A-Z]{1,6}[a-z]{2,19}[0-9]{0,4}){1,9}[A-Z]{0,5}"
    rb"|[0-9a-f]{6,64}"  # a commit, a digest
)
_JOINT = re.compile(rb"[-_+]+")
_CLASSES = (
    (bytes(range(ord("a"), ord("z") + 1)), 26),
    (bytes(range(ord("A"), ord("Z") + 1)), 26),
    (b"0123456789", 10),
    (b"-_+/.~=%:", 3),
)
# Logarithms of the counts that come up most.
_WEIGHTED = tuple(count * log2(count) if count else 0.0 for count in range(2 * LONGEST))
# Where a token is this many times longer than its alphabet, symbols that never came are none of it.
_LONG = 128
_FEWEST_SYMBOLS = 16
_TOLERANCE = 3.0
_EXACT = 256


def is_hex(token: bytes) -> bool:
    """Whether `token` is a number in base 16, in groups or not: a digest, a commit, a UUID."""
    return _HEX.fullmatch(token) is not None


def is_slug(token: bytes) -> bool:
    """Whether `token` is words, numbers and digests joined by `-`, `_` and `+`: a name somebody gave."""
    word = _WORD.fullmatch
    return all(word(part) for part in _JOINT.split(token) if part)


def reads_random(token: bytes, longest: int = LONGEST) -> bool:
    """Whether `token`, trailing `=` apart, is as varied as a random one of its length and alphabet."""
    token = token.rstrip(b"=")
    if not SHORTEST <= len(token) <= longest:
        return False
    if _LETTER_AND_DIGIT.match(token) is None or is_hex(token) or is_slug(token):
        return False
    return _varied(token)


def remembering(longest: int = LONGEST) -> Callable[[bytes], bool]:
    """`reads_random` that knows its last answers.

    It is for one text, since a secret must not outlive its removal.
    """
    answers: dict[bytes, bool] = {}

    def judged(token: bytes) -> bool:
        answer = answers.get(token)
        if answer is None:
            if len(answers) >= _REMEMBERED:
                answers.clear()
            answer = answers[token] = reads_random(token, longest)
        return answer

    return judged


_REMEMBERED = 512


def _varied(token: bytes) -> bool:
    size = len(token)
    counts = Counter(token).values()
    symbols = sum([many for signs, many in _CLASSES if len(token.translate(None, signs)) < size])
    if size >= _LONG:
        symbols = min(symbols, max(_FEWEST_SYMBOLS, len(counts)))
    if size < len(_WEIGHTED):
        weights = sum([_WEIGHTED[count] for count in counts])
    else:
        weights = sum([count * log2(count) for count in counts])
    bits = log2(size) - weights / size
    return bits >= expected_bits(size, symbols) - _TOLERANCE / sqrt(size)


@lru_cache(maxsize=8192)
def expected_bits(size: int, symbols: int) -> float:
    """Shannon bits per symbol to be expected of `size` draws from `symbols` equally likely ones."""
    if size > _EXACT:
        return log2(symbols) - (symbols - 1) / (2 * size * log(2))
    chance = 1 / symbols
    # Chance that a symbol came `count` times, from none upwards.
    likely = (1 - chance) ** size
    total = 0.0
    for count in range(1, size + 1):
        likely *= (size - count + 1) / count * chance / (1 - chance)
        share = count / size
        total -= likely * share * log2(share)
    return symbols * total


_PAIRS = frozenset(
    group[0] + second
    for group in (
        "abcdgiklmnprstuvy baeilorsu cacehiklorstu dadeilorsu eacdefglmnpqrstvwx faefiloru gehinrs haeio "
        "iabcdefglmnoprstvxz keis ladeilostuy mabeimopsu nacdefgiknostuv obcdfgiklmnoprstuvw paeiloprstuy qu "
        "racdegiklmnorstuy sacehilopstuy tacehiloprstuy uabceilmnprst vaei waeior xept yp ze"
    ).split()
    for second in group[1:]
)
"""Pairs of letters of which nine tenths of the words in programs and their documentation are made."""

_PRONOUNCEABLE = 0.6


def is_pronounceable(token: bytes) -> bool:
    """Whether most pairs of neighbouring letters in `token` are those of words."""
    letters = token[:64].decode("latin-1").lower()
    pairs = [letters[at : at + 2] for at in range(len(letters) - 1) if letters[at : at + 2].isalpha()]
    return not pairs or sum(pair in _PAIRS for pair in pairs) >= _PRONOUNCEABLE * len(pairs)
