"""Payload rows as the objects that folds work with: today's shape, whatever version was stored."""

from __future__ import annotations

from typing import Any

import msgspec

from workbench.log.errors import InvalidPayload, UnknownEventType
from workbench.log.folds import FoldEvent
from workbench.log.registry import EventType, EventTypeRegistry, Payload
from workbench.log.upcasts import EventKey, UpcastRegistry

_as_object = msgspec.json.Decoder(dict[str, Any]).decode


class FoldDecoder:
    """Turns rows of `sqlite.TO_FOLD` into events for inline folds; safe to share between threads.

    An inline fold always sees the newest version of a payload, when it is appended and when it is
    folded again years later: otherwise the two would not give the same rows.
    """

    def __init__(self, types: EventTypeRegistry, upcasts: UpcastRegistry | None = None) -> None:
        self._types = types
        self._upcasts = UpcastRegistry() if upcasts is None else upcasts
        self._decoders: dict[type[Payload], msgspec.json.Decoder[Payload]] = {}

    def event(self, row: tuple[Any, ...]) -> FoldEvent | None:
        """The event of a row; None for a type that is not registered, which no fold can read.

        Raises `UnknownEventType` for a registered type in a version newer than the registry's,
        `UpcastGap`, and `InvalidPayload` for a row that does not fit its type.
        """
        position, event_id, cause, number, name, seq = row[:6]
        namespace, type_name, version, private, recorded, occurred, encoded = row[6:]
        newest = self._types.get(namespace, type_name)
        if newest is None:
            return None
        if version > newest.version:
            raise UnknownEventType(
                f"position {position} holds version {version} of {namespace}:{type_name}; "
                f"this release knows up to {newest.version}",
                hint="install a newer chronicle-workbench",
            )
        payload = self._payload(newest, version, encoded)
        return FoldEvent(
            position, event_id, cause, number, name, seq, newest, bool(private), recorded, occurred, payload
        )

    def forward(self, newest: EventType, stored: EventType, encoded: str) -> tuple[EventType, Payload]:
        """A payload that is about to be stored in an older version, as folds see it: type and payload."""
        return newest, self._payload(newest, stored.version, encoded)

    def _payload(self, newest: EventType, version: int, encoded: str) -> Payload:
        try:
            if version == newest.version:
                decoder = self._decoders.get(newest.model)
                if decoder is None:
                    decoder = self._decoders[newest.model] = msgspec.json.Decoder(newest.model)
                return decoder.decode(encoded)
            key = EventKey(newest.namespace, newest.type, version)
            _, brought = self._upcasts.apply(key, _as_object(encoded), target_version=newest.version)
            return converted(newest, brought)
        except msgspec.DecodeError as error:
            raise InvalidPayload(f"{newest.type}: a stored payload does not fit: {error}") from None


def converted(event_type: EventType, payload: dict[str, Any]) -> Payload:
    """A payload as its type's class; fields that the class does not know are left out.

    Raises `InvalidPayload` for one that does not fit.
    """
    try:
        return msgspec.convert(payload, event_type.model, str_keys=True)
    except msgspec.ValidationError as error:
        raise InvalidPayload(f"{event_type.type}: a stored payload does not fit: {error}") from None
