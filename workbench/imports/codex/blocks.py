"""The content of one item as typed blocks, each of which becomes one actum."""

from __future__ import annotations

import hashlib
import re
from typing import Any

import msgspec

from workbench.imports.transcript.decoding import check_depth
from workbench.imports.transcript.fields import identifier
from workbench.imports.transcript.items import EvidenceBytes
from workbench.imports.transcript.media import read_media
from workbench.imports.transcript.payload import is_blank, payload_text, type_name

WITHHELD = "[reasoning withheld]"

_TEXT_TYPES = frozenset({"input_text", "output_text", "text", "summary_text", "reasoning_text"})
_DATA_URL = re.compile(r"data:([^;,]{0,100})((?:;[^;,]{0,100}){0,8}),", re.IGNORECASE)
_EXIT_CODE = re.compile(r"\s*Exit code: (-?\d{1,9})\s")


class Block(msgspec.Struct, gc=False):
    """One block that says something."""

    index: int
    """Place in the item's content, from 0; blocks that say nothing count."""
    content: str
    is_text: bool = True
    evidence: tuple[EvidenceBytes, ...] = ()


class Content(msgspec.Struct, gc=False):
    """What an item's content holds."""

    blocks: list[Block] = msgspec.field(default_factory=list)
    ignored: list[str] = msgspec.field(default_factory=list)
    """Types of the blocks that say nothing this program reads."""
    unreadable: int = 0
    """Images whose bytes cannot be decoded."""
    images: list[str] = msgspec.field(default_factory=list)
    """What tells the images apart: their addresses, digests for those that hold the bytes."""

    @property
    def texts(self) -> list[str]:
        """The texts, in order."""
        return [block.content for block in self.blocks if block.is_text]


def message_content(content: Any) -> Content:
    """The texts and images of a message: a list of blocks, or one bare string."""
    found = Content()
    for index, block in enumerate(_list(content)):
        if type(block) is str:
            add_text(found, index, block)
        elif type(block) is dict:
            kind = identifier(block.get("type"))
            if kind in _TEXT_TYPES or (not kind and "text" in block):
                add_text(found, index, block.get("text"))
            elif kind in ("input_image", "image", "image_url"):
                add_image(found, index, block.get("image_url"))
            else:
                found.ignored.append(type_name(kind))
    return found


def add_text(found: Content, index: int, text: Any) -> None:
    """Add a text, unless it is blank or none."""
    if type(text) is str and not is_blank(text):
        found.blocks.append(Block(index, text))


def add_image(found: Content, index: int, address: Any) -> None:
    """Add an image by its address, which in this format holds its bytes."""
    if type(address) is dict:
        address = address.get("url")
    media = read_media(_image_block(address))
    found.unreadable += media.unreadable
    if media.evidence:
        found.images.append(hashlib.blake2b(media.evidence.data, digest_size=16).hexdigest())
    elif type(address) is str:
        found.images.append(address)
    evidence = (media.evidence,) if media.evidence else ()
    found.blocks.append(Block(index, media.description, is_text=False, evidence=evidence))


def reasoning_content(payload: dict[str, Any]) -> Content:
    """The texts of a reasoning's summary; where it has none, those of the reasoning itself.

    The encrypted part is never looked at.
    """
    found = message_content(payload.get("summary"))
    if not found.blocks:
        found = message_content(payload.get("content"))
    found.blocks = [block for block in found.blocks if block.is_text]
    return found


class Output(msgspec.Struct, gc=False):
    """What a tool answered."""

    content: str
    is_error: bool = False
    result: dict[str, Any] = msgspec.field(default_factory=dict)
    """`exit_code` and `duration_seconds` where the answer tells them."""
    evidence: tuple[EvidenceBytes, ...] = ()
    unreadable: int = 0


def tool_output(payload: dict[str, Any]) -> Output:
    """The answer of a tool: a string, blocks, or a string of JSON that holds one and how the tool ended.

    Raises `Undecodable` ("too deep").
    """
    given = payload.get("output")
    failed = payload.get("success") is False or payload.get("status") == "failed"
    if given is None and "tools" in payload:
        given = payload["tools"]
        check_depth(given)
        return Output(payload_text(given), failed)
    if type(given) is dict:
        failed = failed or given.get("success") is False
        if type(given.get("content")) not in (str, list):
            check_depth(given)
            return Output(payload_text(given), failed)
        given = given["content"]
    if type(given) is str:
        return _text_output(given, failed)
    found = message_content(given)
    contents = [block.content for block in found.blocks]
    contents.extend(f"[{kind}]" for kind in found.ignored)
    evidence = tuple(each for block in found.blocks for each in block.evidence)
    return Output("\n".join(contents), failed, evidence=evidence, unreadable=found.unreadable)


def _text_output(text: str, failed: bool) -> Output:
    result: dict[str, Any] = {}
    if text.startswith('{"output":') or text.startswith('{"metadata":'):
        try:
            wrapped = msgspec.json.decode(text, type=_Wrapped)
        except (msgspec.MsgspecError, RecursionError, UnicodeError):
            return Output(text, failed)
        if wrapped.metadata.exit_code is not None:
            result["exit_code"] = wrapped.metadata.exit_code
        if wrapped.metadata.duration_seconds is not None:
            result["duration_seconds"] = wrapped.metadata.duration_seconds
        text = wrapped.output
    else:
        code = _EXIT_CODE.match(text)
        if code is not None:
            result["exit_code"] = int(code[1])
    return Output(text, failed or result.get("exit_code", 0) != 0, result)


class _Metadata(msgspec.Struct, forbid_unknown_fields=True):
    exit_code: int | None = None
    duration_seconds: float | None = None


class _Wrapped(msgspec.Struct, forbid_unknown_fields=True):
    """How a shell's answer is wrapped. With anything more in it, it is kept as it is."""

    output: str
    metadata: _Metadata


def call_input(payload: dict[str, Any], name: str) -> str:
    """What a tool was given: a string as it is, anything else as JSON in the form of payload rows.

    Raises `Undecodable` ("too deep").
    """
    given = payload.get(name)
    if type(given) is str:
        return given
    check_depth(given)
    return payload_text({} if given is None else given)


def _list(content: Any) -> list[Any]:
    if type(content) is list:
        return content
    return [content] if type(content) is str else []


def _image_block(address: Any) -> dict[str, Any]:
    if type(address) is not str or not address:
        return {"type": "image", "source": {"type": "base64"}}
    head = _DATA_URL.match(address)
    if head is None:
        return {"type": "image", "source": {"type": "url"}}
    data = address[head.end() :]
    return {"type": "image", "source": {"type": "base64", "media_type": head[1], "data": data}}
