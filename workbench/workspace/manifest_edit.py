"""Edits of a person's manifest: splices of its text, each proven before it is written (DESIGN §5).

Comments, order, quoting and line endings elsewhere stay byte for byte. The file is there whole or as it was
before, and the previous one is kept in `backups/manifest/`.
"""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from pathlib import Path
from shlex import quote
from typing import Any, NamedTuple

from workbench.errors import WorkbenchError
from workbench.identity.builtins import AGENTS
from workbench.identity.entries import KINDS, Names
from workbench.identity.folding import fold
from workbench.log.errors import SecretInIdentifier
from workbench.workspace.errors import ConfigurationError
from workbench.workspace.manifest import checks
from workbench.workspace.manifest.at import At
from workbench.workspace.manifest.model import Manifest
from workbench.workspace.manifest.places import Place, Places
from workbench.workspace.manifest.problems import Wrong
from workbench.workspace.manifest.quoting import quoted
from workbench.workspace.manifest.reading import parse, read_bytes
from workbench.workspace.manifest_writing import locked, replace


class NameRefused(ConfigurationError):
    """A spelling that is no name, or a kind that has none."""

    code = "invalid_argument"


class NameClash(WorkbenchError):
    """The spelling belongs to another id already."""

    code = "name_clash"


class NotSpliced(WorkbenchError):
    """The text is laid out in a way that the program does not dare to edit."""

    code = "not_spliced"


class AliasAdded(NamedTuple):
    """What `add_alias` did."""

    path: Path
    kind: str
    spelling: str
    """Trimmed."""
    id: str
    """The canonical name that it now means."""
    changed: bool
    """False if the spelling meant that before."""
    line: int | None
    """Where it stands in the file; None if it does not."""
    backup: Path | None
    """The previous file; None if nothing was changed."""


class Splice(NamedTuple):
    """Text to be put in before the byte at an offset; nothing is taken out."""

    at: int
    text: str


def add_alias(path: Path, kind: str, spelling: str, of: str) -> AliasAdded:
    """Let a spelling mean a project, domain or agent: put it into the aliases of that id's entry.

    `of` may be any spelling of the id. One that is not declared gets an entry, a built-in agent one that
    keeps its rules. Raises, with nothing written: `NameRefused`, `SecretInIdentifier`, `NameClash`,
    `ManifestError` for a manifest that has errors already, `ManifestChanged` if somebody else changes the
    file meanwhile, `ConfigurationError` and `DiskFull` where it cannot be written.
    """
    if kind not in KINDS:
        raise NameRefused(f"there is no kind of name {kind!r}", hint=f"one of {', '.join(KINDS)}")
    new, given = valid_name(spelling), valid_name(of)
    with locked(path):
        raw, _ = read_bytes(path)
        manifest = parse(path, raw)
        identity = manifest.registry.canonical(kind, given)
        if _means(manifest, kind, new, identity):
            return AliasAdded(path, kind, new, identity, False, None, None)
        splices, at = _alias_splices(raw, manifest, kind, identity, new)
        edited = spliced(raw, splices)
        _prove(path, raw, edited, at, _expected(kind, identity, new))
        backup = replace(path, raw, edited)
    return AliasAdded(path, kind, new, identity, True, Places.of(edited).line(at), backup)


def spliced(raw: bytes, splices: Sequence[Splice]) -> bytes:
    """The bytes with these put in, those of one place in their order; offsets are of the bytes as given."""
    pieces: list[bytes] = []
    done = 0
    for at, text in sorted(splices, key=lambda each: each.at):
        pieces += (raw[done:at], text.encode())
        done = at
    return b"".join((*pieces, raw[done:]))


def valid_name(given: str) -> str:
    """The name, trimmed. Raises `NameRefused` for none, `SecretInIdentifier` for one with a secret."""
    from workbench.redaction import default_filter

    try:
        name = checks.name(given)
        name.encode()
    except Wrong as wrong:
        ((_, sentence),) = wrong.found
        raise NameRefused(sentence, hint="nothing was changed") from None
    except UnicodeEncodeError:
        raise NameRefused("expected a name in valid UTF-8", hint="nothing was changed") from None
    if default_filter().redact_text(name)[1]:
        raise SecretInIdentifier("the name holds what looks like a secret", hint="nothing was changed")
    return name


