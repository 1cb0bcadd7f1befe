"""What the Redactions screen says above its list, in it while it is empty, and before a scrub."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from textual.strip import Strip

from workbench.tui.document import Blank, Block, Heading, Paragraph, note
from workbench.tui.in_shell import filling_blocks, filling_lines
from workbench.tui.present import Line, Span, counted, fit_line, number, wrap
from workbench.tui.redactions.detail import CopyFile
from workbench.tui.widgets.drawn import DrawnWidget
from workbench.workspace.redactions.outcomes import path_in
from workbench.workspace.rows import RedactionFilter

_MOST_LINES = 3
_NAMED = 4
FILLING = (
    ("workbench import claude-code", "imports transcripts"),
    ("workbench redactions test", "tries the filter on a text"),
    ("workbench redactions rescan", "looks through what is stored"),
)
"""Commands that have to do with an empty screen, and what each does."""


class StoredState(NamedTuple):
    """What of the stored text needs a person."""

    unseen: int
    """Events that today's filter has not seen."""
    found: int
    """Secrets that the last rescan found and no scrub has removed."""
    unfinished: int
    """Steps of a scrub that are still open."""


def hint_text(state: StoredState | None, rescan: str, scrub: str) -> str:
    """What needs a person, and the key that helps; "" where nothing does. No key: it cannot be done now."""
    if state is None:
        return ""
    if state.unfinished:
        return "A scrub was cut short." + (f" {scrub} completes it." if scrub else "")
    if state.unseen:
        were = "event was" if state.unseen == 1 else "events were"
        text = f"The filter's rules changed: {number(state.unseen)} {were} stored before."
        return text + (f" {rescan} looks through what is stored." if rescan else "")
    if state.found:
        text = f"The last rescan found {counted(state.found, 'secret')} in what is stored."
        return text + (f" {scrub} takes them out." if scrub else "")
    return ""


class HintLine(DrawnWidget):
    """One thing that needs a person, wrapped; nothing where there is none."""

    DEFAULT_CSS = """
    HintLine { height: 1; width: 1fr; margin: 0 0 1 0; display: none; }
    HintLine.-set { display: block; }
    """

    def __init__(self, *, css_id: str) -> None:
        super().__init__(id=css_id)
        self.text = ""

    def show(self, text: str) -> None:
        """Say this from now on."""
        if text != self.text:
            self.text = text
            self.set_class(bool(text), "-set")
            self._fit()

    def on_resize(self) -> None:
        """Another width may need another number of lines."""
        self._fit()

    def _lines(self) -> list[str]:
        return list(wrap(self.text, max(8, self.size.width - 4)))[:_MOST_LINES]

    def _fit(self) -> None:
        if self.size.width:
            self.styles.height = max(1, len(self._lines()))
        self.refresh()

    def render_line(self, y: int) -> Strip:
        """One line."""
        width, lines = self.size.width, self._lines()
        text = lines[y] if y < len(lines) else ""
        mark = Span(" ! " if y == 0 else "   ", "warning")
        return self.strip(fit_line((mark, Span(text, "ink")), width), width)


def empty_lines(wanted: RedactionFilter, clear: str, pad: str, root: Path) -> Sequence[Line]:
    """What an empty list says; `clear` and `pad` are the keys that clear the filter and open the pad."""
    if wanted != RedactionFilter():
        lines: list[Line] = [(), (Span("  No redaction matches the filter", "strong"),)]
        if wanted.text:
            lines.append((Span("  Words are looked for in kind,", "dim"),))
            lines.append((Span("  field, actor and stream.", "dim"),))
        return (*lines, (Span(f"  {clear}", "accent"), Span(" shows every redaction again.", "dim")))
    return (
        (),
        (Span("  Nothing was removed yet", "strong"),),
        (),
        (Span(f"  {pad}", "accent"), Span("  tries the filter on a text", "text")),
        (),
        *filling_lines(FILLING, root),
    )


def guidance(root: Path) -> list[Block]:
    """What the detail says while there is no redaction."""
    return [
        Heading("Nothing here yet", role="strong"),
        Blank(),
        Paragraph(
            "Whatever is recorded or imported passes the secret filter before it is stored. What the filter "
            "takes out is listed here: what kind of secret, how many, and where. The secret itself is gone."
        ),
        Blank(),
        Heading("In a shell"),
        *filling_blocks(FILLING, root),
    ]


def scrub_blocks(
    files: Sequence[CopyFile],
    state: StoredState | None,
    known: Mapping[Path, bool | None],
    root: Path,
) -> list[Block]:
    """What a scrub of the workspace at `root` will do, the backups that it leaves alone first.

    `known` says of those that were looked into whether they hold some; None: they cannot be read.
    """
    blocks: list[Block] = [
        Paragraph((Span("What today's filter finds in stored text is taken out for good.", "strong"),)),
        *_backups_kept(files, known, root),
        Blank(),
    ]

    def say(text: str) -> None:
        blocks.append(Paragraph(text, Span("·", "accent")))

    if state is not None and state.unfinished:
        say("A scrub that was cut short is completed first.")
    say("Events are rewritten: they keep their position, id and times, and their text gets markers.")
    say("Artifacts, exports and logs that hold some are written anew; an artifact gets another digest.")
    say("Other programs wait with their writes until it is done. Until it writes, it can be stopped.")
    say("What was taken out is listed on this screen, marked S.")
    return blocks


def _backups_kept(
    files: Sequence[CopyFile], known: Mapping[Path, bool | None], root: Path
) -> Iterable[Block]:
    if not files:
        yield note("There are no backups in the workspace.")
        return
    kept = [each for each in files if known.get(each.path) is not False]
    if not kept:
        yield note(
            f"{counted(len(files), 'backup')} stay as they are: they hold nothing that it takes out."
            if len(files) > 1
            else "The backup stays as it is: it holds nothing that a scrub takes out."
        )
        return
    sure = all(known.get(each.path) for each in kept)
    many = f"{number(len(kept))} backups stay as they are and {'keep' if sure else 'may keep'} the old text:"
    one = f"One backup stays as it is and {'keeps' if sure else 'may keep'} the old text:"
    yield Paragraph((Span(many if len(kept) > 1 else one, "ink"),), Span("!", "warning"))
    yield from (Paragraph(path_in(root, each.path), indent=2) for each in kept[:_NAMED])
    if len(kept) > _NAMED:
        yield note(f"and {number(len(kept) - _NAMED)} more", indent=2)
