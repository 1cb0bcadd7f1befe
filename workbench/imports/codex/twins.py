"""Messages that a rollout holds twice, as a `response_item` and as an `event_msg`: each enters once.

Within a stretch (between two `turn_context` records) equal texts are matched one to one, and the item is
the one that stays. An event whose item has not come is held back, with everything behind it, so that acta
keep the file's order; what is held is bounded in records and bytes. Where the bound is reached the oldest
event enters, and if its item comes after all, it is the item that is dropped.
"""

from __future__ import annotations

import hashlib
from typing import Literal

import msgspec

from workbench.imports.codex.identity import fingerprint
from workbench.imports.codex.state import MAX_OFFERS, Offer, Place, RolloutState
from workbench.imports.transcript.items import ActumItem, Ignored, Item

MAX_HELD_RECORDS = 512
MAX_HELD_BYTES = 8 * 1024 * 1024

Voice = Literal["human", "agent", "thought"]
"""A text matches only texts of the same voice."""


class Said(msgspec.Struct, gc=False):
    """What a record says that another may say again."""

    voice: Voice
    parts: list[str]
    is_event: bool
    ignored: str
    """What the record counts as where its twin stays."""


class Group(msgspec.Struct, gc=False):
    """The items of one line, and where the line begins."""

    number: int
    offset: int
    size: int
    items: list[Item]
    digest: hashlib._Hash | None = None
    """Of the bytes before the line; of an event only."""
    place: Place | None = None
    """As it was before the line; of an event only."""
    open_text: str = ""
    """Fingerprint of an event's text while its item may still come."""
    ignored: str = ""
    """What that event counts as if it comes."""


class Twins:
    """Holds groups back until it is known which of them stay. They come out in the order they came in."""

    def __init__(self, state: RolloutState) -> None:
        self._state = state
        self._groups: list[Group] = []
        self._bytes = 0
        self._open = 0
        """How many groups of `_groups` are events that still wait."""

    @property
    def first_open(self) -> Group | None:
        """The oldest event that waits for its item: the first of what is held."""
        return self._groups[0] if self._groups else None

    def add(self, group: Group, said: Said | None) -> list[Group]:
        """Take the next group; returns those that may go now."""
        if said is not None:
            if said.is_event:
                self._hear_event(group, said)
            else:
                self._hear_item(group, said)
        if not self._groups and not group.open_text:
            return [group]
        self._groups.append(group)
        self._bytes += group.size
        released = self._release()
        while self._open and (len(self._groups) > MAX_HELD_RECORDS or self._bytes > MAX_HELD_BYTES):
            # What is left always begins with an event that waits.
            self._enter(self._groups[0])
            released.extend(self._release())
        return released

    def end_stretch(self) -> list[Group]:
        """Between two turns: what waited has no twin and stays."""
        for group in self._groups:
            group.open_text = ""
        self._open = 0
        place = self._state.place
        place.offers, place.entered = [], []
        return self._release()

    def end_file(self) -> list[Group]:
        """The file has been left alone: what waits stays, and its item would come too late."""
        for group in self._groups:
            if group.open_text:
                self._enter(group)
        return self._release()

    def break_off(self) -> tuple[list[Group], int]:
        """The file may grow: everything but the events that wait, and how many these are.

        `first_open` is still the first of them, and reading has to resume there.
        """
        return [group for group in self._groups if not group.open_text], self._open

    def _release(self) -> list[Group]:
        groups = self._groups
        if not self._open:
            self._groups, self._bytes = [], 0
            return groups
        going = 0
        while not groups[going].open_text:
            going += 1
        if not going:
            return []
        released = groups[:going]
        del groups[:going]
        self._bytes -= sum(group.size for group in released)
        return released

    def _enter(self, group: Group) -> None:
        entered = self._state.place.entered
        entered.append(group.open_text)
        del entered[:-MAX_OFFERS]
        group.open_text = ""
        self._open -= 1

    def _hear_event(self, group: Group, said: Said) -> None:
        text = _key(said.voice, "".join(said.parts))
        offers = self._state.place.offers
        for index, offer in enumerate(offers):
            if text in offer.whole:
                del offers[index]
            elif text in offer.parts:
                _take_part(offers, index, text)
            else:
                continue
            group.items = _dropped(group, said.ignored)
            return
        group.open_text = text
        group.ignored = said.ignored
        self._open += 1

    def _hear_item(self, group: Group, said: Said) -> None:
        parts = [_key(said.voice, part) for part in said.parts]
        whole = [parts[0]]
        if len(parts) > 1:
            whole = [_key(said.voice, mark.join(said.parts)) for mark in ("", "\n", "\n\n")]
        offer = Offer(whole, parts if len(parts) > 1 else [])
        if self._open and self._answer(offer):
            return
        entered = self._state.place.entered
        if entered and offer.whole:
            late = [text for text in whole if text in entered][:1]
            if not late and all(entered.count(part) >= parts.count(part) for part in parts):
                late = parts
            for text in late:
                entered.remove(text)
            if late:
                group.items = _dropped(group, said.ignored)
                return
        offers = self._state.place.offers
        offers.append(offer)
        del offers[:-MAX_OFFERS]

    def _answer(self, offer: Offer) -> bool:
        """Drop the events that wait for this item; whether nothing of it is left to be repeated."""
        for group in self._groups:
            text = group.open_text
            if not text:
                continue
            if text in offer.whole:
                self._drop(group)
                return True
            if text in offer.parts:
                self._drop(group)
                # Once its parts are repeated one by one, the whole is not repeated as well.
                offer.whole = []
                offer.parts.remove(text)
                if not offer.parts:
                    return True
        return False

    def _drop(self, group: Group) -> None:
        group.items = _dropped(group, group.ignored)
        group.open_text = ""
        self._open -= 1


def _take_part(offers: list[Offer], index: int, text: str) -> None:
    left = offers[index].parts.copy()
    left.remove(text)
    if left:
        # A new one: copies of the place share the old one.
        offers[index] = Offer([], left)
    else:
        del offers[index]


def _dropped(group: Group, kind: str) -> list[Item]:
    kept: list[Item] = [item for item in group.items if type(item) is not ActumItem]
    return [*kept, Ignored(kind, group.number)]


def _key(voice: Voice, text: str) -> str:
    return f"{voice[0]}{fingerprint(text)}"
