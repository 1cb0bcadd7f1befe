"""What a manifest says, as values with types (contract workspace, "Manifest")."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct, field

from workbench.identity.registry import EMPTY, Registry
from workbench.workspace.manifest.problems import Findings, Problem

if TYPE_CHECKING:
    from workbench.evidence.policy import EvidencePolicy

TRUST_TIERS = ("canonical", "operator_curated", "reference", "semantic_recall", "unknown")

CLOSING = {"task": ("checkpoint.recorded",), "session": ("unit.closed",)}
"""What closes a unit, by kind of stream, where the manifest does not say."""


class Project(Struct, frozen=True, kw_only=True):
    """One entry of [[projects]]."""

    id: str
    roots: tuple[Path, ...] = ()
    """Absolute; a relative one is meant from the manifest's folder."""
    aliases: tuple[str, ...] = ()


class Domain(Struct, frozen=True, kw_only=True):
    """One entry of [[domains]]."""

    id: str
    label: str = ""
    source_ids: tuple[str, ...] = ()
    mem0_queries: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()


class Agent(Struct, frozen=True, kw_only=True):
    """One entry of [[agents]]."""

    id: str
    aliases: tuple[str, ...] = ()
    prefixes: tuple[str, ...] = ()
    contains: tuple[str, ...] = ()


class Source(Struct, frozen=True, kw_only=True):
    """One entry of [[sources]]: a file that the startup bundle shows."""

    id: str
    label: str = ""
    path: Path | None = None
    kind: str = ""
    role: str = ""
    trust_tier: str | None = None
    """One of `TRUST_TIERS`, or whatever stands there; None where nothing does."""
    priority: int = 0
    headings: tuple[str, ...] = ()
    lane: str = ""
    owner: str = ""
    enabled: bool = True
    questions_it_can_answer: tuple[str, ...] = ()
    questions_it_cannot_answer: tuple[str, ...] = ()
    projection_note: str = ""


class RuntimeSource(Struct, frozen=True, kw_only=True):
    """One entry of [[runtime_sources]]."""

    id: str
    label: str = ""
    path: Path | None = None
    path_key: str = ""
    """The key of [paths] that says where it is."""
    lane: str = ""
    trust_tier: str | None = None
    owner: str = ""
    enabled: bool = True


class Lane(Struct, frozen=True, kw_only=True):
    """One entry of [[lanes]]."""

    id: str
    label: str = ""
    sensitive: bool = False
    default_enabled: bool = True


class Freshness(Struct, frozen=True, kw_only=True):
    """One table of [freshness]: how old is still fresh, in hours. None is below the one before it."""

    live_hours: float = 6
    recent_hours: float = 48
    stale_hours: float = 168


class Notes(Struct, frozen=True, kw_only=True):
    """[notes]: Markdown files that are read into the workspace."""

    paths: tuple[str, ...] = ()
    """Patterns, absolute or from `~`."""
    exclude: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()
    """Added to the names that are never read."""
    sync_minutes: int | None = None
    """How often a server reads them; None where the manifest does not say."""


class Chronicle(Struct, frozen=True, kw_only=True):
    """[chronicle]: how streams are consolidated."""

    summarizer: str = "extractive"
    """`extractive`, `command` or `openai`."""
    command: tuple[str, ...] = ()
    """A program and its arguments; it runs only in a trusted workspace."""
    timeout_seconds: float = 120
    model: str = ""
    """The model's name, of `openai`."""
    base_url: str = ""
    """The endpoint's address, of `openai`; it is contacted only from a trusted workspace."""
    key_variable: str = ""
    """The environment variable that holds the key; the key itself stands nowhere."""
    background: bool = True
    """Whether a program that stays open consolidates by itself."""
    close: dict[str, tuple[str, ...]] = field(default_factory=lambda: dict(CLOSING))
    """By kind of stream, the events that close a unit of it; a kind without an entry is not consolidated."""


