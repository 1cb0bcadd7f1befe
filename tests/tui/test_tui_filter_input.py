"""What is pasted into a filter stays short and can be drawn."""

from __future__ import annotations

from textual import events
from textual.app import App, ComposeResult

from workbench.log.fulltext import MOST_CHARACTERS
from workbench.tui.widgets.filter_input import FilterInput


class Probe(App[None]):
    """One filter input."""

    def compose(self) -> ComposeResult:
        yield FilterInput("")


async def test_a_paste_is_cleaned_and_comes_once() -> None:
    app = Probe()
    async with app.run_test() as pilot:
        field = app.query_one(FilterInput)
        field.focus()
        field.post_message(events.Paste("a\x1b[31mb\x9bc\u202ed"))
        await pilot.pause()
        assert field.value == "a[31mbcd"


async def test_a_long_paste_is_cut() -> None:
    app = Probe()
    async with app.run_test() as pilot:
        field = app.query_one(FilterInput)
        field.focus()
        field.post_message(events.Paste("\x1b[31mab" * 200_000))
        await pilot.pause()
        assert 0 < len(field.value) <= MOST_CHARACTERS
        assert field.value.isprintable()


async def test_a_long_paste_is_cut_to_what_stands_beside_the_text_that_is_there() -> None:
    app = Probe()
    async with app.run_test() as pilot:
        field = app.query_one(FilterInput)
        field.focus()
        await pilot.press("a", "b")
        field.post_message(events.Paste("x" * 100_000))
        await pilot.pause()
        assert field.value == "ab" + "x" * (MOST_CHARACTERS - 2)
        field.select_all()
        field.post_message(events.Paste("y" * 100_000))
        await pilot.pause()
        assert field.value == "y" * MOST_CHARACTERS
