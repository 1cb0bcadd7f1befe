"""The fold `purged_artifacts`: by digest the last purge, whatever came between."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.evidence.events import EVENT_TYPES, ArtifactPurged
from workbench.evidence.folds import FOLDS
from workbench.log import EventLog
from workbench.log.errors import SecretInIdentifier
from workbench.log.registry import EventTypeRegistry
from workbench.redaction import default_filter
from workbench.storage import fetch

DIGESTS = [letter * 64 for letter in "abc"]


def opened(folder: str | Path) -> EventLog:
    """A log of its own, with the program's filter at its door."""
    return EventLog.open(
        Path(folder) / "log.db",
        FOLDS,
        EventTypeRegistry(EVENT_TYPES),
        redactor=default_filter(),
        synchronous="OFF",
    )


def purged(digest: str, *, domain: str = "global", by: str = "ada") -> ArtifactPurged:
    """One purge."""
    return ArtifactPurged(domain=domain, sha256=digest, reason="why not", by=by)


@settings(deadline=None, max_examples=30)
@given(batches=st.lists(st.lists(st.sampled_from(DIGESTS), max_size=4), max_size=6))
def test_the_last_purge_of_each_counts(batches: list[list[str]]) -> None:
    with tempfile.TemporaryDirectory() as folder, opened(folder) as log:
        last: dict[str, int] = {}
        position = 0
        for batch in batches:
            events = [purged(digest) for digest in batch]
            log.append(events[0].stream if events else purged("").stream, events)
            for digest in batch:
                position += 1
                last[digest] = position
        with log.reader() as connection:
            found = fetch.rows(connection, "SELECT sha256, position FROM purged_artifacts")
        assert dict(found) == last


def test_any_digest_passes_the_door_as_it_is(tmp_path: Path) -> None:
    import hashlib

    digests = [hashlib.sha256(b"%d" % number).hexdigest() for number in range(300)]
    with opened(tmp_path) as log:
        log.append(purged("").stream, [purged(digest) for digest in digests])
        assert [event.payload["sha256"] for event in log.read()] == digests


def test_a_secret_in_a_name_is_refused(tmp_path: Path) -> None:
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8"
    with opened(tmp_path) as log:
        for event in (purged(token), purged("a" * 64, by=token), purged("a" * 64, domain=token)):
            with pytest.raises(SecretInIdentifier):
                log.append(event.stream, [event])
        assert log.last_position() == 0
