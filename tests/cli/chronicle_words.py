"""What the tests of chronicles on the command line say and do."""

from __future__ import annotations

import json
from pathlib import Path

from workbench.sessions.model import ActorKind, Actum, ActumKind
from workbench.workspace import Workspace

DINNER = ("--stream", "session/dinner")
JSON = ("--format", "json")
HOSTILE = "buy \x1b[31mred\x07 wine\u202e [link](http://x)"


def say(workspace: Workspace, text: str, session: str = "dinner", *, private: bool = False) -> None:
    """One message of an agent."""
    workspace.sessions.record_actum(
        "ada",
        Actum(
            chronicum_id=session,
            kind=ActumKind.MESSAGE,
            actor_kind=ActorKind.AGENT,
            actor="planner",
            content=text,
            visibility="private" if private else "public",
        ),
    )


def rounds(workspace: Workspace, count: int, session: str = "dinner") -> None:
    """So many closed stretches; of a new session the ranges are 1-3 (it begins with an event), 4-5, 6-7."""
    for number in range(1, count + 1):
        say(workspace, f"round {number}: {HOSTILE}", session)
        workspace.close_unit("ada", session, f"round {number}")


def summarized_by(workspace: Workspace, program: Path) -> None:
    """Let the manifest name a program, which nobody has trusted yet."""
    manifest = workspace.layout.manifest
    said = f'\n[chronicle]\nsummarizer = "command"\ncommand = [{json.dumps(str(program))}]\n'
    manifest.write_text(manifest.read_text() + said)


def script(path: Path, text: str) -> Path:
    """A program of a few lines of shell; each run's prompt is added to `<path>.read`."""
    path.write_text(f'#!/bin/sh\ncat >> "$0.read"\n{text}\n')
    path.chmod(0o755)
    return path
