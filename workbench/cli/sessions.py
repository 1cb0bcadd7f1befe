"""`workbench sessions`: list, show, context, record, close-unit (contract surfaces; contract sessions)."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Literal

import click

from workbench.cli import forms
from workbench.cli.errors import UsageRefused, with_root
from workbench.cli.opening import open_workspace
from workbench.cli.options import Given, common, completes, limit, owner, pass_given, utf8, whole
from workbench.cli.output import warn_unknown, write_json, write_lines
from workbench.errors import WorkbenchError

if TYPE_CHECKING:
    from workbench.sessions.model import Actum
    from workbench.workspace import Workspace
    from workbench.workspace.rows import SessionRow

_PARENT_WITHIN = 20
"""Which session started a sub-agent's is told once, with one of the first acta."""


@click.group("sessions")
@common
def command() -> None:
    """List, read and record sessions."""


# -- reading -------------------------------------------------------------------------------


@command.command("list")
@common
@click.option("--owner", type=utf8, metavar="ID", help="Only this owner's sessions.")
@click.option(
    "--order",
    type=click.Choice(("happened", "recorded")),
    default="happened",
    show_default=True,
    help="Newest first by when the last act happened, or by when it was recorded.",
)
@limit
@click.option("--after", type=utf8, metavar="ID", help="Go on behind a page: its “next”.")
@pass_given
def list_(
    given: Given,
    owner: str | None,
    order: Literal["happened", "recorded"],
    limit: int,
    after: str | None,
) -> None:
    """List sessions, newest first."""
    from workbench.workspace.rows import SessionFilter

    if owner == "":
        from workbench.sessions.errors import EmptyOwnerID

        raise EmptyOwnerID
    with open_workspace(given) as workspace:
        reader = workspace.readers.sessions
        anchor = None
        if after is not None:
            anchor = reader.get(after)
            if anchor is None:
                raise UsageRefused(
                    f"there is no session {after!r} to go on behind", hint="give --after the “next” of a page"
                )
        rows = reader.page(SessionFilter(owner=owner or ""), limit + 1, after=anchor, order=order)
        following = rows[limit - 1].id if len(rows) > limit else None
        rows = rows[:limit]
        if given.as_json:
            write_json({"sessions": [forms.session(row) for row in rows], "next": following})
            return
        if not rows and owner is None and after is None:
            write_lines(_no_sessions(given))
            return
        from workbench.cli import readable

        write_lines(readable.sessions(rows, following, workspace.timezone, order))


@command.command("show", short_help="Show a session and its acta.")
@common
@click.argument("session_id", metavar="ID", type=utf8, shell_complete=completes("sessions"))
@owner
@click.option("--after", type=whole(0, 2**62), metavar="SEQ", help="Go on behind a page: its “next”.")
@click.option("--find", metavar="TEXT", help="Only what holds these words, the last one as a beginning.")
@limit
@pass_given
def show(
    given: Given, session_id: str, owner: str | None, after: int | None, find: str | None, limit: int
) -> None:
    """Show a session and its acta, oldest first, private ones included."""
    from workbench.sessions.errors import ChronicumNotFound
    from workbench.sessions.model import ActumKind
    from workbench.workspace.rows import ActaFilter

    # JSON lists acta; a person also sees where units ended.
    wanted = ActaFilter(kinds=tuple(map(str, ActumKind)) if given.as_json else ())
    with open_workspace(given) as workspace, _naming(session_id):
        workspace.sessions.get_chronicum(_owner(workspace, owner), session_id)
        row = workspace.readers.sessions.get(session_id)
        if row is None:
            raise ChronicumNotFound
        entries = workspace.readers.entries
        if find is None:
            found = entries.page(session_id, wanted, limit + 1, after=after or 0)
        else:
            seqs = entries.search.page(session_id, wanted, find, limit + 1, after_seq=after or 0)
            found = entries.at(session_id, seqs)
        following = found[limit - 1].seq if len(found) > limit else None
        found = found[:limit]
        if given.as_json:
            whole = (
                (entries.entry(session_id, e.seq) if e.content_chars > len(e.content) else e) for e in found
            )
            acta = [forms.entry(e) for e in whole if e is not None]
            known = {**forms.session(row), "parent_session": _parent(workspace, row) or None}
            write_json({"session": known, "acta": acta, "next": following})
            return
        from itertools import chain

        from workbench.cli import readable
        from workbench.drawing import one_line

        lines = readable.session(row, _lineage(workspace, row), found, following, workspace.timezone)
        if find is not None and not found:
            nothing = "Nothing more here has" if after else "Nothing here has"
            lines = chain(lines, ("", f"{nothing} “{one_line(find, 60)}”."))
        elif after and not found:
            lines = chain(lines, ("", f"Nothing here follows {after}."))
        write_lines(lines)


