"""The content of one record as typed blocks, each of which becomes one actum.

This module knows the shape of content; `acta` knows who said it and where it belongs.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from workbench.imports.transcript.decoding import check_depth
from workbench.imports.transcript.fields import identifier
from workbench.imports.transcript.items import EvidenceBytes
from workbench.imports.transcript.media import read_media
from workbench.imports.transcript.payload import is_blank, payload_text, tool_name, type_name

WITHHELD = "[thinking withheld]"

BlockKind = Literal["text", "media", "thought", "request", "response"]


class Block(msgspec.Struct, gc=False):
    """One block that says something."""

    kind: BlockKind
    index: int
    """Place in the record's content, from 0; blocks that say nothing count."""
    content: str
    name: str = ""
    """Of a request: the tool's name."""
    call_id: str = ""
    is_error: bool = False
    withheld: bool = False
    prompt: str = ""
    """Of a request that gives a sub-agent its prompt: that prompt."""
    evidence: tuple[EvidenceBytes, ...] = ()


class Content(msgspec.Struct, gc=False):
    """What a record's content holds."""

    blocks: list[Block]
    ignored: list[str]
    """Types of the blocks that say nothing this program reads."""
    unreadable: int = 0
    """Images and documents whose bytes cannot be decoded."""


def user_content(content: Any) -> Content:
    """Blocks in a human's place: text, images and documents, answers of tools.

    Raises `Undecodable` ("too deep").
    """
    found = Content([], [])
    for index, block in _blocks(content):
        if type(block) is str:
            _add_text(found, index, block)
            continue
        kind = block.get("type")
        if kind == "text":
            _add_text(found, index, block.get("text"))
        elif kind == "tool_result":
            _add_response(found, index, block)
        elif kind == "image" or kind == "document":
            media = read_media(block)
            found.unreadable += media.unreadable
            evidence = (media.evidence,) if media.evidence else ()
            found.blocks.append(Block("media", index, media.description, evidence=evidence))
        else:
            found.ignored.append(type_name(kind))
    return found


def assistant_content(content: Any) -> Content:
    """Blocks of a model's message: text, thinking, calls of tools. Raises `Undecodable` ("too deep")."""
    found = Content([], [])
    for index, block in _blocks(content):
        if type(block) is str:
            _add_text(found, index, block)
            continue
        kind = block.get("type")
        if kind == "text":
            _add_text(found, index, block.get("text"))
        elif kind == "tool_use" or kind == "server_tool_use":
            _add_request(found, index, block)
        elif kind == "thinking" or kind == "redacted_thinking":
            thinking = block.get("thinking")
            readable = kind == "thinking" and type(thinking) is str and not is_blank(thinking)
            found.blocks.append(
                Block("thought", index, thinking if readable else WITHHELD, withheld=not readable)
            )
        else:
            found.ignored.append(type_name(kind))
    return found


def _blocks(content: Any) -> list[tuple[int, Any]]:
    """The blocks with their places; what is no block is passed over."""
    if type(content) is str:
        return [(0, content)]
    if type(content) is not list:
        return []
    if len(content) == 1 and type(content[0]) is dict:
        # Nearly every record, by now.
        return [(0, content[0])]
    return [(i, block) for i, block in enumerate(content) if type(block) is dict or type(block) is str]


def _add_text(found: Content, index: int, text: Any) -> None:
    if type(text) is str and not is_blank(text):
        found.blocks.append(Block("text", index, text))


def _add_request(found: Content, index: int, block: dict[str, Any]) -> None:
    given = block.get("input", {})
    prompt = ""
    if type(given) is dict:
        for value in given.values():
            if type(value) is dict or type(value) is list:
                check_depth(given)
                break
        prompt = given.get("prompt", "")
    else:
        check_depth(given)
    found.blocks.append(
        Block(
            "request",
            index,
            payload_text(given),
            name=tool_name(block.get("name")),
            call_id=identifier(block.get("id")),
            prompt=prompt if type(prompt) is str else "",
        )
    )


def _add_response(found: Content, index: int, block: dict[str, Any]) -> None:
    content = block.get("content")
    evidence: list[EvidenceBytes] = []
    if type(content) is str:
        text = content
    else:
        parts: list[str] = []
        for _, part in _blocks(content):
            if type(part) is str:
                parts.append(part)
            elif part.get("type") == "text":
                if type(part.get("text")) is str:
                    parts.append(part["text"])
            elif part.get("type") in ("image", "document"):
                media = read_media(part)
                found.unreadable += media.unreadable
                parts.append(media.description)
                if media.evidence:
                    evidence.append(media.evidence)
            else:
                parts.append(f"[{type_name(part.get('type'))}]")
        text = "\n".join(parts)
    found.blocks.append(
        Block(
            "response",
            index,
            text,
            call_id=identifier(block.get("tool_use_id")),
            is_error=block.get("is_error") is True,
            evidence=tuple(evidence),
        )
    )
