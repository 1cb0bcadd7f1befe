"""Passwords in colours, behind other blanks, in tables, in SQL, in escapes and in commands."""

from __future__ import annotations

import json

import pytest

from tests.redaction.pace import growth
from workbench.redaction import default_filter, redact
from workbench.redaction.shapes import fill

WORD = "Aa1{alnum:9}"
BLANKS = "\u00a0\u202f\u2003\u2009\u3000"

COLOURED = [
    "password: \x1b[33m«»\x1b[0m",
    '{\x1b[34;1m"password"\x1b[0m\x1b[1;39m:\x1b[0m \x1b[32m"«»"\x1b[0m}',
    "\x1b[36mDB_PASSWORD\x1b[0m=\x1b[33m«»\x1b[0m\n",
    "\x1b[1mpassword:\x1b[0m «»",
    "\x1b[94mpassword\x1b[39;49;00m:\x1b[37m \x1b[39;49;00m«»\x1b[37m\x1b[39;49;00m\n",
    "\\u001b[36mpassword\\u001b[0m: \\u001b[33m«»\\u001b[0m",
]
BLANK = [
    *(f"password:{blank}«»\n" for blank in BLANKS),
    *(f'"password"{blank}:{blank}"«»"' for blank in BLANKS),
    "Passwort&nbsp;=&nbsp;«»<br>",
]
TABLES = [
    "| user | password |\n|---|---|\n| bob | «» |\n",
    "| user | DB password | note |\r\n| :--- | :---: | --- |\r\n| bob | `«»` | the first |\r\n",
    " user | password \n------+----------\n bob  | «»\n(1 row)\n",
    "+------+----------+\n| user | password |\n+------+----------+\n| bob  | «» |\n+------+----------+\n",
    "│ user │ password │\n├──────┼──────────┤\n│ bob  │ «» │\n└──────┴──────────┘\n",
    "| user | password |\\n|---|---|\\n| bob | «» |\\n",
]
INSERTS = [
    "INSERT INTO users (name, password) VALUES ('bob','«»');",
    "INSERT INTO `users` (`id`, `name`, `password`) VALUES (1, 'bo''b', '«»', now());",
    "insert into \"users\" (\"name\", \"password\")\nvalues ('bob', '«»'), ('al', 'x')",
    "REPLACE INTO users(password,name) VALUES('«»','bob')",
]
MEMBERS = [
    "- value: «»\n  name: DB_PASSWORD\n",
    '- value: "«»"\n  name: DB_PASSWORD\n',
    "value = '«»'\nname = \"DB_PASSWORD\"\n",
]
ESCAPED = [
    "&quot;password&quot;:&quot;«»&quot;",
    "&#34;password&#34;: &#34;«»&#34;",
    "&#x27;password&#x27;: &#x27;«»&#x27;",
    "password%3D«»",
    "user%3Dbob%26password%3D«»%26x%3D1",
    "%22password%22%3A%22«»%22",
    "password%253D«»",
    "\\u0022password\\u0022:\\u0022«»\\u0022",
    "password\\u003d«»",
    "\\x22password\\x22:\\x22«»\\x22",
]
COMMANDS = [
    'ConvertTo-SecureString "«»" -AsPlainText -Force',
    "ConvertTo-SecureString -AsPlainText -Force -String '«»'",
    "ConvertTo-SecureString «» -AsPlainText",
    "net use \\\\h\\s «» /user:bob",
    "net use Z: \\\\h\\s /user:bob «»",
    "smbclient -U bob%«» //h/s",
    "rpcclient -U CORP\\bob%«» h",
    "usermod -p «» bob",
    "useradd -m -p '«»' bob",
]
FORMS = [*COLOURED, *BLANK, *TABLES, *INSERTS, *MEMBERS, *ESCAPED, *COMMANDS]


@pytest.mark.parametrize("form", FORMS, ids=ascii)
@pytest.mark.parametrize("seed", range(6))
def test_a_password_goes_and_all_around_it_stays(form: str, seed: int) -> None:
    text = form.replace("«»", fill(WORD, seed))
    result = redact(text)
    (kind,) = result.counts
    assert result.text == form.replace("«»", f"[REDACTED:{kind}]")
    assert redact(result.text) == (result.text, {})
    for ascii_only in (True, False):
        assert default_filter().may_change(json.dumps({"text": text}, ensure_ascii=ascii_only).encode())
    value, removed = default_filter().redact_value({"text": text})
    assert value == {"text": result.text}
    assert removed


