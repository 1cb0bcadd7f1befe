"""Words that say a secret is near, as expressions over UTF-8 bytes for RE2 (contract redaction, cues).

Letters outside ASCII stand as their bytes, so that nothing depends on an encoding.
"""

from __future__ import annotations

import re

from workbench.redaction.borders import bordered
from workbench.redaction.suffixes import SUFFIX


def utf8(expression: str) -> str:
    """`expression` with every character outside ASCII written as its UTF-8 bytes."""
    return "".join(sign if sign.isascii() else f"(?:{_written(sign)})" for sign in expression)


def utf8_or_escaped(expression: str) -> str:
    """The same, found too where JSON escapes the characters."""
    return "".join(
        sign if sign.isascii() else rf"(?:{_written(sign)}|\\+u(?i:{ord(sign):04x}))" for sign in expression
    )


def _written(sign: str) -> str:
    return "".join(f"\\x{byte:02x}" for byte in sign.encode())


_GAP = "[_. -]?"
_GLUED = (
    "pg|db|my|mysql|sql|user|root|admin|auth|access|refresh|api|app|bot|client|session|master|login|"
    "ftp|smtp|mail|redis|ssh|rdp|vpn|wifi|sudo|require|consumer|shared|account|store|keystore|bind"
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
    # Behind a border, which an underscore or a hyphen is.
    "pass",
    "-auth",
    "pw",
    "passwort",
    "kennwort",
    "mot[_ -]?de[_ -]?passe",
    "(?:db|bind|root|admin)pw",
    "keypass",
    "creds",
    "access[_ -]code",
    "contrase(?:ñ|n)a",
    "senha",
    "wachtwoord",
    "l(?:ö|o)senord",
    "salasana",
    "has(?:ł|l)o",
    "totp[-_]seed",
)
_UPPER_GLUED = (
    "(?:[A-Z0-9]{1,20}(?:PASSWORD|PASSWD|TOKEN|SECRET|APIKEY)|(?:GH|GL|GITHUB|GITLAB|ADO|DEVOPS)_PAT|"
    "TF_TOKEN_[a-z0-9_]{3,40})"
)
_CAMEL = (
    "[a-z0-9](?:Token|Secret|Password|Passwd|Pwd|Passphrase|Passcode|ApiKey|APIKey|AccessKey|PrivateKey|"
    "SecretKey|AccountKey|MasterKey|EncryptionKey|SigningKey|Credentials?)"
)
_OTHER_SCRIPTS = "(?:п|П)арол(?:ь|ем|я)|(?:т|Т)окен|(?:с|С)екрет|密码|密碼|パスワード|비밀번호"

SECRET_NAME = (
    "(?:{})".format(
        "|".join(
            (
                bordered(
                    "alnum",
                    utf8_or_escaped(
                        "(?i:{})".format(
                            "|".join((*_NAMES, f"(?:{_GLUED})(?:password|passwd|pass|pwd|token|secret)"))
                        )
                    ),
                ),
                _UPPER_GLUED,
                _CAMEL,
                utf8_or_escaped(_OTHER_SCRIPTS),
            )
        )
    )
    + SUFFIX
)
"""The end of a name under which a secret stands, behind its border."""

NAME_OF_SEVERAL = f"{SECRET_NAME}(?:[sS]{SUFFIX})?"
"""The same, or its plural."""

