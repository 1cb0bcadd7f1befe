"""Whole lines from bytes: ends, offsets, digests, bounds."""

from __future__ import annotations

import hashlib
import io

from hypothesis import given
from hypothesis import strategies as st

from workbench.imports.transcript.lines import Line, LineReader, digest_prefix


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


def test_a_long_line_that_is_still_being_written_waits() -> None:
    found, reader = all_lines(b"a\n" + b"x" * 5000, limit=100)
    assert found == [Line(1, 0, b"a\n")]
    assert (reader.offset, reader.partial) == (2, 5000)


@given(st.lists(st.binary(max_size=30)), st.integers(1, 40), st.data())
def test_reading_in_two_parts_is_reading_in_one(pieces: list[bytes], limit: int, data: st.DataObject) -> None:
    whole = b"\n".join(pieces)
    expected, _ = all_lines(whole, limit)
    cut = data.draw(st.integers(0, len(whole)))
    first = LineReader(io.BytesIO(whole[:cut]), limit=limit)
    found = []
    for line in first:
        if line.ended:
            found.append(line)
        else:
            first.decline()
    file = io.BytesIO(whole)
    digest = digest_prefix(file, first.offset)
    assert digest is not None
    assert digest.hexdigest() == first.digest.hexdigest()
    rest = LineReader(file, offset=first.offset, number=first.number, digest=digest, limit=limit)
    assert found + list(rest) == expected
    assert digest_prefix(io.BytesIO(whole), len(whole) + 1) is None
