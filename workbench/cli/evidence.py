"""`workbench evidence`: what became of the files that observations name (contract surfaces)."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from zoneinfo import ZoneInfo

import click

from workbench.cli.errors import UsageRefused
from workbench.cli.opening import open_workspace
from workbench.cli.options import Given, common, completes, limit, pass_given, root_of, utf8
from workbench.cli.output import Column, OutputClosed, table, to_stderr, write_json, write_lines

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from workbench.evidence import EvidenceStore
    from workbench.workspace import Workspace
    from workbench.workspace.artifact_state import Artifact
    from workbench.workspace.readers.evidence_queries import StatusCount
    from workbench.workspace.rows import EvidencePlace, EvidenceRow

_STATUSES = ("archived", "pointer_only", "missing", "skipped", "purged")
_COLUMNS = (
    Column("recorded"),
    Column("status", most=12),
    Column("digest", least=12),
    Column("size", "right"),
    Column("agent", most=16, least=6),
    Column("path"),
)
_SHOWN_DIGITS = 12
_DIGEST = re.compile(r"[0-9a-f]{64}", re.ASCII)
_OFFERED = 50


@click.group("evidence")
@common
def command() -> None:
    """See the files that observations name as evidence, read the copies, remove one for good."""


def _digests(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Digests of copies that begin so."""
    from click.shell_completion import CompletionItem

    try:
        from workbench.workspace.workspace import Workspace

        # Not as commands open it: nothing is migrated under a person's fingers.
        root = root_of(ctx.find_object(Given) or Given())
        with Workspace.open(root, read_only=True) as workspace:
            found = workspace.readers.evidence.digests(incomplete.lower(), _OFFERED)
    except Exception:
        return []
    # What a log says may be anything.
    return [CompletionItem(digest) for digest in found if digest.isascii() and digest.isalnum()]


@command.command("list")
@common
@click.option(
    "--digest",
    type=utf8,
    default="",
    metavar="DIGEST",
    shell_complete=_digests,
    help="Of the copy, or its first digits.",
)
@click.option("--path", type=utf8, default="", metavar="TEXT", help="Stands in the path as it was given.")
@click.option("--status", type=click.Choice(_STATUSES), help="What became of the file.")
@limit
@click.option("--after", metavar="PLACE", type=utf8, help="Go on behind a page: its “next”.")
@pass_given
def list_(given: Given, digest: str, path: str, status: str | None, limit: int, after: str | None) -> None:
    """List the files that observations name, newest first, and what became of each.

    archived: a copy is kept, without secrets if it is text. pointer_only: the file was not to be copied.
    missing: there was none. skipped: it could not be read. purged: the copy was removed for good.

    The size is that of the copy, with the file's own one beside it where that was another. “withheld” marks
    what no observation names that agents see: all are private or quarantined.
    """
    from workbench.workspace.rows import EvidenceFilter

    place = None if after is None else _place(after)
    with open_workspace(given) as workspace:
        reader = workspace.readers.evidence
        wanted = EvidenceFilter(digest.strip().lower(), path, status or "")
        rows = reader.page(wanted, limit + 1, after=place)
        following = _written(rows[limit - 1].place) if len(rows) > limit else None
        rows = rows[:limit]
        counts = reader.counts()
        if given.as_json:
            write_json(
                {
                    "evidence": [_form(row, workspace.evidence) for row in rows],
                    "counts": {each.status: each.files for each in counts},
                    "next": following,
                }
            )
            return
        sizes = [_sizes(row, workspace.evidence) for row in rows]
        write_lines(_list_text(rows, sizes, counts, following, ZoneInfo(workspace.timezone)))


