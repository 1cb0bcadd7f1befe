"""The forms in which a section, or a chronicle, can be copied."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

import msgspec

from workbench.tui.chronicle.nodes import Node, range_of, section_of
from workbench.tui.copying import CopyChoice

if TYPE_CHECKING:
    from pathlib import Path

    from workbench.chronicle.sections import Section
    from workbench.workspace import Workspace
    from workbench.workspace.rows import EventRow


def copy_choices(workspace: Workspace, node: Node, event: EventRow | None) -> list[CopyChoice]:
    """What can be copied of a row of the tree, and of an event under the cursor of the detail."""
    root, stream, name = shlex.quote(str(workspace.root)), shlex.quote(node.stream), section_of(node)
    choices: list[CopyChoice] = []
    if event is not None:
        choices += [
            CopyChoice("id of the event", event.event_id),
            CopyChoice("position of the event", str(event.position)),
        ]
    if name:

        def read() -> Section:
            return section(workspace, node.stream, name)

        choices += [
            CopyChoice("id of the section", name),
            CopyChoice("prose", lambda: read().prose),
            CopyChoice("JSON of the section", lambda: as_json(node.stream, read())),
            CopyChoice(
                "command that shows it",
                f"workbench chronicle section {shlex.quote(name)} --stream {stream} --events --root {root}",
            ),
        ]
    found = range_of(node)
    if found is not None:
        choices.append(CopyChoice("range", f"{node.stream} {found[0]}-{found[1]}"))
    return [
        *choices,
        CopyChoice("brief for an agent", lambda: workspace.chronicle(node.stream).brief().text),
        CopyChoice("name of the stream", node.stream),
        CopyChoice(
            "command that lists its sections", f"workbench chronicle sections --stream {stream} --root {root}"
        ),
        CopyChoice("command that replays it", replay_command(node, workspace.root)),
    ]


def replay_command(node: Node, root: Path) -> str:
    """What a person enters in a shell to have a row's chronicle again as it was drawn before."""
    stream, place = shlex.quote(node.stream), shlex.quote(str(root))
    return f"workbench chronicle rebuild --stream {stream} --replay --discard-generated --root {place}"


def section(workspace: Workspace, stream: str, name: str) -> Section:
    """A section as it is stored; raises `UnknownSection` where it is gone by now."""
    from workbench.chronicle.errors import UnknownSection

    found = workspace.readers.chronicle.section(stream, name)
    if found is None:
        raise UnknownSection(f"there is no section {name} any more", section_id=name)
    return found


def as_json(stream: str, section: Section) -> str:
    """A section with its anchor, as JSON."""
    anchor = section.anchor._asdict()
    whole = {"stream": stream, **anchor, "prose": section.prose, "pins": section.pins}
    return msgspec.json.format(msgspec.json.encode({**whole, "written": section.written._asdict()})).decode()
