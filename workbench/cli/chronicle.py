"""`workbench chronicle`: sections of a stream, and what they cite (contract surfaces; log-and-chronicle)."""

from __future__ import annotations

from typing import Any

import click

from workbench.cli.chronicle_files import export, load, recording
from workbench.cli.chronicle_missing import unknown_section
from workbench.cli.chronicle_streams import Named, names_stream, stream_of, stream_or_all
from workbench.cli.chronicle_writing import consolidate, rebuild, reconsolidate
from workbench.cli.errors import UsageRefused
from workbench.cli.opening import open_workspace
from workbench.cli.options import Given, common, completes, limit, pass_given, utf8, whole
from workbench.cli.output import to_stderr, write_json, write_lines

_MOST_CHARACTERS = 1_000_000
_USUAL_CHARACTERS = 8000


@click.group("chronicle")
@common
def command() -> None:
    """Read and write sections: prose over closed stretches of a stream, with the events that they cite."""


@command.command("status", short_help="Say which streams have a chronicle, and how far it is.")
@common
@names_stream
@limit
@click.option("--after", type=utf8, metavar="STREAM", help="Go on behind a page: its “next”.")
@pass_given
def status(given: Given, named: Named, limit: int, after: str | None) -> None:
    """List the streams that can have a chronicle, the newest first: sections, how far they go, what lags.

    Lag is counted in events that no section stands for; of these, closed stretches can be written up.
    """
    from workbench.cli import chronicle_forms as forms
    from workbench.workspace.manifest.checking import closing_problems

    with open_workspace(given) as workspace:
        reader = workspace.readers.chronicle
        one = stream_or_all(workspace, named)
        if one is not None:
            rows = [row for row in [reader.stream(one)] if row is not None]
        else:
            anchor = None if after is None else reader.stream(after)
            if after is not None and anchor is None:
                raise UsageRefused(
                    f"there is no stream {after!r} to go on behind", hint="give --after the “next” of a page"
                )
            rows = reader.streams(limit + 1, after=anchor)
        following = rows[limit - 1].stream if len(rows) > limit else None
        rows = rows[:limit]
        problems = closing_problems(workspace.layout.manifest)
        if given.as_json:
            said = [{"line": each.line, "key": each.key, "message": each.message} for each in problems]
            write_json({"streams": [forms.stream(row) for row in rows], "next": following, "problems": said})
            return
        for each in problems:
            to_stderr(f"warning: line {each.line} of the manifest, {each.key}: {each.message}")
        from workbench.cli.chronicle_lines import Lines
        from workbench.workspace.summary import can_be_written

        lines = Lines(workspace.timezone, given)
        write_lines(lines.streams(rows, following, can_write=can_be_written(workspace.layout)))


@command.command("sections", short_help="List the sections of a stream.")
@common
@names_stream
@click.option("--all", "every", is_flag=True, help="Also those that were superseded.")
@limit
@click.option("--after", type=whole(0, 2**62), metavar="SEQ", help="Go on behind a page: its “next”.")
@pass_given
def sections(given: Given, named: Named, every: bool, limit: int, after: int | None) -> None:
    """List the sections of a stream, the first events first.

    --limit counts ranges: with --all, each comes with all its generations. Events between sections that no
    section tells have a line of their own. With --format json the prose is there whole, without it how it
    begins.
    """
    from workbench.cli import chronicle_forms as forms

    with open_workspace(given) as workspace:
        reader = workspace.readers.chronicle
        stream = stream_of(workspace, named)
        entries = reader.entries(stream, limit + 1, after=after)
        following = entries[limit - 1].from_seq if len(entries) > limit else None
        entries = entries[:limit]
        if given.as_json:
            found = forms.sections(reader, stream, entries, every=every)
            holes = forms.holes(entries)
            write_json({"stream": stream, "sections": list(found), "holes": holes, "next": following})
            return
        from workbench.cli.chronicle_lines import Lines
        from workbench.workspace.summary import can_be_written

        lines = Lines(workspace.timezone, given)
        can_write = can_be_written(workspace.layout)
        listed = lines.sections(
            reader, stream, entries, following, every=every, first=not after, can_write=can_write
        )
        write_lines(listed)


@command.command("section", short_help="Show one section, and what it cites.")
@common
@click.argument("section_id", metavar="ID", type=utf8, shell_complete=completes("chronicle_sections"))
@names_stream
@click.option("--events", is_flag=True, help="List the events that it stands for.")
@limit
@click.option(
    "--after", type=whole(0, 2**62), metavar="SEQ", help="With --events: go on behind a page, its “next”."
)
@pass_given
def section(given: Given, section_id: str, named: Named, events: bool, limit: int, after: int | None) -> None:
    """Show a section: its anchor, which is exact, and its prose, which is advisory.

    An older generation is shown by its id, too. --events lists exactly the events that the section stands
    for, those included that no summarizer was shown.
    """
    from workbench.cli import chronicle_forms as forms
    from workbench.cli import forms as usual

    if after is not None and not events:
        raise click.UsageError("--after goes with --events.")
    with open_workspace(given) as workspace:
        reader = workspace.readers.chronicle
        stream = stream_of(workspace, named)
        found = reader.section(stream, section_id)
        if found is None:
            raise unknown_section(workspace, stream, section_id)
        anchor = found.anchor
        chain = reader.generations(stream, anchor.from_seq, anchor.to_seq)
        rows = []
        if events:
            rows = reader.events(stream, anchor.from_seq, anchor.to_seq, limit + 1, after=after)
        following = rows[limit - 1].seq if len(rows) > limit else None
        rows = rows[:limit]
        if given.as_json:
            answer: dict[str, Any] = {
                "stream": stream,
                **forms.section(found, chain, withheld=reader.withheld(stream, found)),
            }
            if events:
                timeline = workspace.readers.timeline
                whole_ = (row if row.whole else timeline.event(row.position) for row in rows)
                listed = [usual.event(row) for row in whole_ if row is not None]
                answer |= {"events": listed, "next": following}
            write_json(answer)
            return
        from workbench.cli.chronicle_lines import Lines

        lines = Lines(workspace.timezone, given)
        withheld, closed = reader.withheld(stream, found), reader.closes(stream, anchor.unit)
        write_lines(lines.section(stream, found, chain, withheld=withheld, closed=closed))
        if events:
            write_lines(lines.events(rows, following))


@command.command("brief", short_help="Print a stream as an agent should read it.")
@common
@names_stream
@click.option(
    "--since-seq",
    type=whole(0, 2**62),
    metavar="SEQ",
    help="Word for word behind this event.  [default: behind what is consolidated]",
)
@click.option(
    "--max-chars",
    type=whole(1, _MOST_CHARACTERS),
    default=_USUAL_CHARACTERS,
    show_default=True,
    metavar="N",
    help="At most so many characters.",
)
@pass_given
def brief(given: Given, named: Named, since_seq: int | None, max_chars: int) -> None:
    """Print sections as advisory prose, then the newest events word for word, as an agent may see them.

    Private events, those in quarantine, and sections that may repeat them are left out.
    """
    with open_workspace(given) as workspace:
        stream = stream_of(workspace, named)
        page = workspace.chronicle(stream).brief(since_seq=since_seq, max_chars=max_chars)
    if given.as_json:
        write_json(page._asdict())
        return
    from workbench.drawing import split_lines, visible

    write_lines(map(visible, split_lines(page.text)))


for _each in (consolidate, reconsolidate, export, load, rebuild, recording):
    command.add_command(_each)
