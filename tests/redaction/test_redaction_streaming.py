"""A file filtered piece by piece is the text filtered whole, wherever its pieces end."""

from __future__ import annotations

import io
import random
import time
import tracemalloc
from collections.abc import Iterator
from itertools import cycle

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.redaction import default_filter
from workbench.redaction.shapes import fill
from workbench.redaction.streaming import AROUND, redact_stream

WORDS = (
    "the quick brown fox jumps over a lazy dog while key and token are words of every page we read".split()
)


class Dripping:
    """A file that gives a few bytes at a time."""

    def __init__(self, data: bytes, sizes: list[int]) -> None:
        self._data = io.BytesIO(data)
        self._sizes = cycle(sizes)

    def read(self, size: int, /) -> bytes:
        return self._data.read(min(size, next(self._sizes)))


class Largest:
    """Counts what is written and keeps nothing."""

    def __init__(self) -> None:
        self.written = 0
        self.largest = 0

    def write(self, data: bytes, /) -> None:
        self.written += len(data)
        self.largest = max(self.largest, len(data))


def streamed(
    data: bytes, *, block: int, sizes: list[int] | None = None, limit: int = 1 << 23
) -> tuple[bytes, dict[str, int], int]:
    target = io.BytesIO()
    pieces = 0

    class Counting:
        def write(self, data: bytes, /) -> None:
            nonlocal pieces
            pieces += 1
            target.write(data)

    counts = redact_stream(Dripping(data, sizes or [1 << 16]), Counting(), block=block, limit=limit)
    return target.getvalue(), counts, pieces


def whole(data: bytes) -> tuple[bytes, dict[str, int]]:
    text, counts = default_filter().redact_text(data.decode("utf-8", "surrogateescape"))
    return text.encode("utf-8", "surrogateescape"), counts


def prose(size: int, seed: int, width: int = 12) -> str:
    draw = random.Random(seed)
    lines: list[str] = []
    left = size
    while left > 0:
        line = " ".join(draw.choices(WORDS, k=draw.randint(1, width)))
        lines.append(line)
        left -= len(line) + 1
    return "\n".join(lines)


def body(lines: int, seed: int) -> str:
    return "\n".join(fill("{base64:64}", seed * 10_000 + at) for at in range(lines))


def pem(lines: int, seed: int) -> str:
    return f"-----BEGIN PRIVATE KEY-----\n{body(lines, seed)}\n-----END PRIVATE KEY-----\n"


PIECES = st.one_of(
    st.builds(lambda size, seed: prose(size, seed), st.integers(1, 6000), st.integers(0, 99)),
    st.builds(lambda size, seed: prose(size, seed).replace("\n", "\r\n"), st.just(2000), st.integers(0, 9)),
    st.builds(lambda seed: f'"api_key": "{fill("{alnum:32}", seed)}"', st.integers(0, 9)),
    st.builds(lambda seed: f"the token is {fill('{alnum:40}', seed)} of today", st.integers(0, 9)),
    st.builds(lambda seed: f"token\n{fill('{alnum:40}', seed)}\n", st.integers(0, 9)),
    st.builds(lambda seed: fill("sk-proj-{alnum:48}", seed), st.integers(0, 9)),
    st.builds(lambda seed: fill("eyJ{alnum:33}.eyJ{alnum:900}.{url:43}", seed), st.integers(0, 9)),
    st.builds(lambda seed: f'password = "{fill("{alnum:12}", seed)}" \\\n  "{fill("{alnum:12}", seed + 1)}"', st.integers(0, 9)),
    st.builds(pem, st.integers(1, 60), st.integers(0, 9)),
    st.builds(lambda lines, seed: f"-----BEGIN PRIVATE KEY-----\n{body(lines, seed)}\n", st.integers(1, 9), st.integers(0, 9)),
    st.builds(lambda lines, seed: f"{body(lines, seed)}\n-----END PRIVATE KEY-----\n", st.integers(1, 9), st.integers(0, 9)),
    st.builds(body, st.integers(1, 80), st.integers(0, 9)),
    st.builds(lambda seed, times: f"{prose(200, seed)} ".replace("\n", " ") * times, st.integers(0, 9), st.integers(1, 40)),
    st.sampled_from(["\n", "\n\n", " ", "\\n", "ключ ", "пароль: ", "\ud880", "\udcff\udce2\udc82", "密", "\x00", "\t"]),
)  # fmt: skip
texts = st.lists(PIECES, min_size=3, max_size=25).map("".join)


@settings(max_examples=60, deadline=None)
@given(texts, st.integers(1, 5000), st.lists(st.integers(1, 9000), min_size=1, max_size=5))
def test_pieces_add_up_to_the_whole(text: str, block: int, sizes: list[int]) -> None:
    data = (text + prose(2 * AROUND, 1)).encode("utf-8", "surrogatepass")
    result, counts, pieces = streamed(data, block=block, sizes=sizes)
    assert (result, counts) == whole(data)
    assert pieces > 1


