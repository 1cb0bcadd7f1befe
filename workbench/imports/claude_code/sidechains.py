"""Sub-agents inside the trunk's own file, as older versions wrote them: which tool call began each one.

Such records carry no agent's id. A sidechain begins with a record that has no parent and repeats
the prompt of the call that began it; the others hang below it by `parentUuid`.
"""

from __future__ import annotations

import hashlib

from workbench.imports.claude_code.records import Record
from workbench.imports.claude_code.state import MAX_PROMPTS, MAX_SIDECHAIN, ReaderState
from workbench.imports.transcript.state import remember


def note_prompt(state: ReaderState, prompt: str, call_id: str) -> None:
    """Remember that a tool call gave this prompt to a sub-agent."""
    remember(state.prompts, _digest(prompt), call_id, MAX_PROMPTS)


def parent_call(state: ReaderState, record: Record, prompt: str) -> str:
    """The tool call that began a sidechain's record, empty if it is not known. `prompt` is its first text."""
    call_id = state.sidechain.get(record.parent_uuid or "", "")
    if not call_id and prompt and record.parent_uuid is None:
        call_id = state.prompts.get(_digest(prompt), "")
    if call_id and record.uuid:
        remember(state.sidechain, record.uuid, call_id, MAX_SIDECHAIN)
    return call_id


def _digest(prompt: str) -> str:
    return hashlib.sha256(prompt.encode("utf-8", "replace")).hexdigest()[:16]
