"""Markdown gets a look; no text is lost and nothing in it acts."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from tests.tui.hostile_text import HOSTILE, unseen
from workbench.tui.document import Document, DocumentLine, Verbatim
from workbench.tui.markdown_lines import LIMIT, markdown_blocks


def lines(text: str, width: int = 40) -> list[DocumentLine]:
    document = Document(markdown_blocks(text))
    if not document:
        return []
    found: list[DocumentLine] = []
    place = document.first()
    while True:
        found += document.lines(place, width)
        following = document.next(place)
        if following is None:
            return found
        place = following


def drawn(text: str, width: int = 40) -> list[str]:
    return [line.text.rstrip() for line in lines(text, width)]


def test_what_markdown_looks_like() -> None:
    text = """# Plan
Some **bold** and `code`,
second line. See [the docs](https://example.org/a).

- one
- two that is longer than the width of this pane
  1. nested
  2. again

> quoted words that are wrapped over two lines

```python
def f(): pass
```
---
end"""
    assert drawn(text) == [
        "Plan",
        "",
        "Some bold and code,",
        "second line. See the docs",
        "(https://example.org/a).",
        "",
        "• one",
        "• two that is longer than the width of",
        "  this pane",
        "  1. nested",
        "  2. again",
        "",
        "│ quoted words that are wrapped over two",
        "│ lines",
        "",
        "  python",
        "  def f(): pass",
        "",
        "────────────────────────",
        "",
        "end",
    ]


def test_roles_of_words() -> None:
    (line,) = lines("plain **bold** `code`")
    assert [(span.text, span.role) for span in line.line] == [
        ("plain ", "text"),
        ("bold", "strong"),
        (" ", "text"),
        ("code", "ink"),
    ]


def test_links_images_and_html_are_text() -> None:
    assert drawn("[x](javascript:alert(1))", 60) == ["[x](javascript:alert(1))"]
    assert drawn("<https://example.org>", 60) == ["https://example.org"]
    assert drawn("![a cat](file:///etc/passwd)", 60) in (
        ["[image: a cat] (file:///etc/passwd)"],
        ["![a cat](file:///etc/passwd)"],
    )
    assert drawn("<b onclick=x>hi</b> there", 60) == ["<b onclick=x>hi</b> there"]
    assert drawn("<div>\nblock\n</div>", 60) == ["<div>", "block", "</div>"]


def test_what_a_page_would_hide_is_shown() -> None:
    assert drawn('[x](http://a "title")', 60) == ["x (http://a “title”)"]
    assert drawn("[ref]: http://a 'words'", 60) == ["[ref]: http://a 'words'"]
    assert drawn("~~~ words\ncode\n~~~", 60) == ["  words", "  code"]
    assert drawn("a <!-- words --> b", 60) == ["a <!-- words --> b"]
    deep = "> " * 70 + "words"
    assert "words" in " ".join(drawn(deep, 200))


def test_a_long_text_is_shown_as_it_is() -> None:
    text = "**x** " * LIMIT
    assert markdown_blocks(text) == [Verbatim(text, role="text")]


@given(
    st.one_of(
        st.text(),
        st.lists(
            st.sampled_from(
                [*HOSTILE, "# ", "- ", "1. ", "> ", "\n", "\n\n", "```\n", "    ", "**", "[a](b)", "`"]
            )
        ).map("".join),
    ),
    st.integers(8, 60),
)
def test_any_text_is_drawn(text: str, width: int) -> None:
    for line in lines(text, width):
        assert cell_len(line.text) <= width
        assert unseen(line.text) == []


@given(st.lists(st.text("abcdefghij ", min_size=1).filter(str.strip), min_size=1))
def test_words_are_kept(paragraphs: list[str]) -> None:
    words = " ".join(paragraphs).split()
    assert " ".join(drawn("\n\n".join(paragraphs), 60)).split() == words or any(
        part.startswith("    ") for part in paragraphs
    )
