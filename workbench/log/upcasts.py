"""Old payload shapes brought forward when they are read (contract log, §3).

What is stored is never rewritten: the shape of a payload changes by a new version of its event
type, and one step per version leads from what is in the file to what the program works with.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any, NamedTuple

from workbench.log.errors import DuplicateEventType, LogError

Upcaster = Callable[[dict[str, Any]], dict[str, Any]]
"""From a payload of one version to the same payload in the next; it may change what it is given."""


class EventKey(NamedTuple):
    """Which event type, at which version of its payload."""

    namespace: str
    type: str
    schema_version: int


class UpcastGap(LogError):
    """No step leads from a stored version to the next one."""

    code = "upcast_gap"


class UpcastRegistry:
    """Steps by (namespace, type, version they start from)."""

    def __init__(self) -> None:
        self._steps: dict[EventKey, Upcaster] = {}

    def register(self, namespace: str, type_name: str, from_version: int, step: Upcaster) -> None:
        """Add the step from `from_version` to the version after it.

        Raises `DuplicateEventType` if there is one already, `ValueError` for a version below 1.
        """
        if from_version < 1:
            raise ValueError(f"{type_name}: versions count from 1")
        key = EventKey(namespace, type_name, from_version)
        if key in self._steps:
            raise DuplicateEventType(f"{namespace}:{type_name} v{from_version} has its upcaster already")
        self._steps[key] = step

    def upcast(self, namespace: str, type_name: str, from_version: int) -> Callable[[Upcaster], Upcaster]:
        """`register` as a decorator."""

        def add(step: Upcaster) -> Upcaster:
            self.register(namespace, type_name, from_version, step)
            return step

        return add

    def apply(
        self, key: EventKey, payload: dict[str, Any], *, target_version: int
    ) -> tuple[int, dict[str, Any]]:
        """The version reached and the payload in it; `payload` itself stays as it is.

        A version that is `target_version` already, or beyond it, is returned unchanged. Raises
        `UpcastGap` where a step is missing.
        """
        version = key.schema_version
        if version >= target_version:
            return version, payload
        payload = copy.deepcopy(payload)
        while version < target_version:
            step = self._steps.get(key._replace(schema_version=version))
            if step is None:
                raise UpcastGap(
                    f"nothing brings {key.namespace}:{key.type} from version {version} to {version + 1}",
                    hint="this release is incomplete; nothing was changed",
                )
            payload = step(payload)
            version += 1
        return version, payload