def test_every_row_of_a_table_is_looked_at() -> None:
    rows = [f"| user{number} | {fill(WORD, number)} |" for number in range(50)]
    table = "\n".join(["| user | password |", "|------|----------|", *rows, "", "| a | {} |"])
    result = redact(table)
    assert result.counts == {"assigned_secret": 50}
    assert result.text.endswith("| user49 | [REDACTED:assigned_secret] |\n\n| a | {} |")


def test_every_row_that_is_inserted_is_looked_at() -> None:
    rows = ",\n".join(f"({number}, '{fill(WORD, number)}', NULL)" for number in range(50))
    result = redact(f"INSERT INTO users (id, password, note) VALUES\n{rows};\nSELECT 1;")
    assert result.counts == {"assigned_secret": 50}
    assert result.text.endswith("(49, '[REDACTED:assigned_secret]', NULL);\nSELECT 1;")


STAYS = [
    "password: \x1b[33mrequired\x1b[0m",
    "password:\u00a0obligatoire",
    "| option | password |\n|---|---|\n| type | string |\n| env | DB_PASSWORD |\n| set by | `$PASSWORD` |\n",
    " user | password \n------+----------\n bob  | ********\n",
    "INSERT INTO users (name, password) VALUES (?, ?)",
    "INSERT INTO users (name, password) VALUES ('{name}', '{password}')",
    "INSERT INTO users (name, city) VALUES ('bob', 'Aa1bcd9efgh2')",
    "- value: $(PASSWORD)\n  name: DB_PASSWORD\n",
    "https://example.org/?next=https%3A%2F%2Fexample.org%2Fpassword%3Fpage%3Dreset-password",
    "&quot;password&quot;:&quot;your-password&quot;",
    "ConvertTo-SecureString $password -AsPlainText -Force",
    "net use Z: \\\\server\\share /persistent:yes",
    "usermod -aG docker deploy",
    "smbclient -U bob%$PASS //h/s",
]


@pytest.mark.parametrize("text", STAYS, ids=ascii)
def test_what_is_no_password_stays(text: str) -> None:
    assert redact(text) == (text, {})


@pytest.mark.parametrize(
    "unit",
    [
        "| password |\n|---|\n",
        "| password ",
        "password\n--",
        "insert into t (password) values ('a'),(",
        "into a(password) values (",
        "password\x1b[33m: ",
        "password:\u00a0",
        "password%3D",
        "&quot;password&quot;:",
        "usermod -p ",
        "net use \\\\h ",
        "smbclient -U a%",
        "ConvertTo-SecureString ",
        "value: Aa1bcd9efgh2\n",
    ],
    ids=ascii,
)
def test_hostile_forms_take_time_in_proportion(unit: str) -> None:
    half, whole = unit * (150_000 // len(unit)), unit * (300_000 // len(unit))
    redact("warm")
    assert growth(lambda: redact(half), lambda: redact(whole)) <= 3


def test_what_reads_otherwise_is_found_in_a_long_text_wherever_it_stands() -> None:
    filler = "an ordinary line of a report with a password: none\n" * 8_000
    secrets = [fill(WORD, seed) for seed in range(4)]
    lines = [f"password: \x1b[33m{secret}\x1b[0m\n" for secret in secrets]
    result = redact(filler.join(["", *lines, ""]))
    line = "password: \x1b[33m[REDACTED:assigned_secret]\x1b[0m\n"
    assert result.text == filler.join(["", *[line] * 4, ""])
    assert result.counts == {"assigned_secret": 4}
    assert redact(result.text) == (result.text, {})


def test_two_lines_far_apart_are_not_read_as_neighbours() -> None:
    # Only the ends of long stretches are looked at beside what reads otherwise.
    stretch = "x = password:\n" * 30_000
    text = f"\x1b[1mpassword\x1b[0m: none\n{stretch}\x1b[1mpassword\x1b[0m: none\n"
    assert redact(text) == (text, {})
