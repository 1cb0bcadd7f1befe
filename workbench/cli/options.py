"""What every command accepts: `--root` and `--format`, before or after the command's name."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from pathlib import Path

    from workbench.workspace import Workspace

Function = TypeVar("Function", bound=Callable[..., Any])

FORMATS = ("text", "json")


class Given:
    """The options that hold for the whole command line; of two, the last one counts."""

    __slots__ = ("format", "root")

    def __init__(self) -> None:
        self.root: str | None = None
        self.format: str | None = None

    @property
    def as_json(self) -> bool:
        """Whether the answer is one JSON object."""
        return self.format == "json"


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


def _take_root(ctx: click.Context, param: click.Parameter, value: str | None) -> None:
    if value == "":
        raise click.BadParameter("the folder's name is empty.", ctx=ctx, param=param)
    if value is not None:
        ctx.ensure_object(Given).root = value


def _take_format(ctx: click.Context, param: click.Parameter, value: str | None) -> None:
    if value is not None:
        ctx.ensure_object(Given).format = value


def common(function: Function) -> Function:
    """Decorator: add `--root` and `--format`; what was given is the context's `Given` object."""
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


def root_of(given: Given) -> Path:
    """The root of the workspace that the command is about; it need not exist.

    Raises `ConfigurationError` for a folder whose name SQLite could not be given.
    """
    from workbench.workspace.root import resolve_root

    root = resolve_root(given.root)
    try:
        str(root).encode()
    except UnicodeEncodeError:
        from workbench.workspace.errors import ConfigurationError

        raise ConfigurationError(
            f"the folder's name is not valid UTF-8: {root}", hint="rename it, or name another with --root"
        ) from None
    return root


def open_workspace(given: Given, *, read_only: bool = True) -> Workspace:
    """The workspace that the command is about, open: a context manager. Raises what `open` raises."""
    from workbench.workspace.workspace import Workspace

    return Workspace.open(root_of(given), read_only=read_only)
