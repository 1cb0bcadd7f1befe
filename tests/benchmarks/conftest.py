"""Workspaces that measurements share, made once per run."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.benchmarks.large_workspace import fill
from workbench.workspace import Workspace

LARGE = int(os.environ.get("WORKBENCH_BENCH_EVENTS", "1000000"))
"""Events of the large workspace; a smaller number gives a quick look."""


def make_workspace(root: Path, events: int) -> Path:
    """A workspace of `events` events in one session."""
    with Workspace.create(root, title="Load", timezone="UTC", owner="maya") as workspace:
        fill(workspace, events)
    return root


@pytest.fixture(scope="session")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace of `LARGE` events."""
    return make_workspace(tmp_path_factory.mktemp("large") / "w", LARGE)


@pytest.fixture(scope="session")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace of a hundredth of `LARGE` events."""
    return make_workspace(tmp_path_factory.mktemp("small") / "w", LARGE // 100)


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace of 100 events."""
    return make_workspace(tmp_path_factory.mktemp("tiny") / "w", 100)
