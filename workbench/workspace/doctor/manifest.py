"""Whether the manifest can be used, and what in it nobody reads (contract workspace, "Manifest")."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence

from workbench.workspace.doctor.report import EXAMPLES, Finding, sentence
from workbench.workspace.errors import ManifestError, WorkspaceMissing
from workbench.workspace.layout import Layout
from workbench.workspace.manifest import read_manifest
from workbench.workspace.manifest.problems import Problem


def manifest(layout: Layout) -> Iterator[Finding]:
    """What is to be said of the file as it is now."""
    check = f"workbench manifest check --root {shlex.quote(str(layout.root))}"
    try:
        problems = read_manifest(layout.manifest).problems
    except (ManifestError, WorkspaceMissing) as error:
        said = f"{error.message}; programs that are open go on with what it said before"
        yield Finding("critical", "manifest_unusable", sentence(said), check)
        return
    yield from _closing(layout, check)
    if not problems:
        return
    yield Finding(
        "info",
        "manifest_unknown_keys",
        sentence(f"The manifest holds what is not used: {_listed(problems)}"),
        check,
    )


def _closing(layout: Layout, check: str) -> Iterator[Finding]:
    """What closes no stretch, though it should."""
    from workbench.workspace.manifest.checking import closing_problems

    found = closing_problems(layout.manifest)
    if not found:
        return
    yield Finding(
        "warning",
        "manifest_closing_unknown",
        sentence(f"The manifest lets what there is not close stretches: {_listed(found)}"),
        check,
    )


def _listed(problems: Sequence[Problem]) -> str:
    """The first ones with their lines, and how many more there are."""
    first = "; ".join(f"line {each.line}, {each.key}: {each.message}" for each in problems[:EXAMPLES])
    return f"{first}; and {len(problems) - EXAMPLES:,} more" if len(problems) > EXAMPLES else first
