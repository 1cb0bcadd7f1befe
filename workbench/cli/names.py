"""`workbench names`: which spellings mean the same project, domain or agent (contract surfaces)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

import click

from workbench.cli.errors import with_root
from workbench.cli.opening import open_workspace
from workbench.cli.options import Given, common, completes, never_migrates, pass_given, root_of, utf8
from workbench.cli.output import Column, table, to_stderr, write_json, write_lines

if TYPE_CHECKING:
    from workbench.identity.lookalikes import Alike
    from workbench.workspace.readers.name_queries import NameRow

_KINDS = ("project", "domain", "agent")
_COLUMNS = (
    Column("kind"),
    Column("name", most=32, least=12),
    Column("used", "right"),
    Column("first"),
    Column("last"),
    Column("spelling"),
)

_kind = click.option("--kind", type=click.Choice(_KINDS), help="Names of one kind.  [default: all of them]")


@click.group("names")
@common
def command() -> None:
    """See which spellings mean the same, and let one mean another."""


@command.command("list")
@common
@_kind
@pass_given
def list_(given: Given, kind: str | None) -> None:
    """List every spelling that was used or is declared, and the name that it means today.

    The count is of observations, those that agents do not see included.
    """
    with open_workspace(given) as workspace:
        rows = workspace.readers.names.names(workspace.registry, kind)
        zone = ZoneInfo(workspace.timezone)
    if given.as_json:
        write_json({"names": [_form(row) for row in rows]})
    else:
        write_lines(_list_text(rows, zone))


@never_migrates
@command.command("alias")
@common
@click.argument("kind", type=click.Choice(_KINDS))
@click.argument("spelling", type=utf8, shell_complete=completes("names"))
@click.option(
    "--of",
    "of",
    type=utf8,
    required=True,
    metavar="ID",
    shell_complete=completes("names"),
    help="The name that it means, in any of its spellings.",
)
@click.option("--new", is_flag=True, help="ID may be a name that nobody has used yet.")
@pass_given
def alias(given: Given, kind: str, spelling: str, of: str, new: bool) -> None:
    """Let a SPELLING mean a project, domain or agent: write it into the manifest, and nothing else there.

    What was recorded under it is found under every spelling from then on; no event is changed. The previous
    manifest is kept in backups/manifest/. An ID that is neither declared nor in any record is refused, and
    the nearest names are said; --new makes it.
    """
    from workbench.workspace.layout import Layout
    from workbench.workspace.manifest_edit import add_alias

    layout = Layout(root_of(given))
    if not new:
        from workbench.workspace.name_targets import refuse_unknown

        refuse_unknown(layout, kind, spelling, of)
    from workbench.redaction import redact

    done = add_alias(layout.manifest, kind, spelling, of)
    # What it is an alias of stood in the manifest before, whatever it is.
    canonical = redact(done.id).text
    if done.changed:
        from workbench.workspace.manifest.names import has_unseen

        if has_unseen(done.spelling):
            to_stderr("warning: the new spelling holds characters that cannot be seen")
    if given.as_json:
        write_json(
            {
                "changed": done.changed,
                "path": str(done.path),
                "line": done.line,
                "kind": done.kind,
                "spelling": done.spelling,
                "canonical": canonical,
                "backup": None if done.backup is None else str(done.backup),
            }
        )
        return
    from workbench.drawing import visible

    if not done.changed:
        write_lines([visible(f"{done.spelling} means the {kind} {canonical} already; nothing was changed")])
        return
    write_lines(
        [
            visible(f"{done.path}:{done.line}: {done.spelling} means the {kind} {canonical} now"),
            visible(f"the previous manifest: {done.backup}"),
        ]
    )


@command.command("check")
@common
@_kind
@pass_given
@click.pass_context
def check(ctx: click.Context, given: Given, kind: str | None) -> None:
    """List names that look alike and mean different things: slips, perhaps, or names of two things.

    Ends with 1 if there are any. Two names that are both declared in the manifest are never listed.
    """
    from workbench.identity.lookalikes import look_alikes

    found: list[Alike] = []
    with open_workspace(given) as workspace:
        registry = workspace.registry
        rows = workspace.readers.names.names(registry, kind)
    for each in _KINDS if kind is None else (kind,):
        found += look_alikes(
            registry, each, {row.spelling: row.observed for row in rows if row.kind == each and row.observed}
        )
    if given.as_json:
        write_json({"ok": not found, "alike": [_pair_form(pair) for pair in found]})
    else:
        write_lines(_alike_text(found, given))
    ctx.exit(1 if found else 0)


def _form(row: NameRow) -> dict[str, Any]:
    from workbench.log.times import to_text

    return {
        "kind": row.kind,
        "spelling": row.spelling,
        "canonical": row.canonical,
        "count": row.observed,
        "first": None if row.first is None else to_text(row.first),
        "last": None if row.last is None else to_text(row.last),
        "declared": row.declared,
    }


def _pair_form(pair: Alike) -> dict[str, Any]:
    return {
        "kind": pair.kind,
        "spelling": pair.spelling,
        "count": pair.observed,
        "like": pair.like,
        "like_count": pair.like_observed,
        "reason": pair.reason,
    }


def _list_text(rows: Sequence[NameRow], zone: ZoneInfo) -> Iterator[str]:
    if not rows:
        yield "no name was used yet, and the manifest declares none"
        return
    yield from table(
        _COLUMNS,
        [
            (
                row.kind,
                row.canonical,
                str(row.observed),
                _day(row.first, zone),
                _day(row.last, zone),
                row.spelling + ("" if row.declared else "  (not declared)"),
            )
            for row in rows
        ],
    )


def _day(moment: datetime | None, zone: ZoneInfo) -> str:
    return "–" if moment is None else moment.astimezone(zone).date().isoformat()


def _alike_text(found: Sequence[Alike], given: Given) -> Iterator[str]:
    from shlex import quote

    from workbench.drawing import visible

    for pair in found:
        slip, name = f"{pair.spelling} ({pair.observed})", f"{pair.like} ({pair.like_observed})"
        yield visible(f"{pair.kind}  {slip} looks like {name}: {pair.reason}")
    if not found:
        yield "no names look alike"
        return
    yield ""
    # One to copy. What cannot be seen cannot be copied either.
    copied = next((pair for pair in found if (pair.spelling + pair.like).isprintable()), None)
    if copied is not None:
        # Options end before a spelling that begins with a dash.
        words = f"--of {quote(copied.like)} -- {copied.kind} {quote(copied.spelling)}"
        yield with_root(f"if they are one: workbench names alias {words}", given)
    yield "if they are two, declare both in the manifest, and they are not listed again"
