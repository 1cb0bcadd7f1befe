"""Which sections and keys a manifest has, and what each takes (contract workspace, "Manifest")."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from workbench.workspace.manifest import checks
from workbench.workspace.manifest.checks import Check

PATHS = (
    "status_root",
    "chronicle_db",
    "chronicle_artifact_dir",
    "chronicle_package_root",
    "ledger_file",
    "snapshot_file",
    "mem0_dump",
    "mem0_bridge",
    "workspace_root",
    "company_intel_json",
    "portfolio_asset_manifest",
    "env_file",
)
"""Keys of [paths], besides those that begin with `digest_`."""

AUTOMATION_PATHS = (
    "backup_root",
    "env_file",
    "launch_agent_dir",
    "launchd_runtime_dir",
    "launchd_log_dir",
    "daybook_dir",
    "git_hooks_dir",
)

FRESHNESS = ("attach_sources", "runtime_evidence", "semantic_recall", "derived_projection")
"""Groups of [freshness]."""


class Rules(NamedTuple):
    """The keys of every section, for a manifest in one folder."""

    settings: Mapping[str, Check]
    paths: Mapping[str, Check]
    path: Check
    artifacts: Mapping[str, Check]
    mem0: Mapping[str, Check]
    session: Mapping[str, Check]
    notes: Mapping[str, Check]
    chronicle: Mapping[str, Check]
    backup: Mapping[str, Check]
    guards: Mapping[str, Check]
    job: Mapping[str, Check]
    freshness: Mapping[str, Check]
    automation_paths: Mapping[str, Check]
    entries: Mapping[str, Mapping[str, Check]]
    """By name of the array of tables, the keys of one entry."""


def rules(root: Path) -> Rules:
    """What the keys of a manifest in `root` take."""
    path = checks.place(root)
    hours = checks.number()
    text, texts, names, flag = checks.text, checks.texts, checks.names, checks.flag
    count = checks.whole(0)
    sourced = {"label": text, "path": path, "lane": text, "trust_tier": text, "owner": text, "enabled": flag}
    return Rules(
        settings={"timezone": text, "operator": text, "mem0_collection": text},
        paths=dict.fromkeys(PATHS, path),
        path=path,
        artifacts={
            "allowed_extensions": checks.many(text, "file extensions"),
            "max_copy_size_mb": checks.number(),
            "pointer_only_enabled": flag,
            "pointer_only_disallowed": flag,
            "follow_symlinks": flag,
        },
        mem0={"enabled": flag},
        session={"owner": text},
        notes={
            "paths": checks.many(checks.pattern, "paths"),
            "exclude": texts,
            "deny": texts,
            "sync_minutes": checks.whole(1),
        },
        chronicle={
            "summarizer": checks.one_of("extractive", "command", "openai"),
            "command": checks.arguments,
            "timeout_seconds": checks.number(above=True, most=24 * 3600),
            "model": text,
            "base_url": checks.address,
            "key_variable": checks.variable,
            "background": flag,
        },
        backup={"target": path},
        guards={
            "daybook_per_day": count,
            "weekly_audit_per_week": count,
            "backup_interval_days": hours,
            "projection_stale_hours": hours,
            "snapshot_stale_hours": hours,
            "mem0_sync_batch_size": checks.whole(1),
            "jsonl_rotate_mb": hours,
            "artifact_store_warn_gb": hours,
            "stale_run_ttl_hours": hours,
            "subprocess_timeout_seconds": checks.number(above=True),
            "backup_space_margin_mb": hours,
        },
        job={
            "hour": checks.whole(0, 23),
            "minute": checks.whole(0, 59),
            "weekday": checks.whole(0, 6),
            "throttle_seconds": count,
        },
        freshness={"live_hours": hours, "recent_hours": hours, "stale_hours": hours},
        automation_paths=dict.fromkeys(AUTOMATION_PATHS, path),
        entries={
            "projects": {
                "id": checks.name,
                "roots": checks.many(path, "folders"),
                "aliases": names,
            },
            "domains": {
                "id": checks.name,
                "label": text,
                "source_ids": texts,
                "mem0_queries": texts,
                "aliases": names,
            },
            "agents": {"id": checks.name, "aliases": names, "prefixes": names, "contains": names},
            "sources": {
                "id": checks.name,
                **sourced,
                "kind": text,
                "role": text,
                "priority": checks.any_whole,
                "headings": texts,
                "questions_it_can_answer": texts,
                "questions_it_cannot_answer": texts,
                "projection_note": text,
            },
            "runtime_sources": {"id": checks.name, **sourced, "path_key": text},
            "lanes": {"id": checks.name, "label": text, "sensitive": flag, "default_enabled": flag},
            "repos": {"slug": checks.name, "path": path},
        },
    )
