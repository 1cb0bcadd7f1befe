"""Whatever the text: twice is once, lines stay, JSON stays JSON, and the quick test misses nothing."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.thorough import examples
from workbench.redaction import default_filter, redact
from workbench.redaction.rules import CONTEXT_FILES, RULE_FILES, load_rules
from workbench.redaction.shapes import example as parts
from workbench.redaction.shapes import fill

NAMES = """
    password api_key API_KEY token authToken client_secret secret passwd pwd DB_PASS credentials private_key
    access_key PGPASSWORD passphrase key keys Vendor-key SECRET_ACCESS_KEY пароль ключ токен Passwort contraseña
    bearer Bearer basic Authorization Cookie Set-Cookie sessionid --password --token curl -u login machine
    AKIA twilio vault heroku_api sha512 [REDACTED:aws_access_key] max_tokens publicKey AccountKey sig X-Auth
    identified requirepass psk otpauth:// postgres:// https:// data:image/png;base64,
""".split()
JOINTS = [
    *(
        "=",
        ": ",
        " = ",
        ":",
        "=>",
        ' = "',
        '": "',
        "': '",
        '\\": \\"',
        " is ",
        " lautet ",
        " — ",
        ": >-\n  ",
        ": |\n  ",
    ),
    *(
        "(",
        '("',
        ", ",
        '", "',
        " ",
        "  ",
        "\t",
        "\n",
        "\r\n",
        "\\n",
        "\\\n",
        '" +\n  "',
        "?",
        "&",
        "#",
        "://",
        "@",
        ">",
    ),
    *(
        "<",
        "</",
        '"',
        "'",
        "`",
        "\\",
        "\\\\",
        "\\u003d",
        "%3D",
        "{",
        "}",
        "[",
        "]",
        ";",
        ",",
        ".",
        "/",
        "-",
        "_",
        "+",
        "|",
        "\ud800",
    ),
]
VALUES = [
    *(
        "{alnum:8}",
        "{alnum:14}",
        "{alnum:24}",
        "{alnum:40}",
        "{url:43}",
        "{base64:60}==",
        "{base64:792}",
        "{hex:32}",
    ),
    *(
        "{hex:40}",
        "{hex:64}",
        "{digit:12}",
        "{lower:12}",
        "{updigit:25}",
        "{base32:32}",
        "{lowdigit:32}",
        "{url:1200}",
    ),
    *(
        "Hunter22!",
        "self.password",
        "get_token(user)",
        "${{SECRET}}",
        "your-api-key",
        "correct-horse-battery",
        "null",
    ),
    *(
        "EXAMPLE",
        "xxxxxxxx",
        "[REDACTED:jwt]",
        "[REDACTED:assigned_secret]",
        "[REDACTED:high_entropy]",
        "dXNlcjpwYXNz",
    ),
    *("12345.6789", "2024-01-31", "/home/me/x1", "a", "é", "密", "\x00", "😀", "word ", "w " * 900),
]
# Key material has its own tests.
RULES = [rule for rule in load_rules((*RULE_FILES, *CONTEXT_FILES)) if rule.kind != "private_key"]
SHAPES = [shape for rule in RULES for shape in rule.positive if len(shape) < 200]
NEGATIVES = [text for rule in RULES for text in rule.negative]

values = st.builds(fill, st.sampled_from(VALUES), st.integers(0, 3))
pieces = st.one_of(
    st.sampled_from(NAMES),
    st.sampled_from(JOINTS),
    st.sampled_from(JOINTS),
    values,
    values,
    st.builds(lambda shape, seed: "".join(parts(shape, seed)), st.sampled_from(SHAPES), st.integers(0, 2)),
    st.sampled_from(NEGATIVES),
    st.text(max_size=5),
)
texts = st.lists(pieces, max_size=14).map("".join)
assigned = st.builds(
    lambda a, b, c, d: a + b + c + d,
    st.sampled_from(NAMES),
    st.sampled_from(JOINTS),
    values,
    st.sampled_from(JOINTS),
)
dense_texts = st.lists(assigned, max_size=7).map("".join)
json_values = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(),
        st.floats(allow_nan=False, allow_infinity=False),
        texts,
        values,
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(st.one_of(st.sampled_from(NAMES), texts), inner, max_size=4),
    ),
    max_leaves=10,
)


def _check(text: str) -> None:
    first = redact(text)
    assert redact(first.text) == (first.text, {})
    for sign in "\n\r":
        assert first.text.count(sign) == text.count(sign)
    if first.counts:
        for ascii_only in (True, False):
            encoded = json.dumps(text, ensure_ascii=ascii_only).encode("utf-8", "surrogatepass")
            assert default_filter().may_change(encoded)
    else:
        assert first.text == text
    for kind, count in first.counts.items():
        assert first.text.count(f"[REDACTED:{kind}]") >= count


@settings(max_examples=examples(800), deadline=None)
@given(texts)
def test_twice_is_once_and_lines_stay(text: str) -> None:
    _check(text)


@settings(max_examples=examples(800), deadline=None)
@given(dense_texts)
def test_twice_is_once_among_assignments(text: str) -> None:
    _check(text)


def _outline(value: Any) -> Any:
    if isinstance(value, dict):
        return [[_outline(item) for item in value.values()]]
    if isinstance(value, list):
        return [_outline(item) for item in value]
    return "text" if isinstance(value, str) else value


def _pairs(pairs: list[tuple[str, Any]]) -> Any:
    # Keys may become equal: what matters is that none is lost.
    return {f"{index} {key}": value for index, (key, value) in enumerate(pairs)}


@settings(max_examples=examples(600), deadline=None)
@given(json_values, st.booleans(), st.sampled_from([None, 2]))
@example({"token_value": 1234.5678, "password": -1.5e300}, False, None)
def test_json_stays_json(value: Any, ascii_only: bool, indent: int | None) -> None:
    text = json.dumps(value, ensure_ascii=ascii_only, indent=indent)
    result = redact(text).text
    before, after = json.loads(text, object_pairs_hook=_pairs), json.loads(result, object_pairs_hook=_pairs)
    assert _outline(after) == _outline(before)
