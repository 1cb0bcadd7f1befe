"""Filtering of a JSON value: every text in it, keys too, and the JSON that texts hold, without recursion.

(Contract redaction, `redact_value`.) Only members in which a sign of a secret was found are filtered one by
one; see `members`.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable
from typing import TYPE_CHECKING, NamedTuple

from workbench.redaction.json_text import Document, Member, TooDeep, documents, literal, whole_literal
from workbench.redaction.members import (
    DEEPEST_FIELD,
    Gathered,
    Parts,
    Places,
    Quick,
    Record,
    names_secret,
)

if TYPE_CHECKING:
    from workbench.log.ports import JsonValue, Removal

__all__ = ["DEEPEST_FIELD", "Quick", "redact_tree"]

RedactText = Callable[[str], tuple[str, dict[str, int]]]

KIND = "assigned_secret"
MARKER = f"[REDACTED:{KIND}]"

NESTED = 24
"""Levels of JSON in a text in JSON in a text … that are read; each doubles the backslashes before a quote."""

_REMOVED_KEY = "(key)"
"""Last part of the field of a removal from a key."""
_MEMBER = range(8, 16_384)
"""Characters of a text that is also judged together with its name."""
_ROUNDS = 4
_DOCUMENTS = 1 << 18
"""Characters of documents that are filtered together."""

_TOGETHER = 1 << 20
"""Characters of a list's texts that are filtered together."""
_PRIVATE_KEY = "private_key"

_Column = tuple[int, str]
_Edits = dict[int, dict[str | int, "JsonValue"]]


def redact_tree(
    value: JsonValue,
    redact_text: RedactText,
    quick: Quick | None = None,
    *,
    skipped: Collection[str] = (),
) -> tuple[JsonValue, list[Removal]]:
    """`value` with its texts and keys passed through `redact_text`, and what was removed, by field and kind.

    `value` is what JSON can hold (a tuple counts as a list); it is never changed. If nothing was removed it
    is returned itself; else what holds no removal is shared with `value`, not copied.

    A text under a key that names a secret (`password`, `apiKey`), or in a list under one, is removed whole
    unless it is a placeholder, a reference or too short; below a mapping its own keys decide. Objects and
    arrays of up to 1 MiB inside a text, as all of it or as lines of their own, are walked like `value`, and
    their bytes stay but for what is removed. A text with JSON of more than 1,000 levels is removed whole if
    it holds a word for a secret.

    Keys that become equal get ` (2)`, ` (3)` … so that none is lost. A field path holds filtered keys only
    and goes on into the JSON in a text; what was removed from the keys of a mapping stands at
    `<its path>.(key)`; the path of `value` itself is the empty text.

    Without `quick` every text is filtered one by one.
    Members of `value` itself (not of what lies deeper) whose key is in `skipped` stay as they are.
    """
    walk = _Walk(redact_text, quick)
    if isinstance(value, str):
        outcome: JsonValue = walk.text(value, _Name((), "", False, False), 0)
    elif isinstance(value, (dict, list, tuple)):
        outcome = walk.value(value, skipped)
    else:
        return value, []
    if not walk.removed:
        return value, []
    # Loaded here so that importing the filter does not load the log.
    from workbench.log.ports import Removal

    return outcome, [Removal(field, kind, count) for (field, kind), count in sorted(walk.removed.items())]


class _Name(NamedTuple):
    """What is known of a text by its place: the path, the key, and whether either speaks of a secret."""

    parts: Parts
    key: str
    secret: bool
    telling: bool
    drawn: bool = False
    """Whether a secret here is a key or token that was drawn, not a password."""


