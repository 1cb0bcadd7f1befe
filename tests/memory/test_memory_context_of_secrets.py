"""A name beside a value says what the value is: secrets that only their slot or their kind gives away."""

from __future__ import annotations

from pathlib import Path

from tests.memory.written_cases import fresh
from workbench.memory.errors import InvalidArgument

PASSWORD = "hV7mK2pQ9xRt"


def test_a_slot_tells_what_its_value_is(tmp_path: Path) -> None:
    kept = fresh(tmp_path)
    fact = {"slot": "db.password", "value": PASSWORD, "kind": "observed"}
    first = kept.record_event("noted", project="atlas", fact=fact, request_id="once")
    assert sum(first.redactions.values()) == 1
    stored = kept.of_type("fact.asserted")[0].payload
    assert stored["value"] == "[REDACTED:assigned_secret]"
    assert [(each["kind"], each["field"]) for each in stored["redactions"]] == [("assigned_secret", "value")]
    assert PASSWORD not in repr(kept.events())
    again = kept.record_event("noted", project="atlas", fact=fact, request_id="once")
    assert (again.position, again.fact_id) == (first.position, first.fact_id)
    confirmed = kept.record_event("seen again", project="atlas", fact=fact)
    assert confirmed.fact_id == first.fact_id


def test_an_entity_whose_kind_says_that_its_id_is_a_secret_is_refused(tmp_path: Path) -> None:
    kept = fresh(tmp_path)
    with kept.refuses(InvalidArgument, "entity_id holds what looks like a secret"):
        kept.record_event("x", entity_type="password", entity_id=PASSWORD)
    assert kept.record_event("x", entity_type="ticket", entity_id="atlas-12").entity_id == "atlas-12"
