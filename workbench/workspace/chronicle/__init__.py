"""The chronicles of a workspace, put together from their parts (contract log-and-chronicle; workspace).

One stream, `workspace.chronicle("session/s1")`; `task/global/acme/t1`, an alias of it, or a session's id will
do, `UnknownStream` else:

    chronicle.lag()                       # Lag(last_seq=9, consolidated_through=4, closes_next=(5, 8), …)
    chronicle.consolidate(progress=say)   # [Anchor("5-8", …)], after waiting for whoever else writes it
    chronicle.brief(max_chars=4000).text  # for an agent
    chronicle.anchors.covers(6)           # Anchor("5-8", …): decide by these
    chronicle.prose.section("5-8")        # Section, or None where agents do not get it
    chronicle.reconsolidate("5-8")        # Section "5-8#2"
    chronicle.export(path)                # sections written: 2
    chronicle.load(path)                  # Loaded(sections=2, landed=0, other_words=())
    chronicle.rebuild(replay=True)        # Rebuilt(sections=[…], drawn=0); None if it was cancelled
    chronicle.recording_write(path)       # pins written: 1; rebuild(recording=path) replays the file
    chronicle.recording_read(path)        # Recording(header, events)

All of them, `workspace.chronicles`:

    chronicles.consolidate(progress=say, cancelled=stop)   # Consolidated(written={"session/s1": [Anchor, …]},
                                                           #   failures=[Failure(stream, at, error)], …)
    chronicles.summarizer_settings()                       # as the manifest says now
    chronicles.trusted(); chronicles.trust()               # whether it may run or contact what it names
    chronicles.background().start()                        # writes what lags, in a thread, until `stop()`

For screens, `workspace.readers.chronicle`: see `readers.chronicle_queries.ChronicleReader`.

`consolidate`, `reconsolidate`, `rebuild` and `load` are jobs by themselves: do not wrap them in another.

What a status or a startup shows is read without loading what writes: `closing`, `for_agents`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from workbench.workspace.chronicle.chronicles import Chronicles
    from workbench.workspace.chronicle.stream import Rebuilt, StreamChronicle

    __all__ = ["Chronicles", "Rebuilt", "StreamChronicle"]
