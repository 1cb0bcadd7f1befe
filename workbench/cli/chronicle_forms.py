"""Sections and streams as the JSON objects that scripts rely on (contract surfaces, "JSON keys")."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from workbench.workspace.readers.chronicle_queries import HoleRow, RangeRow

if TYPE_CHECKING:
    from workbench.chronicle.sections import Anchor, Section, Written
    from workbench.log.pins.recording import Recording
    from workbench.workspace.chronicle.stream import Rebuilt
    from workbench.workspace.readers.chronicle_queries import ChronicleReader, StreamRow


def stream(row: StreamRow) -> dict[str, Any]:
    """A stream of `chronicle status`; `lag` counts events, `due` closed stretches."""
    return {
        "stream": row.stream,
        "kind": row.kind,
        "title": row.title,
        "domain": row.domain or None,
        "project": row.project or None,
        "task_id": row.task_id or None,
        "sections": row.sections,
        "consolidated_through": row.consolidated_through,
        "last_seq": row.last_seq,
        "lag": row.lag_events,
        "due": row.due_units,
        "withheld": row.withheld,
    }


def anchor(found: Anchor) -> dict[str, Any]:
    """Which events a section stands for."""
    return {
        "section_id": found.section_id,
        "from_seq": found.from_seq,
        "to_seq": found.to_seq,
        "unit": found.unit,
        "supersedes": found.supersedes,
    }


def section(found: Section, chain: Sequence[Section], *, withheld: bool) -> dict[str, Any]:
    """A section; `chain` are all generations of its range, the first one first."""
    ids = [each.anchor.section_id for each in chain]
    name = found.anchor.section_id
    return {
        **anchor(found.anchor),
        "current": name == ids[-1],
        "generation": ids.index(name) + 1,
        "prose": found.prose,
        "pins": list(found.pins),
        "written": _written(found.written),
        "withheld": withheld,
    }


def sections(
    reader: ChronicleReader, stream_name: str, entries: Sequence[RangeRow | HoleRow], *, every: bool
) -> Iterator[dict[str, Any]]:
    """The sections of ranges, with their prose; superseded ones before what supersedes them."""
    for row in entries:
        if not isinstance(row, RangeRow):
            continue
        chain = reader.generations(stream_name, row.anchor.from_seq, row.anchor.to_seq)
        for found in chain if every else chain[-1:]:
            withheld = row.withheld if found is chain[-1] else reader.withheld(stream_name, found)
            yield section(found, chain, withheld=withheld)


def holes(entries: Sequence[RangeRow | HoleRow]) -> list[dict[str, Any]]:
    """The events between sections that no section stands for."""
    return [
        {"from_seq": row.from_seq, "to_seq": row.to_seq, "before": row.before}
        for row in entries
        if isinstance(row, HoleRow)
    ]


def drawn(by_stream: Mapping[str, Sequence[Anchor]]) -> list[dict[str, Any]]:
    """What a consolidation wrote."""
    return [{"stream": name, **anchor(each)} for name, found in by_stream.items() for each in found]


def rebuilt(stream_name: str, done: Rebuilt | None) -> dict[str, Any]:
    """What a rebuild did; `sections` is null for one that was stopped and changed nothing."""
    return {
        "stream": stream_name,
        "sections": None if done is None else len(done.sections),
        "drawn": 0 if done is None else done.drawn,
        "stopped": done is None,
    }


def recording(found: Recording) -> dict[str, Any]:
    """What a recording holds."""
    return {"header": found.header, "pins": len(found.events)}


def _written(written: Written) -> dict[str, Any]:
    from workbench.log.times import from_micros, to_text

    return {
        "at": to_text(from_micros(written.at)) if written.at else None,
        "position": written.position or None,
        "summarizer": written.summarizer or None,
        "summarizer_version": written.summarizer_version or None,
    }