@command.command("show")
@common
@click.argument("digest", type=utf8, metavar="DIGEST", shell_complete=_digests)
@click.option(
    "--out",
    type=utf8,
    metavar="FILE",
    shell_complete=completes("files"),
    help="Write the bytes of the copy into a new file; “-” is standard output.",
)
@click.option("--diff", is_flag=True, help="Compare it with the file on the disk now.")
@click.option(
    "--file",
    type=utf8,
    metavar="FILE",
    shell_complete=completes("files"),
    help="What to compare it with; by default the path in the newest observation.",
)
@limit
@click.option("--after", metavar="PLACE", type=utf8, help="Go on behind a page of observations: its “next”.")
@pass_given
@click.pass_context
def show(
    ctx: click.Context,
    given: Given,
    digest: str,
    out: str | None,
    diff: bool,
    file: str | None,
    limit: int,
    after: str | None,
) -> None:
    """Show a copy by its digest, or the first digits of it: which observations name it, and what it holds.

    Text is written out with whatever a terminal might act on made visible; of other files kind and size are
    said, and their first bytes. Ends with 1 if the bytes are missing or damaged.

    With --diff, what changed since: “-” stands in the copy alone, “+” on the disk alone. The file goes
    through the secret filter first, as the copy did. A relative path is taken from the current folder. Ends
    with 1 unless both are the same.
    """
    from workbench.workspace.artifact_state import artifact
    from workbench.workspace.evidence import find_digest

    place = None if after is None else _place(after)
    if out == "":
        raise click.BadParameter("the file's name is empty.", ctx=ctx, param_hint="--out")
    if diff and (out is not None or after is not None):
        raise UsageRefused(
            "--diff answers on its own", hint="leave --out and --after out, or give them without --diff"
        )
    if file is not None and not diff:
        raise UsageRefused("--file says what --diff compares with", hint="give --diff too")
    if out == "-" and given.as_json:
        raise UsageRefused(
            "with --format json the bytes and the answer would be one stream",
            hint="name a file with --out, or leave --format out",
        )
    with open_workspace(given) as workspace:
        whole = find_digest(workspace.log, workspace.evidence, digest)
        if out is not None:
            data = workspace.evidence.get(whole)
            _write_out(data, out)
            if given.as_json:
                write_json({"sha256": whole, "size": len(data), "out": out})
            elif out != "-":
                from workbench.drawing import size, visible

                write_lines([visible(f"wrote {size(len(data))} to {out}")])
            return
        if diff:
            from workbench.cli.evidence_diff import show_diff

            ctx.exit(show_diff(workspace, whole, file, as_json=given.as_json))
        links = workspace.readers.evidence.links(whole, limit + 1, after=place)
        following = _written(links[limit - 1].place) if len(links) > limit else None
        found = artifact(workspace.evidence, workspace.readers.evidence, whole)
        if given.as_json:
            write_json(
                {
                    "sha256": whole,
                    "status": found.status,
                    "size": found.size,
                    "kind": found.kind,
                    "encoding": found.encoding or None,
                    "exact": found.exact,
                    "image": _image_form(found),
                    "content": found.text,
                    "purge": _purge_form(found),
                    "withheld": _is_withheld(links),
                    "links": [_form(row, workspace.evidence) for row in links[:limit]],
                    "next": following,
                }
            )
        else:
            write_lines(_show_text(found, links[:limit], following, ZoneInfo(workspace.timezone)))
    ctx.exit(1 if found.status in ("missing", "damaged", "unreadable") else 0)


@command.command("purge")
@common
@click.argument("digest", type=utf8, metavar="DIGEST", shell_complete=_digests)
@click.option("--reason", type=utf8, required=True, metavar="TEXT", help="Why; it stays in the log.")
@pass_given
def purge(given: Given, digest: str, reason: str) -> None:
    """Remove a copy for good, by its digest or the first digits of it; there is no way back.

    The observations stay, and say that their evidence was purged, by whom and why. Backups keep their
    copies. If an observation names a file with the same bytes later, they are kept again.
    """
    from workbench.workspace.evidence import find_digest
    from workbench.workspace.evidence import purge as purge_

    with open_workspace(given, read_only=False) as workspace:
        whole = find_digest(workspace.log, workspace.evidence, digest)
        done = purge_(workspace.log, workspace.evidence, whole, reason=reason, by=workspace.owner)
        backups = _has_backups(workspace)
    if given.as_json:
        write_json(
            {
                "sha256": whole,
                "position": done.position,
                "removed": done.removed,
                "repeated": done.repeated,
                "backups": backups,
            }
        )
        return
    said = "was purged already" if done.repeated else "purged"
    bytes_ = "its bytes are removed" if done.removed else "there were no bytes to remove"
    write_lines([f"{said}: {whole} (event {done.position}); {bytes_}"])
    if backups:
        to_stderr("backups keep the copies that they hold")


def _has_backups(workspace: Workspace) -> bool:
    with suppress(OSError):
        return any(workspace.layout.root.joinpath("backups").iterdir())
    return False


def _write_out(data: bytes, out: str) -> None:
    if out == "-":
        try:
            sys.stdout.buffer.write(data)
            sys.stdout.buffer.flush()
        except BrokenPipeError as error:
            raise OutputClosed from error
        return
    path = Path(out)
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        raise UsageRefused(f"{out} is there already", hint="name a new file, or remove it first") from None
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
    except BaseException:
        path.unlink(missing_ok=True)
        raise


def _place(text: str) -> EvidencePlace:
    from workbench.workspace.rows import EvidencePlace

    parts = text.split(".")
    if len(parts) != 2 or len(text) > 40 or not all(each.isascii() and each.isdigit() for each in parts):
        raise click.BadParameter(
            f"{text!r} is no place in the list; give the “next” of a page.", param_hint="--after"
        )
    return EvidencePlace(*(min(int(each), 2**62) for each in parts))


def _written(place: EvidencePlace) -> str:
    return f"{place.position}.{place.ordinal}"


class _Sizes(NamedTuple):
    """In bytes, of the copy and of the file as it was; None where there is none, or nobody knows."""

    kept: int | None
    original: int | None


def _sizes(row: EvidenceRow, store: EvidenceStore) -> _Sizes:
    archived = row.status == "archived" and _DIGEST.fullmatch(row.digest) is not None
    return _Sizes(store.size(row.digest) if archived else None, row.size)