def _means(manifest: Manifest, kind: str, spelling: str, identity: str) -> bool:
    """Whether a spelling is that id's already. Raises `NameClash` if it is declared as another's."""
    key = fold(spelling)
    for entry in manifest.registry.declared(kind):
        if key in map(fold, (entry.id, *entry.aliases)):
            if fold(entry.id) == fold(identity):
                return True
            raise _clash(manifest, kind, spelling, entry, identity)
    return key == fold(identity)


def _clash(manifest: Manifest, kind: str, spelling: str, owner: Names, identity: str) -> NameClash:
    """Whose a spelling is, and what can be done about it."""
    built_in = manifest.registry.is_builtin(kind, owner)
    whose = f"the {'built-in ' if built_in else ''}{kind} {owner.id!r}"
    entry = f"an [[{kind}s]] entry with id = {quoted(owner.id)} replaces what is built in"
    if fold(spelling) == fold(owner.id):
        said = f"{spelling!r} is the id of {whose}, and an id cannot mean another name"
        other = f"workbench names alias {kind} {quote(identity)} --of {quote(owner.id)}"
        rules = f"; {entry}, aliases, prefixes and contains alike" if built_in else ""
        hint = f"nothing was changed; the other way round it can be: {other}{rules}"
    else:
        said = f"{spelling!r} is an alias of {whose}; it cannot mean {identity!r} too"
        free = f"{entry}: write one without that alias" if built_in else "take it out of the manifest there"
        hint = f"nothing was changed; {free} first"
    return NameClash(said, hint=hint)


# -- where it goes -------------------------------------------------------------------------


def _alias_splices(
    raw: bytes, manifest: Manifest, kind: str, identity: str, alias: str
) -> tuple[list[Splice], At]:
    """What to put in, and where the alias then stands."""
    places = Places.of(raw)
    text = _Text(raw)
    top = f"{kind}s"
    declared: Sequence[Any] = getattr(manifest, top)
    numbers = [number for number, entry in enumerate(declared) if fold(entry.id) == fold(identity)]
    listed = [number for number in numbers if places.get((top, number, "aliases")) is not None]
    if listed:
        place = _known(places, (top, listed[0], "aliases"))
        return text.into_array(place, quoted(alias)), (top, listed[0], "aliases", len(place.parts))
    if numbers:
        entry = (top, numbers[0])
        place = _known(places, entry)
        line = f"aliases = [{quoted(alias)}]"
        if place.kind == "inline_table":
            return [Splice(place.parts[-1][1], f", {line}")], (*entry, "aliases", 0)
        return [text.after_line(_known(places, (*entry, "id")), line)], (*entry, "aliases", 0)
    pairs = [
        f"{key} = {quoted(value) if isinstance(value, str) else _listed(value)}"
        for key, value in _expected(kind, identity, alias).items()
    ]
    at = (top, len(declared), "aliases", len(_aliases_of(kind, identity)))
    array = places.get((top,))
    if array is not None and array.kind == "array":
        return text.into_array(array, f"{{ {', '.join(pairs)} }}"), at
    return [text.at_end([f"[[{top}]]", *pairs])], at


def _expected(kind: str, identity: str, alias: str) -> dict[str, Any]:
    """The keys of a new entry."""
    entry: dict[str, Any] = {"id": identity, "aliases": [*_aliases_of(kind, identity), alias]}
    builtin = _builtin(kind, identity)
    if builtin is not None:
        for key, words in (("prefixes", builtin.prefixes), ("contains", builtin.contains)):
            if words:
                entry[key] = list(words)
    return entry


def _aliases_of(kind: str, identity: str) -> list[str]:
    builtin = _builtin(kind, identity)
    return [] if builtin is None else list(builtin.aliases)


