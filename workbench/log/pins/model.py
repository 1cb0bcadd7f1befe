"""A model whose every answer is pinned (contract log-and-chronicle, "Ours", §7)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Protocol, runtime_checkable

import msgspec

from workbench.log.background_folds import NeedsAsync
from workbench.log.errors import InvalidPayload
from workbench.log.pins.request import MODEL_CALL, Request, Response, request_key
from workbench.log.pins.resolver import PinResolver
from workbench.log.ports import JsonValue


@runtime_checkable
class Model(Protocol):
    """Answers a request."""

    def complete(self, request: Request) -> Response:
        """The whole answer; raises whatever keeps it from answering."""
        ...


@runtime_checkable
class AsyncModel(Protocol):
    """Answers a request when it is awaited."""

    async def complete_async(self, request: Request) -> Response:
        """As `Model.complete`."""
        ...


class ResponseStream(Protocol):
    """An answer that is read while it comes."""

    def __aiter__(self) -> AsyncIterator[str]:
        """Its pieces of text, in order."""
        ...

    def response(self) -> Response:
        """What has come by now."""
        ...


@runtime_checkable
class StreamingModel(Protocol):
    """Answers a request piece by piece."""

    def stream(self, request: Request) -> AbstractAsyncContextManager[ResponseStream]:
        """The answer, to be read inside the block."""
        ...


AnyModel = Model | AsyncModel | StreamingModel


class PinnedModel:
    """Draws each request through a resolver, so that the same request is answered once.

    The key is made of the request alone (`request_key`), whichever way it is asked. A request that was
    answered before reaches no model.
    """

    def __init__(
        self,
        wrapped: AnyModel,
        resolver: PinResolver,
        *,
        kind: str = MODEL_CALL,
        on_key: Callable[[str], object] | None = None,
    ) -> None:
        """Wrap a model; `on_key` is told the key of each request, drawn or not, before it is answered."""
        self._wrapped = wrapped
        self._resolver = resolver
        self._kind = kind
        self._on_key = on_key

    def request(self, request: Request) -> Response:
        """The answer to a request.

        Raises `NeedsAsync`, before `on_key`, if the model cannot answer without being awaited,
        `InvalidPayload` for a pin that holds no answer, and what the resolver and the model raise.
        """
        model = self._wrapped
        if not isinstance(model, Model):
            raise NeedsAsync("this model answers only when it is awaited", hint="use request_async")
        return self._resolver.resolve(
            self._key(request),
            kind=self._kind,
            effect=lambda: msgspec.to_builtins(model.complete(request)),
            interpret=_answer,
        )

    async def request_async(self, request: Request) -> Response:
        """As `request`, awaited; a model that cannot be awaited answers in a thread of its own."""

        async def effect() -> object:
            return msgspec.to_builtins(await _awaited(self._wrapped, request))

        return await self._resolver.resolve_async(
            self._key(request), kind=self._kind, effect=effect, interpret=_answer
        )

    def request_stream(self, request: Request) -> AbstractAsyncContextManager[ResponseStream]:
        """As `request`, read while it comes; a model that does not stream gives one piece.

        A block that is left early pins what had come. An answer that is pinned comes in one piece.
        """
        return self._resolver.resolve_stream(
            self._key(request),
            kind=self._kind,
            effect=lambda: _streamed(self._wrapped, request),
            capture=lambda stream: msgspec.to_builtins(stream.response()),
            interpret=lambda result: _Whole(_answer(result)),
        )

    def _key(self, request: Request) -> str:
        key = request_key(request, kind=self._kind)
        if self._on_key is not None:
            self._on_key(key)
        return key


class _Whole(ResponseStream):
    """An answer that is there already."""

    def __init__(self, response: Response) -> None:
        self._response = response

    async def __aiter__(self) -> AsyncIterator[str]:
        if self._response.text:
            yield self._response.text

    def response(self) -> Response:
        return self._response


async def _awaited(model: AnyModel, request: Request) -> Response:
    if isinstance(model, AsyncModel):
        return await model.complete_async(request)
    if isinstance(model, Model):
        return await asyncio.to_thread(model.complete, request)
    async with model.stream(request) as stream:
        async for _ in stream:
            pass
        return stream.response()


@asynccontextmanager
async def _streamed(model: AnyModel, request: Request) -> AsyncIterator[ResponseStream]:
    if isinstance(model, StreamingModel):
        async with model.stream(request) as stream:
            yield stream
    else:
        yield _Whole(await _awaited(model, request))


def _answer(result: JsonValue) -> Response:
    try:
        return msgspec.convert(result, Response)
    except msgspec.ValidationError as error:
        raise InvalidPayload(f"a pin holds no answer of a model: {error}") from None