PROSE_NAME = "(?:{})".format(
    "|".join(
        (
            bordered(
                "alnum",
                utf8_or_escaped(
                    f"(?i:pass{_GAP}(?:word|phrase|code)|passwd|pwd|token|secret|api{_GAP}key|access{_GAP}key|"
                    f"private{_GAP}key|credentials?|passwort|kennwort|schl(?:ü|Ü|ue)ssel|mot de passe|"
                    f"jeton|contrase(?:ñ|Ñ|n)a|clave|kodwort|zugangscode)"
                ),
            ),
            utf8_or_escaped(_OTHER_SCRIPTS),
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

# What may follow a name that is a word of its own in prose and in programs.
_JOINED = r"""[ \t]*(?:\\+t[ \t]*)*(?:\\*["'`]|[:=!~(,>|*]|\\+u|\xef|-+>|\xe2\x86\x92)"""

PROBE = (
    r"(?i:token|secret|passw|passphrase|passcode|pass[_. -]|[_-]pass|mot[_ -]?de[_ -]?passe|"
    r"[BHLOS]_pat|pwd|[_-]pw|key|credential|"
    rf"kennwort|contrase|clave|jeton|kodwort|zugangscode|ssel|[_-]auth|totp|(?:pass|pw|creds){SUFFIX}{_JOINED}|"
    r"access[_ -]code|senha|wachtwoord|senord|salasana|"
    r"has(?:\xc5\x82|l|\\+u0142)o|\\u(?:04[0-9a-f]{2}|5bc6|30d1|be44))"
    r"|\xd0|\xe5\xaf\x86|\xe3\x83\x91|\xeb\xb9\x84"
)
"""Found in a text, JSON-escaped or not, wherever one of the names or cues above is."""

_WHOLE_NAME = re.compile(
    rb"(?i)(?:.*[^a-z0-9])?(?:api[_. -]?key|access[_. -]?key|secret(?:[_. -]?access)?(?:[_. -]?key)?|token|"
    rb"(?:pg|db|my|mysql|sql|user|root|admin|auth|access|refresh|api|app|bot|client)?"
    rb"(?:password|token|secret|passwd|pwd)|(?:db|bind|root|admin)pw|(?:key|store)pass|creds|"
    rb"pass[_. -]?(?:word|wd|phrase|code)|pass|pw|private[_. -]?key|"
    rb"credentials?|passwort|kennwort|mot[_ -]?de[_ -]?passe|access[_ -]code|"
    rb"(?:gh|gl|github|gitlab|ado|devops)_pat|tf_token_[a-z0-9_]{3,40}|"
    rb"wachtwoord|senha|contrase(?:\xc3\xb1|n)a|"
    rb"\xd0[\xbf\x9f]\xd0\xb0\xd1\x80\xd0\xbe\xd0\xbb\xd1\x8c|\xe5\xaf\x86\xe7\xa0\x81|"
    rb"\xe3\x83\x91\xe3\x82\xb9\xe3\x83\xaf\xe3\x83\xbc\xe3\x83\x89)" + SUFFIX.encode()
)
_WHOLE_CAMEL = re.compile(
    rb".*[a-z0-9](?:Token|Secret|Password|Passwd|ApiKey|AccessKey|PrivateKey|Credentials?|SecretKey)"
    + SUFFIX.encode()
)
_SEVERAL_CHOSEN = re.compile(
    rb"(?i)(?:.*[^a-z])?(?:[a-z]{2,12})?(?:passwords|passwds|pwds|passphrases|passcodes|passw(?:oe|\xc3\xb6)rter)"
    + SUFFIX.encode()
)
_SEVERAL_DRAWN = re.compile(
    rb"(?:(?i:.*[^a-z])?(?i:api[_. -]?keys|access[_. -]?keys|secret[_. -]?keys|private[_. -]?keys)|"
    # Behind a hyphen they end the name of a package.
    rb"(?i:.*[^a-z-])?(?i:(?:[a-z]{1,10})?tokens|(?:client|app|auth)?secrets)|.*[a-z0-9](?:Token|Secret|ApiKey|AccessKey"
    rb"|SecretKey|PrivateKey)s)" + SUFFIX.encode()
)


_PLACE_IN_LIST = re.compile(
    rb"(?i)(?:page|paging|pagination|continuation|next|sync|cursor|scroll|skip)[_. -]?token\Z"
)
_LONGEST_PLACE = 24


def names_place(data: bytes, end: int) -> bool:
    """Whether the name that ends at `end` is of a place in a list that is read by pages, not of a secret."""
    return _PLACE_IN_LIST.search(data[max(0, end - _LONGEST_PLACE) : end]) is not None


def is_secret_name(name: str) -> bool:
    """Whether a mapping's key says that its whole value is a secret (contract redaction, `redact_value`)."""
    data = name[-200:].encode("utf-8", "surrogatepass")
    if names_place(data, len(data)):
        return False
    return _WHOLE_NAME.fullmatch(data) is not None or _WHOLE_CAMEL.fullmatch(data) is not None


def names_several(name: str) -> str:
    """Of what a mapping's key speaks in the plural: "password", "token" for keys and tokens, or nothing.

    What stands in such a list or mapping is judged as if that were its own name.
    """
    data = name[-200:].encode("utf-8", "surrogatepass")
    if _SEVERAL_CHOSEN.fullmatch(data):
        return "password"
    return "token" if _SEVERAL_DRAWN.fullmatch(data) else ""
