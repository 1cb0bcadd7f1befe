"""The one module that knows the `openai` client and the HTTP library below it (extra `models`).

It is imported by the first draw, never before. Whatever those libraries raise leaves as `AttemptFailed`.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from types import TracebackType
from typing import Any

import httpx2
import openai

from workbench.chronicle.summarizers import answers
from workbench.chronicle.summarizers.attempts import AttemptFailed, Failure
from workbench.chronicle.summarizers.errors import SummarizerOutput
from workbench.log.pins.request import Request, Response

MOST_READ = 16 * answers.MOST_ANSWER
"""Bytes of one answer as it travels: every few letters come in a frame of their own."""
_EVENTS = "text/event-stream"
_HEADERS = frozenset(
    "host content-type content-length accept accept-encoding connection transfer-encoding user-agent".split()
)
"""What is sent beside the key. The client would add what the environment holds, and what machine this is."""


class Client:
    """Asks one endpoint, as often as it is told to."""

    def __init__(self, base_url: str, key: str, timeout: float, *, trust_env: bool) -> None:
        """Without a key none is sent. `timeout` in seconds is for each step; the whole has its own."""
        self._key = key
        self._http = openai.DefaultAsyncHttpxClient(
            timeout=timeout,
            follow_redirects=False,
            trust_env=trust_env,
            event_hooks={"request": [self._plain], "response": [_bounded]},
        )
        self._openai = openai.AsyncOpenAI(
            api_key=key or "none", base_url=base_url, timeout=timeout, max_retries=0, http_client=self._http
        )

    async def __aenter__(self) -> Client:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._openai.close()

    async def answer(self, request: Request) -> Response:
        """One attempt. Raises `AttemptFailed`, and `SummarizerOutput` for what grows too large."""
        try:
            return await self._answer(request)
        except openai.APIStatusError as error:
            said = self._safe(_message(error.body))
            words = (
                f"the model’s endpoint answered with status {error.status_code}{f': {said}' if said else ''}"
            )
            asked = error.response.headers.get("retry-after", "")
            raise AttemptFailed(Failure(words, error.status_code, asked)) from None
        except openai.APITimeoutError:
            raise AttemptFailed(Failure("the model’s endpoint does not answer")) from None
        except openai.APIConnectionError as error:
            if isinstance(error.__cause__, AttemptFailed | SummarizerOutput):
                raise error.__cause__ from None
            why = type(error.__cause__).__name__ if error.__cause__ is not None else "no connection"
            raise AttemptFailed(Failure(f"the model’s endpoint cannot be reached ({why})")) from None
        except openai.APIError as error:
            said = self._safe(_message(error.body) or error.message)
            raise AttemptFailed(Failure(f"the model’s endpoint broke off: {said}")) from None
        except (httpx2.HTTPError, httpx2.StreamError) as error:
            raise AttemptFailed(Failure(f"the model’s answer broke off ({type(error).__name__})")) from None
        except (ValueError, TypeError, AttributeError, KeyError):
            # The client hands on what it makes of anything: broken JSON, a list where an object should be.
            raise AttemptFailed(Failure("the model’s endpoint answered with what is no event")) from None

    async def _answer(self, request: Request) -> Response:
        pieces: list[str] = []
        size = 0
        model = finish = ""
        create: Any = self._openai.chat.completions.create
        messages = [{"role": each.role, "content": each.content} for each in request.messages]
        stream = await create(model=request.model, messages=messages, stream=True, **_parameters(request))
        async with stream:
            async for chunk in stream:
                model = model or _text(getattr(chunk, "model", None))
                for choice in (getattr(chunk, "choices", None) or [])[:1]:
                    piece = _text(getattr(getattr(choice, "delta", None), "content", None))
                    finish = _text(getattr(choice, "finish_reason", None)) or finish
                    size += len(piece.encode("utf-8", "replace"))
                    if size > answers.MOST_ANSWER:
                        raise SummarizerOutput(
                            f"the model answered with more than {answers.MOST_ANSWER:,} bytes"
                        )
                    pieces.append(piece)
        if not finish:
            raise AttemptFailed(Failure("the model’s answer broke off before its end"))
        return Response(text="".join(pieces), model=model, finish_reason=finish)

    async def _plain(self, request: httpx2.Request) -> None:
        for name in list(request.headers):
            if name.lower() not in _HEADERS:
                del request.headers[name]
        if self._key:
            request.headers["Authorization"] = f"Bearer {self._key}"

    def _safe(self, words: str) -> str:
        return answers.complaint(words.replace(self._key, "[key]") if self._key else words)


def _parameters(request: Request) -> dict[str, Any]:
    given = request.parameters
    named = {
        "temperature": given.temperature,
        "top_p": given.top_p,
        "max_tokens": given.max_tokens,
        "seed": given.seed,
        "stop": None if given.stop is None else list(given.stop),
        "reasoning_effort": given.reasoning_effort,
    }
    return {name: value for name, value in named.items() if value is not None}


async def _bounded(response: httpx2.Response) -> None:
    """Refuse an answer that is no stream of events, and stop reading one that does not end."""
    if response.is_success:
        kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind != _EVENTS:
            said = answers.complaint(kind)[:80] or "nothing"
            raise AttemptFailed(
                Failure(f"the model’s endpoint answered with {said} instead of a stream of events", 406)
            )
    if isinstance(response.stream, httpx2.AsyncByteStream):
        response.stream = _Bounded(response.stream)


class _Bounded(httpx2.AsyncByteStream):
    def __init__(self, stream: httpx2.AsyncByteStream) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        read = 0
        async for chunk in self._stream:
            read += len(chunk)
            if read > MOST_READ:
                raise SummarizerOutput(f"the model’s answer has more than {MOST_READ:,} bytes")
            yield chunk

    async def aclose(self) -> None:
        await self._stream.aclose()


def _message(body: object) -> str:
    """What an endpoint says went wrong, in any of the shapes that are in use."""
    if isinstance(body, dict):
        inner = body.get("error", body)
        if isinstance(inner, dict):
            return _text(inner.get("message"))
        return _text(inner)
    return _text(body)


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
