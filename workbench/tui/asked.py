"""What the reasons of actions ask of the program: small shapes, so that the registry knows no screen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from workbench.tui.access import Access
    from workbench.tui.copying import CopyChoice


class HasAccess(Protocol):
    """A program that holds a workspace, or cannot."""

    @property
    def access(self) -> Access:
        """The hold on the workspace."""
        ...


class Copied(Protocol):
    """A screen from which something can be copied."""

    def copy_choices(self) -> Sequence[CopyChoice]:
        """The forms in which what is under the cursor can be copied."""
        ...


class HasPage(Protocol):
    """A program that shows a screen, or none yet."""

    @property
    def page(self) -> Copied | None:
        """The screen that is shown, under any dialog."""
        ...
