"""Asking a summarizer for prose, whatever it does instead (contract log-and-chronicle, §9).

What it gives back is another program's or a model's words: nothing of it is believed, and nothing of it
appears in a message.
"""

from __future__ import annotations

import asyncio
import contextvars
import inspect
import re
import threading
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import Future
from typing import Any, TypeVar, cast

from workbench.chronicle.limits import MAX_PIN_KEY, MAX_PINS, MAX_PROSE
from workbench.chronicle.ports import AsyncSummarizer, Summarizer
from workbench.chronicle.sections import Consolidation
from workbench.chronicle.summarizers.errors import (
    SummarizerCancelled,
    SummarizerFailed,
    SummarizerOutput,
    SummarizerTimeout,
)
from workbench.errors import WorkbenchError
from workbench.log.background_folds import NeedsAsync
from workbench.log.ports import PassThrough, Redactor
from workbench.log.registry import StoredEvent

AnySummarizer = Summarizer | AsyncSummarizer

NOTHING_TOLD = Consolidation("Nothing of this stretch is told here.")
"""The prose of a stretch of which no event may be seen. It is no summarizer's: ranges follow from the log
alone, so there has to be a section, and its prose may not be empty."""

_SEQUENCES = re.compile(
    "(?:\x1b\\[|\x9b)[0-?]*[ -/]*[@-~]"  # colours, moves of the cursor
    "|(?:\x1b[\\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x90\x98\x9c-\x9f]*(?:\x07|\x1b\\\\|\x9c)"
    "|\x1b[ -/]*[0-~]?"
)
_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_BREAKS = re.compile("\r\n?|[\u2028\u2029\x85]")
_SURROGATES = re.compile("[\ud800-\udfff]")


def draws_by_awaiting(summarize: AnySummarizer) -> bool:
    """Whether a summarizer has to be awaited, as far as can be told without calling it."""
    return inspect.iscoroutinefunction(summarize) or inspect.iscoroutinefunction(type(summarize).__call__)


class Drawing:
    """Calls one summarizer."""

    def __init__(
        self, summarize: AnySummarizer, *, seconds: float | None = None, redactor: Redactor | None = None
    ) -> None:
        """`redactor` takes secrets out of the prose, here where no lock is held.

        With `seconds` a draw that takes longer is given up, as `SummarizerTimeout`. A plain function then
        runs in a thread of its own, which ends when the function does; whoever draws so must hold no
        transaction, which the function would wait for.
        """
        self._summarize = cast("Callable[[Sequence[StoredEvent]], Any]", summarize)
        self._seconds = seconds
        self._redactor: Redactor = PassThrough() if redactor is None else redactor
        self.by_awaiting = draws_by_awaiting(summarize)

    def refuse_awaiting(self) -> None:
        """Raise `NeedsAsync` if the summarizer can only be awaited."""
        if self.by_awaiting:
            raise _needs_async()

    def draw(self, events: Sequence[StoredEvent], stretch: str) -> Consolidation:
        """Prose for these events; `stretch` names them in messages. No events: `NOTHING_TOLD`, undrawn.

        Raises `NeedsAsync` (before the call, or after it for a function that hands back something to
        await, which is closed), `SummarizerTimeout`, `SummarizerOutput`, `SummarizerFailed` with the
        summarizer's own error as its cause; a `WorkbenchError` of the summarizer, `PinMiss` in a replay for
        one, passes with `stretch` in its message.
        """
        if not events:
            return NOTHING_TOLD
        self.refuse_awaiting()
        try:
            drawn = self._called(events)
        except WorkbenchError as error:
            raise _about(error, stretch) from error.__cause__
        except Exception as error:
            raise _failure(error, stretch) from error
        if inspect.isawaitable(drawn):
            _close(drawn)
            raise _needs_async()
        return self._kept(drawn, stretch)

    async def draw_async(self, events: Sequence[StoredEvent], stretch: str) -> Consolidation:
        """As `draw`, for a summarizer of either kind; a plain function runs on the loop's own
        thread, where nothing ends it."""
        if not events:
            return NOTHING_TOLD
        try:
            drawn = self._summarize(events)
            if inspect.isawaitable(drawn):
                drawn = await self._awaited(drawn)
        except WorkbenchError as error:
            raise _about(error, stretch) from error.__cause__
        except Exception as error:
            raise _failure(error, stretch) from error
        return self._kept(drawn, stretch)

    def _kept(self, drawn: object, stretch: str) -> Consolidation:
        consolidation = checked(drawn, stretch)
        if not self._redactor.may_change(consolidation.prose.encode()):
            return consolidation
        # Again: what the filter puts in the place of a secret may be longer than it.
        prose = _not_too_long(self._redactor.redact_text(consolidation.prose)[0], stretch)
        return consolidation._replace(prose=prose)

    async def _awaited(self, drawing: Awaitable[Any]) -> Any:
        if self._seconds is None:
            return await drawing
        try:
            async with asyncio.timeout(self._seconds) as limit:
                return await drawing
        except TimeoutError:
            if limit.expired():
                raise _too_slow(self._seconds) from None
            raise

    def _called(self, events: Sequence[StoredEvent]) -> Any:
        if self._seconds is None:
            return self._summarize(events)
        answer: Future[Any] = Future()
        context = contextvars.copy_context()

        def call() -> None:
            try:
                answer.set_result(context.run(self._summarize, events))
            except BaseException as error:
                answer.set_exception(error)

        threading.Thread(target=call, daemon=True, name="summarizer").start()
        try:
            return answer.result(self._seconds)
        except TimeoutError:
            if answer.done():
                raise
            raise _too_slow(self._seconds) from None


