"""Writing chronicles from the screen: consolidate, write again, rebuild, files, and who may not."""

from __future__ import annotations

import shlex
from functools import partial
from pathlib import Path

import pytest
from textual.widgets import Input

from tests.tui.chronicle_probe import (
    SESSION,
    app_on,
    detail_text,
    full,
    go,
    long,
    named,
    rows,
    rows_shown,
    settled,
)
from tests.tui.shell_probe import until, whole_screen
from workbench.chronicle.sections import Anchor, Section
from workbench.cli import main
from workbench.tui.chronicle.copies import replay_command
from workbench.tui.chronicle.hints import hint_with_keys
from workbench.tui.chronicle.nodes import StreamNode
from workbench.tui.chronicle.writing_page import rebuild_blocks
from workbench.tui.dialogs.confirm import ConfirmDialog
from workbench.tui.dialogs.prompt import PromptDialog
from workbench.tui.dialogs.typed_confirm import TypedConfirmDialog
from workbench.tui.document import Paragraph
from workbench.tui.shell import Shell
from workbench.workspace import Workspace

TASK = "task/global/atlas/importer"
WRITING = ("consolidate", "consolidate_all", "again", "load", "rebuild")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return full(tmp_path / "w")


async def test_consolidating_writes_the_stream_at_hand_or_all_that_lag_as_jobs(root: Path) -> None:
    app = app_on(root)
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        page = await go(pilot, app, SESSION, 12)
        await pilot.press("C")
        await until(pilot, lambda: "14-15" in rows(page))
        assert page.cursor_node is not None and named(page.cursor_node) == "12-13"
        page.action_consolidate_all()
        await until(pilot, lambda: "2 sections written in 1 stream." in whole_screen(app))
        assert app.workspace is not None
        assert {row.kind for row in app.workspace.jobs.page(10)} == {"chronicle"}


async def test_writing_again_warns_first_and_keeps_the_old_prose(root: Path) -> None:
    app = app_on(root)
    async with app.run_test(size=(120, 40)) as pilot:
        page = await go(pilot, app, SESSION, 9)
        await pilot.press("W")
        await until(pilot, lambda: isinstance(app.screen, ConfirmDialog))
        said = whole_screen(app)
        assert "diverges" in said and "rebuild drops" in said.replace("\n", " ")
        await pilot.press("n")
        await settled(pilot, app)
        assert "9-11" in rows(page)
        await pilot.press("W", "y")
        await until(pilot, lambda: "9-11#2" in rows(page) and "old 9-11" in rows(page))
        page.tree_list.go_to(("older", SESSION, 9, 1))
        await until(pilot, lambda: "superseded" in detail_text(page))
        assert "superseded" in app.registry["chronicle.again"].reason(app)


async def test_a_rebuild_is_typed_and_drops_what_was_written_again(root: Path) -> None:
    app = app_on(root)
    async with app.run_test(size=(120, 40)) as pilot:
        page = await go(pilot, app, SESSION, 1)
        await pilot.press("X")
        await until(pilot, lambda: isinstance(app.screen, TypedConfirmDialog))
        await pilot.press("y", "enter")
        assert isinstance(app.screen, TypedConfirmDialog)
        app.screen.query_one(Input).value = "rebuild"
        await pilot.press("enter")
        await until(pilot, lambda: rows(page)[2:] == ["1-8", "9-11", "12-13", "14-15", "open 16-16"])


def test_the_command_of_a_replay_does_what_is_meant_when_it_is_pasted(tmp_path: Path) -> None:
    """Beside the dialog, and in a folder whose name a shell would take apart."""
    root = long(tmp_path / "two words", 4)
    with Workspace.open(root) as workspace:
        chronicle = workspace.chronicle(SESSION)
        chronicle.export(tmp_path / "before")
        chronicle.reconsolidate("3-4")
        row = workspace.readers.chronicle.stream(SESSION)
    assert row is not None
    node = StreamNode(row, opened=False)
    (command,) = [
        said
        for block in rebuild_blocks(node, "E", root)
        if isinstance(block, Paragraph) and not isinstance(block.text, str)
        for said in ["".join(span.text for span in block.text)]
        if said.startswith("workbench")
    ]
    assert command == replay_command(node, root)
    assert main(shlex.split(command)[1:]) == 0
    with Workspace.open(root) as workspace:
        workspace.chronicle(SESSION).export(tmp_path / "after")
    assert (tmp_path / "after").read_bytes() == (tmp_path / "before").read_bytes()


async def test_there_is_nothing_to_export_of_a_stream_without_sections(root: Path) -> None:
    app = app_on(root)
    async with app.run_test(size=(120, 40)) as pilot:
        for stream, reason in ((TASK, "it has no section yet"), (SESSION, "")):
            await go(pilot, app, stream)
            assert app.registry["chronicle.export"].reason(app) == reason


async def test_an_export_is_written_and_loads_again(root: Path, tmp_path: Path) -> None:
    file = tmp_path / "told.jsonl"
    app = app_on(root)
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        await go(pilot, app, SESSION, 1)
        await pilot.press("E")
        await until(pilot, lambda: isinstance(app.screen, PromptDialog))
        app.screen.query_one(Input).value = str(file)
        await pilot.press("enter")
        await until(pilot, file.exists)
        await settled(pilot, app)
        assert file.read_text().count("\n") >= 4
        await pilot.press("L")
        await until(pilot, lambda: isinstance(app.screen, PromptDialog))
        app.screen.query_one(Input).value = str(tmp_path / "nothing")
        await pilot.press("enter")
        assert isinstance(app.screen, PromptDialog), "a file that is not there is not begun with"
        app.screen.query_one(Input).value = str(file)
        await pilot.press("enter")
        await until(pilot, lambda: not isinstance(app.screen, PromptDialog))
        await settled(pilot, app)
        await until(pilot, lambda: "0 sections loaded; 4 were there already." in whole_screen(app))


