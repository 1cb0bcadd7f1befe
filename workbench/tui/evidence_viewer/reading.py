"""What the evidence viewer reads on a thread: the item, and its copy made ready to be drawn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from textual.message import Message

from workbench.drawing.hex_dump import WIDE, hex_lines
from workbench.tui.document import Blank, Block, Fields, Paragraph, Verbatim, note
from workbench.tui.evidence_viewer.colours import MARKDOWN, Colours, extension_of, language_of, load_lexer
from workbench.tui.evidence_viewer.picture import Picture, picture_of
from workbench.tui.evidence_viewer.source_document import LineIndex
from workbench.tui.present import Line, Span, counted, number, size
from workbench.workspace.artifact_state import HEAD, Artifact
from workbench.workspace.evidence_item import EvidenceItem, evidence_item

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from re import Pattern

    from workbench.tui.sessions.found_words import HitPlace
    from workbench.workspace import Workspace
    from workbench.workspace.evidence_disk import OnDisk


class Asked(NamedTuple):
    """What the viewer was opened for."""

    sha256: str = ""
    path: str = ""
    position: int | None = None
    ordinal: int | None = None
    """Which of the files of that event; None: the first that fits."""


@dataclass(frozen=True, slots=True)
class Source:
    """A text, with what drawing it needs."""

    text: str
    index: LineIndex
    colours: Colours
    language: str
    """As its lexer is called; empty for plain text."""


class Body(NamedTuple):
    """A copy made ready to be drawn; nothing in it where there is no copy."""

    source: Source | None = None
    markdown: tuple[Block, ...] | None = None
    """The text as Markdown; None for other texts."""
    picture: Picture | None = None
    remark: str = ""
    """Why an image is not drawn."""


class ItemRead(Message, bubble=False):
    """The item was read."""

    def __init__(self, item: EvidenceItem, body: Body) -> None:
        super().__init__()
        self.item = item
        self.body = body


class ColoursLoaded(Message, bubble=False):
    """The text can be drawn in colours now."""


class DiskRead(Message, bubble=False):
    """The file on the disk was looked at."""

    def __init__(self, item: EvidenceItem, found: OnDisk) -> None:
        super().__init__()
        self.item = item
        self.found = found


class HitsFound(Message, bubble=False):
    """A text was searched: where the words stand in the side that is shown."""

    def __init__(self, turn: int, words: Pattern[str] | None, places: Sequence[HitPlace]) -> None:
        super().__init__()
        self.turn = turn
        self.words = words
        self.places = places


def read_item(workspace: Workspace, asked: Asked, *, pictures: bool) -> tuple[EvidenceItem, Body]:
    """Read an item and its copy; `pictures` says whether an image is decoded. Raises what reading raises."""
    reader = workspace.readers.evidence
    item = evidence_item(workspace.evidence, reader, **asked._asdict())
    copy = item.copy
    if copy is None:
        return item, Body()
    path = item.row.path if item.row is not None else asked.path
    if copy.text is not None:
        language = language_of(path)
        # The newline at the end ends the last line; it begins none.
        text = copy.text.removesuffix("\n").removesuffix("\r")
        source = Source(text, LineIndex(text), Colours(text, language), language)
        if extension_of(path) in MARKDOWN:
            from workbench.tui.markdown_lines import markdown_blocks

            return item, Body(source, tuple(markdown_blocks(copy.text)))
        return item, Body(source)
    if copy.image is not None and pictures and copy.status == "archived":
        picture, remark = picture_of(workspace.evidence.path(copy.digest), copy.image)
        return item, Body(picture=picture, remark=remark)
    return item, Body()


def load_colours(language: str, tell: Callable[[Message], None]) -> None:
    """Load a language's lexer, and tell that it is there unless it was before."""
    if load_lexer(language):
        tell(ColoursLoaded())


def bytes_blocks(copy: Artifact, width: int, remark: str) -> list[Block]:
    """What is no text: what it is, an image's own words, and its first bytes."""
    rows: list[tuple[str, str | Line]] = [("kind", copy.kind), ("size", size(copy.size or 0))]
    image = copy.image
    if image is not None:
        if image.width is not None and image.height is not None:
            rows.append(("pixels", f"{number(image.width)} × {number(image.height)}"))
        if image.colours:
            rows.append(("colours", image.colours))
    blocks: list[Block] = [Fields(rows)]
    if remark:
        blocks += [Blank(), note(remark)]
    blocks.append(Blank())
    for offset, digits, text in hex_lines(copy.head, 16 if width >= WIDE else 8):
        blocks.append(
            Paragraph((Span(f"{offset}  ", "faint"), Span(digits, "code"), Span(f"  {text}", "ink")))
        )
    rest = (copy.size or 0) - len(copy.head)
    if rest > 0 and len(copy.head) == HEAD:
        blocks += [Blank(), note(f"and {counted(rest, 'more byte')}")]
    return blocks


def text_note(copy: Artifact, source: Source) -> str:
    """`utf-8 · python · 120 lines`: what a text is, for the line of the tabs."""
    parts = [copy.encoding, source.language, counted(len(source.index), "line")]
    if not copy.exact:
        parts.append("some bytes spelled out")
    if source.colours.too_slow:
        parts.append("colours off: too slow")
    return " · ".join(part for part in parts if part)


def empty_blocks() -> list[Block]:
    """Of a file of no bytes."""
    return [note("The file is empty: 0 bytes.")]


def plain_blocks(text: str) -> list[Block]:
    """A text without its look, where only a search asks."""
    return [Verbatim(text)]
