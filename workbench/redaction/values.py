"""Is what stands under a secret's name a secret, or code, a reference, a placeholder, a word?

(Contract redaction, assigned_secret.) A value is judged by its first `JUDGED` bytes.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from workbench.redaction.entropy import is_hex, is_pronounceable, is_slug, reads_random

SHORTEST = 8
"""Characters of the shortest secret."""
JUDGED = 512

MARKER = re.compile(rb"\[REDACTED:[a-z0-9_]{1,40}\]")
"""What the filter itself wrote."""


class Place(NamedTuple):
    """Where a value was found: its name with what stands before the value, and how it is written."""

    head: bytes
    quoted: bool
    strict: bool
    after: bytes


_PLACEHOLDER = re.compile(
    rb"(?i)[$%<](?![0-9a-f]{2})|\$|~/|\[redacted|[x*.\xe2-]{4}|\.\.\.|\*\*\*|your|my[-_]|insert|enter|"
    rb"(?:none|null|nil|true|false|undefined|required|optional|string)(?![A-Za-z0-9])|process\.env|env[.:]|"
    rb"secrets?[.:]|vault[:.]|!|&[a-z]+;|@@|\^|ENC\[(?:AES256_GCM|PKCS7)\b"
)
_STAND_INS = (
    *(
        b"example",
        b"placeholder",
        b"changeme",
        b"change-me",
        b"change_me",
        b"changethis",
        b"change-this",
        b"your-",
    ),
    *(
        b"your_",
        b"replaceme",
        b"replace-me",
        b"replace_me",
        b"redacted",
        b"dummy",
        b"to-be-",
        b"xxxxxx",
        b"****",
    ),
    *(b"...", b"-here", b"_here", b"not-a-", b"not_a_", b"omitted", b"masked"),
)
"""Words of examples in documentation: a value that holds one is none."""
_STAND_IN = re.compile(b"|".join(map(re.escape, _STAND_INS)))

_TEMPLATE = re.compile(
    rb"[$#%@]\{|\{\{|\{%|<%|%\(|%env\(|%[sdr]\b|%[sdr]$|\{[A-Za-z_]?[A-Za-z0-9_.!:]*\}|\$\(|%[A-Z_]{3,}%|"
    rb"a-zA-Z|A-Za-z|a-z0-9|A-Z0-9|0-9a-|&&|\|\|"
)
_VARIABLE = re.compile(rb"\$([A-Za-z_][A-Za-z0-9_]*)")
_UPPER_NAME = re.compile(rb"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+_?")
_NUMBER = re.compile(
    rb"[-+]?[0-9]+(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?"
    rb"|[~^=v<>]*[0-9]+(?:\.[0-9x*]+)+(?:[-+.]?[a-z]+[.-]?[0-9]*)?"
    rb"|[0-9]{2,4}[-/.][0-9]{1,2}[-/.][0-9]{1,4}(?:T[0-9:.]+(?:Z|[-+][0-9:]+)?)?"
    rb"|[0-9]{1,2}:[0-9]{2}(?::[0-9.]+)?[a-z]*"
    rb"|0[xX][0-9a-fA-F]{1,8}"
)
_ADDRESS = re.compile(rb"[A-Za-z][A-Za-z0-9+.-]{1,20}:(?:\\?/){2}|[a-z]+:(?:[a-z]+:)+|//|mailto:|data:")
_PARTS = re.compile(rb"->|::|\?\.|[-_.:/@|+~=]+")
_IDENTIFIER = re.compile(rb"[A-Za-z_@][A-Za-z0-9_]*")
_DOTTED = re.compile(rb"[A-Za-z_@*&][A-Za-z0-9_]*(?:(?:\.|->|::|\?\.|!\.)[A-Za-z_][A-Za-z0-9_]*)+[?!]?")
_BRACKETS = re.compile(rb"[()\[\]{}]")
_OPEN = re.compile(rb"[(\[{]")
_NUMBERED = re.compile(rb"(?:[A-Za-z]{1,24}[0-9]{1,5}){0,2}[A-Za-z]{0,24}")
_LONGEST_WORD = 32
_SHORT_VARIABLE = 4
_CAPITALS = re.compile(rb"\A[a-z]+|[A-Z]+[a-z]*")
# Letters per word in camel case from which on it is taken for words whatever they are.
_HUMP = 5
_HUMAN = re.compile(
    rb"(?i)pass|pwd|pw\b|secret|credential|kennwort|contrase|clave|wachtwoord|senha|senord|salasana|has(?:\xc5\x82|l)o"
    rb"|\xd0|\xe5\xaf\x86|\xe3\x83\x91|\xeb\xb9\x84|\\u(?:04|5bc6|30d1|be44)"
)
_ENVIRONMENT = re.compile(rb"[A-Z0-9_]+=[\"']?$")
_CLASSES = (
    re.compile(rb"[a-z\x80-\xff]"),
    re.compile(rb"[A-Z]"),
    re.compile(rb"[0-9]"),
    re.compile(rb"[^A-Za-z0-9\x80-\xff]"),
)
_COMMON = re.compile(
    rb"(?i)(?:your|my|some|the|an?|this|test(?:ing)?|sample|fake|foo|bar|baz|qux|secret|token|password|passwd|"
    rb"passphrase|pass|pwd|key|api|access|auth|refresh|client|private|public|here|value|super|very|user|admin|root|"
    rb"new|old|mock|invalid|valid|wrong|bad|good|bearer|id|default|demo|dev|prod|local|temp|s3cr3t|p4ssw0rd|abc|"
    rb"long|short|not|no|is|of|for|in|to|and|or|string|text|name|data|hash|hashed|field|type|"
    rb"session|csrf|xsrf|jwt|oauth2?|csrftoken|123(?:4(?:5(?:67?8?9?0?)?)?)?|[0-9]{1,2}|[-_. ])+"
)


_PUBLIC = re.compile(
    rb"MII[BCE][CI][gj]|MIIDI|MFkw|MFYw|MCow|MC[ow]wB|MHYw|MIGb|MIGf|MEUC|MEQC|AAAA[BCEGHI][0-9A-Za-z]|mQ[EIGM]|mDME|mI0E|"
    rb"LS0tLS1CRUdJTiB(?:DRV|QVU|SU0|UFV)|MII[CDEFGH][A-Za-z0-9+/]{2}CC[AB]"
    # What a cluster's public key sealed: the length 512, then that many bytes and more.
    rb"|Ag[A-D][A-Za-z0-9+/]{400}"
)


def is_public(value: bytes) -> bool:
    """Whether base64 `value` begins as public keys, certificates, signatures and sealed secrets do."""
    return _PUBLIC.match(value) is not None


def is_stand_in(value: bytes) -> bool:
    """Whether `value` is what documentation puts in a secret's place."""
    return holds_stand_in(value) or is_uniform(value)


