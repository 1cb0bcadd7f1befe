"""Nothing raises, nothing leaks when something does, and twice is once however the pieces are glued."""

from __future__ import annotations

import json
import secrets
from typing import Any

import pytest
import re2
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.redaction.pace import fastest
from tests.thorough import examples
from workbench.redaction import SecretFilter, default_filter, redact
from workbench.redaction.expression import Expression, public_matcher
from workbench.redaction.filter import FilterFailed
from workbench.redaction.shapes import fill

BODY = [fill("{alnum:64}", number) for number in range(6)]
CUES = [
    *("-----BEGIN RSA PRIVATE KEY-----", "BEGIN PRIVATE KEY", "-----END PRIVATE KEY", "END PRIVATE KEY-----"),
    *("MIIEvQIBAD", "MIIEvQIBADANBgkqhkiG9w0BAQ", "PuTTY-User-Key-File-2", "priv:", "Private-Key: (", "3082"),
    *("30820122020100", "UFJJVkFURSBLRV", "QUklWQVRFIEtFW", '"d":"', '"kty":"oct"', "<D>", "00:11:22:aa:bb"),
    *(
        "Authorization: ",
        "Bearer ",
        "Basic ",
        "curl -u a:",
        "password",
        "token",
        "key",
        "Cookie: a=",
        "https://a:b@",
    ),
    *(
        "ghp_",
        "sk-",
        "AKIA",
        "eyJ",
        "sl.B",
        "[REDACTED:jwt]",
        "[REDACTED:private_key]",
        "xxxx",
        "Proc-Type: 4,ENCRYPTED",
    ),
    *(
        "\n",
        "\r",
        "\\n",
        "\\",
        "/",
        "-",
        "_",
        "=",
        ":",
        " ",
        '"',
        "'",
        "|",
        "+",
        ">",
        "\u2028",
        "\u200b",
        "\x1b[0m",
    ),
    *("\\u001b[0m", "%0A", "%41%42%43%44", "&#10;", "\\x41\\x42\\x43\\x44", "é", "{", "}", "[", "]", ","),
    *BODY[:2],
    *(one[:24] for one in BODY),
    fill("ghp_{alnum:36}", 1),
    fill("sk-ant-api03-{alnum:93}", 1),
]
glued = st.lists(st.sampled_from(CUES), min_size=1, max_size=9).map("".join)


@settings(max_examples=examples(120), deadline=None)
@example("BEGIN PRIVATE KEYMIIEvQIBAD")
@example("-----BEGIN PRIVATE KEY-----\\n-" + BODY[0][:16])
@given(glued)
def test_whatever_is_glued_together_is_filtered_once_and_for_all(text: str) -> None:
    clean, counts = redact(text)
    assert redact(clean) == (clean, {})
    assert clean.count("\n") == text.count("\n")
    assert bool(counts) == (clean != text)
    if counts:
        assert default_filter().may_change(json.dumps(text).encode())


def test_a_second_word_that_the_first_marker_would_expose_goes_at_once() -> None:
    for number in range(20):
        first, second = fill("{alnum:16}", number), fill("{alnum:16}", number + 50)
        clean, _ = redact(f"Authorization: {first} {second}")
        assert redact(clean) == (clean, {})


class _Broken:
    """A pass that fails, with the text in what it raises."""

    shortest = 1
    probes = ("x",)

    def find(self, data: bytes) -> list[Any]:
        raise ValueError(f"cannot read {data.decode()}")


def test_a_failure_lets_no_text_through_and_none_into_the_message() -> None:
    broken = SecretFilter()
    machine = broken._ready()
    machine.passes = (*machine.passes, _Broken())
    word = secrets.token_hex(12)
    text = f"password: x{word}"
    for call in (
        lambda: broken.redact_text(text),
        lambda: broken.redact_value({"a": {"password": text, "b": f"token {text}"}}),
        lambda: broken.cut_place(text, 10),
    ):
        with pytest.raises(FilterFailed) as caught:
            call()
        error = caught.value
        assert error.code == "filter_failed"
        assert "ValueError" in error.message
        assert error.__cause__ is None
        assert error.__context__ is None
        assert word not in repr(error) + error.message + error.hint


