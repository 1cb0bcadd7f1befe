"""Whether a run of base64 characters reads random, as a part of a key does, or is a name, a path or a digest.

The measure of contract redaction, private_key: two classes of characters or more, no hexadecimal, words cover
less than three quarters, no path, no picture, and none of the beginnings of public keys and certificates.
"""

from __future__ import annotations

import re

SAMPLE = 1024
"""Bytes of a run that are looked at; a longer run is judged by its beginning."""

SHORTEST = 16
WORDS = 0.75
TEXT_PART = 0.6

_ESCAPES = re.compile(
    rb"\\+(?:u00|x)(2[bBfF]|3[dD]|5[fF])|%(?:25)*(2[BbFf]|3[Dd]|5[Ff])|&#x(2[bBfF]|3[dD]);|&#(43|47|61);|\\+(/)"
)
_DECIMAL = {b"43": b"+", b"47": b"/", b"61": b"="}
# What stands behind the point of a number that JSON writes: without it a text would be JSON no more.
_NUMBER = re.compile(rb"[0-9]+[eE][+-]?[0-9]+")
_HEX = re.compile(rb"(?:0[xX])?[0-9A-Fa-f_-]+")
_WORD = re.compile(
    rb"[A-Z]?[a-z]{3,}[0-9]{0,3}|[A-Z]{2,5}(?=[A-Z][a-z]{2})"
    rb"|(?<![A-Za-z0-9+])(?:[A-Za-z]?[a-z]{1,2}|[A-Z]+|[0-9]{1,8}|v[0-9]{1,4})(?![A-Za-z0-9+])"
)
# Subject public keys, certificates and requests, PKCS#1 public keys, OpenSSH's public form.
_PUBLIC = re.compile(
    rb"MII[A-Za-z0-9+/_-]{2}(?:[DTjz](?:CC|AN)|[AQgw]KC)|MI[GH][A-Za-z0-9+/_-]MA0GCSqGSIb3DQEBAQ"
    rb"|MF[YIk]wEwYHK|MHYwEAYHK|MIGbMBAGBy|M[CE][o-r]wBQYDK2V|AAAA[A-Za-z0-9+/]{1,3}(?:NzaC1|zc2gt|VjZHNh|c3NoL|c2st)"
)
_DIGEST_NAME = re.compile(rb"(?:SHA|MD|sha|md)[0-9]{1,3}[:=-]?\Z")
_DIGEST = re.compile(rb"sha[0-9]{1,3}-")


def plain(run: bytes) -> bytes:
    """`run` without the escapes that JSON, addresses and pages put into base64, and without its padding."""
    if b"\\" in run or b"%" in run or b"&" in run:
        run = _ESCAPES.sub(_character, run)
    return run.rstrip(b"=")


def _character(found: re.Match[bytes]) -> bytes:
    digits = found[1] or found[2] or found[3]
    if digits:
        return bytes.fromhex(digits.decode("ascii"))
    return _DECIMAL.get(found[4], b"/")


def reads_random(data: bytes, start: int, end: int) -> bool:
    """Whether the run `data[start:end]` reads as a part of a key where a key is near.

    Looks at no more than `SAMPLE` bytes of it and 80 before it.
    """
    run = plain(data[start : min(end, start + SAMPLE)])
    if len(run) < SHORTEST or is_public(run) or not mixed(run):
        return False
    before = data[max(0, start - 80) : start]
    if _DIGEST.match(run) or _DIGEST_NAME.search(before):
        return False
    return not (before.endswith(b";base64,") and b"data:" in before)


def mixed(run: bytes) -> bool:
    """Whether `run`, without escapes and padding, is neither digits of one base nor words nor a path."""
    if run.isdigit() or _HEX.fullmatch(run) or _NUMBER.fullmatch(run):
        return False
    classes = run.translate(_CLASSES)
    if (b"a" in classes) + (b"A" in classes) + (b"0" in classes) < 2:
        return False
    return _word_share(run) < WORDS and not _is_path(run)


def is_line_of_key(run: bytes) -> bool:
    """Whether `run`, without escapes and padding, may be a whole line of a key that began before it."""
    classes = run.translate(_CLASSES)
    return b"a" in classes and b"A" in classes and b"0" in classes and not is_public(run)


def is_word(run: bytes) -> bool:
    """Whether `run` is one word or number, as the line after a key may be."""
    return _ONE_WORD.fullmatch(run) is not None


def is_public(run: bytes) -> bool:
    """Whether `run` begins as a certificate or a public key does."""
    return _PUBLIC.match(run) is not None


def _word_share(run: bytes) -> float:
    if not _ANY_WORD.search(run):
        return 0.0
    letters = len(run) - run.count(b"-") - run.count(b"_") - run.count(b"/")
    # Zero bytes, of which keys hold many, are no word.
    covered = sum(len(word) for word in _WORD.findall(_ZEROS.sub(b"+", run)))
    return covered / letters if letters else 1.0


def _is_path(run: bytes) -> bool:
    if run.count(b"/") < 2:
        return False
    parts = [part for part in run.split(b"/") if part]
    text = sum(len(part) for part in parts if _word_share(part) >= TEXT_PART)
    return text >= TEXT_PART * sum(len(part) for part in parts)


_ZEROS = re.compile(rb"A{3,}")
_CLASSES = bytes.maketrans(
    b"bcdefghijklmnopqrstuvwxyzBCDEFGHIJKLMNOPQRSTUVWXYZ123456789", b"a" * 25 + b"A" * 25 + b"0" * 9
)
"""Every lower letter to `a`, every upper one to `A`, every digit to `0`."""
_ANY_WORD = re.compile(rb"[a-z]{3}|[-_/]|^[A-Z0-9]+$")
_ONE_WORD = re.compile(
    rb"[A-Z]?[a-z]+|[A-Z]+|[0-9]+|(?:[A-Z][a-z]+){2,}|[A-Z0-9]*(?:_[A-Z0-9]+)+|[a-z0-9]*(?:[_-][a-z0-9]+)+"
)
