"""From the values of a TOML file to what a manifest says (contract workspace, "Manifest")."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from workbench.workspace.manifest import model
from workbench.workspace.manifest.checks import Check, many, name, text
from workbench.workspace.manifest.names import build_registry
from workbench.workspace.manifest.problems import Findings
from workbench.workspace.manifest.sections import FRESHNESS, rules
from workbench.workspace.manifest.tables import Entry, Tables
from workbench.workspace.manifest.zones import is_timezone, user_name

VERSION = 1
"""Of this program's manifests."""

_SECTIONS = (
    "settings paths artifacts mem0 session notes chronicle backup automation freshness "
    "sources domains projects agents lanes runtime_sources"
).split()


def manifest_of(
    path: Path, values: dict[str, Any], findings: Findings, stamp: tuple[int, int, int]
) -> model.Manifest:
    """What these values say, as if they stood at `path`; to be used only if `findings` has no errors then."""
    return _Sections(path, values, findings, stamp).manifest()


class _Sections:
    """Goes through the values of one file and notes all that is wrong."""

    def __init__(
        self, path: Path, values: dict[str, Any], findings: Findings, stamp: tuple[int, int, int]
    ) -> None:
        self._path = path
        self._findings = findings
        self._stamp = stamp
        self._rules = rules(path.parent)
        self._tables = Tables(values, findings)

    def manifest(self) -> model.Manifest:
        self._check_top()
        settings = self._tables.section(("settings",), self._rules.settings)
        paths = self._tables.section(("paths",), self._paths_rules())
        mem0 = self._tables.section(("mem0",), self._rules.mem0)
        projects = self._entries("projects", model.Project)
        domains = self._entries("domains", model.Domain)
        agents = self._entries("agents", model.Agent)
        return model.Manifest(
            path=self._path,
            title=self._title() or self._path.parent.name,
            timezone=self._timezone(settings),
            owner=self._tables.section(("session",), self._rules.session).get("owner") or user_name(),
            operator=settings.get("operator") or "the operator",
            mem0_collection=settings.get("mem0_collection") or "chronicle_personal",
            mem0_enabled=mem0.get("enabled", "mem0_bridge" in paths),
            paths=paths,
            artifacts_given=self._artifacts(),
            projects=tuple(entry for _, entry in projects),
            domains=tuple(entry for _, entry in domains),
            agents=tuple(entry for _, entry in agents),
            sources=self._sources("sources", model.Source),
            runtime_sources=self._sources("runtime_sources", model.RuntimeSource),
            lanes=tuple(entry for _, entry in self._entries("lanes", model.Lane)),
            freshness=self._freshness(),
            notes=model.Notes(**self._tables.section(("notes",), self._rules.notes)),
            chronicle=self._chronicle(),
            backup=model.Backup(**self._tables.section(("backup",), self._rules.backup)),
            automation=self._automation(),
            registry=build_registry(projects, domains, agents, self._findings),
            unknown=self._tables.unknown,
            stamp=self._stamp,
            findings=self._findings,
        )

    # -- sections --------------------------------------------------------------------------

    def _title(self) -> str:
        title = self._tables.values.get("title", "")
        if not isinstance(title, str):
            self._findings.error(("title",), "expected text in quotes")
            return ""
        return title

    def _check_top(self) -> None:
        version = self._tables.values.get("version", VERSION)
        if version != VERSION or isinstance(version, bool):
            self._findings.error(("version",), f"the version of this program's manifests is {VERSION}")
        known = ("version", "title", *_SECTIONS)
        for key, value in self._tables.values.items():
            if key not in known:
                self._tables.note_unknown((key,), value, known)

    def _timezone(self, settings: Mapping[str, Any]) -> str:
        given: str = settings.get("timezone", "")
        named = given or os.environ.get("CHRONICLE_TIMEZONE") or "UTC"
        if is_timezone(named):
            return named
        source = "" if given else ", and $CHRONICLE_TIMEZONE names it"
        self._findings.error(
            ("settings", "timezone"), f"no such time zone{source}; expected a name like Europe/Berlin"
        )
        return "UTC"

    def _paths_rules(self) -> dict[str, Check]:
        found = self._tables.values.get("paths")
        digests = [key for key in found if key.startswith("digest_")] if isinstance(found, dict) else []
        return {**self._rules.paths, **dict.fromkeys(digests, self._rules.path)}

    def _artifacts(self) -> dict[str, Any]:
        found = self._tables.section(("artifacts",), self._rules.artifacts)
        old = found.pop("pointer_only_disallowed", None)
        if old is not None:
            found.setdefault("pointer_only_enabled", old)
        return found

    def _chronicle(self) -> model.Chronicle:
        at = ("chronicle",)
        found = self._tables.section(at, self._rules.chronicle, tables=("close",))
        table = self._tables.table((*at, "close"))
        closing = found["close"] = dict(model.CLOSING)
        for kind, events in table.items():
            checked = self._tables.checked((*at, "close", kind), events, many(name, "types of events"))
            if checked is not None:
                closing[kind] = checked
        if found.get("summarizer") == "command" and "command" not in found:
            self._findings.error(
                (*at, "summarizer"), 'expected chronicle.command beside it, such as ["summarise", "--short"]'
            )
        if found.get("summarizer") == "openai":
            for key, such in (("model", "gpt-4o-mini"), ("base_url", "http://localhost:11434/v1")):
                if key not in self._tables.table(at) or (found.get(key, "").strip() == "" and key in found):
                    self._findings.error(
                        (*at, "summarizer"), f'expected chronicle.{key} beside it, such as "{such}"'
                    )
        return model.Chronicle(**found)

    def _freshness(self) -> dict[str, dict[str, model.Freshness]]:
        groups: dict[str, dict[str, model.Freshness]] = {}
        for group in self._tables.table(("freshness",)):
            at = ("freshness", group)
            if group not in FRESHNESS:
                self._tables.note_unknown(at, self._tables.values["freshness"][group], FRESHNESS)
                continue
            groups[group] = {}
            for what in self._tables.table(at):
                given = model.Freshness(**self._tables.section((*at, what), self._rules.freshness))
                recent = max(given.live_hours, given.recent_hours)
                groups[group][what] = model.Freshness(
                    live_hours=given.live_hours,
                    recent_hours=recent,
                    stale_hours=max(recent, given.stale_hours),
                )
        return groups

    def _automation(self) -> model.Automation:
        at = ("automation",)
        self._tables.section(at, {}, tables=("paths", "guards", "repos", "jobs"))
        paths = self._tables.section(
            (*at, "paths"), {**self._rules.automation_paths, "launchd_label_prefix": text}
        )
        prefix = paths.pop("launchd_label_prefix", "") or "com.chronicle"
        jobs = dict(model.JOBS)
        declared: list[str] = []
        for job, value in self._tables.table((*at, "jobs")).items():
            if job not in jobs:
                self._tables.note_unknown((*at, "jobs", job), value, tuple(jobs))
                continue
            usual = jobs[job]
            found = self._tables.section((*at, "jobs", job), self._rules.job)
            jobs[job] = model.Schedule(
                hour=found.get("hour", usual.hour),
                minute=found.get("minute", usual.minute),
                weekday=found.get("weekday", usual.weekday),
                throttle_seconds=found.get("throttle_seconds", usual.throttle_seconds),
            )
            declared.append(job)
        needs = ("slug", "path")
        repos = self._tables.entries("repos", model.Repository, self._rules.entries["repos"], at, needs=needs)
        return model.Automation(
            paths=paths,
            launchd_label_prefix=prefix,
            guards=model.Guards(**self._tables.section((*at, "guards"), self._rules.guards)),
            repos=tuple(entry for _, entry in repos),
            jobs=jobs,
            declared_jobs=frozenset(declared),
        )

    def _sources(self, key: str, kind: type[Entry]) -> tuple[Entry, ...]:
        entries = self._entries(key, kind)
        for number, entry in entries:
            tier = getattr(entry, "trust_tier", None)
            if tier is not None and tier not in model.TRUST_TIERS:
                self._findings.warning(
                    (key, number, "trust_tier"), f"expected one of {', '.join(model.TRUST_TIERS)}"
                )
        return tuple(entry for _, entry in entries)

    def _entries(self, key: str, kind: type[Entry]) -> list[tuple[int, Entry]]:
        return self._tables.entries(key, kind, self._rules.entries[key])
