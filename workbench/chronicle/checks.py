"""What must hold of every section, whoever writes it (contract log-and-chronicle, §8 "Ours").

What the section says passes the secret filter here, before anything holds the write lock: filtering takes
longer than storing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice

import msgspec

from workbench.chronicle.errors import InvalidSection
from workbench.chronicle.limits import MAX_AUTHOR, MAX_PIN_KEY, MAX_PINS, MAX_PROSE
from workbench.chronicle.sections import Anchor, Section, Written, section_id
from workbench.log.ports import Redactor

_PROBED_CHARACTERS = 64 * 1024
"""So much text is looked through together; only where something may be found in it, section by section."""
_LARGEST = 2**63 - 1
_SURROGATES = re.compile("[\ud800-\udfff]")
_GENERATION = re.compile(r"[0-9]+-[0-9]+(?:#(?P<generation>[1-9][0-9]*))?", re.ASCII)
_ID_CHARACTERS = 100
_REPLACEMENT = "\N{REPLACEMENT CHARACTER}"


def is_text(text: str) -> bool:
    """Whether a text can be stored: one with a lone surrogate has no UTF-8."""
    return _SURROGATES.search(text) is None


def cleaned(sections: Sequence[Section], redactor: Redactor) -> list[Section]:
    """The sections with everything that may be free text filtered, in order; see `DESIGN` §2 "The door".

    A lone surrogate becomes U+FFFD. Raises `InvalidSection` for what is longer than `limits` say, before
    anything looks through it, and for a pin's key that is no text or holds a secret: a key is never
    rewritten.
    """
    clean: list[Section] = []
    for run in _runs(sections):
        run = [_storable(section) for section in run]
        # One look over many costs little more than one over a single one.
        probed = msgspec.json.encode([(each.prose, each.pins, each.written[2:]) for each in run])
        if redactor.may_change(probed):
            run = [_filtered(section, redactor) for section in run]
        clean += run
    return clean


def _runs(sections: Sequence[Section]) -> Iterator[list[Section]]:
    rest = iter(sections)
    while first := list(islice(rest, 1)):
        size = len(first[0].prose)
        while size < _PROBED_CHARACTERS and (more := next(rest, None)) is not None:
            first.append(more)
            size += len(more.prose)
        yield first


def _storable(section: Section) -> Section:
    _check_sizes(section)
    for place, key in enumerate(section.pins, 1):
        if not is_text(key):
            raise _invalid(section.anchor, f"the key of pin {place} is no valid text")
        if len(key) > MAX_PIN_KEY:
            said = f"the key of pin {place} has {len(key):,} characters, and may have {MAX_PIN_KEY}"
            raise _invalid(section.anchor, said)
    texts = (section.prose, section.written.summarizer, section.written.summarizer_version)
    if all(map(is_text, texts)):
        return section
    prose, summarizer, version = (_SURROGATES.sub(_REPLACEMENT, text) for text in texts)
    written = section.written._replace(summarizer=summarizer, summarizer_version=version)
    return section._replace(prose=prose, written=written)


def _check_sizes(section: Section) -> None:
    if len(section.prose) > MAX_PROSE:
        said = f"its prose has {len(section.prose):,} characters, and a section holds {MAX_PROSE:,}"
        raise _invalid(section.anchor, said)
    if len(section.pins) > MAX_PINS:
        raise _invalid(section.anchor, f"it has {len(section.pins):,} pins, and a section holds {MAX_PINS:,}")
    for what, text in (
        ("summarizer", section.written.summarizer),
        ("summarizer_version", section.written.summarizer_version),
    ):
        if len(text) > MAX_AUTHOR:
            said = f"its {what} has {len(text):,} characters, and may have {MAX_AUTHOR}"
            raise _invalid(section.anchor, said)


def _filtered(section: Section, redactor: Redactor) -> Section:
    for key in section.pins:
        if redactor.redact_text(key)[1]:
            raise _invalid(section.anchor, "the key of a pin holds what looks like a secret")
    prose, _ = redactor.redact_text(section.prose)
    summarizer, _ = redactor.redact_text(section.written.summarizer)
    version, _ = redactor.redact_text(section.written.summarizer_version)
    written = section.written._replace(summarizer=summarizer, summarizer_version=version)
    return section._replace(prose=prose, written=written)


def check_content(section: Section, last_seq: int) -> None:
    """Raise `InvalidSection` where the range, the unit, the prose or the metadata of a section cannot be.

    `last_seq` is the last one of the stream. The id is looked at by `check_id`, once it is known what the
    section supersedes.
    """
    anchor = section.anchor
    check_range(anchor)
    if anchor.to_seq > last_seq:
        raise _invalid(anchor, f"it reaches to event {anchor.to_seq}, but the stream ends with {last_seq}")
    if not section.prose.strip():
        raise _invalid(anchor, "it has no prose")
    written: Written = section.written
    if not (0 <= written.position <= _LARGEST and 0 <= written.at <= _LARGEST):
        raise _invalid(anchor, "what it says of when it was written cannot be")


def check_range(anchor: Anchor) -> None:
    """Raise `InvalidSection` for a range, or an event that closes it, that can be in no stream."""
    _, from_seq, to_seq, unit, _ = anchor
    if not 1 <= from_seq <= to_seq:
        raise _invalid(anchor, f"{from_seq} to {to_seq} is no range of events")
    if not from_seq <= unit <= to_seq:
        raise _invalid(anchor, f"the event that closes it, {unit}, lies outside of it")


def closes_nothing(anchor: Anchor, what: str) -> InvalidSection:
    """The event that should close a section closes nothing: what to say; `what` it is."""
    return _invalid(anchor, f"event {anchor.unit}, which is said to close it, closes nothing ({what})")


def check_id(anchor: Anchor, generation: int) -> None:
    """Raise `InvalidSection` for an id that does not follow from the range and the generation."""
    derived = section_id(anchor.from_seq, anchor.to_seq, generation=generation)
    if anchor.section_id != derived:
        raise _invalid(anchor, f"its id should be {derived}")


def generation_of(section_id: str) -> int:
    """The generation that an id names: 1 for a range's first prose; 0 for what is no section's id."""
    match = _GENERATION.fullmatch(section_id) if len(section_id) <= _ID_CHARACTERS else None
    if match is None:
        return 0
    generation = int(match["generation"] or 1)
    # The first prose of a range has no number behind it.
    return 0 if match["generation"] == "1" else generation


def shown(section_id: str) -> str:
    """An id for a sentence, cut where it is long, without anything that acts on a terminal."""
    plain = "".join(c if c.isprintable() else "�" for c in section_id[: _ID_CHARACTERS + 1])
    return plain if len(plain) <= _ID_CHARACTERS else f"{plain[:_ID_CHARACTERS]}…"


def _invalid(anchor: Anchor, why: str) -> InvalidSection:
    return InvalidSection(
        f"section {shown(anchor.section_id)} cannot be stored: {why}", section_id=anchor.section_id
    )
