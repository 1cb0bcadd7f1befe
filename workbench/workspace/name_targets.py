"""Whether anybody knows the name that a spelling is to mean: a slip there would make a name of its own."""

from __future__ import annotations

from contextlib import suppress
from difflib import get_close_matches

from workbench.errors import WorkbenchError
from workbench.identity.builtins import DEFAULT_AGENT, DEFAULT_DOMAIN
from workbench.identity.entries import KINDS
from workbench.identity.folding import fold
from workbench.identity.registry import Registry
from workbench.storage.errors import SchemaMigrationRequired
from workbench.workspace.errors import WorkspaceMissing
from workbench.workspace.layout import Layout
from workbench.workspace.manifest import read_manifest
from workbench.workspace.manifest_edit import valid_name

_DEFAULTS = {"domain": DEFAULT_DOMAIN, "agent": DEFAULT_AGENT}
_NAMED = 3
_LEAST_ALIKE = 0.5


class NameUnknown(WorkbenchError):
    """Neither the manifest nor any observation has the name."""

    code = "name_unknown"


def refuse_unknown(layout: Layout, kind: str, spelling: str, of: str) -> None:
    """Raise `NameUnknown` for a name that is neither declared nor in any observation, under any spelling.

    The error names the nearest ones that are. The log is looked at only for what the manifest does not
    declare; one of an older release, and one that is not there, has no names. Raises what `valid_name`
    raises for either of them first, `ManifestError`, and the storage errors of a read.
    """
    valid_name(spelling)
    key = fold(valid_name(of))
    if kind not in KINDS:
        # `add_alias` says so.
        return
    registry = read_manifest(layout.manifest).registry
    known = _declared(registry, kind)
    # A rule finds an agent under spellings that stand nowhere.
    if key in known or fold(registry.canonical(kind, of)) in known:
        return
    known |= {name: key for name, key in _used(layout, registry, kind).items() if name not in known}
    if key in known:
        return
    near = list(dict.fromkeys(known[each] for each in get_close_matches(key, known, _NAMED, _LEAST_ALIKE)))
    sentence = f"no {kind} is called so: neither the manifest nor any record has the name given with --of"
    meant = f"; the nearest known: {', '.join(near)}" if near else ""
    raise NameUnknown(
        sentence + meant, hint="nothing was changed; if it is to be a new name: workbench names alias --new"
    )


def _declared(registry: Registry, kind: str) -> dict[str, str]:
    """By folded spelling, the id that it is declared for."""
    known = {
        fold(spelling): entry.id
        for entry in registry.declared(kind)
        for spelling in (entry.id, *entry.aliases)
    }
    if kind in _DEFAULTS:
        known.setdefault(_DEFAULTS[kind], _DEFAULTS[kind])
    return known


def _used(layout: Layout, registry: Registry, kind: str) -> dict[str, str]:
    """By folded spelling, the name that observations under it have today."""
    from workbench.workspace.workspace import Workspace

    used: dict[str, str] = {}
    with (
        suppress(WorkspaceMissing, SchemaMigrationRequired),
        Workspace.open(layout.root, read_only=True, migrate=False) as workspace,
    ):
        for row in workspace.readers.names.names(registry, kind):
            used.setdefault(fold(row.spelling), row.canonical)
    return used
