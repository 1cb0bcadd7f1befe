"""The many ways in which people and programs write a password down, and what only looks like one of them."""

from __future__ import annotations

import json
import random
import string

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.thorough import examples
from workbench.redaction import default_filter, redact
from workbench.redaction.quoted import literal_end
from workbench.redaction.shapes import fill

WORD = "Aa1{alnum:12}"
MIXED = "Aa1{alnum:4}'{alnum:3}$9{alnum:2},{alnum:3};{alnum:3}"
BLANK = "Aa1{alnum:6} {alnum:4}9`x {alnum:5}"
PHRASE = "correct horse battery staple"

FORMS = [
    ("DB_PASS=«»\n", WORD),
    ("SMTP_PASS=«»\n", WORD),
    ("docker run -e FTP_PASS=«» image", WORD),
    ("DB_PW=«»\n", WORD),
    ("pass: «»\n", WORD),
    ("AUTH=«»\n", "{alnum:30}7"),
    ('DB_PASSWORD="«»"\n', PHRASE),
    ('DB_PASSWORD="«»"\n', MIXED),
    ('password: "«»"\n', BLANK),
    ('password = "«»"', "Aa1{alnum:6}\\\\{alnum:6}"),
    ('{"password": "«»"}', PHRASE),
    ('{"password": "«»"}', MIXED),
    ('{\\"password\\": \\"«»\\"}', MIXED),
    ('{"password":\n  "«»"}', WORD),
    ("password:\n  «»\n", "Aa{alnum:12}1x"),
    ('- name: DB_PASSWORD\n  value: "«»"\n', WORD),
    ('{"name":"DB_PASSWORD","value":"«»"}', WORD),
    ('<add key="DbPassword" value="«»"/>', WORD),
    ("<Password>«»</Password>", MIXED),
    ('variable "db_password" {\n  default = "«»"\n}', WORD),
    ('"password":{"value":"«»"}', WORD),
    ("ENV APP_PASSWORD «»\n", WORD),
    ("setx APP_PASSWORD «»\n", WORD),
    ("set -x APP_PASSWORD «»\n", WORD),
    ('PASSWORD: Final[str] = "«»"', WORD),
    ("mysql -p«» -u root shop", WORD),
    ("unzip -P «» archive.zip", WORD),
    ("gh secret set DEPLOY --body «»", WORD),
    ("az login -u me -p «»", WORD),
    ("echo «» | docker login --password-stdin", WORD),
    ("openssl enc -aes-256-cbc -k «» -in a", WORD),
    ("htpasswd -b .htpasswd me «»", WORD),
    ("sshpass -p '«»' ssh host", BLANK),
    ("**Password:** `«»`", WORD),
    ("| password | «» |", WORD),
    ("\nlocalhost:5432:app:me:«»\n", WORD),
    ("machine example.org login me account x password «»", WORD),
    ("user,password,role\nmaya,«»,admin\n", WORD),
    ("密码：«»", WORD),
    ("パスワード: «»", WORD),
    ('{"contrase\\u00f1a": "«»"}', WORD),
    ('{"text": "\\u043f\\u0430\\u0440\\u043e\\u043b\\u044c: «»"}', WORD),
    ("DB_PASSWORD=«»\n", "b{lower:8}q"),
    ('password = "«»"', "k{lower:5}2"),
    ('"password": "«»"', "4{digit:7}1"),
    ("DB_PASSWORD=«»\n", "Aa1{alnum:6},{alnum:3}7{alnum:3}"),
]


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form[0][:32] + form[1][:6])
@pytest.mark.parametrize("seed", range(8))
def test_a_password_goes_whole_and_the_rest_stays(form: tuple[str, str], seed: int) -> None:
    before, _, after = form[0].partition("«»")
    secret = fill(form[1], seed)
    result = redact(before + secret + after)
    (kind,) = result.counts
    assert result.text == before + f"[REDACTED:{kind}]" + after
    assert redact(result.text) == (result.text, {})
    for ascii_only in (True, False):
        encoded = json.dumps({"text": before + secret + after}, ensure_ascii=ascii_only).encode()
        assert default_filter().may_change(encoded)


def test_pieces_of_one_literal_go_together() -> None:
    one, two = fill("{alnum:20}", 1), fill("{alnum:20}", 2)
    text = f'SECRET_KEY = (\n    "{one}"\n    "{two}"\n)\n'
    assert redact(text).text == 'SECRET_KEY = (\n    "[REDACTED:assigned_secret]\n"\n)\n'


def test_rows_of_a_table_go_one_by_one() -> None:
    rows = [f"user{index},{fill(WORD, index)},note {index}" for index in range(40)]
    result = redact("\n".join(["Name,Password,Notes", *rows, ""]))
    assert result.counts == {"assigned_secret": 40}
    assert result.text.splitlines()[40] == "user39,[REDACTED:assigned_secret],note 39"


