"""What an import did, per file and session (contract transcripts, "Report")."""

from __future__ import annotations

import msgspec

MOST_PROBLEMS = 1000
"""Lines that a report names of one transcript, its sub-agents' files included; more are counted."""


class ImportProblem(msgspec.Struct, frozen=True):
    """Something that could not be read or was refused; everything else went on."""

    file: str
    line: int
    """From 1; 0 for the file as a whole."""
    reason: str

    @property
    def is_whole(self) -> bool:
        """Whether a file or session as a whole is meant, not one of its lines."""
        return self.line == 0


class SessionReport(msgspec.Struct, kw_only=True):
    """One session as one transcript fed it."""

    id: str
    source: str
    """The transcript's path."""
    acta_added: int = 0
    acta_total: int = 0
    """Acta the session has in the log now, whatever file they came from."""
    added: dict[str, int] = msgspec.field(default_factory=dict)
    """Acta added by kind; closed units beside them as `unit_closed`."""
    duplicates: int = 0
    """Records that were in the log already."""
    ignored: dict[str, int] = msgspec.field(default_factory=dict)
    """Records and blocks that are no acta, by kind (`record:<type>`)."""
    redactions: dict[str, int] = msgspec.field(default_factory=dict)
    """Secrets taken out before storing, by kind."""
    repaired: dict[str, int] = msgspec.field(default_factory=dict)
    """What was kept in another form (lone surrogates, numbers out of range), by kind."""
    sub_agents_linked: int = 0
    sub_agents_orphaned: int = 0
    waiting: int = 0
    """Bytes of a half-written last line, which waits for the rest of it."""
    waiting_messages: int = 0
    """Messages at the end of a file that is being written, which wait for the next import."""
    refused: bool = False
    """Whether it is another owner's: nothing of the file entered it."""
    unchanged: bool = False
    """Whether the file was passed over, being just as it was at the last import."""
    unread_before: int = 0
    """Lines of its files that earlier imports could not read, and named then: they are missing still."""
    problems: list[ImportProblem] = msgspec.field(default_factory=list)
    """Whatever concerns a whole file or session, and the first `MOST_PROBLEMS` lines."""
    problems_more: int = 0
    """Lines beyond those, which could not be read either."""

    def note(self, problem: ImportProblem) -> None:
        """Add a problem, or count it where so many lines are named already."""
        if problem.is_whole or len(self.problems) < MOST_PROBLEMS:
            self.problems.append(problem)
        else:
            self.problems_more += 1

    @property
    def was_read(self) -> bool:
        """Whether its file was read into it: false for another owner's and for what is no transcript."""
        return not self.refused and (bool(self.id) or not any(each.is_whole for each in self.problems))


class ImportReport(msgspec.Struct, kw_only=True):
    """Everything one import did."""

    sessions: list[SessionReport] = msgspec.field(default_factory=list)
    ignored: dict[str, int] = msgspec.field(default_factory=dict)
    totals: dict[str, int] = msgspec.field(default_factory=dict)
    """files (that were read), sessions (different ones), acta_added, duplicates, problems (with those that
    are counted alone), unread_before, waiting_lines (transcripts whose last line is half-written)."""
    dry_run: bool = False
    cancelled: bool = False
    """Whether it was stopped early; what was committed before stays and the next import goes on there."""

    @property
    def sessions_fed(self) -> int:
        """How many different sessions got acta; `sessions` names one once for each file that it was in."""
        return len({session.id for session in self.sessions if session.acta_added})

    def sum_up(self) -> None:
        """Fill `ignored` and `totals` from the sessions."""
        self.ignored = {}
        for session in self.sessions:
            add_counts(self.ignored, session.ignored)
        waiting = {session.source for session in self.sessions if session.waiting}
        self.totals = {
            "files": len({session.source for session in self.sessions if session.was_read}),
            "sessions": len({each.id for each in self.sessions if each.id and not each.refused}),
            "acta_added": sum(session.acta_added for session in self.sessions),
            "duplicates": sum(session.duplicates for session in self.sessions),
            "problems": sum(len(each.problems) + each.problems_more for each in self.sessions),
            "unread_before": sum(session.unread_before for session in self.sessions),
            "waiting_lines": len(waiting),
        }


_WITHOUT_TYPE = {
    f"{what}:None": f"{words} without a type"
    for what, words in (
        ("record", "a record"),
        ("item", "an item"),
        ("event", "an event"),
        ("block", "a block"),
    )
}


def ignored_words(kind: str) -> str:
    """A kind of what gave no actum, as people read it: `record:None` is “a record without a type”."""
    return _WITHOUT_TYPE.get(kind, kind)


def add_counts(into: dict[str, int], counts: dict[str, int]) -> None:
    """Add each count of `counts` to the same key of `into`."""
    for key, count in counts.items():
        into[key] = into.get(key, 0) + count
