"""What the secret filter costs: megabytes a second, beside copying and hashing the same bytes.

Then hostile texts, which must take time in proportion to their length, what the rules find of freshly made
secrets, and how many lines of real source they mark by mistake. Figures are printed, ratios asserted.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import sysconfig
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import workbench
from tests.benchmarks.large_transcript import records
from workbench.redaction import default_filter, redact
from workbench.redaction.rules import CONTEXT_FILES, RULE_FILES, load_rules
from workbench.redaction.shapes import example, fill

pytestmark = pytest.mark.bench

MEGABYTE = 1_000_000
SIZE = 8 * MEGABYTE
LEAST_SHARE_OF_HASHING = 0.005
"""Of the rate of SHA-256, which processors with instructions for it do at 1 to 2 GB/s."""
MARKED_AT_MOST = 1 / 20_000
FOUND_AT_LEAST = 0.99
PER_RULE = 200

_SOURCES = [Path(workbench.__file__).parents[1], Path(sysconfig.get_path("stdlib"))]
_SITE = Path(sysconfig.get_path("purelib"))
_SUFFIXES = {".py", ".toml", ".md", ".tcss", ".sql", ".lock", ".cfg"}
# The filter's own rules and tests speak of nothing but secrets.
_OWN = ("/redaction/", "/.git/", "/__pycache__/", "/test_bench_redaction.py")


def _seconds(work: Callable[[], object]) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began


def _rates(name: str, texts: list[str]) -> tuple[float, float]:
    """Print and give the filter's rate and that of SHA-256 over the same texts, in MB/s."""
    door = default_filter()
    encoded = [text.encode() for text in texts]
    size = sum(map(len, encoded)) / MEGABYTE
    door.redact_text(texts[0])
    filtering = min(_seconds(lambda: [door.redact_text(text) for text in texts]) for _ in range(2))
    scanning = min(_seconds(lambda: [door.may_change(data) for data in encoded]) for _ in range(2))
    hashing = _seconds(lambda: [hashlib.sha256(data).digest() for data in encoded])
    copying = _seconds(lambda: [bytes(bytearray(data)) for data in encoded])
    rates = [size / max(taken, 1e-9) for taken in (filtering, scanning, hashing, copying)]
    print(
        f"\n{name:<28} {size:6.1f} MB: filter {rates[0]:7.1f} MB/s, quick test {rates[1]:7.1f}, "
        f"SHA-256 {rates[2]:7.1f}, copy {rates[3]:7.1f}"
    )
    return rates[0], rates[2]


def _files(roots: list[Path]) -> Iterator[Path]:
    for root in roots:
        for folder, folders, names in os.walk(root):
            folders[:] = sorted(
                name for name in folders if name not in (".git", "__pycache__", "site-packages")
            )
            for name in sorted(names):
                path = Path(folder, name)
                if path.suffix in _SUFFIXES and not any(own in path.as_posix() for own in _OWN):
                    yield path


def _texts(roots: list[Path], limit: int) -> Iterator[tuple[Path, str]]:
    read = 0
    for path in _files(roots):
        try:
            text = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            continue
        yield path, text
        read += len(text)
        if read >= limit:
            return


