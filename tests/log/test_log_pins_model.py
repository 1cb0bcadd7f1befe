"""A model behind pins: one key for one request, however it is asked and however it travels."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.log.pin_cases import Broken, books, ledger, open_log, replay
from workbench.log import EventLog
from workbench.log.background_folds import NeedsAsync
from workbench.log.errors import InvalidPayload
from workbench.log.pins.errors import PinMiss
from workbench.log.pins.keys import pin_key
from workbench.log.pins.model import AnyModel, PinnedModel, ResponseStream
from workbench.log.pins.replay import ReplayPins
from workbench.log.pins.request import Message, Parameters, Request, Response, Usage, request_key
from workbench.log.pins.resolver import Pin

REQUEST = Request(
    model="small",
    messages=(Message("system", "Be brief."), Message("user", "What happened?")),
    parameters=Parameters(temperature=0, max_tokens=100),
)


@pytest.fixture
def log(tmp_path: Path) -> Iterator[EventLog]:
    with open_log(tmp_path / "log.db") as log:
        yield log


def answer(call: int) -> Response:
    """A whole answer that no other call gives."""
    return Response(text=f"Answer {call}.", model="small-1", finish_reason="stop", usage=Usage(7, call))


class Plain:
    """Answers at once; `timeout` is how it travels."""

    def __init__(self, timeout: float = 1.0) -> None:
        self.timeout = timeout
        self.calls = 0
        self.threads: list[int] = []

    def complete(self, request: Request) -> Response:
        self.calls += 1
        self.threads.append(threading.get_ident())
        return answer(self.calls)


class Awaited:
    """Answers when it is awaited."""

    def __init__(self) -> None:
        self.calls = 0

    async def complete_async(self, request: Request) -> Response:
        self.calls += 1
        await asyncio.sleep(0)
        return answer(self.calls)


class Pieces(ResponseStream):
    """An answer in three pieces, the last of which may never come."""

    def __init__(self, breaks: bool) -> None:
        self._breaks = breaks
        self._text = ""
        self._ended = False

    async def __aiter__(self) -> AsyncIterator[str]:
        for piece in ("One ", "two ", "three."):
            if self._breaks and piece == "three.":
                raise Broken
            await asyncio.sleep(0)
            self._text += piece
            yield piece
        self._ended = True

    def response(self) -> Response:
        return Response(text=self._text, finish_reason="stop" if self._ended else "")


class Streaming:
    """Answers piece by piece, and in no other way."""

    def __init__(self, *, breaks: bool = False) -> None:
        self.calls = 0
        self._breaks = breaks

    @asynccontextmanager
    async def stream(self, request: Request) -> AsyncIterator[ResponseStream]:
        self.calls += 1
        yield Pieces(self._breaks)


async def read(model: PinnedModel, request: Request = REQUEST) -> tuple[list[str], Response]:
    """The pieces of a streamed answer, and the answer."""
    async with model.request_stream(request) as stream:
        pieces = [piece async for piece in stream]
        return pieces, stream.response()


def test_a_request_is_answered_once_and_its_key_told_each_time_before(log: EventLog) -> None:
    told: list[tuple[str, int]] = []
    plain = Plain()
    model = PinnedModel(plain, ledger(log), on_key=lambda key: told.append((key, plain.calls)))
    assert model.request(REQUEST) == model.request(REQUEST) == answer(1)
    assert model.request(msgspec.structs.replace(REQUEST, model="large")) == answer(2)
    key = request_key(REQUEST)
    assert told[:2] == [(key, 0), (key, 1)]
    assert told[2][0] != key
    assert [row.pin_key for row in ledger(log).pins()] == [key, told[2][0]]
    assert {row.kind for row in ledger(log).pins()} == {"model_call"}


async def test_invariant_102_plain_awaited_and_streamed_requests_have_one_key(log: EventLog) -> None:
    keys: list[str] = []
    plain = Plain()
    model = PinnedModel(plain, ledger(log), on_key=keys.append)
    first = model.request(REQUEST)
    assert await model.request_async(REQUEST) == first
    assert await read(model) == (["Answer 1."], first)
    assert (plain.calls, len(keys), len(set(keys))) == (1, 3, 1)


def test_invariant_102_how_a_request_travels_changes_no_key_and_its_temperature_does(log: EventLog) -> None:
    keys: list[str] = []
    slow = Plain(timeout=300.0)
    for plain in (Plain(timeout=1.0), slow):
        assert PinnedModel(plain, ledger(log), on_key=keys.append).request(REQUEST) == answer(1)
    assert slow.calls == 0
    warm = msgspec.structs.replace(REQUEST, parameters=Parameters(temperature=0.7, max_tokens=100))
    PinnedModel(slow, ledger(log), on_key=keys.append).request(warm)
    assert slow.calls == 1
    assert keys[0] == keys[1] != keys[2]
    assert not {"timeout", "retries", "base_url", "api_key"} & set(Parameters.__struct_fields__)
    assert Request.__struct_fields__ == ("model", "messages", "parameters")


CHANGES: list[Callable[[Request], Request]] = [
    lambda request: msgspec.structs.replace(request, model="small "),
    lambda request: msgspec.structs.replace(request, messages=request.messages[::-1]),
    lambda request: msgspec.structs.replace(request, messages=request.messages[:1]),
    lambda request: msgspec.structs.replace(request, messages=(*request.messages, Message("user", ""))),
    lambda request: msgspec.structs.replace(
        request, messages=(Message("user", "Be brief."), *request.messages[1:])
    ),
    lambda request: msgspec.structs.replace(request, parameters=Parameters(temperature=0)),
    *(
        lambda request, name=name, value=value: msgspec.structs.replace(
            request, parameters=msgspec.structs.replace(request.parameters, **{name: value})
        )
        for name, value in {
            "temperature": 0.1,
            "top_p": 0.5,
            "max_tokens": 101,
            "seed": 0,
            "stop": ("end",),
            "reasoning_effort": "low",
        }.items()
    ),
]


def test_whatever_a_request_says_is_in_its_key() -> None:
    keys = [request_key(change(REQUEST)) for change in CHANGES]
    assert len({request_key(REQUEST), *keys}) == len(CHANGES) + 1
    assert {*Parameters.__struct_fields__} == {
        "temperature",
        "top_p",
        "max_tokens",
        "seed",
        "stop",
        "reasoning_effort",
    }


def test_a_key_is_made_of_named_fields_alone_and_of_none_that_says_nothing() -> None:
    """So that neither a field that is added later nor another release of a library changes a key."""
    assert request_key(REQUEST) == pin_key(
        "model_call",
        {
            "model": "small",
            "messages": [
                {"role": "system", "content": "Be brief."},
                {"role": "user", "content": "What happened?"},
            ],
            "parameters": {"temperature": 0.0, "max_tokens": 100},
        },
    )
    assert request_key(REQUEST) == (
        "p1:model_call:decb20432a5a1bdeb3f39852426928a67e2caa7635ac5c59ec63efde47bae534"
    )
    bare = Request(model="m", messages=())
    assert request_key(bare) == pin_key("model_call", {"model": "m", "messages": [], "parameters": {}})


@given(st.integers(-5, 5), st.text(st.characters(exclude_categories=["Cs"]), max_size=5))
def test_a_whole_temperature_is_a_float_and_text_may_be_composed_otherwise(whole: int, text: str) -> None:
    def key(temperature: float, content: str) -> str:
        return request_key(
            Request(
                model="m",
                messages=(Message("user", content),),
                parameters=Parameters(temperature=temperature),
            )
        )

    assert key(whole, f"e\N{COMBINING ACUTE ACCENT}{text}") == key(
        float(whole), f"e\N{COMBINING ACUTE ACCENT}{text}"
    )


def test_requests_and_answers_cannot_be_changed() -> None:
    for value, field in ((REQUEST, "model"), (REQUEST.messages[0], "content"), (answer(1), "text")):
        with pytest.raises(AttributeError):
            setattr(value, field, "other")


def test_another_kind_is_another_key(log: EventLog) -> None:
    model = PinnedModel(Plain(), ledger(log), kind="summary")
    model.request(REQUEST)
    [row] = ledger(log).pins()
    assert (row.kind, row.pin_key) == ("summary", request_key(REQUEST, kind="summary"))
    assert row.pin_key.startswith("p1:summary:")


def test_a_model_that_only_answers_when_awaited_is_not_asked_otherwise(log: EventLog) -> None:
    keys: list[str] = []
    for wrapped in (Awaited(), Streaming()):
        with pytest.raises(NeedsAsync):
            PinnedModel(wrapped, ledger(log), on_key=keys.append).request(REQUEST)
    assert keys == []


async def test_a_model_that_cannot_be_awaited_answers_in_a_thread(log: EventLog) -> None:
    plain = Plain()
    assert await PinnedModel(plain, ledger(log)).request_async(REQUEST) == answer(1)
    assert plain.threads != [threading.get_ident()]


async def test_five_that_await_one_answer_get_it(log: EventLog) -> None:
    awaited = Awaited()
    model = PinnedModel(awaited, ledger(log))
    assert await asyncio.gather(*(model.request_async(REQUEST) for _ in range(5))) == [answer(1)] * 5
    assert awaited.calls == 1


async def test_an_answer_is_read_while_it_comes_and_pinned_whole(log: EventLog) -> None:
    streaming = Streaming()
    model = PinnedModel(streaming, ledger(log))
    whole = Response(text="One two three.", finish_reason="stop")
    assert await read(model) == (["One ", "two ", "three."], whole)
    assert await read(model) == (["One two three."], whole)
    assert await model.request_async(REQUEST) == whole
    assert streaming.calls == 1
    other = msgspec.structs.replace(REQUEST, model="other")
    assert await model.request_async(other) == whole
    assert await PinnedModel(Awaited(), ledger(log, "second")).request_async(other) == answer(1)


async def test_invariant_51_an_answer_that_breaks_off_is_pinned_as_far_as_it_came(log: EventLog) -> None:
    streaming = Streaming(breaks=True)
    model = PinnedModel(streaming, ledger(log))
    with pytest.raises(Broken):
        await read(model)
    assert await model.request_async(REQUEST) == Response(text="One two ")
    assert streaming.calls == 1


async def test_a_model_that_does_not_stream_gives_one_piece(log: EventLog) -> None:
    models: list[AnyModel] = [Plain(), Awaited()]
    for number, wrapped in enumerate(models):
        model = PinnedModel(wrapped, ledger(log, str(number)))
        assert await read(model) == ([answer(1).text], answer(1))


async def test_answers_are_replayed_without_a_model(log: EventLog) -> None:
    PinnedModel(Plain(), pins := ledger(log)).request(REQUEST)
    pins.commit()
    assert books(log)[0].payload["result"] == {
        "finish_reason": "stop",
        "model": "small-1",
        "text": "Answer 1.",
        "usage": [7, 1],
    }
    plain, keys = Plain(), list[str]()
    model = PinnedModel(plain, replay(log), on_key=keys.append)
    assert model.request(REQUEST) == await model.request_async(REQUEST) == answer(1)
    assert await read(model) == (["Answer 1."], answer(1))
    changed = msgspec.structs.replace(
        REQUEST, messages=(Message("system", "Be long."), *REQUEST.messages[1:])
    )
    with pytest.raises(PinMiss):
        model.request(changed)
    assert plain.calls == 0
    assert keys == [request_key(REQUEST)] * 3 + [request_key(changed)]


@pytest.mark.parametrize("result", [None, "text", {"model": "m"}, {"text": 1}, {"text": "x", "usage": [1]}])
def test_a_pin_that_holds_no_answer_is_refused(result: Any) -> None:
    model = PinnedModel(Plain(), ReplayPins({request_key(REQUEST): Pin("model_call", result)}))
    with pytest.raises(InvalidPayload, match="no answer"):
        model.request(REQUEST)


def test_an_answer_of_an_earlier_shape_is_read(log: EventLog) -> None:
    pins = ReplayPins({request_key(REQUEST): Pin("model_call", {"text": "x", "field_of_tomorrow": 1})})
    assert PinnedModel(Plain(), pins).request(REQUEST) == Response(text="x")
