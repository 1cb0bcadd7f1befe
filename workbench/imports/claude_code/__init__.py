"""Claude Code transcripts: from the bytes of JSONL files to typed items, without a database.

`discover` names the files, `read_session` turns a session's files into one stream of items.
"""

from workbench.imports.claude_code.acta import SOURCE, SubAgent
from workbench.imports.claude_code.discover import config_folder, discover
from workbench.imports.claude_code.reader import read_transcript
from workbench.imports.claude_code.session import read_orphan, read_session
from workbench.imports.claude_code.state import ReaderState
from workbench.imports.claude_code.subagents import find_agents

__all__ = [
    "SOURCE",
    "ReaderState",
    "SubAgent",
    "config_folder",
    "discover",
    "find_agents",
    "read_orphan",
    "read_session",
    "read_transcript",
]
