"""What was stored before today's filter stood at the door: looked through again, and scrubbed.

(contract redaction, "Rescan and scrub")
"""

LEASE = "scrub"
"""What the job of a scrub holds: no other job runs beside it."""
