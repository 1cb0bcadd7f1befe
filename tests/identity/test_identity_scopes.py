"""Scopes: cases I24 and I27 of the memory contract."""

from __future__ import annotations

import pytest

from workbench.identity import EMPTY, Names, Registry, resolve

REGISTRY = Registry(projects=[Names("atlas", ["status"])], domains=[Names("work", ["Job"])])


def test_a_scope_has_one_key_under_all_spellings() -> None:
    one = resolve(REGISTRY, "work", "status", "Launch_plan")
    other = resolve(REGISTRY, " JOB", "Atlas", "launch  plan")
    assert one.key == other.key == ("work", "atlas", "launch-plan")
    assert one.project_forms == ("atlas", "status")
    assert (one.domain, one.project, one.task_id) == ("work", "atlas", "Launch_plan")


def test_tasks_fold_and_are_not_cut() -> None:
    keys = {resolve(EMPTY, None, "x", task).task_key for task in ("Launch_plan", "launch plan")}
    assert keys == {"launch-plan"}
    assert resolve(EMPTY, None, "x", "Launch_plan-video").task_key == "launch-plan-video"


@pytest.mark.parametrize("blank", [None, "", " "])
def test_missing_parts_are_empty(blank: str | None) -> None:
    scope = resolve(EMPTY, blank, blank, blank)
    assert scope.key == ("global", "", "")
    assert (scope.project, scope.task_id, scope.project_forms) == (None, None, ())
    assert resolve(EMPTY, blank, "x", blank).key == ("global", "x", "")


def test_a_task_belongs_to_a_project() -> None:
    with pytest.raises(ValueError, match="a task belongs to a project"):
        resolve(EMPTY, None, " ", "task")


def test_odd_names_are_only_names() -> None:
    scope = resolve(EMPTY, "../..", "a\0b", "x\u202ey")
    assert scope.key == ("../..", "a\0b", "x\u202ey")
