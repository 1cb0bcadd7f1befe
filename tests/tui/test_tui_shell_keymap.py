"""The user's keymap: every problem is named with file and line, everything else works."""

from __future__ import annotations

import re
import textwrap
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tui.shell_probe import ProbeApp, make_workspace, opened, screen_lines, whole_screen
from workbench.guide import page_text
from workbench.locations import log_file
from workbench.tui import keymap as keymap_module
from workbench.tui.actions import BASE_ACTIONS, Registry, live_together
from workbench.tui.app import WorkbenchApp
from workbench.tui.keymap import Keymap, load_keymap, parse_keymap

REGISTRY = Registry(BASE_ACTIONS)


def test_a_missing_file_changes_nothing(tmp_path: Path) -> None:
    keymap = load_keymap(tmp_path / "keymap.toml", REGISTRY)
    assert keymap == Keymap(REGISTRY)
    assert keymap.keys("list.down") == ("j", "down")


def test_keys_are_read_in_every_form_of_toml() -> None:
    text = 'list.down = "z"\n"list.up" = ["w", "alt-up"]\n[app]\nhelp = "F1"\n[ page . x ]\n'
    keymap = parse_keymap(text, REGISTRY)
    assert keymap.problems == ()
    assert keymap.keys("list.down") == ("z",)
    assert keymap.keys("list.up") == ("w", "alt+up")
    assert keymap.shown("app.help") == "f1"
    assert keymap.for_textual()["list.up"] == "w,alt+up"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('\nlist.dwon = "z"', "K:2: There is no action “list.dwon”. Did you mean “list.down”?"),
        ('[list]\n\ndown = "pagdown"', "K:3: There is no key “pagdown”. Did you mean “pagedown”?"),
        (
            'list.down = "esc"',
            "K:1: The key “esc” of “list.down” already belongs to “page.back”; “list.down” keeps its default.",
        ),
        ('list.down = "ctlr+x"', "K:1: There is no key “ctlr+x”. Did you mean “ctrl+x”?"),
        ('list.down = "ctrl+m"', "K:1: The key “ctrl+m” cannot be used: the same byte as enter."),
        ("list.down = 3", "K:1: “list.down” needs a key or a list of keys."),
        ("list.down = []", "K:1: “list.down” needs a key or a list of keys."),
        (
            '#\nlist.down = "k"',
            "K:2: The key “k” of “list.down” already belongs to “list.up”; “list.down” keeps its default.",
        ),
        (
            'app.theme = "f2"\napp.mouse = "f2"',
            "K:2: The key “f2” of “app.mouse” already belongs to “app.theme”; “app.mouse” keeps its default.",
        ),
        (
            'pane.down = "q"',
            "K:1: The key “q” of “pane.down” already belongs to “app.quit”; “pane.down” keeps its default.",
        ),
    ],
)
def test_a_problem_names_file_and_line_and_the_rest_loads(text: str, problem: str) -> None:
    keymap = parse_keymap(
        text + '\n\n[page]\nsort = "f9"\n' if "[list]" in text else f'{text}\n[page]\nsort="f9"',
        REGISTRY,
        "K",
    )
    assert keymap.problems == (problem,)
    assert keymap.keys("page.sort") == ("f9",)
    assert keymap.keys("list.down") == ("j", "down")


def test_two_actions_may_swap_their_keys() -> None:
    keymap = parse_keymap('list.down = "k"\nlist.up = "j"', REGISTRY)
    assert keymap.problems == ()
    assert (keymap.keys("list.down"), keymap.keys("list.up")) == (("k",), ("j",))


def test_a_list_and_a_pane_may_share_a_key() -> None:
    assert parse_keymap('list.down = "z"\npane.down = "z"', REGISTRY).problems == ()


def test_a_broken_file_is_named_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "keymap.toml"
    path.write_text('list.down = "z"\nlist.up = \n', encoding="utf-8")
    (problem,) = load_keymap(path, REGISTRY).problems
    assert problem.startswith(f"{path}: ")
    assert "line 2" in problem
    path.write_bytes(b"\xff")
    assert load_keymap(path, REGISTRY).problems == (f"{path}: is not UTF-8 text; the default keys are used.",)


