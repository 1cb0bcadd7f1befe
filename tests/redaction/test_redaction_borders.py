"""Keys behind escapes: what is printed as JSON, as an address or in colour ends where a key begins."""

from __future__ import annotations

import json
from itertools import product
from urllib.parse import quote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.redaction.pace import growth
from tests.thorough import examples, turn
from workbench.redaction import default_filter, redact
from workbench.redaction.rules import load_rules
from workbench.redaction.shapes import fill

RULES = load_rules()
# A block of key material begins anywhere; its own tests are in the rules' file.
SHAPES = [
    (rule.kind, shape)
    for rule in RULES
    if rule.guards.left != "any"
    for shape in rule.positive
    if len(fill(shape)) < 800
]
NEGATIVES = [text for rule in RULES if rule.guards.left != "any" for text in rule.negative]

ESCAPES = [
    r"\n",
    r"\r",
    r"\t",
    r"\b",
    r"\f",
    r"\v",
    r"\0",
    r"\012",
    r"\\n",
    r"\\\\n",
    r"\r\n",
    r"\x3d",
    r"\x0A",
    r"\u003d",
    r"\u0022",
    r"\u000A",
    r"\\u0022",
    r"\U0001F511",
    "%3D",
    "%22",
    "%0a",
    "%253D",
    "%25253d",
    "\x1b[31m",
    "\x1b[m",
    "\x1b[0;1;38;5;196m",
    "\x1b[38;2;255;255;255;48;2;255;255;255;1;3;4m",
    "\x1b[2K",
    "\x1b[?25h",
    "\x1b(B",
    "\x1bM",
    r"\u001b[31m",
    r"\u001B[1;31m",
    r"\\u001b[0m",
    r"\x1b[31m",
    r"\033[0m",
    r"\33[1m",
    r"\e[31m",
    "^[[31m",
    "[31m",
    "[0;1m",
]
# Their first part may be longer.
MAY_BEGIN_LONGER = {"discord_token", "teams_webhook"}
BEFORE = ["", " ", "word", "é", "\\", '{\\"key\\":\\"', "https://example.org/?q", "\x1b", "_", "7"]


@pytest.mark.parametrize("escape", ESCAPES, ids=repr)
def test_a_token_behind_an_escape_is_removed(escape: str) -> None:
    for (kind, shape), before in turn(product(SHAPES, BEFORE), ESCAPES.index(escape), 3):
        secret = fill(shape, 3)
        text = f"{before}{escape}{secret} after"
        result = redact(text)
        assert result.counts == {kind: 1}, text
        assert redact(result.text) == (result.text, {})
        if kind in MAY_BEGIN_LONGER or (secret[0].isdigit() and escape[-1].isdigit()):
            # The token takes the escape's digits or letters for its own if they fit.
            assert result.text.endswith(f"[REDACTED:{kind}] after")
            assert secret not in result.text
        else:
            assert result.text == f"{before}{escape}[REDACTED:{kind}] after"
        assert default_filter().may_change(json.dumps(text).encode())


LOOK_ALIKES = [
    *NEGATIVES,
    "sk-learn-pipelines",
    "sk-learn-pipelines-for-the-third-quarter",
    "kubernetes_task-runner-0f1e2d3c4b5a69788796a5b4",
    "nask-0f1e2d3c4b5a69788796a5b4",
    "disk-0f1e2d3c4b5a69788796a5b4",
    "warpa_0123456789abcdefghijklmn",
    f"na{fill('sk-{alnum:48}', 4)}",
]


@pytest.mark.parametrize("escape", ESCAPES, ids=repr)
def test_look_alikes_behind_an_escape_stay(escape: str) -> None:
    for text in LOOK_ALIKES:
        assert redact(f"a {escape}{text} b") == (f"a {escape}{text} b", {})


@pytest.mark.parametrize(
    "before",
    ["na", "n", "3D", "u003d", "x3d", "31m", "x[m", "x[31n", "[n31m", "%3", "%g2", "\\d", "\\un", "\\xg1"],
)
def test_what_is_no_escape_is_no_border(before: str) -> None:
    text = f"{before}{fill('sk-{alnum:48}', 4)}"
    assert redact(text) == (text, {})