def test_the_public_shell_of_the_library_answers_as_its_inner_part() -> None:
    compiled = re2.compile(rb"(a)|(b+)c")
    inner = Expression(compiled)
    outer = Expression(compiled)
    outer._match = public_matcher(compiled)
    for text in (b"", b"xxabbc", b"bbbc", b"zz"):
        for start in range(len(text) + 1):
            for one, two in ((inner.search, outer.search), (inner.match, outer.match)):
                left, right = one(text, start), two(text, start)
                assert (left is None) == (right is None)
                if left is not None and right is not None:
                    assert [left.span(group) for group in range(3)] == [
                        right.span(group) for group in range(3)
                    ]


# -- lists ---------------------------------------------------------------------------------

LINES = ["-----BEGIN PRIVATE KEY-----", *BODY, "-----END PRIVATE KEY-----"]


@pytest.mark.parametrize(
    "value",
    [
        {"lines": LINES},
        {"source": [f"{line}\n" for line in LINES]},
        {"content": [{"type": "text", "text": line} for line in LINES]},
        {"lines": [1, *LINES, None, {"a": "b"}]},
        json.dumps({"lines": LINES}),
    ],
    ids=["lines", "source", "blocks", "mixed", "text"],
)
def test_a_key_as_a_list_of_lines_is_removed_line_by_line(value: Any) -> None:
    clean, removals = default_filter().redact_value(value)
    written = clean if isinstance(clean, str) else json.dumps(clean)
    assert not any(line in written for line in BODY)
    assert {removal.kind for removal in removals} == {"private_key"}
    assert default_filter().redact_value(clean) == (clean, [])
    before, behind = (json.loads(one) if isinstance(one, str) else one for one in (value, clean))
    for name in before:
        assert [type(item) for item in before[name]] == [type(item) for item in behind[name]]


def test_a_word_and_its_secret_side_by_side_in_a_list() -> None:
    secret = fill("{alnum:22}", 9)
    for value in (["mysql", "--password", secret], [["X-Api-Key", secret]]):
        clean, _ = default_filter().redact_value(value)
        assert secret not in json.dumps(clean)
        assert secret not in redact(json.dumps(value)).text
        assert json.dumps(clean).count(",") == json.dumps(value).count(",")
    plain = ["a key", "and words", "to read"]
    assert default_filter().redact_value(plain) == (plain, [])


# -- keys ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "between",
    [
        "\u2028",
        "\u2029",
        "\x85",
        "\x1c",
        "\x1e",
        "\x0b",
        "\x0c",
        "\x00",
        "\u200b",
        "\u00ad",
        "\u200b\n\u200b",
    ],
    ids=repr,
)
def test_a_key_whose_lines_are_joined_by_what_no_eye_sees(between: str) -> None:
    clean, counts = redact(between.join(LINES))
    assert set(counts) == {"private_key"}
    assert not any(line[at : at + 12] in clean for line in BODY for at in range(0, 52, 4))
    assert clean.count("\n") == between.join(LINES).count("\n")
    assert redact(clean) == (clean, {})


@pytest.mark.parametrize(
    "prefix", ["web-1  | ", "2031-01-02T03:04:05Z INFO app - ", "id_rsa:12:", "[pod/x] "]
)
def test_an_encrypted_key_whose_first_line_stands_behind_nothing(prefix: str) -> None:
    header = ["-----BEGIN RSA PRIVATE KEY-----", "Proc-Type: 4,ENCRYPTED"]
    header += ["DEK-Info: AES-256-CBC," + fill("{hex:32}", 1).upper(), ""]
    clean, _ = redact(f"\n{prefix}".join([*header, *BODY, "-----END RSA PRIVATE KEY-----"]) + "\ndone\n")
    assert not any(line in clean for line in BODY)
    assert clean.endswith("done\n")


# -- time ----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["hexadecimal", "glued signs", "tokens"])
def test_hostile_lines_pass_quickly(name: str) -> None:
    text = {
        "hexadecimal": lambda: "\n".join(fill("{hex:64}", number % 97) for number in range(4000)),
        "glued signs": lambda: "AKIAghp_ghp_PuTTY-User-Key-File-2" * 8000,
        "tokens": lambda: "\n".join(fill("ghp_{alnum:36}", number % 97) for number in range(3000)),
    }[name]()
    redact("warm")
    # A quarter of a megabyte or less.
    assert fastest(lambda: redact(text), 0.5) <= 0.5
