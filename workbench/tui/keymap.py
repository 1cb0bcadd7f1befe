"""The user's own keys: `keymap.toml`, one line per action id, read once at the start.

    list.down = ["f4", "down"]
    page.filter = ["f3", "slash"]
    app.help = ["f1", "question_mark"]

A line that cannot be used is named with file and line; all others work.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from workbench.errors import WorkbenchError
from workbench.tui.actions import Registry, live_together
from workbench.tui.key_names import UnknownKey, display, normalise


class UnusableKeys(WorkbenchError):
    """Lines of the keymap cannot be used; the message has one problem per line. It goes to the log file."""

    code = "keymap_unusable"


@dataclass(frozen=True, slots=True)
class Keymap:
    """Which keys are live: the registry's defaults with the user's changes over them."""

    registry: Registry
    changes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    problems: tuple[str, ...] = ()

    def keys(self, action_id: str) -> tuple[str, ...]:
        """The live keys of an action, by Textual's names, the main one first."""
        return self.changes.get(action_id) or self.registry[action_id].keys

    def shown(self, action_id: str) -> str:
        """The main live key of an action as a person reads it."""
        return display(self.keys(action_id)[0])

    def all_shown(self, action_id: str) -> str:
        """Every live key of an action as a person reads it, separated by spaces."""
        return " ".join(display(key) for key in self.keys(action_id))

    def for_textual(self) -> dict[str, str]:
        """The changes in the form of `App.set_keymap`."""
        return {action_id: ",".join(keys) for action_id, keys in self.changes.items()}


def load_keymap(path: Path, registry: Registry) -> Keymap:
    """The keymap of a file; a file that does not exist changes nothing."""
    try:
        text = path.read_text("utf-8")
    except FileNotFoundError:
        return Keymap(registry)
    except UnicodeDecodeError:
        return Keymap(registry, problems=(f"{path}: is not UTF-8 text; the default keys are used.",))
    except OSError as error:
        return Keymap(registry, problems=(f"{path}: {error.strerror or 'cannot be read'}.",))
    return parse_keymap(text, registry, str(path))


def parse_keymap(text: str, registry: Registry, name: str = "keymap.toml") -> Keymap:
    """The keymap of a text; `name` is what its problems call it."""
    import tomllib

    try:
        flat = list(_flattened(tomllib.loads(text)))
    except tomllib.TOMLDecodeError as error:
        return Keymap(registry, problems=(f"{name}: {error}; the default keys are used.",))
    except RecursionError:
        return Keymap(registry, problems=(f"{name}: nested too deeply; the default keys are used.",))
    except (ValueError, OverflowError):
        return Keymap(registry, problems=(f"{name}: a number is too long; the default keys are used.",))
    lines = _lines_of(text)
    wanted: dict[str, tuple[str, ...]] = {}
    problems: list[str] = []
    for action_id, value in flat:
        place = f"{name}:{lines.get(action_id, 1)}"
        if action_id not in registry:
            near = get_close_matches(action_id, registry.ids(), n=1)
            hint = f" Did you mean “{near[0]}”?" if near else ""
            problems.append(f"{place}: There is no action “{action_id}”.{hint}")
            continue
        names = value if isinstance(value, list) else [value]
        if not names or not all(isinstance(key, str) for key in names):
            problems.append(f"{place}: “{action_id}” needs a key or a list of keys.")
            continue
        keys: list[str] = []
        for key_name in names:
            try:
                keys.append(normalise(key_name))
            except UnknownKey as error:
                problems.append(f"{place}: {error}")
        if keys:
            wanted[action_id] = tuple(dict.fromkeys(keys))
    accepted, clashes = _without_clashes(
        wanted, registry, lambda action_id: f"{name}:{lines.get(action_id, 1)}"
    )
    return Keymap(registry, accepted, tuple(problems + clashes))


def _without_clashes(
    wanted: dict[str, tuple[str, ...]], registry: Registry, place: Any
) -> tuple[dict[str, tuple[str, ...]], list[str]]:
    """Drop a change whose key already means something else where both would be live.

    Changes are taken in the file's order. A change that is dropped gives its action its default keys
    back, which can make another change clash: so it is asked again until nothing is dropped.
    """
    problems: list[str] = []
    accepted = dict(wanted)
    while True:
        clash = _first_clash(accepted, registry)
        if clash is None:
            return accepted, problems
        loser, other, key = clash
        del accepted[loser]
        problems.append(
            f"{place(loser)}: The key “{display(key)}” of “{loser}” already belongs to “{other}”; "
            f"“{loser}” keeps its default."
        )


def _first_clash(accepted: Mapping[str, tuple[str, ...]], registry: Registry) -> tuple[str, str, str] | None:
    owners: dict[str, list[str]] = {}
    unchanged = [action_id for action_id in registry.ids() if action_id not in accepted]
    for action_id in [*unchanged, *accepted]:
        for key in accepted.get(action_id) or registry[action_id].keys:
            for other in owners.get(key, ()):
                if live_together(registry[action_id].context, registry[other].context):
                    return action_id, other, key
            owners.setdefault(key, []).append(action_id)
    return None


def _flattened(table: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in table.items():
        name = f"{prefix}{key}"
        if isinstance(value, Mapping):
            yield from _flattened(value, f"{name}.")
        else:
            yield name, value


def _lines_of(text: str) -> dict[str, int]:
    """The line of each key of a TOML document, by its full dotted name.

    The parser of the standard library tells no lines; a line is read again on its own up to its “=”.
    """
    import tomllib

    lines: dict[str, int] = {}
    prefix = ""
    for number, line in enumerate(text.splitlines(), 1):
        stripped = line.strip()
        if stripped.startswith("["):
            with suppress(tomllib.TOMLDecodeError, ValueError):
                prefix = ".".join(_only_path(tomllib.loads(stripped))) + "."
            continue
        head, equals, _rest = stripped.partition("=")
        if not equals:
            continue
        try:
            path = _only_path(tomllib.loads(f"{head}= 0"))
        except (tomllib.TOMLDecodeError, ValueError):
            continue
        lines.setdefault(prefix + ".".join(path), number)
    return lines


def _only_path(document: Mapping[str, Any]) -> list[str]:
    path: list[str] = []
    node: Any = document
    while isinstance(node, Mapping) and node:
        if len(node) != 1:
            raise ValueError("more than one key")
        key, node = next(iter(node.items()))
        path.append(key)
    return path
