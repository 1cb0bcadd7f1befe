"""Where sections are kept: their rows, and the words of their prose (contract log-and-chronicle, §8).

They are no projection of the log: prose is generated, and only an export or a backup brings it back. So
nothing that rebuilds or compares projections touches them.

`pins` is a JSON array, times are microseconds since 1970. `generation` counts the prose of one range from 1.
`is_current` says that no section supersedes this one, `after_gap` that the event before its range is in no
section: with both, which section covers an event, how far the chronicle goes without a gap and where its
holes are stay looks into an index, however long the chronicle is.
"""

from __future__ import annotations

SECTIONS = "chronicle_sections"
SEARCH = "chronicle_prose"
"""Full text over every section's prose, without the prose itself; its rowid is the section's `row_id`."""

TABLES = (
    f"CREATE TABLE {SECTIONS}("
    "row_id INTEGER PRIMARY KEY, stream_id INTEGER NOT NULL REFERENCES streams(stream_id), "
    "section_id TEXT NOT NULL, from_seq INTEGER NOT NULL, to_seq INTEGER NOT NULL, unit INTEGER NOT NULL, "
    "generation INTEGER NOT NULL, supersedes TEXT, is_current INTEGER NOT NULL, after_gap INTEGER NOT NULL, "
    "prose TEXT NOT NULL, pins TEXT NOT NULL, written_position INTEGER NOT NULL, "
    "written_at INTEGER NOT NULL, summarizer TEXT NOT NULL, summarizer_version TEXT NOT NULL) STRICT",
    f"CREATE UNIQUE INDEX chronicle_by_id ON {SECTIONS}(stream_id, section_id)",
    f"CREATE UNIQUE INDEX chronicle_generations ON {SECTIONS}(stream_id, from_seq, generation)",
    f"CREATE UNIQUE INDEX chronicle_successors ON {SECTIONS}(stream_id, supersedes) "
    "WHERE supersedes IS NOT NULL",
    f"CREATE INDEX chronicle_current ON {SECTIONS}(stream_id, from_seq, to_seq) WHERE is_current = 1",
    f"CREATE INDEX chronicle_gaps ON {SECTIONS}(stream_id, from_seq) WHERE is_current = 1 AND after_gap = 1",
    f"CREATE VIRTUAL TABLE {SEARCH} USING fts5("
    "prose, content='', contentless_delete=1, tokenize='unicode61')",
)
