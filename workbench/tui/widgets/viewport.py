"""Which lines of a run of rows of different heights are on the screen."""

from __future__ import annotations

from collections.abc import Callable


class Viewport:
    """Which lines of a run of rows are on the screen, and which row has the cursor.

    The place is an anchor, a row and a line in it, so that every depth costs the same; heights are asked
    for around the anchor only. `rows` is how many there are, `height_of` a row's number of lines, 1 or
    more.
    """

    def __init__(self, rows: Callable[[], int], height_of: Callable[[int], int]) -> None:
        self._rows = rows
        self._height_of = height_of
        self.lines = 0
        """Lines of the screen that rows may take."""
        self.top = 0
        self.offset = 0
        """Lines of the top row that are above the screen."""
        self.cursor = 0

    def place(self, cursor: int, top: int | None = None, offset: int = 0) -> None:
        """Put the cursor, and the first line, somewhere."""
        last = max(0, self._rows() - 1)
        self.cursor = max(0, min(cursor, last))
        if top is not None:
            self.top, self.offset = max(0, min(top, last)), offset

    def shift(self, rows: int) -> None:
        """Follow rows that were put before (or, negative, taken from) the front."""
        self.top = max(0, self.top + rows)
        self.cursor = max(0, self.cursor + rows)

    def shown(self) -> list[tuple[int, int]]:
        """(row, line of the row) for each line on the screen, as far as there are rows."""
        shown: list[tuple[int, int]] = []
        at, line = self.top, self.offset
        while len(shown) < self.lines and at < self._rows():
            height = self._height_of(at)
            shown.extend((at, each) for each in range(line, min(height, line + self.lines - len(shown))))
            at, line = at + 1, 0
        return shown

    def settle(self) -> None:
        """Keep the anchor within its row, and no empty lines below the last row while rows are above."""
        if not self._rows():
            self.top = self.offset = self.cursor = 0
            return
        self.top = min(self.top, self._rows() - 1)
        self.cursor = min(self.cursor, self._rows() - 1)
        self.offset = max(0, min(self.offset, self._height_of(self.top) - 1))
        missing = self.lines - len(self.shown())
        if missing > 0:
            self._up(missing)

    def begin_whole(self) -> None:
        """Begin the screen with the first line of its first row, where the row is not taller than it."""
        if self.offset and self._height_of(self.top) <= self.lines:
            self.offset = 0

    def scroll(self, lines: int) -> int:
        """Move the screen down (or, negative, up); the result is by how many lines it moved."""
        if lines < 0:
            return -self._up(-lines)
        moved = 0
        below = self._below(lines)
        for _ in range(min(lines, below)):
            self.offset += 1
            moved += 1
            if self.offset >= self._height_of(self.top):
                self.top, self.offset = self.top + 1, 0
        return moved

    def reveal(self) -> None:
        """Move the screen as little as shows the whole row under the cursor, or else its start."""
        if not self._rows():
            return
        if self.cursor < self.top or (self.cursor == self.top and self.offset):
            self.top, self.offset = self.cursor, 0
            return
        height = self._height_of(self.cursor)
        if height >= self.lines:
            self.top, self.offset = self.cursor, 0
            return
        # Far jumps measure the rows above the cursor only.
        used, at = height, self.cursor
        while at > self.top and used < self.lines:
            at -= 1
            used += self._height_of(at)
        if used - (self.offset if at == self.top else 0) > self.lines or at > self.top:
            self.top, self.offset = at, max(0, used - self.lines)

    def line_of_cursor(self) -> int | None:
        """The first line on the screen that shows the cursor's row, if one does."""
        return next((y for y, (at, _) in enumerate(self.shown()) if at == self.cursor), None)

    def pull_cursor(self) -> None:
        """Bring the cursor to the nearest row on the screen."""
        shown = self.shown()
        if shown:
            self.cursor = max(shown[0][0], min(self.cursor, shown[-1][0]))

    def hidden_below(self) -> int:
        """Lines of the cursor's row below the screen."""
        shown = self.shown()
        if not shown or shown[-1][0] != self.cursor:
            return 0
        return self._height_of(self.cursor) - 1 - shown[-1][1]

    def hidden_above(self) -> int:
        """Lines of the cursor's row above the screen."""
        return self.offset if self.cursor == self.top else 0

    def _up(self, lines: int) -> int:
        moved = 0
        while moved < lines:
            if self.offset == 0:
                if self.top == 0:
                    break
                self.top -= 1
                self.offset = self._height_of(self.top)
            step = min(self.offset, lines - moved)
            self.offset -= step
            moved += step
        return moved

    def _below(self, enough: int) -> int:
        """Lines below the screen, counted up to `enough`."""
        shown = self.shown()
        if len(shown) < self.lines or not shown:
            return 0
        at, line = shown[-1]
        below = self._height_of(at) - 1 - line
        while below < enough and at + 1 < self._rows():
            at += 1
            below += self._height_of(at)
        return below
