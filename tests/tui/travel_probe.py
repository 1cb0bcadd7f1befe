"""A workspace with a session and shared memory, for what follows the moment and for ways between screens."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from tests.tui.timeline_probe import NOW, Steps, entry
from workbench.log.streams import session_stream
from workbench.sessions.events import ChronicumCreated, ChronicumDescribed
from workbench.tui.app import WorkbenchApp
from workbench.tui.widgets.frame import HeaderState
from workbench.workspace import Workspace

MANIFEST = """
[[projects]]
id = "atlas"
aliases = ["Atlas App"]

[[agents]]
id = "planner"
aliases = ["The Planner"]
"""


def make_story(root: Path) -> Path:
    """Twelve events: a session that grows and is renamed, observations, facts, a checkpoint."""
    with Workspace.create(root, title="Story", timezone="UTC", owner="maya", clock=Steps()) as workspace:
        manifest = workspace.layout.manifest
        manifest.write_text(manifest.read_text("utf-8") + MANIFEST, "utf-8")
    with Workspace.open(root, clock=Steps()) as workspace:
        stream, memory = session_stream("s1"), workspace.memory
        log = workspace.log
        log.append(stream, [ChronicumCreated(chronicum_id="s1", owner_id="maya")])
        log.append(stream, [ChronicumDescribed(title="First title")])
        log.append(stream, [entry("Plan the move of the importer")])
        log.append(stream, [entry("It stays behind a flag", "planner")])
        memory.record_event(
            "The flag is a file.",
            project="Atlas App",
            task_id="flag",
            agent="The Planner",
            category="decision",
            session_id="s1",
            fact={"slot": "flag.place", "value": "flags.toml", "kind": "decision"},
        )
        memory.record_event(
            "Handed off.",
            project="atlas",
            task_id="flag",
            agent="planner",
            category="milestone",
            checkpoint={"goal": "Put it behind a flag", "completed": ["Read both"]},
        )
        memory.record_event("Somebody else's note.", project="comet", agent="codex", category="note")
        log.append(stream, [ChronicumDescribed(title="Second title")])
        log.append(stream, [entry("Comet is another matter")])
        memory.record_event("A last note.", project="ATLAS", agent="codex", category="note")
    return root


class Named(WorkbenchApp):
    """The path in the header is the same wherever the tests run."""

    def header_state(self) -> HeaderState:
        return replace(super().header_state(), path="~/chronicle")


def story_app(root: Path, screen: str = "timeline") -> WorkbenchApp:
    """The whole program on the story, its clock stopped."""
    return WorkbenchApp(root, screen=screen, clock=lambda: NOW)
