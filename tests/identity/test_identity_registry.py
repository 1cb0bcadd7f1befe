"""Which names mean the same: cases I01–I23 of the memory contract, and what holds for any declared names."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.identity import EMPTY, Names, NamesError, Registry, fold

ATLAS = Registry(
    projects=[Names("atlas", ["status", "Atlas_App"]), Names("beacon")],
    domains=[Names("work", ["Job", "day job"])],
)


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("Launch Plan_x", "launch-plan-x"),
        ("a__b  c", "a-b-c"),
        (" _-x-_ ", "-x-"),
        ("МОСКВА", "москва"),
        ("Straße", "strasse"),
        ("ﬁle", "file"),
        ("Ａtlas", "atlas"),
        ("é", "é"),
        ("../etc", "../etc"),
        ("a\0b", "a\0b"),
        ("a\u202eb", "a\u202eb"),
        ("a\u2003b", "a-b"),
        ("", ""),
        (" \t", ""),
    ],
)
def test_names_fold(name: str, key: str) -> None:
    assert fold(name) == key


@given(st.text(max_size=40))
def test_folding_twice_is_folding_once(name: str) -> None:
    assert fold(fold(name)) == fold(name)


@pytest.mark.parametrize("given_", ["STATUS", "Atlas_App", "ATLAS", " atlas  app ", "atlas-app"])
def test_every_spelling_of_a_project_means_it(given_: str) -> None:
    assert ATLAS.project(given_) == "atlas"
    assert ATLAS.project_forms(given_) == ("atlas", "status", "atlas-app")


def test_an_undeclared_project_is_as_given_and_trimmed() -> None:
    assert ATLAS.project(" Other_Thing ") == "Other_Thing"
    assert ATLAS.project_forms(" Other_Thing ") == ("other-thing",)


@pytest.mark.parametrize("blank", [None, "", "  ", "\t"])
def test_blank_names_are_the_widest(blank: str | None) -> None:
    assert ATLAS.project(blank) is None
    assert ATLAS.project_forms(blank) == ()
    assert ATLAS.domain(blank) == "global"
    assert ATLAS.domain_forms(blank) == ("global",)
    assert ATLAS.agent(blank) == "mcp"
    assert ATLAS.agent_forms(blank) == ("mcp",)


def test_domains_are_declared_under_any_spelling_and_global_always() -> None:
    assert ATLAS.declares_domain("DAY_JOB")
    assert ATLAS.declares_domain("global")
    assert ATLAS.declares_domain(None)
    assert not ATLAS.declares_domain("home")


def test_what_stands_for_no_name_may_be_an_alias_itself() -> None:
    registry = Registry(domains=[Names("work", ["global"])], agents=[Names("house", ["MCP"])])
    assert registry.domain(None) == registry.domain("Global") == "work"
    assert registry.domain_forms(None) == registry.domain_forms("work")
    assert registry.agent("") == registry.agent("mcp") == "house"


@pytest.mark.parametrize(
    ("given_", "agent"),
    [
        ("claude-mac", "claude"),
        ("operator", "claude"),
        ("Operator", "claude"),
        ("Codex", "codex"),
        ("codex-mcp-client", "codex"),
        ("opencode-glm5.2", "glm"),
        ("zcode", "glm"),
        ("opencode-deepseek", "deepseek"),
        ("opencode", "opencode"),
        ("Gemini CLI", "gemini"),
        ("transcript-analyst-x", "transcript-analyst"),
        ("My Bot_2", "my-bot-2"),
    ],
)
def test_built_in_agents(given_: str, agent: str) -> None:
    assert EMPTY.agent(given_) == agent
    assert EMPTY.agent(agent) == agent


def test_an_entry_of_the_manifest_replaces_a_built_in_agent_wholly() -> None:
    registry = Registry(agents=[Names("claude", ["Helper"])])
    assert registry.agent("claude-mac") == "claude-mac"
    assert registry.agent("operator") == "operator"
    assert registry.agent("helper") == "claude"
    assert registry.agent("opencode-glm5.2") == "glm"


def test_an_exact_spelling_counts_before_any_rule() -> None:
    registry = Registry(agents=[Names("night", ["codex-night"])])
    assert registry.agent("Codex_Night") == "night"
    assert registry.agent("codex-day") == "codex"


def test_rules_of_the_manifests_own_agents_come_first() -> None:
    registry = Registry(agents=[Names("review", prefixes=["Claude Review"], contains=["Audit"])])
    assert registry.agent("claude_review_2") == "review"
    assert registry.agent("glm-audit") == "review"
    assert registry.agent("claude-2") == "claude"


def test_a_replaced_agent_keeps_the_place_of_its_rules() -> None:
    registry = Registry(agents=[Names("opencode", prefixes=["opencode"])])
    assert registry.agent("opencode-glm") == "glm"


@pytest.mark.parametrize("kind", ["projects", "domains", "agents"])
def test_a_spelling_belongs_to_one_id(kind: str) -> None:
    entries = [Names("atlas", ["Status Board"]), Names("beacon", ["status_board"])]
    with pytest.raises(NamesError, match="belongs to both 'atlas' and 'beacon'"):
        Registry(**{kind: entries})


def test_an_alias_that_is_anothers_id_clashes_wherever_the_two_stand() -> None:
    for entries in (
        [Names("atlas", ["Beacon"]), Names("beacon")],
        [Names("beacon"), Names("atlas", ["Beacon"])],
    ):
        with pytest.raises(NamesError, match="belongs to both 'beacon' and 'atlas'"):
            Registry(projects=entries)


def test_an_alias_of_a_built_in_agent_clashes_until_that_is_replaced() -> None:
    with pytest.raises(NamesError, match="belongs to both 'claude' and 'me'"):
        Registry(agents=[Names("me", ["operator"])])
    assert Registry(agents=[Names("claude"), Names("me", ["operator"])]).agent("Operator") == "me"


def test_one_spelling_may_be_a_project_a_domain_and_an_agent() -> None:
    registry = Registry(
        projects=[Names("one", ["x"])], domains=[Names("two", ["x"])], agents=[Names("three", ["x"])]
    )
    assert (registry.project("x"), registry.domain("x"), registry.agent("x")) == ("one", "two", "three")


def test_entries_of_one_id_add_up() -> None:
    registry = Registry(
        projects=[Names("Atlas", ["a"], [Path("/x")]), Names("other"), Names("ATLAS", ["b"], [Path("/y")])]
    )
    assert registry.project("b") == "Atlas"
    assert registry.project_forms("a") == ("atlas", "a", "b")
    assert registry.project_of(Path("/y/z")) == "Atlas"


@pytest.mark.parametrize("entry", [Names(""), Names("  ")])
def test_an_entry_needs_an_id(entry: Names) -> None:
    with pytest.raises(NamesError, match="a project entry needs an id"):
        Registry(projects=[entry])


@pytest.mark.parametrize(
    "entry", [Names("a", "status"), Names("a", prefixes="status"), Names("a", contains="status")]
)
def test_names_come_in_lists(entry: Names) -> None:
    with pytest.raises(NamesError, match="must be a list of names"):
        Registry(agents=[entry])


def test_a_blank_rule_would_match_everyone_and_is_refused() -> None:
    with pytest.raises(NamesError, match="holds a blank name"):
        Registry(agents=[Names("a", prefixes=[" "])])


@pytest.mark.parametrize(
    ("path", "project"),
    [
        ("/home/ann/atlas", "atlas"),
        ("/home/ann/atlas/src", "atlas"),
        ("/home/ann/atlas/vendor/beacon/x", "beacon"),
        ("/home/ann/atlas/vendor/../src", "atlas"),
        ("/home/ann/atlas/../elsewhere", None),
        ("/home/ann/atlas-2", None),
        ("/", None),
    ],
)
def test_the_deepest_root_says_whose_a_folder_is(path: str, project: str | None) -> None:
    registry = Registry(
        projects=[
            Names("atlas", roots=[Path("/home/ann/atlas/")]),
            Names("beacon", roots=[Path("/home/ann/x/../atlas/vendor/beacon")]),
        ]
    )
    assert registry.project_of(Path(path)) == project


_spelled = st.text(st.characters(codec="utf-8", exclude_categories=["Cc"]), min_size=1, max_size=12).filter(
    lambda name: fold(name) != ""
)


@st.composite
def _entries(draw: st.DrawFn) -> list[Names]:
    spellings = draw(st.lists(_spelled, min_size=1, max_size=12, unique_by=fold))
    entries = []
    while spellings:
        size = draw(st.integers(1, len(spellings)))
        entries.append(Names(spellings[0], spellings[1:size]))
        spellings = spellings[size:]
    return entries


@given(_entries(), st.sampled_from(["upper", "swapcase", "title"]))
def test_all_spellings_of_one_id_have_one_form(entries: list[Names], change: str) -> None:
    registry = Registry(projects=entries, domains=entries)
    for entry in entries:
        forms = registry.project_forms(entry.id)
        assert forms[0] == fold(entry.id)
        assert len(set(forms)) == len(forms)
        for spelling in (entry.id, *entry.aliases):
            for written in (spelling, f" {spelling} ", getattr(spelling, change)()):
                # Some letters have capitals that fold to something else: those are other spellings.
                if fold(written) == fold(spelling):
                    assert registry.project_forms(written) == forms
                    assert registry.project(written) == entry.id.strip()
                    assert registry.domain_forms(written) == forms


@given(_spelled)
def test_a_canonical_agent_is_its_own_canonical_name(name: str) -> None:
    assert EMPTY.agent(EMPTY.agent(name)) == EMPTY.agent(name)
    assert EMPTY.agent_forms(name)[0] == EMPTY.agent(name)
