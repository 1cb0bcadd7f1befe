"""What commands of shared memory take: scopes, the past, pages, and who speaks."""

from __future__ import annotations

import os
from collections.abc import Callable

import click

from workbench.cli.options import Function, completes, utf8, whole

MOST_LISTED = 500
"""Items of one page."""

_AGENT_VARIABLE = "CHRONICLE_AGENT"
_USUAL_AGENT = "cli"


def named(field: str) -> Callable[[str], str]:
    """A type of option: a name. A blank one is refused, for it would count as none, and something wider would
    be meant than whoever gave it had in mind."""

    def name(value: str) -> str:
        given = utf8(value)
        if not any(sign.isascii() and sign.isalnum() for sign in given):
            from workbench.identity.folding import fold, is_blank
            from workbench.memory.errors import InvalidArgument

            if is_blank(given.strip()) or not fold(given):
                raise InvalidArgument(f"{field} is blank", hint="name it, or leave the option out")
        return given

    return name


def domain(function: Function) -> Function:
    """Decorator: add `--domain`."""
    return click.option(
        "--domain",
        type=named("domain"),
        metavar="NAME",
        shell_complete=completes("domains"),
        help="A broad area, such as work; any spelling.",
    )(function)


def project(function: Function) -> Function:
    """Decorator: add `--project`."""
    return click.option(
        "--project",
        type=named("project"),
        metavar="NAME",
        shell_complete=completes("projects"),
        help="The project, in any spelling.",
    )(function)


def task_id(function: Function) -> Function:
    """Decorator: add `--task-id`."""
    return click.option(
        "--task-id",
        type=named("task_id"),
        metavar="ID",
        shell_complete=completes("tasks"),
        help="A task of the project.",
    )(function)


def agent(function: Function) -> Function:
    """Decorator: add `--agent`, None where it was not given; see `speaker`."""
    return click.option(
        "--agent",
        type=named("agent"),
        metavar="NAME",
        shell_complete=completes("agents"),
        help=f"Who speaks.  [default: ${_AGENT_VARIABLE}, or {_USUAL_AGENT}]",
    )(function)


def as_of(function: Function) -> Function:
    """Decorator: add `--as-of`, as text; see `moments.past`."""
    return click.option(
        "--as-of",
        type=utf8,
        metavar="WHEN",
        help="As it was known then: 2026-03-02, “2026-03-02 14:00”, yesterday, or a position of the log.",
    )(function)


def raw(function: Function) -> Function:
    """Decorator: add `--raw`."""
    return click.option(
        "--raw", is_flag=True, help="Also what no agent is shown, marked: private and quarantined."
    )(function)


def most(usual: int, top: int) -> Callable[[Function], Function]:
    """Decorator: add `--limit`, from 1 to `top`."""
    return click.option(
        "--limit",
        type=whole(1, top),
        default=usual,
        show_default=True,
        metavar="N",
        help=f"At most so many, 1 to {top}.",
    )


def after(function: Function) -> Function:
    """Decorator: add `--after`, a position."""
    return click.option(
        "--after", type=whole(0, 2**62), metavar="POSITION", help="Go on behind a page: its “next”."
    )(function)


def speaker(given: str | None) -> tuple[str, str]:
    """Who speaks, and how that is known: named here, by the environment, or not at all."""
    if given is not None:
        return given, "explicit"
    around = os.environ.get(_AGENT_VARIABLE, "")
    if around.strip():
        from workbench.identity.folding import is_blank

        if not is_blank(around):
            return utf8(around), "session"
    return _USUAL_AGENT, "default"
