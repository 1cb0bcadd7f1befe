"""Syntax colours of a text, made where somebody looks: by the file's name, never by what the text says."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from pathlib import PurePath
from time import thread_time
from typing import TYPE_CHECKING, Any

from workbench.tui.present import Line, Role, Span

if TYPE_CHECKING:
    from pygments.lexer import Lexer

STRIDE = 16_384
"""Characters that may lie between what was read and what is wanted; beyond, reading begins anew near by."""
LONGEST_LINE = 2_000
"""A longer line is drawn plainly: it is data, and a lexer's patterns may take very long for it."""
SLOW_SECONDS = 0.25
"""A text that takes so much processor time for one line is drawn plainly from then on."""
_BEFORE = 4_096
"""Characters before the wanted place at which reading begins anew."""

_NAMES = {
    "python": "py pyi pyw",
    "json": "json jsonl ndjson ipynb",
    "toml": "toml",
    "yaml": "yaml yml",
    "ini": "ini cfg conf",
    "sql": "sql",
    "bash": "sh bash zsh",
    "javascript": "js mjs cjs jsx",
    "typescript": "ts tsx",
    "html": "html htm",
    "xml": "xml svg",
    "css": "css",
    "rust": "rs",
    "go": "go",
    "c": "c h",
    "cpp": "cc cpp hpp",
    "java": "java",
    "ruby": "rb",
    "diff": "diff patch",
    "make": "mk",
}
_LEXERS = {extension: lexer for lexer, extensions in _NAMES.items() for extension in extensions.split()}
_FILES = {"makefile": "make", "dockerfile": "docker"}
MARKDOWN = frozenset(("md", "markdown"))


def extension_of(path: str) -> str:
    """The extension of a file's name, folded and without its dot."""
    return PurePath(path).suffix.lstrip(".").casefold()


def language_of(path: str) -> str:
    """What a file of this name is written in, as its lexer is called; empty where nobody colours it."""
    return _FILES.get(PurePath(path).name.casefold()) or _LEXERS.get(extension_of(path), "")


_loaded: dict[str, Lexer] = {}


def lacks_lexer(language: str) -> bool:
    """Whether a language has a lexer that is not loaded yet."""
    return bool(language) and language not in _loaded


def load_lexer(language: str) -> bool:
    """Load a language's lexer, on a worker: the first time takes a while. Whether it was loaded now."""
    if not lacks_lexer(language):
        return False
    from pygments.lexers import get_lexer_by_name

    _loaded[language] = get_lexer_by_name(language)
    return True


class Colours:
    """The roles of a text's pieces. Reading goes on where it stopped; a far jump begins anew near by.

    For the UI thread: what one screen asks costs some milliseconds; what costs more than `SLOW_SECONDS` is
    the last that is coloured. All is plain until the lexer is loaded.
    """

    def __init__(self, text: str, language: str) -> None:
        self._text = text
        self._language = language
        self._stretch: _Stretch | None = None
        self.too_slow = False
        """Whether colours were given up."""

    def line(self, start: int, end: int) -> Line:
        """The text from `start` to `end`, within one line, in pieces with their roles."""
        text = self._text[start:end]
        plain: Line = (Span(text, "code"),)
        lexer = _loaded.get(self._language)
        if not text or lexer is None or self.too_slow or self._is_long(start):
            return plain
        began = thread_time()
        stretch = self._stretch
        if stretch is None or not stretch.start <= start <= stretch.upto + STRIDE:
            stretch = self._stretch = self._begun_near(lexer, start)
        pieces = stretch.pieces(start, end)
        self.too_slow = thread_time() - began > SLOW_SECONDS
        return pieces or plain

    def _is_long(self, start: int) -> bool:
        low = self._text.rfind("\n", max(0, start - LONGEST_LINE), start)
        high = self._text.find("\n", start, start + LONGEST_LINE)
        low = low if low >= 0 else (start - LONGEST_LINE if start > LONGEST_LINE else 0)
        high = high if high >= 0 else min(len(self._text), start + LONGEST_LINE)
        return high - low > LONGEST_LINE

    def _begun_near(self, lexer: Lexer, start: int) -> _Stretch:
        begin = 0 if start <= STRIDE else self._text.rfind("\n", 0, start - _BEFORE) + 1
        return _Stretch(lexer, self._text, begin)


class _Stretch:
    """Tokens from one place of a text on, read as far as they were asked for."""

    def __init__(self, lexer: Lexer, text: str, start: int) -> None:
        self._text = text
        self.start = start
        self.upto = start
        self._starts: list[int] = []
        self._roles: list[Role] = []
        self._tokens = self._read(lexer)

    def _read(self, lexer: Lexer) -> Iterator[None]:
        # A lexer copies nothing, but some look far ahead: what they see ends a while behind.
        at = self.start
        while at < len(self._text):
            ends = self._text.rfind("\n", at, at + 4 * STRIDE) + 1
            end = len(self._text) if at + 4 * STRIDE >= len(self._text) or ends <= at else ends
            for place, token, said in lexer.get_tokens_unprocessed(self._text[at:end]):
                self._starts.append(at + place)
                self._roles.append(role_of(token))
                self.upto = at + place + len(said)
                yield
            at = self.upto = end

    def pieces(self, start: int, end: int) -> Line:
        """What is between two places, in pieces."""
        while self.upto < end and next(self._tokens, 0) is None:
            pass
        spans: list[Span] = []
        number = max(0, bisect_right(self._starts, start) - 1)
        at = start
        while at < end and number < len(self._starts):
            following = self._starts[number + 1] if number + 1 < len(self._starts) else self.upto
            stop = min(end, max(following, at))
            if stop > at:
                spans.append(Span(self._text[at:stop], self._roles[number]))
                at = stop
            number += 1
        if at < end:
            spans.append(Span(self._text[at:end], "code"))
        return tuple(spans)


def role_of(token: Any) -> Role:
    """The role of one of Pygments' kinds of token: a few looks are enough to read by."""
    from pygments.token import Comment, Generic, Keyword, Name, Number, String

    if token in Comment or token in String.Doc:
        return "dim"
    if token in String:
        return "success"
    if token in Name.Tag or token in Name.Attribute:
        return "key"
    if token in Keyword or token in Name.Decorator:
        return "accent"
    if token in Name.Function or token in Name.Class or token in Generic.Heading:
        return "strong"
    if token in Number or token in Name.Builtin or token in Name.Constant:
        return "ink"
    if token in Generic.Inserted:
        return "success"
    if token in Generic.Deleted:
        return "error"
    return "code"
