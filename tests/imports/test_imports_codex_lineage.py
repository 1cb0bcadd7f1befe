"""Forks and sub-agents repeat their parent's lines: each record has one name, whichever file it is in."""

from __future__ import annotations

from hashlib import sha256
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

from tests.imports.codex_records import (
    acta,
    call,
    described,
    event,
    ignored,
    meta,
    output,
    read,
    record,
    said,
    told,
    turn,
    write,
)
from workbench.imports.codex import discover
from workbench.imports.codex.identity import fingerprint, is_older, name_record, pass_prompt, pass_turn
from workbench.imports.codex.state import MAX_OCCURRENCES, Place
from workbench.imports.transcript.items import ActumItem, UnitClosedItem

PARENT = "0199a1b2-0000-7000-8000-00000000000a"
FORK = "0199a1b3-0000-7000-8000-00000000000b"
SECOND = "0199a1b4-0000-7000-8000-00000000000c"
CONTENT = (ActumItem, UnitClosedItem)


def talk(with_ids: bool, *names: str) -> list[dict[str, Any]]:
    records = []
    for name in names:
        records += [
            turn(f"turn-{name}" if with_ids else ""),
            said("user", f"do {name}"),
            event("user_message", message=f"do {name}"),
            call(f"call-{name}"),
            output(f"call-{name}", "ok"),
            said("assistant", "Done."),
            event("agent_message", message="Done."),
        ]
    return records


