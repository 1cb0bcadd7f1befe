"""Claude Code transcripts: from the bytes of JSONL files to typed items, without a database.

`discover` names the files, `read_session` turns a session's files into one stream of items.
"""

from workbench.imports.claude_code.acta import SOURCE, SubAgent
from workbench.imports.claude_code.discover import Candidate, Discovery, Refused, config_folder, discover
from workbench.imports.claude_code.items import (
    ActumItem,
    Checkpoint,
    DescribeItem,
    EvidenceBytes,
    Ignored,
    Item,
    Problem,
    Repaired,
    Restarted,
    UnitClosedItem,
)
from workbench.imports.claude_code.reader import SETTLE_SECONDS, read_transcript
from workbench.imports.claude_code.session import FileItem, FileUnreadable, read_orphan, read_session
from workbench.imports.claude_code.state import ReaderState
from workbench.imports.claude_code.subagents import AgentFile, find_agents

__all__ = [
    "SETTLE_SECONDS",
    "SOURCE",
    "ActumItem",
    "AgentFile",
    "Candidate",
    "Checkpoint",
    "DescribeItem",
    "Discovery",
    "EvidenceBytes",
    "FileItem",
    "FileUnreadable",
    "Ignored",
    "Item",
    "Problem",
    "ReaderState",
    "Refused",
    "Repaired",
    "Restarted",
    "SubAgent",
    "UnitClosedItem",
    "config_folder",
    "discover",
    "find_agents",
    "read_orphan",
    "read_session",
    "read_transcript",
]