def _shown(app: Shell, words: str) -> bool:
    return words in " ".join(whole_screen(app).split())


async def test_an_export_leaves_every_file_alone_that_is_none(root: Path, tmp_path: Path) -> None:
    precious = tmp_path / "precious.txt"
    precious.write_text("precious")
    manifest = (root / "SSOT_MANIFEST.toml").read_bytes()
    app = app_on(root)
    async with app.run_test(size=(120, 40)) as pilot:
        await go(pilot, app, SESSION, 1)
        await pilot.press("E")
        await until(pilot, lambda: isinstance(app.screen, PromptDialog))
        for path, why in (
            (precious, "exists and is no export of a chronicle"),
            (root / "SSOT_MANIFEST.toml", "is this workspace's manifest"),
            (root / "chronicle.db", "is this workspace's database"),
        ):
            app.screen.query_one(Input).value = str(path)
            await pilot.press("enter")
            await until(pilot, partial(_shown, app, why))
            assert isinstance(app.screen, PromptDialog), path
    assert precious.read_text() == "precious"
    assert (root / "SSOT_MANIFEST.toml").read_bytes() == manifest


async def test_loading_names_the_sections_that_say_something_else_and_stay_out(
    root: Path, tmp_path: Path
) -> None:
    file = tmp_path / "told.jsonl"
    with Workspace.open(root) as workspace:
        chronicle = workspace.chronicle(SESSION)
        chronicle.export(file)
        kept = chronicle.store.export()
        chronicle.store.reset()
        chronicle.store.load([*kept[:-1], kept[-1]._replace(prose="Something else.")])
        name = kept[-1].anchor.section_id
    app = app_on(root)
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        await go(pilot, app, SESSION, 1)
        await pilot.press("L")
        await until(pilot, lambda: isinstance(app.screen, PromptDialog))
        app.screen.query_one(Input).value = str(file)
        await pilot.press("enter")
        await until(pilot, partial(_shown, app, "something else than here, and stayed"))
        assert any(f"The file's {name} says something" in each.message for each in app._notifications)


async def test_a_section_that_nothing_closes_says_where_it_ends(root: Path) -> None:
    with Workspace.open(root) as workspace:
        chronicle = workspace.chronicle(SESSION)
        chronicle.store.reset()
        chronicle.store.load([Section(Anchor("1-2", 1, 2, 2, None), "From elsewhere.")])
    app = app_on(root)
    async with app.run_test(size=(120, 40)) as pilot:
        page = await go(pilot, app, SESSION, 1)
        await until(pilot, lambda: "ends with" in detail_text(page))
        assert "closed by" not in detail_text(page)


async def test_the_brief_is_copied_as_an_agent_gets_it(root: Path) -> None:
    app = app_on(root)
    async with app.run_test(size=(120, 40)) as pilot:
        await go(pilot, app, SESSION)
        await pilot.press("b")
        await until(pilot, lambda: bool(app.clipboard))
        assert app.workspace is not None
        assert app.clipboard == app.workspace.chronicle(SESSION).brief().text


async def test_what_is_read_only_says_why_nothing_is_written(root: Path) -> None:
    app = app_on(root, read_only=True)
    async with app.run_test(size=(120, 40)) as pilot:
        page = await go(pilot, app, SESSION, 1)
        for action in WRITING:
            assert "read-only" in app.registry[f"chronicle.{action}"].reason(app), action
        await pilot.press("C")
        await settled(pilot, app)
        assert "open 14-16" in rows(page)
        assert app.registry["chronicle.export"].reason(app) == ""


async def test_what_the_manifest_names_is_not_run_before_it_is_trusted(root: Path, tmp_path: Path) -> None:
    ran = tmp_path / "ran"
    manifest = root / "SSOT_MANIFEST.toml"
    named_program = f'\n[chronicle]\nsummarizer = "command"\ncommand = ["touch", {str(ran)!r}]\n'
    manifest.write_text(manifest.read_text() + named_program)
    app = app_on(root)
    async with app.run_test(size=(120, 40)) as pilot:
        page = await go(pilot, app, SESSION, 1)
        page.pane.show_side("lag")
        await until(pilot, lambda: "workbench trust" in detail_text(page))
        await pilot.press("C")
        await until(pilot, lambda: app.screen is not page)
        assert "trust" in whole_screen(app)
        assert not ran.exists()
        await pilot.press("escape")
        await rows_shown(pilot, app)
        assert "open 14-16" in rows(page)


@pytest.mark.parametrize(
    ("hint", "meant"),
    [
        (
            "try it at once with: workbench chronicle consolidate --stream 'session/a b'; what failed before",
            "try it at once with the key chronicle.consolidate; what failed before",
        ),
        (
            "try it at once with: workbench chronicle reconsolidate '1-3#2' --stream session/s1",
            "try it at once with the key chronicle.again",
        ),
        ("say so with: workbench trust", "say so with: workbench trust"),
    ],
)
def test_a_hint_names_the_key_where_there_is_one(hint: str, meant: str) -> None:
    assert hint_with_keys(hint, str) == meant
