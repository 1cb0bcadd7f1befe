"""Themes: TOML files with thirteen colour tokens each, shipped ones first, then the user's.

A file has `name`, `title`, `dark`, optionally `ansi = true`, and a table `[colors]` with every token of
`TOKENS`. Each token is a CSS variable (`$accent`, `$quiet`, `$cursor-blurred`, …); Textual's own variables
are derived from them, so that no widget needs a colour of its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from textual.color import Color, ColorParseError
from textual.css.stylesheet import Stylesheet, StylesheetParseError
from textual.theme import Theme
from textual.widget import Widget

TOKENS = (
    "ground",
    "raised",
    "line",
    "cursor",
    "cursor_blurred",
    "ink",
    "body",
    "quiet",
    "faint",
    "accent",
    "attention",
    "broken",
    "kept",
)
"""Every colour a theme names."""

TEXT_TOKENS = ("ink", "body", "quiet", "faint", "accent", "attention", "broken", "kept")
"""The tokens that text is drawn in."""

GROUND_TOKENS = ("ground", "raised", "cursor", "cursor_blurred")
"""The tokens that text is drawn on."""

DEFAULT_THEME = "dark"

# A name becomes part of a CSS class; Textual takes a comma to separate names.
_NAME = re.compile(r"[A-Za-z0-9_-]+")


@dataclass(frozen=True, slots=True)
class ThemeFile:
    """One theme as read: its name, its title for people, its tokens and Textual's form of it."""

    name: str
    title: str
    ansi: bool
    tokens: Mapping[str, str]
    theme: Theme
    path: Path | None = None


class ThemeProblem(ValueError):
    """A theme file that cannot be used; the text says why, without the file's name."""


def parse_theme(data: Mapping[str, Any], path: Path | None = None) -> ThemeFile:
    """A theme out of a parsed TOML document. Raises `ThemeProblem` with one sentence."""
    name = data.get("name")
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise ThemeProblem("“name” must be letters, digits, “-” and “_”.")
    title = data.get("title", name)
    if not isinstance(title, str):
        raise ThemeProblem("“title” must be a text.")
    flags = {flag: data.get(flag, default) for flag, default in (("dark", True), ("ansi", False))}
    for flag, value in flags.items():
        if not isinstance(value, bool):
            raise ThemeProblem(f"“{flag}” must be true or false.")
    colors = data.get("colors")
    if not isinstance(colors, Mapping):
        raise ThemeProblem("the table [colors] is missing.")
    unknown = sorted(str(key) for key in colors if key not in TOKENS)
    if unknown:
        raise ThemeProblem(f"unknown colour “{unknown[0]}”; the names are {', '.join(TOKENS)}.")
    missing = [token for token in TOKENS if token not in colors]
    if missing:
        raise ThemeProblem(f"colour “{missing[0]}” is missing.")
    tokens: dict[str, str] = {}
    for token in TOKENS:
        value = colors[token]
        if not isinstance(value, str):
            raise ThemeProblem(f'colour “{token}” must be a text such as "#7aa2f7".')
        try:
            parsed = Color.parse(value)
        except ColorParseError:
            raise ThemeProblem(f"colour “{token}” is no colour: “{value}”.") from None
        if parsed.ansi is not None and not flags["ansi"]:
            raise ThemeProblem(f"colour “{token}” is a terminal colour; that needs ansi = true.")
        tokens[token] = value
    theme = _textual_theme(name, flags["dark"], flags["ansi"], tokens)
    return ThemeFile(name, title, flags["ansi"], tokens, theme, path)


def variables_of(tokens: Mapping[str, str]) -> dict[str, str]:
    """The CSS variables of a theme: our tokens, and Textual's own ones derived from them."""
    own = {token.replace("_", "-"): value for token, value in tokens.items()}
    return own | {
        "text-muted": tokens["quiet"],
        "text-disabled": tokens["faint"],
        "foreground-muted": tokens["quiet"],
        "foreground-disabled": tokens["faint"],
        "text-primary": tokens["accent"],
        "text-secondary": tokens["accent"],
        "text-accent": tokens["accent"],
        "text-warning": tokens["attention"],
        "text-error": tokens["broken"],
        "text-success": tokens["kept"],
        "block-cursor-background": tokens["cursor"],
        "block-cursor-foreground": tokens["ink"],
        "block-cursor-text-style": "bold",
        "block-cursor-blurred-background": tokens["cursor_blurred"],
        "block-cursor-blurred-foreground": tokens["body"],
        "block-cursor-blurred-text-style": "none",
        "block-hover-background": tokens["cursor_blurred"],
        "border": tokens["accent"],
        "border-blurred": tokens["line"],
        "surface-active": tokens["raised"],
        "scrollbar": tokens["line"],
        "scrollbar-hover": tokens["quiet"],
        "scrollbar-active": tokens["accent"],
        "scrollbar-background": tokens["ground"],
        "scrollbar-background-hover": tokens["ground"],
        "scrollbar-background-active": tokens["ground"],
        "scrollbar-corner-color": tokens["ground"],
        "input-cursor-background": tokens["ink"],
        "input-cursor-foreground": tokens["ground"],
        "input-selection-background": tokens["accent"],
        "input-selection-foreground": tokens["ground"],
        "screen-selection-background": tokens["accent"],
        "screen-selection-foreground": tokens["ground"],
        # Textual makes these two for its themes of true colours only, and asks for them in every other.
        "ansi-background": tokens["ground"],
        "ansi-foreground": tokens["body"],
    }


