"""A real HTTP server on loopback that speaks the protocol of OpenAI-compatible endpoints, well or badly."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple


class Asked(NamedTuple):
    """One request that came."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]


class Talk(BaseHTTPRequestHandler):
    """One connection; what it answers is the server's next step."""

    server: Endpoint

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length", "0")))
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.server.asked.append(Asked(self.path, headers, json.loads(body)))
        step = self.server.steps[min(len(self.server.asked), len(self.server.steps)) - 1]
        try:
            step(self)
        except (BrokenPipeError, ConnectionResetError):
            # The client has heard enough.
            self.server.hung_up.set()
        self.close_connection = True

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Nothing is logged."""

    def begin(self, kind: str = "text/event-stream", status: int = 200, **headers: str) -> None:
        """The head of an answer that ends with the connection."""
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("connection", "close")
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()

    def say(self, data: str) -> None:
        """One event of the stream."""
        self.wfile.write(f"data: {data}\n\n".encode())
        self.wfile.flush()


Step = Callable[[Talk], None]


class Endpoint(ThreadingHTTPServer):
    """Answers the first request by the first step, and so on; the last step again and again."""

    daemon_threads = True

    def __init__(self, steps: Sequence[Step]) -> None:
        super().__init__(("127.0.0.1", 0), Talk)
        self.steps = steps
        self.asked: list[Asked] = []
        self.hung_up = threading.Event()
        """Set once a client has closed a connection that was still being answered."""
        self.released = threading.Event()
        """Set at the end, for steps that wait."""

    @property
    def base_url(self) -> str:
        """Its address."""
        return f"http://127.0.0.1:{self.server_address[1]}/v1"


@contextmanager
def endpoint(*steps: Step) -> Iterator[Endpoint]:
    """A running server."""
    server = Endpoint(steps)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server
    finally:
        server.released.set()
        server.shutdown()
        server.server_close()
        thread.join()


def chunk(text: str | None = None, finish: str | None = None, **more: Any) -> str:
    """One piece of an answer."""
    choice = {"index": 0, "delta": {} if text is None else {"content": text}, "finish_reason": finish}
    return json.dumps(
        {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m-1", "choices": [choice]}
        | more
    )


def answers(*pieces: str, finish: str | None = "stop", done: bool = True) -> Step:
    """Streams the pieces, and says that it is done."""

    def step(talk: Talk) -> None:
        talk.begin()
        for piece in pieces:
            talk.say(chunk(piece))
        if finish is not None:
            talk.say(chunk(finish=finish))
        if done:
            talk.say("[DONE]")

    return step


def refuses(status: int, message: str = "", **headers: str) -> Step:
    """An error, as such endpoints put it."""

    def step(talk: Talk) -> None:
        talk.begin("application/json", status, **headers)
        talk.wfile.write(json.dumps({"error": {"message": message, "type": "x"}}).encode())

    return step


def says(kind: str, body: bytes, status: int = 200, **headers: str) -> Step:
    """Anything at all."""

    def step(talk: Talk) -> None:
        talk.begin(kind, status, **headers)
        talk.wfile.write(body)

    return step


def begins_and_waits(talk: Talk) -> None:
    """A first piece, then nothing more."""
    talk.begin()
    talk.say(chunk("It"))
    talk.server.released.wait()


def waits(talk: Talk) -> None:
    """No answer at all."""
    talk.server.released.wait()


def never_ends(talk: Talk) -> None:
    """Piece after piece until the client hangs up."""
    talk.begin()
    piece = chunk("x" * 8000)
    while not talk.server.released.is_set():
        talk.say(piece)


def never_ends_a_line(talk: Talk) -> None:
    """One event without end."""
    talk.begin()
    talk.wfile.write(b"data: ")
    while not talk.server.released.is_set():
        talk.wfile.write(b"x" * 65536)
