"""Which names mean the same project, domain or agent (contract memory, "Identity folding")."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from workbench.identity.builtins import AGENTS, DEFAULT_AGENT, DEFAULT_DOMAIN
from workbench.identity.entries import Names, added_up, clashes
from workbench.identity.errors import NamesError
from workbench.identity.folding import fold


class Registry:
    """The names of one workspace; never changes. Aliases are applied by readers: no event knows of them.

    Raises `NamesError` for an entry without an id, for lists of names that are text, for a blank spelling,
    and for a spelling that belongs to two ids.
    """

    def __init__(
        self,
        *,
        projects: Sequence[Names] = (),
        domains: Sequence[Names] = (),
        agents: Sequence[Names] = (),
    ) -> None:
        for kind, entries in (("project", projects), ("domain", domains), ("agent", agents)):
            _refuse_bad(kind, entries)
            taken = AGENTS if kind == "agent" else ()
            for clash in clashes(kind, entries, taken):
                raise NamesError(clash.sentence, hint="take it out of one of the two entries")
        self._projects = _Kind(added_up(projects))
        self._domains = _Kind(added_up(domains))
        self._agents = _Kind(_with_builtins(added_up(agents)))
        self._rules = [
            (entry, tuple(map(fold, entry.prefixes)), tuple(map(fold, entry.contains)))
            for entry in self._agents.entries
        ]
        roots = [
            (Path(os.path.normpath(root)), entry.id)
            for entry in self._projects.entries
            for root in entry.roots
        ]
        # The deepest first; of equal ones, the first declared.
        self._roots = sorted(roots, key=lambda each: -len(each[0].parts))

    # -- canonical names -------------------------------------------------------------------

    def domain(self, given: str | None) -> str:
        """The canonical name, or what was given, trimmed, where none is declared.

        A blank one means `global`, which may have another canonical name itself.
        """
        return self._domains.canonical(given) or self._domains.canonical(DEFAULT_DOMAIN) or DEFAULT_DOMAIN

    def project(self, given: str | None) -> str | None:
        """The canonical name, or what was given, trimmed, where none is declared; None for a blank one."""
        return self._projects.canonical(given)

    def agent(self, given: str | None) -> str:
        """The canonical name; one that nothing declares is folded, and a blank one means `mcp`.

        An exact spelling counts before any rule; then the rules of agents that only the manifest has, then
        the built-in ones in their order, each as the manifest has it where it has that id.
        """
        key = (fold(given) if given else "") or DEFAULT_AGENT
        entry = self._agents.entry(key) or self._by_rule(key)
        return key if entry is None else entry.id

    def _by_rule(self, key: str) -> Names | None:
        for entry, prefixes, parts in self._rules:
            if key.startswith(prefixes) or any(part in key for part in parts):
                return entry
        return None

    # -- keys ------------------------------------------------------------------------------

    def domain_forms(self, given: str | None) -> tuple[str, ...]:
        """The folded keys of all its spellings, the canonical one first."""
        return self._domains.forms(self.domain(given))

    def project_forms(self, given: str | None) -> tuple[str, ...]:
        """The folded keys of all its spellings, the canonical one first; none for no project."""
        name = self.project(given)
        return () if name is None else self._projects.forms(name)

    def agent_forms(self, given: str | None) -> tuple[str, ...]:
        """The folded keys of its id and aliases, the canonical one first; not those only a rule finds."""
        return self._agents.forms(self.agent(given))

    # -- what is declared ------------------------------------------------------------------

    def declares_domain(self, given: str | None) -> bool:
        """Whether a domain is one of the manifest's, under any spelling; `global` always is."""
        name = self.domain(given)
        return fold(name) == DEFAULT_DOMAIN or self._domains.entry(fold(name)) is not None

    def declared(self, kind: str) -> tuple[Names, ...]:
        """The entries of a kind, one for each id, built-in agents behind the manifest's own."""
        return {"project": self._projects, "domain": self._domains, "agent": self._agents}[kind].entries

    def is_builtin(self, kind: str, entry: Names) -> bool:
        """Whether an entry of `declared` is the program's own and not the manifest's."""
        return kind == "agent" and any(entry is each for each in AGENTS)

    def canonical(self, kind: str, given: str) -> str:
        """The canonical name of a spelling of that kind (`project`, `domain` or `agent`)."""
        if kind == "agent":
            return self.agent(given)
        return self.domain(given) if kind == "domain" else self.project(given) or ""

    def project_of(self, path: Path) -> str | None:
        """The project whose root holds this absolute path; of several the deepest. Reads no file.

        `..` goes up as it is written, and links are not followed.
        """
        place = Path(os.path.normpath(path))
        return next((name for root, name in self._roots if place.is_relative_to(root)), None)


class _Kind:
    """The entries of one kind, by every spelling's key."""

    def __init__(self, entries: tuple[Names, ...]) -> None:
        self.entries = entries
        self._by_key: dict[str, Names] = {}
        self._forms: dict[str, tuple[str, ...]] = {}
        for entry in entries:
            forms = tuple(dict.fromkeys(fold(spelling) for spelling in (entry.id, *entry.aliases)))
            self._forms[forms[0]] = forms
            for form in forms:
                self._by_key.setdefault(form, entry)

    def entry(self, key: str) -> Names | None:
        return self._by_key.get(key)

    def canonical(self, given: str | None) -> str | None:
        name = given.strip() if given else ""
        key = fold(name)
        if not key:
            return None
        entry = self._by_key.get(key)
        return name if entry is None else entry.id

    def forms(self, canonical: str) -> tuple[str, ...]:
        key = fold(canonical)
        return self._forms.get(key, (key,))


def _with_builtins(declared: tuple[Names, ...]) -> tuple[Names, ...]:
    """The manifest's own agents, then the built-in ones, each in its place as the manifest has it."""
    own = {fold(entry.id): entry for entry in declared}
    known = tuple(own.pop(fold(entry.id), entry) for entry in AGENTS)
    return (*own.values(), *known)


def _refuse_bad(kind: str, entries: Sequence[Names]) -> None:
    for entry in entries:
        if not isinstance(entry.id, str) or not fold(entry.id):
            raise NamesError(f"a {kind} entry needs an id", hint=f'write: id = "name" in [[{kind}s]]')
        lists = {"aliases": entry.aliases, "prefixes": entry.prefixes, "contains": entry.contains}
        for key, names in lists.items():
            if isinstance(names, str):
                raise NamesError(
                    f"{key} of the {kind} {entry.id.strip()!r} must be a list of names",
                    hint=f'write: {key} = ["name"]',
                )
            if not all(fold(name) for name in names):
                raise NamesError(f"{key} of the {kind} {entry.id.strip()!r} holds a blank name")


EMPTY = Registry()
"""What a workspace without declared names has."""
