"""What a tool was called for, in a verb and an object, whichever agent's tool it is."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

import msgspec

RAN, READ, EDITED, WROTE, SEARCHED, FETCHED, PLANNED, DELEGATED, CALLED = (
    "ran",
    "read",
    "edited",
    "wrote",
    "searched for",
    "fetched",
    "planned",
    "handed to a sub-agent",
    "called",
)
CHANGES = frozenset({EDITED, WROTE})

_TOOLS = {
    RAN: "bash shell exec_command local_shell local_shell_call run powershell",
    READ: "read read_file view view_image notebookread cat open",
    EDITED: "edit multiedit apply_patch str_replace notebookedit update patch",
    WROTE: "write write_file create create_file",
    SEARCHED: "grep glob search find websearch web_search web_search_call",
    FETCHED: "webfetch web_fetch fetch",
    PLANNED: "todowrite update_plan exitplanmode",
    DELEGATED: "task agent spawn_agent",
}
_ACTIONS = {tool: action for action, tools in _TOOLS.items() for tool in tools.split()}
_OBJECTS: Mapping[str, tuple[str, ...]] = {
    RAN: ("command", "cmd", "script"),
    READ: ("file_path", "path", "notebook_path"),
    EDITED: ("file_path", "path", "notebook_path"),
    WROTE: ("file_path", "path", "notebook_path"),
    SEARCHED: ("pattern", "query"),
    FETCHED: ("url",),
    DELEGATED: ("description", "prompt"),
}
_ANY = ("command", "cmd", "file_path", "path", "query", "pattern", "url", "description", "prompt", "plan")
_PATCHED = re.compile(r"^\*\*\* (?:Add|Update|Delete) File: (.{1,500})$", re.MULTILINE)
_MOST_PARSED = 1 << 20
_SHELLS = frozenset({"bash", "sh", "zsh", "/bin/bash", "/bin/sh", "/bin/zsh"})


class Call(NamedTuple):
    """A call in words: what was done, to what, and what the caller says it is for."""

    action: str
    target: str
    purpose: str = ""


def call_of(tool: str, content: str) -> Call:
    """What a call of `tool` with `content`, the arguments as JSON or text, does; not made safe yet."""
    action = _ACTIONS.get(tool.lower(), CALLED)
    arguments = _arguments(content)
    if arguments is None:
        patched = _patched(content) if action == EDITED else ""
        return Call(action, patched or content)
    if action == PLANNED:
        return Call(action, _plan(arguments))
    for name in (*_OBJECTS.get(action, ()), *_ANY):
        if text := _text(arguments.get(name)):
            if action == EDITED and name not in _OBJECTS[EDITED]:
                text = _patched(text) or text
            purpose = _text(arguments.get("description"))
            return Call(action, text, purpose if purpose != text else "")
    if action == EDITED and (patched := _patched(_text(arguments.get("input")))):
        return Call(action, patched)
    first = next((text for value in arguments.values() if (text := _text(value))), "")
    return Call(action, first)


def _arguments(content: str) -> dict[str, Any] | None:
    if not content.startswith("{") or len(content) > _MOST_PARSED:
        return None
    try:
        found = msgspec.json.decode(content.encode("utf-8", "replace"))
    except msgspec.DecodeError:
        return None
    return found if isinstance(found, dict) else None


def _text(value: object) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, list) and value and all(isinstance(each, str) for each in value):
        # A command in words; a shell's own words in front of it say nothing.
        words = value[2:] if len(value) > 2 and value[0] in _SHELLS and value[1].startswith("-") else value
        return " ".join(words)
    return ""


def _patched(text: str) -> str:
    return ", ".join(dict.fromkeys(path.strip() for path in _PATCHED.findall(text[:_MOST_PARSED])))


def _plan(arguments: dict[str, Any]) -> str:
    lists = (arguments.get("todos"), arguments.get("plan"))
    steps = next((each for each in lists if isinstance(each, list)), None)
    if steps is None:
        return _text(arguments.get("plan"))
    said = []
    for step in steps:
        if isinstance(step, dict) and (text := _text(step.get("content")) or _text(step.get("step"))):
            status = _text(step.get("status")).replace("_", " ")
            said.append(f"{text} ({status})" if status else text)
    return "; ".join(said)