def _prose() -> list[str]:
    draw = random.Random(5)
    words = (
        "the importer reads each row keeps its place and says so when a file moved under it because nobody "
        "should have to guess which copy was meant while the review of the last week went well enough"
    ).split()
    return [" ".join(draw.choices(words, k=2000)) + "." for _ in range(SIZE // 11_000)]


def _tool_output() -> list[str]:
    """Source, logs, JSON and listings in pieces as tools print them, with their words about tokens and keys."""
    draw = random.Random(6)
    pieces = [text[:20_000] for _, text in _texts([_SITE], SIZE // 2)]
    logs = [
        f"2026-03-02T09:{index % 60:02}:00Z INFO worker[{draw.randrange(9999)}] request {draw.getrandbits(128):032x} "
        f"tokens={draw.randrange(9000)} path=/api/v1/items/{draw.randrange(999)} key=item:{draw.randrange(99)} ok"
        for index in range(20_000)
    ]
    pieces += ["\n".join(logs[at : at + 100]) for at in range(0, len(logs), 100)]
    packages = {
        f"node_modules/js-tokens-{index}": {
            "version": f"{index % 9}.0.0",
            "resolved": f"https://registry.example.org/js-tokens/-/js-tokens-{index}.tgz",
            "integrity": f"sha512-{fill('{base64:86}', index)}==",
        }
        for index in range(4000)
    }
    lock = json.dumps(packages, indent=2)
    pieces += [lock[at : at + 20_000] for at in range(0, len(lock), 20_000)]
    draw.shuffle(pieces)
    return pieces


@pytest.mark.parametrize("name", ["prose", "tool output", "transcript", "one text of 8 MB"])
def test_filtering_beside_hashing(name: str) -> None:
    if name == "prose":
        texts = _prose()
    elif name == "tool output":
        texts = _tool_output()
    elif name == "transcript":
        lines = records(random.Random(3), "session")
        texts = [json.dumps(next(lines)) for _ in range(SIZE // 2_000)]
    else:
        texts = ["\n".join(_tool_output())[:SIZE]]
    filtering, hashing = _rates(name, texts)
    assert filtering >= LEAST_SHARE_OF_HASHING * hashing


HOSTILE = {
    "every cue": "api_key token secret password pwd bearer basic cookie curl -u ключ ",
    "no spaces": "tokensecretpasswordkeycredential",
    "quotes": '"',
    "a quote per name": 'password"',
    "base64": "{base64:9973}",
    "base64 in lines": "{base64:76}\n",
    "key=": "key=",
    "token=": "token=",
    "a rejected value": "token=aaaaaaaa ",
    "code": "password=self.password ",
    "random tokens": "token {alnum:40} ",
    "random tokens in lines": "token {alnum:40}\n",
    "labelled": "key {alnum:20} ",
    "addresses": "://a:b@",
    "references in addresses": "https://a:$b@c ",
    "basic": "basic aaaaaaaaaaaa ",
    "bearer": "bearer words-are-words-for-ever ",
    "cookies": "Cookie: a=b; c=d; ",
    "commands": "curl -u a:b ",
    "commands glued": "curl -u a:",
    "blanks of other widths": "password:\u00a0",
    "escaped signs": "password%3D",
    "blocks": "token: >-\n  abc\n",
    "joined": 'token="a" +\n',
    "continued": "token=a\\\n",
    "sentences": "the password for the server of the team is ",
    "brackets": '[{{"a":',
    "backslashes": "\\",
    "markers": "[REDACTED:github_token]",
    "cut markers": "[REDACTED:",
    "near": "aws_secret {base64:40} ",
    "hashes": "$2a$",
    "blanks": "token" + " " * 3000,
    "unfinished key": "-----BEGIN PRIVATE KEY-----\n{base64:64}\n",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_text_takes_time_in_proportion(name: str) -> None:
    unit = fill(HOSTILE[name], 1)
    half, whole = (
        (unit * (size // len(unit.encode()) + 1)).encode()[:size].decode("utf-8", "ignore")
        for size in (SIZE // 2, SIZE)
    )
    redact("warm")
    short, long = _seconds(lambda: redact(half)), _seconds(lambda: redact(whole))
    hashing = _seconds(lambda: hashlib.sha256(whole.encode()).digest())
    print(
        f"\n{name:<24} {SIZE / MEGABYTE / long:8.1f} MB/s, x{long / short:.2f}, {long / hashing:8.1f} x SHA-256"
    )
    assert long <= 2.5 * short + 0.1


CONTEXTS = [
    ("", ""),
    ("The value is ", ", as agreed."),
    ("VALUE=", "\nNEXT=1"),
    ('{"value": "', '"}'),
    ("\x1b[32m", "\x1b[0m"),
    ("first line\n- `", "`\nlast line"),
]


def test_fresh_secrets_vanish() -> None:
    missed: Counter[str] = Counter()
    made: Counter[str] = Counter()
    for rule in load_rules((*RULE_FILES, *CONTEXT_FILES)):
        for seed in range(1000, 1000 + PER_RULE):
            head, secret, tail = example(rule.positive[seed % len(rule.positive)], seed)
            before, after = CONTEXTS[seed % len(CONTEXTS)]
            made[rule.kind] += 1
            if secret in redact(before + head + secret + tail + after).text.replace("[REDACTED", ""):
                missed[rule.kind] += 1
    found = 1 - sum(missed.values()) / sum(made.values())
    print(f"\n{sum(made.values())} secrets of {len(made)} kinds: {found:.2%} vanish; missed: {dict(missed)}")
    assert found >= FOUND_AT_LEAST
    assert all(missed[kind] <= (1 - FOUND_AT_LEAST) * made[kind] + 1 for kind in made)


def test_source_code_stays() -> None:
    """Marks are printed without what was removed: most are examples that look like what they stand for."""
    lines = marked = size = 0
    kinds: Counter[str] = Counter()
    for path, text in _texts([*_SOURCES, _SITE], 200 * MEGABYTE):
        size += len(text)
        lines += text.count("\n")
        result = redact(text)
        if not result.counts:
            continue
        for number, (old, new) in enumerate(
            zip(text.split("\n"), result.text.split("\n"), strict=True), start=1
        ):
            if old != new:
                marked += 1
                kinds.update(part.split("]")[0] for part in new.split("[REDACTED:")[1:])
                print(f"\n{path}:{number}: {new.strip()[:120]}", end="")
    print(
        f"\n{size / MEGABYTE:.1f} MB, {lines} lines, {marked} marked (1 in {lines // max(marked, 1)}): {dict(kinds)}"
    )
    assert marked <= MARKED_AT_MOST * lines
