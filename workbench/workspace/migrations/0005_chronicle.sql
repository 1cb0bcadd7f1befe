-- Adds the chronicle: closed stretches of a session or a task as prose that cites its events.
CREATE TABLE chronicle_sections(row_id INTEGER PRIMARY KEY, stream_id INTEGER NOT NULL REFERENCES streams(stream_id), section_id TEXT NOT NULL, from_seq INTEGER NOT NULL, to_seq INTEGER NOT NULL, unit INTEGER NOT NULL, generation INTEGER NOT NULL, supersedes TEXT, is_current INTEGER NOT NULL, after_gap INTEGER NOT NULL, prose TEXT NOT NULL, pins TEXT NOT NULL, written_position INTEGER NOT NULL, written_at INTEGER NOT NULL, summarizer TEXT NOT NULL, summarizer_version TEXT NOT NULL) STRICT;
CREATE UNIQUE INDEX chronicle_by_id ON chronicle_sections(stream_id, section_id);
CREATE UNIQUE INDEX chronicle_generations ON chronicle_sections(stream_id, from_seq, generation);
CREATE UNIQUE INDEX chronicle_successors ON chronicle_sections(stream_id, supersedes) WHERE supersedes IS NOT NULL;
CREATE INDEX chronicle_current ON chronicle_sections(stream_id, from_seq, to_seq) WHERE is_current = 1;
CREATE INDEX chronicle_gaps ON chronicle_sections(stream_id, from_seq) WHERE is_current = 1 AND after_gap = 1;
CREATE VIRTUAL TABLE chronicle_prose USING fts5(prose, content='', contentless_delete=1, tokenize='unicode61');
CREATE TABLE pin_scratch(unit_id TEXT NOT NULL, pin_key TEXT NOT NULL, kind TEXT NOT NULL, result TEXT NOT NULL, attempts INTEGER NOT NULL, created_at INTEGER NOT NULL, PRIMARY KEY(unit_id, pin_key)) STRICT;
