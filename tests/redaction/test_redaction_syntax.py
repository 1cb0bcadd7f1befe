"""Secrets written in ways of their own, and what stands under names that only look like a secret's."""

from __future__ import annotations

import pytest

from workbench.redaction import redact
from workbench.redaction.shapes import fill


@pytest.mark.parametrize(
    "text",
    [
        '"nextPageToken": "{value}"',
        "page_token={value}",
        "continuation_token: {value}",
        'next_token = "{value}"',
        "?pageToken={value}&x=1",
        "cursor token: {value}",
    ],
)
def test_a_place_in_a_list_stays(text: str) -> None:
    for shape in ("{alnum:32}", "{hex:32}", "{alnum:24}"):
        given = text.format(value=fill(shape))
        assert redact(given).text == given


@pytest.mark.parametrize(
    "text", ["password: {{ vault_db_password | b64encode }}", "password: %env(DB_PASSWORD)%"]
)
def test_a_template_stays(text: str) -> None:
    assert redact(text).text == text


@pytest.mark.parametrize(
    "text",
    [
        '{{"DB_PASSWORD": {{"prod": "{value}", "dev": "{value}"}}}}',
        'password = {{"prod": "{value}"}}',
        "api_key: {{ staging: '{value}' }}",
    ],
)
def test_a_mapping_of_places_under_a_name_holds_secrets(text: str) -> None:
    secret = fill("Aa1{alnum:17}")
    assert secret not in redact(text.format(value=secret)).text
    other = f'password = {{"hint": "{secret}"}}'
    assert redact(other).text == other


@pytest.mark.parametrize(
    "name",
    (
        "password_confirmation passwordConfirm dbpw bindpw ROOTPW GH_PAT GITLAB_PAT creds db_creds storepass "
        "keypass TF_TOKEN_app_terraform_io access_code mot_de_passe motdepasse"
    ).split(),
)
def test_names_in_use_give_their_value_away(name: str) -> None:
    secret = fill("Aa1{alnum:17}")
    for text in (f"{name}={secret}", f'{name}: "{secret}"', f'{{"{name}": "{secret}"}}'):
        assert secret not in redact(text).text, text
