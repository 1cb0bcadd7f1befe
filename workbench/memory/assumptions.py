"""Which facts were built on an assumption, as far as the log can tell.

Nothing records that one fact follows from another. What can be told is whether somebody, while the assumption
stood, asserted another fact in the same project and named the assumption as they did so: by its id, or by
its slot as a whole word, in the fact's value or in the text or the reason of the observation that asserts it.
A slot that is a single plain word ("status") names too much in prose, so that only its id counts.
"""

from __future__ import annotations

import re

from workbench.log.fulltext import normalised
from workbench.memory.events import FactAsserted, ObservationRecorded
from workbench.memory.snapshot import Snapshot, id_text
from workbench.memory.spans import domains_seen

ASSUMPTION = "assumption"
_MOST_HITS = 500
"""Events with those words that are looked at."""
_JOINED = re.compile(r"\w[^\w\s]+\w|\w_\w|\w\s+\w")


def built_on(snapshot: Snapshot, position: int, most: int) -> list[int]:
    """Positions of the facts that name the assumption at a position, oldest first; at most `most`.

    Empty for a fact of another kind.
    """
    row = snapshot.row(
        "SELECT kind, slot, fact_id, to_position, domain_key, project_key FROM facts "
        "WHERE position = :position",
        position=position,
    )
    if row is None or row[0] != ASSUMPTION:
        return []
    _, slot, fact_id, ended, domain, project = row
    names = [id_text(fact_id), *([slot] if _JOINED.search(slot) else [])]
    last = min(snapshot.last, ended - 1) if ended is not None else snapshot.last
    found = _asserted_with(snapshot, _expression(names), position, last, domain, project, slot)
    named = re.compile(
        "|".join(rf"(?<![\w.\-]){re.escape(name.casefold())}(?!\w)(?![.\-]\w)" for name in names)
    )
    return [each for each in found if named.search(_said(snapshot, each))][:most]


def _expression(names: list[str]) -> str:
    """What full text is asked for: each name as a phrase."""
    phrases = [normalised(name).replace('"', " ").replace("\0", " ") for name in names]
    return " OR ".join(f'"{phrase}"' for phrase in phrases)


def _asserted_with(
    snapshot: Snapshot, expression: str, after: int, last: int, domain: str, project: str, slot: str
) -> list[int]:
    projects = snapshot.registry.project_forms(project) if project else ("",)
    domains = snapshot.registry.domain_forms(domain) if domain else domains_seen(snapshot)
    keys = {f"p{number}": each for number, each in enumerate(projects)}
    keys |= {f"d{number}": each for number, each in enumerate(domains)}
    rows = snapshot.rows(
        "WITH hits(at) AS MATERIALIZED (SELECT rowid FROM fulltext WHERE fulltext MATCH :words "
        "AND rowid > :after AND rowid <= :until ORDER BY rowid LIMIT :hits), "
        # A hit is the fact itself, or the observation that asserts it.
        "found(at) AS (SELECT at FROM hits UNION SELECT o.fact_position FROM hits "
        "CROSS JOIN observations o ON o.position = hits.at WHERE o.fact_position IS NOT NULL) "
        "SELECT f.position FROM found CROSS JOIN facts f ON f.position = found.at "
        f"WHERE f.position > :after AND f.slot <> :slot AND {snapshot.asserted('f')} "
        f"AND f.project_key IN ({', '.join(f':p{number}' for number in range(len(projects)))}) "
        f"AND f.domain_key IN ({', '.join(f':d{number}' for number in range(len(domains)))}) "
        "ORDER BY f.position",
        words=expression,
        after=after,
        until=last,
        hits=_MOST_HITS,
        slot=slot,
        **keys,
    )
    return [at for (at,) in rows]


def _said(snapshot: Snapshot, position: int) -> str:
    fact: FactAsserted = snapshot.event(position).payload
    parts = [fact.value]
    observed = snapshot.value("SELECT observation FROM facts WHERE position = :position", position=position)
    observation = snapshot.event(observed).payload
    if isinstance(observation, ObservationRecorded):
        parts += [text for text in (observation.text, observation.why) if isinstance(text, str)]
    return "\n".join(parts).casefold()
