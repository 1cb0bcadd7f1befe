"""`workbench evidence show --diff`: a kept copy beside the file as it is on the disk now."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from workbench.cli.output import write_json, write_lines

if TYPE_CHECKING:
    from workbench.workspace import Workspace
    from workbench.workspace.evidence_disk import OnDisk

_SAID = {
    "same": "the file on the disk is the same as the copy",
    "differs": "the file has changed since",
    "other_bytes": "the file has changed since, and is no text to compare",
    "found": "there is a file now, and no copy to compare it with",
    "gone": "the file is gone from the disk",
    "link": "a symbolic link stands in its place now; it is not followed",
    "not_a_file": "no regular file stands in its place now; it was not opened",
    "too_large": "the file on the disk is too large to be compared",
    "unreadable": "the file on the disk cannot be read",
    "redacted": "a secret was taken out of its path: name the file with --file",
    "unnamed": "no observation names it: name the file with --file",
}


def show_diff(workspace: Workspace, digest: str, file: str | None, *, as_json: bool) -> int:
    """Write what changed; the program's exit code: 0 where both are the same, else 1."""
    from workbench.workspace.evidence_disk import OnDisk, on_disk
    from workbench.workspace.evidence_item import evidence_item

    item = evidence_item(workspace.evidence, workspace.readers.evidence, sha256=digest)
    path = file if file is not None else ("" if item.row is None else item.row.path)
    if path:
        # Who names a file means what it leads to.
        follow = file is not None or workspace.manifest.artifacts.follow_symlinks
        found = on_disk(path, item.copy, workspace.log.redactor, follow=follow)
    else:
        found = OnDisk("unnamed", "")
    if as_json:
        write_json(_form(digest, path, found))
    else:
        write_lines(_text(digest, path, found))
    return 0 if found.state == "same" else 1


def _form(digest: str, path: str, found: OnDisk) -> dict[str, Any]:
    return {
        "sha256": digest,
        "path": path or None,
        "file": found.place or None,
        "state": found.state,
        "size": found.size,
        "redactions": found.removed,
        "hunks": [
            {
                "first": hunk.first,
                "first_lines": hunk.first_lines,
                "second": hunk.second,
                "second_lines": hunk.second_lines,
                "lines": [f"{sign}{text}" for sign, text in hunk.lines],
            }
            for hunk in found.hunks
        ],
    }


def _text(digest: str, path: str, found: OnDisk) -> Iterator[str]:
    from workbench.drawing import counted, one_line, visible

    said = _SAID[found.state]
    if found.text_only:
        said = "the lines are the same; their ends or the encoding differ"
    yield said
    if found.place:
        yield one_line(f"file  {found.place}", 5000)
    taken = sum(found.removed.values())
    if taken:
        yield f"{counted(taken, 'secret')} on the disk not shown here"
    if found.hunks:
        yield ""
        yield visible(f"--- {digest[:12]} {path}")
        yield visible(f"+++ {found.place}")
    for hunk in found.hunks:
        yield hunk.head
        yield from (visible(f"{sign}{text}") for sign, text in hunk.lines)