def holds_stand_in(value: bytes) -> bool:
    """Whether a word of documentation's examples is in `value`."""
    return _STAND_IN.search(value.lower()) is not None


def is_reference(value: bytes) -> bool:
    """Whether `value` begins as a placeholder, a reference or what is encrypted already does."""
    if value[:1] in _SIGNS_OF_REFERENCES and value[1:2] not in (b"{", b"("):
        # A variable, a tag, a version; or a password that begins with such a sign.
        return not is_mixed(value[1:])
    return _PLACEHOLDER.match(value) is not None


def is_mixed(text: bytes) -> bool:
    """Whether `text` is drawn from several classes of characters and is no list of words."""
    letters = text.translate(None, _NO_ALNUM)
    if 5 * len(letters) < 2 * len(text) or letters.isdigit():
        return False
    digits = letters.translate(None, b"0123456789") != letters
    if (letters.upper() != letters) + (letters.lower() != letters) + digits < 2:
        return False
    parts = [part for part in _SIGNS_BETWEEN.split(text) if part]
    scattered = len(text.translate(None, _PUNCTUATED)) >= _SCATTERED
    return (scattered or not is_slug(letters)) and not all(
        is_slug(part) and len(part) > _SHORTEST_WORD for part in parts
    )


def is_common(value: bytes) -> bool:
    """Whether `value` is made of words that stand for a secret in examples and tests."""
    return _COMMON.fullmatch(value) is not None


def is_human_name(head: bytes) -> bool:
    """Whether people choose what stands behind `head`: a password, not a key that was drawn."""
    return _HUMAN.search(head) is not None


def is_secret(value: bytes, place: Place) -> bool:
    """Whether `value` (without quotes) at `place` is to be removed."""
    text = MARKER.sub(b"", value[:JUDGED])
    if len(text) < SHORTEST or (not text.isascii() and _characters(text) < SHORTEST):
        return False
    if value.startswith(b"[") or is_reference(text) or holds_stand_in(text) or is_public(text):
        return False
    classes = sum(1 for one in _CLASSES if one.search(text))
    if classes < 2 or is_uniform(text):
        return False
    if _UPPER_NAME.fullmatch(text) or _NUMBER.fullmatch(text) or is_template(text) or _ADDRESS.match(text):
        return False
    if not place.quoted and _is_code(text, place):
        return False
    return not _is_wording(text, place, classes)


def is_drawn(value: bytes) -> bool:
    """Whether `value` is a key or token that was drawn: what may stand in a list of such, words do not."""
    if len(value) < _FEWEST_DRAWN or _DIGEST.match(value):
        return False
    random = reads_random(value, JUDGED) or (len(value) >= _FEWEST_HEX and is_hex(value))
    return random and is_secret(value, Place(b"token", True, False, b'"'))


