"""Secrets in base64 that no word gives away, and tables that only blanks hold together."""

from __future__ import annotations

import base64
import json
import random

import pytest

from tests.redaction.pace import fastest, growth
from workbench.redaction import default_filter, redact
from workbench.redaction.shapes import fill

WORD = "Aa1{alnum:9}"
TEXTS = [
    ("ghp_{alnum:36}", "github_token"),
    ("use glpat-{alnum:20} for it", "gitlab_token"),
    ("sk-ant-api03-{alnum:48}", "anthropic_key"),
    ("user=maya\nDB_PASSWORD=Aa1{alnum:9}\n", "assigned_secret"),
    ('{{"password": "Aa1{alnum:9}"}}', "assigned_secret"),
    ("API_KEY={alnum:32}", "assigned_secret"),
]


def encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


@pytest.mark.parametrize("text", TEXTS, ids=lambda text: text[0])
@pytest.mark.parametrize("before", ["", " ", ", "])
@pytest.mark.parametrize("around", ["payload «» end", '{"data":"«»"}', "data:\n  blob: «»\n"])
def test_what_base64_hides_goes_whole(text: tuple[str, str], before: str, around: str) -> None:
    for seed in range(3):
        given = around.replace("«»", encoded(before + fill(text[0], seed)))
        result = redact(given)
        assert result.text == around.replace("«»", f"[REDACTED:{text[1]}]")
        assert redact(result.text) == (result.text, {})
        assert default_filter().may_change(json.dumps({"text": given}).encode())


@pytest.mark.parametrize(
    "text",
    [
        "the password = your-password and token=none",
        "ghp_example",
        "TOKEN=${GITHUB_TOKEN}\nAPI_KEY=changeme",
        "def f(password: str, token=None): return password",
    ],
)
def test_base64_of_what_holds_no_secret_stays(text: str) -> None:
    given = f"payload {encoded(text)} end"
    assert redact(given) == (given, {})


def test_images_stay() -> None:
    data = base64.b64encode(random.Random(5).randbytes(400_000)).decode()
    assert redact(f"data:image/png;base64,{data}").counts == {}


TABLES = [
    "USER   PASSWORD\nmaya   «»\ntom    none\n",
    "NAME PASSWORD ROLE\r\nmaya «» admin\r\n",
    "user    password\n----    --------\nmaya    «»\n\nend",
    "ID  USER  DB_PASSWORD  NOTE\n1   maya  «»  first\n2   tom   none  second\n",
    "name\tapi_key\nmaya\t«»\n",
]


@pytest.mark.parametrize("table", TABLES, ids=ascii)
@pytest.mark.parametrize("seed", range(4))
def test_a_password_under_a_title_goes(table: str, seed: int) -> None:
    text = "before\n" + table.replace("«»", fill(WORD, seed))
    result = redact(text)
    assert result.text == "before\n" + table.replace("«»", "[REDACTED:assigned_secret]")
    assert redact(result.text) == (result.text, {})
    assert default_filter().may_change(json.dumps({"text": text}).encode())


@pytest.mark.parametrize(
    "text",
    [
        "USER PASSWORD\nmaya required\n",
        "NAME  TOKEN  VALUE\nfoo  token_name2  x\n",
        f"the password\nmaya {fill(WORD)}\n",
        f"USER PASSWORD\nmaya said {fill(WORD)}\n",
    ],
    ids=ascii,
)
def test_what_is_no_table_of_passwords_stays(text: str) -> None:
    assert redact(text) == (text, {})


@pytest.mark.parametrize(
    "unit",
    [encoded("ghp_"), encoded("x password=") + " ", "USER PASSWORD\n", "A " * 30 + "PASSWORD\n"],
    ids=ascii,
)
def test_hostile_shapes_take_time_in_proportion(unit: str) -> None:
    half, whole = unit * (200_000 // len(unit)), unit * (400_000 // len(unit))
    redact("warm")
    assert growth(lambda: redact(half), lambda: redact(whole)) <= 3
    assert fastest(lambda: redact(whole), 4) <= 4
