"""What is said without the filter: nothing in it may be what a rule would take out."""

from __future__ import annotations

import pytest
from hypothesis import given, settings, strategies

from workbench.redaction import default_filter
from workbench.redaction.rule_files import CONTEXT_FILES, RULE_FILES
from workbench.redaction.rules import Rule, load_rules
from workbench.redaction.shapes import example
from workbench.redaction.suspicion import may_hold

RULES = load_rules((*RULE_FILES, *CONTEXT_FILES))
CUES = "password passwd secret token key api auth bearer sk pk ghp npm glpat xoxb hf ya akia pin pw login".split()


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.source)
def test_all_that_a_rule_finds_is_suspected(rule: Rule) -> None:
    for number, positive in enumerate(rule.positive):
        for seed in range(5):
            head, secret, tail = example(positive, 100 * number + seed)
            assert may_hold(f"there is no {head}{secret}{tail} here"), positive


@settings(deadline=None)
@given(
    strategies.text("abcdefghijKLMNOP0123456789-_ .", max_size=30)
    | strategies.lists(strategies.sampled_from([*CUES, "a", "hunter", "live", "42"]), max_size=4).map(
        "-".join
    )
)
def test_the_filter_finds_nothing_in_a_name_that_is_not_suspected(name: str) -> None:
    assert may_hold(name) or default_filter().redact_text(name) == (name, {})


def test_twelve_words_of_a_phrase_are_suspected() -> None:
    assert may_hold("project is unknown: " + " ".join(["abandon", "ability", "zoo"] * 4))
    assert not may_hold("task_id requires project; see: workbench record --help, line 12 of notes.md:3")