@command.command("context", short_help="Print the context window that an agent would get.")
@common
@click.argument("session_id", metavar="ID", type=utf8, shell_complete=completes("sessions"))
@owner
@click.option("--last-n", type=whole(), default=0, metavar="N", help="The last N that pass; 0 for all.")
@click.option(
    "--kind",
    "kinds",
    multiple=True,
    type=utf8,
    metavar="KIND",
    shell_complete=completes("kinds"),
    help="message, thought, tool_request or tool_response; may be repeated.",
)
@click.option(
    "--actor-kind",
    "actor_kinds",
    multiple=True,
    type=utf8,
    metavar="KIND",
    shell_complete=completes("actor_kinds"),
    help="human, agent or system; may be repeated.",
)
@click.option("--private", is_flag=True, help="Keep private acta, which are left out otherwise.")
@pass_given
def context(
    given: Given,
    session_id: str,
    owner: str | None,
    last_n: int,
    kinds: tuple[str, ...],
    actor_kinds: tuple[str, ...],
    private: bool,
) -> None:
    """Print the context window that an agent would get, oldest first."""
    from workbench.sessions.model import ActorKind, ActumKind
    from workbench.workspace.context import context as window

    with open_workspace(given) as workspace, _naming(session_id):
        acta = window(
            workspace,
            _owner(workspace, owner),
            session_id,
            last_n=min(last_n, 2**62),
            actum_kinds=kinds,
            actor_kinds=actor_kinds,
            private=private,
        )
        warn_unknown("kind", kinds, tuple(ActumKind))
        warn_unknown("actor kind", actor_kinds, tuple(ActorKind))
        if given.as_json:
            write_json({"acta": [forms.actum(actum) for actum in acta]})
            return
        from workbench.cli import readable

        write_lines(readable.acta(acta, workspace.timezone))


# -- writing -------------------------------------------------------------------------------


@command.command("record", short_help="Record one act into a session.")
@common
@click.option(
    "--session",
    "session_id",
    required=True,
    type=utf8,
    metavar="ID",
    shell_complete=completes("sessions"),
    help="Begun if it is new.",
)
@owner
@click.option(
    "--kind",
    required=True,
    type=utf8,
    metavar="KIND",
    shell_complete=completes("kinds"),
    help="message, thought, tool_request or tool_response.",
)
@click.option(
    "--actor-kind",
    required=True,
    type=utf8,
    metavar="KIND",
    shell_complete=completes("actor_kinds"),
    help="human, agent or system.",
)
@click.option(
    "--actor",
    required=True,
    type=utf8,
    metavar="ID",
    shell_complete=completes("actors"),
    help="Who did it.",
)
@click.option(
    "--content",
    required=True,
    metavar="TEXT",
    help="What was said or done; “-” reads stdin, less a last newline.",
)
@click.option("--key", type=utf8, metavar="KEY", help="Recording again with the same key changes nothing.")
@click.option("--private", is_flag=True, help="For one party only: reaches no agent and no summary.")
@click.option("--metadata", metavar="JSON", help="A JSON object, such as a tool's name and call_id.")
@pass_given
def record(
    given: Given,
    session_id: str,
    owner: str | None,
    kind: str,
    actor_kind: str,
    actor: str,
    content: str,
    key: str | None,
    private: bool,
    metadata: str | None,
) -> None:
    """Record one act into a session and print it as stored."""
    from workbench.sessions.model import PRIVATE, PUBLIC, Actum

    if content == "-":
        # As arguments arrive: bytes that are not UTF-8 become surrogates, which the log replaces.
        content = sys.stdin.buffer.read().decode("utf-8", "surrogateescape")
        # A text file's last line ends in one; it is no part of what was said.
        content = content.removesuffix("\n").removesuffix("\r") if content.endswith("\n") else content
    actum = Actum(
        chronicum_id=session_id,
        kind=kind,
        actor_kind=actor_kind,
        actor=actor,
        content=content,
        metadata={} if metadata is None else _metadata(metadata),
        visibility=PRIVATE if private else PUBLIC,
    )
    with open_workspace(given, read_only=False) as workspace, _naming(session_id):
        stored = workspace.sessions.record_actum(_owner(workspace, owner), actum, idempotency_key=key)
        _print_actum(given, workspace, stored)


