"""The summarizer `openai`, with its real client, against a real server that behaves and misbehaves."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
import time
from email.utils import formatdate
from typing import Any

import pytest

from tests.chronicle import summarizer_server as server
from workbench.chronicle.summarizers.attempts import retry_after, spelled
from workbench.chronicle.summarizers.endpoint import ATTEMPTS, EndpointModel, is_loopback
from workbench.chronicle.summarizers.errors import (
    SummarizerCancelled,
    SummarizerConfiguration,
    SummarizerError,
    SummarizerFailed,
    SummarizerOutput,
    SummarizerRefused,
    SummarizerTimeout,
)
from workbench.log.pins.request import Message, Parameters, Request

KEY = "sk-proj-" + "a1B2c3D4e5F6g7H8i9J0k1L2"
REQUEST = Request(model="small", messages=(Message("system", "Write."), Message("user", "data")))


def model(at: server.Endpoint, **more: Any) -> EndpointModel:
    """A model behind a server; retries come at once."""
    given: dict[str, Any] = {
        "timeout": 20.0,
        "environ": {"MODEL_KEY": KEY},
        "variable": "MODEL_KEY",
        "pause": 0.001,
    }
    return EndpointModel(at.base_url, **(given | more))


def failed(at: server.Endpoint, kind: type[SummarizerError], **more: Any) -> SummarizerError:
    """The error of a request; the key stands in nothing of it."""
    with pytest.raises(kind) as caught:
        model(at, **more).complete(REQUEST)
    error = caught.value
    assert KEY not in f"{error!r} {error.hint}" and error.__cause__ is None
    return error


def test_an_answer_is_streamed_and_put_together() -> None:
    with server.endpoint(server.answers("It ", "works", ".")) as at:
        response = model(at).complete(REQUEST)
    assert (response.text, response.model, response.finish_reason) == ("It works.", "m-1", "stop")
    assert at.asked[0].path == "/v1/chat/completions"
    assert at.asked[0].body == {
        "model": "small",
        "messages": [{"role": "system", "content": "Write."}, {"role": "user", "content": "data"}],
        "stream": True,
    }


def test_only_parameters_that_are_given_are_sent() -> None:
    request = Request(
        model="small", messages=(Message("user", "x"),), parameters=Parameters(temperature=0.0, seed=3)
    )
    with server.endpoint(server.answers("ok")) as at:
        model(at).complete(request)
    assert {name: at.asked[0].body.get(name) for name in ("temperature", "seed", "top_p")} == {
        "temperature": 0.0,
        "seed": 3,
        "top_p": None,
    }


def test_the_key_is_sent_and_nothing_ambient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "another")
    monkeypatch.setenv("OPENAI_ORG_ID", "org-1")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "proj-1")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "X-Mine: secret")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://192.0.2.1/")
    monkeypatch.setenv("HTTP_PROXY", "http://192.0.2.1:9")
    with server.endpoint(server.answers("ok")) as at:
        model(at).complete(REQUEST)
        model(at, variable="").complete(REQUEST)
    allowed = {
        "host",
        "content-type",
        "content-length",
        "accept",
        "accept-encoding",
        "connection",
        "user-agent",
    }
    assert at.asked[0].headers["authorization"] == f"Bearer {KEY}"
    assert set(at.asked[0].headers) == allowed | {"authorization"}
    assert set(at.asked[1].headers) == allowed


def test_a_key_that_is_not_set_is_named_by_its_variable_before_anything_is_sent() -> None:
    with server.endpoint(server.answers("ok")) as at:
        error = failed(at, SummarizerConfiguration, environ={"MODEL_KEY": " "})
    assert "MODEL_KEY" in str(error) and at.asked == []


def test_429_is_tried_again_after_the_time_that_it_asks_for() -> None:
    with server.endpoint(server.refuses(429, "slow down", retry_after="0.2"), server.answers("ok")) as at:
        began = time.monotonic()
        assert model(at).complete(REQUEST).text == "ok"
        assert time.monotonic() - began >= 0.2
    assert len(at.asked) == 2


def test_429_that_asks_for_more_than_the_time_limit_is_given_up_at_once() -> None:
    with server.endpoint(server.refuses(429, "slow down", retry_after="3600")) as at:
        began = time.monotonic()
        error = failed(at, SummarizerFailed)
        assert time.monotonic() - began < 10
    assert error.retryable and "60 minutes, later than the 20 seconds" in str(error) and len(at.asked) == 1


@pytest.mark.parametrize("status", [408, 409, 500, 502, 503, 529])
def test_a_passing_failure_is_tried_again(status: int) -> None:
    with server.endpoint(server.refuses(status), server.answers("ok")) as at:
        assert model(at).complete(REQUEST).text == "ok"
    assert len(at.asked) == 2


def test_an_endpoint_that_never_recovers_is_asked_a_bounded_number_of_times() -> None:
    with server.endpoint(server.refuses(500, "overloaded")) as at:
        error = failed(at, SummarizerFailed)
    assert len(at.asked) == ATTEMPTS and "overloaded" in str(error) and error.retryable


@pytest.mark.parametrize("status", [400, 404, 413, 422])
def test_a_request_that_is_refused_is_not_sent_again_and_says_why(status: int) -> None:
    with server.endpoint(server.refuses(status, "no model of this name")) as at:
        error = failed(at, SummarizerRefused)
    assert len(at.asked) == 1 and "no model of this name" in str(error) and not error.retryable


@pytest.mark.parametrize("status", [401, 403])
def test_what_is_said_of_a_refused_key_is_not_repeated(status: int) -> None:
    with server.endpoint(server.refuses(status, f"Incorrect key: {KEY[:8]}****{KEY[-4:]} {KEY}")) as at:
        error = failed(at, SummarizerRefused)
    assert KEY[:8] not in str(error) and KEY[-4:] not in str(error)


def test_a_key_in_any_other_message_is_taken_out() -> None:
    with server.endpoint(server.refuses(400, f"the header held\x1b[2J {KEY}")) as at:
        error = failed(at, SummarizerRefused)
    assert "the header held" in str(error) and "\x1b" not in str(error)


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_a_redirect_is_refused_and_nothing_goes_elsewhere(status: int) -> None:
    with server.endpoint(server.answers("elsewhere")) as elsewhere:
        step = server.says("text/plain", b"", status, location=f"{elsewhere.base_url}/chat/completions")
        with server.endpoint(step) as at:
            failed(at, SummarizerRefused)
        assert elsewhere.asked == [] and len(at.asked) == 1


def test_a_slow_endpoint_is_given_up_at_the_time_limit() -> None:
    with server.endpoint(server.waits) as at:
        began = time.monotonic()
        error = failed(at, SummarizerTimeout, timeout=0.3)
        assert 0.3 <= time.monotonic() - began < 5
    assert error.retryable and "0.3" in str(error)


def test_an_answer_that_stops_in_the_middle_is_given_up_at_the_time_limit() -> None:
    with server.endpoint(server.begins_and_waits) as at:
        failed(at, SummarizerTimeout, timeout=0.3)


def test_a_drip_of_pieces_does_not_outlast_the_time_limit() -> None:
    def drips(talk: server.Talk) -> None:
        talk.begin()
        while not talk.server.released.wait(0.02):
            talk.say(server.chunk("x"))

    with server.endpoint(drips) as at:
        began = time.monotonic()
        failed(at, SummarizerTimeout, timeout=0.3)
        assert time.monotonic() - began < 5
        assert at.hung_up.wait(5)


@pytest.mark.parametrize(
    "body",
    [
        b"data: {broken\n\n",
        b"data: [1, 2]\n\ndata: [DONE]\n\n",
        b'data: {"choices": "x"}\n\ndata: [DONE]\n\n',
        b'data: {"choices": [7]}\n\ndata: [DONE]\n\n',
        b"data: \xff\xfe\n\n",
        b"",
        b'data: {"error": {"message": "out of memory"}}\n\n',
    ],
)
def test_a_stream_of_something_else_is_an_error_and_tried_again(body: bytes) -> None:
    with server.endpoint(server.says("text/event-stream", body)) as at:
        error = failed(at, SummarizerFailed)
    assert error.retryable and len(at.asked) == ATTEMPTS


def test_a_stream_that_breaks_off_is_tried_again_and_its_half_is_not_kept() -> None:
    with server.endpoint(server.answers("Half", finish=None, done=False), server.answers("Whole.")) as at:
        assert model(at).complete(REQUEST).text == "Whole."


@pytest.mark.parametrize(
    ("kind", "body"), [("text/html", b"<html>Sign in</html>"), ("application/json", b"{}")]
)
def test_another_content_type_is_refused(kind: str, body: bytes) -> None:
    with server.endpoint(server.says(kind, body)) as at:
        error = failed(at, SummarizerRefused)
    assert kind in str(error) and len(at.asked) == 1


@pytest.mark.parametrize("pieces", [(), ("",), (" \n\t",), ("\x1b[0m\x07",), ("<think>hm</think>",)])
def test_an_empty_answer_is_refused(pieces: tuple[str, ...]) -> None:
    with server.endpoint(server.answers(*pieces)) as at:
        failed(at, SummarizerOutput)


@pytest.mark.parametrize("step", [server.never_ends, server.never_ends_a_line])
def test_a_huge_answer_is_cut_short(step: server.Step) -> None:
    with server.endpoint(step) as at:
        error = failed(at, SummarizerOutput)
        assert at.hung_up.wait(5)
    assert "bytes" in str(error)


def test_an_answer_at_its_length_limit_is_marked_as_cut() -> None:
    with server.endpoint(server.answers("It works and", finish="length")) as at:
        assert model(at).complete(REQUEST).text == "It works and…"


def test_an_answer_that_is_withheld_is_refused() -> None:
    with server.endpoint(server.answers("x", finish="content_filter")) as at:
        failed(at, SummarizerRefused)


def test_an_answer_s_secrets_escapes_and_thinking_are_taken_out() -> None:
    with server.endpoint(
        server.answers(
            "<think>secretly</think>\n\n\x1b[31mIt used ",
            "ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8",
        )
    ) as at:
        text = model(at).complete(REQUEST).text
    assert text == "It used [REDACTED:github_token]"


def test_nobody_listening_is_an_error_that_may_pass() -> None:
    with server.endpoint(server.answers("x")) as at:
        gone = model(at)
    with pytest.raises(SummarizerFailed, match="cannot be reached"):
        gone.complete(REQUEST)


def test_it_can_be_stopped_while_it_waits() -> None:
    stop = threading.Event()

    def begins(talk: server.Talk) -> None:
        stop.set()
        server.begins_and_waits(talk)

    with server.endpoint(begins) as at:
        failed(at, SummarizerCancelled, cancelled=stop.is_set)


async def test_a_task_that_is_cancelled_closes_its_connection() -> None:
    with server.endpoint(server.never_ends) as at:
        asked = asyncio.create_task(model(at).complete_async(REQUEST))
        while not at.asked:
            await asyncio.sleep(0.005)
        asked.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asked
        assert at.hung_up.wait(5)


async def test_it_answers_from_code_that_does_not_await_inside_a_running_loop() -> None:
    with server.endpoint(server.answers("ok")) as at:
        assert model(at).complete(REQUEST).text == "ok"
        assert (await model(at).complete_async(REQUEST)).text == "ok"


@pytest.mark.parametrize(
    ("asked", "seconds"),
    [("3", 3.0), ("0.5", 0.5), ("-4", 0.0), ("", None), ("soon", None), ("nan", None), ("inf", None)],
)
def test_a_wish_to_wait_is_read(asked: str, seconds: float | None) -> None:
    assert retry_after(asked) == seconds


def test_a_wish_to_wait_until_a_date_is_read() -> None:
    assert retry_after(formatdate(1_700_000_030, usegmt=True), now=1_700_000_000) == 30


@pytest.mark.parametrize(
    ("url", "local"),
    [
        ("http://127.0.0.1:1/v1", True),
        ("http://[::1]/v1", True),
        ("http://localhost:11434/v1", True),
        ("https://api.example.org/v1", False),
        ("http://127.0.0.1.example.org", False),
    ],
)
def test_only_this_machine_is_asked_without_a_proxy(url: str, local: bool) -> None:
    assert is_loopback(url) is local


def test_without_the_extra_the_error_says_what_to_install_and_nothing_is_loaded_before() -> None:
    script = """
import sys
from workbench.chronicle.summarizers.endpoint import EndpointModel
from workbench.log.pins.request import Message, Request
assert not {"openai", "httpx2", "pydantic"} & set(sys.modules)
sys.modules["openai"] = None
try:
    EndpointModel("http://127.0.0.1:9/v1", timeout=1, environ={}).complete(Request(model="m", messages=(Message("user", "x"),)))
except Exception as error:
    print(error.code, error.hint)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == 'models_missing pip install "chronicle-workbench[models]"\n'


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (0.2, "1 second"),
        (90, "90 seconds"),
        (121, "3 minutes"),
        (3600, "60 minutes"),
        (7201, "3 hours"),
        (9.9e8, "more than two days"),
    ],
)
def test_a_wish_to_be_left_alone_is_said_in_whole_units(seconds: float, said: str) -> None:
    assert spelled(seconds) == said
