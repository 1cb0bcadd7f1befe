"""Hostile texts around private keys take time in proportion to their length."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.redaction.pace import growth
from workbench.redaction.key_material import KeyMaterialPass
from workbench.redaction.rules import load_rules
from workbench.redaction.shapes import fill

KEYS = KeyMaterialPass(load_rules(("keys.toml",)))
LINES = "\n".join(fill("{base64:64}", seed) for seed in range(200)) + "\n"
RUN = fill("{base64:64}", 1)
BEGIN, END = "-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----"

HOSTILE = {
    "an unfinished key": (BEGIN + "\n", LINES),
    "BEGIN lines": ("", BEGIN + "\n"),
    "BEGIN without line ends": ("", BEGIN),
    "BEGIN and a little": ("", f"{BEGIN}\n{RUN[:20]}\n"),
    "END lines": ("", END + "\n"),
    "END and a body": ("", f"{RUN}\n{END}\n"),
    "quotes before END": ("", '"' * 3000 + END),
    "base64 for ever": (BEGIN + "\n", LINES.replace("\n", "")),
    "base64 behind first bytes": ("MIIEpAIBAAKCAQEA", LINES.replace("\n", "")),
    "first bytes": ("", "MIIEpAIBAAKCAQEA "),
    "one quote per byte": (BEGIN, '"'),
    "a quote per run": (BEGIN, f'"{RUN[:16]}"'),
    "line ends": (BEGIN, "\n"),
    "backslashes": (BEGIN, "\\"),
    "headers": ("", f"{BEGIN}\nVersion: x\n"),
    "colons": ("priv:\n    ", "ab:cd:ef:01:23:45:67:89:ab:cd:ef:01:23:45:67:\n    "),
    "colons on one line": ("priv:\n    ", "ab:"),
    "labels": ("", "priv:\n"),
    "labels and bytes": ("", "priv:\nab:cd:ef\n"),
    "members": ("{", f'"d":"{fill("{url:43}")}",'),
    "short members": ("{", f'"p":"{fill("{url:16}")}",'),
    "symmetric members": ("{", f'"k":"{fill("{url:16}")}",'),
    "objects": ("", f'{{"k":"{fill("{url:16}")}",'),
    "elements": ("", f"<D>{RUN[:16]}</D>"),
    "elements that stay open": ("", f"<D>{RUN[:16]}"),
    "encoded again": ("", "UFJJVkFURSBLRV"),
    "encoded again, by lines": ("", "UFJJVkFURSBLRV\n"),
    "PuTTY": ("", "PuTTY-User-Key-File-2: x\n"),
    "DER": ("", "308204a40201000282010100112233445566 "),
    "DER for ever": ("308204a40201000282010100112233445566", "ab"),
    "dashes": ("", "-" * 500 + END),
    "words of a marker": ("", "BEGIN a b c "),
    "numbers": ("", "12: " * 50 + END + "\n"),
}


def _seconds(work: Callable[[], object]) -> float:
    best = float("inf")
    for _ in range(3):
        start = time.process_time()
        work()
        best = min(best, time.process_time() - start)
    return best


def _sized(head: str, unit: str, size: int) -> bytes:
    return (head + unit * (size // len(unit) + 1))[:size].encode()


@pytest.mark.parametrize("name", sorted(HOSTILE))
def test_twice_the_text_takes_about_twice_the_time(name: str) -> None:
    half, whole = (_sized(*HOSTILE[name], size) for size in (150_000, 300_000))
    KEYS.find(half)
    assert growth(lambda: KEYS.find(half), lambda: KEYS.find(whole)) <= 3


units = st.lists(
    st.one_of(
        st.sampled_from([part for pair in HOSTILE.values() for part in pair if 0 < len(part) < 100]),
        st.sampled_from(["\n", "\\n", '"', " ", "{", "}", "=", "[REDACTED:private_key]", RUN, RUN[:17]]),
        st.text('abzAZ09-_.:=+/ \n"\\%', max_size=6),
    ),
    min_size=1,
    max_size=6,
).map("".join)


@settings(max_examples=60, deadline=None)
@given(units.filter(bool))
def test_any_repeated_text_is_read_at_half_a_megabyte_a_second_and_more(unit: str) -> None:
    text = _sized("", unit, 100_000)
    assert _seconds(lambda: KEYS.find(text)) <= 2.0


def test_text_without_a_sign_is_read_at_a_hundred_megabytes_a_second() -> None:
    text = (
        "The quick brown fox, private keys and (public) ones: 12:34:56, commit 9f8e7d6c5b4a.\n" * 100_000
    ).encode()
    KEYS.find(text[:1000])
    assert _seconds(lambda: KEYS.find(text)) <= len(text) / 10e6
