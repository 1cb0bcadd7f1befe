"""Markdown as blocks of a document: headings, lists, quotes and code get a look, nothing gets a meaning.

Links are shown as text with their address behind it and do nothing; images and HTML are shown as what
was written. Lines keep their breaks, so that what is no Markdown still looks as it was typed.
"""

from __future__ import annotations

from collections.abc import Sequence

from markdown_it import MarkdownIt
from markdown_it.token import Token

from workbench.tui.document import Blank, Block, Paragraph, Verbatim
from workbench.tui.present import Line, Role, Span

LIMIT = 200_000
"""Characters up to which a text is read as Markdown; a longer one is shown as it is."""
_DEEPEST = 12
"""Levels of lists and quotes that are indented; deeper ones stand with these."""

_BRACKETS = 5_000
"""Opening brackets up to which a text is parsed: what follows each of them is looked at again and again."""
_NESTING = 60
"""Levels that the parser follows; it leaves out what is deeper, so a text that deep is shown as it is."""

# Definitions of references would vanish from what is shown; without the rule they stay as text.
_PARSER = MarkdownIt("commonmark", {"maxNesting": _NESTING}).disable("reference")


def markdown_blocks(text: str) -> list[Block]:
    """The blocks that show a Markdown text."""
    as_it_is: list[Block] = [Verbatim(text, role="text")]
    if len(text) > LIMIT or text.count("[") > _BRACKETS:
        return as_it_is
    tokens = _PARSER.parse(text)
    if any(token.level >= _NESTING - 2 for token in tokens):
        return as_it_is
    writer = _Writer()
    for token in tokens:
        writer.take(token)
    return writer.blocks


class _Writer:
    """Turns block tokens into blocks, with the indents and marks of the lists and quotes that are open."""

    def __init__(self) -> None:
        self.blocks: list[Block] = []
        self._lists: list[int | None] = []
        """For each open list the number of the next item; None where items have no numbers."""
        self._quotes = 0
        self._mark: Span | None = None
        self._heading = 0
        self._loose = True

    def take(self, token: Token) -> None:
        kind = token.type
        if kind in ("bullet_list_open", "ordered_list_open"):
            start = token.attrGet("start")
            self._lists.append(None if kind[0] == "b" else int(start) if start is not None else 1)
        elif kind in ("bullet_list_close", "ordered_list_close"):
            self._lists.pop()
        elif kind == "list_item_open":
            number = self._lists[-1]
            self._mark = Span("•" if number is None else f"{number}.", "accent")
            if number is not None:
                self._lists[-1] = number + 1
        elif kind == "list_item_close":
            self._mark = None
        elif kind == "blockquote_open":
            self._quotes += 1
        elif kind == "blockquote_close":
            self._quotes -= 1
        elif kind == "heading_open":
            self._heading = int(token.tag[1:])
        elif kind == "heading_close":
            self._heading = 0
        elif kind == "paragraph_open":
            self._loose = not token.hidden
        elif kind == "inline":
            self._add_text(_inline(token.children or (), self._text_role()))
        elif kind in ("fence", "code_block"):
            self._space()
            if token.info.strip():
                self.blocks.append(Paragraph(token.info.strip(), indent=self._indent() + 2, role="faint"))
            self.blocks.append(Verbatim(token.content.rstrip("\n"), indent=self._indent() + 2))
        elif kind == "hr":
            self._space()
            self.blocks.append(Paragraph("─" * 24, indent=self._indent(), role="faint"))
        elif kind == "html_block":
            self._space()
            self.blocks.append(Verbatim(token.content.rstrip("\n"), role="dim", indent=self._indent()))

    def _text_role(self) -> Role:
        if self._heading:
            return "heading" if self._heading <= 2 else "strong"
        return "dim" if self._quotes else "text"

    def _indent(self) -> int:
        return 2 * min(_DEEPEST, len(self._lists) + self._quotes)

    def _space(self) -> None:
        if self.blocks:
            self.blocks.append(Blank())

    def _add_text(self, lines: list[Line]) -> None:
        in_tight_list = bool(self._lists) and not self._loose
        follows_item = bool(self.blocks) and isinstance(self.blocks[-1], Paragraph) and self.blocks[-1].mark
        if not (in_tight_list and follows_item):
            self._space()
        mark, self._mark = self._mark, None
        for line in lines:
            if mark is not None:
                indent = 2 * min(_DEEPEST, len(self._lists) - 1 + self._quotes)
                self.blocks.append(Paragraph(line, mark, indent))
                mark = None
            elif self._quotes:
                depth = min(_DEEPEST, self._quotes)
                bar = Span("│ " * (depth - 1) + "│", "faint")
                self.blocks.append(Paragraph(line, bar, 2 * min(_DEEPEST, len(self._lists)), every_line=True))
            else:
                self.blocks.append(Paragraph(line, indent=self._indent()))


def _inline(tokens: Sequence[Token], base: Role) -> list[Line]:
    """The lines of a paragraph; one line per line that was written."""
    lines: list[list[Span]] = [[]]
    strong = 0
    targets: list[str] = []
    for token in tokens:
        role: Role = "strong" if strong and base in ("text", "dim") else base
        match token.type:
            case "softbreak" | "hardbreak":
                lines.append([])
            case "strong_open" | "em_open":
                strong += token.type == "strong_open"
            case "strong_close":
                strong -= 1
            case "code_inline":
                lines[-1].append(Span(token.content, "ink" if base == "text" else role))
            case "link_open":
                targets.append(_target(token, "href"))
            case "link_close":
                target = targets.pop() if targets else ""
                said = "".join(span.text for span in lines[-1])
                if target and not said.endswith(target):
                    lines[-1].append(Span(f" ({target})", "dim"))
            case "image":
                lines[-1].append(Span(f"[image: {token.content}] ({_target(token, 'src')})", "dim"))
            case _:
                if token.content:
                    lines[-1].append(Span(token.content, role))
    return [tuple(line) or (Span("", base),) for line in lines]


def _target(token: Token, attribute: str) -> str:
    """The address of a link or image with its title, which a page would hide."""
    title = token.attrGet("title")
    return f"{token.attrGet(attribute) or ''}" + (f" “{title}”" if title else "")