def _builtin(kind: str, identity: str) -> Names | None:
    return next((each for each in AGENTS if kind == "agent" and each.id == fold(identity)), None)


def _listed(words: Sequence[str]) -> str:
    return f"[{', '.join(map(quoted, words))}]"


def _known(places: Places, at: At) -> Place:
    place = places.get(at)
    if place is None:
        raise _not_spliced()
    return place


def _not_spliced() -> NotSpliced:
    return NotSpliced(
        "the manifest is laid out in a way that the program cannot edit safely",
        hint="nothing was changed; add the alias by hand",
    )


class _Text:
    """The layout of a file: its lines, their ends and indents."""

    def __init__(self, raw: bytes) -> None:
        self._raw = raw
        first = raw.find(b"\n")
        self._newline = "\r\n" if first > 0 and raw[first - 1 : first] == b"\r" else "\n"

    def into_array(self, array: Place, element: str) -> list[Splice]:
        """One more element at the end, laid out as the last one is."""
        if not array.parts:
            return [Splice(array.start + 1, element)]
        start, end = array.parts[-1]
        indent = self._raw[self._line_start(start) : start]
        comma = next((place for place in array.commas if place >= end), None)
        anchor = end if comma is None else comma + 1
        stop = self._line_end(anchor)
        if indent.strip(b" \t") or stop > array.end - 1:
            # It shares its line with others.
            return [Splice(end, f", {element}")]
        # A line of its own, behind the comment of the last one.
        line = Splice(stop, f"{self._newline}{indent.decode()}{element}{'' if comma is None else ','}")
        return [line] if comma is not None else [Splice(end, ","), line]

    def after_line(self, place: Place, line: str) -> Splice:
        """A line below the one on which a value ends, indented as the one on which it begins."""
        begin = self._line_start(place.start)
        whole = self._raw[begin : place.start]
        indent = whole[: len(whole) - len(whole.lstrip(b" \t"))].decode()
        return Splice(self._line_end(place.end), f"{self._newline}{indent}{line}")

    def at_end(self, lines: Sequence[str]) -> Splice:
        """Lines at the end of the file, behind an empty one."""
        broken = "" if not self._raw or self._raw.endswith(b"\n") else self._newline
        gap = self._newline if self._raw.strip() else ""
        block = "".join(f"{line}{self._newline}" for line in lines)
        return Splice(len(self._raw), f"{broken}{gap}{block}")

    def _line_start(self, offset: int) -> int:
        start = self._raw.rfind(b"\n", 0, offset) + 1
        return 3 if start == 0 and self._raw.startswith(b"\xef\xbb\xbf") else start

    def _line_end(self, offset: int) -> int:
        """Where the line's end begins; the end of the file on the last one."""
        end = self._raw.find(b"\n", offset)
        if end < 0:
            return len(self._raw)
        return end - 1 if end > offset and self._raw[end - 1 : end] == b"\r" else end


# -- whether it is right -------------------------------------------------------------------


def _prove(path: Path, raw: bytes, edited: bytes, at: At, entry: dict[str, Any]) -> None:
    """Raise `NotSpliced` unless the edited text says what it said, and the alias at its place."""
    try:
        now = tomllib.loads(edited.decode("utf-8-sig"))
        parse(path, edited)
    except (ValueError, OverflowError, RecursionError, WorkbenchError) as error:
        raise _not_spliced() from error
    wanted = tomllib.loads(raw.decode("utf-8-sig"))
    top, number, _, place = at
    entries = wanted.setdefault(str(top), [])
    if number == len(entries):
        entries.append(entry)
    else:
        assert isinstance(number, int)
        entries[number].setdefault("aliases", []).insert(place, entry["aliases"][-1])
    if not _same(now, wanted):
        raise _not_spliced()


def _same(one: Any, other: Any) -> bool:
    """Equal values of equal types; a number that is none equals itself here."""
    if type(one) is not type(other):
        return False
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(_same(one[key], other[key]) for key in one)
    if isinstance(one, list):
        return len(one) == len(other) and all(map(_same, one, other))
    return bool(one == other or (one != one and other != other))
