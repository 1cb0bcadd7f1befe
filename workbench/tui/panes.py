"""Two panes and their sizes: which of them is shown, which has the keys, and how much room each has."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.widget import Widget

from workbench.tui.actions import LIST, PANE
from workbench.tui.shell import Shell
from workbench.tui.sized_screen import SizedScreen
from workbench.tui.sizes import FORMS, SHARES, form_of
from workbench.tui.widgets.virtual_list import VirtualList

if TYPE_CHECKING:
    from textual import events


class Panes(SizedScreen[None], inherit_bindings=False):
    """A screen with a list in `#list-pane` and the detail of its row in `#detail-pane`."""

    LIST_SHARE: ClassVar[int] = 40
    """The list's part of the width in percent, until a person changes it."""

    app: Shell

    def __init__(self, css_id: str) -> None:
        super().__init__(id=css_id)
        self._ready = False
        self._share = self.LIST_SHARE
        self._showing_detail = False
        self._last_focused: Widget | None = None

    def update_footer(self) -> None:
        """Draw the footer: other keys are live now."""

    @property
    def side_by_side(self) -> bool:
        """Whether list and detail are seen together."""
        return not (
            self.has_class("-narrow") or self.has_class("-only-list") or self.has_class("-only-detail")
        )

    def show_detail(self, *, focus: bool = True) -> None:
        """Go into the detail: show it where it is a page of its own, and give it the keys."""
        self._showing_detail = True
        self.set_class(True, "-detail")
        if self.has_class("-only-list"):
            self._set_share(self.LIST_SHARE)
        if focus:
            self._focus_in("#detail-pane")

    def show_list(self) -> None:
        """Go back to the list."""
        self._showing_detail = False
        self.set_class(False, "-detail")
        if self.has_class("-only-detail"):
            self._set_share(self.LIST_SHARE)
        self._focus_in("#list-content")

    def focused_context(self) -> str:
        """`LIST` or `PANE`, by what has the keys; "" where neither has."""
        focused = self.focused
        if focused is None:
            return ""
        if isinstance(focused, VirtualList):
            return LIST
        for node in focused.ancestors_with_self:
            if node.id == "list-content":
                return LIST
            if node.id == "detail-pane":
                return PANE
        return ""

    def focused_in_detail(self) -> bool:
        """Whether what has the keys stands in the detail pane, be it text or a list of its own."""
        focused = self.focused
        return focused is not None and any(node.id == "detail-pane" for node in focused.ancestors_with_self)

    def node_of(self, context: str) -> Widget:
        """The widget on which actions of a context run: what has the keys, else the first that could."""
        if self.focused is not None and self.focused_context() == context:
            return self.focused
        if context == LIST:
            return self._first_focusable("#list-content") or self
        if context == PANE:
            return self._first_focusable("#detail-pane") or self
        return self

    # Size

    def on_resize(self, event: events.Resize) -> None:
        """Choose the form for the new size."""
        self._apply_form()
        self.update_footer()
        # What is hidden loses the focus, and nothing gives it back: the keys would be dead.
        self.call_after_refresh(self._keep_focus)

    def _keep_focus(self) -> None:
        """Give the keys back to what had them before it was hidden, else to the list."""
        if not self._ready or self.focused is not None or self.has_class("-too-small"):
            return
        last = self._last_focused
        if last is not None and last.is_attached and last.focusable and last.region:
            last.focus()
        else:
            self._focus_in("#detail-pane" if self._showing_detail else "#list-content")

    def _apply_form(self) -> None:
        form = form_of(*self.app.size)
        if form == "-narrow" and self.focused_in_detail():
            # The pane that has the keys is the one that stays.
            self._showing_detail = True
        for name in FORMS:
            self.set_class(name == form, name)
        self.set_class(self._showing_detail, "-detail")

    def _set_share(self, share: int) -> None:
        self._share = share
        self.set_class(share == SHARES[-1], "-only-list")
        self.set_class(share == SHARES[0], "-only-detail")
        kept = min(max(share, SHARES[1]), SHARES[-2])
        self.query_one("#list-pane").styles.width = f"{kept}fr"
        self.query_one("#detail-pane").styles.width = f"{100 - kept}fr"

    def _resize_focused(self, *, enlarge: bool) -> None:
        if self.has_class("-narrow"):
            self.app.notify("At this size one pane has all the room already.")
            return
        in_detail = self.focused_in_detail()
        if enlarge != in_detail:
            share = next((share for share in SHARES if share > self._share), self._share)
        else:
            share = next((share for share in reversed(SHARES) if share < self._share), self._share)
        self._set_share(share)
        self._focus_in("#detail-pane" if in_detail and share != SHARES[-1] else "#list-content")

    # Focus

    def _first_focusable(self, selector: str) -> Widget | None:
        for widget in self.query_one(selector).query("*"):
            if widget.focusable:
                return widget
        return None

    def _focus_in(self, selector: str) -> None:
        def give() -> None:
            target = self._first_focusable(selector)
            if target is not None:
                target.focus()
            else:
                self.update_footer()

        if self.query_one(selector).size:
            give()
        else:
            # A pane that was hidden until now can take the focus only after it is laid out.
            self.call_after_refresh(give)

    def on_descendant_focus(self) -> None:
        """Other keys are live now."""
        self._last_focused = self.focused
        self.update_footer()

    # Actions

    def action_next_pane(self) -> None:
        """Give the keys to the other pane."""
        if self.has_class("-only-list") or self.has_class("-only-detail"):
            self._set_share(100 - self._share)
        if self.focused_in_detail() or (self._showing_detail and self.has_class("-narrow")):
            self.show_list()
        else:
            self.show_detail()

    def action_previous_pane(self) -> None:
        """Give the keys to the other pane; there are two."""
        self.action_next_pane()

    def action_enlarge(self) -> None:
        """Enlarge the pane that has the keys."""
        self._resize_focused(enlarge=True)

    def action_shrink(self) -> None:
        """Shrink the pane that has the keys."""
        self._resize_focused(enlarge=False)
