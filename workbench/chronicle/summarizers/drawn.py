"""Summarizers that draw: one request for a stretch, answered once and pinned (contract log, §7)."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.chronicle.sections import Consolidation
from workbench.chronicle.summarizers import answers
from workbench.chronicle.summarizers.prompt import PROMPT_VERSION, Prompt, prompt_for
from workbench.log.pins.model import AnyModel, PinnedModel
from workbench.log.pins.request import Message, Request, Response
from workbench.log.pins.resolver import PinResolver
from workbench.log.registry import StoredEvent


class _Drawn:
    """What both have: the request of a stretch, and its answer as prose."""

    def __init__(self, kind: str, model: AnyModel, model_name: str, resolver: PinResolver) -> None:
        """Draw from `model`, which a request calls `model_name`, through `resolver`."""
        self.name = kind
        self.version = PROMPT_VERSION
        self._model = model
        self._model_name = model_name
        self._resolver = resolver

    def request_for(self, events: Sequence[StoredEvent]) -> Request:
        """The request that the prose of a stretch is drawn with. Raises `FilterFailed`."""
        prompt = prompt_for(events)
        return Request(model=self._model_name, messages=_messages(prompt))


class Drawn(_Drawn):
    """A summarizer that waits for its model."""

    def __call__(self, events: Sequence[StoredEvent]) -> Consolidation:
        """The prose of a stretch, and the key of the pin that holds it.

        Raises `SummarizerError`, and what the resolver raises (`PinMiss` in a strict replay).
        """
        keys: list[str] = []
        model = PinnedModel(self._model, self._resolver, on_key=keys.append)
        return _consolidated(model.request(self.request_for(events)), keys)


class DrawnAsync(_Drawn):
    """A summarizer that awaits its model."""

    async def __call__(self, events: Sequence[StoredEvent]) -> Consolidation:
        """As `Drawn`, awaited."""
        keys: list[str] = []
        model = PinnedModel(self._model, self._resolver, on_key=keys.append)
        return _consolidated(await model.request_async(self.request_for(events)), keys)


def _messages(prompt: Prompt) -> tuple[Message, ...]:
    return (Message("system", prompt.instruction), Message("user", prompt.data))


def _consolidated(response: Response, keys: Sequence[str]) -> Consolidation:
    return Consolidation(answers.prose(response.text), tuple(dict.fromkeys(keys)))
