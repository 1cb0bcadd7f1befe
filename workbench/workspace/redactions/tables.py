"""What is kept of the filter beside the log: its versions, and the open steps of a scrub.

Times are microseconds since 1970. `filter_versions` says from which position on a version of the filter
stood at the door, and up to which one everything older was looked through with it; of an unfinished scrub,
`scrub_steps` says what is still to be done.
"""

from __future__ import annotations

TABLES = (
    "CREATE TABLE filter_versions(version TEXT PRIMARY KEY, from_position INTEGER NOT NULL, "
    "noted_at INTEGER NOT NULL, rescanned_upto INTEGER, rescanned_at INTEGER, found INTEGER) "
    "STRICT, WITHOUT ROWID",
    "CREATE TABLE scrub_steps(step TEXT NOT NULL, old TEXT NOT NULL, new TEXT NOT NULL, "
    "PRIMARY KEY(step, old)) STRICT, WITHOUT ROWID",
)
