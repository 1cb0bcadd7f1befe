"""The values that a shell is offered for an option or an argument.

Values are looked up while somebody waits for a key: quickly, never for writing, and silently where there is
nothing to look in. A shell puts what it is offered into the command line as it is, so that nothing is
offered that a shell would take for more than a word: shells differ in whether they quote it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

import click
from click.shell_completion import CompletionItem

from workbench.cli.given import Given, root_of

if TYPE_CHECKING:
    from workbench.workspace import Workspace

OFFERED = 50
"""Values at most."""
LOOK_SECONDS = 0.05
"""How long the processor looks through sessions; on a machine that is busy otherwise this takes longer."""
WAIT_SECONDS = 0.5
"""After how long, whatever it was spent on, no further session is looked at."""
_JOBS_LOOKED_AT = 1000
_ACTORS_LOOKED_AT = 20_000
"""How many are looked at where the beginning of one was typed."""
_MEMORY_LOOKED_AT = 200
_CHRONICLES_LOOKED_AT = 100
_RANGES_LOOKED_AT = 500

_PLAIN = re.compile(r"[A-Za-z0-9._/@+=,%][A-Za-z0-9._/@+=,%:-]*")
"""Words that no shell takes for anything else."""


# -- of the workspace ----------------------------------------------------------------------


def sessions(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Ids of sessions that begin so, the ones that were active last first."""
    return _found(ctx, incomplete, lambda workspace: _session_ids(workspace, incomplete))


