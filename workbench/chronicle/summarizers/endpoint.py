"""Any OpenAI-compatible endpoint as a summarizer, through the `openai` client (extra `models`).

The answer is streamed, so that a slow one shows life and a huge one is cut short. One time limit holds for
everything: connecting, waiting, reading and trying again. Retries are ours, not the client's, because they
keep to that limit and can be stopped. The key is read from the environment for each call and kept nowhere;
what the endpoint says of a refused key is not repeated. Nothing ambient is sent: no organisation, no project,
no description of this machine. A redirect is refused, since the events would go where nobody sent them.
"""

from __future__ import annotations

import asyncio
import ipaddress
import re
import threading
import time
from collections.abc import Callable, Coroutine, Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from workbench.chronicle.summarizers import answers
from workbench.chronicle.summarizers.attempts import AttemptFailed, Failure, retry_after, spelled
from workbench.chronicle.summarizers.errors import (
    ModelsMissing,
    SummarizerCancelled,
    SummarizerConfiguration,
    SummarizerError,
    SummarizerFailed,
    SummarizerRefused,
    SummarizerTimeout,
)
from workbench.log.pins.request import Request, Response

if TYPE_CHECKING:
    from workbench.chronicle.summarizers.client import Client

ATTEMPTS = 4
"""How often a request is made at most."""
_PAUSE = 0.5
"""Seconds before the second attempt; each further one waits twice as long, up to `_LONGEST_PAUSE`."""
_LONGEST_PAUSE = 8.0
_POLL = 0.1
"""Seconds between two looks whether somebody wants it to stop."""
_REFUSED_KEYS = frozenset({401, 403})
_TRANSIENT = frozenset({408, 409, 425, 429})
_THINKING = re.compile(r"\A\s*<think>.*?</think>", re.DOTALL)


class EndpointModel:
    """An endpoint that answers a request; satisfies both `pins.model.Model` and `AsyncModel`."""

    def __init__(
        self,
        base_url: str,
        *,
        timeout: float,
        environ: Mapping[str, str],
        variable: str = "",
        cancelled: Callable[[], bool] | None = None,
        pause: float = _PAUSE,
    ) -> None:
        """Take the endpoint's address; `variable` of `environ` holds the key, if it wants one.

        `timeout` and `pause` are in seconds.
        """
        self._base_url = base_url
        self._timeout = timeout
        self._environ = environ
        self._variable = variable
        self._cancelled = cancelled
        self._pause = pause

    def complete(self, request: Request) -> Response:
        """The endpoint's answer.

        Raises `ModelsMissing`, `SummarizerConfiguration`, `SummarizerTimeout`, `SummarizerRefused`,
        `SummarizerFailed`, `SummarizerOutput`, `SummarizerCancelled`.
        """
        return _run(self.complete_async(request))

    async def complete_async(self, request: Request) -> Response:
        """As `complete`; cancelling the task closes the connection."""
        client = self._client()
        answer = asyncio.ensure_future(self._within_the_limit(client, request))
        try:
            while not answer.done():
                if self._cancelled is not None and self._cancelled():
                    raise SummarizerCancelled("the summarizer was stopped")
                await asyncio.wait({answer}, timeout=_POLL if self._cancelled is not None else None)
        finally:
            if not answer.done():
                answer.cancel()
                await asyncio.wait({answer})
        return answer.result()

    def _client(self) -> Client:
        key = self._environ.get(self._variable, "") if self._variable else ""
        if self._variable and not key.strip():
            raise SummarizerConfiguration(
                f"the environment variable {self._variable}, which holds the model’s key, is not set",
                hint="set it where the program is started; the manifest only names it",
            )
        try:
            from workbench.chronicle.summarizers.client import Client
        except ModuleNotFoundError as error:
            if error.name is None or error.name.startswith("workbench"):
                raise
            raise ModelsMissing(
                f"the summarizer openai needs the package {error.name}, which is not installed",
                hint='pip install "chronicle-workbench[models]"',
            ) from None
        return Client(self._base_url, key.strip(), self._timeout, trust_env=not is_loopback(self._base_url))

    async def _within_the_limit(self, client: Client, request: Request) -> Response:
        try:
            async with asyncio.timeout(self._timeout):
                async with client:
                    return await self._tried(client, request, time.monotonic() + self._timeout)
        except TimeoutError:
            raise SummarizerTimeout(
                f"the model gave no answer within {self._timeout:g} seconds",
                hint="[chronicle] timeout_seconds is how long it may take",
            ) from None

    async def _tried(self, client: Client, request: Request, deadline: float) -> Response:
        for attempt in range(1, ATTEMPTS + 1):
            try:
                response = await client.answer(request)
            except AttemptFailed as error:
                failure = error.failure
            else:
                return _finished(response)
            wait = self._wait(failure, attempt)
            if wait is None or attempt == ATTEMPTS:
                raise _gave_up(failure, attempt) from None
            if wait >= deadline - time.monotonic():
                raise SummarizerFailed(
                    f"{failure.words}; it wants to be asked again in {spelled(wait)}, "
                    f"later than the {self._timeout:g} seconds that are allowed",
                    hint="[chronicle] timeout_seconds is how long it may take",
                ) from None
            await asyncio.sleep(wait)
        raise AssertionError("the last attempt answers or raises")

    def _wait(self, failure: Failure, attempt: int) -> float | None:
        """Seconds until the next attempt; None if another one would fail as well."""
        if failure.status and failure.status < 500 and failure.status not in _TRANSIENT:
            return None
        if (asked := retry_after(failure.retry_after)) is not None:
            return asked
        return min(_LONGEST_PAUSE, self._pause * 2.0 ** (attempt - 1))


def _finished(response: Response) -> Response:
    text = _THINKING.sub("", response.text, count=1)
    if response.finish_reason == "content_filter":
        raise SummarizerRefused("the model’s provider withheld the answer (content_filter)")
    said = answers.prose(text)
    cut = "…" if response.finish_reason == "length" and not said.endswith("…") else ""
    return Response(
        text=said + cut, model=response.model, finish_reason=response.finish_reason, usage=response.usage
    )


def _gave_up(failure: Failure, attempts: int) -> SummarizerError:
    if failure.status in _REFUSED_KEYS:
        return SummarizerRefused(
            f"the model’s endpoint refuses the key (status {failure.status})",
            hint="look at the environment variable that [chronicle] names for the key",
        )
    if 300 <= failure.status < 400:
        return SummarizerRefused(
            f"the model’s endpoint sends requests elsewhere (status {failure.status}), which is not followed",
            hint="give the address it means as base_url",
        )
    if failure.status and failure.status < 500 and failure.status not in _TRANSIENT:
        return SummarizerRefused(failure.words)
    tries = f" (tried {attempts} times)" if attempts > 1 else ""
    return SummarizerFailed(failure.words + tries)


def is_loopback(base_url: str) -> bool:
    """Whether an address means this machine; no proxy stands before that."""
    host = urlsplit(base_url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def _run(answer: Coroutine[Any, Any, Response]) -> Response:
    """Run to the end from code that does not await, also where a loop runs in this thread."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(answer)
    came: list[Response] = []
    raised: list[BaseException] = []

    def there() -> None:
        try:
            came.append(asyncio.run(answer))
        except BaseException as error:
            raised.append(error)

    thread = threading.Thread(target=there, name="summarizer")
    thread.start()
    thread.join()
    if raised:
        raise raised[0]
    return came[0]
