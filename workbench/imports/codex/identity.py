"""What a record is called, so that it enters once, whichever file it is read from.

A fork copies its parent's lines with other timestamps, at other places of the file, so neither names a
record. Its name is made of the session whose lines are copied, of the turn, of the prompts since, and of
what the record itself says; equal records behind the same prompts are told apart by counting. So the copy
has the name of its original whichever of the two is imported first, and what the two sessions say after
they part has names of its own (contract transcripts, "Lineage").
"""

from __future__ import annotations

import hashlib
import re
from datetime import UTC, datetime, timedelta

from workbench.imports.codex.state import MAX_OCCURRENCES, MAX_TURNS, Place
from workbench.redaction import default_filter

_UUID7 = re.compile(r"([0-9a-f]{8})-([0-9a-f]{4})-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}", re.IGNORECASE)


def fingerprint(text: str) -> str:
    """16 hex digits for a text, filtered before: of a secret not even a digest may be kept."""
    encoded = text.encode("utf-8", "surrogatepass")
    if default_filter().may_change(encoded):
        encoded = default_filter().redact_text(text)[0].encode("utf-8", "surrogatepass")
    return hashlib.blake2b(encoded, digest_size=8).hexdigest()


def name_record(place: Place, root: str, content: str) -> str:
    """The record key of the next record whose content has the fingerprint `content`."""
    count = place.occurrences.get(content, 0)
    if not count and len(place.occurrences) >= MAX_OCCURRENCES:
        _move(place, _mixed(place.anchor, "more"))
    place.occurrences[content] = count + 1
    return f"codex:{root}:{_mixed(place.anchor, content, str(count))}"


def pass_prompt(place: Place, content: str) -> None:
    """What follows stands behind the prompt with the fingerprint `content`."""
    _move(place, _mixed(place.anchor, content))


def pass_turn(place: Place, turn_id: str) -> None:
    """What follows belongs to a turn. A turn that was left and comes again is another stretch."""
    mark = fingerprint(turn_id)
    if mark == place.anchor_turn:
        return
    place.anchor_turn = mark
    if mark in place.recent_turns:
        _move(place, _mixed(place.anchor, mark))
    else:
        place.recent_turns.append(mark)
        del place.recent_turns[:-MAX_TURNS]
        _move(place, mark)


def is_older(turn_id: str, session_id: str) -> bool | None:
    """Whether a turn began before a session, told from their ids; None if these hold no times."""
    turn, session = _UUID7.fullmatch(turn_id), _UUID7.fullmatch(session_id)
    if turn is None or session is None:
        return None
    return (turn[1] + turn[2]).lower() < (session[1] + session[2]).lower()


def time_in_id(session_id: str) -> datetime | None:
    """When an id was made, if it is a UUID of version 7: these begin with the milliseconds since 1970."""
    found = _UUID7.fullmatch(session_id)
    if found is None:
        return None
    try:
        return datetime.fromtimestamp(0, UTC) + timedelta(milliseconds=int(found[1] + found[2], 16))
    except OverflowError:
        return None


def _move(place: Place, anchor: str) -> None:
    place.anchor = anchor
    place.occurrences.clear()


def _mixed(*parts: str) -> str:
    return hashlib.blake2b("\0".join(parts).encode(), digest_size=12).hexdigest()
