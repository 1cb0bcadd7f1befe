"""Which stream a chronicle command is about: named as it is, by a session, or by a project and a task."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from workbench.cli.chronicle_missing import existing_stream, few, known_streams
from workbench.cli.errors import UsageRefused
from workbench.cli.memory_options import domain, project, task_id
from workbench.cli.options import completes, utf8

if TYPE_CHECKING:
    from workbench.workspace import Workspace


class Named(NamedTuple):
    """A stream, as the command line names it."""

    stream: str | None
    session: str | None
    domain: str | None
    project: str | None
    task_id: str | None

    def __bool__(self) -> bool:
        """Whether anything was named."""
        return any(part is not None for part in self)


def names_stream(function: Callable[..., Any]) -> Callable[..., Any]:
    """Decorator: add what names a stream; the function takes it as `named`."""

    @wraps(function)
    def packed(
        *given: Any,
        stream: str | None,
        session: str | None,
        domain: str | None,
        project: str | None,
        task_id: str | None,
        **others: Any,
    ) -> Any:
        return function(*given, named=Named(stream, session, domain, project, task_id), **others)

    for add in (
        domain,
        task_id,
        project,
        click.option(
            "--session",
            type=utf8,
            metavar="ID",
            shell_complete=completes("sessions"),
            help="The stream of this session.",
        ),
        click.option(
            "--stream",
            type=utf8,
            metavar="NAME",
            shell_complete=completes("chronicles"),
            help="The stream, such as session/ID, or a session's id.",
        ),
    ):
        packed = add(packed)
    return packed


def stream_of(workspace: Workspace, named: Named) -> str:
    """The name of the one stream that is meant. `UsageRefused` where none was named, or several are meant."""
    found = stream_or_all(workspace, named)
    if found is not None:
        return found
    known = known_streams(workspace)
    if not known:
        raise UsageRefused(
            "there is no stream with a chronicle yet", hint="see what there is: workbench chronicle status"
        )
    raise UsageRefused(
        "the stream is missing", hint=f"name one with --stream: {few(known)}; workbench chronicle status"
    )


def stream_or_all(workspace: Workspace, named: Named) -> str | None:
    """The name of the stream that is meant; None where none was named.

    Raises `UsageRefused` for two ways of naming one, `UnknownStream`, `InvalidIdentifier`.
    """
    of_scope = named.project is not None or named.task_id is not None or named.domain is not None
    if sum((named.stream is not None, named.session is not None, of_scope)) > 1:
        raise UsageRefused(
            "the stream is named twice", hint="give --stream, or --session, or --project and --task-id"
        )
    if named.stream is not None:
        return existing_stream(workspace, named.stream, named.stream)
    if named.session is not None:
        from workbench.log.streams import session_stream

        return existing_stream(workspace, named.session, session_stream(named.session).name)
    return _of_scope(workspace, named) if of_scope else None


def _of_scope(workspace: Workspace, named: Named) -> str:
    """The stream of what a domain, a project and a task mean now, under whatever spelling it was begun.

    Without a domain that is the usual one's, as in other commands; where that has no such stream, the only
    one that another domain has.
    """
    found, first = _spelled(workspace, named)
    if not found and named.domain is None:
        found = _in_other_domains(workspace, named)
        if len(found) > 1:
            what = "task" if named.task_id else "project"
            raise UsageRefused(
                f"{len(found)} domains have this {what}",
                hint=f"name one with --domain or --stream: {few(found)}",
            )
    if len(found) > 1:
        raise UsageRefused(
            f"that is {len(found)} streams, recorded before their names were said to be one",
            hint=f"name one with --stream: {few(found)}",
        )
    asked = " / ".join(part for part in (named.domain, named.project, named.task_id) if part)
    return found[0] if found else existing_stream(workspace, asked, first)


def _spelled(workspace: Workspace, named: Named) -> tuple[list[str], str]:
    """The streams that are there under a spelling of these names, and the name that a new one would have."""
    from workbench.identity.scopes import resolve
    from workbench.log.streams import scope_stream

    try:
        scope = resolve(workspace.registry, named.domain, named.project, named.task_id)
    except ValueError as error:
        raise UsageRefused(f"--task-id without --project: {error}", hint="name the project") from None
    names = [
        scope_stream(domain, project, scope.task_key).name
        for domain in scope.domain_forms
        for project in scope.project_forms or ("",)
    ]
    return [name for name in dict.fromkeys(names) if _is_there(workspace, name)], names[0]


def _in_other_domains(workspace: Workspace, named: Named) -> list[str]:
    """The streams that any domain has under these names."""
    if named.project is None:
        return []
    rows = workspace.readers.names.names(workspace.registry, "domain")
    domains = dict.fromkeys(row.canonical for row in rows)
    found = [name for domain in domains for name in _spelled(workspace, named._replace(domain=domain))[0]]
    return list(dict.fromkeys(found))


def _is_there(workspace: Workspace, name: str) -> bool:
    return bool(workspace.log.stream(name).last_seq())
