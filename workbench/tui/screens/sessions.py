"""The Sessions screen: every session of the workspace, and what was said and done in each."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from textual import on
from textual.message import Message

from workbench.log.streams import session_stream
from workbench.tui.copying import CopyChoice
from workbench.tui.destinations import Destination, ToChronicle, ToEvent, ToSession
from workbench.tui.present import number
from workbench.tui.sessions.context_window import MOST
from workbench.tui.sessions.import_job import ImportJob
from workbench.tui.sessions.list_page import SessionListPage
from workbench.tui.sessions.places import HINT, NoSuchPlace, Place, find_place
from workbench.tui.sessions.session_actions import ACTIONS, NAME, SIDE_FOOTERS
from workbench.tui.sessions.whole_actum import plain_text, whole
from workbench.tui.widgets.list_messages import Opened

if TYPE_CHECKING:
    from workbench.tui.actions import Action


class _Placed(Message):
    """Where to go: a session and, maybe, an act in it."""

    def __init__(self, place: Place) -> None:
        super().__init__()
        self.place = place


class _TextRead(Message):
    """A text that is to be copied was read."""

    def __init__(self, text: str, label: str) -> None:
        super().__init__()
        self.text = text
        self.label = label


class SessionsPage(SessionListPage):
    """Ways to a session and an act, the sides of the detail, copying and importing."""

    NAME, TITLE, NUMBER = NAME, "Sessions", 2
    OFFERS = frozenset(
        {
            "page.filter",
            "page.next_hit",
            "page.previous_hit",
            "page.goto",
            "page.copy",
            "page.sort",
            "page.next_tab",
            "page.previous_tab",
        }
    )
    GOTO_HINT = HINT
    ACTIONS = ACTIONS

    def __init__(self) -> None:
        super().__init__()
        self.job: ImportJob | None = None

    # Finding inside a session

    async def action_filter(self) -> None:
        """Narrow the list; where the acta have the keys, find text in them."""
        if self.focused_in_detail() and self.detail.can_find:
            await self.detail.open_find()
        else:
            await super().action_filter()

    def action_next_hit(self) -> None:
        """Go to the next hit in the session."""
        self._find(1)

    def action_previous_hit(self) -> None:
        """Go to the previous hit in the session."""
        self._find(-1)

    def _find(self, direction: int) -> None:
        if self.detail.can_find and self.detail.finder.active:
            self.detail.find_next(direction)
        else:
            key = self.app.keymap.shown("page.filter")
            self.app.notify(f"Nothing is looked for: {key} finds text where acta have the keys.")

    @on(Opened, "#sessions")
    def _session_opened(self, message: Opened) -> None:
        """What found the session is looked for in it."""
        self.detail.offer_find(self._filter.strip())

    # Going

    def goto(self, text: str) -> None:
        workspace, session = self._workspace, self.detail.session
        if workspace is None:
            return
        wanted, as_of = text.strip(), self.as_of

        def work() -> Message:
            return _Placed(find_place(workspace, wanted, None if session is None else session.id, as_of))

        self._ask("session-goto", "Looking for a place", work)

    def arrive(self, destination: Destination) -> None:
        if isinstance(destination, ToSession):
            self._go(_Placed(Place(destination.chronicum_id, destination.seq)))

    def show_entry(self, chronicum_id: str, seq: int) -> None:
        """Show this session with the cursor on the entry that has this number in it."""
        self._go(_Placed(Place(chronicum_id, seq)))

    @on(_Placed)
    def _go(self, message: _Placed) -> None:
        detail, place = self.detail, message.place
        if place.seq is not None:
            detail.places[place.session_id] = place.seq
            if detail.side != "acta":
                detail.choose_side("acta")
        if detail.session is not None and detail.session.id == place.session_id:
            if place.seq is not None:
                detail.go_to(place.seq)
        elif self._filter:
            self._filter, self._unfiltered = "", None
            self.set_filter("")
            self._show_sessions(place.session_id)
        else:
            self.sessions.go_to(place.session_id)
        if place.seq is not None:
            self.show_detail()

    async def action_show_on_timeline(self) -> None:
        """The act under the cursor among all events."""
        entry = self.detail.entry
        if entry is not None:
            await self.app.lead_to(ToEvent(entry.actum.position))

    async def action_open_chronicle(self) -> None:
        """The section that stands for the act under the cursor; without one, the session's chronicle."""
        entry, session = self.detail.entry, self.detail.session
        if session is not None:
            seq = 0 if entry is None or not self.focused_in_detail() else entry.actum.seq
            await self.app.lead_to(ToChronicle(session_stream(session.id).name, seq))

    def action_into(self) -> None:
        """From a call to its sub-agent's first act."""
        entry = self.detail.entry
        if entry is not None and entry.actum.child_seq is not None:
            self.detail.go_to(entry.actum.child_seq)

    def action_out(self) -> None:
        """From a sub-agent's act, or a result, to the call."""
        entry, session, workspace = self.detail.entry, self.detail.session, self._workspace
        if entry is None or session is None or workspace is None:
            return
        if not entry.is_call and entry.actum.reply_seq is not None:
            self.detail.go_to(entry.actum.reply_seq)
            return
        call_id = entry.actum.metadata.get("parent")
        if not isinstance(call_id, str):
            return

        def work() -> Message:
            seq = workspace.readers.entries.spawner(session.id, call_id)
            if seq is None:
                raise NoSuchPlace("the call that started this sub-agent is not in the session")
            return _Placed(Place(session.id, seq))

        self._ask("session-goto", "Looking for a call", work)

    def action_response(self) -> None:
        """From a call to its result; while results are folded, in the open call."""
        entry, detail = self.detail.entry, self.detail
        if entry is None or entry.actum.reply_seq is None:
            return
        if detail.shown.folded or not detail.shown.has("tool_response"):
            detail.open_actum(at_answer=True)
        else:
            detail.go_to(entry.actum.reply_seq)

    # Showing

    def reachable_actions(self) -> list[Action]:
        """The footer names the keys of the side that is shown: what folds acta, or what sizes the window."""
        actions = super().reachable_actions()
        finds = self.focused_in_detail() and self.detail.can_find
        for at, action in enumerate(actions):
            if action.id in SIDE_FOOTERS:
                actions[at] = replace(action, footer=SIDE_FOOTERS[action.id].get(self.detail.side, 0))
            elif action.id == "page.filter" and finds:
                actions[at] = replace(action, title="find", description="Find text in this session.")
            elif action.id == "page.next_hit" and finds and self.detail.finder.filter_text:
                actions[at] = replace(action, footer=21)
        return actions

    def action_next_tab(self) -> None:
        """The next side of the detail."""
        self.detail.turn(1)

    def action_previous_tab(self) -> None:
        """The previous side of the detail."""
        self.detail.turn(-1)

    def action_switch(self, name: str) -> None:
        """Show or hide a kind or actor kind."""
        self.detail.toggle(name)

    def action_form(self) -> None:
        """Fold or unfold; of an open act, its other form."""
        self.detail.refold()

    def action_last_n(self, direction: int) -> None:
        """More or fewer acta in the context window."""
        self.detail.step_last_n(direction)

    def action_ask_last_n(self) -> None:
        """Ask how many acta the context window hands over."""
        from workbench.tui.dialogs.prompt import PromptDialog

        def check(text: str) -> str:
            fine = text.strip().isdecimal() and 0 < int(text) <= MOST
            return "" if fine else f"a number from 1 to {number(MOST)}"

        def take(text: str | None) -> None:
            if text:
                self.detail.set_last_n(int(text))

        hint = "the last acta that the switches let pass"
        self.app.push_screen(PromptDialog("How many acta", hint, str(self.detail.last_n), check), take)

    # Copying

    def copy_choices(self) -> list[CopyChoice]:
        session, entry = self.detail.session, self.detail.entry
        if session is None or self._workspace is None:
            return []
        command = ["workbench", "sessions", "show", session.id, "--root", str(self._workspace.root)]
        if session.owner_id != self._workspace.owner:
            command += ["--owner", session.owner_id]
        choices = [
            CopyChoice("id of the session", session.id),
            CopyChoice("title", session.title),
            CopyChoice("command that shows it", shlex.join(command)),
            CopyChoice("JSON of the session", msgspec.json.format(msgspec.json.encode(session)).decode()),
        ]
        if session.source_path:
            choices.append(CopyChoice("path of the transcript", session.source_path))
        if entry is None or not self.focused_in_detail():
            return choices
        read, seq = self._workspace.readers.entries.as_of(self.as_of).entry, entry.seq

        def text() -> str:
            return plain_text(*whole(read, session.id, seq))

        def as_json() -> str:
            return msgspec.json.format(msgspec.json.encode(whole(read, session.id, seq)[0])).decode()

        own = [CopyChoice("text", text), CopyChoice("JSON", as_json)]
        if entry.actum.id:
            own.insert(0, CopyChoice("id of the act", entry.actum.id))
        return [*own, *choices]

    def action_copy(self) -> None:
        from workbench.tui.dialogs.copy_menu import CopyMenu

        choices = self.copy_choices()

        def copy(index: int | None) -> None:
            if index is not None:
                choice = choices[index]
                # A text may be long and lie in the database: it is read off the UI thread.
                self._ask("copy", "Reading a text to copy", lambda: _TextRead(choice.resolve(), choice.label))

        self.app.push_screen(CopyMenu([choice.label for choice in choices]), copy)

    @on(_TextRead)
    def _copy_text(self, message: _TextRead) -> None:
        self.app.copy(message.text, message.label)

    # Importing

    def action_import_transcripts(self) -> None:
        """Find transcripts and choose which to import."""
        from workbench.tui.dialogs.import_picker import ImportPicker

        if self._workspace is None:
            return
        running = self.job if self.job is not None and self.job.running else None
        self.app.push_screen(ImportPicker(self._workspace, self._begin_import, running))

    def _begin_import(self, paths: Sequence[Path]) -> ImportJob:
        assert self._workspace is not None
        self.job = ImportJob(self.app, self._workspace, paths)
        self.job.start()
        return self.job


PAGE = SessionsPage