@pytest.mark.parametrize("path", [r"C:\new\task-", r"C:\risk-", r"\disk-", r"D:\ask-", r"\\host\desk-"])
def test_folders_of_another_system_stay(path: str) -> None:
    text = path + "0f1e2d3c4b5a69788796a5b4c3d2e1f0"
    assert redact(text) == (text, {})


def test_json_and_addresses_that_were_escaped_again() -> None:
    inner = json.dumps({"note": "first\n" + fill("sk-ant-api03-{alnum:48}", 1)})
    for _ in range(4):
        result = redact(f"printed: {inner}")
        assert result.counts == {"anthropic_key": 1}
        inner = json.dumps(inner)
    address = "?key=" + fill("ghp_{alnum:36}", 1)
    for _ in range(4):
        address = quote(address)
        assert redact(address).counts == {"github_token": 1}


def test_the_escape_stays_and_json_stays_json() -> None:
    printed = json.dumps(
        {"a": "x\n" + fill("hf_{alnum:34}", 1) + "\n" + fill("eyJ{alnum:20}.eyJ{alnum:40}.{alnum:43}")}
    )
    assert json.loads(redact(printed).text) == {"a": "x\n[REDACTED:huggingface_token]\n[REDACTED:jwt]"}


pieces = st.lists(
    st.one_of(
        st.sampled_from(ESCAPES),
        st.sampled_from(BEFORE),
        st.sampled_from(
            [*NEGATIVES, "sk-", "AA", "123456789:", "bot", "eyJ", "[", ";", "m", "\\", "%", "u00"]
        ),
        st.builds(lambda pair, seed: fill(pair[1], seed), st.sampled_from(SHAPES), st.integers(0, 3)),
        st.text("\\%[;mnu0123\x1b^(BxskA-_: ", max_size=6),
    ),
    max_size=9,
).map("".join)


@settings(max_examples=examples(600), deadline=None)
@given(pieces)
def test_twice_is_once_among_escapes(text: str) -> None:
    first = redact(text)
    assert redact(first.text) == (first.text, {})
    if first.counts:
        for ascii_only in (True, False):
            assert default_filter().may_change(json.dumps(text, ensure_ascii=ascii_only).encode())


@settings(max_examples=examples(300), deadline=None)
@given(pieces, st.sampled_from(ESCAPES), st.sampled_from(SHAPES), st.integers(0, 9))
def test_a_token_behind_any_text_and_an_escape_is_gone(
    before: str, escape: str, kind_and_shape: tuple[str, str], seed: int
) -> None:
    secret = fill(kind_and_shape[1], seed)
    # A blank, for digits at the end of the text would make the escape's digits a longer number.
    assert not redact(f"{before} {escape}{secret}").text.endswith(secret[-12:])


HOSTILE = [
    "\\nsk-",
    "\\nsk-learn-words-",
    "\\nsk-R4nd0mX9-",
    "1msk-R4nd0mX9-",
    "nsk-R4nd0mX9-",
    "[1msk-learn-",
    "%3Dsk-",
    "%",
    "%25",
    "\x1b[",
    "\x1b[1;",
    "\x1b[" + "1;" * 300 + "msk-learn-words-are-words ",
    "\\u003d",
    "\\neyJaaaaaaaa",
    "\x1b[31meyJaaaaaaaaa.",
    "\\",
]


@pytest.mark.parametrize("unit", HOSTILE, ids=lambda unit: repr(unit[:16]))
def test_hostile_escapes_take_time_in_proportion(unit: str) -> None:
    def text(size: int) -> str:
        return (unit * (size // len(unit) + 1))[:size] + " PRIVATE KEY eyJaaaaaaaaa.eyJaaaaaaaaa.aaaaaaaaa"

    redact("warm")
    half, whole = text(250_000), text(500_000)
    assert growth(lambda: redact(half), lambda: redact(whole)) <= 3