def is_template(text: bytes) -> bool:
    """Whether `text` has places that a program fills in: `${NAME}`, `{name}`, `%(name)s`, `$name`."""
    if _TEMPLATE.search(text):
        return True
    names = _VARIABLE.findall(text)
    # A dollar sign within a password is followed by what nobody would call a variable.
    if not names or not all(map(_is_variable, names)):
        return False
    rest = _VARIABLE.sub(b"", text)
    return len(rest) < SHORTEST or not is_mixed(rest)


def _is_variable(name: bytes) -> bool:
    if len(name) < _SHORT_VARIABLE:
        return name.isalpha() and (name.islower() or name.isupper())
    return is_slug(name) and is_pronounceable(name)


def _is_code(text: bytes, place: Place) -> bool:
    """Whether an unquoted `text` is a call, an element or an attribute of something."""
    opened = _OPEN.search(text)
    before = text if opened is None else text[: opened.start()]
    if place.strict and _BRACKETS.search(text):
        return True
    if opened is not None or place.after in (b"(", b"[", b"{"):
        return not before or _words(before) or before.endswith((b".", b"=")) or _is_name(before)
    if _DOTTED.fullmatch(text):
        return _words(text) or _is_name(text)
    return bool(_IDENTIFIER.fullmatch(text)) and b"_" in text and _words(text)


def _is_wording(text: bytes, place: Place, classes: int) -> bool:
    """Whether `text` is made of words: a phrase, a file's name, a label."""
    letters = text.rstrip(b".!?:").lstrip(b"#@.+-:")
    if not text.isascii():
        # Words of other scripts: a secret has digits or signs among them.
        return classes < 3 and _CLASSES[2].search(text) is None
    human = is_human_name(place.head)
    digits = len(letters) - len(letters.translate(None, b"0123456789"))
    if (
        not digits
        and not is_pronounceable(letters)
        and len(letters) < _HUMP * len(_CAPITALS.findall(letters))
    ):
        return False
    if not _words(letters):
        if b"/" in text and is_path(text):
            return True
        # One odd word in a sentence, a tag or an option is none.
        return place.strict and not digits and (classes < 3 or b"(" in text)
    if _COMMON.fullmatch(letters) and not (human and digits):
        return True
    if not digits:
        # A phrase of several words is a password where one is asked for.
        return place.strict or not human or letters.count(b"-") < 3
    if is_hex(letters):
        return False
    if not human and not _ENVIRONMENT.search(place.head):
        return digits < 2 or not letters.isalnum() or place.strict
    return not letters.isalnum() and (b"/" in letters or place.strict or b"_" in letters)


def _is_name(text: bytes) -> bool:
    """Whether `text` is what programs call something: identifiers with few numbers in them."""
    parts = [part for part in _PARTS.split(text) if part]
    return (
        (_IDENTIFIER.fullmatch(text) is not None or _DOTTED.fullmatch(text) is not None)
        and all(_NUMBERED.fullmatch(part) and len(part) <= _LONGEST_WORD for part in parts)
        and is_pronounceable(text)
    )


def _words(text: bytes) -> bool:
    return all(is_slug(part) for part in _PARTS.split(text) if part)


def is_path(text: bytes) -> bool:
    """Whether `text` is mostly words between slashes."""
    parts = [part for part in text.split(b"/") if part]
    return len(parts) >= 2 and sum(len(part) for part in parts if _words(part)) >= 0.6 * len(text)


def is_uniform(text: bytes) -> bool:
    """Whether three quarters of `text` are one sign: dots, stars, crosses."""
    head = text[:64]
    signs = set(head)
    # Of three quarters that are one sign, no more than a quarter are left for others.
    return len(signs) * 4 <= len(head) + 4 and max(map(head.count, signs), default=0) * 4 >= len(head) * 3


_FEWEST_DRAWN = 16
_FEWEST_HEX = 32
_DIGEST = re.compile(rb"(?i)(?:sha-?(?:1|224|256|384|512)|md5|blake2[bs]?)[:=-]")
_SIGNS_OF_REFERENCES = (b"!", b"^", b"%", b"$")
_SIGNS_BETWEEN = re.compile(rb"[^A-Za-z0-9]+")
_SHORTEST_WORD = 3
_SCATTERED = 3
"""Signs that are in no name, path or version from which on letters between them make no words."""
_PUNCTUATED = bytes(byte for byte in range(128) if chr(byte).isalnum()) + b"._/:, -"
_NO_ALNUM = bytes(byte for byte in range(256) if not chr(byte).isalnum() or byte > 127)


def _characters(text: bytes) -> int:
    return len(text.translate(None, _CONTINUATION))


_CONTINUATION = bytes(range(0x80, 0xC0))
