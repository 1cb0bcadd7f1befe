"""Passwords of several words: told from what is said about passwords."""

from __future__ import annotations

import re

_TALK = frozenset(
    b"""
    password passwords passwd passwort passwortes kennwort passphrase passcode pwd wachtwoord senha
    parola passord contrasena clave mot passe adgangskode losenord salasana sifre sandi kata haslo
    secret secrets token tokens key keys credential credentials login logon username user users
    account email mail enter type provide choose pick confirm repeat retype again change new old
    current forgot forgotten lost reset show hide invalid incorrect wrong bad missing required must
    should could cannot can may please need needs optional default empty none null true false value
    values field fields input string text name label hint placeholder description error warning
    success failed failure not no the this that these your you our its is are was were be been being
    has have had will would if when at on by from for with without and or of to in an as it do does
    did than then too very all any each least most minimum maximum min max characters chars letters
    digits length long short weak strong match matches matching use used using set sets setting
    settings stored store stores read reads see look get gets
    """.split()
)
"""Words of labels, messages and descriptions."""

_WORD = re.compile(rb"[A-Za-z]{3,12}[0-9]{0,4}[.!?,]?")
_NUMBER = re.compile(rb"[0-9]{1,6}[!?]?")
_KEYED_IN = re.compile(rb"(?=[^A-Z]*[A-Z]|.*[0-9][^0-9]*[a-z])(?=.*[0-9])(?=.*[A-Za-z])[\x21-\x7e]{6,}")
_MIXED = re.compile(rb"[A-Za-z]{1,12}[0-9]{1,6}[A-Za-z]|[0-9]{1,4}[A-Za-z]{1,12}[0-9]")
_COMMON_MIXED = re.compile(
    rb"(?i)(?:x?[0-9]+x[0-9]+|[a-z]+2[a-z]+|v?[0-9]+(?:\.[0-9a-z]+)*|i18n|l10n|k8s|utf-?8|base64|sha256|e2e)"
)
_UPPER_NAME = re.compile(rb"[A-Z0-9_]{2,}[ \t]*(?:=|:)[ \t]*[\"'`\\]+\Z")
_SCATTERED = re.compile(rb"[A-Za-z0-9][_.:-]*[*^#!%&~|;$`\[\]{}()<>]+[_.:-]*[A-Za-z0-9]")
_FEW_PIECES = 4
_FEWEST_WORDS = 4
_MOST_WORDS = 24


def is_passphrase(text: bytes, head: bytes) -> bool:
    """Whether `text`, which has blanks in it and stands in quotes behind `head`, is a password.

    That is either words alone, four and more of them (three under a name in capitals), or a few pieces of
    which one mixes letters and digits. Whatever talks about passwords is none.
    """
    pieces = text.split()
    if not 2 <= len(pieces) <= _MOST_WORDS or not text.isascii():
        return False
    talk = sum(piece.lower().strip(b".,:;!?'\"()") in _TALK for piece in pieces)
    odd = sum(
        (_MIXED.search(piece) is not None or _KEYED_IN.fullmatch(piece) is not None)
        and _COMMON_MIXED.fullmatch(piece.strip(b".,:;!?'\"()")) is None
        for piece in pieces
    )
    if odd:
        return talk <= 1 and odd * 3 >= len(pieces) - odd
    if talk:
        return False
    if len(pieces) <= _FEW_PIECES and any(map(_SCATTERED.search, pieces)):
        return True
    words = sum(_WORD.fullmatch(piece) is not None for piece in pieces)
    numbers = sum(_NUMBER.fullmatch(piece) is not None for piece in pieces)
    fewest = _FEWEST_WORDS - 1 if _UPPER_NAME.search(head) else _FEWEST_WORDS
    return words + numbers == len(pieces) and words >= fewest and pieces[-1][-1:] not in b".?,:"
