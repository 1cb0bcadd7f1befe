"""Splices of manifests in every layout that TOML allows: nothing else changes, and the values are right."""

from __future__ import annotations

import tempfile
import tomllib
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.identity import fold
from workbench.workspace.manifest_edit import add_alias

_IDS = ("atlas", "beacon one", "Çedar", "d.o.t", 'q"uote')
_WORDS = st.text("abc_- \"\\'é#[]{},=\u202e", min_size=1, max_size=6)
_COMMENTS = st.sampled_from(["", " # why", "# [[x]]", "  # ], 'x'", '\t# "a" = {'])
_SPACE = st.sampled_from(["", " ", "  ", "\t"])
_PLAIN = ("", '"', "'")


@st.composite
def _string(draw: st.DrawFn, text: str) -> str:
    """A TOML string in one of its notations."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    ways = [f'"{escaped}"', f'"""{escaped}"""']
    if not text[:1].isspace():
        ways.append(f'"""\\\n   {escaped}"""')
    if "'" not in text:
        ways += [f"'{text}'", f"'''{text}'''"]
    return draw(st.sampled_from(ways))


@st.composite
def _array(draw: st.DrawFn, names: list[str]) -> str:
    """An array in one line or several, with comments and a comma at its end or none."""
    several = draw(st.booleans())
    parts = ["["]
    for place, name in enumerate(names):
        parts.append(f"{draw(_COMMENTS)}\n{draw(_SPACE)}" if several else draw(_SPACE))
        parts.append(draw(_string(name)))
        if several and draw(st.integers(0, 4)) == 0:
            parts.append(f"{draw(_COMMENTS)}\n")
        if place + 1 < len(names) or draw(st.booleans()):
            parts.append(f"{draw(_SPACE)},")
    parts.append(f"{draw(_COMMENTS)}\n{draw(_SPACE)}" if several else draw(_SPACE))
    return "".join(parts) + "]"


def _key(draw: st.DrawFn, name: str) -> str:
    quote = draw(st.sampled_from(_PLAIN))
    return f"{quote}{name}{quote}{draw(_SPACE)}={draw(_SPACE)}"


@st.composite
def _entry(draw: st.DrawFn, name: str, aliases: list[str] | None, inline: bool) -> str:
    pairs = [_key(draw, "id") + draw(_string(name))]
    if aliases is not None:
        pairs.append(_key(draw, "aliases") + draw(_array(aliases)))
    if draw(st.booleans()):
        pairs.append('x.y = {z = [1, "]"]}')
    pairs = draw(st.permutations(pairs))
    if inline:
        return "{" + draw(_SPACE) + f"{draw(_SPACE)},{draw(_SPACE)}".join(pairs) + draw(_SPACE) + "}"
    indent = draw(_SPACE)
    return "".join(f"{indent}{pair}{draw(_COMMENTS)}\n" for pair in pairs)


@st.composite
def _manifests(draw: st.DrawFn) -> tuple[bytes, str]:
    """A manifest, and the id that gets an alias."""
    names = draw(st.lists(st.sampled_from(_IDS), min_size=0, max_size=4))
    # Each spelling once: no clashes.
    words = iter(
        draw(st.lists(_WORDS.filter(lambda word: word.strip(" ") != ""), max_size=8, unique_by=fold))
    )
    taken = {fold(name) for name in _IDS}
    entries: list[tuple[str, list[str] | None]] = []
    for name in names:
        count = draw(st.integers(-1, 3))
        given_ = [
            word for _, word in zip(range(max(count, 0)), words, strict=False) if fold(word) not in taken
        ]
        entries.append((name, None if count < 0 else given_))
    text = draw(st.sampled_from(["", "# first\n", "title = 'é' # x\n", '"mood" . low = 1\n']))
    inline = draw(st.booleans())
    if inline and names:
        parts = [draw(_entry(*entry, True)) for entry in entries]
        several = draw(st.booleans())
        gap = f",{draw(_COMMENTS)}\n  " if several else ", "
        text += f"projects = [{gap.join(parts)}]{draw(_COMMENTS)}\n"
    text += draw(st.sampled_from(["", "[settings]\ntimezone = 'UTC'\n\n"]))
    if not inline:
        for entry in entries:
            text += (
                f"{draw(_SPACE)}[[{draw(_SPACE)}projects ]]{draw(_COMMENTS)}\n{draw(_entry(*entry, False))}"
            )
            text += draw(st.sampled_from(["", "\n", "[projects.more]\na = nan\n"]))
    text += draw(st.sampled_from(["", "[notes]\nexclude = ['x'] # y\n", "# the end"]))
    raw = text.encode()
    if draw(st.booleans()):
        raw = raw.replace(b"\n", b"\r\n")
    if draw(st.booleans()):
        raw = b"\xef\xbb\xbf" + raw
    return raw, draw(st.sampled_from([*names, "new"]))


def _is_spliced(before: bytes, after: bytes) -> bool:
    """Whether `after` is `before` with bytes put in, and nothing else."""
    rest = iter(after)
    return all(byte in rest for byte in before)


@settings(deadline=None)
@given(_manifests())
def test_only_the_alias_is_put_in(case: tuple[bytes, str]) -> None:
    raw, of = case
    expected: Any = tomllib.loads(raw.decode("utf-8-sig"))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "SSOT_MANIFEST.toml"
        path.write_bytes(raw)
        done = add_alias(path, "project", "the new one", of)
        after = path.read_bytes()
    assert done.changed
    assert _is_spliced(raw, after)
    # One line more at most where the id was declared, and its neighbours as they were.
    assert len(after) - len(raw) < 120
    entries = expected.setdefault("projects", [])
    found = [entry for entry in entries if fold(entry["id"]) == fold(of)]
    if not found:
        found = [{"id": of}]
        entries += found
    entry = next((each for each in found if "aliases" in each), found[0])
    entry.setdefault("aliases", []).append("the new one")
    assert repr(_sorted(tomllib.loads(after.decode("utf-8-sig")))) == repr(_sorted(expected))
    if b"\r\n" in raw:
        assert after.count(b"\n") == after.count(b"\r\n")
    else:
        assert b"\r" not in after


def _sorted(value: Any) -> Any:
    """Tables in the order of their keys: `repr` tells `nan` from other values, which `==` does not."""
    if isinstance(value, dict):
        return {key: _sorted(value[key]) for key in sorted(value)}
    return [_sorted(each) for each in value] if isinstance(value, list) else value