def later(records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The same lines as a fork copies them: with other timestamps, of another length."""
    return [each | {"timestamp": "2026-05-06T07:08:09Z"} for each in records]


def family(folder: Path, with_ids: bool) -> dict[str, Path]:
    parent = [meta(PARENT), *talk(with_ids, "one", "two")]
    fork_meta = meta(FORK, forked_from_id=PARENT)
    fork = [fork_meta, *later(parent), *talk(with_ids, "three")]
    second = [meta(SECOND), *later(fork), *talk(with_ids, "four")]
    return {
        PARENT: write(folder / "a.jsonl", [*parent, *talk(with_ids, "five")]),
        FORK: write(folder / "b.jsonl", [*fork, *talk(with_ids, "six")]),
        SECOND: write(folder / "c.jsonl", second),
    }


@pytest.mark.parametrize("with_ids", [True, False])
@pytest.mark.parametrize("order", permutations([PARENT, FORK, SECOND]))
def test_a_shared_record_enters_once_in_any_order(
    tmp_path: Path, order: tuple[str, ...], with_ids: bool
) -> None:
    files = family(tmp_path, with_ids)
    entered: dict[str, ActumItem] = {}
    for session in order:
        for actum in acta(read(files[session])):
            entered.setdefault(actum.source_key, actum)
    prompts = sorted(each.content for each in entered.values() if each.actor_kind == "human")
    assert prompts == sorted(f"do {name}" for name in ("one", "two", "three", "four", "five", "six"))
    assert [each.content for each in entered.values()].count("Done.") == 6
    assert [each.content for each in entered.values()].count("ok") == 6
    assert len(entered) == 24
    assert len({(each.content, str(each.metadata)) for each in entered.values()}) >= 18


def test_forks_name_what_they_come_from(tmp_path: Path) -> None:
    files = family(tmp_path, True)
    assert "forked_from" not in described(read(files[PARENT]))
    assert described(read(files[FORK]))["forked_from"] == f"codex/{PARENT}"
    assert described(read(files[SECOND]))["forked_from"] == f"codex/{FORK}"
    assert ignored(read(files[SECOND])).count("record:session_meta") == 2
    assert {each.chronicum_id for each in acta(read(files[SECOND]))} == {f"codex/{SECOND}"}


def test_the_same_words_after_the_fork_stay_apart(tmp_path: Path) -> None:
    shared = [turn("t1"), said("user", "begin")]
    own = [said("user", "go on"), said("assistant", "Done.")]
    parent = write(tmp_path / "a.jsonl", [meta(PARENT), *shared, turn("t2"), *own])
    fork = write(tmp_path / "b.jsonl", [meta(FORK), meta(PARENT), *shared, turn("t3"), *own])
    keys = [each.source_key for path in (parent, fork) for each in acta(read(path))]
    assert len(keys) == 6
    assert len(set(keys)) == 5


def test_strangers_with_the_same_words_share_nothing(tmp_path: Path) -> None:
    records = talk(True, "one")
    one = write(tmp_path / "a.jsonl", [meta(PARENT), *records])
    two = write(tmp_path / "b.jsonl", [meta(FORK), *records])
    assert not {each.source_key for each in acta(read(one))} & {each.source_key for each in acta(read(two))}


def test_a_fork_whose_parent_is_missing_is_kept_whole(tmp_path: Path) -> None:
    files = family(tmp_path, True)
    assert len(acta(read(files[FORK]))) == 16


def test_units_that_were_copied_close_once(tmp_path: Path) -> None:
    shared = [turn("t1"), record("compacted", {"message": "sum"}), event("thread_rolled_back", num_turns=2)]
    parent = read(write(tmp_path / "a.jsonl", [meta(PARENT), *shared]))
    fork = read(write(tmp_path / "b.jsonl", [meta(FORK), meta(PARENT), *later(shared)]))
    one, two = ([each.source_key for each in items if isinstance(each, CONTENT)] for items in (parent, fork))
    assert one == two
    assert len(one) == 3


def test_a_sub_agent_speaks_for_itself_only_after_what_it_copied(tmp_path: Path) -> None:
    spawn = {"parent_thread_id": PARENT, "agent_path": "/root/scout"}
    old, new = "0199a1b1-0000-7000-8000-000000000001", "0199a1b5-0000-7000-8000-000000000001"
    records = [
        meta(FORK, source={"subagent": {"thread_spawn": spawn}}),
        meta(PARENT),
        turn(old),
        said("user", "a"),
        said("assistant", "b"),
        turn(new),
        said("user", "c"),
        said("assistant", "d"),
    ]
    items = read(write(tmp_path / "a.jsonl", records))
    assert [(actor, content) for _, actor, content in told(items)] == [
        ("ada", "a"),
        ("codex", "b"),
        ("codex", "c"),
        ("/root/scout", "d"),
    ]


def test_discovery_puts_parents_first(tmp_path: Path) -> None:
    (tmp_path / "z").mkdir()
    for path, session in zip(("z/p.jsonl", "b.jsonl", "a.jsonl"), (PARENT, FORK, SECOND), strict=True):
        family(tmp_path / "made", True)[session].rename(tmp_path / path)
    for rest in (tmp_path / "made").iterdir():
        rest.unlink()
    found = discover([tmp_path])
    assert [each.session_id for each in found.candidates] == [PARENT, FORK, SECOND]


def test_a_circle_of_forks_is_read_all_the_same(tmp_path: Path) -> None:
    write(tmp_path / "a.jsonl", [meta(PARENT, forked_from_id=FORK), said("user", "a")])
    write(tmp_path / "b.jsonl", [meta(FORK, forked_from_id=PARENT), said("user", "b")])
    write(tmp_path / "c.jsonl", [meta(SECOND, forked_from_id=SECOND), said("user", "c")])
    found = discover([tmp_path])
    assert len(found.candidates) == 3
    assert "forked_from" not in described(read(tmp_path / "c.jsonl"))


def test_no_two_records_of_a_file_have_one_name() -> None:
    place = Place()
    names = [name_record(place, "s", "x") for _ in range(5)]
    for turn_id in ("t1", "t2", "t1", "t1", "t2"):
        pass_turn(place, turn_id)
        names += [name_record(place, "s", "x") for _ in range(2)]
    pass_prompt(place, "p")
    names += [name_record(place, "s", "x") for _ in range(2)]
    for _ in range(2):
        names += [name_record(place, "s", str(n)) for n in range(MAX_OCCURRENCES + 5)]
        assert len(place.occurrences) <= MAX_OCCURRENCES
    assert len(names) == len(set(names))


def test_of_a_secret_not_even_a_digest_is_kept() -> None:
    secrets = ["ghp_" + sha256(letter).hexdigest()[:36] for letter in (b"a", b"b")]
    one, two = (fingerprint(f"use {secret} here") for secret in secrets)
    assert one == two
    assert fingerprint("use this here") != fingerprint("use that here")


@pytest.mark.parametrize(
    ("turn_id", "session", "older"),
    [
        ("0199a1b1-0000-7000-8000-000000000001", FORK, True),
        ("0199A1B9-0000-7000-8000-000000000001", FORK, False),
        ("turn-1", FORK, None),
        ("0199a1b1-0000-4000-8000-000000000001", FORK, None),
    ],
)
def test_ids_tell_the_time_where_they_hold_one(turn_id: str, session: str, older: bool | None) -> None:
    assert is_older(turn_id, session) is older
