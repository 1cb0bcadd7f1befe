"""Prose passes the secret filter before it is stored, on every path (contract log-and-chronicle, §8 "Ours")."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.chronicle.store_cases import STREAM, a_section, open_log, stored
from tests.chronicle.test_chronicle_store_file import chained, exported
from workbench.chronicle.errors import InvalidSection
from workbench.chronicle.export_file import load_export
from workbench.chronicle.sections import Section, Written
from workbench.chronicle.sqlite import SQLiteChronicleStore
from workbench.redaction import default_filter

Store = SQLiteChronicleStore
SECRET = "ghp_" + "aB3dE6gH9jK2mN5pQ8" + "sT1vW4yZ7bC0dF3hJ6"
PROSE = f"The key {SECRET} was found in the settings."


def by_file(store: Store, section: Section) -> object:
    """As somebody who edits an export."""
    store.append(a_section(1, 2))
    [head, _, tail] = [json.loads(line) for line in exported(store).split(b"\n") if line]
    store.reset()
    events = store.event_ids(section.anchor[1:3])
    line = {
        "section_id": section.anchor.section_id,
        "from_seq": section.anchor.from_seq,
        "to_seq": section.anchor.to_seq,
        "unit": section.anchor.unit,
        "first_event": str(events[section.anchor.from_seq]),
        "last_event": str(events[section.anchor.to_seq]),
        "pins": list(section.pins),
        "summarizer": section.written.summarizer,
        "prose": section.prose,
    }
    return load_export(store, io.BytesIO(chained([head, line, tail])))


WRITES: dict[str, Callable[[Store, Section], object]] = {
    "append": lambda store, section: store.append(section),
    "append_new": lambda store, section: store.append_new(section),
    "load": lambda store, section: store.load([a_section(8, 9), section]),
    "load from a file": by_file,
}


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
def test_no_path_stores_a_secret(tmp_path: Path, write: Callable[[Store, Section], object]) -> None:
    with stored(tmp_path, redactor=default_filter()) as (_, store):
        write(store, a_section(1, 3, PROSE, written=Written(0, 0, f"summarize --token {SECRET}")))
        found = store.section("1-3")
        assert found is not None
        assert "[REDACTED:" in found.prose
        assert found.prose.startswith("The key ") and found.prose.endswith(" was found in the settings.")
        assert SECRET not in found.written.summarizer
        with pytest.raises(InvalidSection, match="secret"):
            store.append(a_section(4, 6, pins=(SECRET,)))
    for path in tmp_path.iterdir():
        assert SECRET.encode() not in path.read_bytes()


def test_a_pins_own_keys_are_no_secrets(tmp_path: Path) -> None:
    key = "p1:model_call:015abd7f5cc57a2dd94b7590f04ad8084273905ee33ec5cebeae62276a97f862"
    with stored(tmp_path, redactor=default_filter()) as (_, store):
        store.append(a_section(1, 3, PROSE, pins=(key,)))
        assert store.sections()[0].pins == (key,)


def test_a_chain_is_not_mixed_where_only_the_filter_made_the_difference(tmp_path: Path) -> None:
    first, second = a_section(1, 3, PROSE), a_section(1, 3, generation=2)
    with stored(tmp_path, redactor=default_filter()) as (_, store):
        store.append(first)
        assert store.load([first, second]) == 1
        store.reset()
        store.append(first)
        kept = store.export()
        store.load([*kept, second])
        assert [each.prose for each in store.export()] == [kept[0].prose, second.prose]
    with open_log(tmp_path / "log.db") as log:
        # What an older filter let through stays as it is until it is scrubbed, and is no other prose for it.
        store = Store(log, STREAM)
        store.reset()
        store.append(first)
    with open_log(tmp_path / "log.db", default_filter()) as log:
        assert Store(log, STREAM).load([first, second]) == 1
