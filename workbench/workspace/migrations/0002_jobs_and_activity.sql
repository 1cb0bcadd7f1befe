-- Adds the list of jobs, and counts of activity by day for the Timeline.
CREATE TABLE jobs(job_id INTEGER PRIMARY KEY, kind TEXT NOT NULL, title TEXT NOT NULL, status TEXT NOT NULL, lease TEXT, process TEXT NOT NULL, started_at INTEGER NOT NULL, heartbeat_at INTEGER NOT NULL, finished_at INTEGER, done INTEGER NOT NULL, total INTEGER, note TEXT NOT NULL, outcome TEXT NOT NULL, error TEXT NOT NULL, hint TEXT NOT NULL, stop_asked INTEGER NOT NULL) STRICT;
CREATE UNIQUE INDEX jobs_by_lease ON jobs(lease) WHERE lease IS NOT NULL AND finished_at IS NULL;
CREATE INDEX jobs_by_status ON jobs(status, job_id);