@command.command("close-unit", short_help="Mark the end of a stretch of a session.")
@common
@click.argument("session_id", metavar="ID", type=utf8, shell_complete=completes("sessions"))
@owner
@click.option(
    "--unit", required=True, type=utf8, metavar="NAME", help="What is over: a task, a phase, a day."
)
@click.option("--note", metavar="TEXT", help="What there is to say about it.")
@click.option("--key", type=utf8, metavar="KEY", help="Closing again with the same key changes nothing.")
@pass_given
def close_unit(
    given: Given, session_id: str, owner: str | None, unit: str, note: str | None, key: str | None
) -> None:
    """Mark the end of a stretch of a session; this is no act of the session."""
    with open_workspace(given, read_only=False) as workspace, _naming(session_id):
        closed = workspace.close_unit(
            _owner(workspace, owner), session_id, unit, note=note, idempotency_key=key
        )
    if given.as_json:
        write_json({"position": closed.position, "seq": closed.seq, "unit": unit})
        return
    from workbench.drawing import visible

    write_lines([visible(f"closed {unit} in {session_id}: event {closed.position}, seq {closed.seq}")])


def _no_sessions(given: Given) -> Iterator[str]:
    from workbench.drawing import visible

    yield "no sessions yet"
    yield ""
    yield "imports and records make them, such as:"
    for line in (
        "workbench import claude-code",
        "workbench import codex",
        "workbench sessions record --help",
    ):
        # To be told how to record, nobody needs to name a workspace.
        yield visible(f"  {line if line.endswith('--help') else with_root(line, given)}")


@contextmanager
def _naming(session_id: str) -> Iterator[None]:
    """A session that is not there, or is somebody else's, is named as it was asked for.

    The library names none, for agents; here the same words answer both, to whoever wrote the id.
    """
    try:
        yield
    except WorkbenchError as error:
        if error.code != "chronicum_not_found":
            raise
        from workbench.sessions.errors import ChronicumNotFound

        raise ChronicumNotFound(f"{ChronicumNotFound.text}: {session_id}") from error


def _lineage(workspace: Workspace, row: SessionRow) -> list[tuple[str, str]]:
    """Of a fork the session that it was forked from, of a sub-agent the one that started it.

    Pairs of (what it is to this session, its id and its title where it is in the workspace too).
    """
    return [
        (name, _with_title(workspace, session_id))
        for name, session_id in (("fork of", row.forked_from), ("sub-agent of", _parent(workspace, row)))
        if session_id
    ]


def _parent(workspace: Workspace, row: SessionRow) -> str:
    """The session that a sub-agent's first acta name; empty for a session that no other one started."""
    from workbench.sessions.model import ActumKind
    from workbench.workspace.rows import ActaFilter

    wanted = ActaFilter(kinds=tuple(map(str, ActumKind)))
    acta = workspace.readers.entries.page(row.id, wanted, _PARENT_WITHIN)
    named = (actum.metadata.get("parent_session") for actum in acta)
    return next((name for name in named if isinstance(name, str)), "")


def _with_title(workspace: Workspace, session_id: str) -> str:
    row = workspace.readers.sessions.get(session_id)
    if row is None:
        return f"{session_id} (not in this workspace)"
    return f"{session_id} ({row.title})" if row.title else session_id


def _owner(workspace: Workspace, named: str | None) -> str:
    return workspace.owner if named is None else named


def _print_actum(given: Given, workspace: Workspace, stored: Actum) -> None:
    if given.as_json:
        write_json(forms.actum(stored))
        return
    from workbench.cli import readable

    write_lines(readable.acta([stored], workspace.timezone))


def _metadata(text: str) -> dict[str, Any]:
    """The object in `--metadata`; what JSON allows, the log's door judges."""
    import json

    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        said = str(error) if isinstance(error, ValueError) else "nested too deeply"
        raise UsageRefused(
            f"--metadata is not JSON: {said}", hint='give an object: \'{"name": "Bash"}\''
        ) from None
    if not isinstance(value, dict):
        raise UsageRefused("--metadata is not a JSON object", hint='give an object: \'{"name": "Bash"}\'')
    return value
