"""The pages that stand before a workspace that is not open."""

from __future__ import annotations

from typing import TypeAlias

from workbench.tui.migration_page import MigrationPage
from workbench.tui.problem_page import ProblemPage

Door: TypeAlias = ProblemPage | MigrationPage

PROBLEM_MODE = "problem"
MIGRATION_MODE = "migration"
DOORS: dict[str, type[Door]] = {PROBLEM_MODE: ProblemPage, MIGRATION_MODE: MigrationPage}
"""Each by the name of its mode."""