@given(st.text(max_size=200))
def test_no_text_breaks_the_reader(text: str) -> None:
    assert parse_keymap(text, REGISTRY).keys("app.help")


KEYS = st.sampled_from(
    ["a", "j", "k", "q", "?", "ctrl+p", "F5", "nokey", "ctrl+m", "", "shift+j", "+", "esc"]
)


@given(st.dictionaries(st.sampled_from(REGISTRY.ids()), st.lists(KEYS, min_size=1, max_size=3), max_size=8))
def test_what_is_accepted_never_clashes(changes: dict[str, list[str]]) -> None:
    import tomli_w

    keymap = parse_keymap(tomli_w.dumps(changes), REGISTRY)
    actions = list(REGISTRY)
    for index, first in enumerate(actions):
        for second in actions[index + 1 :]:
            if live_together(first.context, second.context):
                assert not set(keymap.keys(first.id)) & set(keymap.keys(second.id)), (first.id, second.id)
    assert len(keymap.changes) == len(changes) or keymap.problems


async def test_a_changed_key_works_and_shows_everywhere(tmp_path: Path) -> None:
    config = tmp_path / "config"
    config.mkdir()
    (config / "keymap.toml").write_text(
        'list.down = "z"\npage.filter = "f"\nlist.typo = "x"\n', encoding="utf-8"
    )
    app = ProbeApp(make_workspace(tmp_path / "w"))
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        await opened(pilot, app)
        assert app.page is not None
        rows = app.page.rows
        assert rows is not None
        await pilot.press("z")
        assert rows.cursor_row == "row 2"
        await pilot.press("j")
        assert rows.cursor_row == "row 2"
        assert "f filter" in screen_lines(app)[-1]
        assert "f filter" in screen_lines(app)[2]
        assert any("keymap.toml:3" in toast.message for toast in app._notifications)
        await pilot.press("question_mark")
        await pilot.pause()
        assert re.search(r"│ z +Move to the next row\.", whole_screen(app))


def guide_example() -> str:
    """The lines of the keymap that the guide prints."""
    text = page_text("themes").partition("# Your own keys")[2]
    return "\n".join(line.strip() for line in text.splitlines() if line.startswith("    "))


@pytest.mark.parametrize("text", [guide_example(), str(keymap_module.__doc__).split("\n\n")[1]])
def test_the_printed_examples_work_as_they_stand(text: str) -> None:
    keymap = parse_keymap(textwrap.dedent(text), WorkbenchApp.REGISTRY)
    assert keymap.problems == ()
    assert keymap.keys("list.down") == ("f4", "down")
    assert keymap.keys("page.filter") == ("f3", "slash")
    assert keymap.keys("app.help") == ("f1", "question_mark")


async def test_many_problems_are_one_toast_and_the_log_has_all(tmp_path: Path) -> None:
    config = tmp_path / "config"
    config.mkdir()
    (config / "keymap.toml").write_text("".join(f'list.wrong{n} = "x"\n' for n in range(5)), encoding="utf-8")
    app = ProbeApp(make_workspace(tmp_path / "w"))
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        await opened(pilot, app)
        (toast,) = list(app._notifications)
    assert toast.message.startswith("5 lines of the keymap cannot be used:\n")
    assert "list.wrong0" in toast.message
    assert "list.wrong1" in toast.message
    assert "list.wrong2" not in toast.message
    assert "and 3 more. The details are in " in toast.message
    log = log_file().read_text("utf-8")
    assert all(f"list.wrong{n}" in log for n in range(5))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (f"list.down = {'9' * 5000}", "a number is too long"),
        (f"x = {'[' * 100_000}", "nested too deeply"),
        (f"{'.'.join('a' * 20_000)} = 1", "nested too deeply"),
    ],
    ids=range(3),
)
def test_what_python_cannot_take_leaves_the_default_keys(text: str, said: str) -> None:
    keymap = parse_keymap(text, REGISTRY)
    assert keymap.problems == (f"keymap.toml: {said}; the default keys are used.",)
