"""What every command accepts, `--root`, `--format` and `--migrate`, before or after the command's name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from workbench.cli.given import Given, root_of

__all__ = (
    "FORMATS",
    "Given",
    "common",
    "completes",
    "limit",
    "owner",
    "pass_given",
    "root_of",
    "utf8",
    "whole",
)

Function = TypeVar("Function", bound=Callable[..., Any])

FORMATS = ("text", "json")


def utf8(value: str) -> str:
    """A type of option: text that names or looks for something; bytes that are not UTF-8 are refused.

    The system hands such bytes over as lone surrogates, which no name in the log can hold.
    """
    try:
        value.encode()
    except UnicodeEncodeError:
        raise click.BadParameter("not valid UTF-8 text.") from None
    return value


def whole(least: int | None = None, most: int | None = None) -> Callable[[str], int]:
    """A type of option: a whole number within bounds, both allowed; None is no bound."""

    def number(value: str) -> int:
        try:
            given = int(value)
        except ValueError:
            raise click.BadParameter(f"{value!r} is not a whole number.") from None
        if least is not None and given < least:
            raise click.BadParameter(f"{value} is too small; the least is {least}.")
        if most is not None and given > most:
            raise click.BadParameter(f"{value} is too large; the most is {most}.")
        return given

    return number


def completes(what: str) -> Callable[[click.Context, click.Parameter, str], Any]:
    """What completes a value in a shell: a function of `cli.candidates`, loaded when a shell asks."""

    def complete(ctx: click.Context, param: click.Parameter, incomplete: str) -> Any:
        from workbench.cli import candidates

        return getattr(candidates, what)(ctx, param, incomplete)

    return complete


def _take_root(ctx: click.Context, param: click.Parameter, value: str | None) -> None:
    if value == "":
        raise click.BadParameter("the folder's name is empty.", ctx=ctx, param=param)
    if value is not None:
        ctx.ensure_object(Given).root = value


def _take_format(ctx: click.Context, param: click.Parameter, value: str | None) -> None:
    if value is not None:
        ctx.ensure_object(Given).format = value


def _take_migrate(ctx: click.Context, param: click.Parameter, value: bool) -> None:
    if value:
        ctx.ensure_object(Given).migrate = True


def common(function: Function) -> Function:
    """Decorator: add `--root`, `--format` and `--migrate`; what was given is the context's `Given` object."""
    function = click.option(
        "--migrate",
        is_flag=True,
        is_eager=True,
        expose_value=False,
        callback=_take_migrate,
        help="Bring a database of an older release to this one first, after a copy of it.",
    )(function)
    function = click.option(
        "--format",
        type=click.Choice(FORMATS),
        is_eager=True,
        expose_value=False,
        callback=_take_format,
        help="How the answer is written.  [default: text]",
    )(function)
    return click.option(
        "--root",
        metavar="DIR",
        type=utf8,
        is_eager=True,
        expose_value=False,
        callback=_take_root,
        shell_complete=completes("folders"),
        help="The workspace's folder.  [default: $CHRONICLE_ROOT, or the one around the current folder]",
    )(function)


def limit(function: Function) -> Function:
    """Decorator: add `--limit`."""
    return click.option(
        "--limit",
        type=whole(1, 2**31),
        default=50,
        show_default=True,
        metavar="N",
        help="At most so many.",
    )(function)


def owner(function: Function) -> Function:
    """Decorator: add `--owner`, None where the manifest's owner is meant."""
    return click.option(
        "--owner", type=utf8, metavar="ID", help="Whose session it is.  [default: the manifest's owner]"
    )(function)


pass_given = click.make_pass_decorator(Given, ensure=True)


def never_migrates(command: click.Command) -> click.Command:
    """Decorator: take `--migrate` from a command that has its own way with an older database, or none."""
    command.params = [param for param in command.params if param.name != "migrate"]
    return command
