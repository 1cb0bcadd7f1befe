"""Words that say a secret is near, as expressions over UTF-8 bytes for RE2 (contract redaction, cues).

Letters outside ASCII stand as their bytes, so that nothing depends on an encoding.
"""

from __future__ import annotations

import re

from workbench.redaction.borders import bordered


def utf8(expression: str) -> str:
    """`expression` with every character outside ASCII written as its UTF-8 bytes."""
    return "".join(
        sign if sign.isascii() else "(?:" + "".join(f"\\x{byte:02x}" for byte in sign.encode()) + ")"
        for sign in expression
    )


_GAP = "[_. -]?"
_GLUED = (
    "pg|db|my|mysql|sql|user|root|admin|auth|access|refresh|api|app|bot|client|session|master|login|"
    "ftp|smtp|mail|redis|ssh|rdp|vpn|wifi|sudo|require|consumer|shared|account"
)
_NAMES = (
    f"api{_GAP}key",
    f"access{_GAP}key",
    f"secret(?:{_GAP}access)?(?:{_GAP}key)?(?:_?base)?",
    "token",
    f"pass{_GAP}(?:word|wd|phrase|code)",
    "pwd",
    f"private{_GAP}key",
    "credentials?",
    f"(?:account|auth|encryption|signing|signature|master|shared|storage|client|service|admin|deploy|session|"
    f"webhook|license|licence|subscription|shared{_GAP}access){_GAP}key",
    "[_-]pass",
    "[_-]auth",
    "[_-]pw",
    "passwort",
    "kennwort",
    "mot de passe",
    "contrase(?:ñ|n)a",
    "totp[-_]seed",
)
_UPPER_GLUED = "[A-Z0-9]{1,20}(?:PASSWORD|PASSWD|TOKEN|SECRET|APIKEY)"
_CAMEL = (
    "[a-z0-9](?:Token|Secret|Password|Passwd|Pwd|Passphrase|Passcode|ApiKey|APIKey|AccessKey|PrivateKey|"
    "SecretKey|AccountKey|MasterKey|EncryptionKey|SigningKey|Credentials?)"
)
_CYRILLIC_NAMES = "(?:п|П)арол(?:ь|ем|я)|(?:т|Т)окен|(?:с|С)екрет"

SECRET_NAME = "(?:{})".format(
    "|".join(
        (
            bordered(
                "alnum",
                utf8(
                    "(?i:{})".format(
                        "|".join((*_NAMES, f"(?:{_GLUED})(?:password|passwd|pass|pwd|token|secret)"))
                    )
                ),
            ),
            _UPPER_GLUED,
            _CAMEL,
            utf8(_CYRILLIC_NAMES),
        )
    )
)
"""The end of a name under which a secret stands, behind its border."""

PROSE_NAME = "(?:{})".format(
    "|".join(
        (
            bordered(
                "alnum",
                utf8(
                    f"(?i:pass{_GAP}(?:word|phrase|code)|passwd|pwd|token|secret|api{_GAP}key|access{_GAP}key|"
                    f"private{_GAP}key|credentials?|passwort|kennwort|schl(?:ü|Ü|ue)ssel|mot de passe|"
                    f"jeton|contrase(?:ñ|Ñ|n)a|clave|kodwort|zugangscode)"
                ),
            ),
            utf8(_CYRILLIC_NAMES),
        )
    )
)
"""The same in a sentence."""

_CUE_WORDS = (
    f"(?i:api{_GAP}key|access{_GAP}key|secret{_GAP}key|private{_GAP}key|token|secret|password|passwd|pwd|"
    f"passphrase|credential|bearer|passwort|kennwort|mot de passe|contrase(?:ñ|n)a)"
)
_CUE_PLURALS = (
    r"\b(?i:api[_ -]?keys|access[_ -]?keys|secret[_ -]?keys|private[_ -]?keys|tokens|secrets|passwords|"
    r"credentials)\b"
)
_ENDINGS = "(?:а|у|ом|е|ы|ов|ам|ами|ах)?"
_NO_LETTER = r"[\x00-\x7f]|\xc2[\x80-\xbf]|\xe2\x80[\x80-\xbf]"
# Nouns with their endings; a letter of the same script right before or behind makes another word.
_CYRILLIC_CUE = (
    f"(?:^|{_NO_LETTER})"
    + utf8(
        f"(?:(?:к|К)люч(?:а|у|ом|е|и|ей|ам|ами|ах)?|(?:т|Т)окен{_ENDINGS}|(?:с|С)екрет{_ENDINGS}"
        "|(?:п|П)арол(?:ь|я|ю|ем|е|и|ей|ям|ями|ях))"
    )
    + f"(?:{_NO_LETTER}|$)"
)

CUE = (
    r"(?:^|[\x00-\x7f]|\xc2[\x80-\xbf]|\xe2\x80[\x80-\xbf])"
    + utf8(
        "(?:(?:к|К)люч(?:а|у|ом|е|и|ей|ам|ами|ах)?"
        "|(?:т|Т)окен(?:а|у|ом|е|ы|ов|ам|ами|ах)?"
        "|(?:п|П)арол(?:ь|я|ю|ем|е|и|ей|ям|ями|ях)"
        "|(?:с|С)екрет(?:а|у|ом|е|ы|ов|ам|ами|ах)?)"
    )
    + r"(?:[\x00-\x7f]|\xc2[\x80-\xbf]|\xe2\x80[\x80-\xbf]|$)"
)

CUE = "(?:{})".format(
    "|".join(
        (
            bordered("alnum", utf8(_CUE_WORDS) + r"\b"),
            _CUE_PLURALS,
            r"[a-z](?:Token|Secret|Password)\b",
            _CYRILLIC_CUE,
        )
    )
)
"""A word that makes a random token on its line suspicious."""

PROBE = (
    r"(?i:token|secret|passw|passphrase|passcode|pass[_. -]|[_-]pass|mot de passe|pwd|[_-]pw|key|credential|"
    r"kennwort|contrase|clave|jeton|kodwort|zugangscode|ssel|[_-]auth|totp)|\xd0|\\u04[0-9a-f]{2}"
)
"""Found in a text, JSON-escaped or not, wherever one of the names or cues above is."""

_WHOLE_NAME = re.compile(
    rb"(?i)(?:.*[^a-z0-9])?(?:api[_. -]?key|access[_. -]?key|secret(?:[_. -]?access)?(?:[_. -]?key)?|token|"
    rb"(?:pg|db|my|mysql|sql|user|root|admin|auth|access|refresh|api|app|bot|client)?"
    rb"(?:password|token|secret|passwd|pwd)|pass[_. -]?(?:word|wd|phrase|code)|private[_. -]?key|"
    rb"credentials?)"
)
_WHOLE_CAMEL = re.compile(
    rb".*[a-z0-9](?:Token|Secret|Password|Passwd|ApiKey|AccessKey|PrivateKey|Credentials?|SecretKey)"
)


def is_secret_name(name: str) -> bool:
    """Whether a mapping's key says that its whole value is a secret (contract redaction, `redact_value`)."""
    data = name[-200:].encode("utf-8", "surrogatepass")
    return _WHOLE_NAME.fullmatch(data) is not None or _WHOLE_CAMEL.fullmatch(data) is not None
