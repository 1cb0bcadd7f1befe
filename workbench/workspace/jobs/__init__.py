"""Long calls as jobs that every program on the workspace can see and stop (contract workspace, "Jobs").

`Jobs` (in `jobs.jobs`) is what a workspace offers; a job's row is no projection: it says something of
programs, not of events (DESIGN §2).
"""
