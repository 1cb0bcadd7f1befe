"""One line to one record: a typed decoder that skips what nobody reads, and a lenient way for what it
refuses."""

from __future__ import annotations

from datetime import datetime

import msgspec

from workbench.imports.claude_code.records import Record, record_from
from workbench.imports.transcript.decoding import Undecodable, decode_leniently
from workbench.imports.transcript.fields import moment
from workbench.imports.transcript.items import Repaired

_decoder = msgspec.json.Decoder(Record)


def moment_of(data: bytes) -> datetime | None:
    """The time that the record on a line claims; None also for what is no record."""
    try:
        record = decode(data, 0, []) if data.strip() else None
    except Undecodable:
        return None
    return None if record is None else moment(record.timestamp)


def decode(data: bytes, line: int, repairs: list[Repaired]) -> Record | None:
    """The record on a line, None for a blank line; what had to be changed is added to `repairs`.

    Raises `Undecodable`.
    """
    try:
        record = _decoder.decode(data)
        if not data.isascii():
            # The decoder does not look into strings that it skips: without this the same bad byte would be a
            # problem in one field and pass in another.
            data.decode("utf-8")
        return record
    except RecursionError:
        raise Undecodable("too deep") from None
    except UnicodeDecodeError:
        raise Undecodable("not UTF-8") from None
    except msgspec.MsgspecError:
        value = decode_leniently(data, line, repairs)
        return None if value is None else record_from(value)
