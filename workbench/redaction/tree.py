"""Filtering of a JSON value: every text in it, keys too, without recursion.

A text that itself holds JSON is filtered as text.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from workbench.log.ports import JsonValue, Removal

RedactText = Callable[[str], tuple[str, dict[str, int]]]

DEEPEST_FIELD = 64
"""Parts of a field path that are written out; what lies deeper is counted at `<its 64 first parts>.…`.

A hostile value nested a hundred thousand deep would otherwise be answered with paths of that length.
"""

# Parent, part, depth: written out only where something was removed.
_Path = tuple["_Path | None", str, int]


def redact_tree(value: JsonValue, redact_text: RedactText) -> tuple[JsonValue, list[Removal]]:
    """`value` with its texts and keys passed through `redact_text`, and what was removed, by field and kind.

    `value` is what JSON can hold (a tuple counts as a list); it is never changed. If nothing was removed it
    is returned itself. Keys that become equal get ` (2)`, ` (3)` … so that none is lost. A field path
    holds filtered keys only; what was removed from the keys of a mapping stands at `<its path>.(key)`; the
    path of `value` itself is the empty text.
    """
    removed: dict[tuple[str, str], int] = {}

    def filtered(text: str, path: _Path | None) -> str:
        result, counts = redact_text(text)
        if counts:
            field = _written(path)
            for kind, count in counts.items():
                removed[field, kind] = removed.get((field, kind), 0) + count
        return result

    if isinstance(value, str):
        outcome: JsonValue = filtered(value, None)
    elif isinstance(value, (dict, list, tuple)):
        outcome = _copy(value, filtered)
    else:
        return value, []
    if not removed:
        return value, []
    # Loaded here so that importing the filter does not load the log.
    from workbench.log.ports import Removal

    return outcome, [Removal(field, kind, removed[field, kind]) for field, kind in sorted(removed)]


def _copy(
    value: dict[str, JsonValue] | list[JsonValue] | tuple[JsonValue, ...],
    filtered: Callable[[str, _Path | None], str],
) -> JsonValue:
    root: JsonValue = {} if isinstance(value, dict) else []
    stack: list[tuple[JsonValue, JsonValue, _Path | None]] = [(value, root, None)]
    while stack:
        source, target, path = stack.pop()
        depth = path[2] + 1 if path else 1
        if isinstance(source, dict):
            items = _filtered_keys(source, filtered, path, depth)
        else:
            items = [(str(index), item) for index, item in enumerate(source)]
        for key, item in items:
            here: _Path = (path, str(key), depth)
            kept: JsonValue
            if isinstance(item, str):
                kept = filtered(item, here)
            elif isinstance(item, (dict, list, tuple)):
                kept = {} if isinstance(item, dict) else []
                stack.append((item, kept, here))
            else:
                kept = item
            if isinstance(target, dict):
                target[key] = kept
            else:
                target.append(kept)
    return root


def _filtered_keys(
    source: dict[str, JsonValue],
    filtered: Callable[[str, _Path | None], str],
    path: _Path | None,
    depth: int,
) -> list[tuple[str, JsonValue]]:
    items: list[tuple[str, JsonValue]] = []
    taken: set[str] | None = None
    numbers: dict[str, int] = {}
    for key, item in source.items():
        name = key
        if isinstance(key, str):
            name = filtered(key, (path, _REMOVED_KEY, depth))
            if name != key:
                taken = set(source) if taken is None else taken
                plain, number = name, numbers.get(name, 1)
                while name in taken:
                    number += 1
                    name = f"{plain} ({number})"
                numbers[plain] = number
                taken.add(name)
        items.append((name, item))
    return items


_REMOVED_KEY = "(key)"
"""Last part of the field of a removal from a key."""


def _written(path: _Path | None) -> str:
    cut = path is not None and path[2] > DEEPEST_FIELD
    while path is not None and path[2] > DEEPEST_FIELD:
        path = path[0]
    parts: list[str] = ["…"] if cut else []
    while path is not None:
        parts.append(path[1])
        path = path[0]
    return ".".join(reversed(parts))