class Backup(Struct, frozen=True, kw_only=True):
    """[backup]: where copies go."""

    target: Path | None = None
    """A folder, best on another device; None for `backups/`."""


class Guards(Struct, frozen=True, kw_only=True):
    """[automation.guards]: limits on scheduled work."""

    daybook_per_day: int = 1
    weekly_audit_per_week: int = 1
    backup_interval_days: float = 2
    projection_stale_hours: float = 36
    snapshot_stale_hours: float = 30
    mem0_sync_batch_size: int = 25
    jsonl_rotate_mb: float = 25
    artifact_store_warn_gb: float = 6
    stale_run_ttl_hours: float = 6
    subprocess_timeout_seconds: float = 120
    backup_space_margin_mb: float = 512


class Schedule(Struct, frozen=True, kw_only=True):
    """One table of [automation.jobs]: when a job runs."""

    hour: int
    minute: int
    weekday: int | None = None
    """0 is Sunday; None for every day."""
    throttle_seconds: int | None = None


class Repository(Struct, frozen=True, kw_only=True):
    """One entry of [[automation.repos]]."""

    slug: str
    path: Path


JOBS = {
    "daily_capture": Schedule(hour=2, minute=20),
    "daybook": Schedule(hour=23, minute=15),
    "mem0_dump": Schedule(hour=7, minute=0),
    "weekly_audit": Schedule(hour=6, minute=10, weekday=0),
    "backup": Schedule(hour=4, minute=30),
}
"""When scheduled jobs run where the manifest does not say."""


class Automation(Struct, frozen=True, kw_only=True):
    """[automation]: scheduled work."""

    paths: dict[str, Path] = {}
    launchd_label_prefix: str = "com.chronicle"
    guards: Guards = Guards()
    repos: tuple[Repository, ...] = ()
    jobs: dict[str, Schedule] = field(default_factory=lambda: dict(JOBS))
    declared_jobs: frozenset[str] = frozenset()
    """Those that the manifest itself names."""


class Manifest(Struct, frozen=True, kw_only=True):
    """All that a manifest says. Missing keys have their defaults."""

    path: Path
    title: str
    timezone: str
    """An IANA name that exists."""
    owner: str
    """Whose sessions the workspace holds."""
    operator: str = "the operator"
    """What prompts call the person."""
    mem0_collection: str = "chronicle_personal"
    mem0_enabled: bool = False
    """As [mem0] says; where it says nothing, whether [paths] names a bridge."""
    paths: dict[str, Path] = {}
    """[paths], absolute."""
    artifacts_given: dict[str, Any] = {}
    """[artifacts] as it stands in the file; see `artifacts`."""
    projects: tuple[Project, ...] = ()
    """As they stand in the file: entries of one id are not added up here, but in `registry`."""
    domains: tuple[Domain, ...] = ()
    agents: tuple[Agent, ...] = ()
    sources: tuple[Source, ...] = ()
    runtime_sources: tuple[RuntimeSource, ...] = ()
    lanes: tuple[Lane, ...] = ()
    freshness: dict[str, dict[str, Freshness]] = {}
    """By group (`attach_sources`, …) and id."""
    notes: Notes = Notes()
    chronicle: Chronicle = Chronicle()
    backup: Backup = Backup()
    automation: Automation = Automation()
    registry: Registry = EMPTY
    """The declared names, with the built-in agents."""
    unknown: dict[str, Any] = {}
    """Values of keys that this program does not know, by dotted key."""
    stamp: tuple[int, int, int] = (0, 0, 0)
    """Of the file when it was read: modification time in nanoseconds, size in bytes, inode."""
    findings: Findings | None = None

    @property
    def artifacts(self) -> EvidencePolicy:
        """Which evidence files are copied: [artifacts] with its defaults."""
        from workbench.evidence.policy import EvidencePolicy

        return EvidencePolicy.of(**self.artifacts_given)

    @property
    def problems(self) -> tuple[Problem, ...]:
        """What is odd in it: warnings only, since a manifest with an error is none."""
        return () if self.findings is None else self.findings.problems()
