"""A person's verdict on its way into the log (contract memory, "Reviews")."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

import msgspec
from msgspec import UNSET

from workbench.log.event_log import EventLog
from workbench.log.identifiers import new_event_id
from workbench.log.registry import PendingEvent
from workbench.log.streams import StreamRef
from workbench.log.times import from_micros, to_text
from workbench.memory.entry import LISTS, free_text, name, one_of, required_name
from workbench.memory.errors import InvalidArgument, UnknownScope
from workbench.memory.events import ReviewItem, ReviewRecorded
from workbench.memory.filtering import refuse_secrets
from workbench.memory.targets import CHECKPOINT, SECTION, TARGET_KINDS, stream_of, target

VERDICTS = ("accepted", "questioned", "rejected")
MAX_COMMENT = 4000
MAX_TARGET = 1000
"""Characters of a section's id or of its stream's name."""


class ReviewReceipt(NamedTuple):
    """A review as it is stored."""

    review_id: str
    target_kind: str
    target_id: str
    target_stream: str
    verdict: str
    comment: str
    """After the filter."""
    item: ReviewItem | None
    reviewer: str
    prose_sha256: str | None
    position: int
    recorded_at: datetime

    def to_dict(self) -> dict[str, Any]:
        """For JSON; `item` as {list, index} or null, the time in ISO 8601, UTC."""
        return {
            **self._asdict(),
            "item": None if self.item is None else msgspec.to_builtins(self.item),
            "recorded_at": to_text(self.recorded_at),
        }


def write_review(
    log: EventLog,
    target_kind: object,
    target_id: object,
    verdict: object,
    *,
    comment: object = "",
    item: object = None,
    reviewer: object,
    prose_sha256: object = None,
    target_stream: object = None,
) -> ReviewReceipt:
    """Append `review.recorded` to the stream of what is judged.

    A checkpoint, fact or observation is looked up; a section is taken at its word, in its stream. `item`
    names a line of a checkpoint: {list, index from 0}. Raises `InvalidArgument`, and `UnknownScope` for a
    section's stream that holds nothing.
    """
    kind = one_of("target_kind", target_kind, TARGET_KINDS)
    judged = one_of("verdict", verdict, VERDICTS)
    said = free_text("comment", comment, MAX_COMMENT, empty=None)
    person = required_name("reviewer", reviewer)
    asked = required_name("target_id", target_id, limit=MAX_TARGET)
    line = _item(item, kind)
    digest = _digest(prose_sha256, kind)
    where = name("target_stream", target_stream, limit=MAX_TARGET)
    refuse_secrets(log.redactor, {"reviewer": person, "target_id": asked, "target_stream": where})
    with log.transaction() as transaction:
        if kind == SECTION:
            stream, private = _section_stream(log, where), False
        else:
            found = target(log, kind, asked)
            if found is None:
                raise InvalidArgument(
                    f"there is no {kind} of this id", hint="take the id from: workbench timeline"
                )
            if where is not None and where != found.stream.name:
                raise InvalidArgument("target_stream is not the stream of what is reviewed")
            if line is not None and line.index >= found.lines.get(line.list, 0):
                many = found.lines.get(line.list, 0)
                raise InvalidArgument(
                    f"the checkpoint has no such line in {line.list}",
                    hint=f"it has 0 to {many - 1} there" if many else "it has none there",
                )
            stream, asked, private = found.stream, found.id, found.private
        review = ReviewRecorded(
            scope_domain=stream.domain_key,
            scope_project=stream.project_key,
            scope_task=stream.task_key,
            target_kind=kind,
            target_id=asked,
            target_stream=stream.name,
            verdict=judged,
            comment=said,
            item=UNSET if line is None else line,
            reviewer=person,
            prose_sha256=UNSET if digest is None else digest,
        )
        # What is said about something private is as private.
        event = PendingEvent(
            payload=review, event_id=UUID(bytes=new_event_id()), visibility="private" if private else "public"
        )
        stored = transaction.append(stream, [event])
    kept = stored.payloads[0]
    assert isinstance(kept, ReviewRecorded)
    return ReviewReceipt(
        str(event.event_id),
        kind,
        asked,
        stream.name,
        judged,
        kept.comment,
        line,
        person,
        digest,
        stored.first_position,
        from_micros(stored.recorded_at),
    )


def _section_stream(log: EventLog, where: str | None) -> StreamRef:
    if where is None:
        raise InvalidArgument("a section's review needs target_stream", hint="name the section's stream")
    stream = stream_of(log, where)
    if stream is None:
        raise UnknownScope("no stream of this name holds anything", hint="see: workbench timeline")
    return stream


def _item(given: object, kind: str) -> ReviewItem | None:
    if given is None:
        return None
    if kind != CHECKPOINT:
        raise InvalidArgument("item names a line of a checkpoint; nothing else has lines")
    if isinstance(given, ReviewItem):
        given = {"list": given.list, "index": given.index}
    if not isinstance(given, Mapping) or set(given) != {"list", "index"}:
        raise InvalidArgument("item must be an object of list and index")
    index = given["index"]
    if type(index) is not int or index < 0:
        raise InvalidArgument("item.index must be a whole number from 0")
    return ReviewItem(list=one_of("item.list", given["list"], LISTS), index=index)


def _digest(given: object, kind: str) -> str | None:
    if given is None:
        return None
    if kind != SECTION:
        raise InvalidArgument("prose_sha256 belongs to the review of a section")
    if type(given) is not str or len(given) != 64 or set(given) - set("0123456789abcdef"):
        raise InvalidArgument("prose_sha256 must be 64 hexadecimal digits")
    return given
