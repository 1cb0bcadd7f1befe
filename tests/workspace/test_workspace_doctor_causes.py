"""`doctor` says which checkpoints and facts lack the observation that brought them."""

from __future__ import annotations

from pathlib import Path
from uuid import uuid4

from workbench.log import PendingEvent
from workbench.log.streams import scope_stream
from workbench.memory.events import FactAsserted
from workbench.workspace import Workspace


def test_a_fact_without_its_observation_is_told(tmp_path: Path) -> None:
    fact = {"slot": "s", "value": "v", "kind": "observed"}
    with Workspace.create(tmp_path / "w") as workspace:
        workspace.memory.record_event("x", project="atlas", fact=fact)
        assert [each.code for each in workspace.doctor().findings] == []
        forged = FactAsserted(
            scope_domain="global",
            scope_project="atlas",
            scope_task="",
            domain="global",
            project="atlas",
            agent="forger",
            slot="t",
            value="v",
            kind="observed",
        )
        event = PendingEvent(payload=forged, causation_id=uuid4())
        workspace.log.append(scope_stream("global", "atlas", ""), [event])
        report = workspace.doctor()
        assert [each.code for each in report.findings] == ["memory_cause_missing"]
        assert report.ok
        assert "at 3" in report.findings[0].meaning