SECRETS = [
    "sk-proj-" + fill("{alnum:48}", 1),
    f"password: {fill('{alnum:14}', 2)}",
    f"the token was given to us as {fill('{alnum:40}', 3)}",
    f'api_key = "{fill("{alnum:16}", 4)}" +\n  "{fill("{alnum:16}", 5)}"',
    pem(4, 6),
    f"{body(3, 7)}\n-----END PRIVATE KEY-----\n",
]


@pytest.mark.parametrize("secret", SECRETS, ids=lambda secret: secret[:12])
def test_a_secret_anywhere_around_a_border_is_found(secret: str) -> None:
    filler = prose(3_000, 2)
    behind = prose(AROUND + 1_000, 3)
    for shift in range(0, len(secret) + 90, 7):
        data = f"{filler[: 2_600 + shift]}\n{secret}\n{behind}".encode()
        assert streamed(data, block=2_700)[:2] == whole(data)


@pytest.mark.parametrize("size", [1, 2, 3, 5, 7, 11, 4096])
def test_the_sizes_that_are_read_do_not_matter(size: int) -> None:
    data = (prose(9_000, 4) + "\n" + SECRETS[0] + "\nключ密\n" + pem(20, 5) + prose(12_000, 6)).encode()
    assert streamed(data, block=1_000, sizes=[size])[:2] == whole(data)


def test_a_line_without_an_end_is_cut_where_no_cue_is_near() -> None:
    draw = random.Random(1)
    parts: list[str] = []
    for at in range(3_000):
        parts.append(" ".join(draw.choices(WORDS, k=draw.randint(1, 120))))
        parts.append(draw.choice(["", "token " + "of it " * draw.randint(1, 70)]) + fill("{alnum:40}", at))
    data = " ".join(parts).encode()
    result, counts, pieces = streamed(data, block=200_000)
    assert (result, counts) == whole(data)
    assert pieces > 2 and counts["high_entropy"] > 10


@pytest.mark.parametrize(
    "unit",
    ["a", "=", "é", "\udcff", "A1b2", '"', "key=", "\\n", "eyJ", "[[", " "],
    ids=lambda unit: repr(unit),
)
def test_a_line_of_one_thing_is_streamed(unit: str) -> None:
    data = (unit * (900_000 // len(unit))).encode("utf-8", "surrogateescape")
    result, counts, pieces = streamed(data, block=50_000, limit=200_000)
    assert (result, counts) == whole(data)
    assert pieces > 2


def test_a_key_longer_than_the_limit_is_one_key() -> None:
    data = f"before\n{pem(9_000, 8)}after it\n{prose(30_000, 8)}".encode()
    result, counts, pieces = streamed(data, block=20_000, limit=60_000)
    assert (result, counts) == whole(data)
    assert counts == {"private_key": 1} and pieces > 5


def test_what_only_its_end_gives_away_is_found_as_far_as_the_limit_reaches() -> None:
    data = f"{body(3_000, 9)}\n-----END PRIVATE KEY-----\n{prose(30_000, 9)}".encode()
    assert whole(data)[1] == {"private_key": 1}
    result, counts, _ = streamed(data, block=20_000, limit=60_000)
    assert counts == {"private_key": 1}
    assert b"END PRIVATE" not in result
    assert result.count(b"\n") == data.count(b"\n")
    # What was written before the END line was read.
    assert 60_000 < len(result) < len(data) - AROUND // 2


def test_bytes_that_are_no_text_pass_unchanged() -> None:
    noise = random.Random(2).randbytes(120_000)
    data = noise + b"\n" + SECRETS[0].encode() + b"\n" + noise
    result, counts, _ = streamed(data, block=10_000)
    assert (result, counts) == whole(data)
    assert result == noise + b"\n[REDACTED:openai_key]\n" + noise


def test_nothing_is_written_for_nothing() -> None:
    assert streamed(b"", block=10) == (b"", {}, 0)


class Endless:
    """A file of `size` bytes that are made as they are read."""

    def __init__(self, size: int, unit: bytes) -> None:
        self._left = size
        self._unit = unit * ((1 << 20) // len(unit))

    def read(self, size: int, /) -> bytes:
        data = self._unit[: min(size, self._left)]
        self._left -= len(data)
        return data


def _units() -> Iterator[bytes]:
    yield prose(4_000, 5).encode() + b"\n"
    yield fill("{base64:4096}", 5).encode()


@pytest.mark.parametrize("unit", list(_units()), ids=["lines", "one line"])
def test_memory_does_not_grow_with_the_file(unit: bytes) -> None:
    def peak(size: int) -> int:
        target = Largest()
        tracemalloc.start()
        redact_stream(Endless(size, unit), target, block=100_000, limit=400_000)
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert target.written == size and target.largest <= 400_000
        return most

    peak(100_000)
    assert peak(6_000_000) <= 1.2 * peak(2_000_000) + 100_000


def test_streaming_costs_little_more_than_the_filter() -> None:
    data = (prose(3_000_000, 7) + "\n").encode()

    def fastest(streaming: bool) -> float:
        best = float("inf")
        for _ in range(3):
            start = time.process_time()
            if streaming:
                redact_stream(io.BytesIO(data), Largest())
            else:
                whole(data)
            best = min(best, time.process_time() - start)
        return best

    whole(b"warm key")
    assert fastest(True) <= 1.3 * fastest(False) + 0.05
