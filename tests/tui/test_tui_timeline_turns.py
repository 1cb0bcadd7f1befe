"""Counts that take turns."""

from __future__ import annotations

from threading import Event, Thread
from time import monotonic

from workbench.tui.timeline.turns import Turns


def always() -> bool:
    return True


def test_one_count_at_a_time_works_and_the_other_has_the_pause() -> None:
    turns = Turns()
    order: list[str] = []
    began, waits = Event(), Event()

    def other() -> None:
        began.wait(5)
        waits.set()
        with turns.taking() as portion:
            assert portion(always)
            order.append("other")

    thread = Thread(target=other)
    thread.start()
    with turns.taking() as portion:
        assert portion(always)
        began.set()
        assert waits.wait(5)
        order.append("one")
        # A portion that took a while: its rest is long enough for another to begin.
        until = monotonic() + 0.1
        while monotonic() < until:
            pass
        assert portion(always)
        order.append("one")
    thread.join(5)
    assert order == ["one", "other", "one"]


def test_what_nobody_wishes_for_ends_and_lets_others_work() -> None:
    turns = Turns()
    with turns.taking() as portion:
        assert portion(always)
        assert not portion(lambda: False)
        with turns.taking() as other:
            assert other(always)
            # Nor does it wait for what another has.
            assert not portion(lambda: False)
    with turns.taking() as portion:
        assert portion(always)
