"""`workbench chronicle consolidate`, `reconsolidate` and `rebuild`: what writes sections."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from workbench.cli.chronicle_files import reporting
from workbench.cli.chronicle_missing import unknown_section
from workbench.cli.chronicle_stopping import CANCELLED, STOPPED, stoppable, telling_whom
from workbench.cli.chronicle_streams import Named, names_stream, stream_of, stream_or_all
from workbench.cli.errors import UsageRefused
from workbench.cli.interrupts import stopping
from workbench.cli.opening import open_workspace
from workbench.cli.options import Given, common, completes, pass_given, utf8
from workbench.cli.output import progress_line, to_stderr, write_json, write_lines
from workbench.errors import WorkbenchError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from workbench.chronicle.anchors import Anchors
    from workbench.chronicle.sections import Anchor
    from workbench.workspace import Workspace

    Progress = Callable[[int, int | None, str], None]


@click.command("consolidate", short_help="Write up what is closed.")
@common
@names_stream
@pass_given
@click.pass_context
def consolidate(ctx: click.Context, given: Given, named: Named) -> None:
    """Write a section for each closed stretch that has none, of one stream, or of all that lag.

    Stretches that were left out come first. Other programs read and write meanwhile. Ctrl-C stops it
    between two sections and ends with 130; what was written stays, and the next call goes on from there.
    """
    from workbench.cli import chronicle_forms as forms

    with open_workspace(given, read_only=False) as workspace:
        stream = stream_or_all(workspace, named)
        with (
            stopping() as stopped,
            progress_line(shown=not given.as_json, in_bytes=False) as progress,
        ):
            drawn, errors, cut_short = (
                _consolidate_all(workspace, telling_whom(progress), stopped)
                if stream is None
                else _consolidate(workspace, stream, telling_whom(progress), stopped)
            )
    if errors:
        _tell_kept(drawn)
        for error in errors[:-1]:
            to_stderr("; ".join(filter(None, (error.message, error.hint))))
        raise errors[-1]
    if given.as_json:
        write_json({"drawn": forms.drawn(drawn), "stopped": cut_short})
    else:
        from workbench.cli.chronicle_lines import written

        write_lines(written(drawn, cut_short=cut_short))
    ctx.exit(STOPPED if cut_short else 0)


_Done = tuple[dict[str, list["Anchor"]], list[WorkbenchError], bool]
"""What was written, by stream; what failed; whether somebody stopped it, here or at the list of jobs."""


def _consolidate_all(workspace: Workspace, progress: Progress, stopped: Callable[[], bool]) -> _Done:
    """Consolidate all that lag; a stream that fails keeps no other one waiting."""
    done = workspace.chronicles.consolidate(progress, stopped)
    errors = [*(each.error for each in done.failures), *(each.error for each in done.unknown)]
    return done.written, errors, done.stopped


def _consolidate(workspace: Workspace, name: str, progress: Progress, stopped: Callable[[], bool]) -> _Done:
    """Consolidate one stream; what was written before something failed is there, too."""
    chronicle = workspace.chronicle(name)
    before = chronicle.anchors.consolidated_through()
    try:
        turn = chronicle.consolidated(progress, stopped)
    except WorkbenchError as error:
        # What was stored before the stretch that failed.
        kept = {name: list(_behind(chronicle.anchors, before))}
        return (kept, [], True) if error.code == CANCELLED else (kept, [error], False)
    return {name: turn.anchors}, [], turn.stopped


def _behind(anchors: Anchors, seq: int) -> Iterator[Anchor]:
    """The sections that follow event `seq` without a gap."""
    through = anchors.consolidated_through()
    while seq < through:
        found = anchors.covers(seq + 1)
        if found is None:
            return
        yield found
        seq = found.to_seq


def _tell_kept(drawn: Mapping[str, Sequence[Anchor]]) -> None:
    """Before an error is said: that what was written until then was not in vain."""
    from workbench.drawing import counted

    count = sum(map(len, drawn.values()))
    if count:
        to_stderr(f"{counted(count, 'section')} written before that, and kept")


@click.command("reconsolidate", short_help="Write one section again.")
@common
@click.argument("section_id", metavar="ID", type=utf8, shell_complete=completes("chronicle_sections"))
@names_stream
@click.option("--yes", is_flag=True, help="Do not ask.")
@pass_given
@click.pass_context
def reconsolidate(ctx: click.Context, given: Given, section_id: str, named: Named, yes: bool) -> None:
    """Write a section's events up again, as its next generation; the old prose stays readable.

    Only the newest generation can be written again. What this means is said first, and on a terminal it
    asks; a script is not asked. Nothing in the log says that it happened: whoever read the old prose
    diverges on replay, and a rebuild drops what is written here.
    """
    from workbench.chronicle.errors import UnknownSection
    from workbench.cli import chronicle_forms as forms

    _in_own_words()
    with open_workspace(given, read_only=False) as workspace:
        stream = stream_of(workspace, named)
        if not _told_and_agreed(given, workspace, stream, section_id, yes):
            ctx.exit(1)
        try:
            with (
                stoppable("nothing was written"),
                stopping() as stopped,
                progress_line(shown=not given.as_json, in_bytes=False) as progress,
            ):
                new = workspace.chronicle(stream).reconsolidate(section_id, telling_whom(progress), stopped)
        except UnknownSection:
            raise unknown_section(workspace, stream, section_id) from None
        reader = workspace.readers.chronicle
        chain = reader.generations(stream, new.anchor.from_seq, new.anchor.to_seq)
        withheld = reader.withheld(stream, new)
        if given.as_json:
            write_json({"stream": stream, **forms.section(new, chain, withheld=withheld)})
        else:
            from workbench.cli.chronicle_lines import Lines

            closed = reader.closes(stream, new.anchor.unit)
            lines = Lines(workspace.timezone, given)
            write_lines(lines.section(stream, new, chain, withheld=withheld, closed=closed))


def _told_and_agreed(given: Given, workspace: Workspace, stream: str, section_id: str, yes: bool) -> bool:
    """Say what writing a section again means, before it is done, and ask where somebody can be asked.

    Of a section that is not there, or is superseded, nothing is said: that is refused.
    """
    from workbench.chronicle.sections import section_id as next_id

    reader = workspace.readers.chronicle
    found = reader.section(stream, section_id)
    if found is None:
        raise unknown_section(workspace, stream, section_id)
    anchor = found.anchor
    chain = reader.generations(stream, anchor.from_seq, anchor.to_seq)
    if chain and chain[-1].anchor.section_id != anchor.section_id:
        return True
    new = next_id(anchor.from_seq, anchor.to_seq, generation=len(chain) + 1)
    said = (
        f"this writes section {anchor.section_id} again, as {new}.",
        "The old prose stays.",
        "Runs that read the old prose diverge on replay.",
        "A rebuild drops the new section; an export keeps it.",
    )
    if yes or given.as_json or not (sys.stdin.isatty() and sys.stdout.isatty()):
        to_stderr(f"warning: {' '.join(said)}")
        return True
    from workbench.drawing import capital, visible

    write_lines([visible(capital(said[0])), *said[1:]])
    return click.confirm("Write it again?", default=False)


@click.command("rebuild", short_help="Throw away all prose of a stream and have it written anew.")
@common
@names_stream
@click.option("--discard-generated", is_flag=True, help="Do it; without this, only say what would be lost.")
@click.option("--replay", is_flag=True, help="Out of what was drawn before, as the log has it.")
@click.option(
    "--recording",
    type=utf8,
    metavar="FILE",
    shell_complete=completes("files"),
    help="As --replay, out of a recording.",
)
@pass_given
@click.pass_context
def rebuild(
    ctx: click.Context,
    given: Given,
    named: Named,
    discard_generated: bool,
    replay: bool,
    recording: str | None,
) -> None:
    """Write all sections of a stream anew: the same anchors, other prose.

    Sections that were written again, by hand or loaded are gone then. Everything is written before anything
    is thrown away: whatever goes wrong, and with Ctrl-C (130), the chronicle is as it was. With --replay or
    --recording the prose is what it was, to the byte; the first answer that is missing there ends it.
    """
    from pathlib import Path

    from workbench.cli import chronicle_forms as forms

    if replay and recording is not None:
        raise UsageRefused("--replay and --recording are two sources", hint="give one of them")
    if recording == "":
        raise click.BadParameter("the file's name is empty.", ctx=ctx, param_hint="--recording")
    if not discard_generated:
        with open_workspace(given) as workspace:
            _refuse(workspace, stream_of(workspace, named))
    _in_own_words()
    with (
        stoppable("the chronicle is as it was"),
        open_workspace(given, read_only=False) as workspace,
        reporting(recording),
        stopping() as stopped,
        progress_line(shown=not given.as_json, in_bytes=False) as progress,
    ):
        stream = stream_of(workspace, named)
        done = workspace.chronicle(stream).rebuild(
            discard_generated=True,
            replay=replay,
            recording=None if recording is None else Path(recording),
            progress=telling_whom(progress),
            cancelled=stopped,
        )
    if given.as_json:
        write_json(forms.rebuilt(stream, done))
    else:
        from workbench.cli.chronicle_lines import rebuilt

        write_lines(rebuilt(stream, done))
    ctx.exit(STOPPED if done is None else 0)


_UNHEARD = logging.NullHandler()


def _in_own_words() -> None:
    """What the library warns of on its loggers, the command says itself."""
    logging.getLogger("workbench").addHandler(_UNHEARD)


def _refuse(workspace: Workspace, stream: str) -> None:
    """Raise `GenerativeRebuild`, which says what would be lost."""
    from workbench.cli.chronicle_lines import loss
    from workbench.log.background_folds import GenerativeRebuild

    store = workspace.chronicle(stream).store
    raise GenerativeRebuild(
        f"a rebuild of {stream} throws away {loss(store.count(), store.count(current=False))}",
        hint=(
            "add --discard-generated to do it; keep a copy first: workbench chronicle export "
            f"--stream {stream} --to FILE"
        ),
    )