class _Walk:
    """One call of `redact_tree`."""

    def __init__(self, redact_text: RedactText, quick: Quick | None) -> None:
        self._redact_text = redact_text
        self._quick = quick
        self.removed: dict[tuple[str, str], int] = {}

    # -- values ----------------------------------------------------------------------------

    def value(self, value: JsonValue, skipped: Collection[str]) -> JsonValue:
        places = Places((), False)
        places.add(-1, "", not isinstance(value, dict))
        gathered = Gathered(self._quick)
        sources: list[JsonValue] = [value]
        add = gathered.add
        # Grows while it is walked: a container's number is less than that of any within.
        for here, source in enumerate(sources):
            if isinstance(source, dict):
                for key, item in source.items():
                    if here == 0 and key in skipped:
                        continue
                    if isinstance(item, str):
                        record = Record(here, key, item, 0)
                        if places.nodes[here].secret:
                            gathered.hits.append((record, True))
                        else:
                            add(f'"{key}": "{item}"\n', record)
                        continue
                    add(f'"{key}":\n', Record(here, key, None, 0))
                    if isinstance(item, (dict, list, tuple)):
                        places.add(here, key, not isinstance(item, dict))
                        sources.append(item)
                continue
            secret = places.nodes[here].secret
            for index, item in enumerate(source):
                if isinstance(item, str):
                    record = Record(here, index, item, 0)
                    if secret:
                        gathered.hits.append((record, False))
                    else:
                        add(f'"{item}"\n', record)
                elif isinstance(item, (dict, list, tuple)):
                    places.add(here, index, not isinstance(item, dict))
                    sources.append(item)
        gathered.look()
        # By container, so that the keys above a member are filtered before its path is written.
        gathered.hits.sort(key=lambda hit: hit[0].node)
        edits: _Edits = {}

        def texts() -> Iterable[Record]:
            for here, source in enumerate(sources):
                items = source.items() if isinstance(source, dict) else enumerate(source)
                for key, item in items:
                    if isinstance(item, str) and not (here == 0 and key in skipped):
                        yield Record(here, key, item, 0)

        for record, new in self._filtered(places, gathered.hits, lambda node: sources[node], texts, 0):
            edits.setdefault(record.node, {})[record.key] = new
        return _rebuilt(sources, places, edits)

    def _filtered(
        self,
        places: Places,
        hits: list[tuple[Record, bool]],
        keys: Callable[[int], Iterable[str]],
        texts: Callable[[], Iterable[Record]],
        level: int,
    ) -> list[tuple[Record, str]]:
        """The texts among `hits` that change; the keys that change are put down in `places`.

        `keys` gives the keys of a container, `texts` the members that are texts.
        """
        touched = self._touched(hits)
        taken: dict[int, set[str]] = {}
        numbers: dict[tuple[int, str], int] = {}
        for record, telling in hits:
            node, key = record.node, record.key
            if not telling or not isinstance(key, str) or (node, key) in places.names:
                continue
            if touched is not None and key not in touched:
                continue
            name = self._key(key, places, node)
            if name != key:
                if node not in taken:
                    taken[node] = set(keys(node))
                plain, number = name, numbers.get((node, name), 1)
                while name in taken[node]:
                    number += 1
                    name = f"{plain} ({number})"
                numbers[node, plain] = number
                taken[node].add(name)
                places.names[node, key] = name
        together = self._together(places, hits, texts)
        if together:
            known = {(record.node, record.key) for record, _ in hits}
            hits += [(record, False) for at, (record, _) in together.items() if at not in known]
            hits.sort(key=lambda hit: hit[0].node)
        changed: list[tuple[Record, str]] = []
        for record, telling in hits:
            node, key, text, _ = record
            if text is None:
                continue
            among = together.get((node, key))
            name = ""
            above = places.nodes[node]
            secret, drawn, renamed = above.secret, above.drawn, False
            telling = telling and isinstance(key, str)
            if isinstance(key, str):
                name = places.names.get((node, key), key)
                named, renamed = telling and names_secret(key), name != key
                secret, drawn = secret or named, drawn and not named
            quiet = touched is not None and not renamed and text not in touched
            if telling and quiet and touched is not None and len(text) in _MEMBER:
                quiet = _member(name, text) not in touched
            if quiet and not secret and not _may_hold_json(text) and among is None:
                continue
            parts = places.parts(node, name if isinstance(key, str) else str(key))
            start = text
            if among is not None:
                start, quiet = among[1], False
                self._count(parts, _new_markers(text, start))
            new = self.text(start, _Name(parts, name, secret, telling, drawn), level, quiet=quiet)
            if new != text:
                changed.append((record, new))
        return changed

    def _together(
        self, places: Places, hits: list[tuple[Record, bool]], texts: Callable[[], Iterable[Record]]
    ) -> dict[tuple[int, str | int], tuple[Record, str]]:
        """What changes where texts of one list, of which `hits` has one, are filtered as the JSON they are.

        A key's lines may also be members of the same name in the objects of one list.
        """
        wanted: set[_Column] = set()
        for record, _ in hits:
            column = _column(places, record)
            if column is not None and (not column[1] or _PRIVATE.search(record.text or "")):
                wanted.add(column)
        changed: dict[tuple[int, str | int], tuple[Record, str]] = {}
        if not wanted:
            return changed
        columns: dict[_Column, list[Record]] = {}
        for record in texts():
            column = _column(places, record)
            if column is not None and column in wanted:
                columns.setdefault(column, []).append(record)
        for column, records in columns.items():
            for some in _runs(records):
                for record, new in self._as_list(some, keys_only=bool(column[1])):
                    changed[record.node, record.key] = (record, new)
        return changed

    def _as_list(self, records: list[Record], *, keys_only: bool) -> list[tuple[Record, str]]:
        """The texts of `records` that change as a JSON array; only for private keys if `keys_only`."""
        clean, counts = self._redact_text(f"[{', '.join(_quoted(record.text or '') for record in records)}]")
        if not counts or (keys_only and set(counts) != {_PRIVATE_KEY}):
            return []
        try:
            items = json.loads(clean)
        except ValueError:
            return []
        if not (isinstance(items, list) and len(items) == len(records)):
            return []
        pairs = zip(records, items, strict=True)
        return [(record, new) for record, new in pairs if isinstance(new, str) and new != record.text]

    def _key(self, key: str, places: Places, node: int) -> str:
        for _ in range(_ROUNDS):
            key, counts = self._redact_text(key)
            if not counts:
                break
            self._count(places.parts(node, _REMOVED_KEY), counts)
        return key

    def _touched(self, hits: list[tuple[Record, bool]]) -> set[str] | None:
        """The texts, keys and members among `hits` that the filter would change; None if all may be."""
        if self._quick is None:
            return None
        # A dictionary keeps the order: the same texts are looked through in the same company every time.
        asked: dict[str, None] = {}
        for (_, key, text, _), telling in hits:
            if text is not None:
                asked[text] = None
            if telling and isinstance(key, str):
                asked[key] = None
                if text is not None and len(text) in _MEMBER:
                    asked[_member(key, text)] = None
        return self._quick.touched(asked)

    # -- texts -----------------------------------------------------------------------------

    def text(self, text: str, name: _Name, level: int, *, quiet: bool = False) -> str:
        """One text, filtered; if `quiet`, nothing in it is a secret unless JSON in it says so."""
        # What is removed may bring to light what nothing pointed at before.
        for _ in range(_ROUNDS):
            before = text
            if name.secret and _is_whole_secret(text, name.drawn) and not _is_document(text):
                self._count(name.parts, {KIND: 1})
                return MARKER
            if level < NESTED and _may_hold_json(text) and (name.secret or self._worth_reading(text)):
                text = self._json(text, name, level)
            if quiet and text == before:
                break
            quiet = False
            text, counts = self._redact_text(text)
            self._count(name.parts, counts)
            if name.telling and len(text) in _MEMBER:
                text = self._with_name(text, name)
            if text == before:
                break
        return text

    def _worth_reading(self, text: str) -> bool:
        """Whether JSON in `text` may hold a secret: what has no escape stands there as it is."""
        if self._quick is None or "\\" in text:
            return True
        data = text.encode("utf-8", "surrogatepass")
        return any(sign(data, 0) >= 0 for sign in self._quick.signs)

    def _with_name(self, text: str, name: _Name) -> str:
        """`text` as it is filtered in a JSON text right behind its name."""
        member = _member(name.key, text)
        head = member[: len(member) - len(_quoted(text))]
        result, counts = self._redact_text(member)
        if not counts or not result.startswith(head):
            return text
        try:
            new = json.loads(result[len(head) :])
        except ValueError:
            return text
        if not isinstance(new, str):
            return text
        self._count(name.parts, counts)
        return new

    def _json(self, text: str, name: _Name, level: int) -> str:
        """`text` with the documents in it filtered; JSON may be the text of a JSON text, too."""
        whole = whole_literal(text)
        if whole is not None:
            start, end, inner = whole
            clean = self.text(inner, name, level + 1)
            return text if clean == inner else text[:start] + literal(clean, text[start:end]) + text[end:]
        edits: list[tuple[int, int, str]] = []
        group: list[Document] = []
        size = 0
        try:
            for document in documents(text):
                group.append(document)
                size += document.end - document.start
                if size > _DOCUMENTS:
                    edits += self._documents(group, name, level)
                    group, size = [], 0
        except TooDeep:
            if _WORDS.search(text) is None:
                return text
            self._count(name.parts, {KIND: 1})
            return MARKER
        edits += self._documents(group, name, level)
        pieces: list[str] = []
        at = 0
        for start, end, new in sorted(edits):
            pieces += (text[at:start], literal(new, text[start:end]))
            at = end
        return "".join((*pieces, text[at:])) if pieces else text

    def _documents(self, group: list[Document], name: _Name, level: int) -> list[tuple[int, int, str]]:
        """What changes in documents of one text: where a literal stands, and what it says from now on."""
        places = Places(name.parts, name.secret)
        gathered = Gathered(self._quick)
        members: list[tuple[int, Member]] = []
        for document in group:
            first = len(places.nodes)
            for parent, key, is_object in document.containers:
                places.add(parent + first if parent >= 0 else -1, key, not is_object)
            for member in document.members:
                node, key, value = member.container + first, member.key, member.text
                record = Record(node, key, value, len(members))
                members.append((node, member))
                if value is not None and places.nodes[node].secret:
                    gathered.hits.append((record, isinstance(key, str)))
                elif isinstance(key, str):
                    gathered.add(f'"{key}":\n' if value is None else f'"{key}": "{value}"\n', record)
                else:
                    gathered.add(f'"{value}"\n', record)
        gathered.look()
        gathered.hits.sort(key=lambda hit: hit[0].node)

        def keys(node: int) -> Iterable[str]:
            return (str(member.key) for place, member in members if place == node and member.key_end)

        def texts() -> Iterable[Record]:
            for slot, (node, member) in enumerate(members):
                if member.text is not None:
                    yield Record(node, member.key, member.text, slot)

        changed = self._filtered(places, gathered.hits, keys, texts, level + 1)
        edits = [(members[record.slot][1].start, members[record.slot][1].end, new) for record, new in changed]
        if places.names:
            edits += [
                (member.key_start, member.key_end, places.names[node, member.key])
                for node, member in members
                if member.key_end and (node, member.key) in places.names
            ]
        return edits

    def _count(self, parts: Parts, counts: dict[str, int]) -> None:
        if counts:
            field = ".".join(parts)
            for kind, count in counts.items():
                self.removed[field, kind] = self.removed.get((field, kind), 0) + count


