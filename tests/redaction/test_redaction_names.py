"""Names of secrets with a place, a number or a plural behind them, and lists and mappings under them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.redaction.pace import growth
from workbench.redaction import default_filter, redact
from workbench.redaction.shapes import fill

WORD = "Aa1{alnum:9}"
TOKEN = "{alnum:31}7"

NAMES = [
    *("API_KEY_PROD=", "SECRET_KEY_PROD=", "DB_PASSWORD_PROD=", "PASSWORD_ROOT=", "API_TOKEN_STAGING: "),
    *("API_KEY_OLD=", "API_KEY_1=", "DB_PASSWORD2=", "DB_PASSWORD_PROD_2=", "db_password_2: ", "password1: "),
    *("apiKeyProd: ", "passwordOld = ", "pass2=", "DB_PASS_PROD=", "client-secret-dev: ", "tokenLive := "),
    *("--password2 ", "?token_1=", "spring.password.primary="),
]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("shape", [WORD, TOKEN])
@pytest.mark.parametrize("quote", ["", '"', "'"])
def test_a_place_or_a_number_behind_a_name_hides_no_secret(name: str, shape: str, quote: str) -> None:
    for seed in range(4):
        secret = fill(shape, seed)
        text = f"x {name}{quote}{secret}{quote}\nnext"
        result = redact(text)
        assert result.text == text.replace(secret, "[REDACTED:assigned_secret]")
        assert redact(result.text) == (result.text, {})
        assert default_filter().may_change(json.dumps({"text": text}).encode())


@pytest.mark.parametrize(
    "name", ["api_key_live", "password2", "DB_PASSWORD_PROD", "clientSecretOld", "API_TOKEN_STAGING"]
)
def test_a_member_with_such_a_name_goes_whole(name: str) -> None:
    value = {name: fill(WORD)}
    assert default_filter().redact_value(value)[0] == {name: "[REDACTED:assigned_secret]"}
    assert default_filter().may_change(json.dumps(value).encode())
    assert redact(json.dumps(value)).text == json.dumps({name: "[REDACTED:assigned_secret]"})


LISTS = [
    ('{"passwords":["«»"]}', WORD),
    ('{"passwords": {"maya": "«»", "tom": "none"}}', WORD),
    ('{"passwords":{"maya":["«»","x"]}}', WORD),
    ('{\\"passwords\\":[\\"«»\\"]}', WORD),
    ('passwords: ["«»"]', WORD),
    ("passwords: [«», none]", WORD),
    ("passwords: {maya: «», tom: none}", WORD),
    ("passwords:\n  - «»\n  - none\n", WORD),
    ("db_passwords_prod:\n- '«»'\nother: x\n", WORD),
    ('passwords:\n  maya: «»\n  tom: "none"\nport: 1\n', WORD),
    ("passwords = ('«»', 'none')", WORD),
    ("PASSWORDS: list[str] = [\n    'none',\n    '«»',\n]\n", WORD),
    ('"password": ["«»"]', WORD),
    ('{"api_keys":["«»","none"]}', TOKEN),
    ('{"tokens":["none", "«»"]}', TOKEN),
    ('const apiKeys = { prod: "«»" }', TOKEN),
    ("tokens:\n  - «»\n", TOKEN),
    ("$secrets = ['mail' => '«»'];", TOKEN),
]


@pytest.mark.parametrize("form", LISTS, ids=lambda form: form[0])
@pytest.mark.parametrize("seed", range(4))
def test_each_secret_of_a_list_goes_and_all_around_it_stays(form: tuple[str, str], seed: int) -> None:
    text = form[0].replace("«»", fill(form[1], seed))
    result = redact(text)
    assert result.text == form[0].replace("«»", "[REDACTED:assigned_secret]")
    assert redact(result.text) == (result.text, {})
    assert default_filter().may_change(json.dumps({"text": text}).encode())


def test_each_secret_of_a_value_in_the_plural_goes() -> None:
    words, tokens = [fill(WORD, seed) for seed in range(3)], [fill(TOKEN, seed) for seed in range(3)]
    value: Any = {
        "passwords": words,
        "db_passwords": {"maya": words[0], "tom": [words[1]], "min_length": "12"},
        "api_keys": tokens,
        "refreshTokens": {"prod": tokens[0], "kind": "bearer-2024"},
        "text": json.dumps({"passwords": {"maya": words[2]}, "tokens": tokens[:1]}),
    }
    clean, removed = default_filter().redact_value(value)
    marker = "[REDACTED:assigned_secret]"
    assert clean == {
        "passwords": [marker] * 3,
        "db_passwords": {"maya": marker, "tom": [marker], "min_length": "12"},
        "api_keys": [marker] * 3,
        "refreshTokens": {"prod": marker, "kind": "bearer-2024"},
        "text": json.dumps({"passwords": {"maya": marker}, "tokens": [marker]}),
    }
    assert {removal.field for removal in removed} >= {"passwords.0", "db_passwords.maya", "text.tokens.0"}
    assert default_filter().redact_value(clean) == (clean, [])
    for key, item in value.items():
        assert default_filter().may_change(json.dumps({key: item}).encode())


STAYS = [
    "password_min_length: 12",
    "token_count: 12345678",
    'password_hash = sha256("abcdefgh12")',
    "access_token_expires_at: 2026-03-04T10:00:00Z",
    "secret_name: my-secret-name-2",
    f"api_key_id: {fill('Ab1{alnum:9}')}",
    'tokens: ["alpha", "betagamma"]',
    "max_tokens: 123456789",
    'tokens = ["UTF-8encode", "Hello2World", "##2019abcd"]',
    'tokens = {"start": "<s>", "begin_of_text": "<|begin_of_text|>"}',
    "secrets:\n  - db-password-v2\n  - source: app-secret-2\n",
    'password1 = forms.CharField(label="Password")',
    "passwords = [get_password(user) for user in users]",
    "passwords:\n  maya: ${MAYA_PASSWORD}\n  tom: required\n",
    "tokens = [first_token2, second_token3]",
    'passwords: ["your-password-1", "changeme123"]',
    '"js-tokens": {"version": "4.0.0", "integrity": "sha512-' + fill("{base64:86}") + '=="}',
    '"tokens": {"integrity": "sha512-' + fill("{base64:86}") + '=="}',
    'credentials: ["read:users2", "write:users2"]',
    "if passwords:\n    check: Aa1bcd9efgh2()\n",
]


@pytest.mark.parametrize("text", STAYS)
def test_counts_names_and_words_stay(text: str) -> None:
    assert redact(text) == (text, {})


@pytest.mark.parametrize(
    "value",
    [
        {"tokens": ["UTF-8encode", "hello2world"]},
        {"tokens": {"input": "12345678", "model": "gpt-4-turbo-2024-04-09"}},
        {"secrets": ["db-password-v2"]},
        {"credentials": {"user": "maya-smith", "project": "acme-prod-2024"}},
        {"passwords": ["required", "optional-passwords", "${PASSWORD}"]},
        {"max_tokens": "4096000000"},
    ],
)
def test_values_that_hold_no_secret_stay(value: Any) -> None:
    assert default_filter().redact_value(value) == (value, [])


@pytest.mark.parametrize(
    "unit",
    [
        "passwords: [",
        'tokens=["',
        'tokens = ["a", ',
        "passwords:\n  - ",
        "passwords:\n- Aa1bcd9efgh2\n",
        '"passwords":[\\"',
        "token_1_2_3",
        "password_prod_",
    ],
    ids=ascii,
)
def test_hostile_lists_take_time_in_proportion(unit: str) -> None:
    half, whole = unit * (150_000 // len(unit)), unit * (300_000 // len(unit))
    redact("warm")
    assert growth(lambda: redact(half), lambda: redact(whole)) <= 3
