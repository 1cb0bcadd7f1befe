"""A person decides what a slot holds: through the screen and through the command line, and when refused."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest
from textual.pilot import Pilot
from textual.widgets import TextArea

from tests.tui.facts_probe import NOW, FactsApp, app_on, facts_page, full, make_workspace, put, rows_shown
from tests.tui.shell_probe import until, whole_screen
from workbench.tui.facts.supersede_dialog import MOST_VALUE, SupersedeDialog
from workbench.tui.screens.facts import FactsPage
from workbench.workspace import Workspace
from workbench.workspace.rows import TimelineFilter

NAMES = ("observation.recorded", "fact.asserted")


def one_fact(workspace: Workspace) -> None:
    put(workspace, "deploy.target", "two servers", agent="codex", project="atlas", task_id="roll-out")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make_workspace(tmp_path / "w", one_fact)


async def deciding(pilot: Pilot[None], app: FactsApp) -> SupersedeDialog:
    """Press the key and wait for the dialog."""
    await pilot.press("S")
    await until(pilot, lambda: isinstance(app.screen, SupersedeDialog) and bool(app.screen.query("#why")))
    await pilot.pause()
    dialog = app.screen
    assert isinstance(dialog, SupersedeDialog)
    return dialog


def written(root: Path) -> list[dict[str, Any]]:
    """The last two events as JSON, without ids, times and hashes that follow from ids."""
    with Workspace.open(root, read_only=True) as workspace:
        events = workspace.readers.timeline.page(TimelineFilter(), 2)
    found = []
    for event in events:
        payload = dict(event.payload)
        for name in ("request_hash", "content_hash", "supersedes", "retires"):
            if name in payload:
                payload[name] = type(payload[name]).__name__
        found.append(
            {"stream": event.stream, "type": event.type, "private": event.private, "payload": payload}
        )
    return found


async def test_a_decision_replaces_the_fact_in_the_name_of_the_owner(root: Path) -> None:
    app = app_on(root)
    async with app.run_test(size=(100, 30), notifications=True) as pilot:
        page = await rows_shown(pilot, app)
        await deciding(pilot, app)
        # What it held is selected: it can be typed over at once.
        await pilot.press(*"one host", "tab", *"cheaper", "ctrl+s")
        await until(pilot, lambda: app.screen is page)
        await until(pilot, lambda: page.cursor_fact is not None and page.cursor_fact.value == "one host")
        await rows_shown(pilot, app)
        assert "2nd value" in whole_screen(app) and "Decided: deploy.target = one host." in whole_screen(app)
    with Workspace.open(root, read_only=True) as workspace:
        first, second = workspace.memory.chain(workspace.memory.facts().facts[0].id)
        assert (second.kind, second.agent, second.why) == ("decision", "ada", "cheaper")
        assert first.replaced_by is not None and first.replaced_by.id == second.id
        assert (second.project, second.task_id) == ("atlas", "roll-out")


async def test_the_command_leaves_the_same_events(root: Path, tmp_path: Path) -> None:
    app = app_on(root)
    async with app.run_test(size=(100, 30)) as pilot:
        page = await rows_shown(pilot, app)
        await deciding(pilot, app)
        await pilot.press(*"one host", "tab", *"cheaper", "ctrl+s")
        await until(pilot, lambda: page.cursor_fact is not None and page.cursor_fact.value == "one host")
    twin = make_workspace(tmp_path / "twin", one_fact)

    def run(*arguments: str, given: str = "") -> Any:
        done = subprocess.run(
            [sys.executable, "-m", "workbench", *arguments, "--root", str(twin), "--format", "json"],
            input=given,
            capture_output=True,
            text=True,
            check=True,
        )
        return json.loads(done.stdout)

    (held,) = run("facts")["facts"]
    fact = {"slot": held["slot"], "value": "one host", "kind": "decision", "supersedes": held["id"]}
    run(
        *("record", "deploy.target = one host", "--as-owner", "--category", "decision", "--why", "cheaper"),
        *("--project", "atlas", "--task-id", "roll-out", "--domain", held["domain"], "--fact-file", "-"),
        given=json.dumps(fact),
    )
    assert [event["type"] for event in written(root)] == list(NAMES)
    assert written(root) == written(twin)


async def test_a_fact_that_was_replaced_meanwhile_is_shown_and_can_be_replaced(root: Path) -> None:
    app = app_on(root)
    async with app.run_test(size=(100, 30)) as pilot:
        page = await rows_shown(pilot, app)
        held = page.cursor_fact
        dialog = await deciding(pilot, app)
        await pilot.press(*"one host", "tab", *"cheaper")
        with Workspace.open(root, clock=lambda: NOW) as other:
            put(
                other,
                "deploy.target",
                "three servers",
                supersedes=held.id if held else None,
                agent="planner",
                task_id="roll-out",
            )
        await pilot.press("ctrl+s")
        await until(pilot, lambda: "planner replaced it meanwhile" in whole_screen(app))
        assert "now: three servers" in whole_screen(app)
        assert dialog.typed == ("one host", "cheaper")
        await pilot.press("ctrl+s")
        await until(pilot, lambda: page.cursor_fact is not None and page.cursor_fact.value == "one host")
    with Workspace.open(root, read_only=True) as workspace:
        chain = workspace.memory.chain(workspace.memory.facts().facts[0].id)
        assert [link.value for link in chain] == ["two servers", "three servers", "one host"]


async def test_a_slot_that_nobody_holds_any_more_is_begun_anew(root: Path) -> None:
    """As where its project is called otherwise by now."""
    app = app_on(root)
    async with app.run_test(size=(100, 30)) as pilot:
        page = await rows_shown(pilot, app)
        dialog = await deciding(pilot, app)
        dialog.row = msgspec.structs.replace(dialog.row, project="orbit")
        await pilot.press(*"x", "ctrl+s")
        await until(pilot, lambda: "begins it anew" in whole_screen(app))
        await pilot.press("ctrl+s")
        await until(pilot, lambda: app.screen is page)
    with Workspace.open(root, read_only=True) as workspace:
        assert {fact.project: fact.value for fact in workspace.memory.facts().facts} == {
            "atlas": "two servers",
            "orbit": "x",
        }


async def test_what_cannot_be_taken_is_said_and_stays(root: Path) -> None:
    app = app_on(root)
    async with app.run_test(size=(100, 30)) as pilot:
        await rows_shown(pilot, app)
        dialog = await deciding(pilot, app)
        value = dialog.query_one("#value", TextArea)
        value.text = "  "
        await pilot.press("ctrl+s")
        await until(pilot, lambda: "type the value" in whole_screen(app))
        value.text = "x" * (MOST_VALUE + 1)
        await pilot.press("ctrl+s")
        await until(pilot, lambda: "shorten it to 4" in whole_screen(app))
        assert dialog.typed.value == "x" * (MOST_VALUE + 1)
        # A name that nobody may have: the refusal comes from the memory itself.
        assert app.workspace is not None
        manifest = app.workspace.layout.manifest
        kept = manifest.read_text()
        manifest.write_text(kept.replace('"ada"', f'"{"a" * 300}"'))
        value.text = "one host"
        await pilot.press("ctrl+s")
        await until(pilot, lambda: "Not recorded." in whole_screen(app))
        assert app.screen is dialog and dialog.typed.value == "one host"
        manifest.write_text(kept)
        await pilot.press("ctrl+s")
        await until(pilot, lambda: app.screen is not dialog)


async def test_what_was_typed_is_there_again_after_esc(root: Path) -> None:
    app = app_on(root)
    async with app.run_test(size=(100, 30)) as pilot:
        page = await rows_shown(pilot, app)
        await deciding(pilot, app)
        await pilot.press(*"half a th", "tab", *"bec", "escape")
        await until(pilot, lambda: app.screen is page)
        dialog = await deciding(pilot, app)
        assert dialog.typed == ("half a th", "bec")


async def test_the_same_value_again_confirms_it(root: Path) -> None:
    app = app_on(root)
    async with app.run_test(size=(100, 30)) as pilot:
        page = await rows_shown(pilot, app)
        for _ in range(2):
            dialog = await deciding(pilot, app)
            dialog.query_one("#value", TextArea).text = "one host"
            await pilot.press("ctrl+s")
            await until(pilot, lambda: app.screen is page)
            await until(pilot, lambda: page.cursor_fact is not None and page.cursor_fact.value == "one host")
            await rows_shown(pilot, app)
    with Workspace.open(root, read_only=True) as workspace:
        chain = workspace.memory.chain(workspace.memory.facts().facts[0].id)
        assert [(link.value, len(link.confirmations)) for link in chain] == [
            ("two servers", 0),
            ("one host", 1),
        ]


async def test_the_same_value_that_was_only_observed_is_said_to_become_a_decision(root: Path) -> None:
    app = app_on(root)
    async with app.run_test(size=(100, 30)) as pilot:
        page = await rows_shown(pilot, app)
        await deciding(pilot, app)
        assert "the same value; its kind changes from observed to decision" in whole_screen(app)
        await pilot.press("ctrl+s")
        await until(pilot, lambda: app.screen is page)
        await until(pilot, lambda: page.cursor_fact is not None and page.cursor_fact.kind == "decision")
        await deciding(pilot, app)
        assert "the same again confirms it" in whole_screen(app)


async def test_a_secret_is_taken_out_and_said(root: Path) -> None:
    app = app_on(root)
    async with app.run_test(size=(100, 30), notifications=True) as pilot:
        page = await rows_shown(pilot, app)
        dialog = await deciding(pilot, app)
        dialog.query_one("#value", TextArea).text = "token ghp_" + "a1B2" * 9
        await pilot.press("ctrl+s")
        await until(pilot, lambda: app.screen is page and "took a secret out" in whole_screen(app))
        await until(
            pilot,
            lambda: page.cursor_fact is not None and page.cursor_fact.value.startswith("token [REDACTED"),
        )


async def test_a_private_fact_is_replaced_by_a_private_one(tmp_path: Path) -> None:
    def fill(workspace: Workspace) -> None:
        put(workspace, "mine", "x", visibility="private")

    app = app_on(make_workspace(tmp_path / "w", fill))
    async with app.run_test(size=(100, 30)) as pilot:
        page = await rows_shown(pilot, app)
        dialog = await deciding(pilot, app)
        dialog.query_one("#value", TextArea).text = "y"
        await pilot.press("ctrl+s")
        await until(pilot, lambda: page.cursor_fact is not None and page.cursor_fact.value == "y")
        assert page.cursor_fact is not None and page.cursor_fact.private and page.cursor_fact.links == 2


async def test_nothing_is_decided_on_a_read_only_workspace(tmp_path: Path) -> None:
    app = app_on(full(tmp_path / "w"), read_only=True)
    async with app.run_test(size=(100, 30)) as pilot:
        page = await rows_shown(pilot, app)
        for action in ("facts.supersede", "facts.review"):
            assert "read-only" in app.registry[action].reason(app)
        await pilot.press("S")
        await pilot.pause()
        assert app.screen is page and isinstance(facts_page(app), FactsPage)
