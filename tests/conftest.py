"""What holds for every test."""

from __future__ import annotations

import gc
import os

import pytest
from hypothesis import settings

# The same examples on every run: what is green stays green. `HYPOTHESIS_PROFILE=search` looks further.
settings.register_profile("repeatable", derandomize=True, max_examples=50)
settings.register_profile("search", max_examples=2000, deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeatable"))


def pytest_configure(config: pytest.Config) -> None:
    """An update of the pictures makes all of them, those that an ordinary run leaves out as well."""
    if config.getoption("update_snapshots", False):
        os.environ["WORKBENCH_TEST_THOROUGH"] = "1"
    config.addinivalue_line("markers", "thorough: left out unless WORKBENCH_TEST_THOROUGH=1")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselected, not skipped: the picture of a skipped test counts as one that no test has any more."""
    if os.environ.get("WORKBENCH_TEST_THOROUGH") == "1":
        return
    left_out = [item for item in items if item.get_closest_marker("thorough")]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if not item.get_closest_marker("thorough")]


def pytest_collection_finish(session: pytest.Session) -> None:
    """What was imported and collected stays to the end: rubbish is looked for in what tests make, and less often.

    With so much alive the collector took a third of the run. What is measured is left as it is.
    """
    if any(item.get_closest_marker("bench") for item in session.items):
        return
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish() -> None:
    """pytest collects rubbish five times before it ends, each time through all that is alive: twice finds it."""
    gc.collect()
    gc.collect()
    gc.freeze()
