"""Whole lines from bytes: ends, offsets, digests, bounds."""

from __future__ import annotations

import hashlib
import io
import tracemalloc
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from workbench.imports.transcript.lines import PASSING_BYTES, READ_SIZE, Line, LineReader, digest_prefix


def all_lines(data: bytes, limit: int = 1000) -> tuple[list[Line], LineReader]:
    reader = LineReader(io.BytesIO(data), limit=limit)
    return list(reader), reader


def test_lines_know_their_number_and_offset() -> None:
    found, reader = all_lines(b"a\n\nbc\r\nd")
    assert found == [
        Line(1, 0, b"a\n"),
        Line(2, 2, b"\n"),
        Line(3, 3, b"bc\r\n"),
        Line(4, 7, b"d", ended=False),
    ]
    assert (reader.offset, reader.number, reader.inside_line) == (8, 4, True)


def test_a_declined_last_line_counts_as_not_read() -> None:
    reader = LineReader(io.BytesIO(b"a\nbc"))
    for line in reader:
        if not line.ended:
            reader.decline()
    assert (reader.offset, reader.number, reader.partial, reader.inside_line) == (2, 1, 2, False)
    assert reader.digest.hexdigest() == hashlib.sha256(b"a\n").hexdigest()


def test_a_line_over_the_limit_is_passed_over_and_digested() -> None:
    data = b"a\n" + b"x" * 5000 + b"\nb\n"
    found, reader = all_lines(data, limit=100)
    assert found == [Line(1, 0, b"a\n"), Line(2, 2, b""), Line(3, 5003, b"b\n")]
    assert reader.digest.hexdigest() == hashlib.sha256(data).hexdigest()


def test_a_last_line_over_the_limit_is_handed_out_once_and_its_rest_is_passed_over() -> None:
    data = b"a\n" + b"x" * 5000
    found, reader = all_lines(data, limit=100)
    assert found == [Line(1, 0, b"a\n"), Line(2, 2, b"", ended=False)]
    assert (reader.offset, reader.number, reader.partial) == (5002, 2, 0)
    assert reader.inside_line and reader.inside_long_line
    assert reader.digest.hexdigest() == hashlib.sha256(data).hexdigest()
    for more, expected in ((b"", []), (b"{}", []), (b"{}\nb\n", [Line(3, 5005, b"b\n")])):
        rest = LineReader(
            io.BytesIO(more),
            offset=reader.offset,
            number=reader.number,
            inside_line=True,
            inside_long_line=True,
            digest=reader.digest.copy(),
            limit=100,
        )
        assert list(rest) == expected
        assert rest.inside_long_line == (b"\n" not in more)
        assert rest.digest.hexdigest() == hashlib.sha256(data + more).hexdigest()


def test_a_line_of_just_the_limit_is_kept_and_one_byte_more_is_not() -> None:
    for limit in (1, 5, READ_SIZE - 1, READ_SIZE, 2 * READ_SIZE + 3):
        for end in (b"", b"\n"):
            [kept], _ = all_lines(b"x" * limit + end, limit)
            assert kept.data == b"x" * limit + end
            [passed], _ = all_lines(b"x" * (limit + 1) + end, limit)
            assert passed == Line(1, 0, b"", ended=bool(end))


class Endless(io.RawIOBase):
    """So many bytes of one line, and how many of them were read."""

    def __init__(self, size: int) -> None:
        self.left = size

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        size = min(len(buffer), self.left)
        buffer[:size] = b"x" * size
        self.left -= size
        return size


def test_a_line_without_end_is_held_up_to_the_limit_and_can_be_left() -> None:
    limit, size = 32 * 1024 * 1024, 256 * 1024 * 1024
    source = Endless(size)
    tracemalloc.start()
    found = list(LineReader(io.BufferedReader(source, READ_SIZE), limit=limit))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    # What is held grows in steps of an eighth.
    assert peak < 1.3 * limit + 4 * READ_SIZE
    assert [line.passing for line in found] == [True] * ((size - limit - 1) // PASSING_BYTES) + [False]
    left = Endless(size)
    for line in LineReader(io.BufferedReader(left, READ_SIZE), limit=limit):
        assert line.passing
        break
    assert left.left > size - limit - 2 * PASSING_BYTES


def each(line: Line) -> tuple[int, int, bytes]:
    return line.number, line.offset, line.data


@given(st.lists(st.binary(max_size=30)), st.integers(1, 40), st.data())
def test_reading_in_two_parts_is_reading_in_one(pieces: list[bytes], limit: int, data: st.DataObject) -> None:
    whole = b"\n".join(pieces)
    expected, _ = all_lines(whole, limit)
    cut = data.draw(st.integers(0, len(whole)))
    first = LineReader(io.BytesIO(whole[:cut]), limit=limit)
    found = []
    for line in first:
        if line.ended or not line.data:
            found.append(line)
        else:
            first.decline()
    file = io.BytesIO(whole)
    digest = digest_prefix(file, first.offset)
    assert digest is not None
    assert digest.hexdigest() == first.digest.hexdigest()
    rest = LineReader(
        file,
        offset=first.offset,
        number=first.number,
        inside_line=first.inside_line,
        inside_long_line=first.inside_long_line,
        digest=digest,
        limit=limit,
    )
    assert [each(line) for line in found + list(rest)] == [each(line) for line in expected]
    assert digest_prefix(io.BytesIO(whole), len(whole) + 1) is None
