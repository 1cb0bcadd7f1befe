"""`workbench redactions`: what the secret filter removed, and trying it out (contract surfaces)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

import click

from workbench.cli.errors import UsageRefused
from workbench.cli.opening import open_workspace
from workbench.cli.options import Given, common, limit, pass_given, root_of, utf8
from workbench.cli.output import Column, table, to_stderr, warn_unknown, write_json, write_lines
from workbench.cli.scrubbing import rescan, scrub

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from workbench.workspace import Workspace
    from workbench.workspace.readers.redaction_queries import KindCount, RedactionReader
    from workbench.workspace.rows import RedactionFilter, RedactionPlace, RedactionRow

_COLUMNS = (
    Column("event", "right"),
    Column("noted"),
    Column("kind", most=24),
    Column("n", "right"),
    Column("actor", most=20),
    Column("field", most=36),
    Column("stream"),
)
_MOST_BYTES = 64 << 20
_WORD = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")


@click.group("redactions")
@common
def command() -> None:
    """See what the secret filter removed, and look through what is stored with today's rules."""


command.add_command(rescan)
command.add_command(scrub)


def _kinds(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The kinds that were removed from what the workspace holds, most first."""
    from click.shell_completion import CompletionItem

    try:
        from workbench.workspace.workspace import Workspace

        # Not as commands open it: nothing is migrated under a person's fingers.
        root = root_of(ctx.find_object(Given) or Given())
        with Workspace.open(root, read_only=True) as workspace:
            found = [each.kind for each in workspace.readers.redactions.kinds()]
    except Exception:
        return []
    # Kinds come from a file: nothing is offered that a shell would take for more than a word.
    return [CompletionItem(kind) for kind in found if kind.startswith(incomplete) and _WORD.fullmatch(kind)]


@command.command("list")
@common
@click.option(
    "--kind",
    "kinds",
    multiple=True,
    type=utf8,
    metavar="KIND",
    shell_complete=_kinds,
    help="What was removed, such as github_token; may be repeated.",
)
@click.option(
    "--since", type=utf8, metavar="WHEN", help="Noted then or later: 2026-03-02, yesterday, “3 days ago”."
)
@click.option("--actor", type=utf8, default="", metavar="ID", help="Who said what held it.")
@click.option(
    "--stream", type=utf8, default="", metavar="NAME", help="Such as session/ID, or a session's id."
)
@limit
@click.option("--after", metavar="PLACE", type=utf8, help="Go on behind a page: its “next”.")
@pass_given
def list_(
    given: Given,
    kinds: tuple[str, ...],
    since: str | None,
    actor: str,
    stream: str,
    limit: int,
    after: str | None,
) -> None:
    """List what was removed, newest first: what kind, how many, from where; never the secret.

    Dates are of the workspace's time zone.
    """
    from workbench.log.times import to_micros
    from workbench.workspace.rows import RedactionFilter

    with open_workspace(given) as workspace:
        reader = workspace.readers.redactions
        moment = _moment(since, workspace)
        micros = None if moment is None else to_micros(moment)
        name = _stream(stream, workspace)
        wanted = RedactionFilter(kinds=kinds, since=micros, stream=name or stream, actor=actor)
        totals = {each.kind: each.secrets for each in _totals(reader, wanted)}
        if kinds:
            warn_unknown("kind", kinds, [each.kind for each in reader.kinds()], " in this workspace")
        if actor:
            _warn_of_actor(actor, reader)
        if stream and name is None:
            to_stderr(f"warning: there is no stream {stream} in this workspace; streams are named session/ID")
        rows = reader.page(wanted, limit + 1, after=None if after is None else _place(after))
        following = _written(rows[limit - 1].place) if len(rows) > limit else None
        rows = rows[:limit]
        if given.as_json:
            write_json(
                {
                    "redactions": [_form(row) for row in rows],
                    "kinds": totals,
                    "next": following,
                }
            )
            return
        write_lines(_text(rows, totals, following, ZoneInfo(workspace.timezone)))


@command.command("test")
@common
@pass_given
def test(given: Given) -> None:
    """Show what the filter would remove from the text on stdin; nothing is stored.

    The filtered text goes to stdout, and what was removed to stderr; with --format json both are one object.
    """
    import sys

    from workbench.redaction import redact

    stream = sys.stdin
    if stream.isatty():
        to_stderr("write or paste a text, then press Ctrl-D; nothing of it is stored")
    data = stream.buffer.read(_MOST_BYTES + 1)
    if len(data) > _MOST_BYTES:
        raise UsageRefused(
            f"the text is longer than {_MOST_BYTES >> 20} MB", hint="try the filter on a part of it"
        )
    done = redact(data.decode("utf-8", "surrogateescape"))
    if given.as_json:
        write_json({"text": done.text, "counts": done.counts})
        return
    from workbench.drawing import plain_lines

    if stream.isatty() or sys.stdout.isatty():
        write_lines(plain_lines(done.text).splitlines())
    else:
        sys.stdout.buffer.write(done.text.encode("utf-8", "surrogateescape"))
        sys.stdout.buffer.flush()
    to_stderr(_summary(done.counts))


def _summary(counts: dict[str, int]) -> str:
    from workbench.drawing import counted

    if not counts:
        return "nothing would be removed"
    kinds = ", ".join(f"{kind} {number}" for kind, number in sorted(counts.items()))
    return f"{counted(sum(counts.values()), 'secret')} would be removed: {kinds}"


def _moment(text: str | None, workspace: Workspace) -> datetime | None:
    if text is None:
        return None
    from workbench.workspace.readers.timeline_dates import parse_moment

    moment = parse_moment(text, ZoneInfo(workspace.timezone), datetime.now(UTC))
    if moment is None:
        raise click.BadParameter(
            f"{text!r} is no date; give one such as 2026-03-02, “2026-03-02 14:00”, yesterday or "
            "“3 days ago”.",
            param_hint="--since",
        )
    return moment


_ACTORS = 20
"""Actors that a warning names."""


def _totals(reader: RedactionReader, wanted: RedactionFilter) -> Iterator[KindCount]:
    """What the filter of the list lets through, by kind, most first."""
    from workbench.workspace.readers.redaction_queries import KindCount

    secrets: dict[str, int] = {}
    for each in reader.days(wanted):
        secrets[each.kind] = secrets.get(each.kind, 0) + each.secrets
    for kind, count in sorted(secrets.items(), key=lambda pair: (-pair[1], pair[0])):
        yield KindCount(kind, count, 0)


def _stream(given: str, workspace: Workspace) -> str | None:
    """The name of the stream that is meant, by its name or a session's id; None if there is no such."""
    from workbench.log.streams import session_stream

    if not given:
        return ""
    plain = given.removeprefix("session/")
    names = dict.fromkeys((given, session_stream(given).name, session_stream(plain or given).name))
    return next((name for name in names if workspace.log.stream(name).last_seq()), None)


def _warn_of_actor(actor: str, reader: RedactionReader) -> None:
    known = [name for name, _ in reader.actors(10_000)]
    if actor not in known:
        few = ", ".join(known[:_ACTORS]) + (
            f" and {len(known) - _ACTORS} more" if len(known) > _ACTORS else ""
        )
        to_stderr(
            f"warning: nothing was removed of what {actor} said; actors of whom some was: {few or 'none'}"
        )


def _place(text: str) -> RedactionPlace:
    from workbench.workspace.rows import RedactionPlace

    noted, _, ordinal = text.partition(".")
    if (
        not (noted.isascii() and noted.isdigit() and ordinal.isascii() and ordinal.isdigit())
        or len(text) > 40
    ):
        raise click.BadParameter(
            f"{text!r} is no place in the list; give the “next” of a page.", param_hint="--after"
        )
    return RedactionPlace(min(int(noted), 2**62), min(int(ordinal), 2**62))


def _written(place: RedactionPlace) -> str:
    return f"{place.noted}.{place.ordinal}"


def _form(row: RedactionRow) -> dict[str, Any]:
    from workbench.log.times import to_text

    return {
        "position": row.position or None,
        "noted": row.noted,
        "noted_at": to_text(row.noted_at),
        "kind": row.kind,
        "count": row.count,
        "field": row.field,
        "stream": row.stream,
        "type": row.type,
        "actor": row.actor,
        "filter_version": row.filter_version,
        "scrubbed": row.scrubbed,
    }


def _text(
    rows: Sequence[RedactionRow], totals: Mapping[str, int], following: str | None, zone: ZoneInfo
) -> Iterator[str]:
    from workbench.drawing import exact, number

    if not rows:
        yield "no redactions"
        yield ""
        yield "what is recorded or imported passes the secret filter; what it removes is listed here"
        yield "try it on a text with: workbench redactions test"
        return
    yield from table(
        _COLUMNS,
        (
            (
                str(row.position or "—"),
                exact(row.noted_at, zone),
                row.kind,
                number(row.count),
                row.actor,
                row.field,
                row.stream,
            )
            for row in rows
        ),
    )
    yield ""
    yield "in all: " + ", ".join(f"{kind} {number(secrets)}" for kind, secrets in totals.items())
    if following is not None:
        yield f"more: --after {following}"
