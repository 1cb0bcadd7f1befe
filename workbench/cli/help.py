"""`workbench help`: the pages of the guide, in the terminal."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from workbench import guide
from workbench.cli.errors import UsageRefused
from workbench.cli.options import Given, common, never_migrates, pass_given, utf8
from workbench.cli.output import write_json, write_lines

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


def _pages(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    from click.shell_completion import CompletionItem

    return [CompletionItem(name) for name in guide.page_names() if name.startswith(incomplete)]


@never_migrates
@click.command("help")
@common
@click.argument("page", type=utf8, required=False, metavar="[PAGE]", shell_complete=_pages)
@pass_given
def command(given: Given, page: str | None) -> None:
    """Print a PAGE of the guide as it is written, or list the pages.

    What a single command takes is said by its own --help.
    """
    if page is None:
        titles = {name: guide.title(text) for name, text in guide.pages()}
        if given.as_json:
            write_json({"pages": [{"name": name, "title": title} for name, title in titles.items()]})
        else:
            write_lines(_list(titles))
        return
    name = page.strip().lower().removesuffix(".md")
    if name not in guide.page_names():
        raise _no_such(page, name)
    text = guide.page_text(name)
    if given.as_json:
        write_json({"name": name, "title": guide.title(text), "text": text})
    else:
        write_lines(text.removesuffix("\n").split("\n"))


def _list(titles: dict[str, str]) -> Iterator[str]:
    width = max(map(len, titles))
    for name, title in titles.items():
        yield f"{name:<{width}}  {title}"
    yield ""
    yield "read one with: workbench help PAGE; what a command takes: workbench COMMAND --help"


def _no_such(given: str, name: str) -> UsageRefused:
    from workbench.cli.group import COMMANDS

    pages = f"the pages are: {', '.join(guide.page_names())}"
    if name in COMMANDS:
        pages = f"what the command takes: workbench {name} --help; {pages}"
    return UsageRefused(f"the guide has no page {given!r}", hint=pages)