def _rebuilt(sources: list[JsonValue], places: Places, edits: _Edits) -> JsonValue:
    """The value with what changed; containers without a change within are those of the source."""
    names: dict[int, dict[str | int, str]] = {}
    for (node, key), name in places.names.items():
        names.setdefault(node, {})[key] = name
    nodes = places.nodes
    touched: set[int] = set()
    for node in (*edits, *names):
        while node >= 0 and node not in touched:
            touched.add(node)
            node = nodes[node].parent
    if not touched:
        return sources[0]
    new: JsonValue = None
    # Children have greater numbers than their parents.
    for node in sorted(touched, reverse=True):
        source, items, keys = sources[node], edits.get(node, {}), names.get(node, {})
        if isinstance(source, dict):
            new = {keys.get(key, key): items.get(key, item) for key, item in source.items()}
        else:
            new = list(source)
            for index, item in items.items():
                new[index] = item
        if node:
            edits.setdefault(nodes[node].parent, {})[nodes[node].key] = new
    return new


def _column(places: Places, record: Record) -> _Column | None:
    """The list that a member stands in, and its name if it is a member of an object in that list."""
    if isinstance(record.key, int):
        return record.node, ""
    above = places.nodes[record.node]
    return (above.parent, record.key) if record.key and isinstance(above.key, int) else None


