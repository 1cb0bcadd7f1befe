"""From a manifest's entries to the registry of names; what contradicts itself is noted, not raised."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

from workbench.identity.builtins import AGENTS
from workbench.identity.entries import Clash, Names, clashes
from workbench.identity.folding import fold
from workbench.identity.registry import EMPTY, Registry
from workbench.workspace.manifest.at import At
from workbench.workspace.manifest.model import Agent, Domain, Project
from workbench.workspace.manifest.problems import Findings


def build_registry(
    projects: Sequence[tuple[int, Project]],
    domains: Sequence[tuple[int, Domain]],
    agents: Sequence[tuple[int, Agent]],
    findings: Findings,
) -> Registry:
    """The registry of these entries, each with its number in the file; an empty one where they clash."""
    kinds = {
        "project": [(number, Names(each.id, each.aliases, roots=each.roots)) for number, each in projects],
        "domain": [(number, Names(each.id, each.aliases)) for number, each in domains],
        "agent": [
            (number, Names(each.id, each.aliases, prefixes=each.prefixes, contains=each.contains))
            for number, each in agents
        ],
    }
    if not any(kinds.values()):
        return EMPTY
    clashed = False
    for kind, entries in kinds.items():
        names = [entry for _, entry in entries]
        for clash in clashes(kind, names, AGENTS if kind == "agent" else ()):
            at: At = (f"{kind}s", entries[clash.entry][0])
            at += ("id",) if clash.alias is None else ("aliases", clash.alias)
            findings.error(at, f"{clash.sentence}; {_way_out(clash, names)}")
            clashed = True
        for number, entry in entries:
            _warn_of_unseen(kind, number, entry, findings)
    if clashed:
        return EMPTY
    return Registry(
        projects=[entry for _, entry in kinds["project"]],
        domains=[entry for _, entry in kinds["domain"]],
        agents=[entry for _, entry in kinds["agent"]],
    )


def _way_out(clash: Clash, declared: Sequence[Names]) -> str:
    if any(fold(entry.id) == fold(clash.owner) for entry in declared):
        return "take it out of one of the two"
    return f"{clash.owner!r} is built in, and an entry with that id replaces it"


def has_unseen(name: str) -> bool:
    """Whether a name holds characters that nobody sees, such as marks of direction."""
    return any(unicodedata.category(character) == "Cf" for character in name)


def _warn_of_unseen(kind: str, number: int, entry: Names, findings: Findings) -> None:
    """Note characters in a name that nobody sees: it looks like another one and is not."""
    spellings = [("id", None, entry.id), *(("aliases", n, each) for n, each in enumerate(entry.aliases))]
    for key, place, spelling in spellings:
        if has_unseen(spelling):
            at: At = (f"{kind}s", number, key)
            findings.warning(
                at if place is None else (*at, place), "the name holds characters that cannot be seen"
            )
