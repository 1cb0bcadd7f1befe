"""Which events close a stretch of a stream (contract log-and-chronicle, §9)."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import ClassVar, Protocol

from workbench.chronicle.errors import ChronicleError
from workbench.log.registry import NAMESPACE, EventTypeRegistry, StoredEvent


class UnknownBoundary(ChronicleError, ValueError):
    """A stretch is to be closed by a type of event that this program does not know."""

    code: ClassVar[str] = "unknown_boundary"


class KnowsTypes(Protocol):
    """Says which event types there are."""

    def registered(self, namespace: str, type_name: str) -> bool:
        """Whether this program knows the type."""
        ...


class EventTypes:
    """The boundary that is a matter of type alone: a stretch ends with any event of these types."""

    def __init__(self, *types: tuple[str, str]) -> None:
        """Take (namespace, type) pairs, of whatever version; `ValueError` if there are none."""
        if not types:
            raise ValueError("no type of event closes anything")
        self.types = frozenset((namespace, type_name) for namespace, type_name in types)

    def closes_unit(self, event: StoredEvent) -> bool:
        """Whether the event is of one of the types."""
        envelope = event.envelope
        return (envelope.namespace, envelope.type) in self.types

    def check(self, known: KnowsTypes) -> None:
        """Raise `UnknownBoundary` for a type that nobody registered: it would never close anything."""
        unknown = sorted(
            name if namespace == NAMESPACE else f"{namespace}:{name}"
            for namespace, name in self.types
            if not known.registered(namespace, name)
        )
        if unknown:
            raise UnknownBoundary(
                f"no event is of the type {', '.join(unknown)}, which is to close a stretch",
                hint="name other types under [chronicle.close] in SSOT_MANIFEST.toml",
            )


def closing(
    kind: str, close: Mapping[str, Collection[str]], registry: EventTypeRegistry
) -> EventTypes | None:
    """What closes a stretch in a stream of this kind; None if nothing does, so that it is not consolidated.

    `close` is `[chronicle.close]` of the manifest: by kind the types, `type` of the application's own
    namespace or `namespace:type`. Raises `UnknownBoundary` for a type that is not registered.
    """
    names = close.get(kind, ())
    if not names:
        return None
    found = EventTypes(*pairs(names))
    found.check(_Registered(registry))
    return found


def pairs(names: Collection[str]) -> list[tuple[str, str]]:
    """(namespace, type) of each of those names."""
    return [_pair(name) for name in names]


def _pair(name: str) -> tuple[str, str]:
    namespace, colon, type_name = name.partition(":")
    return (namespace, type_name) if colon else (NAMESPACE, name)


class _Registered:
    def __init__(self, registry: EventTypeRegistry) -> None:
        self._registry = registry

    def registered(self, namespace: str, type_name: str) -> bool:
        return self._registry.get(namespace, type_name) is not None
