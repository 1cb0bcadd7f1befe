"""Where drawn results wait until their unit of work is committed (contract log-and-chronicle, §4, §6)."""

from __future__ import annotations

TABLES = (
    "CREATE TABLE pin_scratch("
    "unit_id TEXT NOT NULL, pin_key TEXT NOT NULL, kind TEXT NOT NULL, result TEXT NOT NULL, "
    "attempts INTEGER NOT NULL, created_at INTEGER NOT NULL, PRIMARY KEY(unit_id, pin_key)) STRICT",
)
"""Rows keep their order of insertion in `rowid`; `created_at` is in microseconds since 1970."""
