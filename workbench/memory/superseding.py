"""A person changes what a slot holds: by the same call, and under the same rules, as any agent."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.memory.receipts import Receipt

if TYPE_CHECKING:
    from workbench.memory.memory import Memory

DECISION = "decision"
"""The kind of a fact, and the category of an observation, by which a person decides."""


def supersede(
    memory: Memory,
    *,
    owner: str,
    slot: str,
    value: str,
    why: str | None,
    supersedes: str | None,
    domain: str,
    project: str | None,
    task_id: str | None,
    private: bool = False,
) -> Receipt:
    """Record that `owner`, the workspace's, decided what a slot holds from now on.

    `supersedes` is the fact that is current; None where the slot holds none. The same as `workbench record
    --as-owner --category decision --fact-file`, with `slot = value` as the text. Raises what
    `Memory.record_event` raises: `StaleFact`, with the fact that is current now, where another one took the
    slot meanwhile.
    """
    return memory.record_event(
        f"{slot} = {value}",
        why=why,
        domain=domain,
        project=project,
        task_id=task_id,
        category=DECISION,
        agent=owner,
        agent_source="explicit",
        fact={"slot": slot, "value": value, "kind": DECISION, "supersedes": supersedes},
        visibility="private" if private else "public",
    )
