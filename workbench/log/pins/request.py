"""What a model is asked and what it answers, in our own shapes (contract log-and-chronicle, "Ours", §7)."""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from workbench.log.pins.keys import pin_key
from workbench.log.ports import JsonValue

MODEL_CALL = "model_call"
"""The kind of a model's answer."""


class Message(msgspec.Struct, frozen=True):
    """One turn of what a model is shown."""

    role: str
    """`system`, `user` or `assistant`."""
    content: str


class Parameters(msgspec.Struct, frozen=True, kw_only=True):
    """What changes the answer; None leaves it to the model.

    How a request travels (time limit, retries, address, credentials) is the wrapped model's own affair.
    """

    temperature: float | None = None
    top_p: float | None = None
    max_tokens: int | None = None
    seed: int | None = None
    stop: tuple[str, ...] | None = None
    reasoning_effort: str | None = None


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that an answer follows from."""

    model: str
    """Which model, or which program, answers."""
    messages: tuple[Message, ...]
    parameters: Parameters = Parameters()


class Usage(NamedTuple):
    """Tokens, as the model counts them."""

    read: int
    written: int


class Response(msgspec.Struct, frozen=True, kw_only=True):
    """A model's answer, whole or what had come of it."""

    text: str
    model: str = ""
    """Which model says that it answered; empty if it says nothing."""
    finish_reason: str = ""
    """In the model's own words; empty for an answer that broke off."""
    usage: Usage | None = None


def request_key(request: Request, *, kind: str = MODEL_CALL) -> str:
    """The pin key of a request.

    Made of the fields named here and no others, those that say nothing left out: a field that is added later
    leaves the keys of requests without it as they are, and so does another release of any library. Raises
    what `pin_key` raises.
    """
    given = request.parameters
    parameters: dict[str, JsonValue] = {
        "temperature": None if given.temperature is None else float(given.temperature),
        "top_p": None if given.top_p is None else float(given.top_p),
        "max_tokens": given.max_tokens,
        "seed": given.seed,
        "stop": None if given.stop is None else list(given.stop),
        "reasoning_effort": given.reasoning_effort,
    }
    material = {
        "model": request.model,
        "messages": [{"role": each.role, "content": each.content} for each in request.messages],
        "parameters": {name: value for name, value in parameters.items() if value is not None},
    }
    return pin_key(kind, material)
