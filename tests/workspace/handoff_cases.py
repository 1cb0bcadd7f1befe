"""Workspaces in which agents hand off to each other."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import chdir
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from tests.laid_out import laid_out_once
from workbench.memory.receipts import Receipt
from workbench.workspace import Workspace

START = datetime(2026, 3, 1, 8, 0, tzinfo=UTC)


class Desk:
    """Writes hand-offs into a workspace; a clock that goes on by a minute at each entry."""

    def __init__(self, root: Path, *, new: bool = True) -> None:
        self.root = root
        self._at = START
        if new:
            Workspace.create(root, title="Desk", timezone="UTC", owner="ada", clock=self._clock).close()
        self.workspace = Workspace.open(root, clock=self._clock)

    def _clock(self) -> datetime:
        self._at += timedelta(seconds=1)
        return self._at

    def __enter__(self) -> Desk:
        return self

    def __exit__(self, *error: object) -> None:
        self.workspace.close()

    def entry(self, task: str, text: str, *, agent: str = "codex", **more: Any) -> Receipt:
        """An entry of a task, given as project/task."""
        self._at += timedelta(minutes=1)
        project, _, name = task.partition("/")
        return self.workspace.memory.record_event(text, project=project, task_id=name, agent=agent, **more)

    def hand_off(
        self,
        task: str,
        goal: str,
        *,
        completed: Sequence[str] = (),
        verification: Sequence[str] = (),
        questions: Sequence[str] = (),
        steps: Sequence[str] = (),
        agent: str = "codex",
        **more: Any,
    ) -> str:
        """A checkpoint; its id."""
        checkpoint = {
            "goal": goal,
            "completed": list(completed),
            "verification": list(verification),
            "open_questions": list(questions),
            "next_steps": list(steps),
        }
        receipt = self.entry(task, f"Handing off: {goal}"[:2000], agent=agent, checkpoint=checkpoint, **more)
        project, _, name = task.partition("/")
        carrier = self.workspace.memory.task_context(None, project, name, raw=True).checkpoint
        assert carrier is not None
        assert carrier.observation_id == receipt.observation_id
        assert carrier.checkpoint
        return carrier.checkpoint.id


@laid_out_once
def make_desk(root: Path) -> Path:
    """Four open tasks, of which three wait, and two closed ones; of each kind of alarm there is one."""
    (root.parent / "notes.txt").write_text("fuzzed for ten minutes, no crash\n")
    with chdir(root.parent), Desk(root) as desk:
        desk.hand_off(
            "atlas/importer-v2",
            "Ship the importer behind a flag, keep the old path",
            completed=["Streaming parser with a bounded buffer"],
            questions=["Who owns the rollback runbook?"],
            steps=["Wire the flag through the manifest", "Delete the old parser"],
        )
        desk.entry("atlas/importer-v2", "Ten minutes of fuzzing", source_files=["notes.txt"])
        desk.entry(
            "atlas/importer-v2",
            "The parser is lenient now",
            fact={"slot": "parser.mode", "value": "lenient", "kind": "decision"},
        )
        desk.hand_off(
            "atlas/importer-v2",
            "Ship the importer behind a flag, keep the old path",
            completed=["Streaming parser with a bounded buffer", "Wire the flag through the manifest"],
            verification=["Parser fuzzed for 10 minutes, no crash"],
            questions=["Who owns the rollback runbook?"],
            steps=["Enable the flag for the two pilot projects"],
            agent="claude",
        )
        desk.hand_off(
            "orbit/rate-limits",
            "Raise the limit without a restart",
            completed=["The limit is read on each call"],
            verification=["Import of the 1 GB sample stays under 200 MB"],
            steps=["Try it on the second host"],
            source_files=["/nowhere/limits.log"],
        )
        reviewed = desk.hand_off("atlas/docs-refresh", "Rewrite the install guide", questions=["For whom?"])
        desk.workspace.review("checkpoint", reviewed, "questioned", "Start with the reader")
        desk.hand_off("lumen/thumb-cache", "Cut cold start below 200 ms", agent="gemini")
        done = desk.hand_off("orbit/retry-queue", "Exponential back-off with jitter", agent="glm")
        desk.workspace.review("checkpoint", done, "accepted")
        for task, status in (("orbit/retry-queue", "completed"), ("orbit/old-plan", "cancelled")):
            if task == "orbit/old-plan":
                desk.hand_off(task, "A plan that nobody wants")
            desk.entry(task, status, fact={"slot": "task.status", "value": status, "kind": "decision"})
    return root


HOSTILE_TASKS = (
    ("atlas", "n" + "o-space" * 28, "A name of two hundred characters, and not a single space in it"),
    ("المشروع", "مهمة-٣", "هدف طويل باللغة العربية لا يكسر الأعمدة"),
    ("日本語", "長い仕事の名前がここにあります", "三件とも正しいです。次の週に決めます。"),
    ("👩\u200d🔬-lab", "🧪-run", "Ship it 🚀🚀🚀 [bold]loud[/bold] \x1b[31mred\x1b[0m"),
    ("[link=x]", "`# md", "# Heading\n\n- a list\n```\nthat never ends"),
)


@laid_out_once
def make_hostile_desk(root: Path) -> Path:
    """Tasks whose names and texts break programs that draw them; the last has lists as long as they may be."""
    with Desk(root) as desk:
        for project, task, goal in HOSTILE_TASKS:
            desk.hand_off(
                f"{project}/{task}",
                goal,
                completed=[goal, "w" * 300],
                verification=["```\n[/x] 「三件とも」 \u202etxt.exe"],
                questions=["من يملك هذا؟ 👨\u200d👩\u200d👧"],
                steps=["]]>&lt;b&gt; $(rm) {0} %s"],
                agent="c" * 60,
            )
        line = "a line of a thousand characters " * 31
        lines = [f"{number} {line}"[:1000] for number in range(20)]
        desk.hand_off(
            "atlas/long",
            "Everything as long as it may be " * 60,
            completed=lines,
            verification=lines,
            questions=lines,
            steps=lines,
        )
    return root