def streams(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Names of the streams of those sessions."""
    prefix, slash, begun = incomplete.partition("/")
    if not "session/".startswith(prefix + slash):
        return []
    return _found(
        ctx, incomplete, lambda workspace: (f"session/{name}" for name in _session_ids(workspace, begun))
    )


def chronicles(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Names of the streams that can have a chronicle."""

    def named(workspace: Workspace) -> Iterator[str]:
        return (row.stream for row in workspace.readers.chronicle.streams(_CHRONICLES_LOOKED_AT))

    return _found(ctx, incomplete, named)


def chronicle_sections(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Ids of the sections of the stream that was named before, or of the only one."""

    def ids(workspace: Workspace) -> Iterator[str]:
        reader = workspace.readers.chronicle
        named = ctx.params.get("stream")
        streams = [named] if named else [row.stream for row in reader.streams(2)]
        if len(streams) != 1:
            return iter(())
        name = workspace.chronicle(streams[0]).stream
        return (row.anchor.section_id for row in reader.page(name, _RANGES_LOOKED_AT))

    return _found(ctx, incomplete, ids)


def event_types(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Types of the events that are in the log."""
    return _found(ctx, incomplete, lambda workspace: workspace.readers.timeline.types())


def actors(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Whoever events name, the most active first."""
    most = _ACTORS_LOOKED_AT if incomplete else 2 * OFFERED
    return _found(
        ctx, incomplete, lambda workspace: (name for name, _ in workspace.readers.timeline.actors(most))
    )


def names(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Spellings that were used or are declared, of the kind that was typed before."""
    kind = ctx.params.get("kind")
    return _found(
        ctx,
        incomplete,
        lambda workspace: (row.spelling for row in workspace.readers.names.names(workspace.registry, kind)),
    )


def projects(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Projects, as they were written or are declared."""
    return _spellings(ctx, incomplete, "project")


def domains(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Domains, as they were written or are declared."""
    return _spellings(ctx, incomplete, "domain")


def agents(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Agents, as they were written or are declared."""
    return _spellings(ctx, incomplete, "agent")


def tasks(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Tasks of the project that was named before, or of all: the latest first."""
    project, domain = ctx.params.get("project"), ctx.params.get("domain")

    def named(workspace: Workspace) -> Iterator[str]:
        page = workspace.memory.tasks(project, True, domain, limit=_MEMORY_LOOKED_AT, raw=True)
        return (each.task_id for each in page.tasks)

    return _found(ctx, incomplete, named)


def facts(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Ids of current facts, the newest first."""
    return _found(ctx, incomplete, _fact_ids)


def observations(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Ids of observations, the newest first."""
    return _found(ctx, incomplete, _observation_ids)


def withheld(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Ids of quarantined observations, the newest first."""

    def ids(workspace: Workspace) -> Iterator[str]:
        found = workspace.memory.quarantined(limit=_MEMORY_LOOKED_AT)
        return (each.observation.observation_id for each in found)

    return _found(ctx, incomplete, ids)


def reviewed(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Ids of what a review can be about, of the kind that was typed before, the newest first."""
    ids = {"fact": _fact_ids, "checkpoint": _checkpoint_ids}.get(ctx.params.get("kind", ""), _observation_ids)
    return _found(ctx, incomplete, ids)


def jobs(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Numbers of jobs: running ones first, then the newest."""
    most = _JOBS_LOOKED_AT if incomplete else OFFERED
    return _found(ctx, incomplete, lambda workspace: (str(row.id) for row in workspace.jobs.page(most)))


def running_jobs(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Numbers of the jobs that could be stopped."""
    return _found(
        ctx,
        incomplete,
        lambda workspace: (str(row.id) for row in workspace.jobs.page(OFFERED) if row.running),
    )


# -- of the program ------------------------------------------------------------------------


def categories(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """What an observation can be."""
    from workbench.memory.entry import CATEGORIES

    return _offered(sorted(CATEGORIES), incomplete)


def kinds(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Kinds of acta."""
    from workbench.sessions.model import ActumKind

    return _offered(map(str, ActumKind), incomplete)


def actor_kinds(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Kinds of actors."""
    from workbench.sessions.model import ActorKind

    return _offered(map(str, ActorKind), incomplete)


def screens(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Names of the terminal program's screens."""
    from pathlib import Path

    # A screen is called as its module; loading them would take longer than anybody waits.
    folder = Path(__file__).parents[1] / "tui" / "screens"
    names = sorted(path.stem for path in folder.glob("*.py"))
    return _offered((name for name in names if name != "catalog" and not name.startswith("_")), incomplete)


def samples(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Names of the sample workspaces."""
    try:
        from workbench.workspace.samples import samples as installed

        return _offered((sample.name for sample in installed()), incomplete)
    except Exception:
        return []


def files(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Whatever files the shell finds."""
    return [CompletionItem(incomplete, type="file")]


def folders(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Whatever folders the shell finds."""
    return [CompletionItem(incomplete, type="dir")]


# -- looking -------------------------------------------------------------------------------


def _session_ids(workspace: Workspace, begun: str) -> Iterator[str]:
    from time import monotonic, thread_time

    from workbench.workspace.rows import SessionFilter

    worked, waited = thread_time() + LOOK_SECONDS, monotonic() + WAIT_SECONDS
    rows = workspace.readers.sessions.page(
        SessionFilter(text=begun),
        # What is typed may stand anywhere in a session's words: not all that are found begin so.
        4 * OFFERED if begun else 2 * OFFERED,
        cancelled=lambda: thread_time() > worked or monotonic() > waited,
    )
    return (row.id for row in rows)


def _spellings(ctx: click.Context, incomplete: str, kind: str) -> list[CompletionItem]:
    return _found(
        ctx,
        incomplete,
        lambda workspace: (row.spelling for row in workspace.readers.names.names(workspace.registry, kind)),
    )


def _fact_ids(workspace: Workspace) -> Iterator[str]:
    return (each.id for each in workspace.memory.facts(limit=_MEMORY_LOOKED_AT, raw=True).facts)


def _observation_ids(workspace: Workspace) -> Iterator[str]:
    return (each.observation_id for each in workspace.memory.recent(_MEMORY_LOOKED_AT, raw=True))


def _checkpoint_ids(workspace: Workspace) -> Iterator[str]:
    page = workspace.memory.tasks(all=True, limit=_MEMORY_LOOKED_AT, raw=True)
    return (each.checkpoint_id for each in page.tasks if each.checkpoint_id is not None)


def _found(
    ctx: click.Context, incomplete: str, values: Callable[[Workspace], Iterable[str]]
) -> list[CompletionItem]:
    """What the workspace that the command line so far is about has; nothing where anything is wrong."""
    try:
        from workbench.workspace.workspace import Workspace

        # Not as commands open it: nothing is migrated under a person's fingers.
        root = root_of(ctx.find_object(Given) or Given())
        with Workspace.open(root, read_only=True) as workspace:
            return _offered(values(workspace), incomplete)
    except Exception:
        return []


def _offered(values: Iterable[str], incomplete: str) -> list[CompletionItem]:
    from itertools import islice

    fitting = (value for value in values if value.startswith(incomplete) and _PLAIN.fullmatch(value))
    return [CompletionItem(value) for value in islice(fitting, OFFERED)]
