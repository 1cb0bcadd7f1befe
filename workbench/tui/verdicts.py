"""Asking a person for verdicts, and writing them beside the screen: the write may wait for a lock."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from textual.message import Message

from workbench.errors import WorkbenchError

if TYPE_CHECKING:
    from workbench.memory.reviews_written import ReviewReceipt
    from workbench.tui.dialogs.verdict import Judged
    from workbench.tui.drafts import Verdict
    from workbench.tui.page import Page
    from workbench.workspace import Workspace


class VerdictsWritten(Message):
    """Verdicts were written: all of them, or those before the one that an error met."""

    def __init__(
        self,
        receipts: Sequence[ReviewReceipt],
        error: Exception | None = None,
        refused: tuple[Judged, Verdict] | None = None,
        overtaken: int = 0,
    ) -> None:
        super().__init__()
        self.receipts = tuple(receipts)
        self.error = error
        self.refused = refused
        """What could not be written."""
        self.overtaken = overtaken
        """Of how many of the judged checkpoints the task has a newer one."""


def ask_verdict(page: Page, judged: Judged, given: Verdict | None = None, refused: str = "") -> None:
    """Ask for a verdict on `judged` and write it; the page is told by one `VerdictsWritten`.

    The dialog stays until it is written: a lock or a full disk costs no word of the comment. `given` and
    `refused` are a verdict that could not be written, and why: it can be changed and given again.
    """
    from workbench.tui.dialogs.verdict import VerdictDialog

    workspace = page.app.workspace
    if workspace is None:
        return

    def write(verdict: Verdict) -> ReviewReceipt:
        receipt = _written(workspace, judged, verdict)
        overtaken.append(_overtaken(workspace, receipt))
        return receipt

    overtaken: list[bool] = []

    def take(verdict: Verdict | None) -> None:
        dialog.keep_words()
        if dialog.receipt is not None:
            page.post_message(VerdictsWritten([dialog.receipt], overtaken=sum(overtaken)))

    # Who leaves with esc finds the words again, of this target or line only.
    kept = page.app.verdict_drafts.take(judged.about)
    names = (f"{page.NAME}.review", f"{page.NAME}.verdict")
    key = next((page.app.keymap.shown(each) for each in names if each in page.app.registry), "")
    newer = partial(_newer, workspace, judged.id) if judged.kind == "checkpoint" else None
    dialog = VerdictDialog(judged, given or kept, refused, write, key, newer)
    page.app.push_screen(dialog, take)


def _written(workspace: Workspace, judged: Judged, verdict: Verdict) -> ReviewReceipt:
    return workspace.review(judged.kind, judged.id, verdict.verdict, verdict.comment, item=verdict.item)


def _newer(workspace: Workspace, checkpoint_id: str) -> int:
    return workspace.readers.handoffs.newer_checkpoint(checkpoint_id)


def _overtaken(workspace: Workspace, receipt: ReviewReceipt) -> bool:
    try:
        return receipt.target_kind == "checkpoint" and _newer(workspace, receipt.target_id) > 0
    except WorkbenchError:
        # The verdict stands: what cannot be read about it is told where it is shown.
        return False


def write_verdicts(page: Page, verdicts: Sequence[tuple[Judged, Verdict]]) -> None:
    """Write them one after another on another thread, up to the first that is refused."""
    workspace = page.app.workspace
    if workspace is None:
        return
    wanted = tuple(verdicts)

    def work() -> None:
        receipts: list[ReviewReceipt] = []
        overtaken = 0
        for judged, verdict in wanted:
            try:
                receipts.append(_written(workspace, judged, verdict))
            except WorkbenchError as error:
                page.post_message(VerdictsWritten(receipts, error, (judged, verdict), overtaken))
                return
            overtaken += _overtaken(workspace, receipts[-1])
        page.post_message(VerdictsWritten(receipts, overtaken=overtaken))

    # Not exclusive: a verdict that waits for a lock is not given up for the next one.
    page.run_worker(work, group="verdicts", description="Writing a verdict", exit_on_error=False, thread=True)


def tell_verdicts(page: Page, message: VerdictsWritten, again: Callable[[], None] | None = None) -> None:
    """Say what became of them; one that was refused is offered again with the words that were typed.

    `again` is called where anything was written, to read the screen anew.
    """
    if message.error is not None and message.refused is not None:
        judged, verdict = message.refused
        if len(message.receipts) == 0 and page.app.screen is page:
            ask_verdict(page, judged, verdict, _reason(message.error))
        else:
            page.app.show_failure(message.error, "A verdict could not be written")
    if message.receipts:
        page.app.notify(_said(message.receipts, message.overtaken))
        if again is not None:
            again()


def _reason(error: Exception) -> str:
    said = error.message if isinstance(error, WorkbenchError) else str(error)
    hint = getattr(error, "hint", "")
    return f"not written: {said}" + (f"; {hint}" if hint else "")


def _said(receipts: Sequence[ReviewReceipt], overtaken: int) -> str:
    if len(receipts) > 1 and overtaken:
        came = f"A newer checkpoint came to {overtaken} of these tasks meanwhile."
        return f"{len(receipts)} verdicts written. {came}"
    if len(receipts) > 1:
        return f"{len(receipts)} verdicts written: the next agents read them."
    receipt = receipts[0]
    if overtaken:
        what = "an older checkpoint" if receipt.item is None else "the line of an older checkpoint"
        return f"You {receipt.verdict} {what}: the next agent starts from a newer one."
    what = f"the {receipt.target_kind}" if receipt.item is None else "the line"
    return f"You {receipt.verdict} {what}: the next agent reads it."
