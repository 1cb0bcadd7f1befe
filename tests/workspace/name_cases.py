"""Observations under chosen spellings of names."""

from __future__ import annotations

from typing import Any

from workbench.identity import EMPTY, Registry
from workbench.log import EventLog, PendingEvent
from workbench.memory.events import ObservationRecorded


def observe(
    log: EventLog,
    project: str | None = None,
    domain: str = "global",
    agent: str = "mcp",
    *,
    registry: Registry = EMPTY,
    private: bool = False,
) -> None:
    """One observation under these spellings, as names resolve in `registry`."""
    named = registry.project(project)
    raw: dict[str, Any] = {
        f"{key}_raw": given_
        for key, given_, canonical in (
            ("project", project, named),
            ("domain", domain, registry.domain(domain)),
            ("agent", agent, registry.agent(agent)),
        )
        if given_ is not None and given_ != canonical
    }
    if named is not None:
        raw["project"] = named
    said = ObservationRecorded(
        scope_domain=registry.domain_forms(domain)[0],
        scope_project=registry.project_forms(project)[0] if named else "",
        domain=registry.domain(domain),
        agent=registry.agent(agent),
        agent_source="explicit",
        category="note",
        text="it works",
        request_hash="00" * 32,
        content_hash="00" * 32,
        hash_filter="1",
        **raw,
    )
    log.append(said.stream, [PendingEvent(payload=said, visibility="private" if private else "public")])