@pytest.mark.parametrize(
    "token", ["sk_live_{alnum:24}", "ghp_{alnum:36}", "sk-ant-api03-{alnum:60}", "glpat-{alnum:20}"]
)
def test_a_token_glued_to_a_word_goes(token: str) -> None:
    assert redact("Bash" + fill(token)).text.startswith("Bash[REDACTED:")


RUN = fill("{alnum:40}/{alnum:90}/{alnum:60}", 3)
STAYS = [
    'key = "users/2026/march/report"',
    "arn:aws:secretsmanager:eu-west-1:123456789012:secret:prod/db-AbCdEf",
    "https://user:pass@example.com/",
    "https://username:password@localhost:8080/",
    'SN_kx_rsa_psk "KxRSA_PSK9"',
    f"Sec-WebSocket-Key: {fill('{base64:22}', 1)}==",
    f"var data = atob('{RUN}/EAA{fill('{alnum:120}', 4)}/{RUN}')",
    f"password: ENC[AES256_GCM,data:{fill('{alnum:43}', 5)}=,iv:{fill('{alnum:43}', 6)}=,tag:{fill('{alnum:22}', 7)}==,type:str]",
    f'"password": "ENC[AES256_GCM,data:{fill("{alnum:43}", 5)}=,iv:{fill("{alnum:43}", 6)}=,tag:{fill("{alnum:22}", 7)}==,type:str]"',
    f"  password: AgB{fill('{base64:800}', 8)}",
    # What is said about passwords.
    'password: "Enter your password"',
    '"password": "The password must have 8 characters"',
    '"password_hint": "Use at least one digit and one letter"',
    'help_password = "Password (again)"',
    '<label for="password">Repeat the new password 2 times</label>',
    "| password | the secret of the account |",
    "user,password,role\nmaya,required,admin\n",
    "def connect(user, password):\n    return open(user, password)\n",
    'raise ValueError("pass", "two words here now")',
    # Placeholders and references.
    'DB_PASSWORD="$DB_PASS"',
    'DB_PASSWORD="${DB_PASS}"',
    'DB_PASSWORD="your password here"',
    "DB_PASSWORD=changeme",
    "POSTGRES_PASSWORD=postgres",
    "DB_PASSWORD=<password>",
    '{"name":"DB_PASSWORD","value":"${DB_PASSWORD}"}',
    "- name: DB_PASSWORD\n  valueFrom:\n    secretKeyRef:\n      name: db\n",
    'variable "db_password" {\n  type = string\n  sensitive = true\n}',
    'echo "$TOKEN" | docker login --password-stdin',
    "password: String",
    "password:\n  get_password(user)\n",
    "    def f(self):\n        pass\n\n    key: int = 0\n",
]


@pytest.mark.parametrize("text", STAYS, ids=lambda text: text[:40])
def test_what_only_looks_like_it_stays(text: str) -> None:
    for before, after in (("", ""), ("first line\n", "\nlast line\n")):
        assert redact(before + text + after) == (before + text + after, {})


@given(st.text(string.printable, max_size=40), st.integers(0, 2))
def test_a_literal_ends_where_json_closes_it(content: str, levels: int) -> None:
    written = json.dumps(content)
    for _ in range(levels):
        written = json.dumps("x" + written)[2:-1]
    data = written.encode() + b', "more": "\\"x"'
    opening = len(written) - len(written.lstrip("\\")) + 1
    assert literal_end(data, opening) == len(written) - opening


@settings(max_examples=examples(100), deadline=None)
@given(
    st.sampled_from(["password", "DB_PASSWORD", "secret", "Passwort"]),
    st.text(string.ascii_letters + string.digits + string.punctuation + " ", max_size=30),
    st.sampled_from(["=", ": ", " = "]),
)
def test_quotes_are_kept_and_twice_is_once(name: str, value: str, joint: str) -> None:
    text = name + joint + json.dumps(value) + "\nnext line"
    result = redact(text)
    assert redact(result.text) == (result.text, {})
    assert result.text.endswith("\nnext line")
    json.loads(json.dumps({"a": result.text}))


def test_many_drawn_passwords_vanish() -> None:
    draw = random.Random(9)
    signs = string.ascii_letters + string.digits + "!#%&*+-./:;=?@^_~,|$"
    missed = 0
    for _ in range(200):
        secret = "".join(draw.choices(signs, k=draw.randint(14, 24)))
        missed += secret[4:12] in redact(f'DB_PASSWORD="{secret}"\n').text
    assert missed <= 4
