"""Where a list's cursor was before the past was shown: coming back to now comes back to it."""

from __future__ import annotations

from typing import Generic, TypeVar

At = TypeVar("At")


class PlaceKept(Generic[At]):
    """Remembers a place over a journey in time, until the person moves the cursor and so chooses another.

    A row may not have been there yet at the moment that is shown: the list then puts its cursor elsewhere,
    which is nobody's wish.
    """

    def __init__(self) -> None:
        self._away = False
        self._home: At | None = None
        self._put: At | None = None
        self._waits = False

    def travelled(self, cursor: At | None, at: At | None, *, now: bool) -> At | None:
        """The place to open the list at, as another moment is shown.

        `cursor` is what the cursor is on, `at` the same as the list is opened there (None: at its start);
        `now` says that the moment is now.
        """
        if not self._away or (not self._waits and cursor != self._put):
            self._home = at
        self._away = not now
        self._waits = self._away
        return self._home

    def arrived(self, cursor: At | None) -> None:
        """The cursor is on this; of a list that was opened anew the first is where it was put."""
        if self._waits:
            self._waits, self._put = False, cursor
