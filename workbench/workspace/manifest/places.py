"""Where each value of a manifest stands: lines and exact spans, from tree-sitter (DESIGN §5).

Loaded only to say what is wrong, or to splice.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from workbench.workspace.manifest.at import At

if TYPE_CHECKING:
    from tree_sitter import Node


class Place(NamedTuple):
    """A value in the file. Spans are byte offsets, the end not included."""

    kind: str
    """As the grammar calls it: `string`, `array`, `inline_table`…; `table` and `table_array_element` for what
    a header begins, `implied` for what dotted keys or headers below it imply."""
    line: int
    """From 1, of the key where it has one."""
    start: int
    end: int
    """Of a table: behind its last key, or its header where it has none."""
    parts: tuple[tuple[int, int], ...] = ()
    """Of an array or inline table: the spans of its elements or pairs."""
    commas: tuple[int, ...] = ()
    """Of an array or inline table: where its commas stand."""


class Places:
    """The places of one file's values."""

    def __init__(self, places: Mapping[At, Place]) -> None:
        self._places = places

    @classmethod
    def of(cls, raw: bytes) -> Places:
        """Those of a file that `tomllib` can read; of any other, what can be made out."""
        walk = _Walk(raw)
        # What was found before the nesting got too deep still stands.
        with suppress(RecursionError):
            walk.document()
        return cls(walk.found)

    def get(self, at: At) -> Place | None:
        """The place of a value; None if it is not there."""
        return self._places.get(at)

    def items(self) -> Iterator[tuple[At, Place]]:
        """Every value and its place, what is inside before what holds it."""
        return iter(self._places.items())

    def line(self, at: At) -> int:
        """The line of a value, or of what is nearest around it, else 1; 0 for the file as a whole."""
        if not at:
            return 0
        for length in range(len(at), 0, -1):
            place = self._places.get(at[:length])
            if place is not None:
                return place.line
        return 1


class _Walk:
    def __init__(self, raw: bytes) -> None:
        self._raw = raw
        self.found: dict[At, Place] = {}
        self._counts: dict[At, int] = {}
        """How many elements each array of tables has so far."""

    def document(self) -> None:
        import tree_sitter_toml
        from tree_sitter import Language, Parser

        tree = Parser(Language(tree_sitter_toml.language())).parse(self._raw)
        for node in tree.root_node.children:
            if node.type == "pair":
                self._pair(node, ())
            elif node.type in ("table", "table_array_element"):
                self._table(node)

    def _table(self, node: Node) -> None:
        header, close, *rest = node.named_children[0], node.children[2], *node.children[3:]
        names = self._names(header)
        at = self._resolved(names[:-1])
        line = node.start_point[0] + 1
        for length in range(1, len(names)):
            self._imply(self._resolved(names[:length]), line, node.start_byte)
        at = (*at, names[-1])
        if node.type == "table_array_element":
            number = self._counts.get(at, 0)
            self._counts[at] = number + 1
            if number == 0:
                self.found[at] = Place("array_of_tables", line, node.start_byte, close.end_byte)
            at = (*at, number)
        end = close.end_byte
        for child in rest:
            if child.type == "pair":
                self._pair(child, at)
                end = _value(child).end_byte
        self.found[at] = Place(node.type, line, node.start_byte, end)

    def _resolved(self, names: tuple[str, ...]) -> At:
        """The place that a header's names lead to: an array of tables means its last element."""
        at: At = ()
        for name in names:
            at = (*at, name)
            if at in self._counts:
                at = (*at, self._counts[at] - 1)
        return at

    def _imply(self, at: At, line: int, start: int) -> None:
        self.found.setdefault(at, Place("implied", line, start, start))

    def _pair(self, node: Node, inside: At) -> None:
        names = self._names(node.named_children[0])
        line = node.start_point[0] + 1
        for length in range(1, len(names)):
            self._imply((*inside, *names[:length]), line, node.start_byte)
        self._place((*inside, *names), _value(node), line)

    def _place(self, at: At, node: Node, line: int) -> None:
        parts: list[tuple[int, int]] = []
        commas: list[int] = []
        if node.type in ("array", "inline_table"):
            for child in node.children:
                if child.type == ",":
                    commas.append(child.start_byte)
                elif child.type == "pair":
                    self._pair(child, at)
                    parts.append((child.start_byte, _value(child).end_byte))
                elif child.is_named and child.type != "comment":
                    self._place((*at, len(parts)), child, child.start_point[0] + 1)
                    parts.append((child.start_byte, child.end_byte))
        self.found[at] = Place(node.type, line, node.start_byte, node.end_byte, tuple(parts), tuple(commas))

    def _names(self, node: Node) -> tuple[str, ...]:
        return tuple(self._each_name(node))

    def _each_name(self, node: Node) -> Iterator[str]:
        if node.type == "dotted_key":
            for child in node.named_children:
                yield from self._each_name(child)
            return
        text = self._raw[node.start_byte : node.end_byte].decode("utf-8", "replace")
        if node.type == "quoted_key":
            with suppress(ValueError):
                (text,) = tomllib.loads(f"{text} = 0")
        yield text


def _value(pair: Node) -> Node:
    """The value of a pair. Its own end may lie behind a comment."""
    return next(child for child in pair.named_children[1:] if child.type != "comment")
