"""Where a person goes in the program: screens, actions by their ids, help and palette, and the way out."""

from __future__ import annotations

from typing import Any, ClassVar

from workbench.tui import terminal
from workbench.tui.actions import APP, DOOR, Registry
from workbench.tui.dialogs.base import Dialog
from workbench.tui.doors import DOORS, Door
from workbench.tui.page import Page
from workbench.tui.shell import ShownPage
from workbench.tui.themed import Themed


class Navigating(Themed, inherit_bindings=False):
    """Runs the actions of the registry on the screens in `PAGES`."""

    PAGES: ClassVar[tuple[type[Page], ...]] = ()
    REGISTRY: ClassVar[Registry] = Registry(())

    def __init__(self) -> None:
        super().__init__()
        self.takes_mouse = True

    @property
    def registry(self) -> Registry:
        """Every action of the program."""
        return self.REGISTRY

    @property
    def page(self) -> Page | None:
        """The screen that is shown, under any dialog."""
        stack = self.screen_stack
        return stack[0] if stack and isinstance(stack[0], Page) else None

    @property
    def door(self) -> Door | None:
        """The page before a workspace that is not open, under any dialog."""
        stack = self.screen_stack
        return stack[0] if stack and isinstance(stack[0], Door) else None

    def built_pages(self) -> list[Page]:
        """The screens that have been shown at least once."""
        return [stack[0] for stack in self._screen_stacks.values() if stack and isinstance(stack[0], Page)]

    def open_dialogs(self) -> list[Dialog[Any]]:
        """The dialogs that are open over any screen, the lowest first."""
        return [each for stack in self._screen_stacks.values() for each in stack if isinstance(each, Dialog)]

    def has_screen(self, name: str) -> bool:
        """Whether there is a screen of this name."""
        return any(name == page.NAME for page in self.PAGES)

    async def begin_others_afresh(self, but: ShownPage) -> None:
        """Build every screen anew but this one and the one that is shown: none keeps a text that went.

        Drafts go with them, since they may quote it.
        """
        if self.verdict_drafts.clear() + self.decision_drafts.clear():
            self.notify("What was kept as a draft is gone: it may have held what was removed.")
        for page in self.built_pages():
            if page is not but and page is not self.page:
                page.state_to_remember()
                await self.remove_mode(page.NAME)
                self.add_mode(page.NAME, type(page))

    # Actions

    async def action_perform(self, action_id: str) -> None:
        """Run an action of the registry where it lives, or say why it cannot run now."""
        action = self.registry[action_id]
        reason = self.reason_of(action_id)
        if reason:
            self.notify(f"“{action.title}” cannot run now: {reason}.", severity="warning")
            return
        page = self.page
        for built in self.built_pages():
            built.forget_place()
        if action.context == DOOR and self.door is not None:
            await self.run_action(action.run, self.door)
        elif action.context == APP or page is None:
            await self.run_action(action.run, self)
        else:
            await self.run_action(action.run, page.node_of(action.context))

    def reason_of(self, action_id: str) -> str:
        """Why an action cannot be run now, from a list of all; "" where it can."""
        action = self.registry[action_id]
        page, door = self.page, self.door
        if action.context == DOOR:
            return "the workspace is open" if door is None else door.reason_of(action_id)
        if page is None:
            return action.reason(self) if action.context == APP else "no workspace is open"
        if action.optional and action_id not in page.OFFERS:
            return "this screen does not have it"
        return self._unreachable(page, action.context) or action.reason(self)

    def _unreachable(self, page: Page, context: str) -> str:
        for other in self.PAGES:
            if context == other.NAME and other.NAME != page.NAME:
                return f"it belongs to the {other.TITLE} screen"
        return ""

    async def action_open_screen(self, name: str) -> None:
        """Show a screen."""
        await self.show_screen(name)

    async def show_screen(self, name: str) -> None:
        """Show a screen, whoever wants it."""
        if self.current_mode in DOORS:
            self.notify("No workspace is open.", severity="warning")
            return
        self.state.screen = name
        await self.switch_mode(name)
        self.save_state()

    def action_help(self) -> None:
        """Show what can be done here."""
        from workbench.tui.dialogs.help import HelpDialog, help_entries

        # What was said before would lie over the last lines, or show beside them.
        self.clear_notifications()
        self.push_screen(HelpDialog(help_entries(self)), self._run_chosen)

    def action_keys_of_dialog(self) -> None:
        """List the keys of the dialog that is shown; in a text field the key is a letter like others."""
        from workbench.tui.dialogs.dialog_keys import DialogKeys, keys_of

        self.push_screen(DialogKeys(keys_of(self.screen._bindings)))

    def action_palette(self) -> None:
        """Find any action by name."""
        from workbench.tui.dialogs.palette import palette_dialog

        self.push_screen(palette_dialog(self), self._run_chosen)

    async def _run_chosen(self, action_id: str | None) -> None:
        if action_id is not None:
            await self.action_perform(action_id)

    def action_choose_theme(self) -> None:
        """Offer the themes."""
        from workbench.tui.dialogs.choose import Choice, ChooseDialog

        choices = [
            Choice(theme.name, theme.title, "in use" if theme.name == self.theme else "")
            for theme in self.themes.values()
        ]

        def use(name: str | None) -> None:
            if name is not None:
                self.use_theme(name)

        self.push_screen(ChooseDialog("Theme", choices, selected=self.theme), use)

    def action_toggle_mouse(self) -> None:
        """Hand the mouse to the terminal, or take it back."""
        self.takes_mouse = not self.takes_mouse
        terminal.capture_mouse_reports(self, self.takes_mouse)
        key = self.keymap.shown("app.mouse")
        self.notify(
            "The mouse works in the program again."
            if self.takes_mouse
            else f"The mouse belongs to the terminal: select text its way. {key} takes it back."
        )

    def action_leave(self) -> None:
        """Leave the program; asks first while a job runs, or where a draft would be lost."""
        jobs, drafts = self.running_jobs(), self.drafts_lost_by_leaving()
        if not jobs and not drafts:
            self.exit()
            return
        from workbench.tui.dialogs.confirm import ConfirmDialog

        question = "Leave while this runs?" if jobs else "Leave? What you typed is not given yet"
        details = "\n\n".join("\n".join(part) for part in (jobs, drafts) if part)

        def leave(sure: bool | None) -> None:
            if sure:
                self.exit()

        self.push_screen(ConfirmDialog(question, details, yes="leave", no="stay"), leave)

    def action_help_quit(self) -> None:
        """Say how to leave, to a person who pressed what leaves other programs."""
        self.notify(f"{self.keymap.shown('app.quit')} leaves the program.")
