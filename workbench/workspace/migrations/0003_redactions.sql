-- Adds the list of what the secret filter removed, what a scrub needs to be finished after a kill, and the mark that ties the write-ahead log to its file.
CREATE TABLE filter_versions(version TEXT PRIMARY KEY, from_position INTEGER NOT NULL, noted_at INTEGER NOT NULL, rescanned_upto INTEGER, rescanned_at INTEGER, found INTEGER) STRICT, WITHOUT ROWID;
CREATE TABLE scrub_steps(step TEXT NOT NULL, old TEXT NOT NULL, new TEXT NOT NULL, PRIMARY KEY(step, old)) STRICT, WITHOUT ROWID;
CREATE TABLE log_chain(id INTEGER PRIMARY KEY, magic BLOB NOT NULL, previous BLOB NOT NULL, current BLOB NOT NULL) STRICT;
INSERT INTO log_chain VALUES(1, x'fffe00776f726b62656e6368206c6f6720636861696e00feff', x'0000000000000000', x'0000000000000000');