def _textual_theme(name: str, dark: bool, ansi: bool, tokens: Mapping[str, str]) -> Theme:
    return Theme(
        name=name,
        primary=tokens["accent"],
        secondary=tokens["accent"],
        accent=tokens["accent"],
        warning=tokens["attention"],
        error=tokens["broken"],
        success=tokens["kept"],
        foreground=tokens["body"],
        background=tokens["ground"],
        surface=tokens["ground"],
        panel=tokens["raised"],
        dark=dark,
        ansi=ansi,
        variables=variables_of(tokens),
    )


def load_themes(folders: Iterable[Path]) -> tuple[dict[str, ThemeFile], list[str]]:
    """Every readable theme by name, and a sentence for each file that is not.

    A later folder's theme replaces an earlier one of the same name. A folder that does not exist
    holds no themes; that is no problem.
    """
    import tomllib

    themes: dict[str, ThemeFile] = {}
    problems: list[str] = []
    for folder in folders:
        try:
            paths = sorted(path for path in folder.iterdir() if path.suffix == ".toml")
        except FileNotFoundError:
            continue
        except OSError as error:
            problems.append(f"{folder}: {error.strerror or 'cannot be read'}.")
            continue
        for path in paths:
            try:
                found = parse_theme(tomllib.loads(path.read_text("utf-8")), path)
            except (tomllib.TOMLDecodeError, ThemeProblem) as error:
                problems.append(f"{path}: {error}")
            except UnicodeDecodeError:
                problems.append(f"{path}: is not UTF-8 text.")
            except RecursionError:
                problems.append(f"{path}: is nested too deeply.")
            except (ValueError, OverflowError):
                problems.append(f"{path}: a number is too long.")
            except OSError as error:
                problems.append(f"{path}: {error.strerror or 'cannot be read'}.")
            else:
                themes[found.name] = found
    return themes, problems


def choose_theme(wanted: str, themes: Mapping[str, ThemeFile], *, no_color: bool) -> tuple[str, str]:
    """The name to use for the `wanted` theme, and a sentence where it is another one.

    An unknown theme, and a terminal-colour theme under NO_COLOR (its texts would be invisible), give
    way to the default.
    """
    fallback = DEFAULT_THEME if DEFAULT_THEME in themes else next(iter(themes), "textual-dark")
    if wanted not in themes:
        return fallback, f"The theme “{wanted}” does not exist; using “{fallback}”."
    if no_color and themes[wanted].ansi:
        return fallback, f"The theme “{wanted}” cannot be read with NO_COLOR set; using “{fallback}”."
    return wanted, ""


def try_theme(theme: Theme, defaults: Mapping[str, str], sheet: Path) -> Exception | None:
    """What goes wrong when a theme is applied, None where nothing does; the program's look is not touched.

    Reads the style `sheet` of the program and those of every kind of widget that is loaded with the
    theme's variables over the `defaults`.
    """
    try:
        trial = Stylesheet(variables={**defaults, **theme.to_color_system().generate(), **theme.variables})
        trial.read(sheet)
        for kind in _kinds(Widget):
            css = kind.__dict__.get("DEFAULT_CSS", "")
            if css:
                trial.add_source(
                    css, read_from=(f"{kind.__module__}.{kind.__qualname__}", ""), is_default_css=True
                )
        trial.parse()
    except StylesheetParseError as error:
        # It can only draw itself; the log file needs words.
        values = {token.value for rule in error.errors.rules for token, _ in rule.errors}
        return ThemeProblem(f"not understood in a style: {', '.join(sorted(values))}")
    except Exception as error:  # Textual's other errors here have no common base.
        return error
    return None


def _kinds(base: type[Widget]) -> Iterator[type[Widget]]:
    yield base
    for kind in base.__subclasses__():
        yield from _kinds(kind)
