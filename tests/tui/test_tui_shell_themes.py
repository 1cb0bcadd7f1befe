"""Themes: readable by measure, and a broken one costs nothing but itself."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
import tomli_w
from rich.color import Color as RichColor
from rich.color import ColorSystem
from rich.terminal_theme import TerminalTheme
from textual.color import Color

from tests.tui.shell_probe import ProbeApp, make_workspace, opened, until
from workbench.data import DataMissing, data_folder
from workbench.tui.themes import (
    DEFAULT_THEME,
    GROUND_TOKENS,
    TEXT_TOKENS,
    TOKENS,
    ThemeFile,
    choose_theme,
    load_themes,
    variables_of,
)

SHIPPED, PROBLEMS = load_themes([data_folder("themes")])

XTERM = TerminalTheme(
    (0, 0, 0),
    (229, 229, 229),
    [
        (0, 0, 0),
        (205, 0, 0),
        (0, 205, 0),
        (205, 205, 0),
        (0, 0, 238),
        (205, 0, 205),
        (0, 205, 205),
        (229, 229, 229),
    ],
    [
        (127, 127, 127),
        (255, 0, 0),
        (0, 255, 0),
        (255, 255, 0),
        (92, 92, 255),
        (255, 0, 255),
        (0, 255, 255),
        (255, 255, 255),
    ],
)


def luminance(rgb: tuple[int, int, int]) -> float:
    def linear(part: int) -> float:
        value = part / 255
        return value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4

    red, green, blue = map(linear, rgb)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(first: tuple[int, int, int], second: tuple[int, int, int]) -> float:
    dark, light = sorted((luminance(first), luminance(second)))
    return (light + 0.05) / (dark + 0.05)


def as_drawn(value: str, way: str, *, ground: bool) -> tuple[int, int, int]:
    color = Color.parse(value)
    rich = color.rich_color
    if color.ansi is not None:
        triplet = rich.get_truecolor(XTERM, foreground=not ground)
        return triplet.red, triplet.green, triplet.blue
    if way == "256 colours":
        triplet = rich.downgrade(ColorSystem.EIGHT_BIT).get_truecolor()
        return triplet.red, triplet.green, triplet.blue
    if way == "greys":
        color = color.monochrome
    return color.r, color.g, color.b


def test_the_shipped_themes_are_whole() -> None:
    assert PROBLEMS == []
    assert {"dark", "light", "high-contrast", "ansi-dark"} <= set(SHIPPED)
    assert SHIPPED[DEFAULT_THEME].theme.dark
    assert [theme.name for theme in SHIPPED.values() if theme.ansi] == ["ansi-dark"]


@pytest.mark.parametrize("way", ["true colour", "256 colours", "greys"])
@pytest.mark.parametrize("theme", SHIPPED.values(), ids=lambda theme: theme.name)
def test_texts_can_be_read_on_every_ground(theme: ThemeFile, way: str) -> None:
    for ground in GROUND_TOKENS:
        below = as_drawn(theme.tokens[ground], way, ground=True)
        for text in TEXT_TOKENS:
            ratio = contrast(as_drawn(theme.tokens[text], way, ground=False), below)
            assert ratio >= 4.5, f"{theme.name}: {text} on {ground} is {ratio:.2f}"


@pytest.mark.parametrize("theme", SHIPPED.values(), ids=lambda theme: theme.name)
def test_selected_text_can_be_read(theme: ThemeFile) -> None:
    if theme.ansi:
        return
    below = as_drawn(theme.tokens["accent"], "true colour", ground=True)
    assert contrast(as_drawn(theme.tokens["ground"], "true colour", ground=False), below) >= 4.5


def written(folder: Path, stem: str, **changes: object) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    data: dict[str, object] = {"name": stem, "colors": dict(SHIPPED["dark"].tokens)} | changes
    path = folder / f"{stem}.toml"
    path.write_text(tomli_w.dumps(data), encoding="utf-8")
    return path


def colors(**changes: str) -> Mapping[str, str]:
    return dict(SHIPPED["dark"].tokens) | changes


def test_a_theme_of_the_user_replaces_a_shipped_one(tmp_path: Path) -> None:
    written(tmp_path, "dark", colors=colors(accent="#ffffff"))
    themes, problems = load_themes([data_folder("themes"), tmp_path, tmp_path / "missing"])
    assert problems == []
    assert themes["dark"].tokens["accent"] == "#ffffff"
    assert len(themes) == len(SHIPPED)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"colors": 3}, "the table [colors] is missing."),
        ({"name": ""}, "“name” must be letters, digits, “-” and “_”."),
        ({"name": "a, b"}, "“name” must be letters, digits, “-” and “_”."),
        ({"dark": "yes"}, "“dark” must be true or false."),
        ({"title": 1}, "“title” must be a text."),
        ({"colors": {"ground": "#000"}}, "colour “raised” is missing."),
        ({"colors": colors(accent="bluish")}, "colour “accent” is no colour: “bluish”."),
        (
            {"colors": colors(accent="ansi_blue")},
            "colour “accent” is a terminal colour; that needs ansi = true.",
        ),
        ({"colors": colors(acent="#fff")}, f"unknown colour “acent”; the names are {', '.join(TOKENS)}."),
    ],
)
def test_a_broken_theme_is_named_with_its_problem(
    tmp_path: Path, changes: dict[str, object], reason: str
) -> None:
    broken = written(tmp_path, "broken", **changes)
    written(tmp_path, "good")
    themes, problems = load_themes([tmp_path])
    assert list(themes) == ["good"]
    assert problems == [f"{broken}: {reason}"]


def test_files_that_are_no_toml_or_no_text_are_named(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text("name = \n", encoding="utf-8")
    (tmp_path / "b.toml").write_bytes(b"\xff\xfe")
    (tmp_path / "c.toml").mkdir()
    (tmp_path / "notes.txt").write_text("no theme", encoding="utf-8")
    themes, problems = load_themes([tmp_path])
    assert themes == {}
    assert "line 1" in problems[0]
    assert problems[1] == f"{tmp_path / 'b.toml'}: is not UTF-8 text."
    assert problems[2] == f"{tmp_path / 'c.toml'}: Is a directory."


def test_numbers_too_long_and_nesting_too_deep_are_named(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text(f"x = {'9' * 5000}\n")
    (tmp_path / "b.toml").write_text(f"x = {'[' * 100_000}\n")
    themes, problems = load_themes([tmp_path])
    assert themes == {}
    assert problems == [
        f"{tmp_path / 'a.toml'}: a number is too long.",
        f"{tmp_path / 'b.toml'}: is nested too deeply.",
    ]


def test_which_theme_is_used() -> None:
    assert choose_theme("light", SHIPPED, no_color=True) == ("light", "")
    name, problem = choose_theme("neon", SHIPPED, no_color=False)
    assert (name, problem) == ("dark", "The theme “neon” does not exist; using “dark”.")
    name, problem = choose_theme("ansi-dark", SHIPPED, no_color=True)
    assert name == "dark"
    assert "NO_COLOR" in problem


def test_every_token_is_a_variable() -> None:
    assert {token.replace("_", "-") for token in TOKENS} <= set(variables_of(SHIPPED["dark"].tokens))


def test_missing_shipped_data_is_named() -> None:
    with pytest.raises(DataMissing, match="no such folder"):
        data_folder("no such folder")


async def test_a_broken_and_an_unknown_theme_become_toasts(tmp_path: Path) -> None:
    broken = written(tmp_path / "config" / "themes", "broken", colors={})
    app = ProbeApp(make_workspace(tmp_path / "w"))
    async with app.run_test() as pilot:
        await opened(pilot, app)
        app.use_theme("light")
    app = ProbeApp(tmp_path / "w")
    assert app.theme == "light", "the theme is remembered"
    app.state.theme = "neon"
    app.save_state()

    app = ProbeApp(tmp_path / "w")
    async with app.run_test(notifications=True) as pilot:
        await opened(pilot, app)
        assert app.theme == "dark"
        texts = [toast.message for toast in app._notifications]
        assert f"{broken}: colour “ground” is missing." in texts
        assert "The theme “neon” does not exist; using “dark”." in texts


@pytest.mark.parametrize("name", sorted(SHIPPED))
async def test_no_cell_hides_its_text_under_no_color(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    app = ProbeApp(make_workspace(tmp_path / "w"))
    async with app.run_test(size=(100, 30)) as pilot:
        await opened(pilot, app)
        app.use_theme(name)
        await until(pilot, lambda: app.theme == ("dark" if name == "ansi-dark" else name))
        await pilot.pause()
        for strip in app.screen._compositor.render_strips():
            for text, style, _ in strip:
                if text.strip(" ▐▌│┃█") and style is not None and style.color and style.bgcolor:
                    assert style.color != style.bgcolor, text
                    assert style.color.get_truecolor() != style.bgcolor.get_truecolor(), text
                    assert is_grey(style.color), text


def is_grey(color: RichColor) -> bool:
    triplet = color.get_truecolor()
    return triplet.red == triplet.green == triplet.blue
