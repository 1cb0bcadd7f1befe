"""The table `jobs`: its statements and nothing else. Times are microseconds since 1970."""

from __future__ import annotations

TABLES = (
    "CREATE TABLE jobs(job_id INTEGER PRIMARY KEY, kind TEXT NOT NULL, title TEXT NOT NULL, "
    "status TEXT NOT NULL, lease TEXT, process TEXT NOT NULL, started_at INTEGER NOT NULL, "
    "heartbeat_at INTEGER NOT NULL, finished_at INTEGER, done INTEGER NOT NULL, total INTEGER, "
    "note TEXT NOT NULL, outcome TEXT NOT NULL, error TEXT NOT NULL, hint TEXT NOT NULL, "
    "stop_asked INTEGER NOT NULL) STRICT",
    "CREATE UNIQUE INDEX jobs_by_lease ON jobs(lease) WHERE lease IS NOT NULL AND finished_at IS NULL",
    "CREATE INDEX jobs_by_status ON jobs(status, job_id)",
)

COLUMNS = (
    "job_id, kind, title, status, lease, process, started_at, heartbeat_at, finished_at, done, total, "
    "note, outcome, error, hint, stop_asked"
)

INSERT = (
    "INSERT INTO jobs(kind, title, status, lease, process, started_at, heartbeat_at, done, total, "
    "note, outcome, error, hint, stop_asked) "
    "VALUES(?, ?, 'running', ?, ?, ?, ?, 0, NULL, '', '', '', '', 0) RETURNING job_id"
)
MOVE = (
    "UPDATE jobs SET heartbeat_at = ?, done = ?, total = ?, note = ? "
    # The file may have been replaced by another one, with jobs of its own.
    "WHERE job_id = ? AND process = ? AND finished_at IS NULL"
)
END = (
    "UPDATE jobs SET status = ?, heartbeat_at = ?, finished_at = ?, done = ?, total = ?, note = ?, "
    "outcome = ?, error = ?, hint = ? WHERE job_id = ?"
)
BURY = (
    "UPDATE jobs SET status = 'failed', finished_at = ?, error = ?, hint = ? "
    "WHERE job_id = ? AND finished_at IS NULL"
)
ASK_TO_STOP = "UPDATE jobs SET stop_asked = 1 WHERE job_id = ? AND finished_at IS NULL"
STOP_ASKED = "SELECT stop_asked FROM jobs WHERE job_id = ?"
PRUNE = (
    "DELETE FROM jobs WHERE status <> 'running' AND job_id <= "
    "(SELECT job_id FROM jobs WHERE status <> 'running' ORDER BY job_id DESC LIMIT 1 OFFSET ?)"
)

ONE = f"SELECT {COLUMNS} FROM jobs WHERE job_id = ?"
RUNNING = f"SELECT {COLUMNS} FROM jobs WHERE status = 'running' ORDER BY job_id DESC"
ENDED_BEFORE = (
    f"SELECT {COLUMNS} FROM jobs WHERE status <> 'running' AND job_id < ? ORDER BY job_id DESC LIMIT ?"
)
ENDED_AFTER = f"SELECT {COLUMNS} FROM jobs WHERE status <> 'running' AND job_id > ? ORDER BY job_id LIMIT ?"
COUNT = "SELECT count(*) FROM jobs"
