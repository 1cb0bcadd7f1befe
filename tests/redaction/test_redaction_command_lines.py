"""Commands as lists of arguments and over several lines are read as the line they are."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.redaction.pace import fastest, growth
from workbench.redaction import default_filter, redact
from workbench.redaction.shapes import fill

WORD = "Aa1{alnum:9}"

FORMS = [
    '["docker","login","-u","m","-p","«»"]',
    '["docker", "login", "-u", "m", "-p", "«»", "registry.example.org"]',
    '["curl","-u","maya:«»","https://example.org"]',
    '["mysql","-u","root","-p«»"]',
    '{"cmd":["mysql","-uroot","-p«»"]}',
    '{\\"cmd\\":[\\"mysql\\",\\"-uroot\\",\\"-p«»\\"]}',
    '[\n  "/usr/bin/mysql",\n  "-p«»"\n]',
    "subprocess.run(['sshpass', '-p', '«»', 'ssh', 'host'])",
    '["redis-cli","-h","cache","-a","«»"]',
    '["unzip","-P","«»","archive.zip"]',
    '{"command": "docker", "args": ["login", "-p", "«»"]}',
    'command: ["mysql"]\nargs: ["-p«»"]\n',
    "command:\n  - mysql\n  - -u\n  - root\n  - -p«»\nports: []\n",
    "command:\n  - curl\n  - -u\n  - 'maya:«»'\n",
    "docker login \\\n  -u maya \\\n  -p «» \\\n  registry.example.org\n",
    "docker login \\\r\n  -u maya \\\r\n  -p «»\r\n",
    "curl -s \\\n  -u maya:«» \\\n  https://example.org\n",
    "mysql \\\n  --password \\\n  «» \\\n  shop\n",
    "export DB_PASSWORD=\\\n  «»\n",
]


@pytest.mark.parametrize("form", FORMS, ids=ascii)
@pytest.mark.parametrize("seed", range(4))
def test_a_password_goes_and_all_around_it_stays(form: str, seed: int) -> None:
    text = "before\n" + form.replace("«»", fill(WORD, seed)) + "\nafter"
    result = redact(text)
    (kind,) = result.counts
    assert result.text == "before\n" + form.replace("«»", f"[REDACTED:{kind}]") + "\nafter"
    assert redact(result.text) == (result.text, {})
    for ascii_only in (True, False):
        assert default_filter().may_change(json.dumps({"text": text}, ensure_ascii=ascii_only).encode())


@pytest.mark.parametrize(
    "arguments",
    [
        ["mysql", "-uroot", "-p«»"],
        ["curl", "-u", "maya:«»", "https://example.org"],
        ["docker", "login", "-u", "m", "-p", "«»"],
        ["sshpass", "-p", "«»", "ssh", "host"],
    ],
)
def test_a_list_of_arguments_in_a_value_is_read_as_a_command(arguments: list[str]) -> None:
    secret = fill(WORD)
    value: Any = {"cmd": [argument.replace("«»", secret) for argument in arguments]}
    clean, removed = default_filter().redact_value(value)
    marker = "[REDACTED:command_password]"
    assert clean == {"cmd": [argument.replace("«»", marker) for argument in arguments]}
    assert [removal.kind for removal in removed] == ["command_password"]
    assert default_filter().may_change(json.dumps(value, separators=(",", ":")).encode())
    assert default_filter().may_change(json.dumps(value, indent=1).encode())


STAYS = [
    '["docker","run","-p","8080:80","image"]',
    '["curl","-u","$USER:$PASS","https://example.org"]',
    '["mysql","-p","shop"]',
    '["zip","-r","out.zip","folder"]',
    '["mkdir","-p","/var/lib/Aa1bcdEf2"]',
    'args: ["http", "--port", "8080"]',
    "#define A(x) \\\n  token = x; \\\n  next_token(x)\n",
    "docker run \\\n  -p 8080:80 \\\n  -e PASSWORD \\\n  image\n",
    "- mysql\n- postgres\n- Aa1bcdEf2gh\n",
    "RUN apt-get install \\\n  mysql-client \\\n  unzip\n",
]


@pytest.mark.parametrize("text", STAYS, ids=ascii)
def test_other_arguments_stay(text: str) -> None:
    assert redact(text) == (text, {})


@pytest.mark.parametrize(
    "unit",
    [
        '"curl","',
        '"curl","-u",',
        '["mysql","-p"],',
        "- curl\n- ",
        "- curl\n-  a" + " " * 40,
        "\\\n",
        "docker login \\\n -p ",
        "password=\\\n",
        "curl -u a:\\\\\n",
    ],
    ids=ascii,
)
def test_hostile_commands_take_time_in_proportion(unit: str) -> None:
    half, whole = unit * (200_000 // len(unit)), unit * (400_000 // len(unit))
    redact("warm")
    assert growth(lambda: redact(half), lambda: redact(whole)) <= 3
    assert fastest(lambda: redact(whole), 4) <= 4


def test_an_endless_line_is_read_once() -> None:
    whole = "- curl\n-  a" + " " * 400_000 + "\\\n" + "x" * 400_000
    assert fastest(lambda: redact(whole), 4) <= 4
