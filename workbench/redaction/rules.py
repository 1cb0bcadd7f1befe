"""The filter's rules as data: read from the package's TOML files, checked, handed on as plain records.

Nothing here runs a pattern; `engine` compiles them and reports one that RE2 refuses through the same error.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, cast

from workbench.redaction.rule_files import COMMAND_FILES as COMMAND_FILES
from workbench.redaction.rule_files import CONTEXT_FILES as CONTEXT_FILES
from workbench.redaction.rule_files import RULE_FILES as RULE_FILES
from workbench.redaction.rule_files import RulesError as RulesError
from workbench.redaction.rule_files import rule_text as rule_text
from workbench.redaction.shapes import ShapeError, check_shape
from workbench.redaction.suffixes import SUFFIX

CHECKS = (
    *("any", "credential", "password", "opaque", "strong", "dense", "random"),
    *("value", "weak", "short", "number", "phrase", "wallet"),
)
"""What `check` may ask of a secret (see `context`)."""

LONGEST_REACH = 64

Left = Literal["alnum", "word", "any"]

_LEFTS = ("alnum", "word", "any")
_KIND = re.compile(r"[a-z][a-z0-9_]{1,39}")
_RULE_KEYS = {"kind", "pattern", "probe", "guards", "positive", "negative"}
_GUARD_KEYS = {"left", "after", "not_slug", "alone", "part_max", "check", "near", "reach", "unless"}
_FRAGMENT = re.compile(r"%([a-z_]+)%")


@dataclass(frozen=True, slots=True)
class Guards:
    """What code decides about a matched span, because RE2 cannot (contract redaction, "Rules are data")."""

    left: Left = "alnum"
    after: str = ""
    not_slug: bool = False
    alone: bool = False
    part_max: int | None = None
    check: str = ""
    near: str = ""
    reach: int = 0
    unless: str = ""


@dataclass(frozen=True, slots=True)
class Rule:
    """One entry of a rules file; `source` names file, place and kind for error messages."""

    source: str
    kind: str
    pattern: str
    probe: str
    guards: Guards = field(default_factory=Guards)
    positive: tuple[str, ...] = ()
    negative: tuple[str, ...] = ()


def parse_rules(name: str, text: str) -> tuple[Rule, ...]:
    """The rules of one TOML file in their order; `name` is used in messages.

    Raises `RulesError` for text that is not TOML, unknown keys, wrong types, a kind that cannot stand
    in a marker, a pattern outside ASCII, or a rule without examples.
    """
    import tomllib

    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise RulesError(f"The secret filter's rules file {name} is not valid TOML: {error}.") from None
    unknown = set(document) - {"rule", "fragments"}
    entries = document.get("rule", [])
    if unknown or not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise RulesError(
            f"The secret filter's rules file {name} may hold [fragments] and [[rule]] tables only.",
            hint=f"Unexpected: {', '.join(sorted(unknown)) or 'rule'}.",
        )
    fragments = _fragments(name, document.get("fragments", {}))
    return tuple(
        _rule(f"{name}, rule {number}", entry, fragments) for number, entry in enumerate(entries, start=1)
    )


def load_rules(names: Sequence[str] = RULE_FILES) -> tuple[Rule, ...]:
    """The rules shipped in the package, file after file (see `parse_rules` for errors)."""
    rules: list[Rule] = []
    for name in names:
        rules.extend(parse_rules(name, rule_text(name)))
    return tuple(rules)


def _fragments(name: str, table: object) -> dict[str, str]:
    """Named expressions; each may use those above it, and `suffix`."""
    if not isinstance(table, dict):
        raise RulesError(f"{name}: `fragments` must be a table.")
    fragments: dict[str, str] = {"suffix": SUFFIX}
    for key, value in table.items():
        fragments[key] = _expression(f"{name}, fragments", key, value, fragments)
    return fragments


def _rule(place: str, entry: Mapping[str, Any], fragments: Mapping[str, str]) -> Rule:
    kind = entry.get("kind")
    if not isinstance(kind, str) or not _KIND.fullmatch(kind):
        raise RulesError(
            f"{place}: `kind` must be lower-case letters, digits and underscores.",
            hint="It becomes the marker [REDACTED:<kind>].",
        )
    source = f"{place} ({kind})"
    _known(source, entry, _RULE_KEYS)
    pattern = _expression(source, "pattern", entry.get("pattern"), fragments)
    probe = _expression(source, "probe", entry["probe"], fragments) if "probe" in entry else pattern
    positive = _texts(source, "positive", entry.get("positive"))
    negative = _texts(source, "negative", entry.get("negative", []))
    if not positive:
        raise RulesError(f"{source}: a rule needs at least one positive example.")
    for shape in positive:
        try:
            check_shape(shape)
        except ShapeError as error:
            raise RulesError(f"{source}: {error.message}", hint=error.hint) from None
    guards = _guards(source, entry.get("guards", {}), fragments)
    return Rule(source, kind, pattern, probe, guards, positive, negative)


def _guards(source: str, table: object, fragments: Mapping[str, str]) -> Guards:
    if not isinstance(table, dict):
        raise RulesError(f"{source}: `guards` must be a table.")
    _known(source, table, _GUARD_KEYS)
    left = table.get("left", "alnum")
    after = table.get("after", "")
    not_slug = table.get("not_slug", False)
    alone = table.get("alone", False)
    part_max = table.get("part_max")
    if left not in _LEFTS:
        raise RulesError(f"{source}: guard `left` must be one of {', '.join(_LEFTS)}.")
    if not isinstance(after, str) or not re.fullmatch("[a-z]*", after):
        raise RulesError(f"{source}: guard `after` must be a word of lower-case letters.")
    for key, value in (("not_slug", not_slug), ("alone", alone)):
        if not isinstance(value, bool):
            raise RulesError(f"{source}: guard `{key}` must be true or false.")
    if part_max is not None and (type(part_max) is not int or part_max < 1):
        raise RulesError(f"{source}: guard `part_max` must be a whole number above 0.")
    if part_max is not None and not alone:
        raise RulesError(f"{source}: guard `part_max` is for rules that run alone.")
    if alone and (not_slug or after):
        raise RulesError(f"{source}: guards `not_slug` and `after` are not for rules that run alone.")
    check = table.get("check", "")
    reach = table.get("reach", 0)
    near = _expression(source, "near", table["near"], fragments) if "near" in table else ""
    if not isinstance(check, str) or (check and check not in CHECKS):
        raise RulesError(f"{source}: guard `check` must be one of {', '.join(CHECKS)}.")
    if check and (alone or after or not_slug):
        raise RulesError(f"{source}: guard `check` goes with `left`, `near`, `reach` and `unless` alone.")
    if type(reach) is not int or not 0 <= reach <= LONGEST_REACH or bool(near) != bool(reach):
        raise RulesError(f"{source}: guard `near` needs a `reach` of 1 to {LONGEST_REACH} blanks and quotes.")
    if near and not check:
        raise RulesError(f"{source}: guard `near` is for rules with a `check`.")
    unless = _expression(source, "unless", table["unless"], fragments) if "unless" in table else ""
    if unless and not check:
        raise RulesError(f"{source}: guard `unless` is for rules with a `check`.")
    return Guards(cast(Left, left), after, not_slug, alone, part_max, check, near, reach, unless)


def _known(source: str, table: Mapping[str, Any], known: set[str]) -> None:
    unknown = sorted(set(table) - known)
    if unknown:
        raise RulesError(
            f"{source}: unknown key `{unknown[0]}`.", hint=f"Known are {', '.join(sorted(known))}."
        )


def _expression(source: str, key: str, value: object, fragments: Mapping[str, str]) -> str:
    if not isinstance(value, str) or not value:
        raise RulesError(f"{source}: `{key}` must be a regular expression.")
    if not value.isascii():
        raise RulesError(f"{source}: `{key}` must be ASCII, since it runs on bytes.")

    def named(match: re.Match[str]) -> str:
        if match[1] not in fragments:
            raise RulesError(f"{source}: `{key}` names an unknown fragment `{match[1]}`.")
        return f"(?:{fragments[match[1]]})"

    return _FRAGMENT.sub(named, "".join(line.strip() for line in value.splitlines()))


def _texts(source: str, key: str, value: object) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(item, str) and item for item in value):
        raise RulesError(f"{source}: `{key}` must be a list of texts.")
    return tuple(value)
