"""Passwords behind arrows and verbs, in the next text of a list, and under names with an escaped letter."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.redaction.pace import growth
from workbench.redaction import default_filter, redact
from workbench.redaction.shapes import fill

WORD = "Aa1{alnum:9}"

FORMS = [
    "password -> «»",
    'the DB password -> "«»"',
    "password → «»",
    "password → `«»`",
    "密码是«»",
    "密码为 `«»`",
    "パスワードは«»",
    '{"next_steps": ["password:", "«»"]}',
    '["DB_PASSWORD=",\n "«»"]',
    '{"pass\\u0077ord":"«»"}',
    '{"\\u0070assword": "«»"}',
    "changed the password from «» to something else",
    "changed the password from old to «».",
]


@pytest.mark.parametrize("form", FORMS, ids=ascii)
@pytest.mark.parametrize("seed", range(4))
def test_a_password_goes_and_all_around_it_stays(form: str, seed: int) -> None:
    text = "before\n" + form.replace("«»", fill(WORD, seed)) + "\nafter"
    result = redact(text)
    assert result.text == "before\n" + form.replace("«»", "[REDACTED:assigned_secret]") + "\nafter"
    assert redact(result.text) == (result.text, {})
    for ascii_only in (True, False):
        assert default_filter().may_change(json.dumps({"text": text}, ensure_ascii=ascii_only).encode())


def test_both_passwords_of_a_change_go() -> None:
    text = f"I changed the password from {fill(WORD, 1)} to {fill(WORD, 2)} today."
    marker = "[REDACTED:assigned_secret]"
    assert redact(text).text == f"I changed the password from {marker} to {marker} today."


@pytest.mark.parametrize("label", ["password:", "DB_PASSWORD=", "Your new password:"])
def test_the_text_behind_a_label_in_a_list_goes(label: str) -> None:
    value: Any = {"next_steps": ["log in", label, fill(WORD), "done"]}
    clean, removed = default_filter().redact_value(value)
    assert clean == {"next_steps": ["log in", label, "[REDACTED:assigned_secret]", "done"]}
    assert [removal.field for removal in removed] == ["next_steps.2"]
    assert default_filter().redact_value(clean) == (clean, [])
    assert default_filter().may_change(json.dumps(value).encode())


STAYS = [
    "fn token() -> TokenStream2",
    "token -> NAME | NUMBER",
    "password -> hashed_password2",
    "def password(self) -> SecretStr:",
    '["password:", "Enter your password"]',
    '["token:", "none", "tokens"]',
    'args = ["--password=", "second_argument2"]',
    "case password => handlePassword2(x)",
    "密码是必填项12345678",
    "changed the password from the configuration to a file",
    '{"caf\\u0065": "password"}',
]


@pytest.mark.parametrize("text", STAYS, ids=ascii)
def test_what_is_no_password_stays(text: str) -> None:
    assert redact(text) == (text, {})


@pytest.mark.parametrize(
    "unit",
    ["password -> ", "password →", "密码是", '"password:", ', "a\\u0077", "password from a to "],
    ids=ascii,
)
def test_hostile_forms_take_time_in_proportion(unit: str) -> None:
    half, whole = unit * (150_000 // len(unit)), unit * (300_000 // len(unit))
    redact("warm")
    assert growth(lambda: redact(half), lambda: redact(whole)) <= 3
