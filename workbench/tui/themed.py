"""The program's colours: themes that are shipped, the user's own, and what to do where one cannot be used."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from workbench import locations
from workbench.data import DataMissing, data_folder
from workbench.tui import failures
from workbench.tui.failure_funnel import FailureFunnel
from workbench.tui.themes import DEFAULT_THEME, ThemeFile, choose_theme, load_themes, try_theme, variables_of

if TYPE_CHECKING:
    from textual.notifications import SeverityLevel

_FALLBACK_TOKENS = {
    "ground": "#15161c",
    "raised": "#191c26",
    "line": "#2c303d",
    "cursor": "#232937",
    "cursor_blurred": "#1d212c",
    "ink": "#e6e8ef",
    "body": "#b9bfcd",
    "quiet": "#959cae",
    "faint": "#8c95a8",
    "accent": "#7aa2f7",
    "attention": "#e0af68",
    "broken": "#f7768e",
    "kept": "#9ece6a",
}


class Themed(FailureFunnel, inherit_bindings=False):
    """A program whose themes are files.

    What is wrong with them is kept in `greetings` until there is a screen to say it on.
    """

    CSS_PATH: ClassVar[Path] = Path(__file__).with_name("page.tcss")

    def __init__(self) -> None:
        super().__init__()
        self.themes: dict[str, ThemeFile] = {}
        self.greetings: list[tuple[str, SeverityLevel]] = []
        """What was wrong with the user's files."""
        self._shipped_themes: Path | None = None

    def greet(self, text: str, severity: SeverityLevel = "warning") -> None:
        """Say this once the first screen is there; "" says nothing."""
        if text:
            self.greetings.append((text, severity))

    def read_themes(self) -> tuple[dict[str, ThemeFile], list[str]]:
        """The themes by name, shipped and the user's, and a sentence for each file that is none."""
        folders = [locations.themes_dir()]
        try:
            self._shipped_themes = data_folder("themes")
        except DataMissing as error:
            self.greet(error.message)
        else:
            folders.insert(0, self._shipped_themes)
        return load_themes(folders)

    def apply_themes(self) -> None:
        """Read the themes and apply the one that is wanted."""
        self.themes, problems = self.read_themes()
        for problem in problems:
            self.greet(problem)
        for theme in self.themes.values():
            self.register_theme(theme.theme)
        name, problem = choose_theme(self.state.theme or DEFAULT_THEME, self.themes, no_color=self.no_color)
        self.greet(problem)
        # Shipped themes are known to work; trying one costs a moment of every start.
        if name in self.themes and not self._is_shipped(self.themes[name]):
            name, problem = self._applicable(name)
            self.greet(problem)
        self.theme = name
        self.stylesheet.set_variables(self.get_css_variables())

    def _is_shipped(self, theme: ThemeFile) -> bool:
        return theme.path is not None and theme.path.parent == self._shipped_themes

    def _applicable(self, name: str) -> tuple[str, str]:
        """The theme itself where it can be applied, else the default, with the sentence that says so."""
        error = try_theme(self.themes[name].theme, self.get_theme_variable_defaults(), self.CSS_PATH)
        if error is None:
            return name, ""
        if self.state.theme == name:
            self.state.theme = ""
        fallback, _ = choose_theme(DEFAULT_THEME, self.themes, no_color=self.no_color)
        fallback = fallback if fallback != name else "textual-dark"
        where = failures.write_log(error)
        return fallback, f"The theme “{name}” cannot be applied; using “{fallback}”. {where}"

    def get_theme_variable_defaults(self) -> dict[str, str]:
        """Our tokens for a theme that does not have them: the style sheet must always be readable."""
        return variables_of(_FALLBACK_TOKENS)

    def use_theme(self, name: str) -> None:
        """Change the theme and remember it."""
        chosen, problem = choose_theme(name, self.themes, no_color=self.no_color)
        if problem:
            self.notify(problem, severity="warning")
            return
        self.theme, problem = self._applicable(chosen)
        if problem:
            self.notify(problem, severity="warning")
        else:
            self.state.theme = chosen
        self.save_state()
