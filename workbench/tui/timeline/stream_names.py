"""Streams in a person's words: the title of a session, else what the stream's name says."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING
from urllib.parse import unquote

from workbench.tui.present import one_line

if TYPE_CHECKING:
    from workbench.workspace import Workspace

_SESSION = "session/"
_TITLE_CELLS = 40
_NAME_CHARS = 80


def stream_words(stream: str, titles: Mapping[str, str]) -> str:
    """A stream in words; `titles` are of the sessions' streams whose titles are known."""
    title = one_line(titles.get(stream, ""), _TITLE_CELLS)
    if title:
        return title
    kind, slash, rest = stream.partition("/")
    # For people only: what is asked for is always the name as it is.
    name = unquote(rest[: 3 * _NAME_CHARS]) if slash else stream
    return one_line(f"{kind} {name}" if slash else name, _NAME_CHARS)


def read_titles(workspace: Workspace, streams: Iterable[str]) -> dict[str, str]:
    """What the sessions of these streams are called, "" for every other stream. Not for the UI's thread."""
    titles: dict[str, str] = {}
    for stream in streams:
        row = None
        if stream.startswith(_SESSION):
            row = workspace.readers.sessions.get(unquote(stream.removeprefix(_SESSION)))
        titles[stream] = "" if row is None else row.title
    return titles
