"""What the faces read: lists in keyset pages, single rows, counts.

Every call may be made from any thread and answers with plain immutable rows
(`workbench.workspace.rows`).
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from workbench.identity.registry import EMPTY
from workbench.log.event_log import EventLog
from workbench.storage import fetch

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from workbench.identity.registry import Registry
    from workbench.workspace.readers.chronicle_queries import ChronicleReader
    from workbench.workspace.readers.entry_queries import EntryReader
    from workbench.workspace.readers.event_links import EventLinkReader
    from workbench.workspace.readers.evidence_queries import EvidenceReader
    from workbench.workspace.readers.fact_queries import FactReader
    from workbench.workspace.readers.handoff_queries import HandoffReader
    from workbench.workspace.readers.name_queries import NameReader
    from workbench.workspace.readers.redaction_queries import RedactionReader
    from workbench.workspace.readers.session_queries import SessionReader
    from workbench.workspace.readers.timeline_queries import TimelineReader


class Readers:
    """The readers of one open workspace, each loaded when it is first asked: a command needs one of them.

    `registry` gives the names of now, for filters by project, domain or agent, for facts and for tasks;
    `close` what closes a stretch of a stream, by its kind, as the manifest says now.
    """

    def __init__(
        self,
        log: EventLog,
        registry: Callable[[], Registry] = lambda: EMPTY,
        close: Callable[[], Mapping[str, Collection[str]]] = lambda: {},
    ) -> None:
        self._log = log
        self._registry = registry
        self._close = close

    @cached_property
    def sessions(self) -> SessionReader:
        """Sessions and their units."""
        from workbench.workspace.readers.session_queries import SessionReader

        return SessionReader(self._log)

    @cached_property
    def entries(self) -> EntryReader:
        """What was said in sessions."""
        from workbench.workspace.readers.entry_queries import EntryReader

        return EntryReader(self._log)

    @cached_property
    def timeline(self) -> TimelineReader:
        """All events in their order."""
        from workbench.workspace.readers.timeline_names import FilterNames
        from workbench.workspace.readers.timeline_queries import TimelineReader

        return TimelineReader(self._log, FilterNames(self._registry))

    @cached_property
    def event_links(self) -> EventLinkReader:
        """What events belong to."""
        from workbench.workspace.readers.event_links import EventLinkReader

        return EventLinkReader(self._log)

    @cached_property
    def redactions(self) -> RedactionReader:
        """What the secret filter found."""
        from workbench.workspace.readers.redaction_queries import RedactionReader

        return RedactionReader(self._log)

    @cached_property
    def facts(self) -> FactReader:
        """What slots hold, and what they held before."""
        from workbench.workspace.readers.fact_queries import FactReader

        return FactReader(self._log, self._registry)

    @cached_property
    def handoffs(self) -> HandoffReader:
        """What was handed off in each task, and what about it needs a person."""
        from workbench.workspace.readers.handoff_queries import HandoffReader

        return HandoffReader(self._log, self._registry)

    @cached_property
    def chronicle(self) -> ChronicleReader:
        """Streams that have sections or could have, and their sections."""
        from workbench.workspace.readers.chronicle_queries import ChronicleReader

        return ChronicleReader(self._log, self._close)

    @cached_property
    def names(self) -> NameReader:
        """Names of projects, domains and agents as they were used."""
        from workbench.workspace.readers.name_queries import NameReader

        return NameReader(self._log)

    @cached_property
    def evidence(self) -> EvidenceReader:
        """Files that events name."""
        from workbench.workspace.readers.evidence_queries import EvidenceReader

        return EvidenceReader(self._log)

    def totals(self) -> tuple[int, int, int, int | None]:
        """Events, sessions, acta, and the last `recorded_at` in microseconds (None if empty)."""
        with self._log.reader() as connection:
            last = fetch.row(
                connection, "SELECT position, recorded_at FROM events ORDER BY position DESC LIMIT 1"
            )
            sessions = fetch.row(connection, "SELECT count(*), coalesce(sum(acta), 0) FROM session_activity")
        assert sessions is not None
        return (last[0] if last else 0), sessions[0], sessions[1], (last[1] if last else None)
