"""What drawing through pins looks like, live or in a replay (contract log-and-chronicle, §6)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from typing import NamedTuple, Protocol, TypeVar

from workbench.log.ports import JsonValue

T = TypeVar("T")
S = TypeVar("S")


class Pin(NamedTuple):
    """A recorded result, and the kind of effect that it is the result of."""

    kind: str
    result: JsonValue


class PinResolver(Protocol):
    """Gives the recorded result of an effect, or has it happen and records what came of it.

    `effect` is what would come out otherwise each time; it is not called where a result is recorded under
    the key. `interpret` makes of a result what the caller works with, and is handed a value of its own: the
    same one now, after a crash and in a replay.
    """

    def resolve(
        self, key: str, *, kind: str, effect: Callable[[], object], interpret: Callable[[JsonValue], T]
    ) -> T:
        """The interpreted result of that key. Raises what `effect` and `interpret` raise."""
        ...

    async def resolve_async(
        self,
        key: str,
        *,
        kind: str,
        effect: Callable[[], Awaitable[object]],
        interpret: Callable[[JsonValue], T],
    ) -> T:
        """As `resolve`, awaiting the effect."""
        ...

    def resolve_stream(
        self,
        key: str,
        *,
        kind: str,
        effect: Callable[[], AbstractAsyncContextManager[S]],
        capture: Callable[[S], object],
        interpret: Callable[[JsonValue], S],
    ) -> AbstractAsyncContextManager[S]:
        """What `effect` opens, to be read inside the block; at its end `capture` says what the result is.

        A block that is left early, or by an exception, records what had come by then. A recorded result is
        opened by `interpret`.
        """
        ...