def _runs(records: list[Record]) -> Iterable[list[Record]]:
    """`records` in parts of limited size, none of one record alone but the last."""
    run: list[Record] = []
    size = 0
    for record in records:
        run.append(record)
        size += len(record.text or "")
        if size > _TOGETHER and len(run) > 1:
            yield run
            run, size = [], 0
    if len(run) > 1:
        yield run


def _new_markers(old: str, new: str) -> dict[str, int]:
    """How many markers of each kind `new` has more than `old`."""
    before, behind = Counter(_MARKER.findall(old)), Counter(_MARKER.findall(new))
    return dict(behind - before)


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _member(key: str, text: str) -> str:
    """`text` as it would stand in JSON behind its name."""
    return f"{_quoted(key)}: {_quoted(text)}"


def _may_hold_json(text: str) -> bool:
    return '"' in text and ("{" in text or "[" in text)


def _is_whole_secret(text: str, drawn: bool) -> bool:
    """Whether `text` under a secret's name is one: no placeholder, no reference, not short, no sentence."""
    from workbench.redaction.values import JUDGED, Place, is_drawn, is_secret

    if drawn:
        return is_drawn(text[: 2 * JUDGED].encode("utf-8", "surrogatepass"))

    if text.count(" ") >= _SENTENCE and _SENTENCE_END.search(text) and not _DIGIT.search(text):
        return False
    return is_secret(
        text[: 2 * JUDGED].encode("utf-8", "surrogatepass"), Place(b"password", True, False, b'"')
    )


def _is_document(text: str) -> bool:
    return _DOCUMENT.match(text) is not None and text.rstrip()[-1:] in "]}"


_MARKER = re.compile(r"\[REDACTED:([a-z0-9_]+)\]")
_PRIVATE = re.compile(r"(?i)private")
_SENTENCE = 3
_SENTENCE_END = re.compile(r"[.!?:…]\s*\Z")
_DIGIT = re.compile(r"[0-9]")
_DOCUMENT = re.compile(r"\s*+[\[{]")
_WORDS = re.compile(
    r"(?i)api[_-]?key|access[_-]?key|private[_-]?key|secret|token|passw(?:or)?d|passphrase|pwd|credential"
)
