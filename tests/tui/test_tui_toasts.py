"""A notice whose time ends while it is put on the screen must not stop the program."""

from __future__ import annotations

from time import time

from textual.app import App
from textual.widgets._toast import Toast

from tests.tui.shell_probe import until
from workbench.tui.toasts import Notice


def test_what_has_expired_says_so_and_has_a_little_time_left() -> None:
    over = Notice("over", timeout=5, raised_at=time() - 6)
    assert over.has_expired and over.time_left > 0
    fresh = Notice("fresh", timeout=5)
    assert not fresh.has_expired and 4 < fresh.time_left <= 5


async def test_a_notice_that_expires_before_it_is_mounted_goes() -> None:
    app = App[None]()
    async with app.run_test() as pilot:
        await app.mount(Toast(Notice("over", timeout=5, raised_at=time() - 6)))
        await until(pilot, lambda: not app.query(Toast))