def checked(drawn: object, stretch: str) -> Consolidation:
    """What a summarizer gave back, as it is stored: without control characters, line ends as `\\n`.

    Raises `SummarizerOutput`.
    """
    if not isinstance(drawn, Consolidation):
        kind = type(drawn).__name__
        raise SummarizerOutput(f"the summarizer gave {kind} for {stretch}, and not a Consolidation")
    prose, pins = drawn
    if not isinstance(prose, str):
        raise SummarizerOutput(f"the prose for {stretch} is no text: {type(prose).__name__}")
    prose = _clean(_not_too_long(prose, stretch))
    if not prose.strip():
        raise SummarizerOutput(f"the summarizer wrote nothing for {stretch}")
    return Consolidation(prose, _pins(pins, stretch))


def _not_too_long(prose: str, stretch: str) -> str:
    if len(prose) > MAX_PROSE:
        raise SummarizerOutput(
            f"the prose for {stretch} has {len(prose):,} characters; a section holds {MAX_PROSE:,}",
            hint="ask the summarizer for less, or close stretches more often",
        )
    return prose


def _pins(pins: object, stretch: str) -> tuple[str, ...]:
    if not isinstance(pins, tuple | list) or len(pins) > MAX_PINS:
        raise SummarizerOutput(f"the pins for {stretch} are no list of at most {MAX_PINS:,} keys")
    for key in pins:
        if not isinstance(key, str) or not 0 < len(key) <= MAX_PIN_KEY or not key.isprintable():
            raise SummarizerOutput(f"a pin for {stretch} is no key")
    return tuple(pins)


def _clean(prose: str) -> str:
    prose = _SEQUENCES.sub("", _BREAKS.sub("\n", prose))
    return _SURROGATES.sub("\N{REPLACEMENT CHARACTER}", _CONTROLS.sub("", prose))


def _failure(error: Exception, stretch: str) -> SummarizerFailed:
    # Not in its own words: they may hold anything of what it was given.
    return SummarizerFailed(
        f"the summarizer failed on {stretch}: {type(error).__name__}",
        hint="nothing of it was stored; try again, or name another summarizer in SSOT_MANIFEST.toml",
    )


_Error = TypeVar("_Error", bound=WorkbenchError)


def _about(error: _Error, stretch: str) -> _Error:
    """The error of a summarizer or of its pins, saying what it was to write. That somebody stopped it says
    so already."""
    if stretch not in error.message and not isinstance(error, SummarizerCancelled):
        error.message = f"{error.message} ({stretch})"
        error.args = (error.message, *error.args[1:])
    return error


def _too_slow(seconds: float) -> SummarizerTimeout:
    return SummarizerTimeout(
        f"the summarizer did not answer in {seconds:g} seconds",
        hint="try again, or raise [chronicle] timeout_seconds in SSOT_MANIFEST.toml",
    )


def _needs_async() -> NeedsAsync:
    return NeedsAsync("the summarizer has to be awaited", hint="use the async call instead")


def _close(drawn: object) -> None:
    """Let go of something that nobody will await, so that nothing warns of it."""
    if inspect.iscoroutine(drawn):
        drawn.close()
    elif isinstance(drawn, asyncio.Future | Future):
        drawn.cancel()
