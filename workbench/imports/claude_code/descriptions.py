"""What a transcript's records say about their session as a whole."""

from __future__ import annotations

from typing import Any

from workbench.imports.claude_code.records import Record
from workbench.imports.transcript import titles
from workbench.imports.transcript.cutting import cut
from workbench.imports.transcript.fields import identifier
from workbench.imports.transcript.state import SessionState


def note_record(session: SessionState, record: Record) -> None:
    """Take what a record of the trunk says about its session: the first cwd, the latest branch and
    version."""
    known = session.known
    cwd = record.cwd
    if "cwd" not in known and cwd and (kept := cut(cwd, titles.MAX_FIELD)):
        titles.set_field(session, "cwd", kept)
    branch = record.git_branch
    if branch and branch != known.get("git_branch") and (kept := cut(branch, titles.MAX_FIELD)):
        titles.set_field(session, "git_branch", kept)
    version = record.client_version
    if version and version != known.get("client_version") and (kept := cut(version, titles.MAX_FIELD)):
        titles.set_field(session, "client_version", kept)
    if record.forked_from is not None and "forked_from" not in known:
        note_fork(session, record.forked_from)


def note_fork(session: SessionState, forked_from: Any) -> None:
    """Take the session that this one was forked from."""
    if isinstance(forked_from, dict) and (origin := identifier(forked_from.get("sessionId"))):
        titles.set_field(session, "forked_from", f"claude-code/{origin}")


def note_title_record(session: SessionState, record: Record) -> None:
    """Take a `custom-title` or `ai-title` record."""
    if record.type == "custom-title":
        titles.set_title(session, titles.CUSTOM, record.custom_title or "")
    elif record.type == "ai-title":
        titles.set_title(session, titles.AI, record.ai_title or "")