def _size_text(sizes: _Sizes) -> str:
    from workbench.drawing import size

    if sizes.kept is None:
        return "—" if sizes.original is None else size(sizes.original)
    kept = size(sizes.kept)
    original = kept if sizes.original is None else size(sizes.original)
    return kept if original == kept else f"{kept} (was {original})"


def _is_withheld(links: Sequence[EvidenceRow]) -> bool:
    # Each of an artifact's rows says the same.
    return bool(links) and links[0].withheld


def _form(row: EvidenceRow, store: EvidenceStore) -> dict[str, Any]:
    from workbench.log.times import to_text

    sizes = _sizes(row, store)
    return {
        "position": row.position,
        "ordinal": row.ordinal,
        "observation_id": row.observation_id,
        "path": row.path,
        "status": row.status,
        "sha256": row.digest or None,
        "size": sizes.original if sizes.kept is None else sizes.kept,
        "original_size": sizes.original,
        "reason": row.reason or None,
        "redactions": row.removed,
        "recorded_at": to_text(row.recorded_at),
        "private": row.private,
        "withheld": row.withheld,
        "domain": row.domain,
        "project": row.project or None,
        "task_id": row.task_id or None,
        "agent": row.agent,
    }


def _image_form(found: Artifact) -> dict[str, Any] | None:
    return None if found.image is None else found.image._asdict()


def _purge_form(found: Artifact) -> dict[str, Any] | None:
    from workbench.log.times import to_text

    purged = found.purge
    if purged is None:
        return None
    return {
        "position": purged.position,
        "recorded_at": to_text(purged.recorded_at),
        "reason": purged.reason,
        "by": purged.by,
    }


def _list_text(
    rows: Sequence[EvidenceRow],
    sizes: Sequence[_Sizes],
    counts: Sequence[StatusCount],
    following: str | None,
    zone: ZoneInfo,
) -> Iterator[str]:
    from workbench.drawing import exact, number

    if not rows:
        yield "no evidence"
        if not counts:
            yield ""
            yield "files that an observation names with source_files are copied and listed here"
        return
    yield from table(
        _COLUMNS,
        (
            (
                exact(row.recorded_at, zone),
                row.status,
                row.digest[:_SHOWN_DIGITS] or "—",
                _size_text(size),
                row.agent,
                row.path + "".join(f" ({each})" for each in _notes(row)),
            )
            for row, size in zip(rows, sizes, strict=True)
        ),
    )
    yield ""
    yield "in the workspace: " + ", ".join(f"{each.status} {number(each.files)}" for each in counts)
    if following is not None:
        yield f"more: --after {following}"


def _notes(row: EvidenceRow) -> Iterator[str]:
    if row.reason:
        yield row.reason.replace("_", " ")
    if row.withheld:
        yield "withheld"


def _show_text(
    found: Artifact, links: Sequence[EvidenceRow], following: str | None, zone: ZoneInfo
) -> Iterator[str]:
    from workbench.drawing import counted, exact, one_line, plain_lines, size

    yield f"sha256   {found.digest}"
    yield f"status   {found.status}"
    if found.size is not None:
        yield f"size     {size(found.size)}"
    if found.kind:
        yield f"kind     {_kind(found)}"
    if _is_withheld(links):
        yield "agents   see none of the observations that name it: they are private or quarantined"
    if found.purge is not None:
        said = f"{exact(found.purge.recorded_at, zone)} by {found.purge.by}: {found.purge.reason}"
        yield one_line(f"purged   {said}", 1000)
    for row in links:
        scope = " / ".join(part for part in (row.domain, row.project, row.task_id) if part)
        marks = "private · " if row.private else ""
        taken = sum(row.removed.values())
        notes = f" · {counted(taken, 'secret')} removed" if taken else ""
        if row.size is not None and found.size not in (None, row.size):
            notes += f" · the file had {size(row.size)}"
        yield ""
        yield one_line(f"{exact(row.recorded_at, zone)} {row.agent} · {marks}{scope}{notes}", 1000)
        yield one_line(f"  file         {row.path}", 5000)
        yield f"  observation  {row.observation_id}"
        yield one_line(f"  said         {row.text}", 200)
    if following is not None:
        yield ""
        yield f"more: --after {following}"
    if found.text is not None:
        yield ""
        yield from plain_lines(found.text).splitlines()
    elif found.head:
        from workbench.drawing.hex_dump import hex_lines

        yield ""
        yield from (f"{line.offset}  {line.digits}  {line.text}" for line in hex_lines(found.head))


def _kind(found: Artifact) -> str:
    image = found.image
    if image is None:
        spelled = "" if found.exact else ", bytes that are none spelled out"
        return f"{found.kind} ({found.encoding}{spelled})" if found.encoding else found.kind
    pixels = "" if image.width is None else f", {image.width} × {image.height} pixels"
    return f"{found.kind}{pixels}{f', {image.colours}' if image.colours else ''}"
